//! Rule (f): critical sections with blind code keep their place among the sections of their lock, and blind code that may have
//! synchronised keeps its order.
//!
//! Per lock, only what is not known through something else is kept: an exclusive section with blind code comes after all sections before it,
//! and all later ones come after it.

use rustc_hash::{FxHashMap, FxHashSet};

use super::locks::{LockWalk, Section};
use crate::event::Mode;
use crate::ids::{LockId, ThreadId};

/// Follows blind code through a run.
#[derive(Clone, Debug)]
pub(super) struct BlindWalk<N> {
    locks: FxHashMap<LockId, Given<N>>,
    /// The sections with blind code that have not ended.
    open: FxHashSet<u64>,
    /// The last blind code that may have synchronised, and whose it was: `None` if that thread has gone.
    last_order: Option<(Option<ThreadId>, N)>,
    /// Whether sections are ordered in any case.
    has_no_sections: bool,
}

/// Who has given up a lock.
#[derive(Clone, Debug)]
struct Given<N> {
    /// The last section of each thread and mode, since the last exclusive one with blind code.
    all: FxHashMap<(ThreadId, Mode), N>,
    /// The last exclusive section with blind code.
    blind: Option<(ThreadId, N)>,
    /// The shared ones with blind code since.
    blind_shared: FxHashMap<ThreadId, N>,
}

impl<N> Default for Given<N> {
    fn default() -> Self {
        Given { all: FxHashMap::default(), blind: None, blind_shared: FxHashMap::default() }
    }
}

impl<N> Default for BlindWalk<N> {
    fn default() -> Self {
        BlindWalk {
            locks: FxHashMap::default(),
            open: FxHashSet::default(),
            last_order: None,
            has_no_sections: false,
        }
    }
}

impl<N> BlindWalk<N> {
    /// For who orders the sections of a lock in any case.
    pub(super) fn without_sections() -> Self {
        BlindWalk { has_no_sections: true, ..BlindWalk::default() }
    }

    /// A thread has gone, and another may have its id from now on. Only without sections.
    pub(super) fn forget(&mut self, thread: ThreadId) {
        if let Some((by, _)) = &mut self.last_order {
            by.take_if(|by| *by == thread);
        }
    }

    /// The thread takes a lock: visits the ends of sections with blind code that this comes after.
    #[inline]
    pub(super) fn take(&self, thread: ThreadId, section: Section, mut visit: impl FnMut(&N)) {
        let Some(given) = self.locks.get(&section.lock) else { return };
        let shared = given.blind_shared.iter().filter(|_| section.mode == Mode::Exclusive);
        (given.blind.iter().map(|(by, note)| (by, note)).chain(shared))
            .filter(|&(&by, _)| by != thread)
            .for_each(|(_, note)| visit(note));
    }

    /// The thread has given a lock up.
    #[inline]
    pub(super) fn give(&mut self, thread: ThreadId, section: Section, note: N)
    where
        N: Clone,
    {
        if self.has_no_sections {
            return;
        }
        let given = self.locks.entry(section.lock).or_default();
        match (!self.open.is_empty() && self.open.remove(&section.number), section.mode) {
            (true, Mode::Exclusive) => {
                given.all.clear();
                given.blind_shared.clear();
                given.blind = Some((thread, note));
            }
            (true, Mode::Shared) => {
                given.all.insert((thread, Mode::Shared), note.clone());
                given.blind_shared.insert(thread, note);
            }
            (false, mode) => drop(given.all.insert((thread, mode), note)),
        }
    }

    /// The thread runs blind code: visits the ends of sections that this comes after.
    pub(super) fn run(&mut self, thread: ThreadId, held: &LockWalk, mut visit: impl FnMut(&N)) {
        if self.has_no_sections {
            return;
        }
        for section in held.held(thread) {
            // What comes before the section's first blind code comes before its others.
            if !self.open.insert(section.number) {
                continue;
            }
            let Some(given) = self.locks.get(&section.lock) else { continue };
            let excludes = |mode| mode == Mode::Exclusive || section.mode == Mode::Exclusive;
            (given.all.iter())
                .filter(|&(&(by, mode), _)| by != thread && excludes(mode))
                .for_each(|(_, note)| visit(note));
        }
    }

    /// The last blind code of another thread that may have synchronised, if none of this thread did since.
    pub(super) fn last_order(&self, thread: ThreadId) -> Option<&N> {
        self.last_order.as_ref().filter(|&&(by, _)| by != Some(thread)).map(|(_, note)| note)
    }

    /// The thread has run blind code that may have synchronised.
    pub(super) fn order(&mut self, thread: ThreadId, note: N) {
        self.last_order = Some((Some(thread), note));
    }
}
