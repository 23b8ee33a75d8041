//! Rule (f): where blind code keeps critical sections, and itself, in place.
//!
//! Nothing is noted of executions without blind code. Of others, for each lock and thread, where the thread gave the lock up: 4 bytes
//! per section, and 4 more with blind code.

use foresee_trace::{EventId, Execution, LockId, Mode, Op, ThreadId};
use rustc_hash::FxHashMap;

/// Where each thread ended its sections of each mode, in order.
type Ends = FxHashMap<(ThreadId, Mode), Vec<EventId>>;

/// What is known of blind code in the observed run.
#[derive(Clone, Default)]
pub(super) struct BlindCode {
    exists: bool,
    locks: FxHashMap<LockId, Sections>,
    /// The blind code that may have synchronised, in order.
    orders: Vec<EventId>,
}

/// The sections of a lock.
#[derive(Clone, Default)]
struct Sections {
    all: Ends,
    blind: Ends,
}

/// A lock that a thread holds.
struct Held {
    lock: LockId,
    mode: Mode,
    depth: u32,
    is_blind: bool,
}

impl BlindCode {
    /// Of all events of an execution.
    pub(super) fn of(execution: &Execution) -> BlindCode {
        let exists = execution.ids().any(|id| matches!(execution.op(id), Op::Blind { .. }));
        let mut blind = BlindCode { exists, ..BlindCode::default() };
        if !blind.exists {
            return blind;
        }
        let mut threads: FxHashMap<ThreadId, Vec<Held>> = FxHashMap::default();
        for id in execution.ids() {
            let thread = execution.thread(id);
            let held = threads.entry(thread).or_default();
            let of = |lock| held.iter().position(|held| held.lock == lock);
            match execution.op(id) {
                Op::Acquire { lock, mode, .. } => match of(lock) {
                    Some(at) => held[at].depth += 1,
                    None => held.push(Held { lock, mode, depth: 1, is_blind: false }),
                },
                Op::Release { lock, .. } => match of(lock) {
                    Some(at) if held[at].depth > 1 => held[at].depth -= 1,
                    Some(at) => blind.end(thread, held.swap_remove(at), id),
                    None => {}
                },
                Op::Wait { cond, .. } => {
                    if let Some(at) = of(cond) {
                        blind.end(thread, held.swap_remove(at), id);
                    }
                }
                Op::Blind { orders, .. } => {
                    held.iter_mut().for_each(|held| held.is_blind = true);
                    blind.orders.extend(orders.then_some(id));
                }
                _ => {}
            }
        }
        blind
    }

    fn end(&mut self, thread: ThreadId, held: Held, id: EventId) {
        let sections = self.locks.entry(held.lock).or_default();
        sections.all.entry((thread, held.mode)).or_default().push(id);
        if held.is_blind {
            sections.blind.entry((thread, held.mode)).or_default().push(id);
        }
    }

    /// Whether there is any.
    pub(super) fn exists(&self) -> bool {
        self.exists
    }

    /// What blind code of a thread that holds the lock comes after: the last of each thread, as that comes after the others.
    pub(super) fn before_blind(
        &self,
        id: EventId,
        thread: ThreadId,
        lock: LockId,
        mode: Mode,
    ) -> impl Iterator<Item = EventId> + '_ {
        let sections = self.locks.get(&lock);
        sections.into_iter().flat_map(move |sections| earlier(&sections.all, id, thread, mode))
    }

    /// What taking a lock comes after: the same of sections with blind code.
    pub(super) fn before_acquire(
        &self,
        id: EventId,
        thread: ThreadId,
        lock: LockId,
        mode: Mode,
    ) -> impl Iterator<Item = EventId> + '_ {
        let sections = self.locks.get(&lock);
        sections.into_iter().flat_map(move |sections| earlier(&sections.blind, id, thread, mode))
    }

    /// The last blind code before this that may have synchronised.
    pub(super) fn last_order(&self, id: EventId) -> Option<EventId> {
        self.orders[..self.orders.partition_point(|&other| other < id)].last().copied()
    }
}

/// The ends before `id` of sections of other threads that exclude one of this mode.
fn earlier(ends: &Ends, id: EventId, thread: ThreadId, mode: Mode) -> impl Iterator<Item = EventId> + '_ {
    (ends.iter())
        .filter(move |&(&(other, theirs), _)| {
            other != thread && (theirs == Mode::Exclusive || mode == Mode::Exclusive)
        })
        .filter_map(move |(_, ends)| ends[..ends.partition_point(|&end| end < id)].last().copied())
}
