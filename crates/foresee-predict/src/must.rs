//! Clocks of the order that every correct reordering keeps: thread order, reads-from, fork, join and wake-up, and what blind code keeps
//! in place.
//!
//! For one pass through the observed order: after [`MustClocks::begin`], the question is whether an earlier event must
//! come before the one at hand. Critical sections without blind code do not count: this is the *weak* causality.
//!
//! A thread's clock says for other threads how far this thread depends on them. Writes keep a reference to the clock of
//! their thread, which is copied only when the thread learns something new after that.
//!
//! **Cost.** What no other thread can tell of costs nothing. A read whose write is known already costs a search in a short list; learning merges two lists. A clock has at
//! most 128 entries: with more threads it forgets those it depends on least recently, and some order is then not
//! seen. That costs engines candidates to look at, never soundness: what they predict they prove.

use std::rc::Rc;

use foresee_trace::synchronisation::{After, ThreadWalk};
use foresee_trace::{EventId, Execution, ThreadId, VarId};
use rustc_hash::FxHashMap;

use crate::values::{is_branch, written};
use foresee_witness::checker::Reads;

/// How many other threads a clock knows at most.
const KNOWN: usize = 128;

/// Threads, sorted, and for each the first event that is not known to come before.
type Clock = Rc<Vec<(ThreadId, u32)>>;

/// An event and what came before it.
#[derive(Clone)]
struct Stamp {
    clock: Clock,
    thread: ThreadId,
    event: u32,
}

/// The clocks of all threads, for a walk through the events in order.
pub struct MustClocks<'e> {
    execution: &'e Execution,
    /// `None` before the first event and after a join.
    threads: Vec<Option<Clock>>,
    last: Vec<u32>,
    writes: Vec<Option<Stamp>>,
    walk: ThreadWalk<Stamp>,
    reads: Reads,
    /// Whether a thread depends on what it reads only at its next branch.
    by_branches: bool,
    /// What each thread will depend on then.
    read: Vec<Clock>,
    /// Whether atomic reads read the same write whatever the value is.
    has_blind: bool,
    /// Values written, and whether more than once.
    values: FxHashMap<(VarId, u64), bool>,
}

impl<'e> MustClocks<'e> {
    /// Before the first event. If reads may read any write of the same value, one that has several to choose from
    /// depends on none; if control flow is known, reads count from the next branch on.
    pub fn new(execution: &'e Execution, reads: Reads) -> Self {
        MustClocks {
            execution,
            threads: vec![None; execution.thread_count()],
            last: vec![0; execution.thread_count()],
            writes: vec![None; execution.cell_count()],
            walk: ThreadWalk::new(),
            reads,
            by_branches: reads == Reads::Relaxed && execution.has_branches(),
            read: vec![Clock::default(); execution.thread_count()],
            has_blind: reads == Reads::Relaxed && execution.has_blind(),
            values: FxHashMap::default(),
        }
    }

    /// The next event is about to be done by its thread: what that needs is known now, but for the writes it reads. Whether others can tell of it: if it is
    /// [private](Execution::is_private), there is nothing more to do.
    #[inline]
    pub fn begin(&mut self, id: EventId) -> bool {
        let (thread, is_private) = (self.execution.thread(id), self.execution.is_private(id));
        if is_private && self.walk.goes_on(thread) {
            return false;
        }
        self.threads[thread.index()].get_or_insert_default();
        let op = self.execution.access(id).is_none().then(|| self.execution.op(id));
        self.walk.begin(thread, op.as_ref(), |after| match after {
            After::Fork(before) | After::Section(before) | After::Order(before) => {
                learn(&mut self.threads, thread, before);
            }
            After::Notifies { notifies, .. } => {
                notifies.iter().for_each(|notify| learn(&mut self.threads, thread, notify));
            }
            After::End(child) => {
                if let Some(clock) = self.threads[child.index()].take() {
                    let end = Stamp { clock, thread: child, event: self.last[child.index()] };
                    learn(&mut self.threads, thread, &end);
                }
            }
            After::Wait(_) => {}
        });
        !is_private
    }

