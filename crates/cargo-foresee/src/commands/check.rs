//! `foresee check`: read a trace, run the engines, show what they found.

use std::cell::Cell;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::engines::{ENGINES, EngineInfo, MTTL, Options, PROPERTY, default_engines, engine};
use foresee_lattice::explorer::Breadth;
use foresee_lattice::knowledge;
use foresee_lattice::model_name::ModelName;
use foresee_lattice::predict::Prediction;
use foresee_lattice::property::as_recorded;
use foresee_monitor::property::{Action, Property, Source};
use foresee_symbols::calls::WantedCall;
use foresee_trace::raw::{SOME_CALLS_OF, VALUES_COMPARED};
use foresee_trace::{EventBatch, Facts, Gap, LocId, Names, NoEnd, Spoils, Trust};
use foresee_witness::analysis::{Analysed, Analysis, Limits};
use foresee_witness::atomic::AtomicFunctions;
use foresee_witness::blind::BlindSections;
use foresee_witness::judge::{Finding, Place};

use super::mttl_cases;
use crate::cli::{CausalityModel, CheckArgs, CheckOptions};
use crate::config::{Settings, settings};
use crate::error::{self, CliError, Severity, display_name};
use crate::input::Input;
use crate::live::Live;
use crate::memory::{self, Meter};
use crate::progress::Stage;
use crate::report::build::{Builder, Collected, Collector};
use crate::report::format::ReportFormat;
use crate::report::model::{BlindCode, BlindStats, EngineStats, Named, Report, Stats, ValueStats};
use crate::report::results::Results;
use crate::report::source_roots::SourceRoots;
use crate::report::viewpoint::Viewpoint;
use crate::suppress::Suppressions;
use crate::uncovered::Uncovered;
use crate::unmatched::{self, Seen, has_mistake, left_out, refuse_ambiguous};
use crate::{exit, interrupt, modules, specs, stdout, whole_file};

/// Whether a property about what threads know has something done besides being reported.
fn does_something_inside(property: &Property) -> bool {
    let handlers = property.mttl.iter().flat_map(|body| &body.handlers);
    handlers
        .flat_map(|handler| &handler.actions)
        .any(|action| matches!(action, Action::Recover(_) | Action::Call(_) | Action::Abort))
}

/// How long the search for what the fast engines cannot decide may take, unless `--time` says otherwise.
const REST: Duration = Duration::from_secs(10);

/// A check that `--timeout` bounds has so much time at least: the machine may be busy.
const LEAST: Duration = Duration::from_secs(30);

/// What each pair of threads costs in memory, over all whole-trace engines: what threads know of each other.
const BYTES_PER_THREAD_PAIR: u64 = 64;

/// What an event costs in memory at most, over all whole-trace engines.
const BYTES_PER_EVENT: u64 = 160;

pub(crate) fn run(args: &CheckArgs) -> Result<ExitCode, CliError> {
    if mttl_cases::is_meant(args) {
        return mttl_cases::run(args);
    }
    Check::prepare(&args.options)?.run(&args.input, &display_name(&args.input)).map(ExitCode::from)
}

/// What to check a trace for, and what to do with what is found.
pub(crate) struct Check {
    settings: Settings,
    engines: Vec<&'static EngineInfo>,
    /// What `--spec` says.
    properties: Vec<Property>,
    /// Whether to show how far it has come, where there is a terminal.
    pub(crate) shows_progress: bool,
    /// Notes which lines are of use, whatever the number of checks.
    suppressions: Mutex<Suppressions>,
}

impl Check {
    /// Reads all settings, so that a mistake in them is reported before anything long begins.
    pub(crate) fn prepare(options: &CheckOptions) -> Result<Check, CliError> {
        Check::by(settings(options)?, specs::Warnings::Printed)
    }

    /// The same for a program that is about to be run, for so long.
    pub(crate) fn prepare_run(options: &CheckOptions, timeout: Option<Duration>) -> Result<Check, CliError> {
        let mut settings = settings(options)?;
        settings.ran = true;
        settings.bound = bound(timeout);
        Check::by(settings, specs::Warnings::Printed)
    }

