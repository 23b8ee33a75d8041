//! `foresee run --monitor SPEC`: properties are monitored in the running program, whose runtime has the monitors, and nothing is recorded.
//!
//! The runtime is told what to do by a plan, and tells of verdicts in a file; both are made of lines of fields with tabs between them, which `foresee-rt`'s `monitors::properties::plan` and
//! `monitors::verdicts` describe. What it cannot monitor is refused here: accesses to any memory as events, and monitors of the user's own.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use foresee_monitor::mttl::Who;
use foresee_monitor::property::{Action, Builtin, Event, Machine, Parameter, Property, Source};
use foresee_monitor::recorded_values::{call_number, is_given, pick};
use foresee_symbols::FileSymbols;
use foresee_symbols::calls::{CallTable, HookedCall};
use foresee_trace::FunctionPattern;
use foresee_trace::raw::SourceLocation;

use super::check::Check;
use crate::error::CliError;
use crate::recording::{self, Program};
use crate::report::model::{
    Certainty, EngineStats, Event as ReportEvent, Finding, Location, Named, Report, Stats, Unmatched,
};
use crate::report::results::Results;
use crate::scratch::Scratch;
use crate::{exit, interrupt, program_file, specs, unmatched, unrecorded};

/// What findings name as their engine.
const ENGINE: &str = "monitor";
/// Why not all is monitored.
const TOO_MANY_THREADS: &str = "the program had more threads than can be monitored while it runs: what some did was not seen; use `--spec`";
/// The variables by which the runtime finds the plan, and the file for verdicts.
const PLAN_VARIABLE: &str = "FORESEE_MONITOR";
const VERDICTS_VARIABLE: &str = "FORESEE_VERDICTS";

/// Runs the program with these properties in it, and shows what they found; the exit code for both.
pub(crate) fn run(
    program: &Program<'_>,
    specs: &[PathBuf],
    name: &str,
    check: &Check,
) -> Result<u8, CliError> {
    let started = Instant::now();
    let mut properties = Vec::new();
    for path in specs {
        let of_file = specs::load(path, specs::Warnings::Printed)?.properties;
        specs::without_times(path, &of_file)?;
        properties.extend(of_file);
    }
    properties.iter().try_for_each(refuse)?;
    specs::together_inside(&properties)?;
    let specs: Vec<PathBuf> =
        specs.iter().map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone())).collect();
    let variables: Vec<String> =
        properties.iter().flat_map(|property| &property.vars).map(|var| var.name.clone()).collect();
    let calls = specs::calls(&properties);
    let program = &Program { variables: &variables, calls: &calls, ..program.clone() };
    let folder = Scratch::new()?;
    let (plan, verdicts) = (folder.path().join("plan"), folder.path().join("verdicts"));
    let (mut command, missing) = recording::prepared(program)?;
    let table = recording::call_table(program, &command)?;
    if let Some(table) = &table {
        recording::note_calls(&mut command, table, &calls, &plan)?;
    }
    let text = plan_text(command.get_program(), &specs, &properties, table.as_ref())?;
    let written = std::fs::write(&plan, text).and_then(|()| std::fs::write(&verdicts, ""));
    written.map_err(|why| CliError::output(folder.path().display(), why))?;
    command.env(PLAN_VARIABLE, &plan).env(VERDICTS_VARIABLE, &verdicts).env_remove(recording::RAW_VARIABLE);
    if properties.iter().any(|property| !property.mttl.is_empty()) {
        command.env(recording::KNOWLEDGE_VARIABLE, recording::lines(&specs));
    }
    let code = recording::told(name, recording::run_to_end(program, &mut command)?);
    interrupt::was_for_the_program();
    let told = std::fs::read(&verdicts).map_err(|why| CliError::input(&verdicts, why.into()))?;
    let mut heard = Heard::read(&String::from_utf8_lossy(&told), command.get_program(), name);
    if heard.findings.iter().any(|finding| is_knowledge(finding, &properties))
        && program_file::may_order_unseen(command.get_program())
    {
        let why =
            "the program has code that is not recorded and may order threads: `--spec` says where it ran";
        heard.doubt_knowledge(&properties, why);
    }
    let is_crowd = heard.is_crowd;
    if is_crowd {
        heard.doubt_knowledge(&properties, TOO_MANY_THREADS);
    }
    if !heard.has_begun {
        return Err(unrecorded::recorded_nothing(program.line.first().map_or(OsStr::new(""), |name| name)));
    }
    let unmatched = heard.unmatched(&properties, &missing);
    unmatched::tell(&unmatched, check.mistakes());
    let report = heard.report(name, &properties, unmatched, started);
    check.show(Results::Run(std::slice::from_ref(&report)))?;
    Ok(match check.verdict_of(&report) {
        exit::NOTHING_FOUND if code != 0 => code,
        exit::NOTHING_FOUND if is_crowd => exit::UNDECIDED,
        verdict => verdict,
    })
}

