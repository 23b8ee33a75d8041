//! What building reorderings needs to know of the observed run, noted in one pass: 12 bytes per event, 24 per section.

use std::ops::Range;
use std::sync::Arc;

use foresee_trace::synchronisation::{self, After, Handover, ThreadWalk};
use foresee_trace::{EventId, Execution, LockId, Mode, Op, VarId};
use foresee_witness::engine::Job;
use rustc_hash::FxHashMap;

use crate::values::{is_atomic, seen, written};

/// Stands for "no event" and "no section"; an execution has fewer of them.
pub(super) const NONE: u32 = u32::MAX;

/// A critical section: from the outermost acquire to the event that gives the lock up (a release, or a wait).
#[derive(Clone, Copy, Debug)]
pub(super) struct Section {
    pub(super) lock: LockId,
    pub(super) mode: Mode,
    pub(super) thread: u32,
    pub(super) acquire: u32,
    /// [`NONE`] if the run ends inside.
    pub(super) release: u32,
}

/// Facts about the observed run. Events and threads are plain numbers here.
pub struct Facts {
    /// The events of each thread, in order.
    pub(super) threads: Vec<Vec<u32>>,
    /// How many events of its thread come before each event.
    pub(super) position: Vec<u32>,
    /// A read: the write it read (the same in all cells unless `torn`). A join: the joined thread's last event. What
    /// takes or gives a lock: the section.
    link: Vec<u32>,
    torn: FxHashMap<u32, Vec<u32>>,
    forks: FxHashMap<u32, u32>,
    notifies: FxHashMap<LockId, Vec<u32>>,
    /// For the event after a wait: which of the condition's notifies came while it waited.
    woken_by: FxHashMap<u32, (LockId, Range<usize>)>,
    /// Events and what they come after because of blind code, in order.
    blind: Vec<(u32, u32)>,
    has_blind: bool,
    pub(super) sections: Vec<Section>,
    has_branches: bool,
    /// The writes of each value to each variable, in order, where values were recorded.
    values: FxHashMap<(VarId, u64), Vec<u32>>,
    /// The sections of each lock in the order of their acquires, and the latest release of all up to each.
    by_lock: FxHashMap<LockId, Vec<(u32, u32)>>,
}

/// The observed run and the facts about it.
#[derive(Clone, Copy)]
pub struct Observed<'f> {
    /// The run.
    pub execution: &'f Execution,
    /// What was noted about it.
    pub facts: &'f Facts,
}

impl Facts {
    /// The facts about a job's execution, noted when the first engine asks.
    pub fn shared(job: &Job<'_>) -> Arc<Facts> {
        job.shared.get(|| Facts::of(job.execution))
    }

    /// Notes the facts.
    pub fn of(execution: &Execution) -> Facts {
        let mut facts = Facts {
            threads: vec![Vec::new(); execution.thread_count()],
            position: Vec::with_capacity(execution.len()),
            link: vec![NONE; execution.len()],
            torn: FxHashMap::default(),
            forks: FxHashMap::default(),
            notifies: FxHashMap::default(),
            woken_by: FxHashMap::default(),
            blind: Vec::new(),
            has_blind: execution.has_blind(),
            values: FxHashMap::default(),
            has_branches: execution.has_branches(),
            sections: Vec::new(),
            by_lock: FxHashMap::default(),
        };
        let mut last_write = vec![NONE; execution.cell_count()];
        let mut walk = ThreadWalk::new();
        let mut joins = Vec::new();
        for id in execution.ids() {
            let thread = execution.thread(id);
            let access = execution.access(id);
            let op = access.is_none().then(|| execution.op(id));
            let handover = walk.begin(thread, op.as_ref(), |after| match after {
                After::Fork(&fork) => drop(facts.forks.insert(thread.0, fork)),
                After::Notifies { cond, earlier, notifies } if !notifies.is_empty() => {
                    facts.woken_by.insert(id.0, (cond, earlier..earlier + notifies.len()));
                }
                After::End(child) => joins.push((id.0, child)),
                After::Section(&before) | After::Order(&before) => facts.blind.push((id.0, before)),
                After::Notifies { .. } | After::Wait(_) => {}
            });
            let events = &mut facts.threads[thread.index()];
            facts.position.push(events.len() as u32);
            events.push(id.0);
            if let Some((var, access)) = access {
                let cells = execution.cells(var);
                let cells = &mut last_write[cells.start as usize..cells.end as usize];
                if access.reads {
                    facts.link[id.index()] = cells.first().copied().unwrap_or(NONE);
                    if cells.iter().any(|&write| write != cells[0]) {
                        facts.torn.insert(id.0, cells.to_vec());
                    }
                }
                if access.writes {
                    cells.fill(id.0);
                    if let Some(value) = written(execution, id) {
                        facts.values.entry(value).or_default().push(id.0);
                    }
                }
            }
            let Some(op) = op else { continue };
            if let Op::Notify { cond, .. } = op {
                facts.notifies.entry(cond).or_default().push(id.0);
            }
            if let Some(handover) = handover {
                facts.handover(id.0, thread.0, handover);
            }
            walk.end(thread, Some(&op), || id.0);
        }
        for (join, child) in joins {
            facts.link[join as usize] = facts.threads[child.index()].last().copied().unwrap_or(NONE);
        }
        facts.index_sections();
        facts
    }

