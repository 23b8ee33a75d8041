//! Vector clocks: for each thread, up to which of its events something is known.
//!
//! **Times are positions.** The time of an event is its index in the observed run plus one; 0 is before everything. A
//! component of a clock is the time of the last event of that thread which the clock covers. So every event has a time of
//! its own, nothing has to be counted up after a release, and the time in a shadow entry also says which event to report.
//! A running thread knows all of its own past, so its own component means nothing; the copy that it publishes gets the time
//! of the publishing event there.
//!
//! **Few threads, and very many.** The first slots (`DENSE`) are a plain array: copying and joining are linear in it, and reuse the
//! buffer. All others are in a tree (`tree`) whose parts are shared by all clocks that have them in common. A clock that a thread takes over from
//! another one shares all of it, so n threads that all know of each other need memory for n changes, not n².
//!
//! **Cost.** 8 bytes for each of the first slots up to the largest one heard of. Beyond them: copying is one counted reference,
//! setting a component copies the way to it (a kilobyte) where it is shared, and joining looks only at what is not shared.

mod tree;

use tree::Tree;

/// So many slots are in the array.
const DENSE: usize = 128;

/// For each thread slot, the time of its last event that is covered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    first: Vec<u64>,
    others: Tree,
}

impl Clock {
    /// The time up to which this slot is covered; 0 if not at all.
    #[inline]
    pub fn get(&self, slot: u32) -> u64 {
        match self.first.get(slot as usize) {
            Some(&time) => time,
            None => self.others.get(slot),
        }
    }

    /// Whether the event of this slot at this time is covered.
    #[inline]
    pub fn covers(&self, slot: u32, time: u64) -> bool {
        time <= self.get(slot)
    }

    /// Sets one component.
    #[inline]
    pub fn set(&mut self, slot: u32, time: u64) {
        let at = slot as usize;
        if at >= DENSE {
            return self.others.set(slot, time);
        }
        if self.first.len() <= at {
            self.first.resize(at + 1, 0);
        }
        self.first[at] = time;
    }

    /// Covers what the other covers, too; whether that was anything new.
    #[inline]
    pub fn join(&mut self, other: &Clock) -> bool {
        let mut new = 0;
        if self.first.len() < other.first.len() {
            self.first.resize(other.first.len(), 0);
        }
        for (mine, &theirs) in self.first.iter_mut().zip(&other.first) {
            let larger = theirs.max(*mine);
            new |= larger ^ *mine;
            *mine = larger;
        }
        (new != 0) | self.others.join(&other.others)
    }

    /// Becomes equal to the other.
    #[inline]
    pub fn copy_from(&mut self, other: &Clock) {
        self.first.clear();
        self.first.extend_from_slice(&other.first);
        self.others.copy_from(&other.others);
    }

    /// Whether nothing was ever put in.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first.is_empty() && self.others.is_empty()
    }

    /// Covers nothing any more.
    #[inline]
    pub fn clear(&mut self) {
        self.first.clear();
        self.others.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_join_covers_both_and_tells_what_was_new() {
        for far in [0, 100, 5000] {
            let (mut a, mut b) = (Clock::default(), Clock::default());
            a.set(far, 5);
            b.set(far + 2, 7);
            assert!(a.join(&b));
            assert!(!a.join(&b));
            assert!(a.covers(far, 5) && a.covers(far + 2, 7) && !a.covers(far + 2, 8));
            assert!(!a.covers(far + 1, 1) && a.covers(far + 9, 0) && a.covers(1 << 30, 0));
            b.copy_from(&a);
            assert_eq!(a, b);
            b.clear();
            assert!(b.is_empty() && !a.is_empty() && a != b);
        }
    }

    /// Against plain arrays.
    #[test]
    fn clocks_of_any_length_say_what_arrays_say() {
        const SLOTS: usize = 3000;
        let mut seed = 1_u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % below
        };
        let mut clocks: Vec<(Clock, Vec<u64>)> = vec![(Clock::default(), vec![0; SLOTS]); 6];
        for _ in 0..20_000 {
            let (to, from) = (random(clocks.len()), random(clocks.len()));
            let (other, theirs) = clocks[from].clone();
            let (clock, mine) = &mut clocks[to];
            match random(8) {
                0 => {
                    clock.copy_from(&other);
                    mine.clone_from(&theirs);
                }
                1 | 2 => {
                    let before = mine.clone();
                    mine.iter_mut().zip(&theirs).for_each(|(mine, &theirs)| *mine = theirs.max(*mine));
                    assert_eq!(clock.join(&other), *mine != before);
                }
                _ => {
                    let most = 1 << (1 + random(11));
                    let (slot, time) = (random(most), random(1000) as u64);
                    let time = time.max(mine[slot]);
                    clock.set(slot as u32, time);
                    mine[slot] = time;
                }
            }
            let slot = random(SLOTS);
            assert_eq!(clock.get(slot as u32), mine[slot]);
        }
        for (clock, mine) in &clocks {
            assert!((0..SLOTS).all(|slot| clock.get(slot as u32) == mine[slot]));
        }
    }
}
