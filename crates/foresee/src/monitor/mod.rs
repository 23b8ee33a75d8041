//! Monitors that live in the program: properties compiled at build time, fed by the program's own events.
//!
//! [`monitor!`](crate::monitor!) and [`include_spec!`](crate::include_spec!) turn a property into a module with a function for
//! each of its events and a [`Monitor`], a static. At the first event the monitor builds its tables (from static data: no spec is
//! read at run time) and runs them; what its handlers say is done at once, in the thread that did the event. Nothing is recorded and
//! nothing is needed but this crate: monitors are made to be left on.
//!
//! # Cost
//!
//! - The state of a property with one parameter is in the object itself, if that has a [`Life`]: an event is a step in a table
//!   and at most one compare-and-swap ([`resident`]).
//! - Most other events change nothing: the twentieth step of an iterator leaves its monitor in the state the nineteenth left it in. That
//!   is remembered, and such an event is over after a handful of instructions, without a lock ([`idle`]).
//! - What is left takes the property's lock and steps all instances that include the event's objects. `perthread` and `unsynchronized`
//!   properties take no lock ([`sharing`]).
//!
//! # Map
//!
//! [`sharing`]: where instances are kept and who may touch them. [`handlers`]: what happens on a verdict. [`objects`]: identities and
//! their ends. [`sites`]: from `event!` to monitors. [`tables`]: what the macros' static data becomes.

mod handlers;
mod idle;
mod objects;
mod resident;
mod sharing;
mod sites;
mod tables;

use std::panic::Location;
use std::prelude::rust_2024::*;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use foresee_monitor::property::Property;
use foresee_monitor::slice::params::ParamSet;
use foresee_monitor::watch;
use objects::Key;
use resident::Resident;

pub use foresee_monitor::formalism::raw::RawMonitor;
pub use handlers::{Count, Verdict, counts, on};
pub use objects::{Life, ObjectId, Tracked, end_program, release};
pub use tables::register_raw;

/// What expanded macros name.
#[doc(hidden)]
pub mod private {
    pub use super::objects::Key;
    pub use super::sites::Site;
    pub use super::tables::{automaton, compiled, grammar};
    pub use super::{Declaration, Declared, Kind, Registered, Sharing};
    pub use foresee_monitor::formalism::Categories;
    pub use foresee_monitor::formalism::cfg::Symbol;
    pub use foresee_monitor::operator::{Binary, Unary};
    pub use foresee_monitor::predicate::{Expr, Source as Number};
    pub use foresee_monitor::property::{
        Action, Atom, Body, Builtin, Carried, Event, Handler, Letters, Machine, Modifiers, Property, Source,
        Var,
    };
    pub use foresee_monitor::slice::params::EventShape;
    pub use inventory;
}

/// What the macros know of a property.
#[doc(hidden)]
#[derive(Debug)]
pub struct Declaration {
    pub property: &'static str,
    pub events: &'static [Declared],
    pub sharing: Sharing,
    /// Builds the property out of static tables.
    pub make: fn() -> Property,
}

/// An event of a property.
#[doc(hidden)]
#[derive(Debug)]
pub struct Declared {
    pub name: &'static str,
    pub arity: usize,
    pub kind: Kind,
}

/// Who tells of an event.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The program.
    Reported,
    /// [`end_program`].
    EndProgram,
    /// The end of a thread.
    EndThread,
    /// The end of an object: [`release`] or a [`Life`].
    EndObject,
}

/// Who may step the instances of a property.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// All threads, one after the other.
    Locked,
    /// Each thread has its own.
    PerThread,
    /// One thread, and after its end another.
    OneThread,
}

/// A monitor that is linked into this program.
#[doc(hidden)]
#[derive(Debug)]
pub struct Registered(pub &'static Monitor);

inventory::collect!(Registered);

/// All monitors that are linked into this program.
fn all() -> impl Iterator<Item = &'static Monitor> {
    inventory::iter::<Registered>.into_iter().map(|registered| registered.0)
}

/// A property in the program. The macros make one for each property: `MONITOR` in the property's module.
#[derive(Debug)]
pub struct Monitor {
    declaration: Declaration,
    /// How often what is behind the lock has changed.
    changes: AtomicU64,
    running: OnceLock<Running>,
}

/// What a monitor has from its first event on.
#[derive(Debug)]
struct Running {
    property: &'static Property,
    shared: sharing::Shared,
    /// Whether the end of a thread is an event of the property.
    awaits_threads: bool,
    /// Whether the end of an object is.
    awaits_objects: bool,
    /// Its position among the monitors that run.
    number: u32,
    /// How instances are stepped that are in their objects, if they can be.
    resident: Option<Resident>,
    /// The events, as bits, that do nothing if one of their objects is not known to the monitor.
    need_known: u64,
    /// By body and handler.
    counts: Vec<Vec<AtomicU64>>,
}

