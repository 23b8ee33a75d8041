//! The recogniser for all threads of a run.

use foresee_format::{FRAMES_UNKNOWN, Tag};

use super::event::{CalledFrom, LockAction, LockEvent, Meaning};
use super::holding::{Context, Demotions, LockWord, LockWords, upgrade_lock};
use super::operation::{Unexplained, is_atomic};
use super::survey::Survey;
use super::thread::Thread;
use crate::event::Mode;
use crate::ids::{LocId, LockId, StrId};
use crate::raw::interpreting::attempts::Holder;
use crate::raw::interpreting::naming::{CallSite, Naming};
use crate::raw::lock_table::Hold;
use crate::raw::merging::{Lookahead, Record};
use crate::thread_table::ThreadTable;

/// The calls and locks of all threads.
#[derive(Default)]
pub(crate) struct LockRecogniser {
    threads: ThreadTable<u64, Thread>,
    words: LockWords,
    demotions: Demotions,
    /// How many threads there are of which it is not known in which functions they are when the trace begins.
    unrecognised: u64,
    /// What threads must have held when the trace begins, while that is found out.
    survey: Option<Survey>,
    /// Whether the trace begins within the run.
    is_continuation: bool,
}

/// What a thread is doing at some moment.
pub(crate) struct ThreadState {
    /// The functions it is in whose entry was delivered, and where their calls are.
    pub(crate) calls: Vec<(StrId, u64)>,
    /// The locks it holds, and how.
    pub(crate) held: Vec<(u64, Mode)>,
    /// Those of them whose gates it holds.
    pub(crate) gates: Vec<u64>,
    /// The lock it waits for.
    pub(crate) waits_for: Option<(u64, Mode)>,
}

impl LockRecogniser {
    /// One that finds out what threads must have held at the beginning.
    pub(crate) fn surveying() -> LockRecogniser {
        LockRecogniser { survey: Some(Survey::default()), is_continuation: true, ..LockRecogniser::default() }
    }

    /// One that begins with what was found out, and the key from which on all is known.
    pub(crate) fn surveyed(self) -> (LockRecogniser, u64) {
        let mut next = LockRecogniser { is_continuation: true, ..LockRecogniser::default() };
        let Some(survey) = self.survey else { return (next, 0) };
        for &lock in self.words.keys() {
            next.words.insert(lock, LockWord::new());
        }
        for (thread, lock, before) in survey.held() {
            for _ in 0..before.times {
                next.thread(thread).held.hold(lock, before.mode);
            }
            if before.is_word {
                let word = next.words.entry(lock).or_default();
                let mut holders = std::mem::take(&mut word.holders);
                holders.extend(std::iter::repeat_n((thread, before.mode), before.times as usize));
                *word = LockWord::held_before(holders, before.mode == Mode::Shared);
            }
        }
        (next, survey.clear())
    }

    fn thread(&mut self, thread: u64) -> &mut Thread {
        self.threads.entry(thread)
    }

    /// The runtime has seen a thread get a lock.
    pub(crate) fn acquired(&mut self, thread: u64, lock: u64, mode: Mode) {
        if let Some(survey) = &mut self.survey {
            survey.handled(thread, lock);
        }
        self.thread(thread).held.hold(lock, mode);
        if let Some(word) = self.words.get_mut(&lock) {
            word.holders.push((thread, mode));
        }
    }

    /// The runtime has seen a thread give a lock back; how it held it, if it did.
    pub(crate) fn released(&mut self, thread: u64, lock: u64) -> Option<Mode> {
        if let Some(word) = self.words.get_mut(&lock) {
            word.give_back(thread);
        }
        if let Some(survey) = &mut self.survey {
            let holds = |one: &Thread| one.held.contains(lock);
            let lacks = !self.threads.get(thread).is_some_and(holds)
                && survey.lacks(thread, lock, self.threads.iter().any(|(_, one)| holds(one)), false);
            survey.handled(thread, lock);
            if lacks {
                self.thread(thread).held.hold(lock, Mode::Exclusive);
            }
        }
        self.give_back(thread, lock)
    }

