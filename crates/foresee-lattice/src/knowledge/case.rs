//! Cases of the conformance suite for MTTL: a formula, a run in a few lines of JSON, and verdicts to compare with.
//!
//! A case has `threads`, `variables` and `locals` with initial values, a `formula` as S-expression (or as a property, `spec`), and `events` in the observed
//! order. A suite has `cases`, and formulas that are to be `refused`. Locks and shared variables have names of their own. Events that cannot have happened are refused, each case for itself.

use std::collections::HashMap;
use std::time::Instant;

use foresee_monitor::property::Property;
use foresee_monitor::spec::diagnostic::{Diagnostic, Severity};
use foresee_mttl::{Accessed, Program, ProgramError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

use super::expression::{self, Declared};
use super::possible::Possible;
pub use super::possible::{CaseEvent, Impossible};
use super::run::{Access, Run, Shared};

/// Why a case cannot be run.
#[derive(Debug, Error)]
pub enum CaseError {
    /// Not a case at all.
    #[error("not a case or a suite of cases: {0}")]
    Json(#[from] serde_json::Error),
    /// The formula cannot be read.
    #[error("{case}: {why}")]
    Formula {
        /// The case's name.
        case: String,
        /// What is wrong with it.
        why: String,
    },
    /// The formula cannot be monitored.
    #[error("{case}: {why}")]
    Program {
        /// The case's name.
        case: String,
        /// Why.
        why: ProgramError,
    },
    /// An event that cannot have happened.
    #[error("{case}: event {event}: {why}")]
    Event {
        /// The case's name.
        case: String,
        /// Which event, from 0.
        event: usize,
        /// What is wrong with it.
        why: Impossible,
    },
    /// A form that is not known.
    #[error("version {0} of the form is not known; this is version {VERSION}")]
    Version(Value),
    /// There was no time for it.
    #[error("{case}: out of time at event {event}")]
    OutOfTime {
        /// The case's name.
        case: String,
        /// Which event, from 0.
        event: usize,
    },
}

/// The version of the form that is read.
const VERSION: u64 = 1;

/// A file of cases.
#[derive(Debug, Default, Deserialize)]
pub struct Suite {
    /// Formulas that are to be refused.
    #[serde(default)]
    pub refused: Vec<Refused>,
    /// The cases.
    pub cases: Vec<Case>,
}

/// A formula that is to be refused.
#[derive(Debug, Deserialize)]
pub struct Refused {
    /// What it is called.
    pub name: String,
    /// Declarations, perhaps, and the formula.
    pub text: String,
}

/// A run and a formula.
#[derive(Debug, Deserialize)]
pub struct Case {
    /// What it is called.
    pub name: String,
    /// The threads, by name.
    pub threads: Vec<String>,
    /// Shared variables, with initial values.
    #[serde(default)]
    pub variables: Map<String, Value>,
    /// Variables of each thread, with initial values.
    #[serde(default)]
    pub locals: Map<String, Value>,
    /// The formula as S-expression.
    pub formula: Option<String>,
    /// The formula as a property.
    pub spec: Option<String>,
    /// What happens.
    pub events: Vec<CaseEvent>,
    /// What the suite expects.
    pub verdicts: Option<Vec<CaseVerdict>>,
    /// Another run of the same computation, as positions of its events.
    pub reordering: Option<Vec<usize>>,
}

/// Whether the formula holds at an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseVerdict {
    /// Whose event.
    pub thread: String,
    /// Which, from 0.
    pub event_index: usize,
    /// Whether it holds.
    pub value: bool,
}

/// Reads a suite, a list of cases, or a single case.
pub fn read(json: &str) -> Result<Suite, CaseError> {
    let value: Value = serde_json::from_str(json)?;
    if value.is_array() {
        return Ok(Suite { refused: Vec::new(), cases: serde_json::from_value(value)? });
    }
    if let Some(version) = value.get("version").filter(|version| version.as_u64() != Some(VERSION)) {
        return Err(CaseError::Version(version.clone()));
    }
    if value.get("cases").is_some() {
        return Ok(serde_json::from_value(value)?);
    }
    Ok(Suite { refused: Vec::new(), cases: vec![serde_json::from_value(value)?] })
}

/// Why a formula is refused, or nothing if it is not. It may mention threads `i`, `j`, `t1` and `t2`, locals `c` (true or false) and `a`, and a shared
/// variable `x`.
pub fn refusal(refused: &Refused) -> Option<String> {
    let (declarations, formula) = match refused.text.rsplit_once(';') {
        Some((declarations, formula)) => (format!("{declarations};"), formula),
        None => (String::new(), refused.text.as_str()),
    };
    let spec = format!(
        "property P {{ thread i, j; thread t1: \"t1\"; thread t2: \"t2\"; local c: bool = false; local a: int = 0; \
         var x: int = 0; {declarations} mttl: {formula} @violation {{ count; }} }}"
    );
    foresee_monitor::compile(&spec).err().map(|problems| said(&problems))
}

/// The first error.
fn said(problems: &[Diagnostic]) -> String {
    let error = problems.iter().find(|problem| problem.severity == Severity::Error);
    error.map_or_else(String::new, |problem| problem.message.clone())
}

impl Case {
    /// The verdict at each event of each thread that the formula is of, in the observed order. Ends at the deadline, if there is one.
    pub fn run(&self, deadline: Option<Instant>) -> Result<Vec<CaseVerdict>, CaseError> {
        self.run_in(0..self.events.len(), deadline)
    }

    /// The same when the events come in this order; verdicts are in this order, too.
    pub fn run_in(
        &self,
        order: impl IntoIterator<Item = usize>,
        deadline: Option<Instant>,
    ) -> Result<Vec<CaseVerdict>, CaseError> {
        let property = self.property()?;
        let program = Program::new(property.mttl.iter().map(|body| (&property, body)))
            .map_err(|why| CaseError::Program { case: self.name.clone(), why })?;
        let mut driver = Driver::new(self, program);
        let mut possible = Possible::new(self.declared(), &self.events);
        let mut verdicts = Vec::new();
        for event in order {
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Err(CaseError::OutOfTime { case: self.name.clone(), event });
            }
            let refused = |why| CaseError::Event { case: self.name.clone(), event, why };
            let Some(what) = self.events.get(event) else { return Err(refused(Impossible::NoEvent)) };
            possible.event(what).map_err(refused)?;
            verdicts.extend(driver.event(event, what).map(|value| CaseVerdict {
                thread: what.thread.clone(),
                event_index: event,
                value,
            }));
        }
        Ok(verdicts)
    }

    fn declared(&self) -> Declared<'_> {
        Declared { threads: &self.threads, variables: &self.variables, locals: &self.locals }
    }

    fn property(&self) -> Result<Property, CaseError> {
        let refused = |why: String| CaseError::Formula { case: self.name.clone(), why };
        let spec = match (&self.formula, &self.spec) {
            (Some(formula), _) => {
                expression::property(formula, &self.declared()).map_err(|why| refused(why.to_string()))?
            }
            (None, Some(spec)) => spec.clone(),
            (None, None) => return Err(refused("it has no `formula`".to_owned())),
        };
        let compiled = foresee_monitor::compile(&spec).map_err(|problems| refused(said(&problems)))?;
        let found = compiled.properties.into_iter().find(|property| !property.mttl.is_empty());
        found.ok_or_else(|| refused("it has no `mttl` formula".to_owned()))
    }
}