    /// Whether an earlier event of another thread must come before what `thread` is about to do.
    #[inline]
    pub fn is_before(&self, of: ThreadId, event: u32, thread: ThreadId) -> bool {
        self.threads[thread.index()].as_ref().is_some_and(|clock| knows(clock, of) > event)
    }

    /// The event, of which others can tell, is done.
    #[inline]
    pub fn end(&mut self, id: EventId) {
        let thread = self.execution.thread(id);
        self.last[thread.index()] = id.0;
        if let Some((var, access)) = self.execution.access(id) {
            let cells = self.execution.cells(var);
            let cells = cells.start as usize..cells.end as usize;
            if access.reads {
                for cell in cells.clone() {
                    if let Some(write) = self.writes[cell].as_ref()
                        && !has_learnt(&self.threads, thread, write)
                        && (self.has_blind && access.atomic || !self.is_one_of_many(EventId(write.event)))
                    {
                        let write = write.clone();
                        if self.by_branches {
                            merge(&mut self.read[thread.index()], thread, &write);
                        } else {
                            learn(&mut self.threads, thread, &write);
                        }
                    }
                }
            }
            if access.writes {
                let stamp = stamp(&self.threads, thread, id);
                self.writes[cells].fill(Some(stamp));
                if self.reads == Reads::Relaxed
                    && let Some(value) = written(self.execution, id)
                {
                    self.values.entry(value).and_modify(|again| *again = true).or_insert(false);
                }
            }
            return;
        }
        let op = self.execution.op(id);
        if self.by_branches && is_branch(self.execution, id) {
            let read = std::mem::take(&mut self.read[thread.index()]);
            if let Some(clock) = &mut self.threads[thread.index()] {
                merge_all(clock, thread, &read);
            }
        }
        self.walk.end(thread, Some(&op), || stamp(&self.threads, thread, id));
    }

    fn is_one_of_many(&self, write: EventId) -> bool {
        self.reads == Reads::Relaxed
            && written(self.execution, write).is_some_and(|value| self.values.get(&value) == Some(&true))
    }
}

fn stamp(clocks: &[Option<Clock>], thread: ThreadId, id: EventId) -> Stamp {
    Stamp { clock: clocks[thread.index()].clone().unwrap_or_default(), thread, event: id.0 }
}

/// Whether the event must come before what `thread` is about to do.
#[inline]
fn has_learnt(clocks: &[Option<Clock>], thread: ThreadId, stamp: &Stamp) -> bool {
    let clock = clocks[thread.index()].as_ref();
    stamp.thread == thread || clock.is_some_and(|clock| knows(clock, stamp.thread) > stamp.event)
}

fn learn(clocks: &mut [Option<Clock>], thread: ThreadId, stamp: &Stamp) {
    if !has_learnt(clocks, thread, stamp)
        && let Some(clock) = &mut clocks[thread.index()]
    {
        merge(clock, thread, stamp);
    }
}

/// Adds an event and what came before it to a clock of `thread`.
fn merge(clock: &mut Clock, thread: ThreadId, stamp: &Stamp) {
    if knows(clock, stamp.thread) <= stamp.event {
        merge_all(clock, thread, &stamp.clock);
        merge_all(clock, thread, &[(stamp.thread, stamp.event + 1)]);
    }
}

fn merge_all(clock: &mut Clock, thread: ThreadId, entries: &[(ThreadId, u32)]) {
    if entries.is_empty() {
        return;
    }
    let mine = Rc::make_mut(clock);
    for &(of, bound) in entries {
        if of == thread {
            continue;
        }
        match mine.binary_search_by_key(&of, |&(known, _)| known) {
            Ok(at) => mine[at].1 = mine[at].1.max(bound),
            Err(at) => mine.insert(at, (of, bound)),
        }
    }
    if mine.len() > KNOWN {
        let mut bounds: Vec<u32> = mine.iter().map(|&(_, bound)| bound).collect();
        bounds.sort_unstable_by(|a, b| b.cmp(a));
        // Half of them, so that this is rare.
        let least = bounds[KNOWN / 2];
        mine.retain(|&(_, bound)| bound > least);
    }
}

#[inline]
fn knows(clock: &Clock, of: ThreadId) -> u32 {
    clock.binary_search_by_key(&of, |&(known, _)| known).map_or(0, |at| clock[at].1)
}