/// Refuses what cannot be monitored in the process.
fn refuse(property: &Property) -> Result<(), CliError> {
    let is_memory = |event: &Event| matches!(event.source, Source::Builtin(Builtin::Read | Builtin::Write));
    let why = if property.events.iter().any(is_memory) {
        "asks for accesses to memory"
    } else if property.bodies.iter().any(|body| matches!(body.machine, Machine::Raw(_))) {
        "has a monitor of the program's own"
    } else {
        return Ok(());
    };
    let name = &property.name;
    let message = format!("`{name}` {why}, which is not monitored in the running program; use `--spec`");
    Err(CliError::Usage(message))
}

/// What the runtime is to do.
fn plan_text(
    program: &OsStr,
    specs: &[PathBuf],
    properties: &[Property],
    table: Option<&CallTable>,
) -> Result<String, CliError> {
    let mut text = String::new();
    for path in specs {
        let path = path.to_str().filter(|path| !path.contains(['\n', '\t']));
        let path =
            path.ok_or_else(|| CliError::Usage("foresee only accepts paths that are UTF-8".to_owned()))?;
        let _ = writeln!(text, "spec\t{path}");
    }
    for (number, hook) in table.iter().flat_map(|table| &table.hooks).enumerate() {
        for (property, of) in properties.iter().enumerate() {
            for (at, event) in of.events.iter().enumerate() {
                if let Some(positions) = positions(hook, event) {
                    let _ = writeln!(text, "call\t{number}\t{property}\t{at}\t{}", positions.join(","));
                }
            }
            if let Some(position) = numbered(hook, of) {
                let what = if hook.returns { "end" } else { "begin" };
                let _ = writeln!(text, "{what}\t{number}\t{property}\t{position}");
            }
        }
    }
    let handlers = properties.iter().flat_map(|property| &property.bodies).flat_map(|body| &body.handlers);
    let called = handlers.flat_map(|handler| &handler.actions).filter_map(|action| match action {
        Action::Call(name) | Action::Recover(name) => Some(name.as_str()),
        Action::Report(_) | Action::Reset | Action::Count | Action::Abort => None,
    });
    for (name, address) in program_file::functions(program, &called.collect::<BTreeSet<_>>())? {
        let _ = writeln!(text, "function\t{address:x}\t{name}");
    }
    Ok(text)
}

/// Where the number of the call is among the values of a hook, if the property has events for the returns of its function, with objects that it was given.
fn numbered(hook: &HookedCall, property: &Property) -> Option<usize> {
    let is_asked = |event: &Event| match &event.source {
        Source::Result(functions, parameters) => {
            parameters.iter().any(is_given)
                && functions.iter().any(|name| FunctionPattern::new(name).matches(&hook.function))
        }
        _ => false,
    };
    let number = call_number(&hook.parameters).filter(|_| property.events.iter().any(is_asked))?;
    Some(first_argument(hook) + number as usize)
}

/// Where a function returns, the result comes first.
fn first_argument(hook: &HookedCall) -> usize {
    usize::from(hook.returns)
}

/// Which of the values at a hook an event carries, as the plan has them, if the hook is one of that event.
fn positions(hook: &HookedCall, event: &Event) -> Option<Vec<String>> {
    let (functions, parameters, returns): (_, &[Parameter], _) = match &event.source {
        Source::Enter(functions) => (functions, &[], false),
        Source::Exit(functions) => (functions, &[], true),
        Source::Arguments(functions, parameters) => (functions, parameters, false),
        Source::Result(functions, parameters) => (functions, parameters, true),
        Source::Named(_) | Source::Builtin(_) => return None,
    };
    let is_meant = |name: &String| FunctionPattern::new(name).matches(&hook.function);
    if returns != hook.returns || !functions.iter().any(is_meant) {
        return None;
    }
    let picked = pick(&hook.parameters, parameters)?;
    let mut picked = picked.iter();
    let first = first_argument(hook);
    let position = |parameter: &Parameter| match parameter {
        Parameter::Result => Some("0".to_owned()),
        _ => {
            let when = if returns && is_given(parameter) { "b" } else { "" };
            picked.next().map(|position| format!("{}{when}", first + *position as usize))
        }
    };
    parameters.iter().map(position).collect()
}

