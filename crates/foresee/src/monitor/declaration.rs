//! What the macros know of a property at build time.

use foresee_monitor::property::Property;

/// A property.
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
    pub reporter: Reporter,
}

/// Who reports an event.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reporter {
    /// The program, by `event!` or the property's own function.
    Program,
    /// [`end_program`](crate::end_program).
    EndProgram,
    /// The end of a thread.
    EndThread,
    /// The end of an object: [`release`](crate::release) or a [`Life`](crate::Life).
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

impl Declaration {
    /// The events that `reporter` reports.
    pub(super) fn events_by(&self, reporter: Reporter) -> impl Iterator<Item = u32> {
        (0..).zip(self.events).filter(move |(_, event)| event.reporter == reporter).map(|(index, _)| index)
    }

    /// Whether `reporter` reports an event of the property.
    pub(super) fn has_events_by(&self, reporter: Reporter) -> bool {
        self.events_by(reporter).next().is_some()
    }
}
