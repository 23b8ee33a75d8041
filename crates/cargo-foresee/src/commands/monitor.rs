//! `foresee monitor`: properties over a stream of events as they come, without prediction.

use std::process::ExitCode;
use std::time::Instant;

use foresee_lattice::property::{Feed, Occasion, as_recorded, says, unknown_value};
use foresee_monitor::property::{Action, Property, Source};
use foresee_monitor::slice::params::ParamSet;
use foresee_monitor::spec::diagnostic::closest;
use foresee_monitor::watch::{FeedError, Verdict};
use foresee_trace::{Event, Facts, Gap, LocId, Names, NoEnd, Op, Spoils};

use crate::cli::MonitorArgs;
use crate::error::{self, CliError, Severity, display_name};
use crate::input::Input;
use crate::memory::{self, Meter};
use crate::number::grouped;
use crate::report::build::event_of;
use crate::report::format::ReportFormat;
use crate::report::human;
use crate::report::model::{self, Certainty, Finding, Report, Stats};
use crate::report::results::Results;
use crate::report::viewpoint::Viewpoint;
use crate::unmatched::{self, Seen, UNUSED, has_mistake, left_out, refuse_ambiguous};
use crate::{exit, modules, specs, stdout};

/// What findings of this command name as their engine.
const ENGINE: &str = "monitor";

/// How many events are between two looks at the memory that is used.
const BETWEEN_LOOKS: u64 = 1024;

/// A verdict of a handler, kept until the event has been handled.
struct Heard {
    property: usize,
    body: usize,
    handler: usize,
    domain: ParamSet,
    values: Vec<u64>,
}

/// So many events that no property knows are named.
const UNKNOWN_NAMED: usize = 3;

/// A finding that was not shown yet.
struct Unshown {
    property: usize,
    /// Where the input has its event.
    at: String,
    finding: Finding,
}

/// What happened on the way.
#[derive(Default)]
struct Counts {
    events: u64,
    /// By property.
    verdicts: Vec<u64>,
    /// Named events that no property knows.
    unknown: u64,
    /// The names of the first of them.
    unknown_names: Vec<String>,
    /// Events with too few or too many values, by property.
    misfits: u64,
    /// Instances that were given up.
    given_up: u64,
}

/// Why an event is not as the properties want it.
enum Fault {
    Unknown(String),
    Misfit(String),
    /// Not the event: the property has given something up.
    GaveUp(String),
}

