//! The machine code of one function, with what has to be known to put jumps into it.

use std::ops::Range;

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction};
use rustc_hash::FxHashSet;

/// The code of a program: its sections with code, and the beginnings of all functions.
pub(super) struct ProgramCode {
    pub(super) sections: Vec<(u64, Vec<u8>)>,
    /// Sorted.
    pub(super) starts: Vec<u64>,
    /// What instrumented functions call before they return.
    pub(super) exit: Option<u64>,
}

impl ProgramCode {
    pub(super) fn bytes(&self, range: Range<u64>) -> Option<&[u8]> {
        self.sections.iter().find_map(|(first, bytes)| {
            let from = usize::try_from(range.start.checked_sub(*first)?).ok()?;
            let to = usize::try_from(range.end.checked_sub(*first)?).ok()?;
            bytes.get(from..to)
        })
    }

    /// Where the next function begins, or the section ends.
    pub(super) fn next_start(&self, after: u64) -> u64 {
        let next = self.starts.partition_point(|start| *start < after);
        let of_section = self.sections.iter().map(|(first, bytes)| first + bytes.len() as u64);
        let end = of_section.filter(|end| *end >= after).min().unwrap_or(after);
        self.starts.get(next).map_or(end, |start| end.min(*start))
    }
}

/// The code of a function.
pub(super) struct FunctionCode {
    /// In the order of their addresses, with what fills up the space behind the function.
    pub(super) instructions: Vec<Instruction>,
    pub(super) bytes: Vec<u8>,
    /// Where jumps of the function itself lead.
    targets: FxHashSet<u64>,
    /// It has jumps to where a register says.
    pub(super) has_computed_jumps: bool,
    /// It returns from a piece of it that is elsewhere.
    pub(super) returns_elsewhere: bool,
    ranges: Vec<Range<u64>>,
    start: u64,
}

impl FunctionCode {
    /// Decodes a function; `None` if it is not all code. The first range is where it is entered.
    pub(super) fn new(program: &ProgramCode, ranges: &[Range<u64>]) -> Option<FunctionCode> {
        let main = ranges.first()?.clone();
        let filled = main.start..program.next_start(main.end);
        let bytes = program.bytes(filled)?.to_vec();
        let mut all: Vec<Instruction> = decoded(&bytes, main.start).collect();
        let behind = all.partition_point(|one| one.ip() < main.end);
        if all[..behind].iter().any(Instruction::is_invalid) {
            return None;
        }
        let filling = all[behind..].iter().take_while(|one| is_filling(one)).count();
        all.truncate(behind + filling);
        let mut jumps: Vec<Instruction> = all[..behind].to_vec();
        let mut returns_elsewhere = false;
        for apart in &ranges[1..] {
            let part: Vec<Instruction> = decoded(program.bytes(apart.clone())?, apart.start).collect();
            if part.iter().any(Instruction::is_invalid) {
                return None;
            }
            returns_elsewhere |= part.iter().any(|one| one.flow_control() == FlowControl::Return);
            jumps.extend(part);
        }
        Some(FunctionCode {
            targets: jumps.iter().filter(|one| is_jump(one)).map(Instruction::near_branch_target).collect(),
            returns_elsewhere,
            has_computed_jumps: jumps.iter().any(|one| one.flow_control() == FlowControl::IndirectBranch),
            ranges: ranges.to_vec(),
            start: main.start,
            instructions: all,
            bytes,
        })
    }

    /// Whether one of its jumps leads there.
    pub(super) fn is_target(&self, address: u64) -> bool {
        self.targets.contains(&address)
    }

    /// Whether one of its jumps leads to somewhere among these.
    pub(super) fn has_target_in(&self, range: Range<u64>) -> bool {
        self.targets.iter().any(|target| range.contains(target))
    }

    /// Where it is entered.
    pub(super) fn start(&self) -> u64 {
        self.start
    }

    /// Whether it leaves the function by a jump: the one that it jumps to returns in its place.
    pub(super) fn leaves(&self, one: &Instruction) -> bool {
        let to = one.near_branch_target();
        is_jump(one) && !self.ranges.iter().any(|range| range.contains(&to))
    }

    /// The bytes of these instructions, which follow each other.
    pub(super) fn bytes_of(&self, instructions: &[Instruction]) -> &[u8] {
        let (Some(first), Some(last)) = (instructions.first(), instructions.last()) else { return &[] };
        let from = (first.ip() - self.start) as usize;
        &self.bytes[from..(last.next_ip() - self.start) as usize]
    }

    /// The place of the 4-byte number in an instruction that is relative to it; 0 if there is none, `None` if it has another size.
    pub(super) fn relative_field(&self, one: &Instruction) -> Option<usize> {
        let from = (one.ip() - self.start) as usize;
        let mut decoder = Decoder::with_ip(64, &self.bytes[from..], one.ip(), DecoderOptions::NONE);
        let again = decoder.decode();
        let offsets = decoder.get_constant_offsets(&again);
        let is_branch = is_jump(one) || one.flow_control() == FlowControl::Call;
        match (is_branch, one.is_ip_rel_memory_operand()) {
            (false, false) => Some(0),
            (true, _) => (offsets.immediate_size() == 4).then(|| offsets.immediate_offset()),
            (_, true) => (offsets.displacement_size() == 4).then(|| offsets.displacement_offset()),
        }
    }
}

fn decoded(bytes: &[u8], start: u64) -> impl Iterator<Item = Instruction> {
    let mut decoder = Decoder::with_ip(64, bytes, start, DecoderOptions::NONE);
    std::iter::from_fn(move || decoder.can_decode().then(|| decoder.decode()))
}

fn is_jump(one: &Instruction) -> bool {
    matches!(one.flow_control(), FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch)
}

/// What stands between functions, and in front of loops.
pub(super) fn is_filling(one: &Instruction) -> bool {
    use iced_x86::Mnemonic;
    matches!(one.mnemonic(), Mnemonic::Nop | Mnemonic::Int3)
        // A nop of two bytes.
        || one.mnemonic() == Mnemonic::Xchg && one.len() == 2 && one.op0_register() == iced_x86::Register::AX
}
