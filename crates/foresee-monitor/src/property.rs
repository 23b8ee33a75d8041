//! A property, ready to run: its events, its variables, and a machine for each body.

use std::sync::Arc;

use crate::formalism::automaton::Automaton;
use crate::formalism::cfg::{Cfg, Set};
use crate::formalism::ptltl::Past;
use crate::formalism::raw::Raw;
use crate::formalism::srs::{Srs, SrsState};
use crate::formalism::timed::{Timed, TimedState};
use crate::formalism::{Categories, Letter, Monitor, Outlook};
use crate::mttl::{Local, Mttl, ThreadName};
use crate::predicate::{Expr, Values};
use crate::slice::params::EventShape;

/// What a declared event is in the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The program reports it by this name.
    Named(String),
    /// A built-in event.
    Builtin(Builtin),
    /// One of the functions with these names is entered.
    Enter(Vec<String>),
    /// One of them is left.
    Exit(Vec<String>),
    /// One of them is called; the event carries these of its arguments.
    Arguments(Vec<String>, Vec<Parameter>),
    /// One of them returns; the event carries these.
    Result(Vec<String>, Vec<Parameter>),
}

/// A parameter of a function, as a property names it, or what comes back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// By its position among those that the source declares, from 0.
    Position(u32),
    /// By its name; [`RECEIVER`] is also what Rust calls `self`.
    Named(String),
    /// What is stored, when the function returns, where the parameter of this name points.
    Stored(String),
    /// No parameter, but the result.
    Result,
    /// What a field of the object holds that one of the others is.
    Field {
        /// Which.
        of: Box<Parameter>,
        /// The type of the object.
        of_type: String,
        /// The field, or a part of one.
        path: String,
    },
}

/// What a method's receiver is called.
pub const RECEIVER: &str = "this";

/// Events that need no annotation in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Builtin {
    Read,
    Write,
    Acquire,
    Release,
    Fork,
    Join,
    EndProgram,
    EndThread,
    EndObject,
}

impl Builtin {
    /// All of them, by name, with how many values each carries.
    pub const ALL: [(&'static str, Builtin, usize); 9] = [
        ("read", Builtin::Read, 1),
        ("write", Builtin::Write, 1),
        ("acquire", Builtin::Acquire, 1),
        ("release", Builtin::Release, 1),
        ("fork", Builtin::Fork, 1),
        ("join", Builtin::Join, 1),
        ("end_program", Builtin::EndProgram, 0),
        ("end_thread", Builtin::EndThread, 0),
        ("end_object", Builtin::EndObject, 1),
    ];
}

/// Where the value of a parameter comes from at an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carried {
    /// The event carries it, at this position.
    Arg(u32),
    /// It is the thread that does the event.
    Thread,
}

/// An event of a property.
#[derive(Clone, Debug)]
pub struct Event {
    /// What the property calls it.
    pub name: String,
    /// What it is in the program.
    pub source: Source,
    /// How many values it carries, not counting the thread.
    pub arity: usize,
    /// Which parameters it binds.
    pub shape: EventShape,
    /// Where the values of those parameters come from, in the order of the shape.
    pub carried: Vec<Carried>,
    /// Under which condition it counts.
    pub guard: Option<Expr>,
    /// The same, where that depends on the instance.
    pub own_guard: Option<Expr>,
    /// What it does to the variables of instances.
    pub actions: Vec<Assignment>,
}

/// A variable of an instance gets a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The variable, by its position.
    pub state: u32,
    /// The value.
    pub value: Expr,
}

/// A variable that each instance of a property has for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateVar {
    /// What the property calls it.
    pub name: String,
    /// Its value at the beginning.
    pub initial: i64,
}

/// A variable of the program that a property speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Var {
    /// Its name in the program.
    pub name: String,
    /// Its value before the first write, if the spec says.
    pub initial: Option<i64>,
    /// It is known to be never negative: its bits are read so.
    pub is_unsigned: bool,
}

/// What to do on a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handler {
    /// The verdict.
    pub category: String,
    /// What to do, in order.
    pub actions: Vec<Action>,
}

impl Handler {
    /// Whether its verdict is reported to the user: it does more than to count and to start again.
    pub fn is_finding(&self) -> bool {
        self.actions.iter().any(|action| !matches!(action, Action::Count | Action::Reset))
    }
}

