//! `weak`: a read comes after the write it reads, and nothing else orders accesses (Sen, Roşu, Agha: *Detecting errors in
//! multithreaded programs by generalized predictive analysis of executions*, 2005).
//!
//! **The relation.** Thread order, reads-from and rules (d) and (f), transitively. In addition there are *turns*, which the paper calls atomic
//! sets: a write of a cell with all its reads, and likewise the initial value with its reads; a critical section, from taking the lock
//! to giving it up. No other access of the cell, no other section of the lock (unless both share it) comes in between. So two
//! writes of different threads may change places if their reads go with them, and so may critical sections without blind code (rule (f)).
//!
//! **Why it is sound.** A path through the lattice keeps thread order and rules (d) and (f). A read follows its write, and between the two no other
//! write of the cell comes: its turn begins only when the reads of the one before have happened. So each read
//! reads the write it read (rule (c)), and a lock has one holder (rule (b)).
//!
//! **What it leaves out.** A thread may stop anywhere. Then its last read may read another write (rule (e)), the write that its next read
//! observed may be overwritten, and a notify may come too early for its wait: rule (d) asks for nothing before the wait returns. `weak` has
//! none of these runs: turns are kept whole, and a wait that returned in the observed run always comes before what woke it. Otherwise
//! what can come after a cut would depend on how it was reached, and the cuts would be no lattice.
//!
//! **Which events are steps.** Those of the property, and those that take a turn which could have to wait: writes of cells
//! that several threads access and that have had several values, and taking a lock that several threads take. All others
//! (reads, releases, joins, …) happen as soon as the steps before them have. That leaves nothing out: none of them takes a turn, so
//! none can stand in the way of anything, and ending a turn earlier only allows more.
//!
//! A read-modify-write is in two turns of its cell: it ends the one it reads, all other reads of which come first, and
//! begins its own.
//!
//! Threads come and go: a clock has a component for each thread of the execution, but steps say only what is new in it.
//!
//! **Cost.** One pass, a clock for each shared cell's present turn.

use foresee_trace::synchronisation::{Handover, Section};
use foresee_trace::{EventId, Execution, LockId, Mode, ThreadId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::causality::{Causality, Over, Take};
use super::model::{Edges, INITIAL, Letter, Model};
use super::pass::{Known, Pass, beyond, join};

/// The model `weak`.
pub struct Weak;

impl Model for Weak {
    fn name(&self) -> &'static str {
        "weak"
    }

    fn read(&self, execution: &Execution, letter: Letter<'_>, edges: bool) -> (Causality, Option<Edges>) {
        read(execution, letter, edges, &|_| true)
    }
}

/// The model, where only the accesses that `counts` says count.
pub(super) fn read(
    execution: &Execution,
    letter: Letter<'_>,
    edges: bool,
    counts: &dyn Fn(EventId) -> bool,
) -> (Causality, Option<Edges>) {
    let mut pass = Pass::new(execution, letter, edges, counts);
    let (mut memory, mut locks) = (Memory::default(), Locks::default());
    for id in execution.ids() {
        let handover = pass.begin(id);
        let mut takes = SmallVec::new();
        if counts(id) {
            memory.before(&mut pass, id, &mut takes);
        }
        locks.before(&mut pass, handover, &mut takes);
        let step = pass.step(id, takes);
        if counts(id) {
            memory.after(&mut pass, id, step);
        }
        locks.after(&mut pass, id, handover, step);
        pass.end(id);
    }
    memory.finish(&mut pass);
    pass.finish()
}

/// The turn of a cell that is going on.
struct Turn {
    /// Who began it with which step, and what was known there; nobody for the initial value.
    begun: Option<(ThreadId, u32)>,
    event: u32,
    clock: Vec<u32>,
    /// What the reads need.
    reads: Vec<u32>,
    successor: Option<(u32, u32)>,
}

impl Turn {
    fn end(self, pass: &mut Pass<'_>, object: u32) {
        // Nobody is excepted: that a thread's own later read has happened is news, too.
        let needs = beyond(&self.reads, &self.clock, ThreadId(u32::MAX));
        let over = Over { needs, successor: self.successor };
        match self.begun {
            Some((thread, step)) => pass.causality.end_turn(object, thread.0, step, over),
            None => pass.causality.end_first_turn(object, over),
        }
    }
}

