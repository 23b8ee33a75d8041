//! Which structures and arrays in a frame others may access: those whose addresses are given away.
//!
//! Given away is what a function is called with that may keep it, and what is stored anywhere. Where in the code that happens does
//! not matter. An element of an array is known by what it is counted from: where a variable begins, that is the array; else it may be
//! any nearby, as compilers also count from beside an array. Addresses that have nothing to do with the frame's beginning may be
//! of anything in it.

use iced_x86::{Instruction, Mnemonic, OpKind, Register};

use super::frame_variables::FrameVariable;
use super::state::{Access, Interpreter, State};
use super::values::Value;

/// Registers in which functions are given what they are called with.
const ARGUMENTS: [Register; 6] =
    [Register::RDI, Register::RSI, Register::RDX, Register::RCX, Register::R8, Register::R9];

/// How far from an array its elements are counted from, at most.
const NEARBY: i64 = 16;

/// The structures and arrays in a frame, and whether their addresses are given away.
pub(super) struct Captured<'a> {
    variables: &'a [FrameVariable],
    is_captured: Vec<bool>,
    /// Where the stack pointer is when the function begins.
    beginning: Value,
}

impl<'a> Captured<'a> {
    pub(super) fn new(variables: &'a [FrameVariable], beginning: Value) -> Captured<'a> {
        Captured { variables, is_captured: vec![false; variables.len()], beginning }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.variables.is_empty()
    }

    /// A function that may keep what it is given is called.
    pub(super) fn call(&mut self, interpreter: &mut Interpreter<'_>, state: &State) {
        for register in ARGUMENTS {
            if let Some(value) = interpreter.register(state, register) {
                self.give(interpreter, value);
            }
        }
    }

    /// An instruction that is no call may store an address.
    pub(super) fn step(&mut self, interpreter: &mut Interpreter<'_>, state: &State, one: &Instruction) {
        let stored = match (one.mnemonic(), one.op0_kind()) {
            (Mnemonic::Mov, OpKind::Memory) if one.op1_kind() == OpKind::Register => one.op1_register(),
            (Mnemonic::Push, OpKind::Register) => one.op0_register(),
            // A pair of addresses is stored at once.
            (Mnemonic::Movq, _) if one.op1_kind() == OpKind::Register => one.op1_register(),
            _ => return,
        };
        if let Some(value) = interpreter.register(state, stored) {
            self.give(interpreter, value);
        }
    }

    fn give(&mut self, interpreter: &mut Interpreter<'_>, address: Value) {
        if interpreter.values.is_in_frame(address) {
            let bytes = self.bytes(interpreter, address, 1);
            for (variable, is_captured) in self.variables.iter().zip(&mut self.is_captured) {
                *is_captured |= overlap(variable, bytes);
            }
        }
    }

    /// Whether others may access what this accesses in the frame.
    pub(super) fn has(&self, interpreter: &mut Interpreter<'_>, access: &Access) -> bool {
        let bytes = self.bytes(interpreter, access.address, access.size);
        let mut captured = self.variables.iter().zip(&self.is_captured).filter(|&(_, &captured)| captured);
        captured.any(|(variable, _)| overlap(variable, bytes))
    }

    /// Which bytes from the frame's beginning these may be of, if anything is known of that; 0 bytes are any number.
    fn bytes(&self, interpreter: &mut Interpreter<'_>, address: Value, size: u64) -> Option<(i64, i64)> {
        let (varying, offset) = interpreter.values.split(address);
        let size = i64::try_from(size).ok().filter(|&size| size > 0)?;
        let end = offset.saturating_add(size);
        if varying == self.beginning {
            return Some((offset, end));
        }
        if !interpreter.values.has(varying, self.beginning) {
            return None;
        }
        let begins = |variable: &FrameVariable| variable.bytes.is_some_and(|(start, _)| start == offset);
        let away = if self.variables.iter().any(begins) { 0 } else { NEARBY };
        Some((offset.saturating_sub(away), end.saturating_add(away)))
    }
}

/// Whether these bytes may be of a variable.
fn overlap(variable: &FrameVariable, bytes: Option<(i64, i64)>) -> bool {
    match (variable.bytes, bytes) {
        (Some((start, end)), Some((from, to))) => from < end && start < to,
        _ => true,
    }
}
