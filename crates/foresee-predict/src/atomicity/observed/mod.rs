//! Atomicity violations of the observed run, in one pass.
//!
//! **Idea** (Mathur, Viswanathan, *Atomicity Checking in Linear Time using Vector Clocks*, ASPLOS 2020). Every thread, lock and
//! variable carries what its past depends on. An event joins the past of what it conflicts with; if that past already
//! depends on the block the event is in, a cycle of transactions closes: the block is not atomic. When a block ends,
//! whatever depends on its begin depends on all of it from then on.
//!
//! **Deviations.** Where the paper compares vector clocks, this compares sets of *open* blocks, one bit each: the check only
//! ever asks whether a clock has reached the begin of a block that is still open, so the rest of a clock is dead weight.
//! When a block ends, its bit is replaced everywhere by what it depended on; each set that got the bit is on the block's
//! list, so the end costs no more than what put it there, and nothing at all has to be searched. Blocks still open at the
//! end of the run are ended there. After a violation the pass goes on; each further one is a cycle too.
//!
//! **Exactness.** The run is conflict serialisable if and only if nothing is reported, and every reported block instance is
//! on a cycle (of the blocks on one cycle, at least one is reported). Bytes are bytes: a history belongs to bytes that were
//! always touched together (`memory`). Freeing counts as a write of the bytes that were ever touched in this
//! life; use of other bytes after the free adds no edge, which can hide a cycle but not make one. If more than 128 blocks are
//! open at once, the further ones count as events without a block (again, nothing false) and as undecided.
//!
//! **Cost.** Per event the words it touches, and amortised one step per open block that a set newly depends on. Memory:
//! 112 bytes per word of memory touched, and per lock; per thread and open block what they hold. Independent of the length
//! of the run and of threads².

mod history;
mod memory;
mod report;
mod threads;

use foresee_trace::synchronisation::{Handover, LockWalk, Section};
use foresee_trace::{Event, Mem, Mode, Names, Op, ThreadId};

use super::blocks::{Blocks, Boundary};
use foresee_witness::atomic::AtomicFunctions;
use foresee_witness::engine::{Outcome, StreamEngine};
use history::{Edge, EventAt, History, SLOTS, Set, bits};
use memory::{Memory, Visit};
use report::Report;
use threads::Thread;

/// Finds the atomicity violations of the observed run.
pub struct ObservedAtomicity {
    blocks: Blocks,
    threads: Vec<Thread>,
    histories: Vec<History>,
    memory: Memory,
    /// The histories of the event at hand.
    touched: Vec<u32>,
    held: LockWalk,
    /// The history of each lock; `NO_HISTORY` before its first release.
    locks: Vec<u32>,
    open: Vec<Open>,
    free_slots: Vec<usize>,
    report: Report,
    /// Blocks that found no free slot.
    untracked: u64,
}

/// A slot for an open block.
struct Open {
    thread: ThreadId,
    begin: EventAt,
    name: u64,
    /// Who depends on it.
    dependents: Vec<Dependent>,
    reported: bool,
}

#[derive(Clone, Copy)]
enum Dependent {
    Thread(ThreadId),
    History(u32),
}

const NO_HISTORY: u32 = u32::MAX;

impl ObservedAtomicity {
    /// An engine for which calls of `functions` are atomic blocks, beside the annotated ones.
    pub fn new(functions: AtomicFunctions) -> Self {
        ObservedAtomicity {
            blocks: Blocks::new(functions),
            threads: Vec::new(),
            histories: Vec::new(),
            memory: Memory::default(),
            touched: Vec::new(),
            held: LockWalk::new(),
            locks: Vec::new(),
            open: Vec::new(),
            free_slots: Vec::new(),
            report: Report::default(),
            untracked: 0,
        }
    }

    fn begin(&mut self, here: EventAt, name: u64) {
        let thread = &mut self.threads[here.thread.index()];
        thread.depth += 1;
        if thread.depth > 1 {
            return;
        }
        let slot = match self.free_slots.pop() {
            Some(slot) => slot,
            None if self.open.len() < SLOTS => {
                self.open.push(Open {
                    thread: here.thread,
                    begin: here,
                    name,
                    dependents: Vec::new(),
                    reported: false,
                });
                self.open.len() - 1
            }
            None => {
                self.untracked += 1;
                return;
            }
        };
        let open = &mut self.open[slot];
        (open.thread, open.begin, open.name, open.reported) = (here.thread, here, name, false);
        let thread = &mut self.threads[here.thread.index()];
        thread.block = 1 << slot;
        thread.depends_on |= thread.block;
    }

