//! Events that change nothing, and how that is known without looking at the instances.
//!
//! A monitor counts its changes. If an event left the count at `n`, the same event with the same objects would again change
//! nothing while the count is `n`, whatever else came in between: it would meet the same instances in the same states. So it need not
//! be looked at. And an event that begins nothing does nothing if one of its objects is unknown to the monitor.
//!
//! That the count is still `n` is seen without the lock: a change that happened before this event, in the sense of the memory model,
//! has stored its count where this thread reads it; one that did not is not ordered with the event anyway.
//!
//! Facts about events with one object that has a [`Life`](crate::Life) are kept there, if threads share the instances. All others are in
//! a small table per thread, in which a new fact replaces what was there. It needs no destructor, so it works until the thread's very
//! end. So does the table of counts of instances that belong to a thread.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread_local;

use super::declaration::Sharing;
use super::key::Key;
use super::number::Number;

const SLOTS: usize = 64;

/// Events with more values are not remembered.
const MOST_VALUES: usize = 2;

/// Of so many monitors the counts of this thread's instances are known.
const LOCALS: usize = 64;

#[derive(Clone, Copy, PartialEq)]
struct Fact {
    changes: u64,
    values: [u64; MOST_VALUES],
    event: u32,
    /// The monitor's number, from 1; 0 in an empty slot.
    monitor: u32,
}

thread_local! {
    static FACTS: [Cell<Fact>; SLOTS] = const {
        [const { Cell::new(Fact { changes: 0, values: [0; MOST_VALUES], event: 0, monitor: 0 }) }; SLOTS]
    };
    static CHANGES: [Cell<u64>; LOCALS] = const { [const { Cell::new(0) }; LOCALS] };
}

/// What a monitor knows about events that change nothing.
#[derive(Debug)]
pub(super) struct Idle {
    number: Number,
    sharing: Sharing,
    /// The events, as bits, that do nothing if one of their objects is not known to the monitor.
    need_known: u64,
    /// How often the instances have changed that all threads share.
    changes: AtomicU64,
}

impl Idle {
    pub(super) fn new(number: Number, sharing: Sharing, need_known: u64) -> Idle {
        Idle { number, sharing, need_known, changes: AtomicU64::new(0) }
    }

    /// Whether the event is known to change nothing now.
    #[inline]
    pub(super) fn is_idle(&self, event: u32, keys: &[Key<'_>]) -> bool {
        if event < 64 && self.need_known >> event & 1 == 1 {
            let is_unknown =
                |key: &Key<'_>| key.life().is_some_and(|life| !life.is_known_to(self.number.bit()));
            if keys.iter().any(is_unknown) {
                return true;
            }
        }
        let is_shared = self.sharing == Sharing::Locked;
        let changes = if is_shared {
            self.changes.load(Ordering::Relaxed)
        } else if keys.iter().all(|key| key.life().is_some()) && self.number.index() < LOCALS {
            // Not for addresses: another thread may have freed the object without this one knowing.
            CHANGES.with(|changes| changes[self.number.index()].get())
        } else {
            return false;
        };
        if let ([key], true) = (keys, is_shared)
            && let Some(life) = key.life()
        {
            return self
                .packed(event, changes)
                .is_some_and(|fact| life.idle[self.number.index() % 2].load(Ordering::Relaxed) == fact);
        }
        self.fact(event, keys, changes)
            .is_some_and(|fact| FACTS.with(|facts| facts[slot(&fact)].get() == fact))
    }

    /// Remembers an event that changed nothing.
    pub(super) fn remember(&self, event: u32, keys: &[Key<'_>], changes: u64) {
        if let ([key], Sharing::Locked) = (keys, self.sharing)
            && let Some(life) = key.life()
        {
            if let Some(fact) = self.packed(event, changes) {
                life.idle[self.number.index() % 2].store(fact, Ordering::Relaxed);
            }
        } else if let Some(fact) = self.fact(event, keys, changes) {
            FACTS.with(|facts| facts[slot(&fact)].set(fact));
        }
    }

    /// Publishes how often the instances have changed: to all threads, or to this one if they are its own.
    pub(super) fn publish(&self, changes: u64) {
        if self.sharing == Sharing::Locked {
            return self.changes.store(changes, Ordering::Relaxed);
        }
        CHANGES.with(|all| {
            if let Some(own) = all.get(self.number.index()) {
                own.set(changes);
            }
        });
    }

    /// A fact in one word, not 0; nothing if it does not fit.
    #[inline]
    fn packed(&self, event: u32, changes: u64) -> Option<u64> {
        let number = self.number.counted_from_one();
        let fits = event < 1 << 8 && number < 1 << 12 && changes < 1 << 44;
        fits.then(|| changes << 20 | u64::from(number) << 8 | u64::from(event))
    }

    #[inline]
    fn fact(&self, event: u32, keys: &[Key<'_>], changes: u64) -> Option<Fact> {
        let values = match *keys {
            [] => [0, 0],
            [one] => [one.value, 0],
            [one, two] => [one.value, two.value],
            _ => return None,
        };
        Some(Fact { changes, values, event, monitor: self.number.counted_from_one() })
    }
}

#[inline]
fn slot(fact: &Fact) -> usize {
    const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
    let mixed = fact.values[0]
        ^ fact.values[1].rotate_left(29)
        ^ u64::from(fact.monitor).rotate_left(47)
        ^ u64::from(fact.event) << 57;
    (mixed.wrapping_mul(SPREAD) >> (u64::BITS - SLOTS.trailing_zeros())) as usize
}
