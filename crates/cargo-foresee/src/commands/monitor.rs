//! `foresee monitor`: properties over a stream of events as they come, without prediction.

use std::process::ExitCode;
use std::time::Instant;

use foresee_lattice::property::{Feed, Occasion, says, unknown_value};
use foresee_monitor::property::{Action, Source};
use foresee_monitor::slice::params::ParamSet;
use foresee_monitor::spec::diagnostic::closest;
use foresee_monitor::watch::{FeedError, Verdict};
use foresee_trace::{Event, Gap, LocId, Names, NoEnd, Op, Spoils};

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
use crate::{exit, specs, stdout};

/// What findings of this command name as their engine.
const ENGINE: &str = "monitor";

/// A verdict of a handler, kept until the event has been handled.
struct Heard {
    property: usize,
    body: usize,
    handler: usize,
    domain: ParamSet,
    values: Vec<u64>,
}

/// What happened on the way.
#[derive(Default)]
struct Counts {
    events: u64,
    verdicts: u64,
    /// Named events that no property knows.
    unknown: u64,
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
    let compiled = specs::load(&args.spec, specs::Warnings::Printed)?;
    specs::without_mttl(&args.spec, &compiled)?;
    let timed = compiled.properties.iter().find(|property| property.is_timed());
    let timed = timed.map(|property| property.name.clone());
    let mut feeds: Vec<Feed<'_>> = compiled.properties.iter().map(Feed::new).collect();
    let mut input = Input::open(&args.events)?;
    let trace = display_name(&args.events);
    let (mut counts, mut heard, mut findings) = (Counts::default(), Vec::new(), Vec::new());
    let meter = Meter::new(args.memory.unwrap_or_else(|| memory::available() / 2));
    let (mut aborted, mut out_of_memory) = (false, false);
    while !aborted && input.advance()? {
        let (names, event) = input.event();
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
                Fault::Unknown(_) => counts.unknown += 1,
                Fault::Misfit(_) => counts.misfits += 1,
                Fault::GaveUp(why) => {
                    if counts.given_up == 0 {
                        input.end_progress();
                        error::print(Severity::Warning, &format!("{trace}: event {}: {why}", counts.events));
                    }
                    counts.given_up += 1;
                }
            }
        }
        if !heard.is_empty() {
            let occasion = Occasion { names, thread: Some(event.thread), loc: event.loc, trace: &trace };
            let at = || Some(event_of(names, &event, counts.events));
            counts.verdicts += heard.len() as u64;
            aborted = handle(&feeds, &mut heard, occasion, &at, &mut findings);
            show_new(args, &mut findings, &input)?;
        }
        counts.events += 1;
        out_of_memory = meter.is_exceeded(counts.events);
        if out_of_memory {
            break;
        }
    }
    if !aborted && !out_of_memory && !input.source().trust().spoils(Spoils::EndOfRun) {
        for (property, feed) in feeds.iter_mut().enumerate() {
            feed.end(&mut |verdict| hear(&mut heard, property, verdict));
        }
        let names = input.source().names();
        let occasion = Occasion { names, thread: None, loc: LocId::UNKNOWN, trace: &trace };
        counts.verdicts += heard.len() as u64;
        handle(&feeds, &mut heard, occasion, &|| None, &mut findings);
        show_new(args, &mut findings, &input)?;
    }
    input.warn_of_damage();
    let mut trust = input.source().trust();
    if out_of_memory {
        let why = NoEnd::OutOfMemory;
        error::print(
            Severity::Warning,
            &format!("{trace}: {why}: it was monitored up to event {}", counts.events),
        );
        trust.add(Gap::NoEnd(why));
    }
    for gap in trust.gaps() {
        let message = match gap.spoils() {
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
        error::print(Severity::Note, &counts.summary(&trace));
    } else {
        let stats = Stats {
            damage: input.source().damage().map(ToString::to_string),
            interrupted: out_of_memory,
            missing: trust.gaps().iter().map(ToString::to_string).chain(unknown).collect(),
            ..counts.stats(&trace, started)
        };
        let mut report = Report::new(findings, stats);
        report.number();
        let here =
            std::env::current_dir().map_or_else(|_| Viewpoint::default(), |here| Viewpoint::new(&here));
        stdout::print(&args.format.render(Results::Run(&[report]), &here))?;
    }
    Ok(ExitCode::from(match (counts.verdicts, out_of_memory || counts.given_up > 0) {
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
    at: &dyn Fn() -> Option<model::Event>,
    findings: &mut Vec<Finding>,
) -> bool {
    let mut aborts = false;
    for verdict in heard.drain(..) {
        let feed = &feeds[verdict.property];
        let property = feed.property();
        let handler = &property.bodies[verdict.body].handlers[verdict.handler];
        aborts |= handler.actions.contains(&Action::Abort);
        if handler.actions.iter().any(|action| matches!(action, Action::Report(..))) {
            let message = says(feed.translator(), handler, verdict.domain, &verdict.values, occasion);
            let mut finding = Finding::of_property(ENGINE, &property.name, &handler.category, message, at());
            if feed.translator().unknown_value().is_some() {
                finding.certainty = Certainty::Candidate;
            }
            findings.push(finding);
        }
    }
    aborts
}

/// The error for an event that is not as the properties want it.
fn refused(fault: &Fault, feeds: &[Feed<'_>], input: &Input<'_>, trace: &str, index: u64) -> CliError {
    let place = match input.source().line() {
        Some(line) => format!("line {line}"),
        None => format!("event {index}"),
    };
    let why = match fault {
        Fault::Unknown(name) => {
            let events = feeds.iter().flat_map(|feed| &feed.property().events);
            let named = events.filter_map(|event| match &event.source {
                Source::Named(name) => Some(name.as_str()),
                _ => None,
            });
            let meant = closest(name, named).map(|meant| format!("; did you mean `{meant}`?"));
            format!("no property has an event `{name}`{}", meant.unwrap_or_default())
        }
        Fault::Misfit(why) | Fault::GaveUp(why) => why.clone(),
    };
    input.end_progress();
    CliError::Usage(format!("{trace}: {place}: {why}"))
}

/// The error for an event without a time, where a property asks for it.
fn without_time(input: &Input<'_>, trace: &str, property: &str, index: u64) -> CliError {
    input.end_progress();
    let place = input.source().line().map_or_else(|| format!("event {index}"), |line| format!("line {line}"));
    CliError::Usage(format!(
        "{trace}: {place}: `{property}` asks when events happen, and this event has no time; text streams tell it in lines `#time SECONDS` before events"
    ))
}

/// People read along; the document for machines comes at the end.
fn show_new(args: &MonitorArgs, findings: &mut Vec<Finding>, input: &Input<'_>) -> Result<(), CliError> {
    if args.format != ReportFormat::Human || findings.is_empty() {
        return Ok(());
    }
    input.end_progress();
    findings.drain(..).try_for_each(|finding| stdout::print(&human::verdict(&finding)))
}

impl Counts {
    fn stats(&self, trace: &str, started: Instant) -> model::Stats {
        model::Stats {
            trace: Some(trace.to_owned()),
            events: self.events,
            analysed: self.events,
            verdicts: Some(self.verdicts),
            unknown: Some(self.unknown),
            misfits: Some(self.misfits),
            seconds: started.elapsed().as_secs_f64(),
            ..model::Stats::default()
        }
    }

    fn summary(&self, trace: &str) -> String {
        let count = |count: u64, one: &str| {
            let many = if count == 1 { "" } else { "s" };
            format!("{} {one}{many}", grouped(count))
        };
        let mut text =
            format!("{} in {} of {trace}", count(self.verdicts, "verdict"), count(self.events, "event"));
        if self.unknown > 0 {
            text += &format!("; {} that no property knows", count(self.unknown, "event"));
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
