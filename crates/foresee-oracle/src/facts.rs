//! What the rules need to know of the observed run. Events are plain indices here.

use foresee_trace::{Access, EventId, Execution, LockId, Mode, Op};

/// A memory access: its cells, and for each the write it saw in the observed run.
pub(crate) struct Touch {
    pub(crate) access: Access,
    pub(crate) cells: Vec<usize>,
    pub(crate) observed: Vec<Option<usize>>,
}

/// Which reads must read the write they read in the observed run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    /// All but a thread's last event.
    AllReads,
    /// Those that a branch of their thread follows in the schedule.
    ReadsBeforeBranches,
}

/// Facts about the observed run.
pub(crate) struct Facts<'e> {
    pub(crate) execution: &'e Execution,
    pub(crate) rule: Rule,
    /// The events of each thread, in order.
    pub(crate) by_thread: Vec<Vec<usize>>,
    pub(crate) touches: Vec<Option<Touch>>,
    /// The reads, each of its own thread, that an event depends on: its own and earlier ones.
    pub(crate) depends: Vec<Vec<usize>>,
    /// The event that creates each thread.
    pub(crate) forks: Vec<Option<usize>>,
    /// For each event that is a wait which returned: the notifies that came meanwhile.
    pub(crate) wakeups: Vec<Vec<usize>>,
    /// What each event must come after because of blind code.
    pub(crate) blind: Vec<Vec<usize>>,
    /// The locks that each thread holds after each prefix of its events. This depends on the thread alone.
    pub(crate) held: Vec<Vec<Vec<(LockId, Mode)>>>,
}

impl<'e> Facts<'e> {
    pub(crate) fn of(execution: &'e Execution, rule: Rule) -> Self {
        let events = 0..execution.len();
        let threads = 0..execution.thread_count();
        let by_thread: Vec<Vec<usize>> =
            threads.map(|t| events.clone().filter(|&e| thread(execution, e) == t).collect()).collect();
        let held = by_thread
            .iter()
            .map(|events| (0..=events.len()).map(|n| held_after(execution, &events[..n])).collect())
            .collect();
        let fork_of = |t| {
            events.clone().find(|&e| matches!(op(execution, e), Op::Fork { child } if child.index() == t))
        };
        let mut facts = Facts {
            execution,
            rule,
            blind: Vec::new(),
            touches: events.clone().map(|e| touch(execution, e)).collect(),
            depends: events.clone().map(|e| depends(execution, e)).collect(),
            forks: (0..by_thread.len()).map(fork_of).collect(),
            wakeups: events.clone().map(|e| wakeups(execution, e)).collect(),
            by_thread,
            held,
        };
        facts.blind = events.map(|e| facts.before_blind(e)).collect();
        facts
    }

    /// (f) What an event must come after because of blind code. Of a section that blind code is in, or that comes after one with blind
    /// code: the ends of sections of other threads before it that it excludes; of blind code that may have synchronised: all such
    /// code before it.
    fn before_blind(&self, event: usize) -> Vec<usize> {
        let [held, after] = self.held_around(event);
        let is_blind = matches!(self.op(event), Op::Blind { .. });
        let taken = after.iter().filter(|taken| !held.contains(taken));
        let sections: Vec<(LockId, Mode)> = if is_blind { held.to_vec() } else { taken.copied().collect() };
        let orders = |e: usize| matches!(self.op(e), Op::Blind { orders: true, .. });
        let keeps_place = |e: usize| {
            self.thread(e) != self.thread(event)
                && self.given(e).is_some_and(|(lock, mode)| {
                    sections.iter().any(|&(mine, my_mode)| mine == lock && exclude(mode, my_mode))
                        && (is_blind || self.ends_blind_section(e, lock))
                })
        };
        (0..event).filter(|&e| keeps_place(e) || (orders(e) && orders(event))).collect()
    }

    /// The lock that an event gives up.
    fn given(&self, event: usize) -> Option<(LockId, Mode)> {
        let [before, after] = self.held_around(event);
        before.iter().copied().find(|held| !after.contains(held))
    }

    /// Whether there is blind code in the section of the lock that ends with this event.
    fn ends_blind_section(&self, end: usize, lock: LockId) -> bool {
        let inside = |&e: &usize| self.held_around(e).iter().all(|held| held.iter().any(|&(l, _)| l == lock));
        let earlier = self.by_thread[self.thread(end)].iter().rev().copied().filter(|&e| e < end);
        earlier.take_while(inside).any(|e| matches!(self.op(e), Op::Blind { .. }))
    }

    /// Whether control flow depends on reads here.
    pub(crate) fn is_branch(&self, event: usize) -> bool {
        matches!(self.op(event), Op::Branch | Op::Blind { .. })
    }

    pub(crate) fn thread(&self, event: usize) -> usize {
        thread(self.execution, event)
    }

    pub(crate) fn op(&self, event: usize) -> Op<'e> {
        op(self.execution, event)
    }

    /// Whether what an event writes may depend on what its thread has read.
    pub(crate) fn writes_a_value(&self, event: usize) -> bool {
        let writes = self.touches[event].as_ref().is_some_and(|touch| touch.access.writes);
        writes && !matches!(self.op(event), Op::Free { .. })
    }

    /// How many events of its thread come before this one.
    pub(crate) fn position(&self, event: usize) -> usize {
        self.by_thread[self.thread(event)].iter().take_while(|&&e| e < event).count()
    }

    /// The locks that the event's thread holds just before it and just after it.
    pub(crate) fn held_around(&self, event: usize) -> [&[(LockId, Mode)]; 2] {
        let (held, position) = (&self.held[self.thread(event)], self.position(event));
        [&held[position], &held[position + 1]]
    }

    /// Whether two accesses share a cell.
    pub(crate) fn overlap(&self, a: usize, b: usize) -> bool {
        match (&self.touches[a], &self.touches[b]) {
            (Some(a), Some(b)) => a.cells.iter().any(|cell| b.cells.contains(cell)),
            _ => false,
        }
    }

    /// How an event accesses memory; a read-modify-write that `changed` may not have written.
    pub(crate) fn access(&self, event: usize, changed: bool) -> Option<Access> {
        let access = self.touches[event].as_ref()?.access;
        Some(Access { writes: access.writes && !(changed && access.reads), ..access })
    }
}