    fn handover(&mut self, event: u32, thread: u32, handover: Handover) {
        let synchronisation::Section { number, lock, mode } = handover.section();
        self.link[event as usize] = number as u32;
        match handover {
            Handover::Takes(_) => {
                self.sections.push(Section { lock, mode, thread, acquire: event, release: NONE });
            }
            Handover::Gives(_) => self.sections[number as usize].release = event,
        }
    }

    fn index_sections(&mut self) {
        for (number, section) in self.sections.iter().enumerate() {
            let of_lock = self.by_lock.entry(section.lock).or_default();
            let latest = of_lock.last().map_or(0, |&(_, latest)| latest).max(section.release);
            of_lock.push((number as u32, latest));
        }
    }

    /// How many events of a thread come before `event` in the observed order.
    pub(super) fn position_at(&self, thread: u32, event: u32) -> u32 {
        self.threads[thread as usize].partition_point(|&e| e < event) as u32
    }

    /// The write that a read saw in the `nth` cell of its variable.
    pub(super) fn read_from(&self, read: u32, nth: usize) -> Option<u32> {
        let write = match self.torn.get(&read) {
            Some(writes) => writes.get(nth).copied().unwrap_or(NONE),
            None => self.link[read as usize],
        };
        some(write)
    }

    /// The notifies that must come between the wait just before `event` in its thread, and `event`.
    pub(super) fn wakeups(&self, event: u32) -> &[u32] {
        (self.woken_by.get(&event))
            .and_then(|(cond, range)| self.notifies.get(cond)?.get(range.clone()))
            .unwrap_or(&[])
    }

    /// What has to come before `event` because of blind code.
    fn before_blind(&self, event: u32) -> impl Iterator<Item = u32> + '_ {
        let first = self.blind.partition_point(|&(of, _)| of < event);
        self.blind[first..].iter().take_while(move |&&(of, _)| of == event).map(|&(_, before)| before)
    }

    /// Whether values were recorded.
    pub fn has_values(&self) -> bool {
        !self.values.is_empty()
    }

    /// Whether control flow was recorded.
    pub fn has_branches(&self) -> bool {
        self.has_branches
    }

    /// The sections of a lock that are open just before `event` in the observed order.
    pub(super) fn open_at(&self, lock: LockId, event: u32) -> impl Iterator<Item = u32> {
        let of_lock = self.by_lock.get(&lock).map_or(&[][..], Vec::as_slice);
        let begun = of_lock.partition_point(|&(s, _)| self.sections[s as usize].acquire < event);
        (of_lock[..begun].iter().rev())
            .take_while(move |&&(_, latest)| latest >= event)
            .map(|&(section, _)| section)
            .filter(move |&s| self.sections[s as usize].release >= event)
    }
}

impl<'f> Observed<'f> {
    /// The section that an event begins or ends.
    pub(super) fn section(&self, event: u32) -> Option<u32> {
        let takes_or_gives = matches!(
            self.execution.op(EventId(event)),
            Op::Acquire { .. } | Op::Release { .. } | Op::Wait { .. }
        );
        if takes_or_gives { some(self.facts.link[event as usize]) } else { None }
    }

    /// Calls `visit` with what has to be done before a thread can be about to do `event`.
    pub(super) fn before_about_to(&self, event: u32, mut visit: impl FnMut(u32)) {
        let id = EventId(event);
        if self.facts.position[event as usize] == 0
            && let Some(&fork) = self.facts.forks.get(&self.execution.thread(id).0)
        {
            visit(fork);
        }
        if !self.facts.woken_by.is_empty() {
            self.facts.wakeups(event).iter().copied().for_each(&mut visit);
        }
    }

    /// Calls `visit` with what has to be done before `event` can be, thread order and its own reads apart.
    pub(super) fn enablers(&self, event: u32, mut visit: impl FnMut(u32)) {
        self.before_about_to(event, &mut visit);
        if self.facts.has_blind {
            self.facts.before_blind(event).for_each(&mut visit);
        }
        if let Op::Join { .. } = self.execution.op(EventId(event))
            && let Some(last) = some(self.facts.link[event as usize])
        {
            visit(last);
        }
    }

    /// Calls `visit` with every write that `event` reads.
    pub(super) fn sources(&self, event: u32, mut visit: impl FnMut(u32)) {
        if !self.execution.access(EventId(event)).is_some_and(|(_, access)| access.reads) {
            return;
        }
        match self.facts.torn.get(&event) {
            Some(writes) => writes.iter().filter_map(|&write| some(write)).for_each(visit),
            None => some(self.facts.link[event as usize]).into_iter().for_each(&mut visit),
        }
    }

    /// The bytes that an event reads and the value it saw there, if another write of that value would do as well.
    pub(super) fn seen(&self, event: u32) -> Option<(VarId, u64)> {
        if self.facts.has_blind && is_atomic(self.execution, EventId(event)) {
            return None;
        }
        let write =
            if self.facts.torn.contains_key(&event) { None } else { some(self.facts.link[event as usize]) };
        seen(self.execution, EventId(event), write.map(EventId))
    }

    /// Other writes than observed that a read can read the observed value from, the latest before the read first.
    pub(super) fn same_value_writes(&self, read: u32) -> impl Iterator<Item = u32> + use<'f> {
        let writes =
            self.seen(read).and_then(|value| self.facts.values.get(&value)).map_or(&[][..], Vec::as_slice);
        writes[..writes.partition_point(|&write| write < read)].iter().rev().copied()
    }
}

pub(super) fn some(number: u32) -> Option<u32> {
    (number != NONE).then_some(number)
}