/// Whether it is about what threads know.
fn is_knowledge(finding: &Finding, properties: &[Property]) -> bool {
    let about = |property: &&Property| finding.property.as_deref() == Some(&property.name);
    properties.iter().find(about).is_some_and(|property| !property.mttl.is_empty())
}

/// What the runtime told.
#[derive(Default)]
struct Heard {
    has_begun: bool,
    findings: Vec<Finding>,
    /// Events, misfits and instances that were given up, by property.
    seen: HashMap<String, [u64; 3]>,
    /// What properties about what threads know mention, and the program has.
    threads: Vec<String>,
    locals: Vec<String>,
    /// Whether there were children of forks, which are not monitored.
    has_children: bool,
    /// Whether there were more threads than can be monitored.
    is_crowd: bool,
    /// How many events were steps of their formulas, and a variable whose value was not known; none if the program did not end by itself.
    knowledge: Option<(u64, String)>,
}

impl Heard {
    fn read(text: &str, program: &OsStr, name: &str) -> Heard {
        let mut heard = Heard::default();
        let mut symbols = FileSymbols::default();
        let path = unrecorded::find(program);
        for line in text.lines() {
            let fields: Vec<String> = line.split('\t').map(unescaped).collect();
            let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
            match fields[..] {
                ["begin"] => heard.has_begun = true,
                ["verdict", property, category, thread, place, certainty, message] => {
                    let event = (place != "end").then(|| {
                        let place = u64::from_str_radix(place, 16).unwrap_or(0);
                        let index = heard.findings.len() as u64;
                        let stack = stack(&mut symbols, &path, place);
                        event(thread, property, index, stack)
                    });
                    let loc = event.as_ref().map_or("the end of the run", |event| &event.place);
                    let message = message.replace("{loc}", loc).replace("{trace}", name);
                    let mut finding = Finding::of_property(ENGINE, property, category, message, event);
                    if certainty != "sure" {
                        finding.certainty = Certainty::Candidate;
                        finding.reason = Some(format!("the value of `{certainty}` was not known"));
                    }
                    heard.findings.push(finding);
                }
                ["end", property, events, misfits, given_up] => {
                    let number = |text: &str| text.parse().unwrap_or(0);
                    let seen = [number(events), number(misfits), number(given_up)];
                    heard.seen.insert(property.to_owned(), seen);
                }
                ["thread", name] => heard.threads.push(name.to_owned()),
                ["local", name] => heard.locals.push(name.to_owned()),
                ["child"] => heard.has_children = true,
                ["crowd"] => heard.is_crowd = true,
                ["knowledge", events, unknown] => {
                    heard.knowledge = Some((events.parse().unwrap_or(0), unknown.to_owned()));
                }
                _ => {}
            }
        }
        heard
    }

    /// Threads may have told each other more than the runtime has seen, for this reason.
    fn doubt_knowledge(&mut self, properties: &[Property], why: &str) {
        for finding in self.findings.iter_mut().filter(|finding| is_knowledge(finding, properties)) {
            finding.certainty = Certainty::Candidate;
            finding.reason.get_or_insert_with(|| why.to_owned());
        }
    }

    /// What properties name, and the program does not have. What nobody did is known only if it ended by itself.
    fn unmatched(&self, properties: &[Property], missing: &[String]) -> Vec<Unmatched> {
        let mut all = Vec::new();
        for property in properties {
            let by = property.name.as_str();
            let variables = property.vars.iter().filter(|var| missing.contains(&var.name));
            all.extend(variables.map(|var| unmatched::missing_variable(by, &var.name, Vec::new(), true)));
            let saw_nothing = self.seen.get(by).is_some_and(|[events, ..]| *events == 0);
            if saw_nothing && !property.events.is_empty() {
                all.push(unmatched::unused(by));
            }
            if self.knowledge.is_none() || property.mttl.is_empty() {
                continue;
            }
            let locals = property.locals.iter().filter(|local| !self.locals.contains(&local.name));
            all.extend(locals.map(|local| unmatched::missing_local(by, &local.name)));
            let is_there = |who: &Who| self.threads.iter().any(|name| who.includes(name));
            let threads = property.threads.iter().filter(|thread| !is_there(&thread.who));
            all.extend(threads.map(|thread| unmatched::missing_thread(by, &thread.name, Vec::new())));
        }
        all
    }

