//! What must come before what in every correct reordering: thread order, reads-from, fork, join and wake-up, and what blind code keeps in
//! place.
//!
//! A set of events that is closed under this order and kept in the observed order satisfies every rule of the soundness
//! contract but the one about locks. Engines ask: *if these events of a thread happen, which events of other threads must
//! have happened?*
//!
//! **Representation.** No clock per event. For each thread and each other thread it depends on directly there is a list of
//! edges `(at, needs)`: the event `at` and all later ones of the thread need the event `needs` of the other one. An
//! edge is kept only if it needs more than the last one did, so both columns grow and one binary search finds what a
//! prefix of a thread needs of another thread. Transitivity is left to whoever closes a set
//! ([`Ideal`](crate::ideal::Ideal)), so threads that inherit knowledge through forks and joins cost one edge, not a clock.
//!
//! A prefix of a thread is named by a *bound*: all its events with a smaller id. A bound `e` also stands for "about to
//! do `e`": the thread has been forked and its wait has returned, hence those edges have `at` = `e` − 1, and an edge
//! of a read has `at` = `e`: who is only about to read needs no write.
//!
//! **Cost.** One pass; 4 bytes per event for the lists of each thread's events, 8 bytes per edge (on programs that share memory
//! under locks far fewer than one per ten events), 8 per cell while building. Nothing is quadratic in threads: there is a
//! list only for pairs that communicate directly. A wait costs one step per notify of its condition meanwhile.

use std::sync::Arc;

use foresee_trace::synchronisation::{After, ThreadWalk};
use foresee_trace::{EventId, Execution, ThreadId};
use foresee_witness::engine::Job;
use rustc_hash::FxHashMap;

/// What one thread needs of another one.
struct Needs {
    of: ThreadId,
    /// `(at, needs)`, both growing.
    edges: Vec<(u32, u32)>,
}

/// The order that every correct reordering keeps.
pub struct MustOrder {
    /// The events of each thread.
    events: Vec<Vec<u32>>,
    /// By thread, in the order of their first edges.
    needs: Vec<Vec<Needs>>,
}

impl MustOrder {
    /// The table of a job's execution, worked out when the first engine asks.
    pub fn shared(job: &Job<'_>) -> Arc<MustOrder> {
        job.shared.get(|| MustOrder::of(job.execution))
    }

    /// The order of an execution.
    pub fn of(execution: &Execution) -> MustOrder {
        Builder::new(execution.thread_count()).build(execution)
    }

    /// How many threads there are.
    pub fn threads(&self) -> usize {
        self.events.len()
    }

    /// The events of a thread with ids from `from` up to and without `bound`.
    pub fn events(&self, thread: ThreadId, from: u32, bound: u32) -> impl Iterator<Item = EventId> + '_ {
        let events = &self.events[thread.index()];
        let (start, end) = (position(events, from), position(events, bound));
        events[start..end.max(start)].iter().copied().map(EventId)
    }

    /// How many events of a thread are below `bound`.
    pub fn count(&self, thread: ThreadId, bound: u32) -> usize {
        position(&self.events[thread.index()], bound)
    }

    /// What the events of a thread below `bound` need directly: threads, and the bounds of what they need of them.
    #[inline]
    pub fn needs(&self, thread: ThreadId, bound: u32) -> impl Iterator<Item = (ThreadId, u32)> + '_ {
        let before = move |edges: &[(u32, u32)]| edges.partition_point(|&(at, _)| at < bound);
        (self.needs[thread.index()].iter())
            .take_while(move |needs| needs.edges.first().is_some_and(|&(at, _)| at < bound))
            .map(move |needs| (needs.of, needs.edges[before(&needs.edges) - 1].1 + 1))
    }
}

fn position(events: &[u32], bound: u32) -> usize {
    events.partition_point(|&event| event < bound)
}

/// No event.
const NONE: u32 = u32::MAX;

