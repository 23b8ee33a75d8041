//! `hb`: the data races of the observed run.
//!
//! Two accesses of different threads race if they touch a common byte, one writes, not both are atomic, and the language's
//! happens-before does not order them in this run. Every racy pair of places is found, not only the first race of a
//! variable.
//!
//! **Ideas.** One pass with vector clocks; like *FastTrack* (Flanagan, Freund: *FastTrack: efficient and precise dynamic race
//! detection*, 2009) it compares an access with one event wherever that decides for all (module `cell`). After a first race
//! a program may take a way that it took only because of the race; *SHB* (Mathur, Kini, Viswanathan: *What happens-after the
//! first race? Enhancing the predictive power of happens-before based dynamic race detection*, 2018) shows which of
//! the races are real regardless: those not ordered even when every read is ordered after the write it read. Such a race
//! is marked *schedulable*: its accesses can be put side by side in a correct reordering (the events before either of them
//! in that order, as observed, then the two).
//!
//! **Deviations.** Times are positions in the run instead of counters (see [`crate::clock`]), so there is nothing to
//! count up and an epoch is also the event to report. A cell keeps an entry per (thread, place, manner) instead of one epoch,
//! because one epoch knows one race only. The clock of the schedulable order exists only where it differs.
//! A read-modify-write and a plain read are never marked schedulable: put elsewhere, the former may read another value and
//! write nothing.
//!
//! **Happens-before** is that of C11 and Rust, edges being added rather than missed where the trace leaves room:
//! * an exclusive release is before every later acquire of the lock, a shared release before every later exclusive one; only
//!   the outermost acquire and release of a re-entered lock count; waiting for a condition that is a lock held gives it up;
//! * fork is before the child's events, the child's events before join;
//! * a notify is before the next event of each thread then waiting for the condition;
//! * an atomic read that acquires is after the release whose release sequence it reads: a store begins a sequence, a
//!   read-modify-write continues it, any other store ends it. `seqcst` is `acqrel`, `consume` is `acquire`;
//! * fences: a relaxed write publishes what its thread knew at its last release fence; what relaxed reads saw published is
//!   learnt at the next acquire fence;
//! * atomics of different sizes at overlapping bytes: a read acquires from all of them. A plain write does not end a release
//!   sequence: only a read that races with it or is ordered after it anyway could tell the difference.
//!
//! **Blind code** that may have synchronised ([`Op::Blind`]) is not happens-before, but what it may have ordered is not certainly a race: in a third,
//! *suspected* order, such code is an acquiring and releasing read-modify-write of one variable that all of it shares. A race that is
//! ordered there is a candidate, with a reason that names the code. Its clock exists only after such code.
//!
//! Freeing memory is a plain write to all of it; allocating begins a new life without accesses. The first write of 16 bytes after that,
//! from the same place, is the allocator's. What races with that and with other accesses, too, is told of with these: it would be the same mistake twice.
//!
//! **Cost.** Per access, constant time as long as the accesses since the cell's last clean write are few; with a race,
//! linear in the entries of the cell. Per acquire and release, linear in the thread slots (see `threads`) or, where there are very
//! many, in what is new, and constant if there is nothing to learn. Memory: for each word of memory accessed, 16 bytes, 64 per cell and 16 per entry, a page accessed only
//! as a whole counting as one word; for each lock, fence and atomic variable the clock last published; for the last write of each
//! cell a clock that all writes of a thread share between two changes of its clock. Nothing depends on the length of the
//! trace.

mod cell;
mod entries;
mod knowledge;
mod pages;
mod races;
mod shadow;
mod snapshots;
mod sync;
#[cfg(test)]
mod tests;
mod threads;

use foresee_trace::{Event, LocId, Mem, Names, Op};

use entries::{Key, Manner};
use foresee_witness::engine::{Outcome, StreamEngine};
use foresee_witness::judge::Place;
pub use races::RaceCounts;
use races::Races;
use shadow::Shadow;
use sync::Synchronisation;

/// The engine `hb`. See the [module documentation](self).
#[derive(Default)]
pub struct HappensBefore {
    sync: Synchronisation,
    shadow: Shadow,
    races: Races,
    /// By slots.
    allocations: Vec<Allocation>,
}

