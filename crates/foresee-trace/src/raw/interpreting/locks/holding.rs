//! Who holds which lock: per thread, and per word that is a lock.

use rustc_hash::FxHashMap;

use super::event::{CalledFrom, LockAction, LockEvent};
use super::survey::Survey;
use crate::event::Mode;
use crate::raw::interpreting::naming::Naming;
use crate::raw::merging::{Lookahead, Record};

/// The locks that a thread holds: how, and how often.
#[derive(Default)]
pub(super) struct HeldLocks(FxHashMap<u64, (Mode, u32)>);

impl HeldLocks {
    pub(super) fn hold(&mut self, lock: u64, mode: Mode) {
        self.0.entry(lock).or_insert((mode, 0)).1 += 1;
    }

    /// Gives a lock back once; how it was held, if it was.
    pub(super) fn give_back(&mut self, lock: u64) -> Option<Mode> {
        let (mode, depth) = self.0.get_mut(&lock)?;
        let held = *mode;
        *depth -= 1;
        if *depth == 0 {
            self.0.remove(&lock);
        }
        Some(held)
    }

    /// How a lock is held, if it is.
    pub(super) fn mode(&self, lock: u64) -> Option<Mode> {
        self.0.get(&lock).map(|&(mode, _)| mode)
    }

    pub(super) fn contains(&self, lock: u64) -> bool {
        self.0.contains_key(&lock)
    }

    /// All locks and how they are held, each as often as it is held, by address.
    pub(super) fn all(&self) -> Vec<(u64, Mode)> {
        let times =
            |(&lock, &(mode, times)): (&u64, &(Mode, u32))| std::iter::repeat_n((lock, mode), times as usize);
        let mut all: Vec<_> = self.0.iter().flat_map(times).collect();
        all.sort_unstable_by_key(|&(lock, _)| lock);
        all
    }
}

/// The words that are locks.
pub(super) type LockWords = FxHashMap<u64, LockWord>;

/// What is known about the word of a lock.
#[derive(Default)]
pub(super) struct LockWord {
    pub(super) holders: u32,
    /// Whether it was ever held by any number.
    pub(super) is_shared: bool,
    /// Whether nothing is known of it but that it is a lock later.
    pub(super) is_new: bool,
    /// How many atomics changed it in a way that is not understood.
    pub(super) unrecognised: u64,
}

/// What is at hand while a record of a thread is looked at.
pub(super) struct Context<'a> {
    pub(super) thread: u64,
    pub(super) record: &'a Record,
    pub(super) naming: &'a mut Naming,
    pub(super) words: &'a mut LockWords,
    pub(super) events: &'a mut Vec<LockEvent>,
    /// What the thread does after the record.
    pub(super) ahead: Lookahead<'a>,
    pub(super) survey: Option<&'a mut Survey>,
    pub(super) is_continuation: bool,
}

impl Context<'_> {
    pub(super) fn event(&mut self, at: CalledFrom, action: LockAction, addr: u64) {
        self.events.push(LockEvent { action, addr, loc: at.loc, lock_type: at.lock_type });
    }

    /// The thread has taken a lock.
    pub(super) fn acquired(&mut self, held: &mut HeldLocks, lock: u64, mode: Mode) {
        held.hold(lock, mode);
        if let Some(survey) = &mut self.survey {
            survey.handled(self.thread, lock);
        }
        let word = self.words.entry(lock).or_default();
        word.is_new = false;
        word.holders += 1;
        word.is_shared |= mode == Mode::Shared;
    }

    /// The thread has given a lock back; how it held it, if it did.
    pub(super) fn released(&mut self, held: &mut HeldLocks, lock: u64) -> Option<Mode> {
        if let Some(survey) = &mut self.survey {
            survey.handled(self.thread, lock);
        }
        if let Some(word) = self.words.get_mut(&lock) {
            word.is_new = false;
            word.holders = word.holders.saturating_sub(1);
        }
        held.give_back(lock)
    }

    /// The thread does what only a holder of the lock does: it may have been one from the beginning.
    pub(super) fn acts_as_holder(&mut self, held: &mut HeldLocks, lock: u64) {
        let others_hold = self.words.get(&lock).is_some_and(|word| word.holders > 0);
        if let Some(survey) = &mut self.survey
            && !held.contains(lock)
            && survey.lacks(self.thread, lock, others_hold, true)
        {
            self.acquired(held, lock, Mode::Exclusive);
        }
    }
}
