//! Semaphores: which of them are locks, and what the others are.
//!
//! One that begins with 1, and that only threads raise that have lowered it, is a **lock**: it is held from lowering to raising, and whatever keeps a lock's
//! sections apart keeps it between 0 and 1. So sections may change places as those of other locks may. The first time that another thread raises it, or that it is lowered
//! although it is held, shows that it is something else: it is *demoted*, as locks of Rust are, and what was predicted by its having been a lock is not proven.
//!
//! Every other one is an **atomic**: raising it releases, lowering it acquires, and both change it, so that all of it stays in the order of the run. A thread that waits for it
//! while it is 0 is blocked. How often it was raised is known early, and how often it was lowered late; so one that seems to be 0 is. That holds only if it is known with how many it
//! begins. Nothing is predicted across those that could have been lowered in another order; people are told which these are ([`Semaphores::in_order`]).

use std::collections::BTreeMap;

use foresee_format::{SYNC_SPACE, SemaphoreStep};
use rustc_hash::FxHashMap;

use crate::event::{Mem, Mode, Op, Order};
use crate::ids::{LocId, LockId};

/// The semaphores of which is known with how many they began, by address.
#[derive(Default)]
pub(super) struct Semaphores {
    known: FxHashMap<u64, Semaphore>,
    /// Those that began as no lock, by address.
    counted: BTreeMap<u64, Counted>,
}

/// What was done to a semaphore that is no lock.
#[derive(Clone, Copy)]
struct Counted {
    began: u64,
    raised: u64,
    /// Where it was lowered first.
    lowered: Option<LocId>,
}

impl Counted {
    /// Whether it can have been lowered in another order.
    fn has_choice(&self) -> bool {
        self.lowered.is_some() && self.began.saturating_add(self.raised) > 1
    }
}

/// A semaphore that stays in the order of the run.
pub(super) struct InOrder {
    pub(super) addr: u64,
    pub(super) began: u64,
    /// Where it was lowered first.
    pub(super) loc: LocId,
}

#[derive(Clone, Copy)]
enum Semaphore {
    /// With the number of the thread that holds it.
    Lock(Option<u64>),
    /// With how often it can be lowered.
    Count(u64),
}

/// What a step means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meant {
    Nothing,
    Request,
    Acquire,
    Release,
    /// It was not to be had.
    Fail,
    /// It is a lock no more, which this thread holds if any does; then the step means this.
    Demote {
        holder: Option<u64>,
        op: Op<'static>,
    },
    Event(Op<'static>),
}

impl Semaphores {
    /// What a thread does to the semaphore at `addr`; `count` is for what it begins with.
    pub(super) fn step(&mut self, thread: u64, step: SemaphoreStep, addr: u64, count: u64) -> Meant {
        let mem = Mem { addr: addr | SYNC_SPACE, size: 1 };
        let update = |order| Op::Rmw { mem, order, values: None };
        let known = self.known.get_mut(&addr);
        match (step, known) {
            (SemaphoreStep::Begins, _) => {
                let begins = if count == 1 { Semaphore::Lock(None) } else { Semaphore::Count(count) };
                self.known.insert(addr, begins);
                let had_choice = self.counted.get(&addr).is_some_and(Counted::has_choice);
                if count != 1 && !had_choice {
                    self.counted.insert(addr, Counted { began: count, raised: 0, lowered: None });
                }
                Meant::Nothing
            }
            (SemaphoreStep::Unknown, _) => {
                self.known.remove(&addr);
                Meant::Nothing
            }
            (SemaphoreStep::Requested, Some(Semaphore::Lock(_))) => Meant::Request,
            (SemaphoreStep::Requested, Some(Semaphore::Count(0))) => Meant::Event(Op::Blocked { mem }),
            (SemaphoreStep::Requested, _) => Meant::Nothing,
            (SemaphoreStep::Failed, Some(Semaphore::Lock(_))) => Meant::Fail,
            (SemaphoreStep::Failed, _) => Meant::Event(Op::Load { mem, order: Order::Relaxed, value: None }),
            (SemaphoreStep::Lowered, Some(Semaphore::Lock(holder @ None))) => {
                *holder = Some(thread);
                Meant::Acquire
            }
            (SemaphoreStep::Raised, Some(Semaphore::Lock(holder))) if *holder == Some(thread) => {
                *holder = None;
                Meant::Release
            }
            (SemaphoreStep::Lowered, Some(semaphore @ &mut Semaphore::Lock(holder))) => {
                *semaphore = Semaphore::Count(0);
                Meant::Demote { holder, op: update(Order::Acquire) }
            }
            (SemaphoreStep::Raised, Some(semaphore @ &mut Semaphore::Lock(holder))) => {
                *semaphore = Semaphore::Count(if holder.is_some() { 1 } else { 2 });
                Meant::Demote { holder, op: update(Order::Release) }
            }
            (SemaphoreStep::Lowered, known) => {
                if let Some(Semaphore::Count(count)) = known {
                    *count = count.saturating_sub(1);
                }
                Meant::Event(update(Order::Acquire))
            }
            (SemaphoreStep::Raised, known) => {
                if let Some(Semaphore::Count(count)) = known {
                    *count += 1;
                }
                Meant::Event(update(Order::Release))
            }
        }
    }