struct Builder {
    order: MustOrder,
    /// Where the list of a pair of threads is.
    pairs: Pairs,
}

impl Builder {
    fn new(threads: usize) -> Self {
        let needs = (0..threads).map(|_| Vec::new()).collect();
        Builder { order: MustOrder { events: vec![Vec::new(); threads], needs }, pairs: Pairs::new(threads) }
    }

    fn build(mut self, execution: &Execution) -> MustOrder {
        // The last write of each cell and its thread.
        let mut writers = vec![(NONE, ThreadId(0)); execution.cell_count()];
        let mut walk: ThreadWalk<EventId> = ThreadWalk::new();
        for id in execution.ids() {
            let thread = execution.thread(id);
            if execution.is_private(id) && walk.goes_on(thread) {
                self.order.events[thread.index()].push(id.0);
                continue;
            }
            let access = execution.access(id);
            let op = access.is_none().then(|| execution.op(id));
            walk.begin(thread, op.as_ref(), |after| self.after(execution, thread, id, after));
            self.order.events[thread.index()].push(id.0);
            walk.end(thread, op.as_ref(), || id);
            if let Some((var, access)) = access {
                let cells = execution.cells(var);
                let cells = cells.start as usize..cells.end as usize;
                if access.reads {
                    for &(write, writer) in &writers[cells.clone()] {
                        if write != NONE && writer != thread {
                            self.edge(thread, id.0, writer, write);
                        }
                    }
                }
                if access.writes {
                    writers[cells].fill((id.0, thread));
                }
            }
        }
        self.order
    }

    /// What an event comes after. A fork and notifies are needed by who is only about to do it.
    fn after(&mut self, execution: &Execution, thread: ThreadId, id: EventId, after: After<'_, EventId>) {
        let about_to = id.0.saturating_sub(1);
        match after {
            After::Fork(fork) => self.edge(thread, about_to, execution.thread(*fork), fork.0),
            After::Notifies { notifies, .. } => {
                for notify in notifies {
                    self.edge(thread, about_to, execution.thread(*notify), notify.0);
                }
            }
            After::End(child) => {
                if let Some(&last) = self.order.events[child.index()].last() {
                    self.edge(thread, id.0, child, last);
                }
            }
            // A wait that did not return need not have happened.
            After::Wait(_) => {}
            After::Section(before) | After::Order(before) => {
                self.edge(thread, id.0, execution.thread(*before), before.0);
            }
        }
    }

    #[inline]
    fn edge(&mut self, thread: ThreadId, at: u32, of: ThreadId, needs: u32) {
        if thread == of {
            return;
        }
        let all = &mut self.order.needs[thread.index()];
        let list = self.pairs.list(thread, of, all.len());
        if list == all.len() {
            all.push(Needs { of, edges: Vec::new() });
        }
        let edges = &mut all[list].edges;
        if edges.last().is_none_or(|&(_, last)| last < needs) {
            edges.push((at, needs));
        }
    }
}

/// Numbers the lists of each thread: a table while that is small, else hashed.
enum Pairs {
    Table { threads: usize, lists: Vec<u32> },
    Hashed(FxHashMap<(ThreadId, ThreadId), u32>),
}

impl Pairs {
    fn new(threads: usize) -> Pairs {
        if threads <= 256 {
            Pairs::Table { threads, lists: vec![NONE; threads * threads] }
        } else {
            Pairs::Hashed(FxHashMap::default())
        }
    }

    /// The list of a pair; `next` for a new pair.
    #[inline]
    fn list(&mut self, thread: ThreadId, of: ThreadId, next: usize) -> usize {
        let list = match self {
            Pairs::Table { threads, lists } => &mut lists[thread.index() * *threads + of.index()],
            Pairs::Hashed(lists) => lists.entry((thread, of)).or_insert(NONE),
        };
        if *list == NONE {
            *list = next as u32;
        }
        *list as usize
    }
}
