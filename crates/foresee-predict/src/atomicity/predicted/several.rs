//! ConflictCycles over two resources: `e1` and `f1` conflict about one, `f2` and `e3` about another one (or the same lock).
//!
//! Tried are the first blocks of each place and thread. For each `e3` of such a block the uses of the same resource that
//! are nearest in the observed order stand for all others; around each, `f1` is looked for in the same block or a
//! little earlier in the thread. One cycle is enough for each block, `f2` and `e3`, by their places.

use std::collections::BTreeMap;

use foresee_trace::{EventId, Op, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::cycles::{ConflictCycle, ConflictCycles};
use super::index::{Block, Resource, RunIndex, Use};
use super::line::{Question, line_up};
use crate::ideal::Ideal;
use foresee_witness::checker::Schedule;
use foresee_witness::judge::Place;

/// So many blocks of each place are tried for each thread.
const BLOCKS: u32 = 4;
/// So many different uses of a block are looked at.
const USES: usize = 48;
/// So many uses of a resource by other threads, before and after the block's, are tried as `f2`.
const NEIGHBOURS: usize = 6;
/// So many events before `f2` in its thread are tried as `f1`, where they are not in the same block.
const EARLIER: usize = 32;
/// So many cycles that close at the same places are tried.
const ATTEMPTS: u32 = 24;
/// Larger sets of events are not lined up anew.
const MOST_EVENTS: usize = 2000;

/// An event's use of a resource.
#[derive(Clone, Copy)]
struct Used {
    event: EventId,
    resource: Resource,
    how: Use,
}

struct Search<'a, 'j> {
    index: &'a RunIndex<'a>,
    cycles: &'a mut ConflictCycles<'j>,
    ideal: Ideal<'a>,
    /// What must happen for `e1`.
    start: Ideal<'a>,
    /// How often cycles were tried that close where the block, `f2` and `e3` are; one that was found ends it.
    attempts: FxHashMap<[Place; 3], u32>,
    /// Those of them for which a cycle was given up.
    given_up: FxHashSet<[Place; 3]>,
}

/// Why there is no witness.
enum Failure {
    None,
    TooLarge,
}

pub(super) fn search(index: &RunIndex<'_>, cycles: &mut ConflictCycles<'_>) {
    let ideal = || Ideal::new(index.order, index.locks);
    let mut search = Search {
        index,
        cycles,
        ideal: ideal(),
        start: ideal(),
        attempts: FxHashMap::default(),
        given_up: FxHashSet::default(),
    };
    'threads: for (thread, blocks) in index.blocks.iter().enumerate() {
        let mut seen: BTreeMap<Place, u32> = BTreeMap::new();
        for block in blocks {
            if search.cycles.job.budget.is_exhausted() {
                search.cycles.undecided += 1;
                break 'threads;
            }
            let seen = seen.entry(block.place).or_default();
            *seen += 1;
            if *seen <= BLOCKS {
                search.block(ThreadId(thread as u32), *block);
            }
        }
    }
    search.cycles.undecided += search.given_up.len() as u64;
}

impl Search<'_, '_> {
    fn block(&mut self, thread: ThreadId, block: Block) {
        let uses = self.uses(thread, block);
        for &last in &uses {
            for f2 in self.neighbours(last) {
                if self.cycles.job.budget.is_exhausted() {
                    self.cycles.undecided += 1;
                    return;
                }
                let way = self.way_to(f2.event);
                for &f1 in &way {
                    for &first in uses.iter().filter(|first| first.event < last.event) {
                        if first.resource == f1.resource && first.how.conflicts(f1.how) {
                            self.attempt(block, [first, f1, f2, last]);
                        }
                    }
                }
            }
        }
    }

    /// The different uses of a block, each where it is first.
    fn uses(&self, thread: ThreadId, block: Block) -> Vec<Used> {
        let mut uses = Vec::new();
        let mut seen = FxHashSet::default();
        for event in self.index.order.events(thread, block.begin.0, block.bound) {
            let place = self.index.place(event);
            self.index.uses(event, |resource, how| {
                let shared = !self.index.users[resource as usize].is_empty();
                if shared && uses.len() < USES && seen.insert((place, resource, how)) {
                    uses.push(Used { event, resource, how });
                }
            });
            if uses.len() >= USES {
                break;
            }
        }
        uses
    }

    /// Uses by other threads that conflict if they come before `last`.
    fn neighbours(&self, last: Used) -> Vec<Used> {
        let thread = self.index.execution.thread(last.event);
        let users = &self.index.users[last.resource as usize];
        let at = users.partition_point(|&user| user < last.event);
        let conflicting = |&event: &EventId| {
            let how = self.index.how(event, last.resource)?;
            let other = self.index.execution.thread(event) != thread;
            (other && how.conflicts(last.how)).then_some(Used { event, resource: last.resource, how })
        };
        let near = 8 * NEIGHBOURS;
        let before = users[..at].iter().rev().take(near).filter_map(conflicting).take(NEIGHBOURS);
        let after = users[at..].iter().take(near).filter_map(conflicting).take(NEIGHBOURS);
        before.chain(after).collect()
    }