/// Where a slot's last allocation was, and of which memory; unknown once the allocator has written there.
#[derive(Clone, Copy, Default)]
struct Allocation {
    loc: LocId,
    addr: u64,
}

/// So many bytes are the allocator's at the beginning of a block, as it is recorded; no block is as small.
const LISTED: u32 = 16;

impl HappensBefore {
    /// An engine that has seen nothing.
    pub fn new() -> HappensBefore {
        HappensBefore::default()
    }

    /// Events that race with an earlier one.
    pub fn racy(&self) -> RaceCounts {
        self.races.racy()
    }

    /// Events that race with an earlier one in the schedulable order, too.
    pub fn schedulable(&self) -> RaceCounts {
        self.races.schedulable()
    }

    /// A block begins.
    fn allocate(&mut self, slot: u32, loc: LocId, mem: Mem) {
        self.shadow.forget(mem);
        let slot = slot as usize;
        if self.allocations.len() <= slot {
            self.allocations.resize(slot + 1, Allocation::default());
        }
        let loc = if mem.size > LISTED { loc } else { LocId::UNKNOWN };
        self.allocations[slot] = Allocation { loc, addr: mem.addr };
    }

    /// Whether an access is the allocator's: the first of the block's beginning from where it was allocated.
    fn is_allocation(&mut self, slot: u32, loc: LocId, addr: u64) -> bool {
        let Some(last) = self.allocations.get_mut(slot as usize) else { return false };
        let is_it = last.loc != LocId::UNKNOWN && (last.loc, last.addr) == (loc, addr);
        if is_it {
            *last = Allocation::default();
        }
        is_it
    }

    #[inline]
    fn access(&mut self, slot: u32, time: u64, event: &Event<'_>, mem: Mem) {
        let Some(access) = event.op.access() else { return };
        let allocates = mem.size == LISTED && self.is_allocation(slot, event.loc, mem.addr);
        let manner = Manner::of(access).allocating(allocates);
        let key = Key::new(self.races.place(event.loc, mem.addr), slot, manner);
        self.shadow.access(mem, key, time, self.sync.threads.at(slot), &mut self.races);
    }
}

impl StreamEngine for HappensBefore {
    #[inline]
    fn event(&mut self, index: u64, event: &Event<'_>) {
        let time = index + 1;
        let slot = self.sync.threads.slot(event.thread);
        if self.sync.threads.at(slot).waits_for.is_some() {
            self.sync.woken(slot);
        }
        match event.op {
            Op::Read { mem, .. } | Op::Write { mem, .. } | Op::Free { mem } => {
                self.access(slot, time, event, mem);
            }
            Op::Load { mem, order, .. } => {
                self.sync.load(&mut self.shadow, slot, mem, order);
                self.access(slot, time, event, mem);
            }
            Op::Store { mem, order, .. } => {
                self.access(slot, time, event, mem);
                self.sync.store(&mut self.shadow, slot, time, mem, order);
            }
            Op::Rmw { mem, order, .. } => {
                self.sync.load(&mut self.shadow, slot, mem, order);
                self.access(slot, time, event, mem);
                self.sync.update(&mut self.shadow, slot, time, mem, order);
            }
            Op::Alloc { mem } => self.allocate(slot, event.loc, mem),
            Op::Fence { order } => self.sync.fence(slot, time, order),
            Op::Acquire { lock, mode, .. } => self.sync.acquire(slot, lock, mode),
            Op::Release { lock, .. } => self.sync.release(slot, time, lock),
            Op::Fork { child } => self.sync.fork(slot, time, child),
            Op::Join { child } => self.sync.join(slot, time, child),
            Op::Wait { cond, .. } => self.sync.wait(slot, time, cond),
            Op::Notify { cond, .. } => self.sync.notify(slot, time, cond),
            Op::Blind { code, orders: true } => {
                self.sync.blind(slot, time);
                self.races.ran_blind(slot, time, code);
            }
            // Only thread order matters for the others.
            _ => {}
        }
    }

    fn news(&mut self) -> Vec<Vec<Place>> {
        self.races.news()
    }

    fn finish(self: Box<Self>, names: &Names) -> Outcome {
        self.races.outcome(names)
    }
}
