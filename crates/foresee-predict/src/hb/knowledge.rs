//! What a thread knows, and what it publishes for others to learn.

use crate::clock::Clock;

/// The events that are before something, in three orders, each with all edges of the one before: happens-before; the *suspected* order, in
/// which blind code that may have synchronised did so; and the schedulable order, which has an edge from each write to the reads that
/// read it.
///
/// They differ only after such blind code, and after a read of a write that is not ordered before it; until then one clock
/// stands for all.
#[derive(Clone, Debug, Default)]
pub(super) struct Knowledge {
    happens_before: Clock,
    /// Means something only if it `suspects` more than happens-before; otherwise a buffer for later.
    suspected: Clock,
    suspects: bool,
    /// Means something only where it and the suspected order are `apart`.
    schedulable: Clock,
    apart: bool,
}

impl Knowledge {
    #[inline]
    pub(super) fn happens_before(&self) -> &Clock {
        &self.happens_before
    }

    #[inline]
    pub(super) fn suspected(&self) -> &Clock {
        if self.suspects { &self.suspected } else { &self.happens_before }
    }

    #[inline]
    pub(super) fn schedulable(&self) -> &Clock {
        if self.apart { &self.schedulable } else { self.suspected() }
    }

    /// Sets one component in all orders.
    #[inline]
    pub(super) fn set(&mut self, slot: u32, time: u64) {
        self.happens_before.set(slot, time);
        if self.suspects {
            self.suspected.set(slot, time);
        }
        if self.apart {
            self.schedulable.set(slot, time);
        }
    }

    /// Learns what the other knows; whether that was anything new.
    #[inline]
    pub(super) fn join(&mut self, other: &Knowledge) -> bool {
        if !(self.apart | self.suspects | other.apart | other.suspects) {
            return self.happens_before.join(&other.happens_before);
        }
        let new = self.join_larger(other) | self.happens_before.join(&other.happens_before);
        self.forget_equal();
        new
    }

    /// Learns what the other knows, but not in happens-before; whether that was anything new.
    pub(super) fn suspect(&mut self, other: &Knowledge) -> bool {
        self.suspect_if(true);
        let new = self.join_larger(other);
        self.forget_equal();
        new
    }

    fn join_larger(&mut self, other: &Knowledge) -> bool {
        self.part_if(other.apart);
        self.suspect_if(other.suspects);
        let mut new = false;
        if self.apart {
            new |= self.schedulable.join(other.schedulable());
        }
        if self.suspects {
            new |= self.suspected.join(other.suspected());
        }
        new
    }

    fn forget_equal(&mut self) {
        self.suspects &= self.suspected != self.happens_before;
        self.apart &= self.schedulable != *self.suspected();
    }

    #[inline]
    pub(super) fn copy_from(&mut self, other: &Knowledge) {
        self.happens_before.copy_from(&other.happens_before);
        self.suspects = other.suspects;
        if other.suspects {
            self.suspected.copy_from(&other.suspected);
        }
        self.apart = other.apart;
        if other.apart {
            self.schedulable.copy_from(&other.schedulable);
        }
    }

    pub(super) fn clear(&mut self) {
        self.happens_before.clear();
        self.suspects = false;
        self.apart = false;
    }

    /// Has read the write that this slot did at this time, when its thread's schedulable clock was `writer`.
    pub(super) fn read_from(&mut self, writer: &Clock, slot: u32, time: u64) {
        self.part_if(true);
        self.schedulable.join(writer);
        if !self.schedulable.covers(slot, time) {
            self.schedulable.set(slot, time);
        }
    }

    fn suspect_if(&mut self, wanted: bool) {
        if wanted && !self.suspects {
            self.suspects = true;
            self.suspected.copy_from(&self.happens_before);
        }
    }

    fn part_if(&mut self, wanted: bool) {
        if wanted && !self.apart {
            self.apart = true;
            let suspected = if self.suspects { &self.suspected } else { &self.happens_before };
            self.schedulable.copy_from(suspected);
        }
    }
}

/// Knowledge left at a lock, an atomic variable or a fence for whoever synchronises with it.
#[derive(Clone, Debug, Default)]
pub(super) struct Published {
    known: Knowledge,
    /// The only publisher and when, as far as there is one: who knows of that event knows all that is here.
    by: Option<(u32, u64)>,
}

impl Published {
    /// Forgets what was here and leaves what the thread in `slot` knows at its event at `time`.
    #[inline]
    pub(super) fn replace(&mut self, known: &Knowledge, slot: u32, time: u64) {
        self.known.copy_from(known);
        self.known.set(slot, time);
        self.by = Some((slot, time));
    }

    /// Leaves what the thread in `slot` knows at its event at `time`, beside what is here.
    pub(super) fn add(&mut self, known: &Knowledge, slot: u32, time: u64) {
        if self.is_known_to(known, slot) {
            self.replace(known, slot, time);
        } else {
            self.known.join(known);
            self.known.set(slot, time);
            self.by = None;
        }
    }

    /// Leaves what is published elsewhere, beside what is here.
    pub(super) fn add_published(&mut self, other: &Published) {
        if self.is_empty() {
            self.copy_from(other);
        } else {
            self.known.join(&other.known);
            self.by = None;
        }
    }

    pub(super) fn copy_from(&mut self, other: &Published) {
        self.known.copy_from(&other.known);
        self.by = other.by;
    }

    pub(super) fn clear(&mut self) {
        self.known.clear();
        self.by = None;
    }

    #[inline]
    pub(super) fn known(&self) -> &Knowledge {
        &self.known
    }

    /// Whether it is sure that the thread in slot `reader`, knowing this, has nothing to learn here.
    #[inline]
    pub(super) fn is_known_to(&self, known: &Knowledge, reader: u32) -> bool {
        match self.by {
            Some((slot, time)) => slot == reader || known.happens_before.covers(slot, time),
            None => self.is_empty(),
        }
    }

    fn is_empty(&self) -> bool {
        self.known.happens_before.is_empty()
    }
}
