//! Replays a schedule against the rules.

use foresee_trace::{Access, EventId, Execution, LockId, Mode, Op, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::observed::Observed;
use super::{Refusal, Rule, describe};

/// How a thread holds a lock.
#[derive(Clone, Copy)]
struct Held {
    /// Of the outermost acquire.
    mode: Mode,
    depth: u32,
}

/// A lock passes from thread to thread: the outermost acquire takes it, the outermost release or a wait gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Handover {
    Takes(LockId, Mode),
    Gives(LockId, Mode),
}

/// What claims ask about an event of the schedule.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    pub(super) position: usize,
    pub(super) handover: Option<Handover>,
    /// The outermost atomic block around the event, by the event that begins it.
    pub(super) block: Option<EventId>,
}

/// The state of the program after (a part of) the schedule.
pub(super) struct Replay<'a> {
    pub(super) execution: &'a Execution,
    pub(super) observed: &'a Observed,
    /// Each thread's last event so far, and its position.
    last: FxHashMap<ThreadId, (EventId, usize)>,
    writers: FxHashMap<u32, EventId>,
    held: FxHashMap<(ThreadId, LockId), Held>,
    /// How many threads hold a lock exclusively, and how many share it.
    holders: FxHashMap<LockId, (u32, u32)>,
    notified_at: FxHashMap<EventId, usize>,
    /// The outermost block each thread is in, and how many it is in.
    blocks: FxHashMap<ThreadId, (EventId, u32)>,
    /// Exempt reads that read another write than observed.
    changed: FxHashSet<EventId>,
    marks: FxHashMap<EventId, Mark>,
}

/// A broken rule and what is wrong.
type Broken = (Rule, String);

