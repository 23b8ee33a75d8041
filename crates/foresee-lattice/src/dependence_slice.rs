//! Which accesses matter to a property: the causal slice (Chen, Roşu: *Parametric and sliced causality*, 2007; Meredith, Roşu:
//! *Runtime verification with the RV system*, 2010).
//!
//! **What is kept**, and why:
//! * the events that the property looks at;
//! * *control*: a branch, if its thread goes on to a kept event: with another outcome it might do something else. With it, the
//!   reads that its outcome depends on. Blind code counts as a branch that depends on all reads before it. ([`Op::Branch`] has the contract; in a trace without
//!   branches every event counts as one.) Locks, forks, joins, waits and blind code that may have
//!   synchronised count as kept here: others depend on them. A join also
//!   needs its thread to come to its end;
//! * *data*: the write that a kept read read, if it read one; and the reads that its value depends on. The same for what the
//!   property looks at, whose values count;
//! * *relevance*: every other write of a cell that a kept read reads. Its value does not matter, but it must not come in between.
//!
//! The trace may say which reads an outcome or a value depends on ([`Op::From`]); otherwise it is all of the thread before it.
//!
//! The paper walks back through the trace once, and cannot know of a write that a read kept only later makes relevant. Its slice can be
//! too small, and then so is the causality: false alarms. [`DependenceSlice::complete`] keeps a list of work instead; each event, branch
//! and cell is worked on once, so it is linear in the trace. [`DependenceSlice::one_pass`] is the paper's, to compare.

use foresee_trace::{EventId, Execution, Op};

use super::model::Letter;
use crate::dependence::Dependences;

/// Which events are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DependenceSlice {
    kept: Vec<bool>,
}

impl DependenceSlice {
    /// Whether an event is kept.
    pub fn contains(&self, id: EventId) -> bool {
        self.kept[id.index()]
    }

    /// How many events are in one slice and not in the other.
    pub fn difference(&self, other: &DependenceSlice) -> usize {
        self.kept.iter().zip(&other.kept).filter(|(a, b)| a != b).count()
    }

    /// All that matters.
    pub fn complete(execution: &Execution, letter: Letter<'_>) -> DependenceSlice {
        let mut work = Work::new(execution);
        for id in execution.ids() {
            if letter(id).is_some() {
                work.keep_value(id);
            } else if synchronises(&execution.op(id)) {
                work.keep(id);
            }
        }
        while let Some(task) = work.tasks.pop() {
            work.work(task);
        }
        DependenceSlice { kept: work.kept }
    }

    /// What one walk back through the trace finds.
    pub fn one_pass(execution: &Execution, letter: Letter<'_>) -> DependenceSlice {
        let facts = Facts::of(execution);
        let mut kept = vec![false; execution.len()];
        // Writes whose values matter, and reads that values come from, where the trace states it.
        let (mut wanted, mut named) = (vec![false; execution.len()], vec![false; execution.len()]);
        let mut cells = vec![false; execution.cell_count()];
        let threads = execution.thread_count();
        // Of each thread: whether a later event is kept, and whether its reads matter.
        let (mut goes_on, mut reads_matter) = (vec![false; threads], vec![false; threads]);
        for id in execution.ids().rev() {
            let thread = execution.thread(id).index();
            let op = execution.op(id);
            let access = execution.access(id);
            let relevant = access.is_some_and(|(var, access)| {
                access.writes && execution.cells(var).any(|cell| cells[cell as usize])
            });
            let read =
                access.is_some_and(|(_, access)| access.reads) && (reads_matter[thread] || named[id.index()]);
            let valued = letter(id).is_some() || wanted[id.index()];
            let branches = facts.has_branches && is_branch(&op) && (goes_on[thread] || synchronises(&op));
            let controls = branches || goes_on[thread] && !facts.has_branches;
            if valued || controls {
                match facts.dependences.reads(id) {
                    Some(reads) => reads.iter().for_each(|read| named[read.index()] = true),
                    None => reads_matter[thread] = true,
                }
            }
            if !(valued || relevant || read || branches || synchronises(&op)) {
                continue;
            }
            kept[id.index()] = true;
            goes_on[thread] = true;
            if let Op::Join { child } = op {
                goes_on[child.index()] = true;
                reads_matter[child.index()] |= !facts.has_branches;
            }
            if let Some((var, access)) = access
                && access.reads
            {
                execution.cells(var).for_each(|cell| cells[cell as usize] = true);
                facts.reads_from(id).for_each(|write| wanted[write as usize] = true);
            }
        }
        DependenceSlice { kept }
    }
}

/// Whether other threads depend on the event whatever the property is.
fn synchronises(op: &Op<'_>) -> bool {
    matches!(
        op,
        Op::Acquire { .. }
            | Op::Release { .. }
            | Op::Fork { .. }
            | Op::Join { .. }
            | Op::Wait { .. }
            | Op::Notify { .. }
            | Op::Blind { orders: true, .. }
    )
}