pub(crate) fn run(args: &MonitorArgs) -> Result<ExitCode, CliError> {
    let started = Instant::now();
    modules::load(&args.raw_monitors)?;
    let compiled = specs::load(&args.spec, specs::Warnings::Printed)?;
    specs::without_mttl(&args.spec, &compiled)?;
    let timed = compiled.properties.iter().find(|property| property.is_timed());
    let timed = timed.map(|property| property.name.clone());
    let mut input = Input::open(&args.events)?;
    // What is known of the run is known when its first event is there.
    let mut is_event = input.advance()?;
    let properties = as_recorded(&compiled.properties, input.source().facts());
    let mut feeds: Vec<Feed<'_>> = properties.iter().map(Feed::new).collect();
    let trace = display_name(&args.events);
    let mut counts = Counts { verdicts: vec![0; feeds.len()], ..Counts::default() };
    let (mut heard, mut findings, mut seen) = (Vec::new(), Vec::new(), Seen::default());
    let meter = Meter::new(args.memory.unwrap_or_else(|| memory::available() / 2));
    let (mut aborted, mut out_of_memory) = (false, false);
    while is_event {
        let event = input.event();
        let names = input.names();
        seen.event(&event);
        let time = input.source().time();
        if let (None, Some(timed)) = (time, &timed) {
            return Err(without_time(&input, &trace, timed, counts.events));
        }
        let fed = feed(&mut feeds, names, time, &event, &mut heard);
        if let Err(fault) = fed {
            if args.strict && !matches!(fault, Fault::GaveUp(_)) {
                return Err(refused(&fault, &feeds, &input, &trace, counts.events));
            }
            match fault {
                Fault::Unknown(name) => counts.unknown_event(name),
                Fault::Misfit(_) => counts.misfits += 1,
                Fault::GaveUp(why) => {
                    if counts.given_up == 0 {
                        input.end_progress();
                        let at = place(&input, counts.events);
                        error::print(Severity::Warning, &format!("{trace}: {at}: {why}"));
                    }
                    counts.given_up += 1;
                }
            }
        }
        if !heard.is_empty() {
            let occasion = Occasion { names, thread: Some(event.thread), loc: event.loc, trace: &trace };
            let at = || Some(event_of(names, &event, counts.events));
            let place = place(&input, counts.events);
            heard.iter().for_each(|heard| counts.verdicts[heard.property] += 1);
            aborted =
                handle(&feeds, &mut heard, occasion, (&at, &place), input.source().facts(), &mut findings);
            show_new(args, &mut findings, &input, |property| {
                lacks_variable(&feeds[property], input.source().facts())
            })?;
        }
        counts.events += 1;
        out_of_memory = counts.events.is_multiple_of(BETWEEN_LOOKS) && meter.is_exceeded();
        if out_of_memory {
            break;
        }
        is_event = !aborted && input.advance()?;
    }
    if !aborted && !out_of_memory && !input.source().trust().spoils(Spoils::EndOfRun) {
        for (property, feed) in feeds.iter_mut().enumerate() {
            feed.end(&mut |verdict| hear(&mut heard, property, verdict));
        }
        let names = input.source().names();
        let occasion = Occasion { names, thread: None, loc: LocId::UNKNOWN, trace: &trace };
        heard.iter().for_each(|heard| counts.verdicts[heard.property] += 1);
        let at = (&(|| None) as &dyn Fn() -> _, "end of the run");
        handle(&feeds, &mut heard, occasion, at, input.source().facts(), &mut findings);
    }
    let facts = input.source().facts();
    refuse_ambiguous(&properties, input.source().names())?;
    let left_out = left_out(&properties, input.source().names(), facts);
    findings.retain(|unshown| !left_out[unshown.property]);
    counts.leave_out(&left_out);
    show_new(args, &mut findings, &input, |_| false)?;
    let mut findings: Vec<Finding> = findings.into_iter().map(|unshown| unshown.finding).collect();
    input.warn_of_damage();
    let mut unmatched = seen.unmatched(&properties, &[], input.source().names(), facts);
    // Names of events that are nearly right are told as those that no property knows; that none happened is no mistake then.
    unmatched.retain(|one| one.kind != "event");
    unmatched.iter_mut().filter(|one| one.kind == "property").for_each(|one| one.kind = UNUSED.to_owned());
    let mistakes = if args.strict { Severity::Error } else { Severity::Warning };
    unmatched::tell(&unmatched, mistakes);
    let mut trust = input.source().trust();
    if out_of_memory {
        let why = NoEnd::OutOfMemory;
        error::print(
            Severity::Warning,
            &format!("{trace}: {why}: it was monitored up to event {}", counts.events),
        );
        trust.add(Gap::NoEnd(why));
    }
    let ended = Gap::NoEnd(NoEnd::Ended);
    for gap in trust.gaps() {
        let message = match gap.spoils() {
            Spoils::EndOfRun if *gap == ended && properties.iter().any(Property::asks_for_end) => {
                error::print(Severity::Warning, &format!("{trace}: {gap}"));
                continue;
            }
            // What was observed was observed.
            Spoils::EndOfRun | Spoils::SomeMemory => continue,
            Spoils::WholeRun => {
                format!("{trace}: the beginning of the run is missing: what properties report is not certain")
            }
            Spoils::Everything | Spoils::Predictions | Spoils::OneLock => {
                format!("{trace}: {gap}; what properties report is not proven")
            }
        };
        error::print(Severity::Warning, &message);
        findings.iter_mut().for_each(|finding| finding.certainty = Certainty::Candidate);
    }
    let unknown: Vec<String> = feeds.iter().filter_map(|feed| unknown_value(feed.translator())).collect();
    for unknown in &unknown {
        let message = format!("{trace}: {unknown}; what the property reports from then on is not proven");
        error::print(Severity::Warning, &message);
    }
    if args.format == ReportFormat::Human {
        error::print(Severity::Note, &counts.summary(&trace, &feeds));
    } else {
        let stats = Stats {
            damage: input.source().damage().map(ToString::to_string),
            interrupted: out_of_memory,
            unmatched: unmatched.clone(),
            missing: trust.gaps().iter().map(ToString::to_string).chain(unknown.clone()).collect(),
            ..counts.stats(&trace, started)
        };
        let mut report = Report::new(findings, stats);
        report.number();
        let here =
            std::env::current_dir().map_or_else(|_| Viewpoint::default(), |here| Viewpoint::new(&here));
        stdout::print(&args.format.render(Results::Run(&[report]), &here))?;
    }
    if args.strict && has_mistake(&unmatched) {
        return Ok(ExitCode::from(exit::BAD_INPUT));
    }
    let is_undecided = out_of_memory || counts.given_up > 0 || !unknown.is_empty();
    Ok(ExitCode::from(match (counts.all_verdicts(), is_undecided) {
        (0, false) => exit::NOTHING_FOUND,
        (0, true) => exit::UNDECIDED,
        _ => exit::FINDINGS,
    }))
}

