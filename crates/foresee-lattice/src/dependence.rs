//! Which reads the value of an event comes from, where the trace says so ([`Op::From`]): the engines' own reading of it. The checker has
//! another, which is not shared, so that a mistake here cannot make it accept anything.
//!
//! A thread's reads are the same in every schedule up to any of its events, so this is known before any schedule is. Of each cell
//! that is named the last read of the thread counts; if it is one of a read-modify-write, so do the reads which that depends on. If a
//! named cell was not read, the statement makes no sense and is ignored. There is none in a trace without branches, in which everything depends on every read.
//!
//! **Cost.** Traces that say nothing: a look at each event. Others: one pass, and an entry for each thread and cell it reads. Of very
//! many reads that a value comes from, it is taken to come from all.

use foresee_trace::{EventId, Execution, Op, ThreadId};
use rustc_hash::FxHashMap;

/// Fewer reads than this can be named.
const MOST_READS: usize = 1 << 10;

/// The reads that explicit dependences name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dependences {
    reads: FxHashMap<EventId, Vec<EventId>>,
}

impl Dependences {
    /// Of all events of an execution.
    pub(crate) fn of(execution: &Execution) -> Dependences {
        let mut dependences = Dependences::default();
        let says = |id: EventId| matches!(execution.op(id), Op::From { .. } | Op::Constant);
        if !execution.has_branches() || !execution.ids().any(says) {
            return dependences;
        }
        let mut last_reads: FxHashMap<(ThreadId, u32), EventId> = FxHashMap::default();
        // The statements directly before, by thread: the reads, or that they make no sense.
        let mut said: FxHashMap<ThreadId, Option<Vec<EventId>>> = FxHashMap::default();
        for id in execution.ids() {
            let thread = execution.thread(id);
            let cells = execution.var(id).map_or(0..0, |var| execution.cells(var));
            if says(id) {
                let reads = said.entry(thread).or_insert_with(|| Some(Vec::new()));
                for cell in cells {
                    let read = last_reads.get(&(thread, cell)).copied();
                    let behind = read.and_then(|read| dependences.behind(execution, read));
                    match (reads.as_mut(), read, behind) {
                        (Some(reads), Some(read), Some(behind))
                            if reads.len() + behind.len() < MOST_READS =>
                        {
                            reads.push(read);
                            reads.extend(behind);
                            reads.sort_unstable();
                            reads.dedup();
                        }
                        _ => *reads = None,
                    }
                }
                continue;
            }
            if let Some(Some(reads)) = said.remove(&thread)
                && execution.op(id).takes_value()
            {
                dependences.reads.insert(id, reads);
            }
            if execution.access(id).is_some_and(|(_, access)| access.reads) {
                last_reads.extend(cells.map(|cell| ((thread, cell), id)));
            }
        }
        dependences
    }

    /// What else comes with the result of a read; `None` if the trace does not state it.
    fn behind(&self, execution: &Execution, read: EventId) -> Option<&[EventId]> {
        match execution.access(read) {
            Some((_, access)) if access.writes => self.reads(read),
            _ => Some(&[]),
        }
    }

    /// The reads before it that the value of an event comes from; `None` if the trace does not state it: it may be all of its thread. What the
    /// event reads itself comes in addition.
    pub(crate) fn reads(&self, id: EventId) -> Option<&[EventId]> {
        self.reads.get(&id).map(Vec::as_slice)
    }
}