impl<'a> Replay<'a> {
    /// Replays the whole schedule. The threads `going_on` do something after the schedule, so their last reads are not
    /// exempt; the events `watched` get a [`Mark`].
    pub(super) fn run(
        execution: &'a Execution,
        observed: &'a Observed,
        schedule: &[EventId],
        going_on: &[ThreadId],
        watched: &[EventId],
    ) -> Result<Replay<'a>, Refusal> {
        let mut replay = Replay {
            execution,
            observed,
            last: FxHashMap::default(),
            writers: FxHashMap::default(),
            held: FxHashMap::default(),
            holders: FxHashMap::default(),
            notified_at: FxHashMap::default(),
            blocks: FxHashMap::default(),
            changed: FxHashSet::default(),
            marks: FxHashMap::default(),
        };
        let watched: FxHashSet<EventId> = watched.iter().copied().collect();
        let exempt = exempt_positions(execution, schedule, going_on);
        for (position, &id) in schedule.iter().enumerate() {
            let may_change =
                id.index() < execution.len() && exempt.get(&execution.thread(id)) == Some(&position);
            (replay.step(id, position, may_change, watched.contains(&id)))
                .map_err(|(rule, why)| Refusal::Broken { rule, position, why })?;
        }
        Ok(replay)
    }

    fn step(&mut self, id: EventId, position: usize, may_change: bool, watched: bool) -> Result<(), Broken> {
        self.thread_order(id)?;
        let thread = self.execution.thread(id);
        self.threads(id, thread)?;
        let handover = self.locks(id, thread)?;
        self.memory(id, may_change)?;
        if let Op::Notify { .. } = self.execution.op(id) {
            self.notified_at.insert(id, position);
        }
        let block = self.block(id, thread);
        if watched {
            self.marks.insert(id, Mark { position, handover, block });
        }
        self.last.insert(thread, (id, position));
        Ok(())
    }

    /// Rule (a).
    fn thread_order(&self, id: EventId) -> Result<(), Broken> {
        if id.index() >= self.execution.len() {
            let why = format!("there is no event {}: the execution has {}", id.0, self.execution.len());
            return Err((Rule::ThreadOrder, why));
        }
        let expected = self.next(self.execution.thread(id));
        if expected == Some(id) {
            return Ok(());
        }
        let instead = match expected {
            Some(next) => format!("its thread's next is {}", describe(self.execution, next)),
            None => "its thread has done all its events".to_owned(),
        };
        Err((Rule::ThreadOrder, format!("{}, but {instead}", describe(self.execution, id))))
    }

    /// Rule (d).
    fn threads(&self, id: EventId, thread: ThreadId) -> Result<(), Broken> {
        let broken = |why| Err((Rule::Threads, format!("{} {why}", describe(self.execution, id))));
        if let Some(fork) = self.observed.fork(thread)
            && !self.is_done(fork)
        {
            return broken(format!("comes before its thread's fork, event {}", fork.0));
        }
        if let Op::Join { child } = self.execution.op(id)
            && let Some(last) = self.observed.last(child)
            && !self.is_done(last)
        {
            return broken(format!("comes before the joined thread's last event {}", last.0));
        }
        match self.missing_wakeup(thread) {
            Some(notify) => broken(format!("is after a wait that event {} did not wake", notify.0)),
            None => Ok(()),
        }
    }

    /// If the thread is in a wait that cannot return yet: a notify that has to come between the wait and now.
    pub(super) fn missing_wakeup(&self, thread: ThreadId) -> Option<EventId> {
        let &(wait, waits_since) = self.last.get(&thread)?;
        let came = |notify| self.notified_at.get(notify).is_some_and(|&at| at > waits_since);
        self.observed.woken_by(wait).iter().find(|&notify| !came(notify)).copied()
    }

    /// Rule (b).
    fn locks(&mut self, id: EventId, thread: ThreadId) -> Result<Option<Handover>, Broken> {
        match self.execution.op(id) {
            Op::Acquire { lock, mode } => {
                if let Some(held) = self.held.get_mut(&(thread, lock)) {
                    held.depth += 1;
                    return Ok(None);
                }
                let (exclusive, shared) = self.holders.entry(lock).or_default();
                if *exclusive > 0 || (mode == Mode::Exclusive && *shared > 0) {
                    let why = format!("{}, but another thread holds the lock", describe(self.execution, id));
                    return Err((Rule::Locks, why));
                }
                *(if mode == Mode::Exclusive { exclusive } else { shared }) += 1;
                self.held.insert((thread, lock), Held { mode, depth: 1 });
                Ok(Some(Handover::Takes(lock, mode)))
            }
            Op::Release { lock, .. } => match self.held.get_mut(&(thread, lock)) {
                Some(held) if held.depth > 1 => {
                    held.depth -= 1;
                    Ok(None)
                }
                _ => Ok(self.give_up(thread, lock)),
            },
            Op::Wait { cond } => Ok(self.give_up(thread, cond)),
            _ => Ok(None),
        }
    }

    fn give_up(&mut self, thread: ThreadId, lock: LockId) -> Option<Handover> {
        let Held { mode, .. } = self.held.remove(&(thread, lock))?;
        let (exclusive, shared) = self.holders.entry(lock).or_default();
        *(if mode == Mode::Exclusive { exclusive } else { shared }) -= 1;
        Some(Handover::Gives(lock, mode))
    }

    /// Rules (c) and (e).
    fn memory(&mut self, id: EventId, may_change: bool) -> Result<(), Broken> {
        let Some((var, access)) = self.execution.access(id) else { return Ok(()) };
        let cells = self.execution.cells(var);
        if access.reads {
            for (nth, cell) in cells.clone().enumerate() {
                let now = self.writers.get(&cell).copied();
                let unknown = now.is_some_and(|write| self.changed.contains(&write));
                if now == self.observed.read_from(id, nth) && !unknown {
                    continue;
                }
                if !may_change {
                    return Err(self.wrong_read(id, nth, now, unknown));
                }
                self.changed.insert(id);
            }
        }
        if access.writes {
            self.writers.extend(cells.map(|cell| (cell, id)));
        }
        Ok(())
    }

    fn wrong_read(&self, id: EventId, nth: usize, now: Option<EventId>, unknown: bool) -> Broken {
        let read = describe(self.execution, id);
        let writer = |write: Option<EventId>| match write {
            Some(write) => describe(self.execution, write),
            None => "the initial value".to_owned(),
        };
        if unknown {
            let why =
                format!("{read} reads what {} wrote after reading another write than observed", writer(now));
            return (Rule::Exemption, why);
        }
        let observed = writer(self.observed.read_from(id, nth));
        (Rule::Reads, format!("{read} reads from {}; in the execution from {observed}", writer(now)))
    }

    fn block(&mut self, id: EventId, thread: ThreadId) -> Option<EventId> {
        match self.execution.op(id) {
            Op::BlockBegin { .. } => {
                let (begin, depth) = self.blocks.entry(thread).or_insert((id, 0));
                *depth += 1;
                Some(*begin)
            }
            Op::BlockEnd { .. } => {
                let (begin, depth) = self.blocks.get_mut(&thread)?;
                let begin = *begin;
                *depth -= 1;
                if *depth == 0 {
                    self.blocks.remove(&thread);
                }
                Some(begin)
            }
            _ => self.blocks.get(&thread).map(|&(begin, _)| begin),
        }
    }

    /// Whether the event is in the schedule so far: each thread has done a prefix.
    pub(super) fn is_done(&self, id: EventId) -> bool {
        self.last(self.execution.thread(id)).is_some_and(|last| last >= id)
    }

    /// The last event of a thread in the schedule.
    pub(super) fn last(&self, thread: ThreadId) -> Option<EventId> {
        self.last.get(&thread).map(|&(last, _)| last)
    }

    /// What a thread does after the schedule, in the execution.
    pub(super) fn next(&self, thread: ThreadId) -> Option<EventId> {
        self.observed.next(thread, self.last(thread))
    }

    /// How a thread holds a lock after the schedule.
    pub(super) fn holds(&self, thread: ThreadId, lock: LockId) -> Option<Mode> {
        self.held.get(&(thread, lock)).map(|held| held.mode)
    }

    /// What is known of a watched event, if it is in the schedule.
    pub(super) fn mark(&self, id: EventId) -> Option<Mark> {
        self.marks.get(&id).copied()
    }

    /// How an event accesses memory in this schedule: a read-modify-write that read another write than observed may not
    /// have written.
    pub(super) fn access(&self, id: EventId) -> Option<Access> {
        let (_, mut access) = self.execution.access(id)?;
        access.writes &= !self.changed.contains(&id);
        Some(access)
    }

    /// Whether two events touch a common byte.
    pub(super) fn overlap(&self, a: EventId, b: EventId) -> bool {
        match (self.execution.access(a), self.execution.access(b)) {
            (Some((a, _)), Some((b, _))) => self.execution.overlap(a, b),
            _ => false,
        }
    }
}

/// Rule (e): the position of each thread's last event, but for threads whose fate depends on what they read last.
fn exempt_positions(
    execution: &Execution,
    schedule: &[EventId],
    going_on: &[ThreadId],
) -> FxHashMap<ThreadId, usize> {
    let mut last = FxHashMap::default();
    let mut depended_on: FxHashSet<ThreadId> = going_on.iter().copied().collect();
    for (position, &id) in schedule.iter().enumerate().filter(|(_, id)| id.index() < execution.len()) {
        last.insert(execution.thread(id), position);
        if let Op::Join { child } = execution.op(id) {
            depended_on.insert(child);
        }
    }
    last.retain(|thread, _| !depended_on.contains(thread));
    last
}