    fn end(&mut self, thread: ThreadId) {
        let state = &mut self.threads[thread.index()];
        if state.depth != 1 {
            state.depth = state.depth.saturating_sub(1);
            return;
        }
        state.depth = 0;
        self.close(thread);
    }

    /// Ends the thread's block, if it has a slot: what depends on it now depends on all that it depended on.
    fn close(&mut self, thread: ThreadId) {
        let state = &mut self.threads[thread.index()];
        let gone = std::mem::take(&mut state.block);
        if gone == 0 {
            return;
        }
        state.depends_on &= !gone;
        let instead = state.depends_on;
        let slot = gone.trailing_zeros() as usize;
        let mut dependents = std::mem::take(&mut self.open[slot].dependents);
        for dependent in dependents.drain(..) {
            match dependent {
                Dependent::History(history) => {
                    let sets = &mut self.histories[history as usize];
                    let before = sets.all();
                    if before & gone != 0 {
                        sets.replace(gone, instead);
                        self.note(instead & !before, dependent);
                    }
                }
                Dependent::Thread(dependent) => self.inherit(dependent, slot, instead),
            }
        }
        self.open[slot].dependents = dependents;
        self.free_slots.push(slot);
    }

    /// A thread that depended on the block in `slot` depends on `instead`.
    fn inherit(&mut self, thread: ThreadId, slot: usize, instead: Set) {
        let state = &mut self.threads[thread.index()];
        let new = instead & !state.depends_on;
        // A thread that never did anything is in no block.
        let unknown = state.last.map(|last| Edge { from: None, to: last, target: 0 });
        let edge = state.forget(slot).or(unknown);
        state.depends_on |= instead;
        if let Some(edge) = edge {
            bits(new).for_each(|slot| state.came(slot, edge));
        }
        let closes_cycle = state.block & instead;
        self.note(new, Dependent::Thread(thread));
        if closes_cycle != 0
            && let Some(edge) = edge
        {
            self.violation(closes_cycle, edge);
        }
    }

    /// Puts someone on the lists of the blocks in `new`.
    #[inline]
    fn note(&mut self, new: Set, dependent: Dependent) {
        for slot in bits(new) {
            self.open[slot].dependents.push(dependent);
        }
    }

    /// A thread comes to depend on `set`; the part of it that is `of_others` must not include its own block.
    #[inline]
    fn take(&mut self, thread: ThreadId, set: Set, of_others: Set, edge: impl Fn(&Self, Set) -> Edge) {
        let state = &self.threads[thread.index()];
        let (new, cycle) = (set & !state.depends_on, of_others & state.block);
        if new == 0 && cycle == 0 {
            return;
        }
        for slot in bits(new) {
            let edge = edge(self, 1 << slot);
            self.threads[thread.index()].came(slot, edge);
        }
        self.threads[thread.index()].depends_on |= new;
        self.note(new, Dependent::Thread(thread));
        if cycle != 0 {
            let edge = edge(self, cycle);
            self.violation(cycle, edge);
        }
    }

    #[inline]
    fn take_from(&mut self, history: u32, exclusively: bool, here: EventAt, target: u64) {
        let taken = self.histories[history as usize].take(here.thread, exclusively);
        self.take(here.thread, taken.set, taken.of_others, |engine, block| {
            let sources = engine.histories[history as usize].sources(block);
            let from = sources.into_iter().flatten().find(|from| engine.carries(*from, here, block));
            Edge { from, to: here, target }
        });
    }

    /// Whether an earlier event may have brought a block's bit to `to`.
    fn carries(&self, from: EventAt, to: EventAt, block: Set) -> bool {
        let state = &self.threads[from.thread.index()];
        from.thread != to.thread && state.depends_on & block != 0
    }

    #[inline]
    fn give_to(&mut self, history: u32, exclusively: bool, here: EventAt) {
        let Thread { depends_on, block, .. } = self.threads[here.thread.index()];
        let given = &mut self.histories[history as usize];
        let new = depends_on & !given.all();
        given.give(depends_on, block, exclusively, here);
        self.note(new, Dependent::History(history));
    }

    #[inline]
    fn access(&mut self, mem: Mem, writes: bool, here: EventAt) {
        // The map is taken out so that its walk can call the rest of the engine.
        let mut memory = std::mem::take(&mut self.memory);
        memory.visit(mem, |visit| match visit {
            Visit::Touch(history) => {
                self.take_from(history, writes, here, mem.addr);
                self.touched.push(history);
                history
            }
            Visit::New => self.add_history(History::default()),
            Visit::Split(history) => {
                let copy = self.histories[history as usize];
                let number = self.add_history(copy);
                self.note(copy.all(), Dependent::History(number));
                number
            }
        });
        self.memory = memory;
        self.give_to_touched(writes, here);
    }