/// What a handler does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Reports this text to the user; `{name}` stands for a parameter, `loc`, `thread` or `trace`.
    Report(String),
    /// Starts the instance again.
    Reset,
    /// Only counts.
    Count,
    /// Ends the program.
    Abort,
    /// Calls the closure registered under this name.
    Call(String),
    /// Calls the recovery registered under this name.
    Recover(String),
}

/// What an atom of a formula with predicates means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Atom {
    /// This event happens.
    Event(u32),
    /// This condition over the variables holds.
    Predicate(Expr),
}

/// What a body's machine reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Letters {
    /// The index of the event.
    Events,
    /// Which of these atoms are true, as bits; an assignment to a variable is a step too.
    Atoms(Vec<Atom>),
}

impl Letters {
    /// The letter for an event (`None`: an assignment, or the beginning) when the variables have these values.
    pub fn letter(&self, event: Option<u32>, values: Values<'_>) -> Letter {
        let Letters::Atoms(atoms) = self else { return event.unwrap_or(0) };
        let holds = |atom: &Atom| match atom {
            Atom::Event(this) => event == Some(*this),
            Atom::Predicate(condition) => condition.holds(values),
        };
        atoms.iter().enumerate().fold(0, |mask, (bit, atom)| mask | u32::from(holds(atom)) << bit)
    }
}

/// A body of a property.
#[derive(Clone, Debug)]
pub struct Body {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// `ere`, `ltl`, …
    pub formalism: String,
    /// What its machine reads.
    pub letters: Letters,
    /// What it compiled to.
    pub machine: Machine,
    /// Its handlers; the position of a handler is the bit of its category.
    pub handlers: Vec<Handler>,
    /// For an fsm, what its states are called.
    pub states: Vec<String>,
}

impl Body {
    /// All categories that have a handler.
    pub fn handled(&self) -> Categories {
        (0..self.handlers.len()).fold(Categories::NONE, |all, index| all.union(Categories::only(index)))
    }

    /// The categories whose handler resets.
    pub fn resets(&self) -> Categories {
        let resetting =
            self.handlers.iter().enumerate().filter(|(_, handler)| handler.actions.contains(&Action::Reset));
        resetting.fold(Categories::NONE, |all, (index, _)| all.union(Categories::only(index)))
    }
}

/// A body about what threads know. Nothing of this crate runs it.
#[derive(Clone, Debug)]
pub struct MttlBody {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// What it says.
    pub mttl: Mttl,
    /// Its handlers.
    pub handlers: Vec<Handler>,
}

/// The modifiers of a property.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Modifiers {
    /// Only instances that bind all parameters report their verdicts.
    pub full_binding: bool,
    /// Every suffix of a slice is monitored.
    pub suffix: bool,
    /// Every thread has its own monitors, which see its events only.
    pub perthread: bool,
    /// Parameters that no event connects are never combined.
    pub connected: bool,
    /// The program promises that its events do not come from several threads at once.
    pub unsynchronized: bool,
}

/// A property, ready to run.
#[derive(Clone, Debug)]
pub struct Property {
    /// What it is called.
    pub name: String,
    /// Its parameters; with `perthread` the last one is the thread.
    pub params: Vec<String>,
    /// How it is to be run.
    pub modifiers: Modifiers,
    /// Its events.
    pub events: Vec<Event>,
    /// The program's variables it speaks of.
    pub vars: Vec<Var>,
    /// The variables that each instance has for itself.
    pub state: Vec<StateVar>,
    /// The texts it compares values with; their [numbers](crate::predicate::text_number) go by their positions.
    pub texts: Vec<String>,
    /// What it states.
    pub bodies: Vec<Body>,
    /// Its names for threads.
    pub threads: Vec<ThreadName>,
    /// The variables that every thread has for itself.
    pub locals: Vec<Local>,
    /// What it states of what threads know.
    pub mttl: Vec<MttlBody>,
}

impl Property {
    /// Whether it asks when events happen.
    pub fn is_timed(&self) -> bool {
        self.bodies.iter().any(|body| matches!(body.machine, Machine::Timed(_)))
    }

    /// Whether it asks for the end of the program.
    pub fn asks_for_end(&self) -> bool {
        self.events.iter().any(|event| event.source == Source::Builtin(Builtin::EndProgram))
    }

    /// Whether its events carry what fields of objects hold. In another order of events they may hold something else.
    pub fn asks_for_fields(&self) -> bool {
        let is_field = |parameter: &Parameter| matches!(parameter, Parameter::Field { .. });
        self.events.iter().any(|event| match &event.source {
            Source::Arguments(_, asked) | Source::Result(_, asked) => asked.iter().any(is_field),
            _ => false,
        })
    }

