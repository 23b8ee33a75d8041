//! What specs and options name, and the run does not have.
//!
//! A property about a function that nobody calls is kept by every run: most likely it is meant to say more. So whatever is named is held
//! against what happened ([`Seen`], a few bits for each event), and what is not there is told, with the nearest names that are.
//! An event of the program's own that just did not happen in this run is nothing to tell, unless another of nearly its name did, or none
//! of the property's events happened. That is no mistake if they are calls of functions that are known: such properties are [`UNUSED`].
//!
//! What a property says of a variable that a recorded program does not have is not proven: the property is left out ([`left_out`]).

use foresee_lattice::property::{Translator, is_recorded};
use foresee_monitor::mttl::Who;
use foresee_monitor::property::{self, Builtin, Property, Source};
use foresee_monitor::recorded_values::has_values;
use foresee_symbols::calls::library_functions;
use foresee_trace::raw::CALLS_OF;
use foresee_trace::{Arg, Event, Facts, FunctionPattern, Names, Op, StrId, function_path, nearest, perhaps};

use crate::error::{self, CliError, Severity};
use crate::report::model::Unmatched;

/// The kind of a property that saw none of its events, which are calls of functions that are known.
pub(crate) const UNUSED: &str = "unused";
/// What is said of a property of which nothing happened.
const NO_EVENTS: &str = "the run has none of its events: it says nothing about this run";

/// What happened, as far as names go.
#[derive(Default)]
pub(crate) struct Seen {
    /// By the id of the name.
    called: Vec<bool>,
    /// By the id of the name.
    named: Vec<bool>,
    builtin: Vec<Builtin>,
    /// Functions with the parameters whose values are recorded.
    arguments: Vec<(StrId, StrId)>,
    /// Functions whose results are recorded, by the id of the name.
    returned: Vec<bool>,
}

impl Seen {
    /// The next event of the run.
    pub(crate) fn event(&mut self, event: &Event<'_>) {
        match event.op {
            Op::Enter { function } | Op::Exit { function } => note(&mut self.called, function),
            Op::Named { name, .. } => note(&mut self.named, name),
            Op::Arguments { function, args } => {
                if let Some(&Arg::Str(recorded)) = args.first()
                    && !self.arguments.contains(&(function, recorded))
                {
                    self.arguments.push((function, recorded));
                }
            }
            Op::Result { function, .. } => note(&mut self.returned, function),
            Op::Read { .. } | Op::Load { .. } => self.note_builtin(Builtin::Read),
            Op::Write { .. } | Op::Store { .. } => self.note_builtin(Builtin::Write),
            Op::Rmw { .. } => {
                self.note_builtin(Builtin::Read);
                self.note_builtin(Builtin::Write);
            }
            Op::Acquire { .. } => self.note_builtin(Builtin::Acquire),
            Op::Release { .. } => self.note_builtin(Builtin::Release),
            Op::Fork { .. } => self.note_builtin(Builtin::Fork),
            Op::Join { .. } => self.note_builtin(Builtin::Join),
            Op::ThreadEnd => self.note_builtin(Builtin::EndThread),
            Op::Free { .. } => self.note_builtin(Builtin::EndObject),
            _ => {}
        }
    }

    fn note_builtin(&mut self, what: Builtin) {
        if !self.builtin.contains(&what) {
            self.builtin.push(what);
        }
    }

    fn is_called(&self, names: &Names, function: &str) -> bool {
        let pattern = FunctionPattern::new(function);
        texts(&self.called, names).any(|called| pattern.matches(called))
    }

    fn happened(&self, names: &Names, source: &Source) -> bool {
        match source {
            Source::Named(name) => texts(&self.named, names).any(|named| named == name),
            Source::Enter(functions) | Source::Exit(functions) => {
                functions.iter().any(|function| self.is_called(names, function))
            }
            Source::Arguments(functions, _) | Source::Result(functions, _) => {
                functions.iter().any(|function| self.has_values(names, function, source))
            }
            // What ends at the end of the run does so in every run.
            Source::Builtin(Builtin::EndProgram) => false,
            Source::Builtin(builtin) => self.builtin.contains(builtin),
        }
    }

    /// What of a property and of `--atomic` the run does not have.
    pub(crate) fn unmatched(
        &self,
        properties: &[Property],
        atomic: &[String],
        names: &Names,
        facts: &Facts,
    ) -> Vec<Unmatched> {
        let mut all: Vec<Unmatched> = Vec::new();
        for function in atomic.iter().filter(|function| !self.is_called(names, function)) {
            all.push(self.function("--atomic", function, names));
        }
        for property in properties {
            self.of_property(property, names, facts, &mut all);
        }
        all
    }

