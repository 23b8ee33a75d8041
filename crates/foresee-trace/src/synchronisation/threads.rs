//! Rules (d) and (f): which event comes after which events of other threads, by fork, join, wait and notify, and by blind code.

use rustc_hash::FxHashMap;

use super::blind::BlindWalk;
use super::locks::{Handover, LockWalk};
use crate::event::Op;
use crate::ids::{LockId, ThreadId};

/// Follows forks, joins, waits, notifies and blind code through a run, and locks as [`LockWalk`] does.
///
/// Around each event, call [`begin`](ThreadWalk::begin) and [`end`](ThreadWalk::end). What is known of an event that others may come after
/// is a note `N` of the caller: its id, or a clock.
#[derive(Clone, Debug)]
pub struct ThreadWalk<N> {
    threads: Vec<Next<N>>,
    /// The conditions that threads wait for, or that were waited for or notified before.
    conditions: FxHashMap<LockId, Condition<N>>,
    locks: LockWalk,
    /// What the event that has begun does to a lock.
    handover: Option<Handover>,
    blind: BlindWalk<N>,
}

/// What a thread's next event comes after.
#[derive(Clone, Debug)]
enum Next<N> {
    /// It is the first one. The fork, if there was one.
    First(Option<N>),
    /// The thread waits for a condition; so many notifies had been before.
    Return { cond: LockId, since: usize },
    /// Only the thread's own last event.
    Any,
}

#[derive(Clone, Debug)]
struct Condition<N> {
    /// How many notifies there were before those in `notifies`.
    forgotten: usize,
    /// All since the first of those who wait now began to.
    notifies: Vec<N>,
    /// Who waits, in the order of their waits.
    waiting: Vec<(ThreadId, N)>,
}

impl<N> Default for Condition<N> {
    fn default() -> Self {
        Condition { forgotten: 0, notifies: Vec::new(), waiting: Vec::new() }
    }
}

