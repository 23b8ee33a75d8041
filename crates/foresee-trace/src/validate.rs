//! Is a trace a possible run? What is in it?
//!
//! The [`Validator`] follows locks, threads and values and reports what no run can do: two holders of a mutex, a thread
//! that acts before its fork or after its join, a read of a value that nobody wrote; and values that are said to come from
//! where they cannot. The [`Summary`] counts. Both see each
//! event once.
//!
//! **Memory** does not grow with the number of events: it is bounded by the named threads and locks, and by fixed limits for
//! values, reads and nested blocks, beyond which the validator forgets rather than grow. Forgetting hides problems, it
//! never invents them.
//!
//! **What is no problem.** A trace may begin in the middle of a run and end anywhere: threads without a fork, locks never
//! released and functions never left are all possible. So is joining a thread that did nothing.

mod distinct;
mod locks;
mod origin;
mod report;
mod summary;
mod values;

use crate::event::{Event, Op};
use crate::ids::{StrId, ThreadId};
use crate::names::Names;
use locks::Locks;
use origin::Origins;
use report::Report;
use values::Values;

pub use report::{PROBLEMS_KEPT, Problem, Verdict};
pub use summary::{Count, Summary};

/// Blocks nested deeper than this are counted, but their names are not compared.
const BLOCKS_KEPT: usize = 256;

#[derive(Default)]
struct Thread {
    first_event: Option<u64>,
    forked_at: Option<u64>,
    ended_at: Option<u64>,
    joined_at: Option<u64>,
    blocks: Nesting,
    commits: Nesting,
    origins: Origins,
}

/// Named blocks a thread is in.
#[derive(Default)]
struct Nesting {
    names: Vec<StrId>,
    unnamed: u64,
}

impl Nesting {
    fn begin(&mut self, name: StrId) {
        if self.names.len() < BLOCKS_KEPT {
            self.names.push(name);
        } else {
            self.unnamed += 1;
        }
    }

    /// Ends the innermost block; otherwise says what it is instead.
    fn end(&mut self, names: &Names, block: &str, name: StrId) -> Result<(), String> {
        if self.unnamed > 0 {
            self.unnamed -= 1;
            return Ok(());
        }
        let ends = names.str(name);
        match self.names.pop() {
            // An end may leave the name out.
            Some(open) if open == name || name == StrId::EMPTY => Ok(()),
            Some(open) => Err(format!("ends the {block} `{ends}` inside of `{}`", names.str(open))),
            None => Err(format!("ends the {block} `{ends}`, which did not begin")),
        }
    }
}

/// Checks, event by event, whether a trace is a possible run.
#[derive(Default)]
pub struct Validator {
    threads: Vec<Thread>,
    locks: Locks,
    values: Values,
    verdict: Verdict,
}

impl Validator {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Validator::default()
    }

    /// Takes the next event, the `index`th of the trace, whose ids are in `names`.
    pub fn event(&mut self, names: &Names, index: u64, event: &Event<'_>) {
        let mut report = Report { verdict: &mut self.verdict, index, event };
        if event.thread.index() >= names.threads().len() {
            return report.problem(|| "is of a thread that the trace does not name".to_owned());
        }
        if self.threads.len() < names.threads().len() {
            self.threads.resize_with(names.threads().len(), Thread::default);
        }
        let thread = &mut self.threads[event.thread.index()];
        thread.first_event.get_or_insert(index);
        if let Some(joined_at) = thread.joined_at {
            report.problem(|| format!("happens after the thread was joined, at event {joined_at}"));
        } else if let Some(ended_at) = thread.ended_at {
            report.problem(|| format!("happens after the thread's end, at event {ended_at}"));
        }
        thread.origins.event(names, &mut report);
        match event.op {
            Op::Read { .. }
            | Op::Write { .. }
            | Op::Load { .. }
            | Op::Store { .. }
            | Op::Rmw { .. }
            | Op::Alloc { .. }
            | Op::Free { .. } => self.values.event(names, &event.op, &mut report),
            Op::Acquire { lock, mode, .. } => self.locks.acquire(names, lock, mode, &mut report),
            Op::Release { lock, mode } => self.locks.release(names, lock, mode, &mut report),
            Op::Wait { cond, .. } => self.locks.wait(names, cond, event.thread),
            Op::Fork { child } => fork(&mut self.threads, names, child, &mut report),
            Op::Join { child } => join(&mut self.threads, names, child, &mut report),
            Op::ThreadBegin => {
                if let Some(first) = thread.first_event.filter(|&first| first != index) {
                    report.problem(|| format!("begins a thread that has run before, at event {first}"));
                }
            }
            Op::ThreadEnd => thread.ended_at = Some(index),
            Op::BlockBegin { name } => thread.blocks.begin(name),
            Op::BlockEnd { name } => report.check(thread.blocks.end(names, "atomic block", name)),
            Op::CommitBegin { name } => thread.commits.begin(name),
            Op::CommitEnd { name } => report.check(thread.commits.end(names, "commit block", name)),
            // Everything else is possible at any time.
            _ => {}
        }
    }

    /// What was found.
    pub fn finish(self) -> Verdict {
        self.verdict
    }
}

fn fork(threads: &mut [Thread], names: &Names, child: ThreadId, report: &mut Report<'_>) {
    let name = names.thread_name(child);
    if child == report.event.thread {
        return report.problem(|| format!("forks the thread `{name}` itself"));
    }
    let Some(thread) = threads.get_mut(child.index()) else {
        return report.problem(|| "forks a thread that the trace does not name".to_owned());
    };
    if let Some(forked_at) = thread.forked_at {
        report.problem(|| format!("forks `{name}` again, after event {forked_at}"));
    } else if let Some(first) = thread.first_event {
        report.problem(|| format!("forks `{name}`, which has run before, at event {first}"));
    }
    thread.forked_at = Some(report.index);
}

fn join(threads: &mut [Thread], names: &Names, child: ThreadId, report: &mut Report<'_>) {
    if child == report.event.thread {
        let name = names.thread_name(child);
        return report.problem(|| format!("joins the thread `{name}` itself"));
    }
    match threads.get_mut(child.index()) {
        Some(thread) => thread.joined_at = Some(report.index),
        None => report.problem(|| "joins a thread that the trace does not name".to_owned()),
    }
}

#[cfg(test)]
mod tests;
