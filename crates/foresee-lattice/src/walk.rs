//! Where an exploration is: a level, packed as it needs, and the step to the next one.

use super::breadth::select;
use super::causality::Causality;
use super::cut::{Layout, Packed, Width};
use super::guide::Guide;
use super::level::{Expansion, Group, Level, VerdictAt};
use super::machine::Machine;
use super::options::Breadth;

/// Levels of any width.
#[derive(Clone)]
pub(super) enum Front<S> {
    Bits64(Level<u64, S>),
    Bits128(Level<u128, S>),
    Boxed(Level<Box<[u32]>, S>),
}

/// Runs the same code for each width.
macro_rules! front {
    ($front:expr, $level:ident => $body:expr) => {
        match $front {
            $crate::walk::Front::Bits64($level) => $body,
            $crate::walk::Front::Bits128($level) => $body,
            $crate::walk::Front::Boxed($level) => $body,
        }
    };
}
pub(super) use front;

/// Where an exploration is.
#[derive(Clone)]
pub(super) struct Walk<S> {
    pub(super) layout: Layout,
    pub(super) front: Front<S>,
    /// The number of steps in each cut.
    pub(super) level: usize,
    /// The cut of the observed run at this level.
    pub(super) observed: Vec<u32>,
    /// Whether some cut was left out on the way.
    pub(super) left_out: bool,
}

impl<S: Clone + Eq + Send + Sync> Walk<S> {
    pub(super) fn start(threads: usize, state: S) -> Self {
        let layout = Layout::new(&vec![0; threads], &vec![0; threads], &vec![0; threads]);
        let level = Level { cuts: vec![0], states: vec![state] };
        Walk { layout, front: Front::Bits64(level), level: 0, observed: vec![0; threads], left_out: false }
    }

    /// Goes to the next level; `None`, and stays, if no step is possible.
    pub(super) fn step<M: Machine<State = S>>(
        &mut self,
        guide: &Guide<'_, M>,
    ) -> Option<Vec<(Group, VerdictAt<S>)>> {
        self.make_room(guide.causality);
        let before = self.observed.clone();
        if let Some(thread) = guide.causality.observed(self.level) {
            self.observed[thread as usize] += 1;
        }
        let Guide { causality, machine, known, within, options } = *guide;
        let place = options.place;
        let all = options.breadth != Breadth::All;
        let by = Expansion { causality, machine, layout: &self.layout, within, place, known, all };
        let (verdicts, next) = front!(&mut self.front, level => {
            let entries = guide.entries(level.cut_bytes(&self.layout), self.layout.threads());
            // What would have to go at once is not made: fewer cuts go on from here instead.
            let (mut next, pieces) = loop {
                let most = if level.is_one_cut() { usize::MAX } else { entries.saturating_mul(2) };
                if let Some(made) = level.next(&by, most) {
                    break made;
                }
                let half = level.len() / 2;
                self.left_out |= select(level, &self.layout, guide, &before, half);
            };
            self.left_out |= select(&mut next, &self.layout, guide, &self.observed, entries);
            let mut verdicts: Vec<_> = pieces.into_iter().flat_map(|piece| piece.found).collect();
            // With a limited breadth, only runs that go on count: one cut per level is the observed run, no more.
            verdicts.retain(|(_, verdict)| !all || next.contains(&self.layout, verdict));
            (verdicts, Front::from(next))
        });
        if front!(&next, level => level.len()) == 0 {
            return None;
        }
        self.front = next;
        self.level += 1;
        Some(verdicts)
    }

    /// Entries.
    pub(super) fn width(&self) -> usize {
        front!(&self.front, level => level.len())
    }

    /// Entries and cuts.
    pub(super) fn size(&self) -> (usize, usize) {
        front!(&self.front, level => (level.len(), level.cuts.chunk_by(|a, b| a == b).count()))
    }

