//! Replays a schedule against the rules.

use foresee_trace::{Access, Event, EventId, Execution, LockId, Mode, Op, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::exempt::Exempt;
use super::observed::Observed;
use super::refusal::{Refusal, Rule, describe};
use super::values::{Reads, is_atomic, seen, writes_a_value, written};

/// How a thread holds a lock.
#[derive(Clone, Copy)]
struct HeldLock {
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
    reads: Reads,
    length: usize,
    /// Each thread's last event so far, and its position.
    last: FxHashMap<ThreadId, (EventId, usize)>,
    /// The last write of each cell.
    writers: FxHashMap<u32, EventId>,
    /// The same before this replay branched off: holds where `writers` has none.
    earlier_writers: Option<&'a FxHashMap<u32, EventId>>,
    held: FxHashMap<(ThreadId, LockId), HeldLock>,
    /// How many threads hold a lock exclusively, and how many share it.
    holders: FxHashMap<LockId, (u32, u32)>,
    notified_at: FxHashMap<EventId, usize>,
    /// The outermost block each thread is in, and how many it is in.
    blocks: FxHashMap<ThreadId, (EventId, u32)>,
    /// Exempt reads that read another write than observed, and what their threads wrote then.
    changed: FxHashSet<EventId>,
    /// The threads of these reads.
    changed_threads: FxHashSet<ThreadId>,
    marks: FxHashMap<EventId, Mark>,
}

/// A broken rule and what is wrong.
type Broken = (Rule, String);

impl<'a> Replay<'a> {
    /// Nothing replayed yet.
    pub(super) fn new(execution: &'a Execution, observed: &'a Observed) -> Replay<'a> {
        Replay {
            execution,
            observed,
            length: 0,
            last: FxHashMap::default(),
            writers: FxHashMap::default(),
            reads: Reads::SameWrite,
            earlier_writers: None,
            held: FxHashMap::default(),
            holders: FxHashMap::default(),
            notified_at: FxHashMap::default(),
            blocks: FxHashMap::default(),
            changed: FxHashSet::default(),
            changed_threads: FxHashSet::default(),
            marks: FxHashMap::default(),
        }
    }

    /// Replays more events. Stops at the first that breaks a rule. The events `watched` get a [`Mark`].
    pub(super) fn go_on(
        &mut self,
        schedule: &[EventId],
        exempt: &Exempt,
        watched: &[EventId],
    ) -> Result<(), Refusal> {
        let watched: FxHashSet<EventId> = watched.iter().copied().collect();
        for (nth, &id) in schedule.iter().enumerate() {
            let may_change =
                id.index() < self.execution.len() && exempt.contains(id, self.execution.thread(id), nth);
            let position = self.length;
            (self.step(id, position, may_change, watched.contains(&id)))
                .map_err(|(rule, why)| Refusal::Broken { rule, position, why })?;
            self.length += 1;
        }
        Ok(())
    }

    /// With this choice of what reads must read.
    pub(super) fn reading(self, reads: Reads) -> Replay<'a> {
        Replay { reads, ..self }
    }

    /// What reads must read.
    pub(super) fn reads(&self) -> Reads {
        self.reads
    }

    /// Rule (c′): whether the read sees the observed value in this write.
    fn is_same_value(&self, read: EventId, now: Option<EventId>) -> bool {
        let Some(now) = now.filter(|_| self.reads == Reads::Relaxed) else { return false };
        if self.observed.blind.exists() && is_atomic(self.execution, read) {
            return false;
        }
        let saw = seen(self.execution, read, self.observed.only_write(read));
        saw.is_some() && saw == written(self.execution, now)
    }

    /// The same state, to go on differently. Costs nothing per cell.
    pub(super) fn branch(&self) -> Replay<'_> {
        debug_assert!(self.earlier_writers.is_none(), "branches do not branch");
        Replay {
            execution: self.execution,
            observed: self.observed,
            reads: self.reads,
            length: self.length,
            last: self.last.clone(),
            writers: FxHashMap::default(),
            earlier_writers: Some(&self.writers),
            held: self.held.clone(),
            holders: self.holders.clone(),
            notified_at: self.notified_at.clone(),
            blocks: self.blocks.clone(),
            changed: self.changed.clone(),
            changed_threads: self.changed_threads.clone(),
            marks: self.marks.clone(),
        }
    }

    fn writer(&self, cell: u32) -> Option<EventId> {
        let written = self.writers.get(&cell).or_else(|| self.earlier_writers?.get(&cell));
        written.copied()
    }

    /// How many events have been replayed.
    pub(super) fn len(&self) -> usize {
        self.length
    }

    fn step(&mut self, id: EventId, position: usize, may_change: bool, watched: bool) -> Result<(), Broken> {
        self.thread_order(id)?;
        let Event { thread, op, .. } = self.execution.event(id);
        self.threads(id, thread, op)?;
        let handover = self.locks(id, thread, op)?;
        self.blind_code(id, thread, op, handover)?;
        self.memory(id, thread, may_change)?;
        if let Op::Notify { .. } = op {
            self.notified_at.insert(id, position);
        }
        let block = self.block(id, thread, op);
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
    fn threads(&self, id: EventId, thread: ThreadId, op: Op<'_>) -> Result<(), Broken> {
        let broken = |why| Err((Rule::Threads, format!("{} {why}", describe(self.execution, id))));
        if let Some(fork) = self.observed.fork(thread)
            && !self.is_done(fork)
        {
            return broken(format!("comes before its thread's fork, event {}", fork.0));
        }
        if let Op::Join { child } = op
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
    fn locks(&mut self, id: EventId, thread: ThreadId, op: Op<'_>) -> Result<Option<Handover>, Broken> {
        match op {
            Op::Acquire { lock, mode, .. } => {
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
                self.held.insert((thread, lock), HeldLock { mode, depth: 1 });
                Ok(Some(Handover::Takes(lock, mode)))
            }
            Op::Release { lock, .. } => match self.held.get_mut(&(thread, lock)) {
                Some(held) if held.depth > 1 => {
                    held.depth -= 1;
                    Ok(None)
                }
                _ => Ok(self.give_up(thread, lock)),
            },
            Op::Wait { cond, .. } => Ok(self.give_up(thread, cond)),
            _ => Ok(None),
        }
    }

    fn give_up(&mut self, thread: ThreadId, lock: LockId) -> Option<Handover> {
        let HeldLock { mode, .. } = self.held.remove(&(thread, lock))?;
        let (exclusive, shared) = self.holders.entry(lock).or_default();
        *(if mode == Mode::Exclusive { exclusive } else { shared }) -= 1;
        Some(Handover::Gives(lock, mode))
    }

    /// Rule (f).
    fn blind_code(
        &self,
        id: EventId,
        thread: ThreadId,
        op: Op<'_>,
        handover: Option<Handover>,
    ) -> Result<(), Broken> {
        let blind = &self.observed.blind;
        if !blind.exists() {
            return Ok(());
        }
        let broken = |why: String| Err((Rule::Blind, format!("{} {why}", describe(self.execution, id))));
        let missing = |end: &EventId| !self.is_done(*end);
        if let Some(Handover::Takes(lock, mode)) = handover
            && let Some(end) = blind.before_acquire(id, thread, lock, mode).find(missing)
        {
            return broken(format!("comes before a section with blind code that ended with event {}", end.0));
        }
        let Op::Blind { orders, .. } = op else { return Ok(()) };
        let mut held = self.held.iter().filter(|((of, _), _)| *of == thread);
        let end =
            held.find_map(|(&(_, lock), held)| blind.before_blind(id, thread, lock, held.mode).find(missing));
        if let Some(end) = end {
            return broken(format!(
                "is in a section that comes before one of the same lock that ended with event {}",
                end.0
            ));
        }
        match blind.last_order(id).filter(|last| orders && missing(last)) {
            Some(last) => broken(format!("comes before other blind code, event {}", last.0)),
            None => Ok(()),
        }
    }

    /// Rules (c) and (e).
    fn memory(&mut self, id: EventId, thread: ThreadId, may_change: bool) -> Result<(), Broken> {
        let Some((var, access)) = self.execution.access(id) else { return Ok(()) };
        let cells = self.execution.cells(var);
        if access.reads {
            for (nth, cell) in cells.clone().enumerate() {
                let now = self.writer(cell);
                let unknown = now.is_some_and(|write| self.changed.contains(&write));
                let as_observed = now == self.observed.read_from(id, nth) || self.is_same_value(id, now);
                if as_observed && !unknown {
                    continue;
                }
                if !may_change {
                    return Err(self.wrong_read(id, nth, now, unknown));
                }
                self.changed.insert(id);
                self.changed_threads.insert(thread);
            }
        }
        if access.writes {
            let unknown = match self.observed.dependences.reads(id) {
                Some(reads) => reads.iter().any(|read| self.changed.contains(read)),
                None => self.changed_threads.contains(&thread),
            };
            if writes_a_value(self.execution, id) && unknown {
                self.changed.insert(id);
            }
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

    fn block(&mut self, id: EventId, thread: ThreadId, op: Op<'_>) -> Option<EventId> {
        let atomic = |function| self.observed.atomic_functions.contains(&function);
        let (begins, ends) = match op {
            Op::BlockBegin { .. } | Op::CommitBegin { .. } => (true, false),
            Op::BlockEnd { .. } | Op::CommitEnd { .. } => (false, true),
            Op::Enter { function } => (atomic(function), false),
            Op::Exit { function } => (false, atomic(function)),
            _ => (false, false),
        };
        if begins {
            let (begin, depth) = self.blocks.entry(thread).or_insert((id, 0));
            *depth += 1;
            return Some(*begin);
        }
        let (begin, depth) = self.blocks.get_mut(&thread)?;
        let begin = *begin;
        if ends {
            *depth -= 1;
            if *depth == 0 {
                self.blocks.remove(&thread);
            }
        }
        Some(begin)
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

    /// How an event accesses memory in this schedule: a read-modify-write that depends on a read of another write than observed
    /// may not have written.
    pub(super) fn access(&self, id: EventId) -> Option<Access> {
        let (_, mut access) = self.execution.access(id)?;
        access.writes &= !(access.reads && self.changed.contains(&id));
        Some(access)
    }

    /// Whether the event depends on a read of another write than observed: one of its thread, at this event or before.
    pub(super) fn is_unknown(&self, id: EventId) -> bool {
        let thread = self.execution.thread(id);
        let before = |&&changed: &&EventId| changed <= id && self.execution.thread(changed) == thread;
        match self.observed.dependences.reads(id) {
            Some(reads) => reads.iter().chain([&id]).any(|read| self.changed.contains(read)),
            None => self.changed.iter().any(|changed| before(&changed)),
        }
    }

    /// Whether two events touch a common byte.
    pub(super) fn overlap(&self, a: EventId, b: EventId) -> bool {
        match (self.execution.access(a), self.execution.access(b)) {
            (Some((a, _)), Some((b, _))) => self.execution.overlap(a, b),
            _ => false,
        }
    }
}
