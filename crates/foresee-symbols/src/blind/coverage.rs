//! Which accesses of an instrumented function no call into the runtime announces.
//!
//! A compiler calls the runtime with the address before it accesses memory; nothing is called in between but the runtime, as any other
//! function might change that memory. So an access is covered if its bytes have been announced on every path since the last other
//! call. (One kind of access comes before its announcement: clang leaves out a read that is followed by a write of the same place.)
//! Address and announcement are compared as values ([`state`](super::state)), wherever their registers come from.
//!
//! Not looked at: the frame of the function, except for what is [captured](super::captured); the thread's own memory (by segment); and what no
//! one writes: constants, and tables of virtual functions, which are known by what is done with what was read.

use std::collections::{BTreeMap, BTreeSet};

use iced_x86::{FlowControl, Instruction, Mnemonic, OpKind, Register};

use super::captured::Captured;
use super::file_code::FileCode;
use super::flow::Flow;
use super::frame_variables::FrameVariable;
use super::state::{Access, Interpreter, State};
use super::values::Value;

/// How often a block is looked at before its function is given up.
const ROUNDS: usize = 40;
/// How many blocks an access is followed to its announcement.
const FOLLOWED: usize = 8;

/// What a call announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Announcement {
    pub(super) writes: bool,
    /// `None` if it is the second argument.
    pub(super) size: Option<u64>,
}

/// What a call is to this analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallKind {
    Announces(Announcement),
    /// A call into the runtime that announces nothing here.
    Tool,
    /// One of a function that keeps nothing of what it is given.
    Other,
    /// Any other.
    Keeping,
}

/// Bytes that were announced: what varies of their address, the first, the one after the last, and whether they are written.
type Announced = (Value, i64, i64, bool);

#[derive(Clone, PartialEq, Eq)]
struct Point {
    state: State,
    announced: BTreeSet<Announced>,
}

/// An instruction that accesses memory without an announcement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Uncovered {
    pub(super) at: usize,
    /// Whether it has the shape of an atomic load or store, which are instructions like any other.
    pub(super) may_order: bool,
}

/// The instructions of a function that access memory without an announcement. In its frame it has these structures and arrays.
pub(super) fn uncovered(
    code: &FileCode,
    flow: &Flow,
    variables: &[FrameVariable],
    call: impl Fn(usize) -> CallKind,
) -> Vec<Uncovered> {
    let mut interpreter = Interpreter::new(code);
    let captured = Captured::new(variables, interpreter.frame());
    let mut analysis = Analysis { code, flow, call, interpreter, announcements: BTreeMap::new(), captured };
    analysis.run()
}

struct Analysis<'a, F> {
    code: &'a FileCode,
    flow: &'a Flow,
    call: F,
    interpreter: Interpreter<'a>,
    /// What the calls announce, at the last look.
    announcements: BTreeMap<usize, Announced>,
    captured: Captured<'a>,
}

