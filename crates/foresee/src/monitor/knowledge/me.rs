//! The monitor of the calling thread.

use std::cell::RefCell;
use std::prelude::rust_2024::*;
use std::sync::Arc;
use std::thread_local;

use foresee_mttl::{Accessed, Knowledge, NoTrail, Program, Slot, ThreadMonitor, Threads, Variable};
use smallvec::SmallVec;

use super::world::World;
use crate::aside::aside;
use crate::monitor::thread::thread_name;

/// Vectors are kept in place.
pub(super) type Vector = Knowledge<NoTrail>;

/// The vectors of a cell or a lock, on cache lines of their own: memory of the program lies beside them.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(super) struct Vectors(Variable<Vector>);

/// A formula that has ceased to hold, and the other threads that this rests on.
pub(super) struct Violation {
    pub(super) formula: u32,
    pub(super) others: SmallVec<[Slot; 2]>,
}

/// Whether formulas of the calling thread have ceased to hold, which [`take_violations`] has then.
#[must_use]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct IsViolated(pub(super) bool);

/// Nobody asks for the order of events: there is no trail.
const EVENT: u64 = 0;

/// A thread and what it knows.
pub(super) struct Me {
    pub(super) monitor: ThreadMonitor<Vector>,
    threads: Arc<Threads>,
    version: u32,
    /// What did not hold in the last state.
    violated: SmallVec<[u32; 2]>,
    /// What has ceased to hold, and was not handled yet.
    violations: Vec<Violation>,
}

thread_local! {
    static ME: RefCell<Option<Me>> = const { RefCell::new(None) };
}

impl Me {
    /// A thread that begins with what its parent knew.
    pub(super) fn forked(world: &World, slot: Slot, parent: &Vector) -> Me {
        let (version, threads) = (world.version(), world.threads());
        let monitor = ThreadMonitor::forked(&world.program, &threads, slot, parent);
        Me::new(monitor, threads, version)
    }

    /// A thread that nobody forked, as far as is known.
    #[cold]
    #[inline(never)]
    fn root(world: &World) -> Me {
        let slot = world.add(&thread_name(), false);
        let (version, threads) = (world.version(), world.threads());
        let monitor = ThreadMonitor::root(&world.program, &threads, slot);
        Me::new(monitor, threads, version)
    }

    fn new(monitor: ThreadMonitor<Vector>, threads: Arc<Threads>, version: u32) -> Me {
        Me { monitor, threads, version, violated: SmallVec::new(), violations: Vec::new() }
    }

    /// There are other threads than before.
    #[cold]
    #[inline(never)]
    fn look_at_threads(&mut self, world: &World) {
        // In this order: whoever comes between is looked at once more.
        self.version = world.version();
        self.threads = world.threads();
    }

    /// This is the calling thread.
    pub(super) fn settle(self) {
        ME.with(|me| *me.borrow_mut() = Some(self));
    }

    /// Case 1, an internal event.
    #[inline]
    pub(super) fn internal(&mut self, program: &Program) {
        self.monitor.internal(program, &self.threads, EVENT);
    }

    /// Case 1, the assignment of a local.
    #[inline]
    pub(super) fn assigned(&mut self, program: &Program, local: u32, value: i64) {
        self.monitor.assigned(program, &self.threads, local, value, EVENT);
    }

    /// Case 2, a read.
    #[inline(always)]
    pub(super) fn read(&mut self, program: &Program, vectors: &mut Vectors, accessed: Accessed) {
        self.monitor.read(program, &self.threads, &mut vectors.0, accessed, EVENT);
    }

    /// Case 3, a write, which gives a variable of formulas a value.
    #[inline(always)]
    pub(super) fn write(
        &mut self,
        program: &Program,
        vectors: &mut Vectors,
        accessed: Accessed,
        value: Option<(u32, i64)>,
    ) {
        if let Some((variable, value)) = value {
            self.monitor.learn_all(&vectors.0, EVENT);
            self.monitor.set(variable, value);
        }
        self.monitor.write(program, &self.threads, &mut vectors.0, accessed, EVENT);
    }

    /// Notes what has ceased to hold with the last event. Whether anything has.
    #[inline]
    fn news(&mut self, program: &Program) -> IsViolated {
        IsViolated(self.monitor.take_news() && self.changed(program))
    }

    #[inline(never)]
    fn changed(&mut self, program: &Program) -> bool {
        let now = self.monitor.violated();
        for formula in now.iter().filter(|formula| !self.violated.contains(formula)) {
            let reasons = self.monitor.reasons(program, &self.threads, *formula);
            let others = reasons.iter().map(|known| known.of).collect();
            self.violations.push(Violation { formula: *formula, others });
        }
        self.violated = SmallVec::from_slice(now);
        !self.violations.is_empty()
    }
}

/// What has ceased to hold in the calling thread since this was last asked.
pub(super) fn take_violations() -> Vec<Violation> {
    let taken =
        ME.try_with(|me| me.try_borrow_mut().ok()?.as_mut().map(|me| std::mem::take(&mut me.violations)));
    taken.ok().flatten().unwrap_or_default()
}

/// The calling thread does something. Whether anything has ceased to hold then, for when everything that is locked meanwhile is free again. At the very end of a
/// thread, when it has no monitor any more, nothing happens.
#[inline(always)]
pub(super) fn act(world: &World, what: impl FnOnce(&mut Me, &Program)) -> IsViolated {
    aside(|| {
        let done = ME.try_with(|me| {
            let Ok(mut me) = me.try_borrow_mut() else { return IsViolated(false) };
            let me = match &mut *me {
                Some(me) => me,
                none => none.insert(Me::root(world)),
            };
            if me.version != world.version() {
                me.look_at_threads(world);
            }
            what(me, &world.program);
            me.news(&world.program)
        });
        done.unwrap_or_default()
    })
}
