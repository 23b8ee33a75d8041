//! Monitors that live in the program: properties compiled at build time, fed by the program's own events.
//!
//! [`monitor!`](crate::monitor!) and [`include_spec!`](crate::include_spec!) turn a property into a module with a function for
//! each of its events and a [`Monitor`], a static. At the first event the monitor builds its tables (from static data: no spec is
//! read at run time) and runs them; what its handlers demand is done at once, in the thread that did the event. Nothing is recorded and
//! nothing is needed but this crate: monitors are made to be left on.
//!
//! # Cost
//!
//! - The state of a property with one parameter is in the object itself, if that has a [`Life`](crate::Life): an event is a step in a table
//!   and at most one compare-and-swap ([`resident`]).
//! - Most other events change nothing: the twentieth step of an iterator leaves its monitor in the state the nineteenth left it in. That
//!   is remembered, and such an event is over after a handful of instructions, without a lock ([`idle`]).
//! - What is left takes the property's lock and steps all instances that include the event's objects. `perthread` and `unsynchronized`
//!   properties take no lock ([`running`]).
//!
//! # Map
//!
//! [`registry`]: the monitors of the program. [`running`]: where instances are kept and who may touch them. [`handlers`]: what happens on a
//! verdict. [`knowledge`]: what threads know of each other. [`ends`]: the ends of objects and of the program. [`sites`]: from `event!` to monitors. [`tables`]: what the macros' static
//! data becomes.

mod declaration;
mod ends;
mod handlers;
mod idle;
mod inbox;
mod instances;
mod key;
pub(crate) mod knowledge;
mod message;
mod number;
mod registry;
mod resident;
mod running;
mod sites;
mod tables;
mod thread;

pub use ends::{end_program, release};
pub use foresee_monitor::formalism::raw::RawMonitor;
pub use handlers::{Count, Verdict, on};
#[cfg(all(foresee, target_arch = "x86_64", target_os = "linux"))]
pub(crate) use handlers::{Informed, call};
pub use registry::{Monitor, counts};
pub use tables::register_raw;
#[cfg(all(foresee, target_arch = "x86_64", target_os = "linux"))]
pub(crate) use thread::thread_name;

/// What expanded macros name.
#[doc(hidden)]
pub mod private {
    pub use super::declaration::{Declaration, Declared, Reporter, Sharing};
    pub use super::key::Key;
    pub use super::knowledge::{LocalSite, RegisteredKnowledge};
    pub use super::registry::Registered;
    pub use super::sites::Site;
    pub use super::tables::{automaton, compiled, grammar};
    pub use foresee_monitor::formalism::Categories;
    pub use foresee_monitor::formalism::cfg::Symbol;
    pub use foresee_monitor::operator::{Binary, Unary};
    pub use foresee_monitor::predicate::{Expr, Source as Number};
    pub use foresee_monitor::property::{
        Action, Atom, Body, Builtin, Carried, Event, Handler, Letters, Machine, Modifiers, Parameter,
        Property, Source, Var,
    };
    pub use foresee_monitor::slice::params::EventShape;
    pub use inventory;
}