/// A number, or a truth value as one.
pub(super) fn number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_bool().map(i64::from))
}

/// Hands the events of a case to the monitors.
struct Driver<'c> {
    case: &'c Case,
    run: Run,
    variables: HashMap<&'c str, Shared>,
    locks: HashMap<&'c str, Shared>,
}

impl<'c> Driver<'c> {
    fn new(case: &'c Case, program: Program) -> Driver<'c> {
        let mut run = Run::new(program);
        for (number, name) in case.threads.iter().enumerate() {
            run.add(
                number,
                name,
                case.events.iter().any(|event| event.op == "fork" && event.target == *name),
            );
        }
        for (number, name) in case.threads.iter().enumerate() {
            if !case.events.iter().any(|event| event.op == "fork" && event.target == *name) {
                run.monitor(number, name);
            }
        }
        Driver { case, run, variables: HashMap::new(), locks: HashMap::new() }
    }

    fn thread(&self, name: &str) -> Option<usize> {
        self.case.threads.iter().position(|thread| thread == name)
    }

    /// An event that can happen; whether the formula holds at it, if it is of this thread.
    fn event(&mut self, index: usize, event: &'c CaseEvent) -> Option<bool> {
        let CaseEvent { thread: name, op, target, value } = event;
        let thread = self.thread(name)?;
        let value = number(value);
        let at = index as u64;
        let program = &self.run.program;
        let shared = program.variables().iter().position(|known| known.name == *target).map(|at| at as u32);
        let local = program.locals().iter().position(|known| known.name == *target).map(|at| at as u32);
        match op.as_str() {
            "fork" => self.run.fork(thread, name, (self.thread(target)?, target), at),
            "join" => self.run.join(thread, name, self.thread(target)?, at),
            "local" => {
                let mut acting = self.run.monitor(thread, name);
                local.zip(value).into_iter().for_each(|(local, value)| acting.monitor.assign(local, value));
                acting.internal(at);
            }
            "acquire" | "release" | "wait" => {
                let lock = self.locks.entry(target).or_default();
                self.run.monitor(thread, name).access(Access::Write, lock, at);
            }
            "read" => {
                let variable = self.variables.entry(target).or_default();
                let mut acting = self.run.monitor(thread, name);
                acting.monitor.learn_public(variable, at);
                acting.step(shared.map_or(Accessed::default(), |x| Accessed::default().reading(x)), at);
                variable.is_read(acting.monitor.knowledge(), at);
            }
            "write" => {
                let variable = self.variables.entry(target).or_default();
                let mut acting = self.run.monitor(thread, name);
                acting.monitor.learn_all(variable, at);
                shared.zip(value).into_iter().for_each(|(shared, value)| acting.monitor.set(shared, value));
                acting.step(shared.map_or(Accessed::default(), |x| Accessed::default().writing(x)), at);
                variable.is_written(acting.monitor.knowledge(), at);
            }
            _ => self.run.monitor(thread, name).internal(at),
        }
        let Run { program, threads, .. } = &self.run;
        self.run.known(thread)?.verdict(program, threads, 0)
    }
}