    /// A step, which has been taken, was at this place.
    pub(super) fn was_at(&mut self, step: SemaphoreStep, addr: u64, loc: LocId) {
        let Some(counted) = self.counted.get_mut(&addr) else { return };
        match step {
            SemaphoreStep::Raised => counted.raised += 1,
            SemaphoreStep::Lowered => _ = counted.lowered.get_or_insert(loc),
            _ => {}
        }
    }

    /// Those that stay in the order of the run although they need not.
    pub(super) fn in_order(&self) -> impl Iterator<Item = InOrder> + '_ {
        let chosen = self.counted.iter().filter(|(_, counted)| counted.has_choice());
        chosen.filter_map(|(&addr, counted)| {
            Some(InOrder { addr, began: counted.began, loc: counted.lowered? })
        })
    }
}

/// What is told where a semaphore turns out to be no lock: its holder gives it back, and the thread that shows it takes over what all sections have done and hands it to the
/// atomic. That orders more than there is, and never less.
pub(super) fn demoted(lock: LockId, addr: u64) -> [Op<'static>; 3] {
    let mem = Mem { addr: addr | SYNC_SPACE, size: 1 };
    let mode = Mode::Exclusive;
    [
        Op::Acquire { lock, mode, tried: true },
        Op::Release { lock, mode },
        Op::Rmw { mem, order: Order::AcqRel, values: None },
    ]
}

#[cfg(test)]
mod tests {
    use super::SemaphoreStep::{Begins, Lowered, Raised, Requested};
    use super::*;

    const AT: u64 = 0x1000;

    #[test]
    fn one_that_holders_raise_is_a_lock() {
        let mut semaphores = Semaphores::default();
        assert_eq!(semaphores.step(0, Begins, AT, 1), Meant::Nothing);
        for thread in [0, 1, 1, 0] {
            assert_eq!(semaphores.step(thread, Requested, AT, 0), Meant::Request);
            assert_eq!(semaphores.step(thread, Lowered, AT, 0), Meant::Acquire);
            assert_eq!(semaphores.step(thread, Raised, AT, 0), Meant::Release);
        }
        semaphores.step(0, Lowered, AT, 0);
        assert!(matches!(semaphores.step(1, Raised, AT, 0), Meant::Demote { holder: Some(0), .. }));
        assert!(matches!(semaphores.step(1, Lowered, AT, 0), Meant::Event(Op::Rmw { .. })));
        assert!(matches!(semaphores.step(1, Requested, AT, 0), Meant::Event(Op::Blocked { .. })));
    }

    #[test]
    fn those_that_could_have_been_lowered_in_another_order_are_told() {
        let mut semaphores = Semaphores::default();
        let mut told = |steps: &[(SemaphoreStep, u64)]| {
            for &(step, count) in steps {
                semaphores.step(0, step, AT, count);
                semaphores.was_at(step, AT, LocId(7));
            }
            semaphores.in_order().map(|one| (one.addr, one.began)).collect::<Vec<_>>()
        };
        assert_eq!(
            told(&[(Begins, 0), (Raised, 0), (Lowered, 0)]),
            [],
            "it can only be lowered when it was raised"
        );
        assert_eq!(told(&[(Raised, 0), (Lowered, 0)]), [(AT, 0)]);
        assert_eq!(told(&[(Begins, 2)]), [(AT, 0)], "what was seen before stays");
    }

    #[test]
    fn who_waits_for_one_that_is_0_is_blocked() {
        let mut semaphores = Semaphores::default();
        assert_eq!(semaphores.step(0, Requested, AT, 0), Meant::Nothing);
        semaphores.step(0, Begins, AT, 0);
        assert!(matches!(semaphores.step(0, Requested, AT, 0), Meant::Event(Op::Blocked { .. })));
        semaphores.step(1, Raised, AT, 0);
        assert_eq!(semaphores.step(0, Requested, AT, 0), Meant::Nothing);
    }
}