/// Hands an event to all properties. All of them get it, whatever one of them finds wrong with it.
#[inline]
fn feed(
    feeds: &mut [Feed<'_>],
    names: &Names,
    time: Option<u64>,
    event: &Event<'_>,
    heard: &mut Vec<Heard>,
) -> Result<(), Fault> {
    let mut fed = Ok(());
    for (property, feed) in feeds.iter_mut().enumerate() {
        feed.learn(names);
        time.into_iter().for_each(|time| feed.at(time));
        if let Err(why) = feed.event(event, &mut |verdict| hear(heard, property, verdict)) {
            fed = Err(match why {
                FeedError::GaveUp { .. } => Fault::GaveUp(why.to_string()),
                _ => Fault::Misfit(format!("{}: {why}", feed.property().name)),
            });
        }
    }
    if let Op::Named { name, .. } = event.op
        && !feeds.iter().any(|feed| feed.knows(name))
    {
        return Err(Fault::Unknown(names.str(name).to_owned()));
    }
    fed
}

fn hear(heard: &mut Vec<Heard>, property: usize, verdict: Verdict<'_>) {
    let Verdict { body, categories, domain, values } = verdict;
    for handler in categories.indices() {
        heard.push(Heard { property, body, handler, domain, values: values.to_vec() });
    }
}

/// Does what the handlers of these verdicts say; whether one of them aborts.
fn handle(
    feeds: &[Feed<'_>],
    heard: &mut Vec<Heard>,
    occasion: Occasion<'_>,
    (at, place): (&dyn Fn() -> Option<model::Event>, &str),
    facts: &Facts,
    findings: &mut Vec<Unshown>,
) -> bool {
    let mut aborts = false;
    for verdict in heard.drain(..) {
        let feed = &feeds[verdict.property];
        let property = feed.property();
        let handler = &property.bodies[verdict.body].handlers[verdict.handler];
        aborts |= !lacks_variable(feed, facts) && handler.actions.contains(&Action::Abort);
        if handler.actions.iter().any(|action| matches!(action, Action::Report(..))) {
            let message = says(feed.translator(), handler, verdict.domain, &verdict.values, occasion);
            let mut finding = Finding::of_property(ENGINE, &property.name, &handler.category, message, at());
            if feed.translator().unknown_value().is_some() {
                finding.certainty = Certainty::Candidate;
            }
            findings.push(Unshown { property: verdict.property, at: place.to_owned(), finding });
        }
    }
    aborts
}

/// The error for an event that is not as the properties want it.
fn refused(fault: &Fault, feeds: &[Feed<'_>], input: &Input<'_>, trace: &str, index: u64) -> CliError {
    let place = place(input, index);
    let why = match fault {
        Fault::Unknown(name) => {
            let meant = meant(name, feeds).map(|meant| format!("; did you mean `{meant}`?"));
            format!("no property has an event `{name}`{}", meant.unwrap_or_default())
        }
        Fault::Misfit(why) | Fault::GaveUp(why) => why.clone(),
    };
    input.end_progress();
    CliError::Usage(format!("{trace}: {place}: {why}"))
}

/// The event of a property that a name is nearly.
fn meant<'p>(name: &str, feeds: &[Feed<'p>]) -> Option<&'p str> {
    let events = feeds.iter().flat_map(|feed| &feed.property().events);
    let named = events.filter_map(|event| match &event.source {
        Source::Named(name) => Some(name.as_str()),
        _ => None,
    });
    closest(name, named)
}

