//! The monitors of the program.

use std::panic::Location;
use std::prelude::rust_2024::*;
use std::sync::OnceLock;

use super::declaration::{Declaration, Declared, Reporter};
use super::handlers::Count;
use super::instances::Input;
use super::key::Key;
use super::running::Running;
use crate::aside::aside;
use crate::life::{self, ObjectId};

/// A property in the program. The macros make one for each property: `MONITOR` in the property's module.
#[derive(Debug)]
pub struct Monitor {
    declaration: Declaration,
    running: OnceLock<Running>,
}

/// A monitor that is linked into this program.
#[doc(hidden)]
#[derive(Debug)]
pub struct Registered(pub &'static Monitor);

inventory::collect!(Registered);

/// All monitors that are linked into this program.
pub(super) fn all() -> impl Iterator<Item = &'static Monitor> {
    inventory::iter::<Registered>.into_iter().map(|registered| registered.0)
}

/// Those that have seen an event.
pub(super) fn all_running() -> impl Iterator<Item = &'static Running> {
    all().filter_map(|monitor| monitor.running.get())
}

/// How often the verdicts of all properties came that have seen an event.
pub fn counts() -> Vec<Count> {
    all().flat_map(Monitor::counts).collect()
}

impl Monitor {
    #[doc(hidden)]
    pub const fn new(declaration: Declaration) -> Monitor {
        Monitor { declaration, running: OnceLock::new() }
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
        self.running.get().map(|running| running.handlers.counts()).unwrap_or_default()
    }

    /// How many instances there are now that are not inside their objects; of a `perthread` property, those of this thread.
    pub fn instances(&'static self) -> usize {
        self.running.get().map_or(0, Running::instances)
    }

    #[doc(hidden)]
    #[inline]
    #[track_caller]
    pub fn event<const N: usize>(&'static self, event: u32, keys: [Key<'_>; N]) {
        self.running().event(event, &keys, Location::caller());
    }

    #[doc(hidden)]
    #[track_caller]
    pub fn assign(&'static self, var: usize, value: i64) {
        self.running().react(Input::Assign(var, value), Location::caller());
    }

    /// Whether the property has an event that `reporter` reports.
    pub(super) fn awaits(&self, reporter: Reporter) -> bool {
        self.declaration.has_events_by(reporter)
    }

    pub(super) fn events(&self) -> &'static [Declared] {
        self.declaration.events
    }

    #[inline]
    pub(super) fn running(&'static self) -> &'static Running {
        aside(|| {
            self.running.get_or_init(|| {
                life::on_end(object_ended);
                Running::new(&self.declaration)
            })
        })
    }
}

/// An object with a life ends, which these monitors know.
fn object_ended(object: ObjectId<'_>, known_to: u64) {
    let at = Location::caller();
    for running in all_running().filter(|running| running.number.bit() & known_to != 0) {
        object_gone(running, Key::of(object), at);
    }
}

/// Reports the end of an object to a monitor.
pub(super) fn object_gone(running: &'static Running, object: Key<'_>, at: &'static Location<'static>) {
    running.events_by(Reporter::EndObject, &[object], at);
    running.react(Input::Gone(object.value), at);
}