    /// Whether its instances remember values; see [`remembering`](crate::remembering).
    pub fn remembers(&self) -> bool {
        !self.state.is_empty() || self.events.iter().any(|event| event.own_guard.is_some())
    }
}

/// What a body compiles to. It is itself a [`Monitor`]; [`Watch`](crate::watch::Watch) runs the variants without the
/// detour.
#[derive(Clone, Debug)]
pub enum Machine {
    /// A table.
    Automaton(Automaton),
    /// A past formula too big for a table.
    Past(Past),
    /// A past formula with bounds of time.
    Timed(Timed),
    /// A grammar.
    Cfg(Cfg),
    /// A rewriting system.
    Srs(Srs),
    /// The user's own.
    Raw(Raw),
}

/// A state of a [`Machine`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MachineState {
    /// Of an automaton.
    Number(u32),
    /// Of a past formula or the user's own monitor.
    Word(u64),
    /// Of a formula with bounds of time.
    Timed(Box<TimedState>),
    /// Of a grammar.
    Set(Arc<Set>),
    /// Of a rewriting system.
    Text(SrsState),
}

impl Machine {
    /// The same machine after it has read a first letter: the initial state of the program's variables.
    #[must_use]
    pub fn primed(&self, letter: Letter) -> Machine {
        match self {
            Machine::Automaton(automaton) => Machine::Automaton(automaton.clone().primed(letter)),
            Machine::Past(past) => Machine::Past(past.primed(letter)),
            Machine::Timed(_) | Machine::Cfg(_) | Machine::Srs(_) | Machine::Raw(_) => self.clone(),
        }
    }
}

impl Monitor for Machine {
    type State = MachineState;

    fn start(&self) -> MachineState {
        match self {
            Machine::Automaton(automaton) => MachineState::Number(automaton.start()),
            Machine::Past(past) => MachineState::Word(past.start()),
            Machine::Timed(timed) => MachineState::Timed(Box::new(timed.start())),
            Machine::Cfg(cfg) => MachineState::Set(cfg.start()),
            Machine::Srs(srs) => MachineState::Text(srs.start()),
            Machine::Raw(raw) => MachineState::Word(raw.start()),
        }
    }

    fn step(&self, state: &mut MachineState, letter: Letter) {
        match (self, state) {
            (Machine::Automaton(automaton), MachineState::Number(state)) => automaton.step(state, letter),
            (Machine::Past(past), MachineState::Word(state)) => past.step(state, letter),
            (Machine::Timed(timed), MachineState::Timed(state)) => timed.step(state, letter),
            (Machine::Cfg(cfg), MachineState::Set(state)) => cfg.step(state, letter),
            (Machine::Srs(srs), MachineState::Text(state)) => srs.step(state, letter),
            (Machine::Raw(raw), MachineState::Word(state)) => raw.step(state, letter),
            _ => debug_assert!(false, "a state of another machine"),
        }
    }

    fn verdicts(&self, state: &MachineState) -> Categories {
        match (self, state) {
            (Machine::Automaton(automaton), MachineState::Number(state)) => automaton.verdicts(state),
            (Machine::Past(past), MachineState::Word(state)) => past.verdicts(state),
            (Machine::Timed(timed), MachineState::Timed(state)) => timed.verdicts(state),
            (Machine::Cfg(cfg), MachineState::Set(state)) => cfg.verdicts(state),
            (Machine::Srs(srs), MachineState::Text(state)) => srs.verdicts(state),
            (Machine::Raw(raw), MachineState::Word(state)) => raw.verdicts(state),
            _ => Categories::NONE,
        }
    }

    fn outlook(&self) -> Outlook {
        match self {
            Machine::Automaton(automaton) => automaton.outlook(),
            Machine::Past(past) => past.outlook(),
            Machine::Timed(timed) => timed.outlook(),
            Machine::Cfg(cfg) => cfg.outlook(),
            Machine::Srs(srs) => srs.outlook(),
            Machine::Raw(raw) => raw.outlook(),
        }
    }

    fn place(&self, state: &MachineState) -> u32 {
        match (self, state) {
            (Machine::Automaton(automaton), MachineState::Number(state)) => automaton.place(state),
            (Machine::Cfg(cfg), MachineState::Set(state)) => cfg.place(state),
            (Machine::Srs(srs), MachineState::Text(state)) => srs.place(state),
            _ => 1,
        }
    }

    fn merges_suffixes(&self) -> bool {
        matches!(self, Machine::Cfg(_))
    }
}