    /// The same for settings that are complete.
    pub(crate) fn by(settings: Settings, warnings: specs::Warnings) -> Result<Check, CliError> {
        modules::load(&settings.raw_monitors)?;
        let mut properties = Vec::new();
        for path in &settings.spec {
            let loaded = specs::load(path, warnings)?.properties;
            specs::without_times(path, &loaded)?;
            properties.extend(loaded);
        }
        knowledge::program(&properties).map_err(|why| CliError::Usage(why.to_string()))?;
        let engines = engines(&settings, &properties)?;
        let mut suppressions = Suppressions::new(settings.show_known);
        for path in &settings.suppressions {
            suppressions.read(path)?;
        }
        let suppressions = Mutex::new(suppressions);
        Ok(Check { settings, engines, properties, suppressions, shows_progress: true })
    }

    /// The program's variables that properties speak of.
    pub(crate) fn variables(&self) -> Vec<String> {
        let all = self.properties.iter().flat_map(|property| &property.vars);
        all.map(|var| var.name.clone()).collect()
    }

    /// Whether properties ask what threads know of each other.
    pub(crate) fn asks_who_knows(&self) -> bool {
        self.engines.iter().any(|engine| engine.name == MTTL)
            && self.properties.iter().any(|property| !property.mttl.is_empty())
    }

    /// The calls that properties want the values of.
    pub(crate) fn calls(&self) -> Vec<WantedCall> {
        specs::calls(&self.properties)
    }

    /// The files whose properties about what threads know have something done in the process: they are monitored there, too.
    pub(crate) fn inside(&self) -> Result<Vec<PathBuf>, CliError> {
        let (mut paths, mut inside) = (Vec::new(), Vec::new());
        for path in &self.settings.spec {
            let properties = specs::load(path, specs::Warnings::Known)?.properties;
            if properties.iter().any(does_something_inside) {
                paths.push(std::path::absolute(path).unwrap_or_else(|_| path.clone()));
                inside.extend(properties);
            }
        }
        specs::together_inside(&inside)?;
        Ok(paths)
    }

    /// Checks the trace at `path`, which the report calls `name`, and shows what was found; the exit code that says it.
    pub(crate) fn run(&self, path: &Path, name: &str) -> Result<u8, CliError> {
        let (report, verdict) = self.report(path, name, Instant::now())?;
        self.show(Results::Run(&[report]))?;
        Ok(verdict)
    }

    /// How long it may take.
    pub(crate) fn time(&self) -> Option<Duration> {
        self.settings.time.or(self.settings.bound)
    }

    /// How mistakes in specs are told of.
    pub(crate) fn mistakes(&self) -> Severity {
        self.settings.mistakes()
    }

    /// The exit code that says what is in a report.
    pub(crate) fn verdict_of(&self, report: &Report) -> u8 {
        exit_code(report, &self.settings)
    }

    /// Shows results where they were asked for, and warns of suppressions that were of no use.
    pub(crate) fn show(&self, results: Results<'_>) -> Result<(), CliError> {
        write(results, &self.settings)?;
        if let Results::Run(reports) = results {
            let suppressed = reports.iter().map(|report| report.stats.suppressed).sum();
            let has_alarm = reports.iter().any(Report::has_alarm);
            self.settings.tell_what_the_file_decided(has_alarm, suppressed);
        }
        for unused in self.unused_suppressions() {
            error::print(Severity::Warning, &format!("suppression `{unused}` matched nothing"));
        }
        Ok(())
    }

    /// Results as people read them.
    pub(crate) fn for_people(&self, results: Results<'_>) -> String {
        ReportFormat::Human.render(results, &viewpoint(&self.settings))
    }

    /// Checks the trace at `path`: the report, which calls it `name`, and the exit code that says what is in it. Time counts
    /// since `started`.
    pub(crate) fn report(&self, path: &Path, name: &str, started: Instant) -> Result<(Report, u8), CliError> {
        interrupt::finish_on_interrupt();
        check(Input::open(path)?, RunState::Ended { started }, path, name, self)
    }

    /// The same for a run that goes on while it is checked; its trace will be at `path` when it has ended.
    pub(crate) fn report_live(
        &self,
        live: Live<'_>,
        path: &Path,
        name: &str,
    ) -> Result<(Report, u8), CliError> {
        let ended = live.ended();
        let mut input = Input::of(path, Box::new(live));
        input.hide_progress();
        check(input, RunState::GoesOn { ended }, path, name, self)
    }

