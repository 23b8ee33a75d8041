//! Atomics that are recorded, where other threads run code that may use the same ones unseen.
//!
//! A thread stores to an atomic, and another waits for that in assembly, or in a library that is not instrumented. The second one's
//! code is known to be blind and to order threads; but what it orders itself after is an ordinary event. So what
//! threads do to atomics counts as blind code that orders, too, at the moments at which it matters: before other threads run code of that
//! kind, and before the first atomic after it. It is told as more events of the same kind, of the threads that have used atomics.
//!
//! A fence counts as an atomic: by it, a relaxed load before it orders; that has the key of an access, and so may come before such code that it came after.
//!
//! What a thread that ends has done to atomics may matter to code that runs later. In a program with atomics in assembly, such a thread counts as having met it when it
//! ends. (That costs predictions, so it is not done where only a library may run such code.)
//!
//! **Cost.** Nothing for who uses no atomics, and otherwise as many events as there are changes between such code and atomics of others.

use foresee_format::SYNC_SPACE;

use crate::event::{Event, Op};
use crate::ids::{LocId, StrId, ThreadId};
use crate::thread_table::ThreadTable;

/// What to call what threads did to atomics, when they end.
pub(super) const ATOMICS: &str = "atomics that code may use that is not recorded";

/// Follows such code and the atomics of all threads.
#[derive(Default)]
pub(super) struct Meetings {
    /// How often such code ran, and which it was last.
    runs: u64,
    last: Option<StrId>,
    threads: ThreadTable<ThreadId, Met>,
    /// The threads that have used atomics since such code of others ran.
    users: Vec<ThreadId>,
}

#[derive(Clone, Copy, Default)]
struct Met {
    /// The run of such code that it has met last.
    run: u64,
    is_user: bool,
}

impl Meetings {
    /// Whether nothing has to be told of an atomic load but that there was one.
    #[inline]
    pub(super) fn pass_loads(&self) -> bool {
        self.runs == 0
    }

    /// Adds what there is to tell to events that come next. `is_such` says whether code may use atomics, `end` is what to call those of a
    /// thread that ends, if that counts.
    pub(super) fn add(
        &mut self,
        events: &mut Vec<Event<'static>>,
        is_such: impl Fn(StrId) -> bool,
        end: Option<StrId>,
    ) {
        let such_code = |op: &Op<'_>| match *op {
            Op::Blind { code, orders: true } if is_such(code) => Some(code),
            _ => None,
        };
        let matters = |op: &Op<'_>| is_atomic(op) || *op == Op::ThreadEnd || such_code(op).is_some();
        if !events.iter().any(|event| matters(&event.op)) {
            return;
        }
        for event in std::mem::take(events) {
            let thread = event.thread;
            let mut tell = |thread, code| {
                events.push(Event { thread, loc: LocId::UNKNOWN, op: Op::Blind { code, orders: true } });
            };
            if let Some(code) = such_code(&event.op) {
                for user in self.users.drain(..) {
                    self.threads.get_mut(user).into_iter().for_each(|met| met.is_user = false);
                    if user != thread {
                        tell(user, code);
                    }
                }
                self.runs += 1;
                self.last = Some(code);
                self.threads.entry(thread).run = self.runs;
            } else if is_atomic(&event.op) {
                let runs = self.runs;
                let is_new = std::mem::replace(&mut self.threads.entry(thread).run, runs) != runs;
                self.last.filter(|_| is_new).into_iter().for_each(|code| tell(thread, code));
                self.uses(thread);
            } else if event.op == Op::ThreadEnd && self.threads.remove(thread).is_some_and(|met| met.is_user)
            {
                self.users.retain(|&user| user != thread);
                end.into_iter().for_each(|code| tell(thread, code));
            }
            events.push(event);
        }
    }

    /// A thread uses an atomic.
    #[inline]
    pub(super) fn uses(&mut self, thread: ThreadId) {
        if !std::mem::replace(&mut self.threads.entry(thread).is_user, true) {
            self.users.push(thread);
        }
    }
}

/// Whether an operation is on an atomic that other code may use unseen. What stands for a barrier or the like is none: whoever uses that is seen.
fn is_atomic(op: &Op<'_>) -> bool {
    match op {
        Op::Load { mem, .. } | Op::Store { mem, .. } | Op::Rmw { mem, .. } => mem.addr < SYNC_SPACE,
        Op::Fence { .. } => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Mem, Order};

    const ASSEMBLY: StrId = StrId(7);
    const END: StrId = StrId(8);

    fn store() -> Op<'static> {
        Op::Store { mem: Mem { addr: 64, size: 4 }, order: Order::Release, value: None }
    }

    fn blind(code: StrId) -> Op<'static> {
        Op::Blind { code, orders: true }
    }

    fn told(events: &[(u32, Op<'static>)]) -> Vec<(u32, Op<'static>)> {
        let mut meetings = Meetings::default();
        let mut all = Vec::new();
        for &(thread, op) in events {
            let mut one = vec![Event { thread: ThreadId(thread), loc: LocId::UNKNOWN, op }];
            meetings.add(&mut one, |code| code == ASSEMBLY, Some(END));
            all.extend(one.into_iter().map(|event| (event.thread.0, event.op)));
        }
        all
    }

    #[test]
    fn atomics_before_and_after_such_code_are_ordered_with_it() {
        let (a, b) = (0, 1);
        let told = told(&[(a, store()), (b, blind(ASSEMBLY)), (a, store()), (a, store())]);
        let such = blind(ASSEMBLY);
        assert_eq!(told, [(a, store()), (a, such), (b, such), (a, such), (a, store()), (a, store())]);
    }

    #[test]
    fn a_fence_makes_an_earlier_load_one_that_orders() {
        let (a, b) = (0, 1);
        let load = Op::Load { mem: Mem { addr: 64, size: 4 }, order: Order::Relaxed, value: None };
        let fence = Op::Fence { order: Order::Acquire };
        let such = blind(ASSEMBLY);
        let told = told(&[(a, load), (b, such), (a, fence)]);
        assert_eq!(told, [(a, load), (a, such), (b, such), (a, such), (a, fence)]);
    }

    #[test]
    fn who_ends_has_met_what_comes_later() {
        let (a, b) = (0, 1);
        let told = told(&[(a, store()), (a, Op::ThreadEnd), (b, blind(ASSEMBLY)), (b, Op::ThreadEnd)]);
        let end = [(a, store()), (a, blind(END)), (a, Op::ThreadEnd)];
        assert_eq!(told, [&end[..], &[(b, blind(ASSEMBLY)), (b, Op::ThreadEnd)]].concat());
    }

    #[test]
    fn other_code_that_orders_is_none_of_that() {
        let events = [(0, store()), (1, blind(StrId(1))), (0, store())];
        assert_eq!(told(&events), events);
    }
}
