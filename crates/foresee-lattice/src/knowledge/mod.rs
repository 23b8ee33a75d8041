//! What properties say of what threads know: `mttl` bodies over the events of a trace.
//!
//! | file | what is there |
//! |---|---|
//! | `run` | the monitors of all threads, one event after the other |
//! | `report` | findings, with what the thread knew and how |
//! | `unknown` | variables whose values the trace does not tell |
//! | [`case`] | the cases of the conformance suite; `expression`: their formulas; `possible`: whether their events can have happened |
//!
//! **States.** Each of these is an event of its thread, and makes a state: accesses to memory (a read-modify-write is one event that reads and
//! writes), assignments of locals, taking and giving locks, waits, notifies, forks, joins, a thread's end. What a trace has beside them (calls, branches, what
//! properties name) is no event here: formulas cannot see it.
//!
//! **Causality.** All accesses to the same bytes order threads, racing ones and atomics of whatever order included: it is what happened in this run. What orders threads and is no memory of the
//! program (semaphores, barriers, pipes, signals) tells those who acquire what those knew who released. A
//! lock is written when it is taken and given back (by shared holders: read); re-entry is internal. A wait gives its lock up; what follows it knows what was
//! known at the notifies meanwhile. A child knows what its parent knew at the fork; who joins knows what the child knew at its last event. Blind code may have
//! ordered threads in ways that are not in the trace: where it ran both in the violating thread and in others, a violation is a candidate.
//!
//! **Who exists.** A thread that acts without having been forked is known to everybody from its first event on.
//!
//! **Cost.** Per access a look into a table of memory and, where something has changed, a step of the monitors (see `foresee-mttl`). Memory: a few words for
//! each piece of memory that was accessed and not freed, and a vector for each state that is still the last known one somewhere.

pub mod case;
mod expression;
mod possible;
mod report;
mod run;
mod unknown;

use std::rc::Rc;

use foresee_monitor::property::{MttlBody, Property};
pub use foresee_mttl::MOST_FORMULAS_INSIDE;
use foresee_mttl::{Accessed, Bytes, Memory, Program, ProgramError};
use foresee_trace::raw::{SYNC_SPACE, is_lock_state};
use foresee_trace::synchronisation::{After, Handover, ThreadWalk};
use foresee_trace::{Event, LockId, Mem, Mode, Names, Op, Order, StrId};
use foresee_witness::engine::{Outcome, StreamEngine};
use rustc_hash::FxHashMap;

use crate::variables::{Variables, number};
use report::{Doubts, Reports};
use run::{Access, Run, Shared, Vector};
use unknown::{Touched, UnknownValues};

/// What somebody knew at an event, for those who come after it.
type Note = (Vector, u64);

/// The engine; see the [module](self).
pub struct KnownVerdicts<'o> {
    run: Run,
    memory: Memory<Vector>,
    locks: FxHashMap<LockId, Shared>,
    walk: ThreadWalk<Note>,
    /// The locals of the program that each string names.
    locals: Vec<Vec<u32>>,
    /// The variables of the program.
    variables: Variables,
    unknown: UnknownValues,
    /// The code that each thread has run that may have synchronised without being seen.
    blind: FxHashMap<usize, StrId>,
    /// The names of the threads, as far as they were learned.
    names: Vec<String>,
    reports: Reports<'o>,
}

fn bytes(mem: Mem) -> Bytes {
    Bytes { addr: mem.addr, size: mem.size.into() }
}

/// Whether this stands for something that orders threads and is no memory of the program. (Variables of which a text says nothing but names are elsewhere.)
fn is_object(mem: Mem) -> bool {
    (SYNC_SPACE..2 * SYNC_SPACE).contains(&mem.addr)
}

/// All bodies about what threads know, with the property they are of.
pub fn bodies(properties: &[Property]) -> impl Iterator<Item = (&Property, &MttlBody)> {
    properties.iter().flat_map(|property| property.mttl.iter().map(move |body| (property, body)))
}

/// Whether these properties can be followed together.
pub fn program(properties: &[Property]) -> Result<Program, ProgramError> {
    Program::new(bodies(properties))
}

