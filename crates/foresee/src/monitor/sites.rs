//! From the events that a program reports by name to the monitors that want them.
//!
//! `event!` has a static where it stands. When it is reached first, it looks which monitors of the program have an event of its
//! name; from then on it goes straight to them. Where there are none, it costs one load and a branch, and its arguments
//! are not evaluated.

use std::format;
use std::prelude::rust_2024::*;
use std::sync::OnceLock;

use super::key::Key;
use super::message::say;
use super::registry::{Monitor, all};
use crate::aside::aside;

/// The place of an `event!` with `N` arguments.
#[derive(Debug)]
pub struct Site<const N: usize> {
    name: &'static str,
    targets: OnceLock<Vec<(&'static Monitor, u32)>>,
}

impl<const N: usize> Site<N> {
    /// For events of this name.
    pub const fn new(name: &'static str) -> Site<N> {
        Site { name, targets: OnceLock::new() }
    }

    /// Whether a monitor wants the event.
    #[inline]
    pub fn is_wanted(&'static self) -> bool {
        !self.targets().is_empty()
    }

    /// The event happens.
    #[inline]
    #[track_caller]
    pub fn event(&'static self, keys: [Key<'_>; N]) {
        for (monitor, event) in self.targets() {
            monitor.event(*event, keys);
        }
    }

    #[inline]
    fn targets(&'static self) -> &'static [(&'static Monitor, u32)] {
        aside(|| self.targets.get_or_init(|| self.find_targets()))
    }

    /// The monitors that have an event of this name.
    fn find_targets(&'static self) -> Vec<(&'static Monitor, u32)> {
        let mut targets = Vec::new();
        for monitor in all() {
            for (event, declared) in (0..).zip(monitor.events()) {
                if declared.name != self.name {
                    continue;
                }
                if declared.arity == N {
                    targets.push((monitor, event));
                } else {
                    let (name, property, arity) = (self.name, monitor.property(), declared.arity);
                    say(&format!(
                        "the event `{name}` is reported with {N} values, but {property} has it with {arity}: not monitored"
                    ));
                }
            }
        }
        targets
    }
}