    /// A thread does not hold a lock any more; how it held it, if it did. It may have ended with it.
    fn give_back(&mut self, thread: u64, lock: u64) -> Option<Mode> {
        let mode = self.threads.get_mut(thread)?.held.give_back(lock);
        self.let_go(thread);
        mode
    }

    /// Whether something is known of a thread.
    pub(crate) fn has(&self, thread: u64) -> bool {
        self.threads.get(thread).is_some()
    }

    /// Forgets a thread that has ended, unless it has left a lock that somebody may wait for.
    fn let_go(&mut self, thread: u64) {
        if self.threads.get(thread).is_some_and(Thread::has_gone) {
            self.threads.remove(thread);
        }
    }

    /// How many threads may be in operations on locks that are not recognised: then the lock events are not all there, and
    /// nothing that follows from them is proven.
    pub(crate) fn unrecognised(&self) -> u64 {
        self.unrecognised
    }

    /// The locks that turned out not to behave like locks. What follows from their having been locks is not proven.
    pub(crate) fn demoted(&self) -> &[LockId] {
        &self.demotions.locks
    }

    /// A lock of another kind turned out not to behave like one.
    pub(crate) fn demote_other(&mut self, lock: LockId) {
        self.demotions.locks.push(lock);
    }

    /// Whether a word is taken for the atomic operations that it is made of.
    pub(crate) fn is_demoted(&self, lock: u64) -> bool {
        self.words.get(&lock).is_some_and(|word| word.is_demoted)
    }

    /// Memory is given out or written anew: what was a lock there is none any more.
    pub(crate) fn forget(&mut self, lock: u64) {
        let Some(word) = self.words.remove(&lock) else { return };
        for (holder, _) in word.holders {
            self.give_back(holder, lock);
        }
    }

    /// Whether somebody holds a lock that is made of atomics.
    pub(crate) fn is_held(&self, lock: u64) -> bool {
        self.words.get(&lock).is_some_and(|word| !word.holders.is_empty())
    }

    /// A thread, if what it reads or writes has surely nothing to do with locks, unless the site has.
    #[inline]
    pub(crate) fn apart(&mut self, thread: u64) -> Option<&mut Thread> {
        let is_apart = |thread: &&mut Thread| {
            !thread.is_in_operation()
                && thread.has_begun
                && !thread.begins_with_frames
                && self.survey.is_none()
        };
        self.threads.get_mut(thread).filter(is_apart)
    }

    /// The next record of a thread: adds what it did to locks before the record to `events`. What becomes of the record, which is at
    /// this site if it has one.
    pub(crate) fn record(
        &mut self,
        number: u64,
        record: &Record,
        site: Option<&CallSite>,
        ahead: Lookahead<'_>,
        naming: &mut Naming,
        events: &mut Vec<LockEvent>,
    ) -> Meaning {
        let thread = self.threads.entry(number);
        let begins = !std::mem::replace(&mut thread.has_begun, true);
        if record.tag == Tag::Frame && record.detail == FRAMES_UNKNOWN && begins {
            self.unrecognised += u64::from(self.is_continuation);
        }
        let mut survey = self.survey.as_mut();
        if let Some(survey) = &mut survey {
            survey.record(number, record.key, begins && record.tag != Tag::Begin);
        }
        let (words, demotions) = (&mut self.words, &mut self.demotions);
        let mut cx = Context { thread: number, record, naming, words, demotions, events, ahead, survey };
        let meaning = match record.tag {
            Tag::Frame => {
                // Those of the thread's later chunks repeat what is known.
                if begins || thread.begins_with_frames {
                    thread.begins_with_frames = true;
                    thread.enter(record.words[0], record.words[1], &mut cx);
                }
                return Meaning::Nothing;
            }
            Tag::Enter => thread.enter(record.words[0], record.words[1], &mut cx),
            Tag::Exit => thread.exit(&mut cx),
            Tag::Begin | Tag::Text | Tag::Arg | Tag::Branch => Meaning::Event,
            Tag::End => {
                thread.end(&mut cx);
                Meaning::Event
            }
            _ => site.map_or(Meaning::Event, |site| thread.act(site, &mut cx)),
        };
        thread.begins_with_frames = false;
        if let Some(survey) = &mut self.survey {
            survey.recorded(number, thread.is_in_operation());
        }
        let unexplained = if is_atomic(record) { thread.unexplained(record, ahead) } else { None };
        if let Some(Unexplained { at, lock, wanted }) = unexplained
            && !self.is_demoted(lock)
            && let Some(holder) = self.likely_holder(number, lock, wanted)
        {
            let action = LockAction::Fail { wanted, held_by: Some(holder) };
            let CalledFrom { loc, lock_type } = at;
            events.push(LockEvent { thread: number, action, addr: lock, is_gate: false, loc, lock_type });
            self.thread(number).note_failure();
        }
        for event in &mut *events {
            if let LockAction::Fail { wanted, held_by: held_by @ None } = &mut event.action {
                *held_by = self.likely_holder(number, event.addr, *wanted);
            }
        }
        while let Some((holder, lock)) = self.demotions.stale.pop() {
            self.give_back(holder, lock);
        }
        self.let_go(number);
        meaning
    }

