//! A level of the lattice, and the next one.
//!
//! A level holds all cuts with the same number of steps, sorted, each with the states in which it can be reached: one entry per cut
//! and state. The steps of one thread lead from a sorted list of cuts to a sorted list of cuts, so the next level is
//! the merge of as many lists as there are threads, and equal cuts meet in the merge. No hashing, no random access; the order
//! of entries depends on nothing but the level before, however many threads of ours do the work: they take ranges of the new level.
//!
//! **Cost.** Per new cut one comparison for each thread, per edge of the lattice the test whether the step can happen and a step of
//! the machine. Memory: the two levels. A level may be as many times wider than the one before as there are threads, so it is given up
//! as soon as it has more entries than its maker allows.

use foresee_monitor::formalism::Categories;
use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::causality::{Causality, SILENT};
use super::cut::{Layout, Packed};
use super::machine::Machine;

/// Cuts with the same number of steps, and the states they can be reached in.
#[derive(Clone, Debug)]
pub(super) struct Level<K, S> {
    /// Sorted; as often as there are states.
    pub(super) cuts: Vec<K>,
    pub(super) states: Vec<S>,
}

/// A verdict on the way to a new cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct VerdictAt<S> {
    /// The cut before, as counts.
    pub(super) cut: Vec<u32>,
    pub(super) state: S,
    /// Whose step it was.
    pub(super) thread: u32,
    /// Which event.
    pub(super) event: u32,
    pub(super) categories: Categories,
}

/// Verdicts that are reported once: the place and the verdict.
pub(super) type Group = (u64, Categories);

/// The verdicts in a piece of a level, in the order of cuts: the first of each group.
pub(super) struct PieceVerdicts<S> {
    pub(super) found: Vec<(Group, VerdictAt<S>)>,
    groups: FxHashSet<Group>,
}

/// What leads from one level to the next.
pub(super) struct Expansion<'a, M: Machine> {
    pub(super) causality: &'a Causality,
    pub(super) machine: &'a M,
    pub(super) layout: &'a Layout,
    /// Cuts stay within this one, if given.
    pub(super) within: Option<&'a [u32]>,
    /// The place of an event: findings at one place are one finding.
    pub(super) place: &'a (dyn Fn(u32) -> u64 + Sync),
    /// Whether to keep all of a group, not only the first: some cuts may not go on.
    pub(super) all: bool,
    /// What was reported before.
    pub(super) known: &'a FxHashSet<Group>,
}

/// From this size on a level is made in parallel, in pieces of about this many entries.
const PIECE: usize = 1 << 15;

