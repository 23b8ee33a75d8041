//! A whole trace in memory, for engines that look at it more than once.
//!
//! **Cost.** 16 bytes per event, plus 8 per recorded value, 16 per argument, and 25 per distinct variable (while it
//! is built, 24 more and what [`variables`] says). An execution
//! holds at most 2³² − 1 events and 2²³ threads; [`ExecutionBuilder::push`] refuses more.
//!
//! **Variables and cells.** Accesses of different sizes may overlap. A *variable* is a distinct byte range (in one life of
//! its memory: allocation begins a new one); a *cell* is a maximal run of bytes that no access of this execution splits.
//! A variable is a contiguous range of cells, nearly always one; two accesses touch a common byte exactly when their
//! cell ranges intersect. Engines keep their state per cell and never look at addresses.

mod cells;
mod lives;
mod pages;
mod sharing;
#[cfg(test)]
mod tests;
mod variables;

use std::fmt;
use std::ops::Range;

use variables::{Variable, Variables};

use crate::TraceError;
use crate::event::{Access, Arg, Event, Mem, Op};
use crate::flat::{Flat, OpKind, Payload, PayloadShape, Target};
use crate::ids::{EventId, LocId, ThreadId, VarId};
use crate::names::Names;
use crate::source::EventSource;

/// One event in 16 bytes.
#[derive(Clone, Copy)]
struct Packed {
    /// kind: 6 bits, modifier: 3, thread: 23.
    head: u32,
    /// A variable, lock, thread or string, by its id.
    target: u32,
    loc: LocId,
    /// Where the payload starts in `values` or `args`, plus one; 0 for none.
    payload: u32,
}

const KIND_BITS: u32 = 6;
const MODIFIER_BITS: u32 = 3;
const MAX_THREADS: u32 = 1 << (32 - KIND_BITS - MODIFIER_BITS);

/// A trace put in order, in memory.
#[derive(Clone, Default)]
pub struct Execution {
    names: Names,
    events: Vec<Packed>,
    vars: Vec<Mem>,
    /// First cell and number of cells of each variable.
    cells: Vec<(u32, u32)>,
    cell_count: u32,
    /// Of each variable, whether several threads access it.
    is_shared: Vec<bool>,
    values: Vec<u64>,
    args: Vec<Arg>,
    thread_count: u32,
    has_branches: bool,
    has_blind: bool,
}

impl Execution {
    /// Reads a trace to its end.
    pub fn read(source: &mut dyn EventSource) -> Result<Execution, TraceError> {
        let mut builder = ExecutionBuilder::default();
        while source.advance()? {
            builder.push(&source.event())?;
        }
        Ok(builder.finish(source.names().clone()))
    }

    /// How many events there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether there is no event.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// All events' ids, in the observed order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = EventId> + ExactSizeIterator + use<> {
        (0..self.events.len() as u32).map(EventId)
    }

    /// The names of this execution.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// One more than the largest thread id of an event, fork or join.
    pub fn thread_count(&self) -> usize {
        self.thread_count as usize
    }

    /// Whether it records where control flow depends on reads.
    pub fn has_branches(&self) -> bool {
        self.has_branches
    }

    /// Whether code ran that it does not show.
    pub fn has_blind(&self) -> bool {
        self.has_blind
    }

    /// Whether no other thread can tell that the event happened: it accesses memory that only its thread ever accesses, or begins or ends a call. Nothing
    /// comes before or after it but by its own thread.
    #[inline]
    pub fn is_private(&self, id: EventId) -> bool {
        let packed = self.events[id.index()];
        match kind_of(packed) {
            OpKind::Enter | OpKind::Exit => true,
            _ => self.access(id).is_some() && !self.is_shared[packed.target as usize],
        }
    }

    /// An event.
    #[inline]
    pub fn event(&self, id: EventId) -> Event<'_> {
        let packed = self.events[id.index()];
        let flat = self.flat(packed);
        Event { thread: thread_of(packed), loc: packed.loc, op: flat.op(self.payload(packed, flat.kind)) }
    }

    /// The thread of an event.
    #[inline]
    pub fn thread(&self, id: EventId) -> ThreadId {
        thread_of(self.events[id.index()])
    }

    /// The location of an event.
    #[inline]
    pub fn loc(&self, id: EventId) -> LocId {
        self.events[id.index()].loc
    }

    /// What an event does.
    #[inline]
    pub fn op(&self, id: EventId) -> Op<'_> {
        self.event(id).op
    }

    /// The variable an event touches and how; `None` for what does not access memory.
    #[inline]
    pub fn access(&self, id: EventId) -> Option<(VarId, Access)> {
        let packed = self.events[id.index()];
        // The kind alone decides: no need to look the variable up.
        let kind = Flat { kind: kind_of(packed), modifier: 0, size: 0, target: 0 };
        let access = kind.op(Payload::Nothing).access()?;
        Some((VarId(packed.target), access))
    }

    /// The variable that an event touches or names; `None` for what is not about memory.
    pub fn var(&self, id: EventId) -> Option<VarId> {
        let packed = self.events[id.index()];
        (kind_of(packed).target() == Target::Memory).then_some(VarId(packed.target))
    }

    /// The cells of a variable.
    #[inline]
    pub fn cells(&self, var: VarId) -> Range<u32> {
        let (first, count) = self.cells[var.index()];
        first..first + count
    }

    /// How many cells there are.
    pub fn cell_count(&self) -> usize {
        self.cell_count as usize
    }

    /// The bytes of a variable.
    pub fn mem(&self, var: VarId) -> Mem {
        self.vars[var.index()]
    }

    /// How many variables there are.
    pub fn var_count(&self) -> usize {
        self.vars.len()
    }

    /// Whether two variables share a byte of the same life of memory.
    #[inline]
    pub fn overlap(&self, a: VarId, b: VarId) -> bool {
        let (a, b) = (self.cells(a), self.cells(b));
        a.start < b.end && b.start < a.end
    }

    #[inline]
    fn flat(&self, packed: Packed) -> Flat {
        let kind = kind_of(packed);
        let modifier = (packed.head >> KIND_BITS) as u8 & ((1 << MODIFIER_BITS) - 1);
        let (target, size) = if kind.target() == Target::Memory {
            let mem = self.vars[packed.target as usize];
            (mem.addr, mem.size)
        } else {
            (u64::from(packed.target), 0)
        };
        Flat { kind, modifier, size, target }
    }

    #[inline]
    fn payload(&self, packed: Packed, kind: OpKind) -> Payload<'_> {
        if packed.payload == 0 {
            return Payload::Nothing;
        }
        let at = packed.payload as usize - 1;
        match kind.payload() {
            PayloadShape::Nothing => Payload::Nothing,
            PayloadShape::MaybeOne | PayloadShape::One => Payload::One(self.values[at]),
            PayloadShape::MaybeTwo => Payload::Two(self.values[at], self.values[at + 1]),
            PayloadShape::Args => {
                let (start, len) = (self.values[at] as usize, self.values[at + 1] as usize);
                Payload::Args(&self.args[start..start + len])
            }
        }
    }
}

