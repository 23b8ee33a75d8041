//! The properties that `FORESEE_KNOWLEDGE` names, as far as they can be monitored in the process.

use std::ffi::CString;

use foresee_monitor::mttl::{ThreadName, Who};
use foresee_monitor::property::{Action, Handler, MttlBody, Property};
use foresee_mttl::{Bytes, MOST_FORMULAS_INSIDE, Program};

use crate::environment;
use crate::message::say;
use crate::monitors::functions::Function;
use crate::variables::{self, Variable};

/// What to do when a formula ceases to hold.
pub(super) struct Formula {
    pub(super) property: CString,
    pub(super) actions: Vec<Todo>,
    /// The handlers that are findings: their categories, and what they say.
    pub(super) handlers: Vec<Handler>,
    /// The threads that the property mentions, and which of them the formula is of.
    pub(super) threads: Vec<ThreadName>,
    pub(super) owner: u32,
    /// The variables that the property mentions.
    pub(super) variables: Vec<String>,
}

/// One thing to be done.
pub(super) enum Todo {
    Call(Function),
    Abort,
}

/// Where a variable of formulas is.
pub(super) struct Place {
    pub(super) bytes: Bytes,
    pub(super) variable: u32,
    pub(super) is_unsigned: bool,
}

/// A spec that can be monitored here.
pub(super) struct Spec {
    program: Program,
    pub(super) formulas: Vec<Formula>,
    /// The variables that formulas speak of, where they are.
    pub(super) variables: Vec<Place>,
    /// All locals that properties declare, by name.
    pub(super) locals: Vec<String>,
    /// And all threads.
    pub(super) threads: Vec<Who>,
}

/// The spec of this run, if there is one: `FORESEE_KNOWLEDGE` has the path of a file in each line. What cannot be monitored here is told.
pub(super) fn read() -> Option<Spec> {
    let paths = environment::text(c"FORESEE_KNOWLEDGE")?.to_str().ok()?;
    let properties: Vec<Property> = paths.lines().flat_map(properties).collect();
    let bodies =
        properties.iter().flat_map(|property| property.mttl.iter().map(move |body| (property, body)));
    let all: Vec<(&Property, &MttlBody)> = bodies.collect();
    if all.len() > MOST_FORMULAS_INSIDE {
        say(&[b"foresee: too many formulas: only the first 64 are monitored in the process\n"]);
    }
    let meant = &all[..all.len().min(MOST_FORMULAS_INSIDE)];
    let program =
        Program::with_late_names(meant.iter().copied()).ok().filter(|program| program.formulas() > 0)?;
    let formulas = meant.iter().map(|(property, body)| formula(property, body)).collect();
    let variables = places(&program);
    let of_all = || properties.iter().filter(|property| !property.mttl.is_empty());
    let mut locals: Vec<String> =
        of_all().flat_map(|property| &property.locals).map(|local| local.name.clone()).collect();
    locals.sort_unstable();
    locals.dedup();
    let threads = of_all().flat_map(|property| &property.threads).map(|thread| thread.who.clone()).collect();
    Some(Spec { program, formulas, variables, locals, threads })
}

impl Spec {
    /// The formulas, for a run that begins now: variables are what they are.
    pub(super) fn program(&self) -> Program {
        let mut program = self.program.clone();
        let now = |name: &str| variables::all().iter().find(|variable| variable.name == name)?.value();
        program.begin_with(|variable| now(&variable.name));
        program
    }
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

/// The name of the first thread.
pub(super) const MAIN: &str = "main";

fn formula(property: &Property, body: &MttlBody) -> Formula {
    let todo = |action: &Action| match action {
        Action::Recover(name) | Action::Call(name) => Some(Todo::Call(Function::new(name.clone(), 0))),
        Action::Abort => Some(Todo::Abort),
        Action::Report(_) | Action::Reset | Action::Count => None,
    };
    let actions = body.handlers.iter().flat_map(|handler| &handler.actions).filter_map(todo).collect();
    let handlers = body.handlers.iter().filter(|handler| handler.is_finding()).cloned().collect();
    Formula {
        property: CString::new(property.name.as_str()).unwrap_or_default(),
        actions,
        handlers,
        threads: property.threads.clone(),
        owner: body.mttl.owner,
        variables: property.vars.iter().map(|var| var.name.clone()).collect(),
    }
}

/// Where the variables of formulas are.
fn places(spec: &Program) -> Vec<Place> {
    let place = |variable: &Variable| {
        let meant = spec.variables().iter().position(|of| of.name == variable.name)?;
        let bytes = Bytes { addr: variable.addr, size: variable.size };
        Some(Place { bytes, variable: meant as u32, is_unsigned: variable.is_unsigned })
    };
    variables::all().iter().filter_map(place).collect()
}