    /// A thread that may have a lock by now so that this one cannot get it like this.
    fn likely_holder(&self, thread: u64, lock: u64, wanted: Hold) -> Option<Holder> {
        let excludes = |held: Hold| {
            wanted == Hold::Exclusive || held == Hold::Exclusive || wanted == held && held == Hold::Upgradable
        };
        self.other(thread, |other| other.may_have(lock).is_some_and(excludes)).map(Holder::Likely)
    }

    /// The first of the other threads of which this is true.
    fn other(&self, thread: u64, is_so: impl Fn(&Thread) -> bool) -> Option<u64> {
        let others = self.threads.iter().filter(|&(number, other)| number != thread && is_so(other));
        others.map(|(number, _)| number).min()
    }

    /// A thread that holds a lock so that this one cannot get it like this; or itself, if it holds it.
    pub(crate) fn holder(&self, thread: u64, lock: u64, mode: Mode) -> Option<u64> {
        let own = self.threads.get(thread).is_some_and(|own| own.held.contains(lock));
        let excludes = |held: Mode| held == Mode::Exclusive || mode == Mode::Exclusive;
        let holds = |other: &Thread| other.held.mode(lock).is_some_and(excludes);
        if own { Some(thread) } else { self.other(thread, holds) }
    }

    /// The function that a thread has entered last, or that an exit is about to leave.
    pub(crate) fn function(&mut self, thread: u64) -> Option<StrId> {
        self.thread(thread).function()
    }

    /// Takes the exit of a function, once its event is made.
    pub(crate) fn pop(&mut self, thread: u64) {
        self.threads.get_mut(thread).into_iter().for_each(Thread::pop);
    }

    /// Whether a thread is in the code of a channel.
    pub(crate) fn is_in_channel(&self, thread: u64, site: &CallSite) -> bool {
        self.threads.get(thread).is_some_and(|thread| thread.is_in_channel(site))
    }

    /// Where a thread is: a place of the user's, if there is one at or above this site.
    pub(crate) fn place(&mut self, thread: u64, site: &CallSite) -> LocId {
        self.thread(thread).user(site).unwrap_or(site.loc)
    }

    /// What a thread is doing.
    pub(crate) fn state(&mut self, thread: u64) -> ThreadState {
        let number = thread;
        let thread = self.thread(number);
        let (calls, mut held, waits_for) = (thread.delivered_calls(), thread.held.all(), thread.waits_for());
        let upgraded = |lock: u64| self.words.get(&lock).is_some_and(|word| word.is_upgraded_by(number));
        let mut upgrades: Vec<_> =
            held.iter().map(|&(lock, _)| lock).filter(|&lock| upgraded(lock)).collect();
        upgrades.dedup();
        held.extend(upgrades.into_iter().map(|lock| (upgrade_lock(lock), Mode::Exclusive)));
        let written = |lock: &u64| self.words.get(lock).is_some_and(|word| word.is_written_by(number));
        let gates = held.iter().map(|&(lock, _)| lock).filter(written).collect();
        ThreadState { calls, held, gates, waits_for }
    }
}