/// What a monitor is told.
#[derive(Clone, Copy, Debug)]
enum Step<'a> {
    Event(u32, &'a [Key<'a>]),
    Assign(usize, i64),
    Gone(u64),
}

/// A verdict, kept until the monitor can be let go.
#[derive(Debug)]
struct Heard {
    body: usize,
    categories: foresee_monitor::formalism::Categories,
    domain: ParamSet,
    values: Vec<u64>,
}

impl Heard {
    fn of(verdict: watch::Verdict<'_>) -> Heard {
        let watch::Verdict { body, categories, domain, values } = verdict;
        Heard { body, categories, domain, values: values.to_vec() }
    }
}

impl Running {
    /// A bit for this monitor; when there are more than 64, some share one.
    #[inline]
    fn bit(&self) -> u64 {
        1 << (self.number % 64)
    }
}

impl Monitor {
    #[doc(hidden)]
    pub const fn new(declaration: Declaration) -> Monitor {
        Monitor { declaration, changes: AtomicU64::new(0), running: OnceLock::new() }
    }

    /// What the property is called.
    pub fn property(&self) -> &'static str {
        self.declaration.property
    }

    /// How often a verdict of this category came.
    pub fn count(&self, category: &str) -> u64 {
        let counts = self.counts().into_iter().filter(|count| count.category == category);
        counts.map(|count| count.count).sum()
    }

    /// How often each verdict came, by body and category.
    pub fn counts(&self) -> Vec<Count> {
        let Some(running) = self.running.get() else { return Vec::new() };
        let bodies = running.property.bodies.iter().zip(&running.counts);
        let of_body = bodies.flat_map(|(body, counts)| {
            body.handlers.iter().zip(counts).map(|(handler, count)| Count {
                property: self.declaration.property,
                body: body.name.as_deref(),
                category: &handler.category,
                count: count.load(Ordering::Relaxed),
            })
        });
        of_body.collect()
    }

    /// How many instances there are now that are not inside of their objects; of a `perthread` property, those of this thread.
    pub fn instances(&'static self) -> usize {
        if self.running.get().is_none() {
            return 0;
        }
        let sizes = self.with(|kept| kept.watch.sizes().map(|size| size.instances).sum());
        sizes.unwrap_or(0)
    }

    #[doc(hidden)]
    #[inline]
    #[track_caller]
    pub fn event<const N: usize>(&'static self, event: u32, keys: [Key<'_>; N]) {
        self.event_at(event, &keys, Location::caller());
    }

    #[inline]
    fn event_at(&'static self, event: u32, keys: &[Key<'_>], at: &'static Location<'static>) {
        let running = self.running();
        if let Some(resident) = &running.resident
            && resident.step(self, running, event, keys, at)
        {
            return;
        }
        if !idle::is_idle(self, running, event, keys) {
            self.step(Step::Event(event, keys), at);
        }
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn assign(&'static self, var: usize, value: i64) {
        self.step(Step::Assign(var, value), Location::caller());
    }

    /// The events of this kind.
    fn events_of(&self, kind: Kind) -> impl Iterator<Item = (u32, &'static Declared)> {
        (0..).zip(self.declaration.events).filter(move |(_, event)| event.kind == kind)
    }

    /// The one way to what is monitored. Handlers run when it has been let go, so that they can do events themselves.
    fn step(&'static self, step: Step<'_>, at: &'static Location<'static>) {
        let mut heard = Vec::new();
        self.with(|kept| kept.step(self, step, &mut heard));
        if !heard.is_empty() {
            handlers::handle(self, heard, at);
        }
    }

    #[inline]
    fn running(&self) -> &Running {
        self.running.get_or_init(|| {
            let property = (self.declaration.make)();
            let property = match self.declaration.sharing {
                Sharing::PerThread => tables::of_one_thread(property),
                Sharing::Locked | Sharing::OneThread => property,
            };
            let counts = |handlers: usize| (0..handlers).map(|_| AtomicU64::new(0)).collect();
            let counts = property.bodies.iter().map(|body| counts(body.handlers.len())).collect();
            // Once for each property of the program: monitors live as long as it.
            let property: &'static Property = Box::leak(Box::new(property));
            let awaits = |kind| self.declaration.events.iter().any(|event| event.kind == kind);
            let (awaits_threads, awaits_objects) = (awaits(Kind::EndThread), awaits(Kind::EndObject));
            let watch = watch::Watch::new(property, |_| None);
            let need_known = (0..property.events.len().min(64) as u32)
                .filter(|event| watch.needs_known_values(*event))
                .fold(0, |events, event| events | 1 << event);
            let resident = Resident::of(property, &watch);
            static NEXT: AtomicU32 = AtomicU32::new(0);
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let shared = sharing::Shared::default();
            Running { property, shared, awaits_threads, awaits_objects, number, resident, need_known, counts }
        })
    }
}
