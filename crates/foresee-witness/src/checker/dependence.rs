//! Which reads the value of an event comes from, where the trace says so ([`Op::From`]).
//!
//! A thread's reads are the same in every schedule up to any of its events, so this is known before any schedule is. Of each cell
//! that is named the last read of the thread counts; if it is one of a read-modify-write, so do the reads which that depends on. If a
//! named cell was not read, what is said makes no sense, and counts as not said. Nothing is said in a trace without branches, in which everything depends on every read.
//!
//! **Cost.** Traces that say nothing: a look at each event. Others: one pass, and an entry for each thread and cell it reads. Of very
//! many reads that a value comes from, it is taken to come from all.

use foresee_trace::{EventId, Execution, Op, ThreadId};
use rustc_hash::FxHashMap;

use super::values::has_branches;

/// Fewer reads than this can be named.
const MOST_READS: usize = 1 << 10;

/// The reads that explicit dependences name.
#[derive(Clone, Debug, Default)]
pub(super) struct Dependences {
    reads: FxHashMap<EventId, Vec<EventId>>,
}

impl Dependences {
    /// Of all events of an execution.
    pub(super) fn of(execution: &Execution) -> Dependences {
        let mut dependences = Dependences::default();
        let says = |id: EventId| matches!(execution.op(id), Op::From { .. } | Op::Constant);
        if !execution.ids().any(says) || !has_branches(execution) {
            return dependences;
        }
        let mut last_reads: FxHashMap<(ThreadId, u32), EventId> = FxHashMap::default();
        // Of threads that have just said something: the reads, or that it makes no sense.
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

    /// What else comes with the result of a read; `None` if that is not said.
    fn behind(&self, execution: &Execution, read: EventId) -> Option<&[EventId]> {
        match execution.access(read) {
            Some((_, access)) if access.writes => self.reads(read),
            _ => Some(&[]),
        }
    }

    /// The reads before it that the value of an event comes from; `None` if that is not said: it may be all of its thread. What the
    /// event reads itself comes in addition.
    pub(super) fn reads(&self, id: EventId) -> Option<&[EventId]> {
        self.reads.get(&id).map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use foresee_trace::text::TextReader;

    use super::*;

    /// Of what takes a value.
    fn reads(trace: &str) -> Vec<Option<Vec<u32>>> {
        let trace = format!("{trace}A|r(last)\nA|branch\n");
        let execution = Execution::read(&mut TextReader::new(trace.as_bytes())).unwrap();
        let dependences = Dependences::of(&execution);
        let of = |id| dependences.reads(id).map(|reads| reads.iter().map(|id: &EventId| id.0).collect());
        let mut all: Vec<_> = execution.ids().filter(|&id| execution.op(id).takes_value()).map(of).collect();
        assert_eq!(all.pop(), Some(None));
        all
    }

    #[test]
    fn the_last_read_of_each_byte_counts() {
        let trace = "\
            A|r(x)\nA|r(y)\nA|r(x)\nA|from(x)\nA|w(z)\nA|w(z)\nA|constant\nA|branch\n\
            A|from(y)\nB|r(y)\nA|from(x)\nA|constant\nB|w(x)\nA|event(e)\n";
        assert_eq!(reads(trace), [Some(vec![2]), None, Some(vec![]), None, Some(vec![1, 2])]);
        let parts = "A|r(x[0..4])\nA|r(x[2..8])\nA|from(x)\nA|w(y)\nA|from(x[3..5])\nA|w(y)\nA|r(x)\nA|from(x[1..2])\nA|w(y)\n";
        assert_eq!(reads(parts), [Some(vec![0, 1]), Some(vec![1]), Some(vec![6])]);
        let own = "A|r(y)\nA|r(x)\nA|from(x)\nA|rmw(x)\nA|from(x)\nA|w(y)\nA|constant\nA|rmw(x)\nA|from(x)\nA|w(y)\n";
        assert_eq!(reads(own), [Some(vec![1]), Some(vec![1, 3]), Some(vec![]), Some(vec![7])]);
        let unsaid = "A|r(y)\nA|rmw(x)\nA|from(x)\nA|w(y)\n";
        assert_eq!(reads(unsaid), [None, None], "the result of the first may depend on y");
    }

    #[test]
    fn too_many_reads_are_all() {
        let chain = "A|from(x)\nA|rmw(x)\n".repeat(2 * MOST_READS);
        let reads = reads(&format!("A|r(x)\n{chain}"));
        assert_eq!(reads[3], Some(vec![0, 2, 4, 6]));
        assert_eq!(reads.last(), Some(&None));
    }

    #[test]
    fn what_makes_no_sense_is_not_said() {
        let unread = "B|r(x)\nA|r(x[0..4])\nA|from(x)\nA|w(y)\nA|from(z)\nA|constant\nA|w(y)\n";
        assert_eq!(reads(unread), [None, None]);
        let freed = "A|alloc(x)\nA|r(x)\nA|free(x)\nB|alloc(x)\nA|from(x)\nA|w(y)\n";
        assert_eq!(reads(freed), [None]);
        let of_another = "A|r(x)\nA|from(x)\nA|r(y)\nA|w(y)\nA|constant\nB|w(y)\n";
        assert_eq!(reads(of_another), [None, None]);
    }
}