/// Whether control flow depends on reads here.
fn is_branch(op: &Op<'_>) -> bool {
    matches!(op, Op::Branch | Op::Blind { .. })
}

/// What is known of the execution beforehand.
struct Facts {
    has_branches: bool,
    dependences: Dependences,
    /// `(read, write)`, by read.
    reads_from: Vec<(u32, u32)>,
}

impl Facts {
    fn of(execution: &Execution) -> Facts {
        let mut last = vec![None; execution.cell_count()];
        let dependences = Dependences::of(execution);
        let mut facts = Facts { has_branches: execution.has_branches(), dependences, reads_from: Vec::new() };
        for id in execution.ids() {
            let Some((var, access)) = execution.access(id) else { continue };
            for cell in execution.cells(var) {
                if access.reads
                    && let Some(write) = last[cell as usize]
                {
                    facts.reads_from.push((id.0, write));
                }
                if access.writes {
                    last[cell as usize] = Some(id.0);
                }
            }
        }
        facts
    }

    fn reads_from(&self, read: EventId) -> impl Iterator<Item = u32> + '_ {
        let start = self.reads_from.partition_point(|&(other, _)| other < read.0);
        self.reads_from[start..]
            .iter()
            .take_while(move |(other, _)| *other == read.0)
            .map(|&(_, write)| write)
    }
}

enum Task {
    /// A kept read.
    Read(EventId),
    /// The thread goes on to this event: branches before it matter.
    Reach(EventId),
    /// The reads of the thread up to this event matter.
    Reads(EventId),
    /// This event matters.
    Keep(EventId),
}

/// The slice in the making.
struct Work<'e> {
    execution: &'e Execution,
    facts: Facts,
    kept: Vec<bool>,
    tasks: Vec<Task>,
    /// The writes of each cell; taken once the cell is read.
    writes: Vec<Vec<u32>>,
    threads: Vec<Thread>,
}

/// A thread's reads and branches, and how many of them were worked on.
#[derive(Default)]
struct Thread {
    reads: Vec<u32>,
    reads_done: usize,
    branches: Vec<u32>,
    branches_done: usize,
    last: Option<EventId>,
}

impl<'e> Work<'e> {
    fn new(execution: &'e Execution) -> Self {
        let mut writes = vec![Vec::new(); execution.cell_count()];
        let mut threads: Vec<Thread> = (0..execution.thread_count()).map(|_| Thread::default()).collect();
        for id in execution.ids() {
            let thread = &mut threads[execution.thread(id).index()];
            thread.last = Some(id);
            if is_branch(&execution.op(id)) {
                thread.branches.push(id.0);
            }
            let Some((var, access)) = execution.access(id) else { continue };
            if access.reads {
                thread.reads.push(id.0);
            }
            if access.writes {
                execution.cells(var).for_each(|cell| writes[cell as usize].push(id.0));
            }
        }
        let (facts, kept) = (Facts::of(execution), vec![false; execution.len()]);
        Work { execution, facts, kept, tasks: Vec::new(), writes, threads }
    }

    fn keep(&mut self, id: EventId) {
        if std::mem::replace(&mut self.kept[id.index()], true) {
            return;
        }
        self.tasks.push(Task::Reach(id));
        if let Op::Join { child } = self.execution.op(id)
            && let Some(last) = self.threads[child.index()].last
        {
            self.tasks.push(Task::Reach(last));
        }
        if self.execution.access(id).is_some_and(|(_, access)| access.reads) {
            self.tasks.push(Task::Read(id));
        }
    }

    fn keep_value(&mut self, id: EventId) {
        self.keep(id);
        match self.facts.dependences.reads(id) {
            Some(reads) => self.tasks.extend(reads.iter().map(|&read| Task::Keep(read))),
            None => self.tasks.push(Task::Reads(id)),
        }
    }

    fn work(&mut self, task: Task) {
        match task {
            Task::Read(id) => {
                let from: Vec<u32> = self.facts.reads_from(id).collect();
                from.into_iter().for_each(|write| self.keep_value(EventId(write)));
                let Some((var, _)) = self.execution.access(id) else { return };
                for cell in self.execution.cells(var) {
                    for write in std::mem::take(&mut self.writes[cell as usize]) {
                        self.keep(EventId(write));
                    }
                }
            }
            Task::Keep(id) => self.keep(id),
            Task::Reach(id) if !self.facts.has_branches => self.tasks.push(Task::Reads(id)),
            Task::Reach(id) => {
                let thread = self.execution.thread(id).index();
                while let Some(&branch) =
                    self.threads[thread].branches.get(self.threads[thread].branches_done)
                    && branch <= id.0
                {
                    self.threads[thread].branches_done += 1;
                    self.keep_value(EventId(branch));
                }
            }
            Task::Reads(id) => {
                let thread = self.execution.thread(id).index();
                while let Some(&read) = self.threads[thread].reads.get(self.threads[thread].reads_done)
                    && read <= id.0
                {
                    self.threads[thread].reads_done += 1;
                    self.keep(EventId(read));
                }
            }
        }
    }
}