    /// The uses from which a cycle can go on to `f2`.
    fn way_to(&self, f2: EventId) -> Vec<Used> {
        let index = self.index;
        let thread = index.execution.thread(f2);
        let mut events: Vec<EventId> = match index.block(f2) {
            Some(block) => index.order.events(thread, block.begin.0, block.bound).take(USES).collect(),
            None => Vec::new(),
        };
        let earliest = f2.0.saturating_sub((EARLIER * index.order.threads().min(64)) as u32);
        let earlier: Vec<EventId> = index.order.events(thread, earliest, f2.0 + 1).collect();
        events.extend(earlier.iter().rev().take(EARLIER));
        events.extend(index.first(thread));
        events.sort_unstable();
        events.dedup();
        let mut way = Vec::new();
        for event in events {
            index.uses(event, |resource, how| {
                if !index.users[resource as usize].is_empty() {
                    way.push(Used { event, resource, how });
                }
            });
        }
        way
    }

    fn attempt(&mut self, block: Block, uses: [Used; 4]) {
        let [e1, f1, f2, e3] = uses.map(|used| used.event);
        let closes = [block.place, self.index.place(f2), self.index.place(e3)];
        let attempts = self.attempts.entry(closes).or_default();
        if *attempts >= ATTEMPTS {
            return;
        }
        let mut places: Vec<Place> = [e1, f1].map(|event| self.index.place(event)).to_vec();
        places.extend(closes);
        places.sort_unstable();
        places.dedup();
        if self.cycles.is_settled(&places) {
            return;
        }
        *attempts += 1;
        if self.cycles.job.budget.is_exhausted() {
            self.given_up.insert(closes);
            return;
        }
        match self.witness(uses) {
            Ok(witness) => {
                self.attempts.insert(closes, ATTEMPTS);
                self.given_up.remove(&closes);
                self.cycles.add(ConflictCycle { e1, f1, f2, e3 }, places, witness);
            }
            Err(Failure::TooLarge) => {
                self.given_up.insert(closes);
            }
            Err(Failure::None) => {}
        }
    }

    fn witness(&mut self, [first, f1, f2, last]: [Used; 4]) -> Result<Schedule, Failure> {
        let cycle = ConflictCycle { e1: first.event, f1: f1.event, f2: f2.event, e3: last.event };
        let (ours, theirs) = (self.index.execution.thread(last.event), self.index.execution.thread(f2.event));
        let their_last = f1.event.max(f2.event);
        // An update that is its thread's last event may read something else and not write. Where its write is needed, it
        // has to read as observed; and so has a thread that is joined.
        let our_write = !f2.how.conflicts(last.how.at_least());
        let their_write = (their_last == f1.event && !first.how.conflicts(f1.how.at_least()))
            || (their_last == f2.event && !f2.how.at_least().conflicts(last.how.at_least()))
            || last.how == Use::Joins;
        self.ideal.clear();
        for (thread, event, write) in [(ours, last.event, our_write), (theirs, their_last, their_write)] {
            self.ideal.raise(thread, event.0);
            // An acquire may have to come after sections with blind code.
            if write || matches!(self.index.execution.op(event), Op::Acquire { .. }) {
                self.ideal.raise_needs(thread, event);
            }
        }
        if !self.ideal.close() || self.ideal.bound(ours) > last.event.0 {
            return Err(Failure::None);
        }
        let theirs_is_free = self.ideal.bound(theirs) <= their_last.0;
        let in_order = first.event < f1.event || (f1.event == their_last && theirs_is_free);
        let is_access = |used: Used| self.index.execution.access(used.event).is_some();
        let their_use = if their_last == f1.event { f1 } else { f2 };
        if in_order && theirs_is_free && is_access(their_use) && is_access(last) && !our_write && !their_write
        {
            let mut witness = self.ideal.schedule(&[last.event, their_last], &[ours, theirs]);
            witness.push(their_last);
            witness.push(last.event);
            return Ok(witness);
        }
        let mut events = self.ideal.events();
        if events.len() > MOST_EVENTS {
            return Err(Failure::TooLarge);
        }
        let mut may_change = Vec::new();
        for (event, is_free, write) in
            [(last.event, true, our_write), (their_last, theirs_is_free, their_write)]
        {
            if is_free {
                events.push(event);
            }
            if is_free && !write {
                may_change.push(event);
            }
        }
        events.sort_unstable();
        self.line_up(&events, cycle, &may_change).map(Schedule::from).ok_or(Failure::None)
    }

    fn line_up(
        &mut self,
        events: &[EventId],
        cycle: ConflictCycle,
        may_change: &[EventId],
    ) -> Option<Vec<EventId>> {
        let index = self.index;
        let question = |first| Question { events, cycle, may_change, first };
        if let Some(order) = line_up(index, &question(&|_| false)) {
            return Some(order);
        }
        self.start.clear();
        self.start.raise(index.execution.thread(cycle.e1), cycle.e1.0 + 1);
        if !self.start.close() {
            return None;
        }
        let start = &self.start;
        line_up(index, &question(&|id| id.0 < start.bound(index.execution.thread(id))))
    }
}
