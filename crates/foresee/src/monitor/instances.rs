//! The instances of a property.
//!
//! An address is an identity only until its object is released; what comes to lie there then is another object. While instances
//! still hold the old one, the new one goes by another number ([`Instances::identity`]).

use std::prelude::rust_2024::*;

use foresee_monitor::property::Property;
use foresee_monitor::watch::{Verdict, Watch};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::handlers::Pending;
use super::key::Key;
use super::message::say;
use super::thread::thread_number;
use crate::life::{is_id, next_id};

/// What instances can react to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Input<'a> {
    Event(u32, &'a [Key<'a>]),
    Assign(usize, i64),
    Gone(u64),
}

/// The instances of a property.
#[derive(Debug)]
pub(super) struct Instances {
    watch: Watch<'static>,
    /// Addresses whose former objects are gone but held, and the numbers their objects go by now.
    reborn: FxHashMap<u64, u64>,
}

impl Instances {
    pub(super) fn new(property: &'static Property) -> Instances {
        Instances { watch: Watch::new(property, |_| None), reborn: FxHashMap::default() }
    }

    /// How often they have changed.
    pub(super) fn changes(&self) -> u64 {
        self.watch.changes()
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.watch.sizes().map(|size| size.instances).sum()
    }

    /// Has all instances react that the input is for.
    pub(super) fn react(&mut self, input: Input<'_>, verdicts: &mut Vec<Pending>) {
        let thread = thread_number();
        let mut add = |verdict: Verdict<'_>| verdicts.push(Pending::of(verdict));
        match input {
            Input::Event(event, keys) => {
                let identity = |key: &Key<'_>| self.identity(key.value);
                let values: SmallVec<[u64; 4]> = keys.iter().map(identity).collect();
                // What the macros expand to has the right number of values.
                if let Err(why) = self.watch.event(event, thread, &values, &mut add) {
                    say(&why.to_string());
                }
            }
            Input::Assign(var, value) => self.watch.assign(var, value, thread, &mut add),
            Input::Gone(object) => self.forget(object),
        }
    }

    /// The object is gone.
    pub(super) fn forget(&mut self, object: u64) {
        let held = self.watch.object_gone(self.identity(object));
        if held && !is_id(object) {
            self.reborn.insert(object, next_id());
        } else {
            self.reborn.remove(&object);
        }
    }

    /// What the instances know this value by.
    fn identity(&self, value: u64) -> u64 {
        if self.reborn.is_empty() { value } else { self.reborn.get(&value).copied().unwrap_or(value) }
    }
}