/// Where the input has the event that was reached: texts have lines.
fn place(input: &Input<'_>, index: u64) -> String {
    input.source().line().map_or_else(|| format!("event {index}"), |line| format!("line {line}"))
}

/// Whether the recorded program does not have a variable of the property, as far as it was read, or has several.
fn lacks_variable(feed: &Feed<'_>, facts: &Facts) -> bool {
    let translator = feed.translator();
    translator.missing_variables(facts).next().is_some() || translator.ambiguous_variables().next().is_some()
}

/// The error for an event without a time, where a property asks for it.
fn without_time(input: &Input<'_>, trace: &str, property: &str, index: u64) -> CliError {
    input.end_progress();
    let place = place(input, index);
    CliError::Usage(format!(
        "{trace}: {place}: `{property}` asks when events happen, and this event has no time; text streams tell it in lines `#time SECONDS` before events"
    ))
}

/// People read along; the document for machines comes at the end. What is in doubt stays until it is not.
fn show_new(
    args: &MonitorArgs,
    findings: &mut Vec<Unshown>,
    input: &Input<'_>,
    is_in_doubt: impl Fn(usize) -> bool,
) -> Result<(), CliError> {
    if args.format != ReportFormat::Human || findings.is_empty() {
        return Ok(());
    }
    input.end_progress();
    let mut shown = findings.extract_if(.., |unshown| !is_in_doubt(unshown.property));
    shown.try_for_each(|unshown| stdout::print(&human::verdict(&unshown.finding, &unshown.at)))
}

impl Counts {
    fn unknown_event(&mut self, name: String) {
        self.unknown += 1;
        if self.unknown_names.len() < UNKNOWN_NAMED && !self.unknown_names.contains(&name) {
            self.unknown_names.push(name);
        }
    }

    /// Verdicts of properties that are left out do not count.
    fn leave_out(&mut self, left_out: &[bool]) {
        let of_left_out = self.verdicts.iter_mut().zip(left_out).filter(|(_, left_out)| **left_out);
        of_left_out.for_each(|(verdicts, _)| *verdicts = 0);
    }

    fn all_verdicts(&self) -> u64 {
        self.verdicts.iter().sum()
    }

    fn stats(&self, trace: &str, started: Instant) -> model::Stats {
        model::Stats {
            trace: Some(trace.to_owned()),
            events: self.events,
            analysed: self.events,
            verdicts: Some(self.all_verdicts()),
            unknown: Some(self.unknown),
            misfits: Some(self.misfits),
            seconds: started.elapsed().as_secs_f64(),
            ..model::Stats::default()
        }
    }

    fn summary(&self, trace: &str, feeds: &[Feed<'_>]) -> String {
        let count = |count: u64, one: &str| {
            let many = if count == 1 { "" } else { "s" };
            format!("{} {one}{many}", grouped(count))
        };
        let mut text = format!(
            "{} in {} of {trace}",
            count(self.all_verdicts(), "verdict"),
            count(self.events, "event")
        );
        if self.unknown > 0 {
            let named = |name: &String| match meant(name, feeds) {
                Some(meant) => format!("`{name}` (did you mean `{meant}`?)"),
                None => format!("`{name}`"),
            };
            let names: Vec<String> = self.unknown_names.iter().map(named).collect();
            let unknown = count(self.unknown, "event");
            text += &format!("; {unknown} that no property knows, such as {}", names.join(", "));
        }
        if self.misfits > 0 {
            text +=
                &format!("; {} with too few or too many values, passed over", count(self.misfits, "event"));
        }
        if self.given_up > 0 {
            text += &format!("; {} given up", count(self.given_up, "instance"));
        }
        text
    }
}