/// One event per line, for tests.
impl fmt::Debug for Execution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for id in self.ids() {
            let event = self.event(id);
            writeln!(f, "{:>4} {:?} {:?}", id.0, event.thread, event.op)?;
        }
        Ok(())
    }
}

fn thread_of(packed: Packed) -> ThreadId {
    ThreadId(packed.head >> (KIND_BITS + MODIFIER_BITS))
}

fn kind_of(packed: Packed) -> OpKind {
    // The builder put it there; any number is harmless.
    OpKind::from_number((packed.head & ((1 << KIND_BITS) - 1)) as u8).unwrap_or(OpKind::Branch)
}

/// Builds an [`Execution`] event by event.
#[derive(Default)]
pub struct ExecutionBuilder {
    execution: Execution,
    variables: Variables,
}

impl ExecutionBuilder {
    /// Appends an event.
    pub fn push(&mut self, event: &Event<'_>) -> Result<(), TraceError> {
        let (flat, payload) = Flat::of(&event.op);
        let too_large = |what| TraceError::TooLarge { what };
        if self.execution.events.len() >= u32::MAX as usize {
            return Err(too_large("events"));
        }
        let mut threads = event.thread.0;
        if flat.kind.target() == Target::Thread {
            threads = threads.max(flat.target as u32);
        }
        if threads >= MAX_THREADS {
            return Err(too_large("threads"));
        }
        self.execution.thread_count = self.execution.thread_count.max(threads + 1);
        let target = if flat.kind.target() == Target::Memory {
            let mem = Mem { addr: flat.target, size: flat.size };
            let variable = match flat.kind {
                OpKind::Alloc => self.variables.allocated(mem),
                _ => self.variables.touched(mem),
            };
            let variable = variable?;
            if event.op.access().is_some() {
                self.variables.accessed(variable, event.thread);
            }
            variable.0
        } else {
            flat.target as u32
        };
        self.execution.has_branches |= flat.kind == OpKind::Branch;
        self.execution.has_blind |= flat.kind == OpKind::Blind;
        let values = &mut self.execution.values;
        let at = values.len() as u32 + 1;
        let payload = match payload {
            Payload::Nothing => 0,
            Payload::One(value) => {
                values.push(value);
                at
            }
            Payload::Two(first, second) => {
                values.extend([first, second]);
                at
            }
            Payload::Args(args) => {
                values.extend([self.execution.args.len() as u64, args.len() as u64]);
                self.execution.args.extend_from_slice(args);
                at
            }
        };
        if values.len() >= u32::MAX as usize - 2 {
            return Err(too_large("values"));
        }
        let head = flat.kind as u32
            | u32::from(flat.modifier) << KIND_BITS
            | event.thread.0 << (KIND_BITS + MODIFIER_BITS);
        self.execution.events.push(Packed { head, target, loc: event.loc, payload });
        Ok(())
    }

    /// The execution, with the names its ids refer to.
    pub fn finish(mut self, names: Names) -> Execution {
        (self.execution.cells, self.execution.cell_count) = cells::cells(&self.variables.all);
        self.execution.is_shared =
            sharing::shared(&self.variables.all, &self.execution.cells, self.execution.cell_count);
        self.execution.vars = self.variables.all.iter().map(Variable::mem).collect();
        self.execution.names = names;
        self.execution
    }
}
