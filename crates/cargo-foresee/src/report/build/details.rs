//! What a report says about an event, beyond its number: where, by whom, in which call, holding what,
//! and what memory it touched.
//!
//! Engines name events by index. One more pass over the trace, with the calls and locks of every thread and the
//! blocks of memory at hand, collects
//! what people want to know about those few.

use std::collections::BTreeMap;

use foresee_trace::{Event, LocId, LockId, Mem, Mode, Names, Op, ThreadId, WRITERS_OF};

use super::calls::{ContextId, Contexts, Frame, stack};
use super::memory::{Memory, MemoryMap};

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
    /// For accesses: the first address, how many bytes, and what they are.
    pub(crate) memory: Option<(Mem, Memory)>,
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

/// All that was collected.
#[derive(Default)]
pub(crate) struct Collected {
    /// By the number of the event.
    pub(crate) details: BTreeMap<u64, Details>,
    /// Who created each thread.
    pub(crate) created: BTreeMap<ThreadId, Created>,
    /// What to call the locks that the trace knows by their address only.
    pub(crate) locks: BTreeMap<LockId, String>,
}

/// Collects details of the events that are wanted, from all events in order.
pub(crate) struct Collector {
    wanted: Vec<u64>,
    next: usize,
    index: u64,
    threads: Vec<ThreadState>,
    contexts: Contexts,
    memory: MemoryMap,
    collected: Collected,
}

#[derive(Default)]
struct ThreadState {
    /// Whether the thread has done nothing but begin.
    just_began: bool,
    /// Calls, outermost first: the function, where it was called, and the context within it.
    calls: Vec<(Frame, ContextId)>,
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
            contexts: Contexts::default(),
            memory: MemoryMap::default(),
            collected: Collected::default(),
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
        let (contexts, memory) = (&mut self.contexts, &mut self.memory);
        if let Some(lock) = lock(&event.op) {
            memory.use_lock(lock, &event.op, names, contexts);
        }
        if self.wanted.get(self.next) == Some(&self.index) {
            self.next += 1;
            let details = state.details(self.index, names, event, memory, contexts);
            self.collected.details.insert(self.index, details);
        }
        match event.op {
            Op::Fork { child } => {
                self.collected.created.entry(child).or_insert(Created { by: event.thread, loc: event.loc });
            }
            Op::Enter { function } => {
                let call = Frame { function, loc: event.loc };
                state.calls.push((call, contexts.call(state.context(), call)));
            }
            Op::Exit { .. } => drop(state.calls.pop()),
            // It is held with the lock itself.
            Op::Acquire { lock, .. } if names.lock_name(lock).starts_with(WRITERS_OF) => {}
            Op::Acquire { lock, mode, .. } => state.acquire(lock, mode, event.loc),
            Op::Release { lock, .. } => state.release(lock, false),
            Op::Wait { cond, .. } => state.release(cond, true),
            Op::Alloc { mem } => {
                memory.allocate(self.index, mem, event, state.context(), state.just_began);
            }
            Op::Free { mem } => memory.free(mem, event, state.context()),
            _ => {}
        }
        state.just_began = event.op == Op::ThreadBegin;
        self.index += 1;
    }

    /// All that was collected.
    pub(crate) fn finish(self) -> Collected {
        Collected { locks: self.memory.lock_names(), ..self.collected }
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

    fn context(&self) -> ContextId {
        self.calls.last().map_or(ContextId::default(), |&(_, context)| context)
    }

    fn details(
        &self,
        index: u64,
        names: &Names,
        event: &Event<'_>,
        map: &MemoryMap,
        contexts: &Contexts,
    ) -> Details {
        let memory = event.op.mem().map(|mem| (mem, map.at(mem.addr, names, contexts)));
        let target = match (&memory, lock(&event.op)) {
            (Some((mem, memory)), _) => memory.target(*mem, names),
            (None, Some(lock)) => map.lock_name(lock, names),
            (None, None) => target(names, &event.op),
        };
        Details {
            index,
            thread: event.thread,
            op: event.op.name(),
            target,
            memory,
            loc: event.loc,
            stack: stack(names, event.loc, self.calls.iter().rev().map(|&(call, _)| call)),
            held: self.held.iter().map(|&(held, _)| held).collect(),
        }
    }
}

/// The lock or condition of an operation.
pub(super) fn lock(op: &Op<'_>) -> Option<LockId> {
    match *op {
        Op::Request { lock, .. } | Op::Acquire { lock, .. } | Op::Release { lock, .. } => Some(lock),
        Op::Wait { cond, .. } | Op::Notify { cond, .. } => Some(cond),
        _ => None,
    }
}

/// What an operation touches, as people call it; empty for what touches nothing.
pub(crate) fn target(names: &Names, op: &Op<'_>) -> String {
    match *op {
        Op::Fork { child } | Op::Join { child } | Op::Await { child } => names.thread_name(child).to_owned(),
        // A byte stands for a semaphore, a word for what a thread is unparked by.
        Op::Blocked { mem: mem @ Mem { size: 1, .. } } => {
            let name = names.mem_text(mem);
            name.strip_prefix("sync ").unwrap_or(&name).to_owned()
        }
        Op::Blocked { .. } => "unpark".to_owned(),
        Op::Enter { function: name }
        | Op::Exit { function: name }
        | Op::Arguments { function: name, .. }
        | Op::Result { function: name, .. }
        | Op::BlockBegin { name }
        | Op::BlockEnd { name }
        | Op::Call { name, .. }
        | Op::Return { name, .. }
        | Op::Commit { name }
        | Op::CommitBegin { name }
        | Op::CommitEnd { name }
        | Op::Named { name, .. }
        | Op::Blind { code: name, .. }
        | Op::Local { name, .. } => names.str(name).to_owned(),
        _ => match (op.mem(), lock(op)) {
            (Some(mem), _) => names.mem_text(mem),
            (None, Some(lock)) => names.lock_name(lock).to_owned(),
            (None, None) => String::new(),
        },
    }
}