    fn of_property(&self, property: &Property, names: &Names, facts: &Facts, all: &mut Vec<Unmatched>) {
        let by = property.name.as_str();
        let mut translator = Translator::new(property);
        translator.learn(names);
        let before = all.len();
        let is_recorded = is_recorded(facts);
        let missing: Vec<&str> = match is_recorded {
            true => translator.missing_variables(facts).collect(),
            false => translator.unknown_variables().collect(),
        };
        for variable in &missing {
            let near = nearest(variable, names.symbols().iter().map(|symbol| names.str(symbol.name)));
            let near: Vec<String> = near.into_iter().map(str::to_owned).collect();
            all.push(missing_variable(by, variable, near, is_recorded));
        }
        for event in &property.events {
            match &event.source {
                Source::Enter(functions) | Source::Exit(functions) => {
                    for function in functions.iter().filter(|function| !self.is_called(names, function)) {
                        let new = self.function(by, function, names);
                        if !all[before..].contains(&new) {
                            all.push(new);
                        }
                    }
                }
                Source::Arguments(functions, _) | Source::Result(functions, _) => {
                    for function in functions {
                        let new = self.values(by, function, &event.source, names, facts);
                        all.extend(new.filter(|new| !all[before..].contains(new)));
                    }
                }
                Source::Named(name) if !self.happened(names, &event.source) => {
                    let is_own = |event: &property::Event, named: &str| matches!(&event.source, Source::Named(own) if own == named);
                    let is_other = |named: &&str| !property.events.iter().any(|event| is_own(event, named));
                    let near = nearest(name, texts(&self.named, names).filter(is_other));
                    if !near.is_empty() {
                        let message = format!("nothing in the run is called `{name}`");
                        let new = unmatched(by, "event", name, &message, near);
                        if !all[before..].contains(&new) {
                            all.push(new);
                        }
                    }
                }
                Source::Builtin(_) if texts(&self.named, names).any(|named| named == event.name) => {
                    let name = &event.name;
                    let message = format!(
                        "`{name}` is the built-in event; the program's own events of that name are not meant, give them another name"
                    );
                    all.push(unmatched(by, "event", name, &message, Vec::new()));
                }
                _ => {}
            }
        }
        let has_events = !property.events.is_empty() || !property.vars.is_empty();
        let saw_variable = missing.len() < property.vars.len();
        if has_events
            && !saw_variable
            && !property.events.iter().any(|event| self.happened(names, &event.source))
        {
            let is_known = |event: &property::Event| self.is_known(names, &event.source);
            let is_unused = all.len() == before && property.events.iter().all(is_known);
            all.push(if is_unused {
                unused(by)
            } else {
                unmatched(by, "property", by, NO_EVENTS, Vec::new())
            });
        }
        self.threads_and_locals(property, names, all);
    }

    /// Whether an event that did not happen may happen in another run: what it names is known.
    fn is_known(&self, names: &Names, source: &Source) -> bool {
        match source {
            Source::Named(_) => false,
            Source::Builtin(_) => true,
            Source::Enter(functions)
            | Source::Exit(functions)
            | Source::Arguments(functions, _)
            | Source::Result(functions, _) => functions.iter().all(|function| {
                let pattern = FunctionPattern::new(function);
                let mut of_program = names.locations().iter().map(|location| names.str(location.function));
                self.is_called(names, function)
                    || library_functions().any(|known| pattern.matches(known))
                    || of_program.any(|known| pattern.matches(known))
            }),
        }
    }

    /// Locals that nobody assigns, and threads that are not there.
    fn threads_and_locals(&self, property: &Property, names: &Names, all: &mut Vec<Unmatched>) {
        let by = property.name.as_str();
        let is_known = |text: &str| (0..names.string_count()).any(|id| names.str(StrId(id as u32)) == text);
        let missing = property.locals.iter().filter(|local| !is_known(&local.name));
        all.extend(missing.map(|local| missing_local(by, &local.name)));
        let threads = || names.threads().iter().map(|name| names.str(*name));
        let is_there = |who: &Who| threads().any(|name| who.includes(name));
        for thread in property.threads.iter().filter(|thread| !is_there(&thread.who)) {
            all.push(missing_thread(by, &thread.name, nearest(&thread.name, threads())));
        }
    }

    /// Whether the run has calls of this function with the values that are asked for.
    fn has_values(&self, names: &Names, function: &str, source: &Source) -> bool {
        let pattern = FunctionPattern::new(function);
        match source {
            Source::Arguments(_, parameters) => self.arguments.iter().any(|&(called, recorded)| {
                pattern.matches(names.str(called)) && has_values(names.str(recorded), parameters)
            }),
            _ => texts(&self.returned, names).any(|returned| pattern.matches(returned)),
        }
    }