impl<'o> KnownVerdicts<'o> {
    /// Follows these properties; `trace` is what the user calls the trace. Nothing is followed if they cannot be: see [`program`].
    pub fn new(properties: &'o [Property], trace: &'o str) -> KnownVerdicts<'o> {
        let program = program(properties).unwrap_or_default();
        let variables = Variables::new(program.variables().iter().map(|variable| variable.name.as_str()));
        let unknown = UnknownValues::new(&program);
        KnownVerdicts {
            unknown,
            run: Run::new(program),
            memory: Memory::default(),
            locks: FxHashMap::default(),
            walk: ThreadWalk::new(),
            locals: Vec::new(),
            variables,
            blind: FxHashMap::default(),
            names: Vec::new(),
            reports: Reports::new(properties, trace),
        }
    }

    fn name(names: &[String], thread: usize) -> &str {
        names.get(thread).map_or("", String::as_str)
    }

    /// What an access does to the variables that formulas speak of.
    fn accessed(&self, mem: Mem, reads: bool, writes: bool) -> Accessed {
        self.variables.within(mem).fold(Accessed::default(), |accessed, (variable, _)| {
            let accessed = if reads { accessed.reading(variable) } else { accessed };
            if writes { accessed.writing(variable) } else { accessed }
        })
    }

    fn read(&mut self, thread: usize, mem: Mem, event: u64) {
        let accessed = self.accessed(mem, true, false);
        let KnownVerdicts { run, memory, names, .. } = self;
        let mut acting = run.monitor(thread, Self::name(names, thread));
        memory.known(bytes(mem), |variable| acting.monitor.learn_public(variable, event));
        acting.step(accessed, event);
        memory.all(bytes(mem), |variable| _ = variable.is_read(acting.monitor.knowledge(), event));
    }

    fn write(&mut self, thread: usize, mem: Mem, value: Option<u64>, reads: bool, event: u64) {
        let accessed = self.accessed(mem, reads, true);
        let KnownVerdicts { run, memory, names, variables, .. } = self;
        let mut acting = run.monitor(thread, Self::name(names, thread));
        memory.known(bytes(mem), |variable| acting.monitor.learn_all(variable, event));
        if let Some(value) = value {
            let is_unsigned = |variable: u32| acting.program.variables()[variable as usize].is_unsigned;
            for variable in variables.at(mem) {
                acting.monitor.set(variable, number(value, mem, is_unsigned(variable)));
            }
        }
        acting.step(accessed, event);
        memory.all(bytes(mem), |variable| _ = variable.is_written(acting.monitor.knowledge(), event));
    }

    /// Something that the runtime knows to order threads as an atomic would, which is no memory of the program: who acquires learns from those who have released, and these learn nothing from each other.
    fn synchronise(&mut self, thread: usize, mem: Mem, order: Order, event: u64) {
        let KnownVerdicts { run, memory, names, .. } = self;
        let mut acting = run.monitor(thread, Self::name(names, thread));
        if order.acquires() {
            memory.known(bytes(mem), |variable| acting.monitor.learn_all(variable, event));
        }
        acting.step(Accessed::default(), event);
        if order.releases() {
            memory.all(bytes(mem), |variable| _ = variable.is_read(acting.monitor.knowledge(), event));
        }
    }

    fn lock(&mut self, thread: usize, handover: Handover, event: u64) {
        let section = handover.section();
        let access = match section.mode {
            Mode::Exclusive => Access::Write,
            Mode::Shared => Access::Read,
        };
        let lock = self.locks.entry(section.lock).or_default();
        let mut acting = self.run.monitor(thread, Self::name(&self.names, thread));
        acting.access(access, lock, event);
    }

    /// What the event learns by other means than what it does, before it.
    fn begin(&mut self, thread: usize, index: u64, event: &Event<'_>) -> Option<Handover> {
        let KnownVerdicts { run, walk, names, .. } = self;
        walk.begin(event.thread, Some(&event.op), |after| {
            if let After::Notifies { notifies, .. } = after {
                let acting = run.monitor(thread, Self::name(names, thread));
                notifies.iter().for_each(|(known, at)| acting.monitor.learn(known, *at, index));
            }
        })
    }

    /// Does the event; whether it made a state.
    fn step(&mut self, thread: usize, index: u64, event: &Event<'_>, handover: Option<Handover>) -> bool {
        match event.op {
            // It is there for those who reorder the run, and nothing that the program did.
            Op::Load { mem, .. } | Op::Store { mem, .. } if is_lock_state(mem) => return false,
            Op::Load { mem, order, .. } | Op::Store { mem, order, .. } | Op::Rmw { mem, order, .. }
                if is_object(mem) =>
            {
                self.synchronise(thread, mem, order, index);
            }
            Op::Read { mem, .. } | Op::Load { mem, .. } => self.read(thread, mem, index),
            Op::Write { mem, value } | Op::Store { mem, value, .. } => {
                self.write(thread, mem, value, false, index);
            }
            Op::Rmw { mem, values, .. } => {
                self.write(thread, mem, values.map(|(_, written)| written), true, index);
            }
            Op::Alloc { mem } | Op::Free { mem } => {
                self.memory.forget(bytes(mem));
                // Semaphores, barriers and their like in that memory.
                self.memory.forget(bytes(Mem { addr: mem.addr | SYNC_SPACE, ..mem }));
                return false;
            }
            Op::Acquire { .. } | Op::Release { .. } | Op::Wait { .. } if handover.is_some() => {
                handover.into_iter().for_each(|handover| self.lock(thread, handover, index));
            }
            Op::Acquire { .. } | Op::Release { .. } | Op::Wait { .. } | Op::Notify { .. } | Op::ThreadEnd => {
                self.run.monitor(thread, Self::name(&self.names, thread)).internal(index);
            }
            Op::Local { name, value } => {
                let mut acting = self.run.monitor(thread, Self::name(&self.names, thread));
                let locals = self.locals.get(name.index()).map_or(&[][..], Vec::as_slice);
                locals.iter().for_each(|local| acting.monitor.assign(*local, value as i64));
                acting.internal(index);
            }
            Op::Fork { child } => {
                let (parent, child) = (Self::name(&self.names, thread), child.index());
                self.run.fork(thread, parent, (child, Self::name(&self.names, child)), index);
            }
            Op::Join { child } => {
                self.run.join(thread, Self::name(&self.names, thread), child.index(), index);
            }
            Op::Blind { code, orders: true } => {
                self.blind.entry(thread).or_insert(code);
                return false;
            }
            _ => return false,
        }
        true
    }
}

