//! Lines up a set of events so that a cycle's events come in its order.
//!
//! A greedy replay: of the events that can happen next, the one that is wanted first happens. An event can happen if its
//! lock is free, its read reads what it read in the observed run, its write destroys nothing that someone still has
//! to read, and the cycle allows it. Without a choice ever taken back this may get stuck where an order exists; what it
//! returns is a correct reordering.
//!
//! The set must be closed under the [must-order](crate::order). Then the write that a read saw is the last one before it
//! in the set.

use std::collections::VecDeque;

use foresee_trace::synchronisation::{After, ThreadWalk};
use foresee_trace::{EventId, LockId, Mode, Op, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::cycles::ConflictCycle;
use super::index::{Resource, RunIndex, Use};

/// What is to be lined up.
pub(super) struct Question<'q> {
    /// The events, in the observed order.
    pub(super) events: &'q [EventId],
    pub(super) cycle: ConflictCycle,
    /// Last events of their threads whose reads may change.
    pub(super) may_change: &'q [EventId],
    /// All events of a thread below its bound come first where possible.
    pub(super) first: &'q dyn Fn(EventId) -> bool,
}

type Writer = Option<EventId>;

struct Line<'q> {
    index: &'q RunIndex<'q>,
    question: &'q Question<'q>,
    /// What is left of each thread.
    left: Vec<(ThreadId, VecDeque<EventId>)>,
    done: FxHashSet<EventId>,
    /// What each read has to read.
    reads: FxHashMap<(EventId, Resource), Writer>,
    /// How many reads of a write are left.
    readers: FxHashMap<(Resource, Writer), u32>,
    writers: FxHashMap<Resource, EventId>,
    /// How many threads hold a lock exclusively, and how many share it.
    holders: FxHashMap<Resource, (u32, u32)>,
    /// The fork that a thread's first event comes after, and what events come after because of blind code.
    before: FxHashMap<EventId, SmallVec<[EventId; 1]>>,
    /// Waits, notifies and what follows a wait keep their order.
    around_waits: FxHashMap<LockId, VecDeque<EventId>>,
    /// The conditions of these.
    conditions: FxHashMap<EventId, SmallVec<[LockId; 2]>>,
}

/// The events in an order that shows the cycle, if the greedy way leads to one.
pub(super) fn line_up(index: &RunIndex<'_>, question: &Question<'_>) -> Option<Vec<EventId>> {
    let mut line = Line::new(index, question);
    let mut order = Vec::with_capacity(question.events.len());
    while order.len() < question.events.len() {
        let nexts = line.left.iter().filter_map(|(_, left)| left.front().copied());
        let next = nexts.filter(|&id| line.can_happen(id)).min_by_key(|&id| (!(question.first)(id), id))?;
        line.happen(next);
        order.push(next);
    }
    Some(order)
}

impl<'q> Line<'q> {
    fn new(index: &'q RunIndex<'_>, question: &'q Question<'_>) -> Self {
        let mut line = Line {
            index,
            question,
            left: Vec::new(),
            done: FxHashSet::default(),
            reads: FxHashMap::default(),
            readers: FxHashMap::default(),
            writers: FxHashMap::default(),
            holders: FxHashMap::default(),
            before: FxHashMap::default(),
            around_waits: FxHashMap::default(),
            conditions: FxHashMap::default(),
        };
        let mut places: FxHashMap<ThreadId, usize> = FxHashMap::default();
        let mut walk: ThreadWalk<EventId> = ThreadWalk::new();
        let mut last_write: FxHashMap<Resource, EventId> = FxHashMap::default();
        for &id in question.events {
            let thread = index.execution.thread(id);
            let place = *places.entry(thread).or_insert(line.left.len());
            if place == line.left.len() {
                line.left.push((thread, VecDeque::new()));
            }
            line.left[place].1.push_back(id);
            let op = index.execution.op(id);
            let mut around = SmallVec::new();
            walk.begin(thread, Some(&op), |after| match after {
                After::Fork(&before) | After::Section(&before) | After::Order(&before) => {
                    line.before.entry(id).or_default().push(before);
                }
                After::Notifies { cond, .. } => around.push(cond),
                After::Wait(_) | After::End(_) => {}
            });
            walk.end(thread, Some(&op), || id);
            if let Op::Wait { cond, .. } | Op::Notify { cond, .. } = op {
                around.push(cond);
            }
            if !around.is_empty() {
                around.iter().for_each(|&cond| line.around_waits.entry(cond).or_default().push_back(id));
                line.conditions.insert(id, around);
            }
            index.uses(id, |cell, how| {
                if matches!(how, Use::Reads | Use::Updates) && !question.may_change.contains(&id) {
                    let writer = last_write.get(&cell).copied();
                    line.reads.insert((id, cell), writer);
                    *line.readers.entry((cell, writer)).or_default() += 1;
                }
                if matches!(how, Use::Writes | Use::Updates) {
                    last_write.insert(cell, id);
                }
            });
        }
        line
    }