    /// What to say of a function whose values are not there although it is called.
    fn values(
        &self,
        by: &str,
        function: &str,
        source: &Source,
        names: &Names,
        facts: &Facts,
    ) -> Option<Unmatched> {
        // The name of a function of a library is no end of a longer path.
        let is_library = library_functions().any(|known| known == function);
        let is_called = match is_library {
            true => texts(&self.called, names).any(|called| function_path(called) == function),
            false => self.is_called(names, function),
        };
        if self.has_values(names, function, source) || !is_called {
            return None;
        }
        let (what, how) = match source {
            Source::Arguments(..) => ("arguments", "enter"),
            _ => ("results", "exit"),
        };
        let is_it =
            |(name, value): &(String, String)| value == how && name.strip_prefix(CALLS_OF) == Some(function);
        let message = match facts.iter().any(is_it) {
            true => format!(
                "the run calls `{function}`, but not the code of it in which the {what} are recorded: what is asked of it is not known"
            ),
            false => format!(
                "the {what} of `{function}` that it asks for are not in the trace: record the run with `foresee run --spec`"
            ),
        };
        Some(unmatched(by, "function", function, &message, Vec::new()))
    }

    fn function(&self, by: &str, function: &str, names: &Names) -> Unmatched {
        let near = nearest(function, texts(&self.called, names));
        let pattern = FunctionPattern::new(function);
        let is_there = names.locations().iter().any(|location| pattern.matches(names.str(location.function)));
        let message = if is_there {
            format!("`{function}` is part of the functions it was inlined into: the run has no calls of it")
        } else {
            format!("the run calls no function `{function}`; functions of libraries are not recorded")
        };
        unmatched(by, "function", function, &message, near)
    }
}

fn note(seen: &mut Vec<bool>, name: StrId) {
    if seen.len() <= name.index() {
        seen.resize(name.index() + 1, false);
    }
    seen[name.index()] = true;
}

fn texts<'n>(seen: &'n [bool], names: &'n Names) -> impl Iterator<Item = &'n str> {
    let ids = seen.iter().zip(0..).filter(|(seen, _)| **seen);
    ids.map(|(_, id)| names.str(StrId(id)))
}

/// What to say of a variable that is not there; where the run was recorded, the property is left out for it.
pub(crate) fn missing_variable(
    by: &str,
    variable: &str,
    nearest: Vec<String>,
    is_recorded: bool,
) -> Unmatched {
    let left_out = if is_recorded { " is left out" } else { "" };
    let message = format!(
        "{by}{left_out}: the run has no variable `{variable}`; a static that is only written may have been optimised away{}",
        perhaps(&nearest)
    );
    let (by, kind, name) = (by.to_owned(), "variable".to_owned(), variable.to_owned());
    Unmatched { by, kind, name, message, nearest }
}

/// What to say of a variable of each thread that nobody assigns.
pub(crate) fn missing_local(by: &str, local: &str) -> Unmatched {
    let message = format!("no thread of the run assigns `{local}` (`foresee::local!({local} = …)`)");
    unmatched(by, "local", local, &message, Vec::new())
}

/// What to say of a thread that is not there.
pub(crate) fn missing_thread(by: &str, thread: &str, nearest: Vec<&str>) -> Unmatched {
    unmatched(by, "thread", thread, &format!("the run has no thread `{thread}`"), nearest)
}

/// The properties that say nothing certain, as the recorded program does not have one of their variables: whether each is one.
pub(crate) fn left_out(properties: &[Property], names: &Names, facts: &Facts) -> Vec<bool> {
    let is_left_out = |property: &Property| {
        let mut translator = Translator::new(property);
        translator.learn(names);
        translator.missing_variables(facts).next().is_some()
    };
    properties.iter().map(is_left_out).collect()
}

/// Tells people of what is not there: mistakes with this severity, and one line for what just did not happen.
pub(crate) fn tell(unmatched: &[Unmatched], mistakes: Severity) {
    let (unused, wrong): (Vec<_>, Vec<_>) = unmatched.iter().partition(|one| one.kind == UNUSED);
    wrong.iter().for_each(|unmatched| error::print(mistakes, &unmatched.message));
    let names: Vec<&str> = unused.iter().map(|one| one.by.as_str()).collect();
    match &names[..] {
        [] => {}
        [one] => error::print(Severity::Note, &format!("the property {one} saw none of its events")),
        many => {
            let message = format!("{} properties saw none of their events: {}", many.len(), many.join(", "));
            error::print(Severity::Note, &message);
        }
    }
}