    /// The smallest and the largest count of each thread.
    pub(super) fn range(&self) -> (Vec<u32>, Vec<u32>) {
        let threads = self.layout.threads();
        let (mut least, mut most) = (vec![u32::MAX; threads], vec![0; threads]);
        front!(&self.front, level => for cut in &level.cuts {
            for thread in 0..threads {
                let count = cut.get(&self.layout, thread as u32);
                least[thread] = least[thread].min(count);
                most[thread] = most[thread].max(count);
            }
        });
        (least, most)
    }

    /// Whether a step of the thread that is not known yet could happen in some cut.
    pub(super) fn waits_for(&self, thread: u32, causality: &Causality) -> bool {
        let could = |of: u32, get: &dyn Fn(u32) -> u32| causality.could_go_on(of, get);
        front!(&self.front, level => {
            level.cuts.iter().any(|cut| could(thread, &|of| cut.get(&self.layout, of)))
        })
    }

    /// There are so many threads now.
    pub(super) fn grow(&mut self, threads: usize) {
        if threads > self.layout.threads() {
            let all: Vec<(Vec<u32>, S)> = self.unpacked();
            self.observed.resize(threads, 0);
            let zeros = vec![0; threads];
            let wide = all.into_iter().map(|(mut counts, state)| {
                counts.resize(threads, 0);
                (counts, state)
            });
            let wide: Vec<_> = wide.collect();
            self.layout = Layout::new(&zeros, &zeros, &zeros);
            self.pack(wide, &zeros);
        }
    }

    /// Makes sure that the cuts of the next level can be packed.
    fn make_room(&mut self, causality: &Causality) {
        let threads = self.layout.threads();
        let counts: Vec<u32> = (0..threads as u32).map(|thread| causality.count(thread)).collect();
        let all_fit = counts.iter().zip(0..).all(|(&count, thread)| self.layout.fits(thread, count));
        if all_fit || self.layout.width == Width::Boxed {
            return;
        }
        // Not all known steps fit: then at least the next one of each cut must.
        let (_, most) = self.range();
        let next_fits = (0..threads).all(|t| self.layout.fits(t as u32, (most[t] + 1).min(counts[t])));
        if !next_fits {
            let unpacked = self.unpacked();
            self.pack(unpacked, &counts);
        }
    }

    fn unpacked(&self) -> Vec<(Vec<u32>, S)> {
        front!(&self.front, level => {
            (level.cuts.iter().zip(&level.states)).map(|(cut, state)| (self.layout.counts(cut), state.clone())).collect()
        })
    }

    /// Packs the level anew, with room for these counts if they fit.
    fn pack(&mut self, entries: Vec<(Vec<u32>, S)>, room: &[u32]) {
        let threads = room.len();
        let (mut least, mut most) = (vec![u32::MAX; threads], vec![0; threads]);
        for (counts, _) in &entries {
            for thread in 0..threads {
                least[thread] = least[thread].min(counts[thread]);
                most[thread] = most[thread].max(counts[thread]);
            }
        }
        let room: Vec<u32> = room.iter().zip(&most).map(|(&room, &most)| room.max(most)).collect();
        self.layout = Layout::new(&least, &most, &room);
        self.front = match self.layout.width {
            Width::Bits64 => Front::Bits64(packed(&self.layout, entries)),
            Width::Bits128 => Front::Bits128(packed(&self.layout, entries)),
            Width::Boxed => Front::Boxed(packed(&self.layout, entries)),
        };
    }
}

fn packed<K: Packed, S>(layout: &Layout, entries: Vec<(Vec<u32>, S)>) -> Level<K, S> {
    let mut level = Level { cuts: Vec::new(), states: Vec::new() };
    for (counts, state) in entries {
        level.cuts.push(K::pack(layout, &counts));
        level.states.push(state);
    }
    level
}

macro_rules! from_level {
    ($int:ty, $width:ident) => {
        impl<S> From<Level<$int, S>> for Front<S> {
            fn from(level: Level<$int, S>) -> Self {
                Front::$width(level)
            }
        }
    };
}
from_level!(u64, Bits64);
from_level!(u128, Bits128);
from_level!(Box<[u32]>, Boxed);