    /// Gives to all bytes of the event what it took from any of them.
    #[inline]
    fn give_to_touched(&mut self, writes: bool, here: EventAt) {
        while let Some(history) = self.touched.pop() {
            self.give_to(history, writes, here);
        }
    }

    fn free(&mut self, mem: Mem, here: EventAt) {
        let memory = std::mem::take(&mut self.memory);
        memory.visit_known(mem, |history| {
            self.take_from(history, true, here, mem.addr);
            self.touched.push(history);
        });
        self.memory = memory;
        self.give_to_touched(true, here);
    }

    fn add_history(&mut self, history: History) -> u32 {
        self.histories.push(history);
        self.histories.len() as u32 - 1
    }

    fn handover(&mut self, handover: Handover, here: EventAt) {
        let Section { lock, mode, .. } = handover.section();
        if self.locks.len() <= lock.index() {
            self.locks.resize(lock.index() + 1, NO_HISTORY);
        }
        let history = &mut self.locks[lock.index()];
        match handover {
            Handover::Takes(_) if *history != NO_HISTORY => {
                let history = *history;
                self.take_from(history, mode == Mode::Exclusive, here, u64::from(lock.0));
            }
            Handover::Takes(_) => {}
            Handover::Gives(_) => {
                if *history == NO_HISTORY {
                    *history = self.histories.len() as u32;
                    self.histories.push(History::default());
                }
                let history = *history;
                self.give_to(history, mode == Mode::Exclusive, here);
            }
        }
    }

    fn fork(&mut self, child: ThreadId, here: EventAt) {
        self.know(child);
        let set = self.threads[here.thread.index()].depends_on;
        let to = EventAt { thread: child, ..here };
        self.take(child, set, 0, |_, _| Edge { from: Some(here), to, target: u64::from(child.0) });
    }

    fn join(&mut self, child: ThreadId, here: EventAt) {
        self.know(child);
        let Thread { depends_on, last, .. } = self.threads[child.index()];
        // A thread that did nothing orders nothing.
        if last.is_some() && child != here.thread {
            let edge = Edge { from: last, to: here, target: u64::from(child.0) };
            self.take(here.thread, depends_on, depends_on, |_, _| edge);
        }
    }

    fn violation(&mut self, block: Set, closing: Edge) {
        let open = &mut self.open[block.trailing_zeros() as usize];
        if std::mem::replace(&mut open.reported, true) {
            return;
        }
        let (begin, name) = (open.begin, open.name);
        let cycle = threads::cycle(&self.threads, begin.thread, block.trailing_zeros() as usize, closing);
        self.report.add(begin, name, &cycle, closing);
    }

    fn know(&mut self, thread: ThreadId) {
        if self.threads.len() <= thread.index() {
            self.threads.resize_with(thread.index() + 1, Thread::default);
        }
    }
}

impl StreamEngine for ObservedAtomicity {
    fn names(&mut self, names: &Names) {
        self.blocks.learn(names);
    }

    #[inline]
    fn event(&mut self, index: u64, event: &Event<'_>) {
        // Before the first block there is nothing that an access could depend on.
        if self.open.is_empty() && matches!(event.op, Op::Read { .. } | Op::Write { .. }) {
            return;
        }
        self.know(event.thread);
        let thread = &mut self.threads[event.thread.index()];
        if thread.depth == 0 {
            thread.transaction = index;
        }
        let here = EventAt { index, transaction: thread.transaction, thread: event.thread, loc: event.loc };
        thread.begins_with(here);
        match event.op {
            Op::Free { mem } => self.free(mem, here),
            Op::Alloc { mem } => self.memory.forget(mem),
            op @ (Op::Acquire { .. } | Op::Release { .. } | Op::Wait { .. }) => {
                if let Some(handover) = self.held.event(event.thread, &op) {
                    self.handover(handover, here);
                }
            }
            Op::Fork { child } => self.fork(child, here),
            Op::Join { child } => self.join(child, here),
            op => match (op.mem(), op.access(), self.blocks.boundary(&op)) {
                (Some(mem), Some(access), _) => self.access(mem, access.writes, here),
                (_, _, Some(Boundary::Begin(name))) => self.begin(here, u64::from(name.0)),
                (_, _, Some(Boundary::End)) => self.end(event.thread),
                _ => {}
            },
        }
        self.threads[event.thread.index()].last = Some(here);
    }

    fn finish(mut self: Box<Self>, _names: &Names) -> Outcome {
        for thread in 0..self.threads.len() {
            self.close(ThreadId(thread as u32));
        }
        Outcome { findings: self.report.findings(), undecided: self.untracked, ..Outcome::default() }
    }
}