    fn can_happen(&self, id: EventId) -> bool {
        let ConflictCycle { e1, f1, f2, e3 } = self.question.cycle;
        let in_turn = (id != f1 || self.done.contains(&e1)) && (id != e3 || self.done.contains(&f2));
        in_turn && self.threads_allow(id) && self.waits_allow(id) && self.uses_allow(id)
    }

    fn threads_allow(&self, id: EventId) -> bool {
        let in_place = self.before.get(&id).into_iter().flatten().all(|before| self.done.contains(before));
        let joined = match self.index.execution.op(id) {
            Op::Join { child } => self.left.iter().all(|(thread, left)| *thread != child || left.is_empty()),
            _ => true,
        };
        in_place && joined
    }

    fn waits_allow(&self, id: EventId) -> bool {
        self.conditions.get(&id).into_iter().flatten().all(|cond| {
            self.around_waits.get(cond).and_then(|events| events.front()).is_none_or(|&front| front == id)
        })
    }

    fn uses_allow(&self, id: EventId) -> bool {
        let mut allowed = true;
        self.index.uses(id, |resource, how| {
            allowed &= match how {
                Use::Takes(mode) => {
                    let &(exclusive, shared) = self.holders.get(&resource).unwrap_or(&(0, 0));
                    exclusive == 0 && (shared == 0 || mode == Mode::Shared)
                }
                Use::Gives(_) | Use::Forks | Use::Begins | Use::Ends | Use::Joins => true,
                Use::Reads | Use::Writes | Use::Updates => self.memory_allows(id, resource, how),
            }
        });
        allowed
    }

    fn memory_allows(&self, id: EventId, cell: Resource, how: Use) -> bool {
        let now = self.writers.get(&cell).copied();
        let wanted = self.reads.get(&(id, cell));
        if wanted.is_some_and(|&writer| writer != now) {
            return false;
        }
        let readers = self.readers.get(&(cell, now)).copied().unwrap_or(0);
        how == Use::Reads || readers == u32::from(wanted.is_some())
    }

    fn happen(&mut self, id: EventId) {
        self.done.insert(id);
        let thread = self.index.execution.thread(id);
        if let Some((_, left)) = self.left.iter_mut().find(|(of, _)| *of == thread) {
            left.pop_front();
        }
        for cond in self.conditions.get(&id).into_iter().flatten() {
            if let Some(events) = self.around_waits.get_mut(cond)
                && events.front() == Some(&id)
            {
                events.pop_front();
            }
        }
        let index = self.index;
        index.uses(id, |resource, how| {
            if let Some(writer) = self.reads.get(&(id, resource))
                && let Some(readers) = self.readers.get_mut(&(resource, *writer))
            {
                *readers -= 1;
            }
            if matches!(how, Use::Writes | Use::Updates) {
                self.writers.insert(resource, id);
            }
            let (exclusive, shared) = self.holders.entry(resource).or_default();
            match how {
                Use::Takes(Mode::Exclusive) => *exclusive += 1,
                Use::Takes(Mode::Shared) => *shared += 1,
                Use::Gives(Mode::Exclusive) => *exclusive -= 1,
                Use::Gives(Mode::Shared) => *shared -= 1,
                _ => {}
            }
        });
    }
}
