//! Atomic blocks that some correct reordering interleaves unserialisably.
//!
//! The transactions are the outermost atomic blocks; every other event is one of its own. A schedule orders two
//! transactions where an event of one is before a conflicting event of the other, or before it in the same thread. A block on
//! a circle of that order has no serial equivalent.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

use foresee_trace::{EventId, Op};

use crate::facts::exclude;
use crate::oracle::Oracle;
use crate::search::{Events, State, has};

/// A schedule that interleaves an atomic block unserialisably.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interleaving {
    /// The schedule.
    pub schedule: Vec<EventId>,
    /// The conflicts between threads along the circle of transactions; from one to the next it goes on within
    /// a transaction or forward in a thread.
    pub cycle: Vec<(EventId, EventId)>,
}

/// Which earlier events each event of a schedule conflicts with.
type Conflicts = Vec<Events>;

/// A walk through all schedules that differ in the order of conflicting events.
struct Walk<'o, 'e> {
    oracle: &'o Oracle<'e>,
    /// The transaction of each event: the event that begins it.
    transactions: Vec<usize>,
    seen: HashSet<(State, Conflicts)>,
    found: BTreeMap<EventId, Interleaving>,
}

impl Oracle<'_> {
    /// The outermost atomic blocks, by the event that begins them, that lie on a circle of transactions in some correct
    /// reordering.
    pub fn atomicity_violations(&self) -> BTreeSet<EventId> {
        self.atomicity_witnesses().into_keys().collect()
    }

    /// The same, each with a schedule and the circle.
    pub fn atomicity_witnesses(&self) -> BTreeMap<EventId, Interleaving> {
        let mut walk = Walk {
            oracle: self,
            transactions: self.transactions(),
            seen: HashSet::new(),
            found: BTreeMap::new(),
        };
        walk.visit(&self.facts.start(), &vec![0; self.facts.execution.len()], &mut Vec::new());
        walk.found
    }

    fn transactions(&self) -> Vec<usize> {
        let mut transactions: Vec<usize> = (0..self.facts.execution.len()).collect();
        for events in &self.facts.by_thread {
            let mut open: Vec<usize> = Vec::new();
            for &event in events {
                let op = self.facts.op(event);
                if let Op::BlockBegin { .. } | Op::CommitBegin { .. } = op {
                    open.push(event);
                }
                transactions[event] = open.first().copied().unwrap_or(event);
                if let Op::BlockEnd { .. } | Op::CommitEnd { .. } = op {
                    open.pop();
                }
            }
        }
        transactions
    }

    /// Whether two events of different threads, done in this order, cannot be swapped.
    fn conflict(&self, state: &State, first: usize, second: usize) -> bool {
        let facts = &self.facts;
        let access = |event| facts.access(event, has(state.changed, event));
        let memory = match (access(first), access(second)) {
            (Some(a), Some(b)) => a.conflicts(b) && facts.overlap(first, second),
            _ => false,
        };
        let ([before_first, after_first], [before_second, after_second]) =
            (facts.held_around(first), facts.held_around(second));
        let mut gives = before_first.iter().filter(|held| !after_first.contains(held));
        let mut takes = after_second.iter().filter(|held| !before_second.contains(held));
        let locks = match (gives.next(), takes.next()) {
            (Some(&(given, gave)), Some(&(taken, took))) => given == taken && exclude(gave, took),
            _ => false,
        };
        let forks = matches!(facts.op(first), Op::Fork { child } if child.index() == facts.thread(second));
        let joins = matches!(facts.op(second), Op::Join { child } if child.index() == facts.thread(first));
        memory || locks || forks || joins
    }
}

impl Walk<'_, '_> {
    fn visit(&mut self, state: &State, conflicts: &Conflicts, schedule: &mut Vec<usize>) {
        if !self.seen.insert((state.clone(), conflicts.clone())) {
            return;
        }
        let mut maximal = true;
        for event in self.oracle.facts.nexts(state) {
            let Some(after) = self.oracle.facts.step(state, event) else { continue };
            maximal = false;
            let mut with = conflicts.clone();
            for &earlier in schedule.iter() {
                let other = self.oracle.facts.thread(earlier) != self.oracle.facts.thread(event);
                if other && self.oracle.conflict(&after, earlier, event) {
                    with[event] |= 1 << earlier;
                }
            }
            schedule.push(event);
            self.visit(&after, &with, schedule);
            schedule.pop();
        }
        // More events, more order: what a schedule shows, its extensions show.
        if maximal {
            self.judge(conflicts, schedule);
        }
    }

    fn judge(&mut self, conflicts: &Conflicts, schedule: &[usize]) {
        for &begin in schedule {
            let is_block =
                matches!(self.oracle.facts.op(begin), Op::BlockBegin { .. } | Op::CommitBegin { .. })
                    && self.transactions[begin] == begin;
            let block = EventId(begin as u32);
            if is_block
                && !self.found.contains_key(&block)
                && let Some(cycle) = self.circle(begin, conflicts, schedule)
            {
                let schedule = schedule.iter().map(|&e| EventId(e as u32)).collect();
                self.found.insert(block, Interleaving { schedule, cycle });
            }
        }
    }

    /// A shortest circle through a transaction, as the conflicts on it.
    fn circle(
        &self,
        start: usize,
        conflicts: &Conflicts,
        schedule: &[usize],
    ) -> Option<Vec<(EventId, EventId)>> {
        let thread = |event| self.oracle.facts.thread(event);
        let mut reached_by: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        let mut queue = VecDeque::from([start]);
        while let Some(at) = queue.pop_front() {
            for (i, &from) in schedule.iter().enumerate().filter(|&(_, &from)| self.transactions[from] == at)
            {
                for &to in &schedule[i + 1..] {
                    let ordered = thread(from) == thread(to) || has(conflicts[to], from);
                    let next = self.transactions[to];
                    if ordered && next != at && !reached_by.contains_key(&next) {
                        reached_by.insert(next, (from, to));
                        queue.push_back(next);
                    }
                }
            }
        }
        let mut cycle = Vec::new();
        let mut at = start;
        loop {
            let &(from, to) = reached_by.get(&at)?;
            if thread(from) != thread(to) {
                cycle.push((EventId(from as u32), EventId(to as u32)));
            }
            at = self.transactions[from];
            if at == start {
                cycle.reverse();
                return Some(cycle);
            }
        }
    }
}