impl<K: Packed, S: Clone + Eq + Send + Sync> Level<K, S> {
    pub(super) fn new() -> Self {
        Level { cuts: Vec::new(), states: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.cuts.len()
    }

    /// Whether all entries are of the same cut.
    pub(super) fn is_one_cut(&self) -> bool {
        self.cuts.first() == self.cuts.last()
    }

    /// How many bytes a cut takes.
    pub(super) fn cut_bytes(&self, layout: &Layout) -> usize {
        K::bytes(layout)
    }

    fn append(&mut self, mut other: Self) {
        self.cuts.append(&mut other.cuts);
        self.states.append(&mut other.states);
    }

    /// The entries of this cut.
    pub(super) fn find(&self, cut: &K) -> std::ops::Range<usize> {
        let start = self.cuts.partition_point(|other| other < cut);
        let count = self.cuts[start..].iter().take_while(|other| *other == cut).count();
        start..start + count
    }

    /// Whether the cut that the verdict led to is here.
    pub(super) fn contains(&self, layout: &Layout, verdict: &VerdictAt<S>) -> bool {
        !self.find(&K::pack(layout, &verdict.cut).bump(layout, verdict.thread)).is_empty()
    }

    /// The level after this one, unless it has more entries than `most`.
    pub(super) fn next<M: Machine<State = S>>(
        &self,
        by: &Expansion<'_, M>,
        most: usize,
    ) -> Option<(Self, Vec<PieceVerdicts<S>>)> {
        let pieces = self.len().div_ceil(PIECE);
        if pieces < 2 {
            let (level, verdicts) = self.piece(by, None, None, most)?;
            return Some((level, vec![verdicts]));
        }
        let bounds: Vec<&K> = (1..pieces).map(|n| &self.cuts[n * self.len() / pieces]).collect();
        let range = |n: usize| (n.checked_sub(1).map(|n| bounds[n]), bounds.get(n).copied());
        // Pieces are about equal, but not quite.
        let most = most.saturating_mul(2) / pieces;
        let made: Vec<(Self, PieceVerdicts<S>)> = (0..pieces)
            .into_par_iter()
            .map(|n| {
                let (from, to) = range(n);
                self.piece(by, from, to, most)
            })
            .collect::<Option<_>>()?;
        let mut level = Level::new();
        let all = made.iter().map(|(piece, _)| piece.len()).sum();
        level.cuts.reserve_exact(all);
        level.states.reserve_exact(all);
        let verdicts = made.into_iter().map(|(piece, verdicts)| {
            level.append(piece);
            verdicts
        });
        let verdicts = verdicts.collect();
        Some((level, verdicts))
    }

    /// The entries of the next level with cuts from `from` up to and without `to`, unless there are more than `most`.
    fn piece<M: Machine<State = S>>(
        &self,
        by: &Expansion<'_, M>,
        from: Option<&K>,
        to: Option<&K>,
        most: usize,
    ) -> Option<(Self, PieceVerdicts<S>)> {
        let mut streams: Vec<Stream<K>> =
            (0..by.layout.threads() as u32).map(|thread| self.stream(by, thread, from, to)).collect();
        streams.retain(|stream| stream.head.is_some());
        let mut level = Level::new();
        let mut verdicts = PieceVerdicts { found: Vec::new(), groups: FxHashSet::default() };
        while let Some(cut) = streams.iter().filter_map(|stream| stream.head.as_ref()).min().cloned() {
            let first = level.len();
            if first > most {
                return None;
            }
            for stream in &mut streams {
                if stream.head.as_ref() == Some(&cut) {
                    self.step(by, stream, first, &cut, &mut level, &mut verdicts);
                    self.advance(by, stream);
                }
            }
            if streams.iter().any(|stream| stream.head.is_none()) {
                streams.retain(|stream| stream.head.is_some());
            }
        }
        Some((level, verdicts))
    }

    fn stream<M: Machine<State = S>>(
        &self,
        by: &Expansion<'_, M>,
        thread: u32,
        from: Option<&K>,
        to: Option<&K>,
    ) -> Stream<K> {
        let reaches = |bound: Option<&K>, otherwise: usize| match bound {
            // Where a full field runs over, the sum still grows with the cut; such a cut has no step to do.
            Some(bound) => self.cuts.partition_point(|cut| cut.bump(by.layout, thread) < *bound),
            None => otherwise,
        };
        let (at, end) = (reaches(from, 0), reaches(to, self.len()));
        let mut stream = Stream { thread, at, next: at, end, event: 0, letter: SILENT, head: None };
        self.advance(by, &mut stream);
        stream
    }

    /// Moves on to the next cut in which the thread's step can happen.
    fn advance<M: Machine<State = S>>(&self, by: &Expansion<'_, M>, stream: &mut Stream<K>) {
        stream.head = None;
        while stream.next < stream.end {
            let cut = &self.cuts[stream.next];
            stream.at = stream.next;
            stream.next += 1;
            while stream.next < stream.end && self.cuts[stream.next] == *cut {
                stream.next += 1;
            }
            let done = |thread| cut.get(by.layout, thread);
            if by.within.is_some_and(|within| done(stream.thread) >= within[stream.thread as usize]) {
                continue;
            }
            if let Some(step) = by.causality.next(stream.thread, done) {
                (stream.event, stream.letter) = (step.event, step.letter);
                stream.head = Some(cut.bump(by.layout, stream.thread));
                return;
            }
        }
    }

    /// Adds what follows from a stream's present cut to the new one, whose entries begin at `first`.
    #[inline]
    fn step<M: Machine<State = S>>(
        &self,
        by: &Expansion<'_, M>,
        stream: &Stream<K>,
        first: usize,
        cut: &K,
        level: &mut Self,
        verdicts: &mut PieceVerdicts<S>,
    ) {
        for at in stream.at..stream.next {
            let before = &self.states[at];
            let (state, categories) = match stream.letter {
                SILENT => (before.clone(), Categories::NONE),
                letter => by.machine.step(before, letter),
            };
            if !categories.is_empty() {
                let (thread, event) = (stream.thread, stream.event);
                let group = ((by.place)(event), categories);
                if !by.known.contains(&group) && (by.all || verdicts.groups.insert(group)) {
                    let cut = by.layout.counts(&self.cuts[at]);
                    verdicts
                        .found
                        .push((group, VerdictAt { cut, state: before.clone(), thread, event, categories }));
                }
            }
            if !level.states[first..].contains(&state) {
                level.cuts.push(cut.clone());
                level.states.push(state);
            }
        }
    }
}

/// What the steps of one thread make of a level: the entries `at..next` are those of the present cut.
struct Stream<K> {
    thread: u32,
    at: usize,
    next: usize,
    end: usize,
    event: u32,
    letter: u32,
    head: Option<K>,
}
