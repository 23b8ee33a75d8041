//! The questions that tests ask.

use std::collections::{BTreeMap, BTreeSet};

use foresee_trace::{EventId, Execution, LockId, Mode, Op};

use crate::facts::{Facts, Rule, exclude};
use crate::search::{Events, Reached, State, has};

/// A deadlock and a schedule that leads to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// After these events the threads block.
    pub schedule: Vec<EventId>,
    /// The blocked acquire (or request that the run never got) of each thread, each waiting for the next one's thread.
    pub blocked: Vec<EventId>,
}

/// Knows all correct reorderings of a tiny execution.
pub struct Oracle<'e> {
    pub(crate) facts: Facts<'e>,
}

impl<'e> Oracle<'e> {
    /// An oracle for an execution of at most 64 events.
    ///
    /// # Panics
    /// If there are more events.
    pub fn new(execution: &'e Execution) -> Self {
        assert!(execution.len() <= Events::BITS as usize, "the oracle is for tiny executions");
        Oracle { facts: Facts::of(execution, Rule::AllReads) }
    }

    /// As [`Oracle::new`], but if there are branch events, only reads that a branch in the schedule depends on must read as
    /// observed. For races and schedules; deadlocks and atomicity stay with the strict rule.
    pub fn by_branches(execution: &'e Execution) -> Self {
        let mut oracle = Oracle::new(execution);
        if execution.ids().any(|id| execution.op(id) == Op::Branch) {
            oracle.facts.rule = Rule::ReadsBeforeBranches;
        }
        oracle
    }

    /// Whether a schedule is a correct reordering, by definition.
    pub fn is_correct(&self, schedule: &[EventId]) -> bool {
        let schedule: Vec<usize> = schedule.iter().map(|id| id.index()).collect();
        self.facts.is_correct(&schedule)
    }

    /// Whether the value or outcome of an event depends on what a read of its thread reads.
    pub fn depends(&self, event: EventId, read: EventId) -> bool {
        self.facts.depends[event.index()].contains(&read.index())
    }

    /// Whether all reads that the `nth` event of a schedule depends on read as observed.
    pub fn is_as_observed(&self, schedule: &[EventId], nth: usize) -> bool {
        let schedule: Vec<usize> = schedule.iter().map(|id| id.index()).collect();
        self.facts.is_as_observed(&schedule, nth)
    }

    /// The pairs of accesses (smaller id first) with which some correct reordering ends, in either order, and which race
    /// there.
    pub fn races(&self) -> BTreeSet<(EventId, EventId)> {
        self.race_witnesses().into_keys().collect()
    }

    /// A correct reordering that ends with the two accesses racing.
    pub fn witness_race(&self, a: EventId, b: EventId) -> Option<Vec<EventId>> {
        self.race_witnesses().remove(&(a.min(b), a.max(b)))
    }

    /// All races, each with a shortest schedule that ends with it.
    pub fn race_witnesses(&self) -> BTreeMap<(EventId, EventId), Vec<EventId>> {
        self.races_after(&match self.facts.rule {
            Rule::AllReads => self.reach_unchanged(|_, _| true),
            Rule::ReadsBeforeBranches => self.facts.reach(|_, _| true),
        })
    }

    /// The races that some correct reordering shows which keeps the observed order of all acquires of the same lock that it
    /// has.
    pub fn sync_preserving_races(&self) -> BTreeSet<(EventId, EventId)> {
        self.races_after(&self.reach_sync_preserving()).into_keys().collect()
    }

    /// The states that keep the observed order of all acquires of the same lock.
    fn reach_sync_preserving(&self) -> Reached {
        self.reach_unchanged(|after, event| {
            let Some(lock) = acquired(self.facts.op(event)) else { return true };
            let later = event + 1..self.facts.execution.len();
            !later.into_iter().any(|e| has(after.done, e) && acquired(self.facts.op(e)) == Some(lock))
        })
    }

    /// The states reached without using the exemption (e).
    ///
    /// For deadlocks, and for races before their last two events, nothing is lost: drop from a correct reordering
    /// every read that reads another write than observed. Each was its thread's last event, so threads keep their
    /// prefixes; no join, no lock and no wait depends on a read; and no read that counts reads what a changed
    /// read-modify-write wrote.
    fn reach_unchanged(&self, allowed: impl Fn(&State, usize) -> bool) -> Reached {
        self.facts.reach(|after, event| after.changed == 0 && allowed(after, event))
    }

    fn races_after(&self, reached: &Reached) -> BTreeMap<(EventId, EventId), Vec<EventId>> {
        let facts = &self.facts;
        let mut races = BTreeMap::new();
        for (number, state) in reached.iter() {
            let nexts = facts.nexts(state);
            for (&first, &second) in nexts.iter().flat_map(|a| nexts.iter().map(move |b| (a, b))) {
                if first == second || !facts.overlap(first, second) {
                    continue;
                }
                let Some(end) = facts.step(state, first).and_then(|state| facts.step(&state, second)) else {
                    continue;
                };
                let access = |event| facts.access(event, has(end.changed, event));
                if let (Some(a), Some(b)) = (access(first), access(second))
                    && a.races(b)
                {
                    let pair = (EventId(first.min(second) as u32), EventId(first.max(second) as u32));
                    races.entry(pair).or_insert_with(|| reached.schedule(number, &[first, second]));
                }
            }
        }
        races
    }