    /// Lines that suppressed nothing so far.
    pub(crate) fn unused_suppressions(&self) -> Vec<String> {
        let suppressions = self.suppressions.lock().unwrap_or_else(PoisonError::into_inner);
        suppressions.unused().map(str::to_owned).collect()
    }
}

/// Whether the checked run is over.
enum RunState {
    Ended {
        /// From when on time counts.
        started: Instant,
    },
    /// The input waits for it: until its end time does not count, and Ctrl-C is the program's. Then the input itself keeps to the time.
    GoesOn {
        /// When it ended, once it has.
        ended: Rc<Cell<Option<Instant>>>,
    },
}

fn check(
    mut input: Input<'_>,
    run: RunState,
    path: &Path,
    name: &str,
    Check { settings, engines, properties, suppressions, shows_progress }: &Check,
) -> Result<(Report, u8), CliError> {
    let (ended, mut started) = match run {
        RunState::Ended { started } => (None, started),
        RunState::GoesOn { ended } => (Some(ended), Instant::now()),
    };
    let goes_on = ended.is_some();
    if !shows_progress {
        input.hide_progress();
    }
    // What is known of the run is known when its first events are there.
    let mut batch = EventBatch::default();
    let mut more = input.take_many(&mut batch)?;
    // What cannot be read twice is kept, for the details of what is found.
    let keep = !goes_on && !path.is_file();
    let options = Options {
        atomic: AtomicFunctions::new(&settings.atomic),
        properties: as_recorded(properties, input.source().facts()),
        trace: name.to_owned(),
        prediction: prediction(settings),
    };
    let limits = limits(settings, started);
    let engines = engines.iter().map(|engine| engine.make(&options)).collect();
    let mut analysis = Analysis::new(engines, options.atomic.clone(), limits, keep);
    let (mut seen, mut uncovered) = (Seen::default(), Uncovered::default());
    // Only what specs and options name is looked for.
    let names_something = !properties.is_empty() || !settings.atomic.is_empty();
    let mut index = 0;
    let (mut out_of_time, mut out_of_memory) = (false, false);
    let meter = Meter::new(memory(settings));
    while !batch.is_empty() {
        // What was read until then is the beginning of the run, and can be checked like any other.
        out_of_time = !goes_on && limits.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        out_of_memory = !goes_on && meter.is_exceeded();
        if out_of_time || out_of_memory {
            break;
        }
        let names = input.names();
        index += batch.len() as u64;
        for event in batch.iter() {
            if names_something {
                seen.event(&event);
            }
            uncovered.event(&event);
        }
        analysis.events(names, &batch);
        if goes_on && input.source().may_wait() {
            let names = input.source().names();
            analysis.news().for_each(|places| announce(&places, names, suppressions));
        }
        more = more && (goes_on || !interrupt::interrupted().load(Ordering::Relaxed));
        if !more {
            break;
        }
        more = input.take_many(&mut batch)?;
    }
    if let Some(ended) = ended {
        started = ended.get().unwrap_or_else(Instant::now);
        analysis.set_deadline(deadline(settings, started));
    }
    if let (0, Some(damage)) = (index, input.source().damage()) {
        return Err(CliError::Usage(format!("{name}: {damage}; nothing is left to check")));
    }
    input.warn_of_damage();
    let mut trust = input.source().trust();
    out_of_time |= trust.gaps().contains(&Gap::NoEnd(NoEnd::OutOfTime));
    if out_of_memory {
        trust.add(Gap::NoEnd(NoEnd::OutOfMemory));
    }
    let interrupted = !goes_on && interrupt::interrupted().load(Ordering::Relaxed);
    match (out_of_time, interrupted) {
        (true, _) => trust.add(Gap::NoEnd(NoEnd::OutOfTime)),
        (false, true) => trust.add(Gap::NoEnd(NoEnd::Interrupted)),
        (false, false) => {}
    }
    let mut stage = Stage::new(*shows_progress);
    let names = input.source().names();
    let mut analysed = analysis.finish(names, trust, &mut |name| stage.show(name));
    stage.end();
    let facts = input.source().facts();
    refuse_ambiguous(properties, names)?;
    leave_out(&mut analysed, properties, &left_out(properties, names, facts));
    doubt_some_calls(&mut analysed, properties, facts);
    let unmatched = seen.unmatched(&options.properties, &settings.atomic, names, facts);
    // What a forked process does not do, its parent may have done.
    if *shows_progress && !analysed.trust.gaps().contains(&Gap::AfterFork) {
        unmatched::tell(&unmatched, settings.mistakes());
    }
    if let Some(why) = analysed.trust.spoiled_by(Spoils::Everything) {
        error::print(Severity::Warning, &format!("{name}: {why}; what is found in it is not proven"));
    }
    let collected = details(path, &analysed, names)?;
    let stats = Stats {
        damage: input.source().damage().map(ToString::to_string),
        missing: missing(&analysed.trust, properties).into_iter().chain(analysed.unknown.clone()).collect(),
        unmatched,
        values: value_stats(&analysed.trust, facts),
        interrupted: out_of_time || out_of_memory || interrupt::interrupted().load(Ordering::Relaxed),
        ..stats(&analysed, name, names)
    };
    let viewpoint = viewpoint(settings);
    let builder = Builder::new(names, &collected, analysed.execution.as_ref(), &viewpoint);
    let mut report = {
        let mut suppressions = suppressions.lock().unwrap_or_else(PoisonError::into_inner);
        builder.report(&analysed.findings, stats, &mut |finding| suppressions.suppresses(finding))
    };
    let met = uncovered.told(names, facts, &report.findings, &viewpoint);
    report.stats.missing.extend(met);
    report.stats.seconds = started.elapsed().as_secs_f64();
    let code = exit_code(&report, settings);
    Ok((report, code))
}

