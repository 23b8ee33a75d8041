//! `hb`: the order of conflicting accesses stays as it was (Roşu, Sen: *Instrumentation technique for online analysis of
//! multithreaded programs*; multithreaded vector clocks).
//!
//! **The relation.** e comes before e′ if they are of one thread in this order, or access the same variable in this order and one of
//! them writes; and so on transitively. A lock is a variable that taking and giving it up write (or read, where it is
//! shared); forks, joins and wake-ups order as rule (d) says, blind code as rule (f) does.
//!
//! **The algorithm**, for an event of thread i, with a clock V_i per thread and two, of accesses and of writes, per variable x:
//! 1. if the event is relevant, V_i\[i\] grows by one;
//! 2. a read of x: V_i ← max(V_i, Vʷ_x), then Vᵃ_x ← max(Vᵃ_x, V_i);
//! 3. a write of x: Vʷ_x ← Vᵃ_x ← V_i ← max(Vᵃ_x, V_i).
//!
//! **Theorem.** For relevant e of thread i and e′ with clocks V and V′ after them, e comes before e′ if and only if V\[i\] ≤ V′\[i\]. (The tests
//! compare it with the transitive closure on random executions.) So a set of relevant events is the relevant part of a
//! set closed under the relation exactly if it holds, with each event, what its clock counts.
//!
//! **Why it is sound.** A linearisation keeps the order of any two conflicting accesses, hence each read reads the same write, and of
//! any two critical sections that exclude each other: a correct reordering.
//!
//! **Cost.** One pass; a clock per shared variable and lock.

use foresee_trace::synchronisation::{Handover, Section};
use foresee_trace::{EventId, Execution, LockId, Mode};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::causality::Causality;
use super::model::{Edges, Letter, Model};
use super::pass::{Known, Pass};

/// The model `hb`.
pub struct HappensBefore;

impl Model for HappensBefore {
    fn name(&self) -> &'static str {
        "hb"
    }

    fn read(&self, execution: &Execution, letter: Letter<'_>, edges: bool) -> (Causality, Option<Edges>) {
        let mut pass = Pass::new(execution, letter, edges, &|_| true);
        let mut memory = Accesses::default();
        let mut locks: FxHashMap<LockId, Variable> = FxHashMap::default();
        for id in execution.ids() {
            let section = pass.begin(id).map(Handover::section);
            memory.before(&mut pass, id);
            if let Some(Section { lock, mode, .. }) = section {
                locks.entry(lock).or_default().before(&mut pass, id, mode == Mode::Exclusive);
            }
            pass.step(id, SmallVec::new());
            memory.after(&mut pass, id);
            if let Some(Section { lock, mode, .. }) = section {
                locks.entry(lock).or_default().after(&mut pass, id, mode == Mode::Exclusive);
            }
            pass.end(id);
        }
        pass.finish()
    }
}

/// The clocks of a variable.
#[derive(Default)]
struct Variable {
    /// The last write.
    write: Option<Known>,
    /// The reads since, the last of each thread.
    reads: SmallVec<[Known; 2]>,
}

impl Variable {
    fn before(&self, pass: &mut Pass<'_>, id: EventId, writes: bool) {
        if let Some(write) = &self.write {
            pass.clocks.learn(id, write);
        }
        if writes {
            self.reads.iter().for_each(|read| pass.clocks.learn(id, read));
        }
    }

    fn after(&mut self, pass: &mut Pass<'_>, id: EventId, writes: bool) {
        let known = pass.clocks.publish(id);
        if writes {
            self.reads.clear();
            self.write = Some(known);
            return;
        }
        let thread = pass.execution.thread(id);
        match self.reads.iter_mut().find(|read| pass.execution.thread(read.event) == thread) {
            Some(read) => *read = known,
            None => self.reads.push(known),
        }
    }
}

/// The clocks of shared memory, cell by cell.
#[derive(Default)]
struct Accesses {
    cells: FxHashMap<u32, Variable>,
}

impl Accesses {
    /// Learns what an access comes after.
    fn before(&self, pass: &mut Pass<'_>, id: EventId) {
        let Some((var, access)) = pass.execution.access(id) else { return };
        for cell in pass.execution.cells(var) {
            if let Some(variable) = self.cells.get(&cell) {
                variable.before(pass, id, access.writes);
            }
        }
    }

    /// Notes the access for those that come after it.
    fn after(&mut self, pass: &mut Pass<'_>, id: EventId) {
        let Some((var, access)) = pass.execution.access(id) else { return };
        for cell in pass.execution.cells(var) {
            if pass.sharing.is_shared(cell) {
                self.cells.entry(cell).or_default().after(pass, id, access.writes);
            }
        }
    }
}