/// Shared memory, cell by cell.
#[derive(Default)]
struct Memory {
    writes: FxHashMap<u32, Known>,
    objects: FxHashMap<u32, u32>,
    turns: FxHashMap<u32, Turn>,
}

impl Memory {
    fn before(&mut self, pass: &mut Pass<'_>, id: EventId, takes: &mut SmallVec<[Take; 1]>) {
        let Some((var, access)) = pass.execution.access(id) else { return };
        for cell in pass.execution.cells(var) {
            if access.reads
                && let Some(write) = self.writes.get(&cell)
            {
                pass.clocks.learn(id, write);
            }
            if access.writes && pass.sharing.is_contended(cell) {
                let object = self.object(pass, cell);
                takes.push(Take { object, shared: false });
            }
        }
    }

    /// The object of a contended cell; with the first access the turn of the initial value begins.
    fn object(&mut self, pass: &mut Pass<'_>, cell: u32) -> u32 {
        *self.objects.entry(cell).or_insert_with(|| {
            let object = pass.causality.add_object();
            let clock = vec![0; pass.execution.thread_count()];
            let reads = clock.clone();
            self.turns.insert(object, Turn { begun: None, event: INITIAL, clock, reads, successor: None });
            object
        })
    }

    fn after(&mut self, pass: &mut Pass<'_>, id: EventId, step: Option<u32>) {
        let Some((var, access)) = pass.execution.access(id) else { return };
        let thread = pass.execution.thread(id);
        for cell in pass.execution.cells(var) {
            if !pass.sharing.is_shared(cell) {
                continue;
            }
            if access.writes {
                self.writes.insert(cell, pass.clocks.publish(id));
            }
            if !pass.sharing.is_contended(cell) {
                continue;
            }
            let object = self.object(pass, cell);
            if access.reads
                && let Some(turn) = self.turns.get_mut(&object)
            {
                if access.writes {
                    turn.successor = step.map(|step| (thread.0, step));
                } else {
                    join(&mut turn.reads, pass.clocks.clock(thread));
                }
                if let Some(edges) = pass.clocks.edges() {
                    edges.add_member(object, turn.event, id);
                }
            }
            if access.writes
                && let Some(step) = step
            {
                let clock = pass.clocks.clock(thread).to_vec();
                let reads = clock.clone();
                let begun = Some((thread, step));
                let turn = Turn { begun, event: id.0, clock, reads, successor: None };
                if let Some(last) = self.turns.insert(object, turn) {
                    last.end(pass, object);
                }
            }
        }
    }

    fn finish(self, pass: &mut Pass<'_>) {
        self.turns.into_iter().for_each(|(object, turn)| turn.end(pass, object));
    }
}

/// Critical sections of locks that several threads take.
#[derive(Default)]
struct Locks {
    objects: FxHashMap<LockId, u32>,
    /// With which step a thread took a lock, and what it knew then.
    taken: FxHashMap<(ThreadId, LockId), (u32, Known)>,
}

impl Locks {
    /// Taking a lock takes a turn.
    fn before(&mut self, pass: &mut Pass<'_>, handover: Option<Handover>, takes: &mut SmallVec<[Take; 1]>) {
        if let Some(Handover::Takes(Section { lock, mode, .. })) = handover
            && pass.sharing.is_shared_lock(lock)
        {
            let object = *self.objects.entry(lock).or_insert_with(|| pass.causality.add_object());
            takes.push(Take { object, shared: mode == Mode::Shared });
        }
    }

    /// Giving it up ends the turn.
    fn after(&mut self, pass: &mut Pass<'_>, id: EventId, handover: Option<Handover>, step: Option<u32>) {
        let thread = pass.execution.thread(id);
        match (handover, step) {
            (Some(Handover::Takes(Section { lock, .. })), Some(step)) => {
                let known = pass.clocks.publish(id);
                self.taken.insert((thread, lock), (step, known));
            }
            (Some(Handover::Gives(Section { lock, .. })), _) => {
                let Some((step, known)) = self.taken.remove(&(thread, lock)) else { return };
                let Some(&object) = self.objects.get(&lock) else { return };
                let needs = beyond(pass.clocks.clock(thread), &known.clock, ThreadId(u32::MAX));
                pass.causality.end_turn(object, thread.0, step, Over { needs, successor: None });
                if let Some(edges) = pass.clocks.edges() {
                    edges.add_member(object, known.event.0, id);
                }
            }
            _ => {}
        }
    }
}
