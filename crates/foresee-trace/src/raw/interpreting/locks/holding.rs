//! Who holds which lock: per thread, and per word that is a lock.

use rustc_hash::FxHashMap;

use super::event::{CalledFrom, LockAction, LockEvent};
use super::survey::Survey;
use crate::event::{Mem, Mode};
use crate::ids::LockId;
use crate::raw::interpreting::naming::Naming;
use crate::raw::lock_table::Hold;
use crate::raw::merging::{Lookahead, Record};

/// The locks that a thread holds: how, and how often.
#[derive(Default)]
pub(super) struct HeldLocks(FxHashMap<u64, (Mode, u32)>);

impl HeldLocks {
    /// Takes no more memory than it needs.
    pub(super) fn shrink(&mut self) {
        self.0.shrink_to_fit();
    }

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

    /// How a lock is held is another from now on.
    fn set_mode(&mut self, lock: u64, mode: Mode) {
        if let Some((held, _)) = self.0.get_mut(&lock) {
            *held = mode;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn contains(&self, lock: u64) -> bool {
        self.0.contains_key(&lock)
    }

    /// The held lock whose object has this word in it, at most so many bytes from its beginning.
    pub(super) fn object_with(&self, word: u64, within: u64) -> Option<u64> {
        self.0.keys().copied().filter(|&lock| lock <= word && word - lock < within).max()
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
    /// The threads that hold it, each as often as it does, and how.
    pub(super) holders: Vec<(u64, Mode)>,
    /// The thread that holds it so that no other may become the only holder.
    upgrader: Option<u64>,
    /// The thread that holds it alone, and so what stands for that.
    writer: Option<u64>,
    /// Whether it was ever held by any number.
    pub(super) is_shared: bool,
    /// Whether it was ever held to become the only holder.
    is_upgradable: bool,
    /// Whether nothing is known of it but that it is a lock later.
    pub(super) is_new: bool,
    /// Whether there were lock events of it.
    was_lock: bool,
    /// Whether it is taken for what it is made of, as it did not behave like a lock.
    pub(super) is_demoted: bool,
}

impl LockWord {
    /// A word that is a lock later in the trace.
    pub(super) fn new() -> LockWord {
        LockWord { is_new: true, ..LockWord::default() }
    }

    /// A word that threads held when the trace begins.
    pub(super) fn held_before(holders: Vec<(u64, Mode)>, is_shared: bool) -> LockWord {
        LockWord { holders, is_shared, was_lock: true, ..LockWord::default() }
    }

    /// Whether a thread cannot have got it like this, as another holds it.
    fn excludes(&self, thread: u64, hold: Hold) -> bool {
        self.in_the_way(thread, hold).is_some()
    }

    /// A thread that holds it so that this one cannot get it like this.
    fn in_the_way(&self, thread: u64, hold: Hold) -> Option<u64> {
        let is_exclusive = hold == Hold::Exclusive;
        let is_in_the_way =
            |&&(other, mode): &&(u64, Mode)| other != thread && (is_exclusive || mode == Mode::Exclusive);
        let holder = self.holders.iter().find(is_in_the_way).map(|&(other, _)| other);
        holder.or(self.upgrader.filter(|&other| hold != Hold::Shared && other != thread))
    }

    /// A thread gives it back once.
    pub(super) fn give_back(&mut self, thread: u64) {
        if let Some(at) = self.holders.iter().rposition(|&(holder, _)| holder == thread) {
            self.holders.swap_remove(at);
        }
    }

    fn is_held_by(&self, thread: u64) -> bool {
        self.holders.iter().any(|&(holder, _)| holder == thread)
    }

    /// Whether a thread holds it alone, and its gate.
    pub(super) fn is_written_by(&self, thread: u64) -> bool {
        self.writer == Some(thread)
    }

    /// Whether a thread holds it so that no other may become the only holder.
    pub(super) fn is_upgraded_by(&self, thread: u64) -> bool {
        self.upgrader == Some(thread)
    }
}

/// The lock that stands for becoming the only holder of a lock: a byte of the word that no other lock can be at.
pub(super) fn upgrade_lock(lock: u64) -> u64 {
    lock + 1
}

/// How a thread gets a lock.
#[derive(Clone, Copy)]
pub(super) struct Taking {
    pub(super) hold: Hold,
    /// It would not have waited.
    pub(super) tried: bool,
    /// The lock lets nobody in while a thread waits to have it alone.
    pub(super) has_writers_first: bool,
}

/// What becomes of locks that do not behave like locks.
#[derive(Default)]
pub(super) struct Demotions {
    /// What was said of them while they were locks is not certain.
    pub(super) locks: Vec<LockId>,
    /// Threads that hold one no more, which is still to be noted.
    pub(super) stale: Vec<(u64, u64)>,
}

/// What is at hand while a record of a thread is looked at.
pub(super) struct Context<'a> {
    pub(super) thread: u64,
    pub(super) record: &'a Record,
    pub(super) naming: &'a mut Naming,
    pub(super) words: &'a mut LockWords,
    pub(super) demotions: &'a mut Demotions,
    pub(super) events: &'a mut Vec<LockEvent>,
    /// What the thread does after the record.
    pub(super) ahead: Lookahead<'a>,
    pub(super) survey: Option<&'a mut Survey>,
}

impl Context<'_> {
    pub(super) fn event(&mut self, at: CalledFrom, action: LockAction, addr: u64) {
        self.event_of(self.thread, at, action, addr);
    }

    fn event_of(&mut self, thread: u64, at: CalledFrom, action: LockAction, addr: u64) {
        let CalledFrom { loc, lock_type } = at;
        self.events.push(LockEvent { thread, action, addr, is_gate: false, loc, lock_type });
    }

    /// Something is done to the *gate* of a lock that has writers first: a lock that stands for waiting to have it alone.
    ///
    /// A writer has it as long as it holds the lock; a thread that holds the lock shared, and wants it shared once more, goes through it. So a writer that waits for readers is in the
    /// way of readers that read again, as it is in the lock. It excludes nothing that the lock itself does not exclude.
    pub(super) fn gate(&mut self, thread: u64, at: CalledFrom, action: LockAction, addr: u64) {
        let CalledFrom { loc, lock_type } = at;
        self.events.push(LockEvent { thread, action, addr, is_gate: true, loc, lock_type });
    }

    /// A thread that holds a lock so that this one cannot get it like this.
    pub(super) fn in_the_way(&self, lock: u64, hold: Hold) -> Option<u64> {
        self.words.get(&lock)?.in_the_way(self.thread, hold)
    }

    /// Whether a word is taken for what it is made of.
    pub(super) fn is_demoted(&self, lock: u64) -> bool {
        self.words.get(&lock).is_some_and(|word| word.is_demoted)
    }

    /// The thread has got a lock. If it cannot have got it, the word is no lock.
    pub(super) fn acquire(&mut self, held: &mut HeldLocks, word: Mem, taking: Taking, at: CalledFrom) {
        let (me, lock) = (self.thread, word.addr);
        let Taking { hold, tried, has_writers_first } = taking;
        if self.words.get(&lock).is_some_and(|word| word.excludes(me, hold)) {
            self.demote(held, word, at);
            return self.event(at, LockAction::Synchronise(word), lock);
        }
        let is_upgradable = self.words.get(&lock).is_some_and(|word| word.is_upgradable);
        let mode = hold.mode();
        // What an upgradable hold waits for are other such holds and writers: all that have the lock for upgrading.
        let upgrades = hold == Hold::Upgradable || hold == Hold::Exclusive && is_upgradable;
        let upgrade = LockAction::Acquire { mode: Mode::Exclusive, tried: tried || hold == Hold::Exclusive };
        if upgrades && hold == Hold::Upgradable {
            self.event(at, upgrade, upgrade_lock(lock));
        }
        let tried = tried || hold == Hold::Upgradable;
        let is_writer = has_writers_first && hold == Hold::Exclusive;
        if is_writer {
            self.gate(me, at, LockAction::Acquire { mode, tried: true }, lock);
        } else if has_writers_first && held.mode(lock) == Some(Mode::Shared) {
            self.gate(me, at, LockAction::Acquire { mode, tried }, lock);
            self.gate(me, at, LockAction::Release(mode), lock);
        }
        self.event(at, LockAction::Acquire { mode, tried }, lock);
        if upgrades && hold == Hold::Exclusive {
            self.event(at, upgrade, upgrade_lock(lock));
        }
        self.acquired(held, lock, hold);
        if let Some(word) = self.words.get_mut(&lock) {
            if upgrades {
                (word.upgrader, word.is_upgradable) = (Some(me), true);
            }
            if is_writer {
                word.writer = Some(me);
            }
        }
    }

    /// The thread has taken a lock.
    fn acquired(&mut self, held: &mut HeldLocks, lock: u64, hold: Hold) {
        let mode = hold.mode();
        held.hold(lock, mode);
        if let Some(survey) = &mut self.survey {
            survey.handled(self.thread, lock);
        }
        let word = self.words.entry(lock).or_default();
        (word.is_new, word.was_lock) = (false, true);
        word.holders.push((self.thread, mode));
        word.is_shared |= mode == Mode::Shared;
    }

    /// The thread gives a lock back; whether it held it.
    pub(super) fn release(&mut self, held: &mut HeldLocks, lock: u64, at: CalledFrom) -> bool {
        if let Some(survey) = &mut self.survey {
            survey.handled(self.thread, lock);
        }
        let Some(mode) = held.give_back(lock) else { return false };
        self.event(at, LockAction::Release(mode), lock);
        let me = self.thread;
        if let Some(word) = self.words.get_mut(&lock) {
            word.is_new = false;
            word.give_back(me);
            if word.is_upgraded_by(me) && !word.is_held_by(me) {
                word.upgrader = None;
                self.event(at, LockAction::Release(Mode::Exclusive), upgrade_lock(lock));
            }
        }
        self.writes_no_more(lock, at);
        true
    }

    /// The thread does not hold a lock alone any more, if it did.
    fn writes_no_more(&mut self, lock: u64, at: CalledFrom) {
        let me = self.thread;
        let wrote = |word: &mut LockWord| word.writer.take_if(|writer| *writer == me).is_some();
        if self.words.get_mut(&lock).is_some_and(wrote) {
            self.gate(me, at, LockAction::Release(Mode::Exclusive), lock);
        }
    }

    /// The thread holds a lock in another way from now on, without having given it back. If it does not hold it, or cannot hold it so,
    /// the word is no lock.
    pub(super) fn change(&mut self, held: &mut HeldLocks, word: Mem, hold: Hold, at: CalledFrom) {
        let (me, lock, mode) = (self.thread, word.addr, hold.mode());
        self.acts_as_holder(held, lock);
        let excluded = self.words.get(&lock).is_none_or(|word| word.excludes(me, hold));
        let Some(before) = held.mode(lock).filter(|_| !excluded) else {
            self.demote(held, word, at);
            return self.event(at, LockAction::Synchronise(word), lock);
        };
        let is_upgrader = self.words.get(&lock).is_some_and(|word| word.is_upgraded_by(me));
        if hold == Hold::Upgradable && !is_upgrader {
            let got = LockAction::Acquire { mode: Mode::Exclusive, tried: true };
            self.event(at, got, upgrade_lock(lock));
        }
        if before != mode {
            self.writes_no_more(lock, at);
            self.event(at, LockAction::Release(before), lock);
            self.event(at, LockAction::Acquire { mode, tried: true }, lock);
            held.set_mode(lock, mode);
        }
        if hold == Hold::Shared && is_upgrader {
            self.event(at, LockAction::Release(Mode::Exclusive), upgrade_lock(lock));
        }
        if let Some(word) = self.words.get_mut(&lock) {
            word.holders.iter_mut().filter(|(holder, _)| *holder == me).for_each(|one| one.1 = mode);
            word.is_shared |= mode == Mode::Shared;
            word.is_upgradable |= hold == Hold::Upgradable;
            match hold {
                Hold::Shared if is_upgrader => word.upgrader = None,
                Hold::Upgradable => word.upgrader = Some(me),
                Hold::Shared | Hold::Exclusive => {}
            }
        }
    }

    /// The word of a lock does what that of a lock does not do: from now on it is the atomic operations that it is made of.
    ///
    /// Whoever holds it gives it back here, and what its sections did is handed to the word, so that who acquires that is after
    /// them. Both orders more than there is, and never less.
    pub(super) fn demote(&mut self, held: &mut HeldLocks, word: Mem, at: CalledFrom) {
        let lock = word.addr;
        let id = self.naming.lock_of(lock, at.lock_type);
        let entry = self.words.entry(lock).or_default();
        if std::mem::replace(&mut entry.is_demoted, true) || !entry.was_lock {
            return;
        }
        let (holders, upgrader) = (std::mem::take(&mut entry.holders), entry.upgrader.take());
        let writer = entry.writer.take();
        self.demotions.locks.push(id);
        self.demotions.locks.extend(self.naming.known_gate(id));
        if entry.is_upgradable {
            self.demotions.locks.push(self.naming.lock(upgrade_lock(lock)));
        }
        for (holder, mode) in holders {
            self.event_of(holder, at, LockAction::Release(mode), lock);
            if holder == self.thread {
                held.give_back(lock);
            } else {
                self.demotions.stale.push((holder, lock));
            }
        }
        if let Some(upgrader) = upgrader {
            self.event_of(upgrader, at, LockAction::Release(Mode::Exclusive), upgrade_lock(lock));
        }
        if let Some(writer) = writer {
            self.gate(writer, at, LockAction::Release(Mode::Exclusive), lock);
        }
        self.event(at, LockAction::Acquire { mode: Mode::Exclusive, tried: true }, lock);
        self.event(at, LockAction::Release(Mode::Exclusive), lock);
        self.event(at, LockAction::Synchronise(word), lock);
    }

    /// The thread does what only a holder of the lock does: it may have been one from the beginning.
    pub(super) fn acts_as_holder(&mut self, held: &mut HeldLocks, lock: u64) {
        let others_hold = self.words.get(&lock).is_some_and(|word| !word.holders.is_empty());
        if let Some(survey) = &mut self.survey
            && !held.contains(lock)
            && survey.lacks(self.thread, lock, others_hold, true)
        {
            self.acquired(held, lock, Hold::Exclusive);
        }
    }
}