    fn report(
        self,
        name: &str,
        properties: &[Property],
        unmatched: Vec<Unmatched>,
        started: Instant,
    ) -> Report {
        let Heard { mut findings, seen, knowledge, has_children, is_crowd, .. } = self;
        // What is said of a variable that is not there is not proven.
        let is_left_out = |property: &str| {
            unmatched.iter().any(|unmatched| unmatched.kind == "variable" && unmatched.by == property)
        };
        findings.retain(|finding| !finding.property.as_deref().is_some_and(is_left_out));
        let sum = |which: usize| seen.values().map(|seen| seen[which]).sum::<u64>();
        let events = sum(0) + knowledge.as_ref().map_or(0, |(events, _)| *events);
        let monitored = properties.iter().filter(|property| !property.bodies.is_empty());
        let mut missing = Vec::new();
        for property in monitored {
            match seen.get(&property.name) {
                None if property.asks_for_end() => missing.push(format!(
                    "`{}`: the program did not end by itself: what the property says of the end is not known",
                    property.name
                )),
                Some([_, misfits, given_up]) if misfits + given_up > 0 => missing.push(format!(
                    "`{}`: {misfits} events did not fit, {given_up} instances were given up",
                    property.name
                )),
                None | Some(_) => {}
            }
        }
        let is_uncounted = |property: &Property| match property.mttl.is_empty() {
            true => !seen.contains_key(&property.name),
            false => knowledge.is_none(),
        };
        if properties.iter().any(is_uncounted) {
            missing.push("the program did not end by itself: events are not counted then".to_owned());
        }
        match knowledge {
            Some((_, variable)) if !variable.is_empty() => missing.push(format!(
                "the value of `{variable}` was not known all the time: what formulas say of it is not proven"
            )),
            _ => {}
        }
        if is_crowd {
            missing.push(TOO_MANY_THREADS.to_owned());
        }
        if has_children {
            missing.push("children of forks were not monitored: `--spec` records each of them".to_owned());
        }
        let engine = EngineStats { findings: findings.len() as u64, ..EngineStats::default() };
        let stats = Stats {
            trace: Some(name.to_owned()),
            events,
            analysed: events,
            engines: Named(vec![(ENGINE.to_owned(), engine)]),
            verdicts: Some(findings.len() as u64),
            misfits: Some(sum(1)),
            missing,
            unmatched,
            seconds: started.elapsed().as_secs_f64(),
            ..Stats::default()
        };
        let mut report = Report::new(findings, stats);
        report.number();
        report
    }
}

/// Where the code is that returns to a place of the program's file.
fn stack(symbols: &mut FileSymbols, path: &Path, place: u64) -> Vec<Location> {
    let known = |text: &String| (!text.is_empty()).then(|| text.clone());
    let number = |number: u32| (number != 0).then_some(number);
    let inside = place.checked_sub(1);
    let frames = inside.map(|place| symbols.code_of_file(&path.to_string_lossy(), place)).unwrap_or_default();
    let location = |frame: &SourceLocation| Location {
        file: known(&frame.file),
        line: number(frame.line),
        column: number(frame.column),
        function: known(&frame.function),
    };
    // As in what is recorded, it is at the user's own place that led there.
    let first = frames.iter().position(SourceLocation::is_users).unwrap_or(0);
    frames[first..].iter().map(location).collect()
}

/// The event of a verdict.
fn event(thread: &str, property: &str, index: u64, stack: Vec<Location>) -> ReportEvent {
    let location = stack.first().cloned().unwrap_or_default();
    let place = if location.is_unknown() { "an unknown place".to_owned() } else { location.to_string() };
    ReportEvent {
        index,
        thread: thread.to_owned(),
        op: "verdict".to_owned(),
        target: property.to_owned(),
        place,
        location,
        stack,
        held: None,
        size: None,
        memory: None,
        thread_created: None,
        values: None,
    }
}

/// A field as it was before it was written to a line.
fn unescaped(field: &str) -> String {
    let mut text = String::new();
    let mut letters = field.chars();
    while let Some(letter) = letters.next() {
        match (letter, letter == '\\') {
            (_, true) => text.push(match letters.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                other => other.unwrap_or('\\'),
            }),
            (letter, false) => text.push(letter),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_as_they_were_written() {
        assert_eq!(unescaped(r"a\\b\tc\nd"), "a\\b\tc\nd");
        assert_eq!(unescaped("plain"), "plain");
    }
}
