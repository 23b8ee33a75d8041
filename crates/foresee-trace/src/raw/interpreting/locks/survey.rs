//! Who held which lock when the records of a trace begin, found out by going through all of it once before it is delivered.
//! [`continuation`](crate::raw::continuation) says what for.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::event::Mode;

/// What is found out about the state in which the records of a trace begin.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// The locks that threads hold, and how often.
    held: BTreeMap<(u64, u64), HeldBefore>,
    /// Which locks each thread has done something to.
    touched: FxHashSet<(u64, u64)>,
    /// The last two threads that took a lock or gave it back, and when.
    handled: FxHashMap<u64, [(u64, u64); 2]>,
    /// The keys of the first records of threads that were there before.
    first: FxHashMap<u64, u64>,
    /// Threads that have not yet left the operations that they may have been in the midst of.
    midst: FxHashSet<u64>,
    /// From this key on, they have.
    clear: u64,
    /// Of the record that is looked at.
    key: u64,
}

/// How a thread held a lock at the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeldBefore {
    pub(super) times: u32,
    pub(super) mode: Mode,
    /// From the thread's first record until it gave the lock back.
    since: u64,
    until: u64,
    /// Whether the lock is a word that atomics change.
    pub(super) is_word: bool,
}

impl Survey {
    /// A record of a thread is about to be looked at; `begins` if it is the thread's first, and was before.
    pub(super) fn record(&mut self, thread: u64, key: u64, begins: bool) {
        self.key = key;
        if begins {
            self.first.insert(thread, key);
            self.midst.insert(thread);
        }
    }

    /// The record was looked at, and the thread is in an operation or not.
    pub(super) fn recorded(&mut self, thread: u64, is_in_operation: bool) {
        if self.midst.is_empty() {
            return;
        }
        if !is_in_operation {
            self.midst.remove(&thread);
        } else if self.midst.contains(&thread) {
            self.clear = self.clear.max(self.key + 1);
        }
    }

    /// A thread took a lock, or gave it back.
    pub(super) fn handled(&mut self, thread: u64, lock: u64) {
        self.touched.insert((thread, lock));
        let [last, other] = self.handled.entry(lock).or_insert([(thread, self.key); 2]);
        if last.0 != thread {
            *other = *last;
        }
        *last = (thread, self.key);
    }

    /// A thread gives back a lock that it does not hold, and others may hold. Whether it held it from the beginning.
    pub(super) fn lacks(&mut self, thread: u64, lock: u64, others_hold: bool, is_word: bool) -> bool {
        let touched = !self.touched.insert((thread, lock));
        let Some(&first) = self.first.get(&thread).filter(|_| !(is_word && touched)) else { return false };
        let handled = self.handled.get(&lock).into_iter().flatten();
        let is_shared =
            others_hold || handled.into_iter().any(|&(other, key)| other != thread && key > first);
        let mode = if is_shared { Mode::Shared } else { Mode::Exclusive };
        let until = self.key;
        let new = HeldBefore { times: 0, mode, since: first, until, is_word };
        let before = self.held.entry((thread, lock)).or_insert(new);
        before.times += 1;
        before.until = until;
        true
    }

    /// The first key at which the state is known.
    pub(super) fn clear(&self) -> u64 {
        self.clear
    }

    /// Which thread held which lock, and how.
    pub(super) fn held(&self) -> impl Iterator<Item = (u64, u64, HeldBefore)> {
        let mut of_lock: FxHashMap<u64, Vec<(u64, u64, u64)>> = FxHashMap::default();
        for (&(thread, lock), before) in &self.held {
            of_lock.entry(lock).or_default().push((thread, before.since, before.until));
        }
        self.held.iter().map(move |(&(thread, lock), &before)| {
            let at_once = |&(other, since, until): &(u64, u64, u64)| {
                other != thread && since <= before.until && before.since <= until
            };
            let is_shared = of_lock.get(&lock).is_some_and(|holders| holders.iter().any(at_once));
            (thread, lock, HeldBefore { mode: if is_shared { Mode::Shared } else { before.mode }, ..before })
        })
    }
}