/// What properties say of functions of which calls may be missing is not proven.
fn doubt_some_calls(analysed: &mut Analysed, properties: &[Property], facts: &Facts) {
    for property in properties {
        let functions = property.events.iter().flat_map(|event| match &event.source {
            Source::Enter(functions) | Source::Exit(functions) => functions.as_slice(),
            _ => &[],
        });
        let why = |function: &String| {
            let fact = facts.iter().find(|(name, _)| name.strip_prefix(SOME_CALLS_OF) == Some(function));
            fact.map(|(_, why)| format!("{why}; calls of it may be missing"))
        };
        let Some(why) = functions.into_iter().find_map(why) else { continue };
        analysed.unknown.push(format!("{}: {why}", property.name));
        let of_property = analysed.findings.iter_mut().filter(|finding| {
            finding.statement.as_ref().is_some_and(|statement| statement.property == property.name)
        });
        of_property.for_each(|finding| finding.doubt_because(why.clone()));
    }
}

/// Takes out what was found of properties that are left out.
fn leave_out(analysed: &mut Analysed, properties: &[Property], is_left_out: &[bool]) {
    let left_out: Vec<&str> = (properties.iter().zip(is_left_out))
        .filter(|(_, is_left_out)| **is_left_out)
        .map(|(property, _)| property.name.as_str())
        .collect();
    let Analysed { findings, engines, .. } = analysed;
    findings.retain(|finding| {
        let statement = finding.statement.as_ref();
        let is_kept = statement.is_none_or(|statement| !left_out.contains(&statement.property.as_str()));
        let by = engines.iter_mut().find(|engine| engine.name == finding.engine);
        if let (false, Some(engine)) = (is_kept, by) {
            engine.findings = engine.findings.saturating_sub(1);
        }
        is_kept
    });
}

/// What the engines did, for the report.
fn stats(analysed: &Analysed, name: &str, names: &Names) -> Stats {
    let engines: Vec<_> = (analysed.engines.iter())
        .map(|engine| {
            let stats = EngineStats {
                findings: engine.findings as u64,
                undecided: engine.undecided,
                out_of_time: engine.out_of_time,
                refused: engine.refused,
                seconds: engine.time.map(|time| time.as_secs_f64()),
            };
            (engine.name.to_owned(), stats)
        })
        .collect();
    Stats {
        trace: Some(name.to_owned()),
        events: analysed.events,
        analysed: analysed.partial.unwrap_or(analysed.events),
        undecided: engines.iter().map(|(_, engine)| engine.undecided).sum(),
        refused: engines.iter().map(|(_, engine)| engine.refused).sum(),
        engines: Named(engines),
        blind: blind_stats(analysed, names),
        ..Stats::default()
    }
}

/// In how many critical sections code ran that the trace does not show.
fn blind_stats(analysed: &Analysed, names: &Names) -> BlindStats {
    let BlindSections { sections, blind, code } = &analysed.blind;
    let code = code.iter().map(|&(code, sections)| BlindCode { name: names.str(code).to_owned(), sections });
    BlindStats { sections: *sections, blind: *blind, code: code.collect() }
}

