//! Whether the events of a case can have happened in this order. What cannot has no verdicts: a mistake in a case would be taken for one of the monitors.
//! Who holds which lock does not matter here: to the formulas, taking and giving back are writes of the lock, and cases use them so.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

use super::expression::Declared;

/// One event of a case.
#[derive(Clone, Debug, Deserialize)]
pub struct CaseEvent {
    /// Who does it.
    pub thread: String,
    /// `read`, `write`, `local`, `acquire`, `release`, `wait`, `notify`, `fork`, `join` or `end`.
    pub op: String,
    /// The variable, lock or thread.
    #[serde(default)]
    pub target: String,
    /// The value that is written or assigned.
    #[serde(default)]
    pub value: Value,
}

/// Why an event cannot have happened.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Impossible {
    /// There is no such event at this place of an order.
    #[error("there is no such event")]
    NoEvent,
    /// Its thread is not declared.
    #[error("`threads` has no `{0}`")]
    NoThread(String),
    /// Its variable is not declared.
    #[error("`variables` has no `{0}`")]
    NoVariable(String),
    /// Its local is not declared.
    #[error("`locals` has no `{0}`")]
    NoLocal(String),
    /// Nothing is done so.
    #[error("`{0}` is none of read, write, local, acquire, release, wait, notify, fork, join, end")]
    NoOperation(String),
    /// A write or an assignment needs a value.
    #[error("`{0}` needs a `value`: a whole number or a truth value, as the initial one is")]
    NoValue(String),
    /// A read got another value than the last write gave.
    #[error("`{variable}` is read as {read}, and is {is}")]
    WrongValue {
        /// The variable.
        variable: String,
        /// What is said to be read.
        read: String,
        /// What it is.
        is: String,
    },
    /// The thread has not begun.
    #[error("`{0}` does something before it is forked")]
    NotForked(String),
    /// The thread has begun before.
    #[error("`{0}` is forked, but it has begun already")]
    HasBegun(String),
    /// The thread has ended.
    #[error("`{0}` does something after its end, or after it was joined")]
    HasEnded(String),
    /// Nobody waits for his own end.
    #[error("`{0}` joins itself")]
    JoinsItself(String),
    /// A thread that was never there.
    #[error("`{0}` is joined, but has not begun")]
    NotBegun(String),
}

/// What has happened so far.
pub(super) struct Possible<'c> {
    declared: Declared<'c>,
    /// Those that somebody forks.
    forked: HashSet<&'c str>,
    begun: HashSet<&'c str>,
    ended: HashSet<&'c str>,
    values: HashMap<&'c str, &'c Value>,
}

/// Both are numbers, or both are truth values.
fn is_alike(value: &Value, other: &Value) -> bool {
    value.is_i64() && other.is_i64() || value.is_boolean() && other.is_boolean()
}

impl<'c> Possible<'c> {
    pub(super) fn new(declared: Declared<'c>, events: &'c [CaseEvent]) -> Possible<'c> {
        let forks = events.iter().filter(|event| event.op == "fork");
        let forked: HashSet<&str> = forks.map(|event| event.target.as_str()).collect();
        let roots = declared.threads.iter().map(String::as_str).filter(|name| !forked.contains(name));
        Possible {
            begun: roots.collect(),
            forked,
            declared,
            ended: HashSet::new(),
            values: declared.variables.iter().map(|(name, value)| (name.as_str(), value)).collect(),
        }
    }

    /// The next event, if it can happen now.
    pub(super) fn event(&mut self, event: &'c CaseEvent) -> Result<(), Impossible> {
        let CaseEvent { thread, op, target, value } = event;
        self.declared(thread)?;
        if !self.begun.contains(thread.as_str()) {
            return Err(Impossible::NotForked(thread.clone()));
        }
        if self.ended.contains(thread.as_str()) {
            return Err(Impossible::HasEnded(thread.clone()));
        }
        match op.as_str() {
            "read" => self.read(target, value),
            "write" => self.write(target, value),
            "local" => match self.declared.locals.get(target) {
                None => Err(Impossible::NoLocal(target.clone())),
                Some(initial) if is_alike(initial, value) => Ok(()),
                Some(_) => Err(Impossible::NoValue(target.clone())),
            },
            "acquire" | "release" | "wait" | "notify" => Ok(()),
            "fork" => self.fork(target),
            "join" => self.join(thread, target),
            "end" => {
                self.ended.insert(thread);
                Ok(())
            }
            _ => Err(Impossible::NoOperation(op.clone())),
        }
    }

    fn declared(&self, thread: &str) -> Result<(), Impossible> {
        let is_declared = self.declared.threads.iter().any(|known| known == thread);
        if is_declared { Ok(()) } else { Err(Impossible::NoThread(thread.to_owned())) }
    }

    fn read(&self, variable: &str, value: &Value) -> Result<(), Impossible> {
        match self.values.get(variable) {
            None => Err(Impossible::NoVariable(variable.to_owned())),
            Some(is) if value.is_null() || *is == value => Ok(()),
            Some(&is) => {
                let (variable, read, is) = (variable.to_owned(), value.to_string(), is.to_string());
                Err(Impossible::WrongValue { variable, read, is })
            }
        }
    }

    fn write(&mut self, variable: &str, value: &'c Value) -> Result<(), Impossible> {
        match self.values.get_mut(variable) {
            None => Err(Impossible::NoVariable(variable.to_owned())),
            Some(is) if is_alike(is, value) => {
                *is = value;
                Ok(())
            }
            Some(_) => Err(Impossible::NoValue(variable.to_owned())),
        }
    }

    fn fork(&mut self, child: &'c str) -> Result<(), Impossible> {
        self.declared(child)?;
        match self.forked.contains(child) && self.begun.insert(child) {
            true => Ok(()),
            false => Err(Impossible::HasBegun(child.to_owned())),
        }
    }

    fn join(&mut self, thread: &str, child: &'c str) -> Result<(), Impossible> {
        self.declared(child)?;
        if thread == child {
            return Err(Impossible::JoinsItself(child.to_owned()));
        }
        if !self.begun.contains(child) {
            return Err(Impossible::NotBegun(child.to_owned()));
        }
        self.ended.insert(child);
        Ok(())
    }
}