/// What an event comes after, beside its thread's last event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After<'w, N> {
    /// The first event of a thread: its fork.
    Fork(&'w N),
    /// The first event after a wait: the notifies meanwhile, perhaps none.
    Notifies {
        /// What was waited for.
        cond: LockId,
        /// How many notifies of the condition had been before the wait.
        earlier: usize,
        /// Those since.
        notifies: &'w [N],
    },
    /// A notify: the wait of another thread that it may end.
    Wait(&'w N),
    /// A join: the last event of this thread, if it has done any.
    End(ThreadId),
    /// Blind code in a critical section, or a section that comes after one with blind code: the end of a section of another thread.
    Section(&'w N),
    /// Blind code that may have synchronised: the last such code of another thread.
    Order(&'w N),
}

impl<N> Default for ThreadWalk<N> {
    fn default() -> Self {
        ThreadWalk {
            threads: Vec::new(),
            conditions: FxHashMap::default(),
            locks: LockWalk::new(),
            handover: None,
            blind: BlindWalk::default(),
        }
    }
}

impl<N: Clone> ThreadWalk<N> {
    /// Nothing has happened.
    pub fn new() -> ThreadWalk<N> {
        ThreadWalk::default()
    }

    /// The same for who has every section of a lock come after all earlier ones that exclude it, whether there is blind code in it or not: then rule (f) says nothing more of sections,
    /// no [`After::Section`] is visited, and nothing is kept of threads that have given up a lock.
    pub fn with_locks_in_order() -> ThreadWalk<N> {
        ThreadWalk { blind: BlindWalk::without_sections(), ..ThreadWalk::default() }
    }

    /// A thread has gone: no event that comes speaks of it, and another may have its id from now on. Only for walks with [locks in order](ThreadWalk::with_locks_in_order): others still have to know
    /// whose sections there were.
    pub fn forget(&mut self, thread: ThreadId) {
        if let Some(next) = self.threads.get_mut(thread.index()) {
            *next = Next::First(None);
        }
        self.locks.forget(thread);
        self.blind.forget(thread);
    }

    /// The thread is about to do an event: `op`, or an access to memory. Visits what that comes after. Whether it takes or gives a lock.
    #[inline]
    pub fn begin(
        &mut self,
        thread: ThreadId,
        op: Option<&Op<'_>>,
        mut visit: impl FnMut(After<'_, N>),
    ) -> Option<Handover> {
        if !self.goes_on(thread) {
            self.next(thread, &mut visit);
            self.go_on(thread);
        }
        match op {
            Some(&Op::Join { child }) => visit(After::End(child)),
            Some(Op::Notify { cond, .. }) => {
                let waiting = self.conditions.get(cond).map_or(&[][..], |condition| &condition.waiting);
                waiting.iter().for_each(|(_, wait)| visit(After::Wait(wait)));
            }
            Some(&Op::Blind { orders, .. }) => {
                self.blind.run(thread, &self.locks, |given| visit(After::Section(given)));
                self.blind
                    .last_order(thread)
                    .filter(|_| orders)
                    .into_iter()
                    .for_each(|last| visit(After::Order(last)));
            }
            _ => {}
        }
        self.handover = self.locks.event(thread, op?);
        if let Some(Handover::Takes(section)) = self.handover {
            self.blind.take(thread, section, |given| visit(After::Section(given)));
        }
        self.handover
    }

    /// Whether a thread's next event comes after its own last event only, unless it is one that synchronises.
    #[inline]
    pub fn goes_on(&self, thread: ThreadId) -> bool {
        matches!(self.threads.get(thread.index()), Some(Next::Any))
    }

    /// What a thread's next event comes after, whatever it will be.
    pub fn next(&self, thread: ThreadId, mut visit: impl FnMut(After<'_, N>)) {
        match self.threads.get(thread.index()) {
            Some(Next::First(Some(fork))) => visit(After::Fork(fork)),
            Some(&Next::Return { cond, since }) => {
                let Some(condition) = self.conditions.get(&cond) else { return };
                let notifies = &condition.notifies[since - condition.forgotten..];
                visit(After::Notifies { cond, earlier: since, notifies });
            }
            Some(Next::First(None) | Next::Any) | None => {}
        }
    }

    /// The thread has done its event: `op`, or an access to memory. Asks for the note of what others may come after.
    #[inline]
    pub fn end(&mut self, thread: ThreadId, op: Option<&Op<'_>>, mut note: impl FnMut() -> N) {
        if let Some(Handover::Gives(section)) = self.handover.take() {
            self.blind.give(thread, section, note());
        }
        match op {
            Some(&Op::Fork { child }) => {
                if let fork @ Next::First(None) = self.thread(child) {
                    *fork = Next::First(Some(note()));
                }
            }
            Some(&Op::Wait { cond, .. }) => {
                let condition = self.conditions.entry(cond).or_default();
                condition.waiting.push((thread, note()));
                let since = condition.forgotten + condition.notifies.len();
                *self.thread(thread) = Next::Return { cond, since };
            }
            Some(&Op::Notify { cond, .. }) => {
                let condition = self.conditions.entry(cond).or_default();
                if condition.waiting.is_empty() {
                    condition.forgotten += 1;
                } else {
                    condition.notifies.push(note());
                }
            }
            Some(Op::Blind { orders: true, .. }) => self.blind.order(thread, note()),
            _ => {}
        }
    }

    /// The thread's wait, if it was in one, has returned.
    fn go_on(&mut self, thread: ThreadId) {
        let last = std::mem::replace(self.thread(thread), Next::Any);
        if let Next::Return { cond, .. } = last
            && let Some(condition) = self.conditions.get_mut(&cond)
        {
            condition.waiting.retain(|&(waiting, _)| waiting != thread);
            if condition.waiting.is_empty() {
                condition.forgotten += condition.notifies.len();
                condition.notifies.clear();
            }
        }
    }

    fn thread(&mut self, thread: ThreadId) -> &mut Next<N> {
        if self.threads.len() <= thread.index() {
            self.threads.resize_with(thread.index() + 1, || Next::First(None));
        }
        &mut self.threads[thread.index()]
    }
}
