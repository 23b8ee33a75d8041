//! What a report says about an event, beyond its number: where, by whom, in which call, holding what.
//!
//! Engines name events by index. One more pass over the trace, with the calls and locks of every thread at hand, collects
//! what people want to know about those few.

use std::collections::BTreeMap;

use foresee_trace::{Event, LocId, LockId, Mode, Names, Op, StrId, ThreadId};

/// One call on a thread's stack: the function, and where in it the thread was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) function: StrId,
    pub(crate) loc: LocId,
}

/// A lock that a thread held, and where it took it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) lock: LockId,
    pub(crate) mode: Mode,
    pub(crate) loc: LocId,
}

/// One event of a finding.
#[derive(Clone, Debug)]
pub(crate) struct Details {
    pub(crate) index: u64,
    pub(crate) thread: ThreadId,
    /// The operation's name, such as `read`.
    pub(crate) op: &'static str,
    /// What it touched, by name.
    pub(crate) target: String,
    /// How many bytes, for accesses.
    pub(crate) size: Option<u32>,
    pub(crate) loc: LocId,
    /// Innermost call first.
    pub(crate) stack: Vec<Frame>,
    pub(crate) held: Vec<Held>,
}

/// Who created a thread, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Created {
    pub(crate) by: ThreadId,
    pub(crate) loc: LocId,
}

/// Collects details of the events that are wanted, from all events in order.
pub(crate) struct Collector {
    wanted: Vec<u64>,
    next: usize,
    index: u64,
    threads: Vec<ThreadState>,
    created: BTreeMap<ThreadId, Created>,
    found: BTreeMap<u64, Details>,
}

#[derive(Default)]
struct ThreadState {
    /// Calls, outermost first: the function, and where it was called.
    calls: Vec<Frame>,
    /// Locks with how often each was entered.
    held: Vec<(Held, u32)>,
}

impl Collector {
    /// Wants these events, by index.
    pub(crate) fn new(mut wanted: Vec<u64>) -> Collector {
        wanted.sort_unstable();
        wanted.dedup();
        Collector {
            wanted,
            next: 0,
            index: 0,
            threads: Vec::new(),
            created: BTreeMap::new(),
            found: BTreeMap::new(),
        }
    }

    /// Whether all wanted events have been seen.
    pub(crate) fn is_done(&self) -> bool {
        self.next == self.wanted.len()
    }

    /// The next event of the trace.
    pub(crate) fn event(&mut self, names: &Names, event: &Event<'_>) {
        let thread = event.thread.index();
        if self.threads.len() <= thread {
            self.threads.resize_with(thread + 1, ThreadState::default);
        }
        let state = &mut self.threads[thread];
        if self.wanted.get(self.next) == Some(&self.index) {
            self.next += 1;
            self.found.insert(self.index, state.details(self.index, names, event));
        }
        self.index += 1;
        match event.op {
            Op::Fork { child } => {
                self.created.entry(child).or_insert(Created { by: event.thread, loc: event.loc });
            }
            Op::Enter { function } => state.calls.push(Frame { function, loc: event.loc }),
            Op::Exit { .. } => drop(state.calls.pop()),
            Op::Acquire { lock, mode, .. } => state.acquire(lock, mode, event.loc),
            Op::Release { lock, .. } => state.release(lock, false),
            Op::Wait { cond } => state.release(cond, true),
            _ => {}
        }
    }

    /// Details by index, and who created each thread.
    pub(crate) fn finish(self) -> (BTreeMap<u64, Details>, BTreeMap<ThreadId, Created>) {
        (self.found, self.created)
    }
}

impl ThreadState {
    fn acquire(&mut self, lock: LockId, mode: Mode, loc: LocId) {
        match self.held.iter_mut().find(|(held, _)| held.lock == lock) {
            Some((_, depth)) => *depth += 1,
            None => self.held.push((Held { lock, mode, loc }, 1)),
        }
    }

    fn release(&mut self, lock: LockId, all: bool) {
        if let Some(at) = self.held.iter().position(|(held, _)| held.lock == lock) {
            self.held[at].1 -= 1;
            if all || self.held[at].1 == 0 {
                self.held.remove(at);
            }
        }
    }

    fn details(&self, index: u64, names: &Names, event: &Event<'_>) -> Details {
        // Each call is recorded with the place it was made from, which belongs to the frame outside of it.
        let mut loc = event.loc;
        let mut stack = Vec::with_capacity(self.calls.len() + 1);
        for call in self.calls.iter().rev() {
            stack.push(Frame { function: call.function, loc });
            loc = call.loc;
        }
        let own = names.location_at(event.loc).function;
        if stack.first().is_none_or(|top| top.function != own) && own != StrId::EMPTY {
            stack.insert(0, Frame { function: own, loc: event.loc });
        }
        Details {
            index,
            thread: event.thread,
            op: event.op.name(),
            target: target(names, &event.op),
            size: event.op.mem().map(|mem| mem.size),
            loc: event.loc,
            stack,
            held: self.held.iter().map(|&(held, _)| held).collect(),
        }
    }
}

/// What an operation touches, as people call it; empty for what touches nothing.
pub(crate) fn target(names: &Names, op: &Op<'_>) -> String {
    match *op {
        Op::Request { lock: id, .. }
        | Op::Acquire { lock: id, .. }
        | Op::Release { lock: id, .. }
        | Op::Wait { cond: id }
        | Op::Notify { cond: id, .. } => names.lock_name(id).to_owned(),
        Op::Fork { child } | Op::Join { child } => names.thread_name(child).to_owned(),
        Op::Enter { function: name }
        | Op::Exit { function: name }
        | Op::BlockBegin { name }
        | Op::BlockEnd { name }
        | Op::Call { name, .. }
        | Op::Return { name, .. }
        | Op::Commit { name }
        | Op::CommitBegin { name }
        | Op::CommitEnd { name }
        | Op::Named { name, .. }
        | Op::Local { name, .. } => names.str(name).to_owned(),
        _ => op.mem().map(|mem| names.mem_text(mem)).unwrap_or_default(),
    }
}
