//! An index of the observed run: which events use which resource, and which block an event is in.

use foresee_trace::{Access, EventId, Execution, LockId, Mode, Op, ThreadId};

use crate::atomicity::blocks::{Blocks, Boundary};
use crate::locks::{LockHistory, exclude};
use crate::order::MustOrder;
use foresee_witness::judge::Place;

/// A cell of memory, a lock, or a thread's life: what two events can conflict about. Numbered in this order.
pub(super) type Resource = u32;

/// How an event uses a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Use {
    Reads,
    Writes,
    /// Reads and writes at once.
    Updates,
    Takes(Mode),
    Gives(Mode),
    /// Forks the thread.
    Forks,
    /// Is the forked thread's first event.
    Begins,
    /// Is the joined thread's last event.
    Ends,
    /// Joins the thread.
    Joins,
}

impl Use {
    /// Whether the later use cannot be swapped with this one.
    pub(super) fn conflicts(self, later: Use) -> bool {
        match (self, later) {
            (Use::Gives(gave), Use::Takes(took)) => exclude(gave, took),
            (Use::Forks, Use::Begins) | (Use::Ends, Use::Joins) => true,
            _ => self.is_access() && later.is_access() && (self, later) != (Use::Reads, Use::Reads),
        }
    }

    /// Whether it is about memory.
    pub(super) fn is_access(self) -> bool {
        matches!(self, Use::Reads | Use::Writes | Use::Updates)
    }

    /// What is certain of a use whose read may have changed: an update may not have written.
    pub(super) fn at_least(self) -> Use {
        if self == Use::Updates { Use::Reads } else { self }
    }
}

impl From<Access> for Use {
    fn from(access: Access) -> Use {
        match (access.reads, access.writes) {
            (true, true) => Use::Updates,
            (false, true) => Use::Writes,
            _ => Use::Reads,
        }
    }
}

/// A block of a thread: its events are those from `begin` up to and without `bound`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) begin: EventId,
    pub(super) bound: u32,
    pub(super) place: Place,
}

/// The observed run and its index.
pub(super) struct RunIndex<'e> {
    pub(super) execution: &'e Execution,
    pub(super) order: &'e MustOrder,
    pub(super) locks: &'e LockHistory,
    /// The blocks of each thread, in order.
    pub(super) blocks: Vec<Vec<Block>>,
    /// The events that use each resource; empty where no cycle can come from: only one thread uses it, nothing writes, or
    /// no block uses it.
    pub(super) users: Vec<Vec<EventId>>,
    /// The first and the last event of each thread.
    ends: Vec<Option<(EventId, EventId)>>,
    lock_count: usize,
}

