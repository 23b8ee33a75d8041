//! The control flow of one function.
//!
//! A block ends at a jump, where one leads to, and after each call. Where exceptions are caught, tables say ([`landing_pads`](super::landing_pads)); where there
//! are none, all that no jump leads to is taken to follow any call. Targets of a jump through a table are read from the tables that the
//! function names; where there are none, it leads to everything that nothing else leads to.

use std::collections::{BTreeMap, BTreeSet};

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind};

use super::file_code::{FileCode, FunctionStart};
use super::landing_pads::Caught;

/// How many entries of a jump table are read at most.
const TABLE: u64 = 2048;

/// A function, decoded.
pub(super) struct Flow {
    pub(super) instructions: Vec<Instruction>,
    /// The instruction at an address.
    by_address: BTreeMap<u64, usize>,
    pub(super) blocks: Vec<Block>,
    /// Jumps to computed addresses without a table: they may leave the function.
    pub(super) leaps: Vec<usize>,
}

/// Instructions that are done one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    pub(super) from: usize,
    /// The first instruction after it.
    pub(super) to: usize,
    pub(super) next: Vec<usize>,
    /// The blocks that it is next of.
    pub(super) previous: Vec<usize>,
}

/// What a call means for the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Return {
    /// It comes back, always.
    Always,
    /// It comes back, or an exception is caught.
    OrThrows,
    /// It does not come back, but an exception may be caught.
    Never,
}

/// The instructions of a function, in the order of addresses in each piece.
pub(super) fn decode(code: &FileCode, function: FunctionStart) -> Vec<Instruction> {
    let pieces = code.pieces(function);
    let decoded = pieces.iter().flat_map(|&(start, bytes)| {
        Decoder::with_ip(64, bytes, start, DecoderOptions::NONE).into_iter().collect::<Vec<_>>()
    });
    decoded.filter(|one| !one.is_invalid()).collect()
}

/// Whether an instruction calls, or ends the function by a jump to another. A system call is none: it leads nowhere in the program.
pub(super) fn is_call(one: &Instruction, instructions: &BTreeMap<u64, usize>) -> bool {
    match one.flow_control() {
        FlowControl::Call | FlowControl::IndirectCall => one.mnemonic() == Mnemonic::Call,
        FlowControl::IndirectBranch => one.is_ip_rel_memory_operand(),
        FlowControl::UnconditionalBranch => !instructions.contains_key(&one.near_branch_target()),
        _ => false,
    }
}

impl Flow {
    /// The flow of these instructions; `returns` says how calls come back.
    pub(super) fn of(
        instructions: Vec<Instruction>,
        code: &FileCode,
        returns: impl Fn(usize) -> Return,
    ) -> Flow {
        let by_address: BTreeMap<u64, usize> =
            instructions.iter().enumerate().map(|(at, one)| (one.ip(), at)).collect();
        let mut flow = Flow { instructions, by_address, blocks: Vec::new(), leaps: Vec::new() };
        let tables = flow.table_targets(code);
        flow.cut(code, &tables);
        flow.connect(code, &tables, returns);
        flow
    }

    /// The instruction at an address.
    pub(super) fn at(&self, address: u64) -> Option<usize> {
        self.by_address.get(&address).copied()
    }

    /// Whether this instruction calls, or ends the function by a jump to another.
    pub(super) fn calls(&self, at: usize) -> bool {
        is_call(&self.instructions[at], &self.by_address)
    }

    /// The block that has an instruction.
    pub(super) fn block_of(&self, at: usize) -> usize {
        self.blocks.partition_point(|block| block.from <= at) - 1
    }

    /// What may be done after an instruction.
    pub(super) fn after(&self, at: usize) -> Vec<usize> {
        let block = &self.blocks[self.block_of(at)];
        if at + 1 < block.to {
            return vec![at + 1];
        }
        block.next.iter().map(|&next| self.blocks[next].from).collect()
    }

    /// What may be done before an instruction.
    pub(super) fn before(&self, at: usize) -> Vec<usize> {
        let block = &self.blocks[self.block_of(at)];
        if at > block.from {
            return vec![at - 1];
        }
        block.previous.iter().map(|&previous| self.blocks[previous].to - 1).collect()
    }

    fn target(&self, one: &Instruction) -> Option<usize> {
        match one.flow_control() {
            FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => {
                self.at(one.near_branch_target())
            }
            _ => None,
        }
    }

    fn cut(&mut self, code: &FileCode, tables: &BTreeSet<usize>) {
        let mut first: BTreeSet<usize> = tables.clone();
        first.insert(0);
        for (at, one) in self.instructions.iter().enumerate() {
            first.extend(self.target(one));
            if let Caught::At(pad) = self.caught(code, one) {
                first.extend(self.at(pad));
            }
            let goes_on = one.flow_control() == FlowControl::Next;
            let is_adjacent = self.instructions.get(at + 1).is_some_and(|next| next.ip() == one.next_ip());
            if !goes_on || !is_adjacent {
                first.insert(at + 1);
            }
        }
        let first: Vec<usize> = first.into_iter().filter(|&at| at < self.instructions.len()).collect();
        let ends = first.iter().skip(1).copied().chain([self.instructions.len()]);
        self.blocks =
            first.iter().zip(ends).map(|(&from, to)| Block { from, to, ..Block::default() }).collect();
    }