/// Whether something is named that is not there, and not just did not happen.
pub(crate) fn has_mistake(unmatched: &[Unmatched]) -> bool {
    unmatched.iter().any(|one| one.kind != UNUSED)
}

/// A property of which nothing happened, which is no mistake.
pub(crate) fn unused(by: &str) -> Unmatched {
    unmatched(by, UNUSED, by, NO_EVENTS, Vec::new())
}

fn unmatched(by: &str, kind: &str, name: &str, message: &str, nearest: Vec<&str>) -> Unmatched {
    Unmatched {
        by: by.to_owned(),
        kind: kind.to_owned(),
        name: name.to_owned(),
        message: format!("{by}: {message}{}", perhaps(&nearest)),
        nearest: nearest.into_iter().map(str::to_owned).collect(),
    }
}

/// A variable of a property is one variable of the run.
pub(crate) fn refuse_ambiguous(properties: &[Property], names: &Names) -> Result<(), CliError> {
    for property in properties {
        let mut translator = Translator::new(property);
        translator.learn(names);
        if let Some((variable, candidates)) = translator.ambiguous_variables().next() {
            let candidates: Vec<String> = candidates.iter().map(|name| format!("`{name}`")).collect();
            return Err(CliError::Usage(format!(
                "{}: the variable `{variable}` is ambiguous: the run has {}; write the whole name of one of them",
                property.name,
                candidates.join(" and ")
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use foresee_trace::EventSource as _;
    use foresee_trace::text::TextReader;

    use super::*;

    fn told(spec: &str, atomic: &[&str], trace: &str) -> Vec<String> {
        let compiled = foresee_monitor::compile(spec).unwrap();
        let atomic: Vec<String> = atomic.iter().map(|&name| name.to_owned()).collect();
        let mut reader = TextReader::new(trace.as_bytes());
        let mut seen = Seen::default();
        while reader.advance().unwrap() {
            seen.event(&reader.event());
        }
        let all = seen.unmatched(&compiled.properties, &atomic, reader.names(), reader.facts());
        all.into_iter().map(|unmatched| unmatched.message).collect()
    }

    #[test]
    fn what_is_named_and_not_there_is_told_with_what_is() {
        let trace = "T1|enter(app::Bank::withdraw)\nT1|exit(app::Bank::withdraw)\nT1|event(opened, @1)\nT1|w(radio)\n";
        let said = |spec: &str| told(spec, &[], trace).join("\n");
        let functions =
            |name| format!("property P {{ event a = enter(\"{name}\"); ere: a @match {{ report \"x\"; }} }}");
        assert_eq!(said(&functions("Bank::withdraw")), "");
        let missing = said(&functions("Bank::withdrow"));
        assert!(
            missing.contains("no function `Bank::withdrow`")
                && missing.contains("perhaps `app::Bank::withdraw`?"),
            "{missing}"
        );
        assert!(missing.contains("P: the run has none of its events"), "{missing}");
        let events =
            "property P(f) { event opend(f); event opened(f); ere: opened opend @match { report \"x\"; } }";
        assert_eq!(said(events), "");
        let events = "property P(f) { event opend(f); event write(f) = write(f); ere: opend write @match { report \"x\"; } }";
        assert_eq!(said(events), "P: nothing in the run is called `opend`; perhaps `opened`?");
        let variables =
            "property P { var raido, radio: int; ptltl: raido == radio @violation { report \"x\"; } }";
        assert!(said(variables).contains("no variable `raido`"), "{}", said(variables));
        assert_eq!(told("", &["Bank::withdraw", "Bank::transfer"], trace).len(), 1);
    }

    #[test]
    fn events_that_are_called_like_built_in_ones_are_not_meant() {
        let spec =
            "property P(f) { event open(f); event write(f); ere: open write @match { report \"x\"; } }";
        let said = told(spec, &[], "T1|event(open, @1)\nT1|event(write, @1)\n");
        assert!(said.len() == 1 && said[0].contains("`write` is the built-in event"), "{said:?}");
    }

    #[test]
    fn two_variables_of_one_name_are_ambiguous() {
        let spec = "property P { var x: int; ptltl: x == 0 @violation { report \"x\"; } }";
        let properties = foresee_monitor::compile(spec).unwrap().properties;
        let mut names = Names::new();
        names.symbol("a::x");
        assert!(refuse_ambiguous(&properties, &names).is_ok());
        names.symbol("b::x");
        let why = refuse_ambiguous(&properties, &names).unwrap_err().to_string();
        assert!(why.contains("`x` is ambiguous: the run has `a::x` and `b::x`"), "{why}");
    }
}