/// What comparing the values of reads has shown, if the trace says that they were compared.
fn value_stats(trust: &Trust, facts: &Facts) -> Option<ValueStats> {
    let (_, compared) = facts.iter().find(|(name, _)| name == VALUES_COMPARED)?;
    let mut unseen: Vec<_> = trust.unseen_writes().collect();
    unseen.sort_by_key(|unseen| unseen.unexplained == 0);
    Some(ValueStats {
        compared: compared.parse().unwrap_or_default(),
        unseen_writes: unseen.iter().map(|unseen| unseen.times).sum(),
        unexplained: unseen.iter().map(|unseen| unseen.unexplained).sum(),
        memory: unseen.iter().map(|unseen| unseen.text.clone()).collect(),
    })
}

/// From where the user looks.
fn viewpoint(settings: &Settings) -> Viewpoint {
    let folder = settings.folder.clone().or_else(|| std::env::current_dir().ok());
    let viewpoint = folder.as_deref().map_or_else(Viewpoint::default, Viewpoint::new);
    let sources = match settings.ran {
        true => SourceRoots::Anywhere,
        false => SourceRoots::Below(folder.into_iter().chain(settings.source_root.iter().cloned()).collect()),
    };
    viewpoint.quoting(sources)
}

/// What of the run is not in the trace. Damage and what spoils everything are warned of elsewhere.
fn missing(trust: &Trust, properties: &[Property]) -> Vec<String> {
    let is_new = |gap: &&Gap| {
        gap.spoils() != Spoils::Everything
            && !matches!(gap, Gap::UnseenWrite(_))
            // Nothing but properties speaks of what was before.
            && (**gap != Gap::AfterFork || !properties.is_empty())
            && (**gap != Gap::NoEnd(NoEnd::Ended) || properties.iter().any(Property::asks_for_end))
            && !matches!(gap, Gap::NoEnd(NoEnd::Damaged | NoEnd::Interrupted | NoEnd::OutOfTime))
    };
    trust.gaps().iter().filter(is_new).map(Gap::to_string).collect()
}

fn exit_code(report: &Report, settings: &Settings) -> u8 {
    if settings.strict && has_mistake(&report.stats.unmatched) {
        return exit::BAD_INPUT;
    }
    if report.has_alarm() {
        return settings.exit_code.unwrap_or(exit::FINDINGS);
    }
    let stats = &report.stats;
    let is_short = settings.memory.is_some() && stats.analysed < stats.events;
    let unfinished = stats.undecided > 0 || stats.interrupted || is_short;
    let is_cut = settings.bound.is_some() && report.stats.interrupted;
    let is_limited = settings.time.is_some() || settings.memory.is_some() || is_cut;
    if unfinished && is_limited { exit::UNDECIDED } else { exit::NOTHING_FOUND }
}

fn engines(settings: &Settings, properties: &[Property]) -> Result<Vec<&'static EngineInfo>, CliError> {
    let has_work = |engine: &EngineInfo| match engine.name {
        PROPERTY => properties.iter().any(|property| !property.bodies.is_empty()),
        MTTL => properties.iter().any(|property| !property.mttl.is_empty()),
        _ => true,
    };
    if settings.engine.is_empty() {
        return Ok(default_engines().filter(|engine| has_work(engine)).collect());
    }
    let mut chosen: Vec<&'static EngineInfo> = Vec::new();
    for name in &settings.engine {
        let Some(info) = engine(name.trim()) else {
            let known: Vec<&str> = ENGINES.iter().map(|engine| engine.name).collect();
            return Err(CliError::Usage(format!(
                "unknown engine `{name}`; expected one of {}",
                known.join(", ")
            )));
        };
        if !has_work(info) {
            let name = info.name;
            let message = match (name, properties.is_empty()) {
                (_, true) => format!("engine `{name}` checks the properties of spec files: add --spec FILE"),
                (MTTL, false) => format!("engine `{name}` checks `mttl` bodies, and the spec has none"),
                _ => format!("engine `{name}` does not check `mttl` bodies, and the spec has no others"),
            };
            return Err(CliError::Usage(message));
        }
        chosen.push(info);
    }
    // In the order in which they build on each other, each once.
    Ok(ENGINES.iter().filter(|info| chosen.iter().any(|one| one.name == info.name)).collect())
}

