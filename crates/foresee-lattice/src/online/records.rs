//! What was heard: relevant events, in terms of the observer.

use std::sync::{Arc, PoisonError, RwLock};

use rustc_hash::FxHashMap;

use super::message::Act;
use crate::binding::Binding;

/// A relevant event.
#[derive(Debug)]
pub(super) struct Record {
    /// How many relevant events came before it in the observed run.
    pub(super) step: u32,
    /// Who did it: the place, by the order in which those became known, and the thread, by the program's number.
    pub(super) thread: u32,
    pub(super) number: u32,
    /// How many relevant events of each thread come before it or are it; those of later threads, none.
    pub(super) clock: Box<[u32]>,
    /// What it is to the property, in order, and what each of these happens to.
    pub(super) acts: Vec<(Binding, Act)>,
    /// What people call the thread, the place, and the values of parameters.
    pub(super) name: String,
    pub(super) place: String,
    pub(super) called: Vec<(u8, u64, String)>,
    /// Stands for the place.
    pub(super) place_key: u64,
}

impl Record {
    /// Its position among the relevant events of its thread, from 1.
    pub(super) fn position(&self) -> u32 {
        self.clock[self.thread as usize]
    }

    /// About how many bytes it takes.
    pub(super) fn weight(&self) -> usize {
        let called: usize = self.called.iter().map(|(.., name)| 48 + name.len()).sum();
        256 + self.clock.len() * 4 + self.acts.len() * 128 + self.name.len() + self.place.len() + called
    }
}

/// Records that somebody still needs, by step.
#[derive(Default)]
pub(super) struct Records(RwLock<Kept>);

#[derive(Default)]
struct Kept {
    by_step: FxHashMap<u32, Arc<Record>>,
    weight: usize,
    /// How many were left at the last sweep.
    left: usize,
}

impl Records {
    pub(super) fn get(&self, step: u32) -> Option<Arc<Record>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).by_step.get(&step).cloned()
    }

    pub(super) fn insert(&self, record: Arc<Record>) {
        let mut kept = self.0.write().unwrap_or_else(PoisonError::into_inner);
        kept.weight += record.weight();
        kept.by_step.insert(record.step, record);
    }

    /// About how many bytes they take. If that is more than `enough`, or there may be many, those go first that nobody else holds.
    pub(super) fn sweep(&self, enough: usize) -> usize {
        let mut kept = self.0.write().unwrap_or_else(PoisonError::into_inner);
        // Only when there may be as many to drop as to keep: each is looked at a constant number of times.
        if kept.by_step.len() > 2 * kept.left + 64 || kept.weight > enough {
            kept.by_step.retain(|_, record| Arc::strong_count(record) > 1);
            kept.left = kept.by_step.len();
            kept.weight = kept.by_step.values().map(|record| record.weight()).sum();
        }
        kept.weight
    }
}
