//! The algorithm, driven by the events of a computation.

use std::collections::HashMap;

use foresee_monitor::property::Property;
use foresee_mttl::vector::Vector;
use foresee_mttl::{Accessed, Program, Slot, ThreadMonitor, Threads, Variable};

use super::{Computation, Op};

/// When monitors hear of a thread that is forked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hear {
    /// At the beginning, as of all others.
    First,
    /// When it is forked.
    AtFork,
    /// When it is forked, and of its name after that.
    Named,
}

pub(crate) struct Algorithm<'a, V: Vector> {
    pub(crate) program: Program,
    pub(crate) threads: Threads,
    property: &'a Property,
    computation: &'a Computation,
    hear: Hear,
    pub(crate) slots: Vec<Option<Slot>>,
    pub(crate) monitors: Vec<Option<ThreadMonitor<V>>>,
    variables: HashMap<usize, Variable<V>>,
    locks: HashMap<usize, Variable<V>>,
}

impl<'a, V: Vector> Algorithm<'a, V> {
    pub(crate) fn new(property: &'a Property, computation: &'a Computation, hear: Hear) -> Self {
        let bodies = property.mttl.iter().map(|body| (property, body));
        let program =
            if hear == Hear::Named { Program::with_late_names(bodies) } else { Program::new(bodies) };
        let program = program.unwrap();
        let threads = Threads::new(&program);
        let count = computation.threads;
        let mut all = Algorithm {
            program,
            threads,
            property,
            computation,
            hear,
            slots: vec![None; count],
            monitors: (0..count).map(|_| None).collect(),
            variables: HashMap::new(),
            locks: HashMap::new(),
        };
        for thread in 0..count {
            if hear == Hear::First || !computation.is_forked(thread) {
                all.add(thread);
            }
        }
        for thread in (0..count).filter(|thread| !computation.is_forked(*thread)) {
            let slot = all.slots[thread].unwrap();
            all.monitors[thread] = Some(ThreadMonitor::root(&all.program, &all.threads, slot));
        }
        all
    }

    fn add(&mut self, thread: usize) -> Slot {
        if let Some(slot) = self.slots[thread] {
            return slot;
        }
        let (name, forked) = (format!("t{}", thread + 1), self.computation.is_forked(thread));
        let first = if self.hear == Hear::Named { "" } else { &name };
        let slot = self.threads.add(&self.program, first, forked);
        if self.hear == Hear::Named {
            self.threads.name(&self.program, slot, &name);
        }
        self.slots[thread] = Some(slot);
        slot
    }

    /// The number that the program has for a variable of the property, if a formula mentions it.
    pub(crate) fn variable(&self, variable: usize) -> Option<u32> {
        let name = &self.property.vars[variable].name;
        self.program.variables().iter().position(|known| known.name == *name).map(|at| at as u32)
    }

    fn local(&self, local: usize) -> Option<u32> {
        let name = &self.property.locals[local].name;
        self.program.locals().iter().position(|known| known.name == *name).map(|at| at as u32)
    }

    /// Does an event; whether the first formula holds at it.
    pub(crate) fn event(&mut self, event: usize) -> Option<bool> {
        let (thread, op) = self.computation.events[event];
        if let Op::Fork(child) = op {
            let slot = self.add(child);
            self.monitors[thread].as_mut().unwrap().meet(slot);
        }
        let named = match op {
            Op::Read(x) | Op::Write(x, _) | Op::Update(x, _) => self.variable(x),
            Op::Local(local, _) => self.local(local),
            _ => None,
        };
        let mut monitor = self.monitors[thread].take().unwrap();
        let (program, threads, at) = (&self.program, &self.threads, event as u64);
        match op {
            Op::Read(x) => {
                let accessed = named.map_or(Accessed::default(), |x| Accessed::default().reading(x));
                monitor.read(program, threads, self.variables.entry(x).or_default(), accessed, at);
            }
            Op::Write(x, value) | Op::Update(x, value) => {
                let variable = self.variables.entry(x).or_default();
                monitor.learn_all(variable, at);
                named.into_iter().for_each(|x| monitor.set(x, value));
                let reads = named.filter(|_| matches!(op, Op::Update(..)));
                let accessed = reads.map_or(Accessed::default(), |x| Accessed::default().reading(x));
                let accessed = named.map_or(accessed, |x| accessed.writing(x));
                monitor.write(program, threads, variable, accessed, at);
            }
            Op::Lock(lock) => {
                monitor.write(program, threads, self.locks.entry(lock).or_default(), Accessed::default(), at);
            }
            Op::Local(_, value) => {
                match named {
                    Some(local) => monitor.assigned(program, threads, local, value, at),
                    None => monitor.internal(program, threads, at),
                };
            }
            Op::Join(child) => {
                // In a reordering, a thread that does nothing may be joined before it is forked.
                self.monitors[child].iter().for_each(|child| monitor.join(child, at));
                monitor.internal(program, threads, at);
            }
            Op::Internal | Op::Fork(_) => {
                monitor.internal(program, threads, at);
            }
        }
        if let Op::Fork(child) = op {
            let slot = self.slots[child].unwrap();
            self.monitors[child] = Some(ThreadMonitor::forked(program, threads, slot, monitor.knowledge()));
        }
        self.monitors[thread] = Some(monitor);
        self.verdict(thread, 0)
    }

    /// Whether a formula holds in the present state of a thread, if it is that thread's.
    pub(crate) fn verdict(&self, thread: usize, formula: u32) -> Option<bool> {
        self.monitors[thread].as_ref().unwrap().verdict(&self.program, &self.threads, formula)
    }
}