impl<'e> RunIndex<'e> {
    /// `None` if there is no block.
    pub(super) fn of(
        execution: &'e Execution,
        order: &'e MustOrder,
        locks: &'e LockHistory,
        boundaries: &Blocks,
    ) -> Option<RunIndex<'e>> {
        let blocks = blocks(execution, boundaries);
        if blocks.iter().all(Vec::is_empty) {
            return None;
        }
        let (ends, lock_count) = (ends(execution), lock_count(execution));
        let mut index = RunIndex { execution, order, locks, blocks, users: Vec::new(), ends, lock_count };
        index.list_users();
        Some(index)
    }

    /// Calls `visit` with each resource that an event uses.
    #[inline]
    pub(super) fn uses(&self, id: EventId, mut visit: impl FnMut(Resource, Use)) {
        let thread = self.execution.thread(id);
        if let Some((first, last)) = self.ends[thread.index()] {
            if id == first {
                visit(self.life(thread), Use::Begins);
            }
            if id == last {
                visit(self.life(thread) + 1, Use::Ends);
            }
        }
        if let Some((var, access)) = self.execution.access(id) {
            self.execution.cells(var).for_each(|cell| visit(cell, access.into()));
            return;
        }
        let lock = match self.execution.op(id) {
            Op::Acquire { lock, .. } | Op::Release { lock, .. } | Op::Wait { cond: lock, .. } => lock,
            Op::Fork { child } => return visit(self.life(child), Use::Forks),
            Op::Join { child } => return visit(self.life(child) + 1, Use::Joins),
            _ => return,
        };
        let mode = |bound| self.mode(thread, bound, lock);
        let resource = self.execution.cell_count() as u32 + lock.0;
        match (mode(id.0), mode(id.0 + 1)) {
            (None, Some(took)) => visit(resource, Use::Takes(took)),
            (Some(gave), None) => visit(resource, Use::Gives(gave)),
            _ => {}
        }
    }

    /// The beginning of a thread; its end comes next.
    fn life(&self, thread: ThreadId) -> Resource {
        (self.execution.cell_count() + self.lock_count + 2 * thread.index()) as u32
    }

    /// The first event of a thread.
    pub(super) fn first(&self, thread: ThreadId) -> Option<EventId> {
        self.ends[thread.index()].map(|(first, _)| first)
    }

    /// How a thread holds a lock after its events below `bound`.
    pub(super) fn mode(&self, thread: ThreadId, bound: u32, lock: LockId) -> Option<Mode> {
        let held = self.locks.locksets.get(self.locks.held(thread, bound));
        held.iter().find(|&&(l, _)| l == lock).map(|&(_, mode)| mode)
    }

    /// How an event uses a resource.
    pub(super) fn how(&self, id: EventId, resource: Resource) -> Option<Use> {
        let mut how = None;
        self.uses(id, |used, by| {
            if used == resource {
                how = Some(by);
            }
        });
        how
    }

    /// The block that an event is in.
    pub(super) fn block(&self, id: EventId) -> Option<Block> {
        let blocks = &self.blocks[self.execution.thread(id).index()];
        let block = blocks[..blocks.partition_point(|block| block.begin <= id)].last()?;
        (id.0 < block.bound).then_some(*block)
    }

    /// Where an event is.
    pub(super) fn place(&self, id: EventId) -> Place {
        let target = match (self.execution.access(id), self.execution.op(id)) {
            (Some((var, _)), _) => self.execution.mem(var).addr,
            (_, Op::Acquire { lock, .. } | Op::Release { lock, .. } | Op::Wait { cond: lock, .. }) => {
                u64::from(lock.0)
            }
            (_, Op::Fork { child } | Op::Join { child }) => u64::from(child.0),
            _ => 0,
        };
        Place::new(self.execution.loc(id), target)
    }

    fn list_users(&mut self) {
        #[derive(Clone, Copy, Default)]
        struct Summary {
            thread: Option<ThreadId>,
            several: bool,
            conflicts: bool,
            in_block: bool,
        }
        let resources = self.life(ThreadId(self.execution.thread_count() as u32)) as usize;
        let mut summaries = vec![Summary::default(); resources];
        for id in self.execution.ids() {
            let (thread, in_block) = (self.execution.thread(id), self.block(id).is_some());
            self.uses(id, |resource, how| {
                let summary = &mut summaries[resource as usize];
                summary.several |= *summary.thread.get_or_insert(thread) != thread;
                summary.conflicts |= how != Use::Reads;
                summary.in_block |= in_block;
            });
        }
        let mut users = vec![Vec::new(); resources];
        for id in self.execution.ids() {
            self.uses(id, |resource, _| {
                let Summary { several, conflicts, in_block, .. } = summaries[resource as usize];
                if several && conflicts && in_block {
                    users[resource as usize].push(id);
                }
            });
        }
        self.users = users;
    }
}

fn ends(execution: &Execution) -> Vec<Option<(EventId, EventId)>> {
    let mut ends: Vec<Option<(EventId, EventId)>> = vec![None; execution.thread_count()];
    for id in execution.ids() {
        ends[execution.thread(id).index()].get_or_insert((id, id)).1 = id;
    }
    ends
}

/// One more than the largest number of a lock.
fn lock_count(execution: &Execution) -> usize {
    let lock = |id| match execution.op(id) {
        Op::Acquire { lock, .. } | Op::Release { lock, .. } | Op::Wait { cond: lock, .. } => lock.index() + 1,
        _ => 0,
    };
    execution.ids().map(lock).max().unwrap_or(0)
}

fn blocks(execution: &Execution, boundaries: &Blocks) -> Vec<Vec<Block>> {
    let mut blocks: Vec<Vec<Block>> = vec![Vec::new(); execution.thread_count()];
    let mut depths = vec![0u32; execution.thread_count()];
    for id in execution.ids() {
        let thread = execution.thread(id).index();
        let depth = &mut depths[thread];
        match boundaries.boundary(&execution.op(id)) {
            Some(Boundary::Begin(name)) => {
                *depth += 1;
                if *depth == 1 {
                    let place = Place::new(execution.loc(id), u64::from(name.0));
                    blocks[thread].push(Block { begin: id, bound: u32::MAX, place });
                }
            }
            Some(Boundary::End) => {
                if *depth == 1
                    && let Some(block) = blocks[thread].last_mut()
                {
                    block.bound = id.0 + 1;
                }
                *depth = depth.saturating_sub(1);
            }
            None => {}
        }
    }
    blocks
}
