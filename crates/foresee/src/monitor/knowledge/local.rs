//! Variables that every thread has for itself: `local!`.

use std::panic::Location;
use std::prelude::rust_2024::*;
use std::sync::OnceLock;

use super::me::act;
use super::violation::handle;
use super::world::{World, world};

/// A place in the program that assigns a local.
#[derive(Debug)]
pub struct LocalSite {
    name: &'static str,
    numbers: OnceLock<Vec<u32>>,
}

impl LocalSite {
    /// Assigns the local of this name.
    pub const fn new(name: &'static str) -> LocalSite {
        LocalSite { name, numbers: OnceLock::new() }
    }

    /// Whether any property of the program wants to know of it: all that threads do are steps, also if no formula has this local.
    #[inline]
    pub fn is_wanted(&self) -> bool {
        world().is_some()
    }

    #[inline]
    fn numbers(&self, world: &World) -> &[u32] {
        match self.numbers.get() {
            Some(numbers) => numbers,
            None => self.numbers.get_or_init(|| world.locals(self.name)),
        }
    }

    /// The local gets this value.
    #[track_caller]
    pub fn assign(&self, value: u64) {
        let Some(world) = world() else { return };
        let numbers = self.numbers(world);
        let violated = act(world, |me, program| match *numbers {
            [only] => me.assigned(program, only, value as i64),
            _ => {
                numbers.iter().for_each(|number| me.monitor.assign(*number, value as i64));
                me.internal(program);
            }
        });
        handle(violated, Location::caller());
    }
}