    fn connect(&mut self, code: &FileCode, tables: &BTreeSet<usize>, returns: impl Fn(usize) -> Return) {
        let (mut edges, mut throwing, mut jumping) = (Vec::new(), Vec::new(), Vec::new());
        for (number, block) in self.blocks.iter().enumerate() {
            let last = block.to - 1;
            let one = &self.instructions[last];
            let falls = (self.instructions.get(block.to))
                .filter(|next| next.ip() == one.next_ip())
                .map(|_| number + 1);
            match one.flow_control() {
                FlowControl::Call | FlowControl::IndirectCall => {
                    let returns = returns(last);
                    if returns != Return::Never {
                        edges.extend(falls.map(|next| (number, next)));
                    }
                    if returns != Return::Always {
                        match self.caught(code, one) {
                            Caught::At(pad) => {
                                edges.extend(self.at(pad).map(|pad| (number, self.block_of(pad))));
                            }
                            Caught::Elsewhere => {}
                            Caught::Unknown => throwing.push(number),
                        }
                    }
                }
                FlowControl::ConditionalBranch => {
                    edges.extend(falls.map(|next| (number, next)));
                    edges.extend(self.target(one).map(|target| (number, self.block_of(target))));
                }
                FlowControl::UnconditionalBranch => {
                    edges.extend(self.target(one).map(|target| (number, self.block_of(target))));
                }
                FlowControl::IndirectBranch
                    if one.op0_kind() != OpKind::Memory || !one.is_ip_rel_memory_operand() =>
                {
                    edges.extend(tables.iter().map(|&target| (number, self.block_of(target))));
                    jumping.push(number);
                }
                FlowControl::Next => edges.extend(falls.map(|next| (number, next))),
                _ => {}
            }
        }
        let led_to: BTreeSet<usize> = edges.iter().map(|&(_, to)| to).chain([0]).collect();
        let caught =
            (0..self.blocks.len()).filter(|block| !led_to.contains(block) && !self.is_padding(*block));
        let caught: Vec<usize> = caught.collect();
        if tables.is_empty() {
            self.leaps = jumping.iter().map(|&block| self.blocks[block].to - 1).collect();
            throwing.extend(jumping);
        }
        for from in throwing {
            edges.extend(caught.iter().map(|&to| (from, to)));
        }
        for (from, to) in edges {
            if !self.blocks[from].next.contains(&to) {
                self.blocks[from].next.push(to);
                self.blocks[to].previous.push(from);
            }
        }
    }

    /// Where what an instruction throws is caught, if it is a call.
    fn caught(&self, code: &FileCode, one: &Instruction) -> Caught {
        match one.flow_control() {
            FlowControl::Call | FlowControl::IndirectCall => code.landing_pads().of_call(one.ip()),
            _ => Caught::Elsewhere,
        }
    }

    fn is_padding(&self, block: usize) -> bool {
        let Block { from, to, .. } = self.blocks[block];
        let fills =
            |one: &Instruction| matches!(one.mnemonic(), Mnemonic::Nop | Mnemonic::Int3 | Mnemonic::Ud2);
        self.instructions[from..to].iter().all(fills)
    }

    /// Where the tables that the function names lead to, if it jumps through any.
    fn table_targets(&self, code: &FileCode) -> BTreeSet<usize> {
        let jumps = |one: &Instruction| one.flow_control() == FlowControl::IndirectBranch;
        if !self.instructions.iter().any(jumps) {
            return BTreeSet::new();
        }
        let named = self.instructions.iter().filter_map(|one| {
            let is_address = one.mnemonic() == Mnemonic::Lea && one.is_ip_rel_memory_operand();
            let is_base = jumps(one) && one.op0_kind() == OpKind::Memory;
            match (is_address, is_base) {
                (true, _) => Some(one.ip_rel_memory_address()),
                (_, true) => Some(one.memory_displacement64()),
                _ => None,
            }
        });
        named.filter(|&table| code.is_constant(table)).flat_map(|table| self.entries(code, table)).collect()
    }

    fn entries(&self, code: &FileCode, table: u64) -> Vec<usize> {
        let short = (0..TABLE).map_while(|nth| {
            let bytes = code.bytes(table + 4 * nth, 4)?;
            let offset = i32::from_le_bytes(bytes.try_into().ok()?);
            self.at(table.wrapping_add_signed(offset.into()))
        });
        let long = (0..TABLE).map_while(|nth| {
            let bytes = code.bytes(table + 8 * nth, 8)?;
            self.at(u64::from_le_bytes(bytes.try_into().ok()?))
        });
        short.chain(long).collect()
    }
}