/// How properties are held against other runs.
fn prediction(settings: &Settings) -> Prediction {
    let default = Prediction::default();
    Prediction {
        model: match settings.model {
            Some(CausalityModel::Hb) => ModelName::Hb,
            Some(CausalityModel::Weak) => ModelName::Weak,
            Some(CausalityModel::Sliced | CausalityModel::Max) => ModelName::Sliced,
            None => default.model,
        },
        breadth: match settings.breadth {
            None | Some(usize::MAX) => Breadth::All,
            Some(most) => Breadth::Most(most),
        },
        counterexamples: settings.counterexamples.unwrap_or(default.counterexamples),
    }
}

fn memory(settings: &Settings) -> u64 {
    settings.memory.unwrap_or_else(|| memory::available() / 2)
}

fn limits(settings: &Settings, started: Instant) -> Limits {
    let memory = memory(settings);
    Limits {
        deadline: deadline(settings, started),
        rest: settings.time.unwrap_or(REST),
        events: (memory / BYTES_PER_EVENT).max(1),
        trace_threads: (memory / BYTES_PER_THREAD_PAIR).isqrt().max(1),
        threads: std::thread::available_parallelism().map_or(1, Into::into),
        memory: usize::try_from(memory / 2).unwrap_or(usize::MAX),
        interrupt: Some(interrupt::interrupted()),
    }
}

/// How long checking may take for a program that is ended after so long: whoever sets that wants an end.
pub(crate) fn bound(timeout: Option<Duration>) -> Option<Duration> {
    timeout.map(|timeout| timeout.max(LEAST))
}

fn deadline(settings: &Settings, started: Instant) -> Option<Instant> {
    settings.time.or(settings.bound).and_then(|time| started.checked_add(time))
}

/// Reports a race while the program still runs; the report has it again, with all that belongs to it.
fn announce(places: &[Place], names: &Names, suppressions: &Mutex<Suppressions>) {
    let texts = places.iter().map(|place| names.location_text(place.loc()));
    if suppressions.lock().unwrap_or_else(PoisonError::into_inner).may_suppress(texts) {
        return;
    }
    let folder = std::env::current_dir().unwrap_or_default();
    let from_here = Viewpoint::new(&folder);
    let mut places: Vec<String> = (places.iter())
        .map(|place| match place.loc() {
            LocId::UNKNOWN => "an unknown place".to_owned(),
            loc => from_here.file(&names.location_text(loc)).to_owned(),
        })
        .collect();
    places.dedup();
    let message = format!("data race observed: {}; the report follows", places.join(" and "));
    error::print(Severity::Note, &message);
}

/// Goes through the trace once more for the events that findings name.
fn details(path: &Path, analysed: &Analysed, names: &Names) -> Result<Collected, CliError> {
    let ways =
        |finding: &Finding| finding.known.iter().flat_map(|known| known.way.clone()).collect::<Vec<_>>();
    let events =
        analysed.findings.iter().flat_map(|finding| finding.events.iter().copied().chain(ways(finding)));
    let wanted = events.collect();
    let mut collector = Collector::new(wanted);
    match &analysed.execution {
        Some(execution) if analysed.partial.is_none() => {
            for id in execution.ids() {
                if collector.is_done() {
                    break;
                }
                collector.event(names, &execution.event(id));
            }
        }
        _ => {
            let mut again = Input::open(path)?;
            while !collector.is_done() && again.advance()? {
                let event = again.event();
                let names = again.names();
                collector.event(names, &event);
            }
            again.end_progress();
        }
    }
    Ok(collector.finish())
}

/// Lays out results and puts them where the settings want it.
pub(crate) fn write(results: Results<'_>, settings: &Settings) -> Result<(), CliError> {
    let format = settings.format.unwrap_or_default();
    let text = format.render(results, &viewpoint(settings));
    match &settings.output {
        Some(path) => {
            let text = anstream::adapter::strip_str(&text).to_string();
            whole_file::write(path, &text).map_err(|why| CliError::output(path.display(), why))
        }
        None if format == ReportFormat::Human => anstream::stderr()
            .write_all(text.as_bytes())
            .map_err(|why| CliError::output("standard error", why)),
        None => stdout::print(&text),
    }
}