    /// The blocked events (sorted) of every circle of threads that can come to wait for each other.
    pub fn deadlocks(&self) -> BTreeSet<Vec<EventId>> {
        self.deadlock_witnesses().into_keys().collect()
    }

    /// All deadlocks by their sorted blocked events, each with a shortest schedule that leads to it.
    pub fn deadlock_witnesses(&self) -> BTreeMap<Vec<EventId>, Deadlock> {
        self.deadlocks_in(&self.reach_unchanged(|_, _| true))
    }

    /// The deadlocks, as [`deadlocks`](Self::deadlocks), that some correct reordering leads to which keeps the observed
    /// order of all acquires of the same lock that it has.
    pub fn sync_preserving_deadlocks(&self) -> BTreeSet<Vec<EventId>> {
        self.deadlocks_in(&self.reach_sync_preserving()).into_keys().collect()
    }

    fn deadlocks_in(&self, reached: &Reached) -> BTreeMap<Vec<EventId>, Deadlock> {
        let mut deadlocks = BTreeMap::new();
        for (number, state) in reached.iter() {
            for start in 0..self.facts.by_thread.len() {
                self.close_circles(state, &mut vec![start], &mut |circle| {
                    let event = |&t: &usize| self.wanted(state, t).map(|(e, ..)| EventId(e as u32));
                    let blocked: Vec<EventId> = circle.iter().filter_map(event).collect();
                    let mut key = blocked.clone();
                    key.sort_unstable();
                    (deadlocks.entry(key))
                        .or_insert_with(|| Deadlock { schedule: reached.schedule(number, &[]), blocked });
                });
            }
        }
        deadlocks
    }

    /// Extends a chain of threads, each waiting for the next, in every way; reports those that come back to their start.
    fn close_circles(&self, state: &State, chain: &mut Vec<usize>, report: &mut dyn FnMut(&[usize])) {
        let last = chain[chain.len() - 1];
        let Some((_, lock, mode)) = self.wanted(state, last) else { return };
        for holder in 0..self.facts.by_thread.len() {
            let held = self.facts.mode(state, holder, lock);
            if holder == last || !held.is_some_and(|held| exclude(held, mode)) {
                continue;
            }
            if holder == chain[0] {
                report(chain);
            } else if !chain.contains(&holder) {
                chain.push(holder);
                self.close_circles(state, chain, report);
                chain.pop();
            }
        }
    }

    /// The lock that a thread is about to take and does not hold, and the event that names it: the acquire, or the request
    /// if the thread never did anything after it.
    fn wanted(&self, state: &State, thread: usize) -> Option<(usize, LockId, Mode)> {
        let facts = &self.facts;
        if !facts.may_go_on(state, thread) {
            return None;
        }
        let events = &facts.by_thread[thread];
        let progress = facts.progress(state, thread);
        let (done, todo) = events.split_at(progress);
        let op = |event: Option<&usize>| event.map(|&e| facts.op(e));
        let (event, lock, mode) = match (op(todo.first()), op(todo.get(1))) {
            (Some(Op::Acquire { lock, mode, tried: false }), _) => (todo[0], lock, mode),
            (Some(Op::Request { lock, mode }), None) => (todo[0], lock, mode),
            (Some(Op::Request { lock, mode }), next)
                if next == Some(Op::Acquire { lock, mode, tried: false }) =>
            {
                (todo[1], lock, mode)
            }
            (None, _) => match (done.last(), op(done.last())) {
                (Some(&last), Some(Op::Request { lock, mode })) => (last, lock, mode),
                _ => return None,
            },
            _ => return None,
        };
        facts.mode(state, thread, lock).is_none().then_some((event, lock, mode))
    }

    /// Calls `visit` with every correct reordering that cannot be extended. Every prefix of one is correct too, and every
    /// correct reordering is a prefix of one.
    pub fn for_each_maximal(&self, visit: &mut dyn FnMut(&[EventId])) {
        self.extend(&self.facts.start(), &mut Vec::new(), visit);
    }

    fn extend(&self, state: &State, schedule: &mut Vec<EventId>, visit: &mut dyn FnMut(&[EventId])) {
        let mut maximal = true;
        for event in self.facts.nexts(state) {
            if let Some(after) = self.facts.step(state, event) {
                maximal = false;
                schedule.push(EventId(event as u32));
                self.extend(&after, schedule, visit);
                schedule.pop();
            }
        }
        if maximal {
            visit(schedule);
        }
    }
}

fn acquired(op: Op<'_>) -> Option<LockId> {
    match op {
        Op::Acquire { lock, .. } => Some(lock),
        _ => None,
    }
}
