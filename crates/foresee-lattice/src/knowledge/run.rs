//! The monitors of all threads of a run, one event after the other.

use std::rc::Rc;

use foresee_mttl::{Accessed, Knowledge, Program, Slot, ThreadMonitor, Threads, Variable, Way};
use rustc_hash::FxHashMap;

/// Vectors are shared until they differ: most variables have that of their last writer.
pub(super) type Vector = Rc<Knowledge<Way>>;

/// The vectors of one variable.
pub(super) type Shared = Variable<Vector>;

/// All monitors; threads are known by whatever numbers their run has for them.
pub(super) struct Run {
    pub(super) program: Program,
    pub(super) threads: Threads,
    slots: Vec<Option<Slot>>,
    monitors: Vec<Option<ThreadMonitor<Vector>>>,
    /// What threads that were joined have left for others that join them.
    left: FxHashMap<usize, Vector>,
    /// The number that the run has for each slot.
    numbers: Vec<usize>,
}

/// What a thread does at one event, beside what it was told before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

impl Run {
    pub(super) fn new(program: Program) -> Run {
        let threads = Threads::new(&program);
        let (slots, monitors, numbers) = (Vec::new(), Vec::new(), Vec::new());
        Run { program, threads, slots, monitors, left: FxHashMap::default(), numbers }
    }

    /// Notes that a thread exists, or will.
    pub(super) fn add(&mut self, number: usize, name: &str, forked: bool) -> Slot {
        if self.slots.len() <= number {
            self.slots.resize(number + 1, None);
            self.monitors.resize_with(number + 1, || None);
        }
        if let Some(slot) = self.slots[number] {
            return slot;
        }
        let slot = self.threads.add(&self.program, name, forked);
        self.slots[number] = Some(slot);
        self.numbers.push(number);
        slot
    }

    /// The monitor of a thread; one that was not forked begins here.
    #[inline]
    pub(super) fn monitor(&mut self, number: usize, name: &str) -> Acting<'_> {
        let slot = match self.slots.get(number).copied().flatten() {
            Some(slot) => slot,
            None => self.add(number, name, false),
        };
        let Run { program, threads, monitors, .. } = self;
        let begin = || ThreadMonitor::root(program, threads, slot);
        Acting { program, threads, monitor: monitors[number].get_or_insert_with(begin) }
    }

    /// The monitor of a thread that has one.
    pub(super) fn known(&self, number: usize) -> Option<&ThreadMonitor<Vector>> {
        self.monitors.get(number)?.as_ref()
    }

    /// The number that the run has for a thread.
    pub(super) fn number(&self, slot: Slot) -> Option<usize> {
        self.numbers.get(slot as usize).copied()
    }

    /// A thread forks another, at this event; nothing happens if the other has begun before.
    pub(super) fn fork(&mut self, parent: usize, name: &str, child: (usize, &str), event: u64) {
        let (number, child_name) = child;
        let slot = self.add(number, child_name, true);
        let mut acting = self.monitor(parent, name);
        acting.monitor.meet(slot);
        acting.internal(event);
        let knowledge = Rc::clone(acting.monitor.knowledge());
        if self.monitors[number].is_none() {
            self.monitors[number] =
                Some(ThreadMonitor::forked(&self.program, &self.threads, slot, &knowledge));
        }
    }

    /// A thread joins another, at this event.
    pub(super) fn join(&mut self, parent: usize, name: &str, child: usize, event: u64) {
        // It does nothing any more, so its monitor, which has much besides, is not needed again.
        let ended = self.monitors.get_mut(child).filter(|_| child != parent).and_then(Option::take);
        if let Some(known) = ended.as_ref().and_then(ThreadMonitor::left) {
            self.left.insert(child, Rc::clone(known));
        }
        let left = self.left.get(&child).map(Rc::clone);
        let mut acting = self.monitor(parent, name);
        if let Some(left) = left {
            acting.monitor.learn(&left, event, event);
        }
        acting.internal(event);
    }
}

/// A thread at an event.
pub(super) struct Acting<'r> {
    pub(super) program: &'r Program,
    threads: &'r Threads,
    pub(super) monitor: &'r mut ThreadMonitor<Vector>,
}

impl Acting<'_> {
    pub(super) fn internal(&mut self, event: u64) {
        self.monitor.internal(self.program, self.threads, event);
    }

    /// The event itself, when all was learned.
    pub(super) fn step(&mut self, accessed: Accessed, event: u64) {
        self.monitor.step(self.program, self.threads, accessed, event);
    }

    /// An access to one variable.
    pub(super) fn access(&mut self, access: Access, variable: &mut Shared, event: u64) {
        let accessed = Accessed::default();
        match access {
            Access::Read => self.monitor.read(self.program, self.threads, variable, accessed, event),
            Access::Write => self.monitor.write(self.program, self.threads, variable, accessed, event),
        };
    }
}
