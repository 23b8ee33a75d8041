//! The runs that a causality model allows, by definition, event by event: nothing is folded, nothing is packed.

use std::collections::{BTreeSet, HashSet};
use std::hash::Hash;

use foresee_trace::{EventId, LockId, Mode, Op};

use crate::facts::{Facts, Rule, exclude};
use crate::oracle::Oracle;
use crate::search::{Events, has};

/// A causality model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Causality {
    /// Conflicting accesses and lock operations stay in order.
    HappensBefore,
    /// A read follows its write; a write with its reads, and a critical section, is not interrupted.
    Weak,
}

impl Oracle<'_> {
    /// The events at which a monitor has something to tell in some run of the model. `step` leads from state to state and says
    /// whether it tells something. Only accesses that `counts` says count.
    pub fn told<S: Clone + Eq + Hash>(
        &self,
        model: Causality,
        counts: &dyn Fn(EventId) -> bool,
        start: S,
        step: impl Fn(&S, EventId) -> (S, bool),
    ) -> BTreeSet<EventId> {
        let mut facts = Facts::of(self.facts.execution, Rule::AllReads);
        for (event, touch) in facts.touches.iter_mut().enumerate() {
            if !counts(EventId(event as u32)) {
                *touch = None;
            }
        }
        let mut told = BTreeSet::new();
        let mut seen: HashSet<(Events, S)> = HashSet::from([(0, start.clone())]);
        let mut open = vec![(0, start)];
        while let Some((done, state)) = open.pop() {
            for event in (0..facts.execution.len()).filter(|&e| facts.may_come(model, done, e)) {
                let id = EventId(event as u32);
                let (next, tells) = step(&state, id);
                if tells {
                    told.insert(id);
                }
                let entry = (done | 1 << event, next);
                if seen.insert(entry.clone()) {
                    open.push(entry);
                }
            }
        }
        told
    }

    /// Whether one event comes before another in every run of happens-before, directly or not.
    pub fn happens_before(&self, earlier: EventId, later: EventId) -> bool {
        let (mut reached, target): (Events, _) = (1 << earlier.index(), later.index());
        for event in earlier.index() + 1..=target {
            let after = (0..event).any(|e| has(reached, e) && self.facts.is_ordered(e, event));
            reached |= Events::from(after) << event;
        }
        earlier < later && has(reached, target)
    }
}

impl Facts<'_> {
    fn may_come(&self, model: Causality, done: Events, event: usize) -> bool {
        let later = |e: &usize| *e > event;
        if has(done, event)
            || !self.by_thread[self.thread(event)]
                .iter()
                .take_while(|e| !later(e))
                .all(|&e| e == event || has(done, e))
        {
            return false;
        }
        match model {
            Causality::HappensBefore => (0..event).all(|e| has(done, e) || !self.is_ordered(e, event)),
            Causality::Weak => {
                (0..event).all(|e| has(done, e) || !self.is_synchronised(e, event))
                    && self.keeps_turns_of_cells(done, event)
                    && self.keeps_sections(done, event)
            }
        }
    }

    /// Whether happens-before puts the earlier one of two events directly before the other.
    fn is_ordered(&self, a: usize, b: usize) -> bool {
        let conflicts = match (&self.touches[a], &self.touches[b]) {
            (Some(x), Some(y)) => self.overlap(a, b) && (x.access.writes || y.access.writes),
            _ => false,
        };
        let locks = self.handovers(a).iter().any(|&(lock, mode)| {
            self.handovers(b).iter().any(|&(other, other_mode)| lock == other && exclude(mode, other_mode))
        });
        self.thread(a) == self.thread(b) || conflicts || locks || self.is_synchronised(a, b)
    }

    /// Fork, join, wake-up and blind code, directly.
    fn is_synchronised(&self, a: usize, b: usize) -> bool {
        let forked = self.forks[self.thread(b)] == Some(a);
        let joined = matches!(self.op(b), Op::Join { child } if child.index() == self.thread(a));
        let wakes = self.wakeups[a].contains(&b);
        let last = self.by_thread[self.thread(b)].iter().rev().find(|&&e| e < b);
        let woken = last.is_some_and(|&wait| self.wakeups[wait].contains(&a));
        forked || joined || wakes || woken || self.blind[b].contains(&a)
    }

    /// The locks that an event takes or gives up.
    fn handovers(&self, event: usize) -> Vec<(LockId, Mode)> {
        let [before, after] = self.held_around(event);
        let is_in = |held: &[(LockId, Mode)], lock| held.iter().any(|&(other, _)| other == lock);
        let gives = before.iter().filter(|&&(lock, _)| !is_in(after, lock));
        gives.chain(after.iter().filter(|&&(lock, _)| !is_in(before, lock))).copied().collect()
    }

    fn keeps_turns_of_cells(&self, done: Events, event: usize) -> bool {
        let Some(touch) = &self.touches[event] else { return true };
        touch.cells.iter().all(|&cell| {
            let writes = (0..self.execution.len()).filter(|&e| self.writes_to(e, cell));
            let mine = self.read_in(event, cell);
            let reads_after_write = match mine {
                Some(Some(write)) => has(done, write),
                _ => true,
            };
            // The initial value counts as a write that has always been there.
            let mut begun = writes.filter(|&write| has(done, write)).map(Some).chain([None]);
            reads_after_write
                && begun.all(|write| {
                    let is_part = mine == Some(write);
                    let others = (0..self.execution.len())
                        .filter(|&e| e != event && self.read_in(e, cell) == Some(write));
                    let mut left = others.filter(|&e| !has(done, e));
                    (is_part && !touch.access.writes) || left.next().is_none()
                })
        })
    }

    fn writes_to(&self, event: usize, cell: usize) -> bool {
        self.touches[event].as_ref().is_some_and(|touch| touch.access.writes && touch.cells.contains(&cell))
    }

    /// If the event reads the cell: which write it read there.
    fn read_in(&self, event: usize, cell: usize) -> Option<Option<usize>> {
        let touch = self.touches[event].as_ref().filter(|touch| touch.access.reads)?;
        let at = touch.cells.iter().position(|&other| other == cell)?;
        Some(touch.observed[at])
    }

    fn keeps_sections(&self, done: Events, event: usize) -> bool {
        let [before, after] = self.held_around(event);
        let taken = after.iter().filter(|taken| !before.iter().any(|held| held.0 == taken.0));
        let others = || (0..self.by_thread.len()).filter(|&t| t != self.thread(event));
        let holds = |t: usize| &self.held[t][self.by_thread[t].iter().filter(|&&e| has(done, e)).count()];
        taken.into_iter().all(|&(lock, mode)| {
            others().flat_map(holds).all(|&(other, held)| other != lock || !exclude(held, mode))
        })
    }
}
