//! The search through one cell after the other.

use foresee_trace::{Access, EventId, LockId, Mode, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::accesses::{Accesses, Class, Entry};
use crate::ideal::{Choice, Ideal};
use crate::locks::{LockHistory, LocksetId};
use foresee_witness::checker::Schedule;
use foresee_witness::engine::Job;
use foresee_witness::judge::{FindingKind, Place};

/// So many pairs of groups of one cell are tried for a pair of places.
pub const MAX_GROUP_PAIRS: usize = 100_000;
/// Of so many pairs of threads it is kept whether they ever live together.
const MAX_THREAD_PAIRS: usize = 1 << 20;
/// How far back in the list of a cell an access looks for a racing neighbour.
const LOOK_BACK: usize = 4;
/// So many neighbours are tried for a pair of sites before the complete search takes over.
const TRIES: usize = 16;
/// How much an event between the two accesses, which a witness lists and which may order them, costs next to one before.
const GAP_COST: u64 = 100;

/// A race found, not yet judged.
pub(super) struct Race {
    pub(super) places: (Place, Place),
    pub(super) first: EventId,
    pub(super) second: EventId,
    pub(super) witness: Schedule,
}

pub(super) struct Search<'a> {
    job: &'a Job<'a>,
    locks: &'a LockHistory,
    accesses: &'a Accesses<'a>,
    ideal: Ideal<'a>,
    /// Pairs of places that need no search (any more).
    settled: FxHashMap<(Place, Place), bool>,
    excluding: FxHashMap<(LocksetId, LocksetId), bool>,
    /// Whether one of two threads must have ended before the other begins.
    apart: FxHashMap<(ThreadId, ThreadId), bool>,
    /// By class, for those of the cell at hand: how it holds the cell's guard.
    holds: Vec<HoldsGuard>,
    pub(super) races: Vec<Race>,
    pub(super) undecided: u64,
}

/// How the accesses of a class hold the *guard* of a cell, the lock that most classes there hold exclusively. Where a structure has a lock for each of
/// its parts, and takes several of them at once, there are as many locksets as combinations: comparing all of them with each other takes the
/// square of that, and nearly all have the guard in common.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum HoldsGuard {
    Not,
    Shared,
    Exclusively,
}

impl HoldsGuard {
    /// Whether the guard keeps two classes apart.
    fn excludes(self, other: HoldsGuard) -> bool {
        self.max(other) == HoldsGuard::Exclusively && self.min(other) != HoldsGuard::Not
    }
}

/// The accesses of one class to one cell, in order.
struct Group<'a> {
    class: &'a Class,
    holds: HoldsGuard,
    events: Vec<EventId>,
}