/// The memory that an event accesses.
fn touched(op: &Op<'_>) -> Option<Touched> {
    Some(match *op {
        Op::Read { mem, .. } | Op::Load { mem, .. } => Touched { mem, writes: false, has_value: false },
        Op::Write { mem, value } | Op::Store { mem, value, .. } => {
            Touched { mem, writes: true, has_value: value.is_some() }
        }
        Op::Rmw { mem, values, .. } => Touched { mem, writes: true, has_value: values.is_some() },
        _ => return None,
    })
}

impl StreamEngine for KnownVerdicts<'_> {
    fn names(&mut self, names: &Names) {
        for number in self.names.len()..names.threads().len() {
            self.names.push(names.str(names.threads()[number]).to_owned());
        }
        for id in self.locals.len()..names.string_count() {
            let text = names.str(StrId(id as u32));
            let locals = self.run.program.locals().iter().zip(0..).filter(|(local, _)| local.name == text);
            self.locals.push(locals.map(|(_, number)| number).collect());
        }
        self.variables.learn(names);
    }

    fn event(&mut self, index: u64, event: &Event<'_>) {
        if self.run.program.formulas() == 0 {
            return;
        }
        let thread = event.thread.index();
        let handover = self.begin(thread, index, event);
        let is_state = self.step(thread, index, event, handover);
        if let Some(monitor) = self.run.known(thread) {
            let knowledge = monitor.knowledge();
            self.walk.end(event.thread, Some(&event.op), || (Rc::clone(knowledge), index));
            if is_state {
                self.unknown.state(&self.variables, (event.thread, event.loc), touched(&event.op));
                let doubts = Doubts { blind: &self.blind, unknown: &self.unknown };
                self.reports.state(&self.run, monitor, (index, event), doubts);
            }
        } else {
            self.walk.end(event.thread, Some(&event.op), || (Vector::default(), index));
        }
    }

    fn finish(self: Box<Self>, names: &Names) -> Outcome {
        let unknown = self.reports.unknown(&self.run.program, &self.unknown);
        Outcome { findings: self.reports.findings(names), unknown, ..Outcome::default() }
    }
}

#[cfg(test)]
mod tests;
