//! The properties that `FORESEE_KNOWLEDGE` names, as far as they can be monitored in the process.

use std::ffi::CString;
use std::sync::atomic::{AtomicUsize, Ordering::Acquire, Ordering::Release};

use foresee_monitor::property::{Action, MttlBody, Property};
use foresee_mttl::{Bytes, Program};

use crate::message::say;
use crate::{environment, program};

/// News of formulas are bits.
const MOST_FORMULAS: usize = 64;

/// What to do when a formula ceases to hold.
pub(super) struct Formula {
    pub(super) property: CString,
    pub(super) actions: Vec<Todo>,
}

/// One thing to be done.
pub(super) enum Todo {
    Call(Registered),
    Abort,
}

/// A function of the program, by the name that the spec has for it.
pub(super) struct Registered {
    name: String,
    function: AtomicUsize,
    argument: AtomicUsize,
}

impl Registered {
    /// The program says what is to be called under this name.
    pub(super) fn register(&self, name: &[u8], function: usize, argument: usize) {
        if self.name.as_bytes() == name {
            self.argument.store(argument, Release);
            self.function.store(function, Release);
        }
    }

    /// What is to be called, and with which argument; 0 if nothing was registered.
    pub(super) fn get(&self) -> (usize, usize) {
        let function = self.function.load(Acquire);
        (function, self.argument.load(Acquire))
    }
}

/// A spec that can be monitored here.
pub(super) struct Spec {
    pub(super) program: Program,
    pub(super) formulas: Vec<Formula>,
    /// The variables that formulas speak of, where they are.
    pub(super) variables: Vec<(Bytes, u32)>,
}

/// The spec of this run, if there is one: `FORESEE_KNOWLEDGE` has the path of a file in each line. What cannot be monitored here is told.
pub(super) fn read() -> Option<Spec> {
    let paths = environment::text(c"FORESEE_KNOWLEDGE")?.to_str().ok()?;
    let properties: Vec<Property> = paths.lines().flat_map(properties).collect();
    let bodies =
        properties.iter().flat_map(|property| property.mttl.iter().map(move |body| (property, body)));
    let meant: Vec<(&Property, &MttlBody)> =
        bodies.filter(|(property, body)| is_possible(property, body)).take(MOST_FORMULAS).collect();
    let program = Program::new(meant.iter().copied()).ok().filter(|program| program.formulas() > 0)?;
    let formulas = meant.iter().map(|(property, body)| formula(property, body)).collect();
    let variables = variables(&program);
    Some(Spec { program, formulas, variables })
}

/// The properties of a file.
fn properties(path: &str) -> Vec<Property> {
    let compiled = std::fs::read_to_string(path).ok().and_then(|text| foresee_monitor::compile(&text).ok());
    match compiled {
        Some(compiled) => compiled.properties,
        None => {
            say(&[b"foresee: cannot read ", path.as_bytes(), b"; it is not monitored in the process\n"]);
            Vec::new()
        }
    }
}

/// Whether a formula can be monitored here; the user is told if not.
fn is_possible(property: &Property, body: &MttlBody) -> bool {
    let Ok(alone) = Program::new([(property, body)]) else { return false };
    if alone.named().iter().all(|name| name == MAIN) && alone.groups().is_empty() {
        return true;
    }
    say(&[
        b"foresee: ",
        property.name.as_bytes(),
        b" is not monitored in the process, only in the trace: it speaks of threads by name\n",
    ]);
    false
}

/// The name of the first thread.
pub(super) const MAIN: &str = "main";

fn formula(property: &Property, body: &MttlBody) -> Formula {
    let todo = |action: &Action| match action {
        Action::Recover(name) | Action::Call(name) => {
            let (function, argument) = (AtomicUsize::new(0), AtomicUsize::new(0));
            Some(Todo::Call(Registered { name: name.clone(), function, argument }))
        }
        Action::Abort => Some(Todo::Abort),
        Action::Report(_) | Action::Reset | Action::Count => None,
    };
    let actions = body.handlers.iter().flat_map(|handler| &handler.actions).filter_map(todo).collect();
    Formula { property: CString::new(property.name.as_str()).unwrap_or_default(), actions }
}

/// Where the variables of formulas are: `FORESEE_KNOWLEDGE_VARIABLES` has them as `name=address:size`, as the program's file has them.
fn variables(spec: &Program) -> Vec<(Bytes, u32)> {
    let listed = environment::text(c"FORESEE_KNOWLEDGE_VARIABLES");
    let listed = listed.and_then(|listed| listed.to_str().ok()).unwrap_or_default();
    let variable = |item: &str| {
        let (name, place) = item.split_once('=')?;
        let (addr, size) = program::place_of(place)?;
        let meant = spec.variables().iter().position(|variable| variable.name == name)?;
        Some((Bytes { addr, size }, meant as u32))
    };
    listed.split(',').filter_map(variable).collect()
}

/// These bits of so many bytes, as a number with a sign.
pub(super) fn signed(bits: u64, size: u64) -> i64 {
    let unused = 64 - 8 * size.clamp(1, 8);
    ((bits << unused) as i64) >> unused
}
