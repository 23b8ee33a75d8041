//! Candidate races: pairs of accesses that nothing obvious keeps apart.
//!
//! Two conflicting accesses of different threads that hold no common lock and that the order which every reordering keeps
//! leaves unordered. Every predictable race is among them; not all of them are races. This is the race detection of
//! RV-Predict (Meredith, Roşu, "Runtime verification with the RV system", 2010) on the weak causality, in
//! one pass.
//!
//! **Never quadratic.** Per cell, accesses are grouped by thread, place, kind and lockset. Each access is compared to the
//! groups that were active there last, [`Effort::groups`] of them, and to the last [`Effort::recent`] accesses of
//! each. Of the pairs found for two places, the nearest and some spread over the run are kept.
//!
//! **Cost.** One pass, constant work per access to a cell that [can race](crate::cells); memory for the groups of each such cell and the pairs of each two places.

use foresee_trace::{Access, EventId, ThreadId};
use rustc_hash::FxHashMap;

use crate::cells::{Accessed, Cells};
use crate::locks::LockHistory;
use crate::locks::LocksetId;
use crate::must::MustClocks;
use foresee_witness::checker::Reads;
use foresee_witness::engine::{Job, Proven};
use foresee_witness::judge::{FindingKind, Place};

/// How far to look.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Groups of accesses kept per cell.
    pub groups: usize,
    /// Accesses kept per group.
    pub recent: usize,
    /// Nearest pairs kept for two places; half as many more are spread over the run.
    pub pairs: usize,
    /// Which writes reads depend on.
    pub reads: Reads,
}

/// Two places where accesses may race.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The places, sorted.
    pub places: (Place, Place),
    /// Pairs of accesses, each in the observed order, most promising first.
    pub pairs: Vec<(EventId, EventId)>,
    /// How many pairs there were.
    pub instances: u64,
}

/// All candidates.
pub struct Candidates {
    /// By their first pair in the observed order.
    pub list: Vec<Candidate>,
    /// Whether the whole run was looked at.
    pub complete: bool,
}

/// How often to look at the clock.
const EVENTS_PER_LOOK: usize = 1 << 16;

impl Candidates {
    /// The candidates of an execution, but for places already proven to race.
    pub fn of(job: &Job<'_>, effort: Effort) -> Candidates {
        let (execution, proven, locks) = (job.execution, job.proven, LockHistory::shared(job));
        let all = Cells::shared(job);
        let mut held = locks.walk();
        let mut clocks = MustClocks::new(execution, effort.reads);
        let mut pairs = Pairs { proven, effort, numbers: FxHashMap::default(), list: Vec::new() };
        let mut cells: Vec<Vec<Group>> = vec![Vec::new(); all.counts.len()];
        let mut complete = true;
        for id in execution.ids() {
            if id.index() % EVENTS_PER_LOOK == 0 && job.budget.is_exhausted() {
                complete = false;
                break;
            }
            if !clocks.begin(id) {
                continue;
            }
            if let Some((var, access)) = execution.access(id) {
                let mut key = None;
                for cell in execution.cells(var) {
                    let Accessed::Openly(number) = all.accessed(cell) else { continue };
                    let thread = execution.thread(id);
                    let key = *key.get_or_insert_with(|| {
                        let place = Place::of_access(execution, id, var);
                        Key { thread, lockset: held.before(thread, id), place, access }
                    });
                    let groups = &mut cells[number as usize];
                    for other in groups.iter().filter(|other| other.key.may_race(&key)) {
                        if locks.locksets.exclude(other.key.lockset, key.lockset) {
                            continue;
                        }
                        for &earlier in other.recent.iter().rev() {
                            if clocks.is_before(other.key.thread, earlier, thread) {
                                break;
                            }
                            pairs.add(other.key.place.pair(key.place), EventId(earlier), id);
                        }
                    }
                    note(groups, key, id, effort);
                }
            }
            clocks.end(id);
        }
        Candidates { list: pairs.list.into_iter().flatten().map(Sample::candidate).collect(), complete }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    thread: ThreadId,
    lockset: LocksetId,
    place: Place,
    access: Access,
}

impl Key {
    fn may_race(&self, other: &Key) -> bool {
        self.thread != other.thread && self.access.races(other.access)
    }
}

/// Accesses of a cell that are alike; the latest are last.
#[derive(Clone)]
struct Group {
    key: Key,
    recent: Vec<u32>,
}

/// Notes an access: the groups stay ordered by their last access.
fn note(groups: &mut Vec<Group>, key: Key, id: EventId, effort: Effort) {
    let mut group = match groups.iter().position(|group| group.key == key) {
        Some(at) => groups.remove(at),
        None if groups.len() >= effort.groups => {
            let mut reused = groups.remove(0);
            reused.key = key;
            reused.recent.clear();
            reused
        }
        None => Group { key, recent: Vec::new() },
    };
    if group.recent.len() >= effort.recent {
        group.recent.remove(0);
    }
    group.recent.push(id.0);
    groups.push(group);
}

struct Pairs<'p> {
    proven: &'p Proven,
    effort: Effort,
    numbers: FxHashMap<(Place, Place), usize>,
    /// `None` for what is proven.
    list: Vec<Option<Sample>>,
}

impl Pairs<'_> {
    fn add(&mut self, places: (Place, Place), first: EventId, second: EventId) {
        let number = *self.numbers.entry(places).or_insert_with(|| {
            let known = self.proven.contains(FindingKind::Race, &[places.0, places.1]);
            self.list.push((!known).then(|| Sample::new(places)));
            self.list.len() - 1
        });
        if let Some(sample) = &mut self.list[number] {
            sample.add(first, second, self.effort.pairs);
        }
    }
}

/// The nearest pairs, and some spread evenly.
struct Sample {
    places: (Place, Place),
    instances: u64,
    /// Sorted by distance.
    nearest: Vec<(u32, EventId, EventId)>,
    spread: Vec<(EventId, EventId)>,
    /// Every so many pairs one is kept for `spread`.
    stride: u64,
}

impl Sample {
    fn new(places: (Place, Place)) -> Self {
        Sample { places, instances: 0, nearest: Vec::new(), spread: Vec::new(), stride: 1 }
    }

    #[inline]
    fn add(&mut self, first: EventId, second: EventId, room: usize) {
        let distance = second.0 - first.0;
        if self.nearest.len() < room || self.nearest.last().is_some_and(|&(worst, ..)| distance < worst) {
            let at = self.nearest.partition_point(|&(other, ..)| other <= distance);
            self.nearest.truncate(room.saturating_sub(1).max(at));
            self.nearest.insert(at, (distance, first, second));
        }
        if self.instances.is_multiple_of(self.stride) {
            if self.spread.len() >= (room / 2).max(1) {
                let mut nth = 0;
                self.spread.retain(|_| {
                    nth += 1;
                    nth % 2 == 1
                });
                self.stride *= 2;
            }
            self.spread.push((first, second));
        }
        self.instances += 1;
    }

    fn candidate(self) -> Candidate {
        let mut pairs: Vec<(EventId, EventId)> = self.nearest.iter().map(|&(_, a, b)| (a, b)).collect();
        for pair in self.spread {
            if !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
        Candidate { places: self.places, pairs, instances: self.instances }
    }
}
