//! Vector clocks: for each thread, up to which of its events something is known.
//!
//! **Times are positions.** The time of an event is its index in the observed run plus one; 0 is before everything. A
//! component of a clock is the time of the last event of that thread which the clock covers. So every event has a time of
//! its own, nothing has to be counted up after a release, and the time in a shadow entry also says which event to report.
//! A running thread knows all of its own past, so its own component means nothing; the copy that it publishes gets the time
//! of the publishing event there.
//!
//! **Cost.** A clock is as long as the largest thread slot it has heard of, 8 bytes each; copying and joining are linear in
//! that, and reuse the buffer.

/// For each thread slot, the time of its last event that is covered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clock(Vec<u64>);

impl Clock {
    /// The time up to which this slot is covered; 0 if not at all.
    #[inline]
    pub fn get(&self, slot: u32) -> u64 {
        self.0.get(slot as usize).copied().unwrap_or(0)
    }

    /// Whether the event of this slot at this time is covered.
    #[inline]
    pub fn covers(&self, slot: u32, time: u64) -> bool {
        time <= self.get(slot)
    }

    /// Sets one component.
    #[inline]
    pub fn set(&mut self, slot: u32, time: u64) {
        let slot = slot as usize;
        if self.0.len() <= slot {
            self.0.resize(slot + 1, 0);
        }
        self.0[slot] = time;
    }

    /// Covers what the other covers, too; whether that was anything new.
    #[inline]
    pub fn join(&mut self, other: &Clock) -> bool {
        let mut new = 0;
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, &theirs) in self.0.iter_mut().zip(&other.0) {
            let larger = theirs.max(*mine);
            new |= larger ^ *mine;
            *mine = larger;
        }
        new != 0
    }

    /// Becomes equal to the other.
    #[inline]
    pub fn copy_from(&mut self, other: &Clock) {
        self.0.clear();
        self.0.extend_from_slice(&other.0);
    }

    /// Whether nothing was ever put in.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Covers nothing any more.
    #[inline]
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_join_covers_both_and_tells_what_was_new() {
        let (mut a, mut b) = (Clock::default(), Clock::default());
        a.set(0, 5);
        b.set(2, 7);
        assert!(a.join(&b));
        assert!(!a.join(&b));
        assert!(a.covers(0, 5) && a.covers(2, 7) && !a.covers(2, 8) && !a.covers(1, 1) && a.covers(9, 0));
        b.copy_from(&a);
        assert_eq!(a, b);
    }
}