/// Whether two holders of a lock exclude each other.
pub(crate) fn exclude(a: Mode, b: Mode) -> bool {
    a == Mode::Exclusive || b == Mode::Exclusive
}

fn op(execution: &Execution, event: usize) -> Op<'_> {
    execution.op(EventId(event as u32))
}

fn thread(execution: &Execution, event: usize) -> usize {
    execution.thread(EventId(event as u32)).index()
}

fn cells_of(execution: &Execution, event: usize) -> Vec<usize> {
    match execution.access(EventId(event as u32)) {
        Some((var, _)) => execution.cells(var).map(|cell| cell as usize).collect(),
        None => Vec::new(),
    }
}

fn touch(execution: &Execution, event: usize) -> Option<Touch> {
    let access = op(execution, event).access()?;
    let cells = cells_of(execution, event);
    let writes = |e: usize| op(execution, e).access().is_some_and(|access| access.writes);
    let observed = cells
        .iter()
        .map(|cell| (0..event).rev().find(|&e| writes(e) && cells_of(execution, e).contains(cell)))
        .collect();
    Some(Touch { access, cells, observed })
}

/// The reads that an event depends on: its own, and those that are said, or otherwise all of its thread before it.
fn depends(execution: &Execution, event: usize) -> Vec<usize> {
    let said = said(execution, event);
    let matters = |e: &usize| *e == event || said.as_ref().is_none_or(|said| said.contains(e));
    reads_until(execution, event).into_iter().filter(matters).collect()
}

/// The reads of its thread up to an event.
fn reads_until(execution: &Execution, event: usize) -> Vec<usize> {
    let mine = |e: &usize| thread(execution, *e) == thread(execution, event);
    let reads = |e: &usize| op(execution, *e).access().is_some_and(|access| access.reads);
    (0..=event).filter(mine).filter(reads).collect()
}

/// The reads that the events directly before this one name, if that makes sense: the last one of each named cell. With a
/// read-modify-write those that are said of it, too; if none are, nothing is said of what comes from it.
fn said(execution: &Execution, event: usize) -> Option<Vec<usize>> {
    let mine = |e: &usize| thread(execution, *e) == thread(execution, event);
    let says = |e: &usize| matches!(op(execution, *e), Op::From { .. } | Op::Constant);
    let writes = |e: usize| op(execution, e).access().is_some_and(|access| access.writes);
    let carries = matches!(
        op(execution, event),
        Op::Branch
            | Op::Named { .. }
            | Op::Arguments { .. }
            | Op::Result { .. }
            | Op::Local { .. }
            | Op::Call { .. }
            | Op::Return { .. }
    );
    let lines: Vec<usize> = (0..event).rev().filter(mine).take_while(says).collect();
    let has_branches = execution.ids().any(|id| execution.op(id) == Op::Branch);
    if lines.is_empty() || !(writes(event) || carries) || !has_branches {
        return None;
    }
    let before: Vec<usize> = reads_until(execution, event).into_iter().filter(|&e| e != event).collect();
    let mut all = Vec::new();
    for cell in
        lines.iter().filter_map(|&e| execution.var(EventId(e as u32))).flat_map(|v| execution.cells(v))
    {
        let read = *before.iter().rfind(|&&e| cells_of(execution, e).contains(&(cell as usize)))?;
        all.push(read);
        if writes(read) {
            all.extend(said(execution, read)?);
        }
    }
    Some(all)
}

fn wakeups(execution: &Execution, wait: usize) -> Vec<usize> {
    let Op::Wait { cond, .. } = op(execution, wait) else { return Vec::new() };
    let mut later = wait + 1..execution.len();
    let Some(next) = later.find(|&e| thread(execution, e) == thread(execution, wait)) else {
        return Vec::new();
    };
    let notifies =
        |e: &usize| matches!(op(execution, *e), Op::Notify { cond: notified, .. } if notified == cond);
    (wait + 1..next).filter(notifies).collect()
}

/// The locks a thread holds after these events of its, each with the mode of its outermost acquire.
fn held_after(execution: &Execution, events: &[usize]) -> Vec<(LockId, Mode)> {
    let mut held: Vec<(LockId, Mode, u32)> = Vec::new();
    for &event in events {
        match op(execution, event) {
            Op::Acquire { lock, mode, .. } => match held.iter_mut().find(|(l, ..)| *l == lock) {
                Some((_, _, depth)) => *depth += 1,
                None => held.push((lock, mode, 1)),
            },
            Op::Release { lock, .. } => {
                if let Some((_, _, depth)) = held.iter_mut().find(|(l, ..)| *l == lock) {
                    *depth -= 1;
                }
                held.retain(|&(_, _, depth)| depth > 0);
            }
            Op::Wait { cond, .. } => held.retain(|&(lock, ..)| lock != cond),
            _ => {}
        }
    }
    held.into_iter().map(|(lock, mode, _)| (lock, mode)).collect()
}