impl<F: Fn(usize) -> CallKind> Analysis<'_, F> {
    fn run(&mut self) -> Vec<Uncovered> {
        let blocks = &self.flow.blocks;
        let mut ends: Vec<Option<Point>> = vec![None; blocks.len()];
        let mut starts: Vec<Option<Point>> = vec![None; blocks.len()];
        // Blocks before which something has changed.
        let mut open = vec![true; blocks.len()];
        let mut changed = true;
        for _ in 0..ROUNDS {
            if !std::mem::take(&mut changed) {
                break;
            }
            for number in 0..blocks.len() {
                if !std::mem::take(&mut open[number]) {
                    continue;
                }
                let Some(start) = self.start(number, &ends) else { continue };
                if starts[number].as_ref() == Some(&start) {
                    continue;
                }
                starts[number] = Some(start.clone());
                let end = self.through(number, start);
                if ends[number].as_ref() != Some(&end) {
                    changed = true;
                    ends[number] = Some(end);
                    blocks[number].next.iter().for_each(|&next| open[next] = true);
                }
            }
        }
        if changed {
            // Not understood: nothing is covered.
            return self.check(&vec![None; blocks.len()]);
        }
        self.check(&starts)
    }

    fn start(&mut self, number: usize, ends: &[Option<Point>]) -> Option<Point> {
        let previous = self.flow.blocks[number].previous.iter();
        let entry = Point { state: self.interpreter.entry(), announced: BTreeSet::new() };
        let entry = (number == 0).then_some(&entry);
        let points: Vec<&Point> =
            entry.into_iter().chain(previous.filter_map(|&block| ends[block].as_ref())).collect();
        let (first, others) = points.split_first()?;
        let states: Vec<&State> = points.iter().map(|point| &point.state).collect();
        let announced = others.iter().fold(first.announced.clone(), |all, other| &all & &other.announced);
        Some(Point { state: self.interpreter.meet(number, &states), announced })
    }

    fn through(&mut self, number: usize, mut point: Point) -> Point {
        let block = &self.flow.blocks[number];
        for at in block.from..block.to {
            self.step(&mut point, at);
        }
        point
    }

    fn step(&mut self, point: &mut Point, at: usize) {
        let one = &self.flow.instructions[at];
        if !self.flow.calls(at) {
            self.interpreter.step(&mut point.state, one);
            return;
        }
        match (self.call)(at) {
            CallKind::Announces(what) => {
                let announced = self.announced(&point.state, what);
                if let Some(announced) = announced {
                    self.announcements.insert(at, announced);
                    point.announced.insert(announced);
                }
            }
            CallKind::Tool => {}
            CallKind::Other | CallKind::Keeping => point.announced.clear(),
        }
        self.interpreter.call(&mut point.state, one.ip());
    }

    fn announced(&mut self, state: &State, what: Announcement) -> Option<Announced> {
        let address = self.interpreter.register(state, Register::RDI)?;
        let size = match what.size {
            Some(size) => size.cast_signed(),
            None => {
                let size = self.interpreter.register(state, Register::RSI)?;
                self.interpreter.values.as_constant(size)?
            }
        };
        let (varying, offset) = self.interpreter.values.split(address);
        Some((varying, offset, offset.wrapping_add(size), what.writes))
    }

    /// Looks for accesses that are not covered, with what is known at the beginnings of blocks.
    fn check(&mut self, starts: &[Option<Point>]) -> Vec<Uncovered> {
        if !self.captured.is_empty() {
            self.capture(starts);
        }
        let mut found = Vec::new();
        for number in 0..self.flow.blocks.len() {
            let mut point = self.known(starts, number);
            for at in self.flow.blocks[number].from..self.flow.blocks[number].to {
                let one = &self.flow.instructions[at];
                let accesses = self.interpreter.accesses(&point.state, one);
                if let Some(access) = accesses.iter().find(|access| !self.is_covered(&point, access, at)) {
                    // gcc announces no stores of what calls return. It and others announce all else of these sizes.
                    let may_order = matches!(access.size, 1 | 2 | 4 | 8)
                        && !has_vectors(one)
                        && !self.interpreter.stores_result(&point.state, one);
                    found.push(Uncovered { at, may_order });
                }
                self.step(&mut point, at);
            }
        }
        found
    }

    /// Finds out of what in the frame the address is given away.
    fn capture(&mut self, starts: &[Option<Point>]) {
        for number in 0..self.flow.blocks.len() {
            let mut point = self.known(starts, number);
            for at in self.flow.blocks[number].from..self.flow.blocks[number].to {
                if !self.flow.calls(at) {
                    let one = &self.flow.instructions[at];
                    self.captured.step(&mut self.interpreter, &point.state, one);
                } else if (self.call)(at) == CallKind::Keeping {
                    self.captured.call(&mut self.interpreter, &point.state);
                }
                self.step(&mut point, at);
            }
        }
    }

    /// What is known at the beginning of a block.
    fn known(&mut self, starts: &[Option<Point>], number: usize) -> Point {
        let nothing = || Point { state: self.interpreter.entry(), announced: BTreeSet::new() };
        starts[number].clone().unwrap_or_else(nothing)
    }

    fn is_covered(&mut self, point: &Point, access: &Access, at: usize) -> bool {
        let in_frame = self.interpreter.values.is_in_frame(access.address);
        if in_frame && !self.captured.has(&mut self.interpreter, access) {
            return true;
        }
        let in_file = self.interpreter.address_in_file(access.address);
        if !access.writes && in_file.is_some_and(|address| self.code.is_constant(address)) {
            return true;
        }
        let values = &mut self.interpreter.values;
        let (varying, offset) = values.split(access.address);
        let end = offset.wrapping_add(access.size.cast_signed());
        let mut announced: Vec<Announced> = point.announced.iter().copied().collect();
        if access.size > 0 && covers(&announced, varying, offset..end, access.writes) {
            return true;
        }
        announced.extend(self.following(at));
        if access.size > 0 && covers(&announced, varying, offset..end, access.writes) {
            return true;
        }
        !access.writes && access.size == 8 && self.is_function_table(at)
    }

    /// What is announced behind an instruction, on the one way on from there, before anything else is called.
    fn following(&self, at: usize) -> Vec<Announced> {
        let mut found = Vec::new();
        let mut block = self.flow.block_of(at);
        for _ in 0..FOLLOWED {
            let Some(last) = self.flow.blocks[block].to.checked_sub(1) else { break };
            if last > at && self.flow.calls(last) || last < at {
                if self.flow.calls(last) && matches!((self.call)(last), CallKind::Other | CallKind::Keeping) {
                    break;
                }
                found.extend(self.announcements.get(&last));
            }
            match self.flow.blocks[block].next[..] {
                [next] if next > block => block = next,
                _ => break,
            }
        }
        found
    }

    /// Whether what an instruction reads is called: then it read a table of functions.
    fn is_function_table(&self, at: usize) -> bool {
        let one = &self.flow.instructions[at];
        if one.flow_control() == FlowControl::IndirectCall {
            return true;
        }
        if one.mnemonic() != Mnemonic::Mov || one.op0_kind() != OpKind::Register {
            return false;
        }
        let calls = |later: &Instruction| {
            later.flow_control() == FlowControl::IndirectCall
                && later.op0_kind() == OpKind::Register
                && later.op0_register() == one.op0_register()
        };
        let rest = self.flow.instructions[at + 1..].iter();
        rest.take(16).find(|later| later.flow_control() != FlowControl::Next).is_some_and(calls)
    }
}

/// Whether an instruction works on other than general registers.
fn has_vectors(one: &Instruction) -> bool {
    let registers = (0..one.op_count()).filter(|&nth| one.op_kind(nth) == OpKind::Register);
    registers.map(|nth| one.op_register(nth)).any(|register| !register.is_gpr())
}

/// Whether all these bytes are among the announced ones; a write must be announced as one.
fn covers(announced: &[Announced], varying: Value, bytes: std::ops::Range<i64>, writes: bool) -> bool {
    let mut ranges: Vec<(i64, i64)> = (announced.iter())
        .filter(|&&(known, _, _, is_write)| known == varying && (is_write || !writes))
        .map(|&(_, from, to, _)| (from, to))
        .collect();
    ranges.sort_unstable();
    let reached = ranges.iter().fold(
        bytes.start,
        |reached, &(from, to)| {
            if from <= reached { reached.max(to) } else { reached }
        },
    );
    reached >= bytes.end
}