/// Two accesses near each other that may race.
struct Neighbours {
    cost: u64,
    sites: (u32, u32),
    first: Entry,
    second: Entry,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        job: &'a Job<'a>,
        locks: &'a LockHistory,
        accesses: &'a Accesses<'a>,
        ideal: Ideal<'a>,
    ) -> Self {
        Search {
            job,
            locks,
            accesses,
            ideal,
            settled: FxHashMap::default(),
            excluding: FxHashMap::default(),
            apart: FxHashMap::default(),
            holds: vec![HoldsGuard::Not; accesses.classes.len()],
            races: Vec::new(),
            undecided: 0,
        }
    }

    /// Finds what races on the `nth` cell and is not known yet.
    pub(super) fn cell(&mut self, nth: usize) {
        let entries = self.accesses.entries(nth);
        let classes = classes(entries);
        let mut open = self.open_pairs(&classes);
        if open.is_empty() {
            return;
        }
        self.find_guard(&classes);
        if self.job.budget.is_exhausted() {
            self.undecided += open.len() as u64;
            return;
        }
        self.try_neighbours(entries, &mut open);
        if !open.is_empty() {
            self.try_all(entries, open);
        }
    }

    /// The pairs of sites of a cell that could race and are not settled.
    fn open_pairs(&mut self, classes: &[u32]) -> FxHashSet<(u32, u32)> {
        let mut sites: Vec<u32> =
            classes.iter().map(|&class| self.accesses.classes[class as usize].site).collect();
        sites.sort_unstable();
        sites.dedup();
        let mut open = FxHashSet::default();
        for (i, &first) in sites.iter().enumerate() {
            for &second in &sites[i..] {
                let (a, b) = (self.accesses.sites[first as usize], self.accesses.sites[second as usize]);
                if a.access.races(b.access) && !self.is_settled(a.place.pair(b.place)) {
                    open.insert((first, second));
                }
            }
        }
        open
    }

    /// Finds the guard of a cell with these classes, and how each of them holds it.
    fn find_guard(&mut self, classes: &[u32]) {
        let held = |class: u32| self.locks.locksets.get(self.accesses.classes[class as usize].lockset);
        let mut holders: FxHashMap<LockId, u32> = FxHashMap::default();
        for &(lock, mode) in classes.iter().flat_map(|&class| held(class)) {
            *holders.entry(lock).or_default() += u32::from(mode == Mode::Exclusive);
        }
        let guard = holders.into_iter().max_by_key(|&(lock, count)| (count, lock)).map(|(lock, _)| lock);
        for &class in classes {
            let mode = held(class).iter().find(|&&(lock, _)| Some(lock) == guard).map(|&(_, mode)| mode);
            self.holds[class as usize] = match mode {
                None => HoldsGuard::Not,
                Some(Mode::Shared) => HoldsGuard::Shared,
                Some(Mode::Exclusive) => HoldsGuard::Exclusively,
            };
        }
    }

    fn guard_excludes(&self, a: Entry, b: Entry) -> bool {
        self.holds[a.class as usize].excludes(self.holds[b.class as usize])
    }

    fn is_settled(&mut self, places: (Place, Place)) -> bool {
        let proven = self.job.proven;
        *(self.settled.entry(places))
            .or_insert_with(|| proven.contains(FindingKind::Race, &[places.0, places.1]))
    }

    /// Whether the locksets of two classes keep their accesses apart.
    fn exclude(&mut self, a: LocksetId, b: LocksetId) -> bool {
        if a == LocksetId::EMPTY || b == LocksetId::EMPTY {
            return false;
        }
        let locksets = &self.locks.locksets;
        *self.excluding.entry((a.min(b), a.max(b))).or_insert_with(|| locksets.exclude(a, b))
    }

    /// Whether accesses of two classes never race: of one thread, under a common lock, or of threads that never live together.
    fn are_apart(&mut self, a: &Class, b: &Class) -> bool {
        if a.thread == b.thread || self.exclude(a.lockset, b.lockset) {
            return true;
        }
        let (a, b) = (a.thread.min(b.thread), a.thread.max(b.thread));
        if let Some(&known) = self.apart.get(&(a, b)) {
            return known;
        }
        // Who is not known to be apart is tried, which is bounded in time and number.
        if self.apart.len() >= MAX_THREAD_PAIRS || self.job.budget.is_exhausted() {
            return false;
        }
        let are_apart = self.ideal.ends_before(a, b) || self.ideal.ends_before(b, a);
        self.apart.insert((a, b), are_apart);
        are_apart
    }

    /// Tries accesses that are near each other, for each pair of sites the most promising ones.
    fn try_neighbours(&mut self, entries: &[Entry], open: &mut FxHashSet<(u32, u32)>) {
        for Neighbours { sites, first, second, .. } in self.neighbours(entries, open) {
            if open.contains(&sites) {
                let (a, b) = (self.accesses.class(first), self.accesses.class(second));
                let choices: [Choice<'_>; 2] = [(a.thread, &[first.event]), (b.thread, &[second.event])];
                if self.race(&choices, self.site_accesses(a, b)) {
                    self.settle(sites, open);
                }
            }
        }
    }

    /// For each open pair of sites the few neighbours that make the cheapest witnesses, cheapest first.
    fn neighbours(&mut self, entries: &[Entry], open: &FxHashSet<(u32, u32)>) -> Vec<Neighbours> {
        let mut best: FxHashMap<(u32, u32), Vec<Neighbours>> = FxHashMap::default();
        let mut full = 0;
        let mut worst = 0;
        for (i, &second) in entries.iter().enumerate() {
            if full == open.len() && u64::from(second.event.0) > worst {
                break;
            }
            for &first in entries[i.saturating_sub(LOOK_BACK)..i].iter().rev() {
                if self.guard_excludes(first, second) {
                    continue;
                }
                let (a, b) = (self.accesses.class(first), self.accesses.class(second));
                let sites = (a.site.min(b.site), a.site.max(b.site));
                if !open.contains(&sites) || self.are_apart(a, b) {
                    continue;
                }
                let gap = u64::from(second.event.0 - first.event.0);
                let cost = u64::from(second.event.0) + GAP_COST * gap;
                let list = best.entry(sites).or_default();
                if list.len() == TRIES && list.last().is_some_and(|last| last.cost <= cost) {
                    continue;
                }
                let at = list.partition_point(|other| other.cost <= cost);
                list.insert(at, Neighbours { cost, sites, first, second });
                full += usize::from(list.len() == TRIES);
                list.truncate(TRIES);
                worst = worst.max(list.last().map_or(0, |last| last.cost));
            }
        }
        let mut all: Vec<Neighbours> = best.into_values().flatten().collect();
        all.sort_unstable_by_key(|pair| (pair.cost, pair.first, pair.second));
        all
    }

    fn site_accesses(&self, a: &Class, b: &Class) -> [Access; 2] {
        [a, b].map(|class| self.accesses.sites[class.site as usize].access)
    }

    /// The places of these sites are settled; so is every pair of sites at the same places.
    fn settle(&mut self, (a, b): (u32, u32), open: &mut FxHashSet<(u32, u32)>) {
        let sites = &self.accesses.sites;
        let places = |a: u32, b: u32| sites[a as usize].place.pair(sites[b as usize].place);
        let settled = places(a, b);
        self.settled.insert(settled, true);
        open.retain(|&(a, b)| places(a, b) != settled);
    }

    fn try_all(&mut self, entries: &[Entry], mut open: FxHashSet<(u32, u32)>) {
        let groups = self.groups(entries);
        let mut pairs: Vec<(u32, u32)> = open.iter().copied().collect();
        pairs.sort_unstable();
        for pair in pairs {
            if open.contains(&pair) {
                match self.try_pair(pair, &groups) {
                    Some(true) => self.settle(pair, &mut open),
                    Some(false) => {}
                    None => self.undecided += 1,
                }
            }
        }
    }

    /// Whether a pair of sites races; `None` if that is too much work.
    fn try_pair(&mut self, (first, second): (u32, u32), groups: &[Group<'a>]) -> Option<bool> {
        let at = |site: u32| {
            let start = groups.partition_point(|group| group.class.site < site);
            &groups[start..start + groups[start..].partition_point(|group| group.class.site == site)]
        };
        let (mut looked_at, mut tried) = (0_u64, 0);
        for (i, a) in at(first).iter().enumerate() {
            let others = if first == second { &at(first)[i + 1..] } else { at(second) };
            // Who holds the guard more strictly comes later.
            let others = &others[..others.partition_point(|b| !a.holds.excludes(b.holds))];
            for b in others {
                looked_at += 1;
                if looked_at.is_multiple_of(1024) && self.job.budget.is_exhausted() {
                    return None;
                }
                let (ours, theirs) = (a.class, b.class);
                if self.are_apart(ours, theirs) {
                    continue;
                }
                tried += 1;
                if tried > MAX_GROUP_PAIRS || (tried % 64 == 0 && self.job.budget.is_exhausted()) {
                    return None;
                }
                let choices: [Choice<'_>; 2] = [(ours.thread, &a.events), (theirs.thread, &b.events)];
                if self.race(&choices, self.site_accesses(ours, theirs)) {
                    return Some(true);
                }
            }
        }
        Some(false)
    }

    /// The groups of a cell: by site, and there by how they hold the guard.
    fn groups(&self, entries: &[Entry]) -> Vec<Group<'a>> {
        let mut sorted = entries.to_vec();
        sorted.sort_unstable();
        let mut groups: Vec<Group<'a>> = (sorted.chunk_by(|a, b| a.class == b.class))
            .map(|chunk| Group {
                class: self.accesses.class(chunk[0]),
                holds: self.holds[chunk[0].class as usize],
                events: chunk.iter().map(|entry| entry.event).collect(),
            })
            .collect();
        groups.sort_by_key(|group| (group.class.site, group.holds));
        groups
    }

    /// Looks for accesses of two groups that can be about to happen, and notes the race.
    fn race(&mut self, choices: &[Choice<'_>; 2], accesses: [Access; 2]) -> bool {
        self.ideal.clear();
        let mut picks = [0, 0];
        let depends_on_update = !(accesses.iter().any(|access| access.writes && !access.reads));
        let found = match accesses.iter().position(|access| access.writes) {
            Some(update) if depends_on_update => self.free_update(choices, &mut picks, update),
            _ => self.ideal.first_free(choices, &mut picks),
        };
        if !found {
            return false;
        }
        let events = [choices[0].1[picks[0]], choices[1].1[picks[1]]];
        let threads = [choices[0].0, choices[1].0];
        let mut witness = if depends_on_update {
            self.ideal.events().into()
        } else {
            self.ideal.schedule(&events, &threads)
        };
        let (first, second) = (events[0].min(events[1]), events[0].max(events[1]));
        witness.push(first);
        witness.push(second);
        let execution = self.job.execution;
        let place = |event| {
            let var = execution.access(event).map(|(var, _)| execution.mem(var).addr);
            Place::new(execution.loc(event), var.unwrap_or(0))
        };
        self.races.push(Race { places: place(first).pair(place(second)), first, second, witness });
        true
    }

    /// As [`Ideal::first_free`], where the race depends on a read-modify-write doing its write.
    fn free_update(&mut self, choices: &[Choice<'_>; 2], picks: &mut [usize; 2], update: usize) -> bool {
        loop {
            let (thread, events) = choices[update];
            let Some(&event) = events.get(picks[update]) else { return false };
            self.ideal.raise_needs(thread, event);
            if !self.ideal.first_free(choices, picks) {
                return false;
            }
            if events[picks[update]] == event {
                if self.reads_as_observed(event) {
                    return true;
                }
                picks[update] += 1;
            }
        }
    }

    /// Whether the ideal ends with the writes that the event read.
    fn reads_as_observed(&self, event: EventId) -> bool {
        let Some((var, _)) = self.job.execution.access(event) else { return false };
        self.job.execution.cells(var).all(|cell| {
            let Some(mut writes) = self.accesses.later_writes(cell, event) else { return false };
            writes.all(|entry| entry.event.0 >= self.ideal.bound(self.accesses.class(entry).thread))
        })
    }
}

/// The classes of these entries, each once.
fn classes(entries: &[Entry]) -> Vec<u32> {
    let mut classes: Vec<u32> = entries.iter().map(|entry| entry.class).collect();
    classes.sort_unstable();
    classes.dedup();
    classes
}
