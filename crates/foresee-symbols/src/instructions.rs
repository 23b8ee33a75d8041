//! What the machine code of a program says about its calls: which are always given the same address.
//!
//! A program that tells its branches tells nothing of where its addresses come from: `*p = 1` is a write to whatever `p` was when it
//! was read. But `X = 1` of a static is compiled to a call that is given an address out of the instructions themselves:
//!
//! ```text
//!     lea rdi, [rip + X]            mov edi, offset X              lea rbx, [rip + X]    (once, somewhere)
//!     call __tsan_write4            call __tsan_write4             …
//!                                                                  mov rdi, rbx
//!                                                                  call __tsan_write4
//! ```
//!
//! So the code is looked at backwards from a call, through moves between registers, and no further than to the beginning of its
//! block: to a jump, to where one leads, or to the call that tells of it; nor, for most registers, to any other call. There, a
//! register that calls preserve may have its value from anywhere in the function: it is known if nothing else in the function
//! writes to it but `pop`, which gives the caller's value back. (That holds whatever the control flow is, exceptions
//! included: a compiler does not use the caller's value.) A function that the compiler has split into two parts shares
//! its registers between them, so nothing is concluded there.
//!
//! What is not recognised is not known, which is sound. Each function is decoded once, when it is first asked for.

use foresee_trace::raw::Call;
use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess,
    Register,
};
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, SectionKind, SymbolKind};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::image::Image;

/// What compilers call at the beginning of each block.
const TELLER: &str = "__sanitizer_cov_trace_pc";
/// What the names of functions begin with that are atomic operations.
const ATOMIC: &str = "__tsan_atomic";
/// What the name of the second part of a function has in it.
const PART: &str = ".cold";

/// Registers that keep their values over calls.
const PRESERVED: [Register; 6] =
    [Register::RBX, Register::RBP, Register::R12, Register::R13, Register::R14, Register::R15];

/// The code of one program or library.
pub struct Instructions {
    sections: Vec<(u64, Vec<u8>)>,
    /// By their first addresses.
    functions: Vec<Function>,
    known: Known,
}

/// Where functions are that compilers call.
#[derive(Default)]
struct Known {
    teller: Option<u64>,
    atomics: FxHashSet<u64>,
}

struct Function {
    start: u64,
    size: u64,
    is_split: bool,
    calls: Option<Calls>,
}

/// The calls in a function, by the addresses that they return to.
#[derive(Default)]
struct Calls {
    tell_branches: bool,
    arguments: FxHashMap<u64, u64>,
    atomics: FxHashSet<u64>,
}

impl Instructions {
    /// The code of a file. Functions are decoded when they are first asked for.
    pub fn of(image: &Image) -> Option<Instructions> {
        let file = image.elf().ok()?;
        let code = file.sections().filter(|section| section.kind() == SectionKind::Text);
        let sections = code.filter_map(|section| Some((section.address(), section.data().ok()?.to_vec())));
        let (mut functions, mut known) = (Vec::new(), Known::default());
        let mut split = FxHashSet::default();
        for symbol in file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text) {
            let name = symbol.name().unwrap_or_default();
            if name == TELLER {
                known.teller = Some(symbol.address());
            }
            if name.starts_with(ATOMIC) {
                known.atomics.insert(symbol.address());
            }
            if let Some((whole, _)) = name.split_once(PART) {
                split.insert(whole.to_owned());
            }
            functions.push((symbol.address(), symbol.size(), name.split(PART).next().unwrap_or(name)));
        }
        functions.sort_unstable();
        functions.dedup_by_key(|&mut (start, ..)| start);
        let function = |(start, size, name)| {
            let is_split = split.contains(name);
            Function { start, size, is_split, calls: None }
        };
        Some(Instructions {
            sections: sections.collect(),
            functions: functions.into_iter().map(function).collect(),
            known,
        })
    }

    /// What is known of the call that returns to `pc`.
    pub fn call(&mut self, pc: u64) -> Call {
        let after = self.functions.partition_point(|function| function.start < pc);
        let Some(function) = after.checked_sub(1).and_then(|at| self.functions.get_mut(at)) else {
            return Call::default();
        };
        // The call may be the function's last instruction.
        if pc - function.start > function.size {
            return Call::default();
        }
        let calls = function.calls.get_or_insert_with(|| {
            let code = bytes_at(&self.sections, function.start, function.size).unwrap_or_default();
            Calls::of(code, function.start, function.is_split, &self.known)
        });
        Call {
            records_branches: calls.tell_branches,
            is_atomic: calls.atomics.contains(&pc),
            argument: calls.arguments.get(&pc).copied(),
        }
    }
}

fn bytes_at(sections: &[(u64, Vec<u8>)], start: u64, size: u64) -> Option<&[u8]> {
    sections.iter().find_map(|(first, bytes)| {
        let from = usize::try_from(start.checked_sub(*first)?).ok()?;
        bytes.get(from..from.checked_add(usize::try_from(size).ok()?)?)
    })
}

impl Calls {
    fn of(code: &[u8], start: u64, is_split: bool, known: &Known) -> Calls {
        let list: Vec<Instruction> = Decoder::with_ip(64, code, start, DecoderOptions::NONE).iter().collect();
        if list.iter().any(Instruction::is_invalid) {
            return Calls::default();
        }
        let mut writes = Writes::new();
        let constants = if is_split { FxHashMap::default() } else { writes.constants(&list) };
        let jumps = list.iter().filter(|one| {
            matches!(one.flow_control(), FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch)
        });
        let targets: FxHashSet<u64> = jumps.map(Instruction::near_branch_target).collect();
        let begins = |one: &Instruction| targets.contains(&one.ip());
        let tells = |one: &Instruction| {
            one.flow_control() == FlowControl::Call && known.teller == Some(one.near_branch_target())
        };
        // The first block goes on before its call.
        let mut blocks = list.iter().filter(|one| tells(one));
        let first = blocks.next().map(Instruction::ip).filter(|&first| {
            let mut before = list.iter().take_while(|one| one.ip() <= first);
            let goes_on = [FlowControl::Next, FlowControl::Call, FlowControl::IndirectCall];
            before.all(|one| goes_on.contains(&one.flow_control()) && !begins(one))
        });
        let mut calls = Calls::default();
        for (at, call) in list.iter().enumerate() {
            match call.flow_control() {
                _ if tells(call) => calls.tell_branches = true,
                FlowControl::Call | FlowControl::IndirectCall => {
                    let block = list[..=at].windows(2).rev().take_while(|pair| !begins(&pair[1]));
                    let block =
                        block.map(|pair| &pair[0]).take_while(|one| !tells(one) || Some(one.ip()) == first);
                    let argument = first_argument(block, &constants, &mut writes);
                    calls.arguments.extend(argument.map(|address| (call.next_ip(), address)));
                    if known.atomics.contains(&call.near_branch_target()) {
                        calls.atomics.insert(call.next_ip());
                    }
                }
                _ => {}
            }
        }
        calls
    }
}

/// The address in `rdi` after these instructions, which come in reverse.
fn first_argument<'a>(
    block: impl Iterator<Item = &'a Instruction>,
    constants: &FxHashMap<Register, u64>,
    writes: &mut Writes,
) -> Option<u64> {
    let mut register = Register::RDI;
    for before in block {
        match before.flow_control() {
            FlowControl::Next => {}
            FlowControl::Call | FlowControl::IndirectCall if PRESERVED.contains(&register) => continue,
            _ => break,
        }
        if !writes.to(before).any(|written| written == register) {
            continue;
        }
        if let Some(address) = constant(before) {
            return Some(address);
        }
        if !matches!(before.code(), Code::Mov_r64_rm64 | Code::Mov_rm64_r64)
            || before.op1_register() == Register::None
        {
            return None;
        }
        register = before.op1_register();
    }
    constants.get(&register).copied()
}

/// The address that an instruction has in itself and puts into a register.
fn constant(one: &Instruction) -> Option<u64> {
    match one.code() {
        Code::Lea_r64_m if one.is_ip_rel_memory_operand() => Some(one.ip_rel_memory_address()),
        Code::Mov_r32_imm32 => Some(one.immediate32().into()),
        _ => None,
    }
}

/// Tells which registers instructions write to.
struct Writes {
    factory: InstructionInfoFactory,
}

impl Writes {
    fn new() -> Writes {
        Writes { factory: InstructionInfoFactory::new() }
    }

    fn to(&mut self, one: &Instruction) -> impl Iterator<Item = Register> {
        let used = self.factory.info(one).used_registers();
        let written = used.iter().filter(|used| {
            !matches!(
                used.access(),
                OpAccess::None | OpAccess::NoMemAccess | OpAccess::Read | OpAccess::CondRead
            )
        });
        written.map(|used| used.register().full_register())
    }

    /// The registers that have the same address wherever the function uses them after a call.
    fn constants(&mut self, list: &[Instruction]) -> FxHashMap<Register, u64> {
        let mut found: FxHashMap<Register, Option<u64>> = FxHashMap::default();
        for one in list.iter().filter(|one| one.mnemonic() != Mnemonic::Pop) {
            for register in self.to(one).filter(|register| PRESERVED.contains(register)) {
                let address = constant(one);
                found.entry(register).and_modify(|known| *known = None).or_insert(address);
            }
        }
        found.into_iter().filter_map(|(register, address)| Some((register, address?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `lea reg, [rip + 0x100]` of seven bytes, for the registers that are used here.
    const LEA_RDI: [u8; 7] = [0x48, 0x8d, 0x3d, 0, 1, 0, 0];
    const LEA_RAX: [u8; 7] = [0x48, 0x8d, 0x05, 0, 1, 0, 0];
    const LEA_RBX: [u8; 7] = [0x48, 0x8d, 0x1d, 0, 1, 0, 0];
    const MOV_RDI_RAX: [u8; 3] = [0x48, 0x89, 0xc7];
    const MOV_RDI_RBX: [u8; 3] = [0x48, 0x89, 0xdf];
    const MOV_RBX_RAX: [u8; 3] = [0x48, 0x89, 0xc3];
    const ADD_RDI_RAX: [u8; 3] = [0x48, 0x01, 0xc7];
    const MOV_ESI_5: [u8; 5] = [0xbe, 5, 0, 0, 0];
    const POP_RBX: [u8; 1] = [0x5b];
    /// To the next instruction.
    const CALL: [u8; 5] = [0xe8, 0, 0, 0, 0];
    const JE_OVER_CALL: [u8; 2] = [0x74, 5];
    const JE_OVER_LEA: [u8; 2] = [0x74, 7];

    fn teller(address: u64) -> Known {
        Known { teller: Some(address), atomics: FxHashSet::default() }
    }

    /// What is known of the last call in this code, which starts at 0x1000.
    fn argument(parts: &[&[u8]], is_split: bool) -> Option<u64> {
        let code = parts.concat();
        let calls = Calls::of(&code, 0x1000, is_split, &Known::default());
        let last = calls.arguments.iter().max();
        last.filter(|(pc, _)| **pc == 0x1000 + code.len() as u64).map(|(_, &address)| address)
    }

    #[test]
    fn addresses_in_the_code_are_known() {
        assert_eq!(argument(&[&LEA_RDI, &CALL], false), Some(0x1107));
        assert_eq!(argument(&[&LEA_RDI, &MOV_ESI_5, &CALL], false), Some(0x1107));
        assert_eq!(argument(&[&LEA_RAX, &MOV_RDI_RAX, &CALL], false), Some(0x1107));
        assert_eq!(argument(&[&[0xbf, 0, 0x20, 0x40, 0], &CALL], false), Some(0x40_2000));
    }

    #[test]
    fn what_is_computed_is_not() {
        assert_eq!(argument(&[&CALL], false), None);
        assert_eq!(argument(&[&LEA_RDI, &ADD_RDI_RAX, &CALL], false), None);
        assert_eq!(argument(&[&MOV_RDI_RAX, &CALL], false), None);
        // A call may change `rdi`, and a jump may come from where it is something else.
        assert_eq!(argument(&[&LEA_RDI, &CALL, &CALL], false), None);
        assert_eq!(argument(&[&JE_OVER_LEA, &LEA_RDI, &CALL], false), None);
    }

    #[test]
    fn a_register_with_one_source_is_known_everywhere() {
        let used: [&[u8]; 5] = [&LEA_RBX, &JE_OVER_CALL, &CALL, &MOV_RDI_RBX, &CALL];
        assert_eq!(argument(&used, false), Some(0x1107));
        assert_eq!(argument(&used, true), None);
        // It gets the caller's value back.
        let popped: [&[u8]; 6] = [&LEA_RBX, &POP_RBX, &JE_OVER_CALL, &CALL, &MOV_RDI_RBX, &CALL];
        assert_eq!(argument(&popped, false), Some(0x1107));
        assert_eq!(argument(&[&LEA_RBX, &MOV_RBX_RAX, &CALL, &MOV_RDI_RBX, &CALL], false), None);
    }

    #[test]
    fn a_register_may_have_several_sources_in_different_blocks() {
        let used: [&[u8]; 7] = [&LEA_RBX, &CALL, &LEA_RBX, &MOV_RDI_RBX, &CALL, &MOV_RDI_RBX, &CALL];
        assert_eq!(argument(&used, false), Some(0x1113));
        // The first block begins before the call that tells of it, another does not.
        let known = |jump: &[u8]| {
            let code = [jump, &LEA_RBX, &CALL, &MOV_RDI_RBX, &CALL, &LEA_RBX].concat();
            let (start, end) = (0x1000 + jump.len() as u64, 0x1014 + jump.len() as u64);
            Calls::of(&code, 0x1000, false, &teller(start + 12)).arguments.get(&end).copied()
        };
        assert_eq!((known(&[]), known(&JE_OVER_CALL)), (Some(0x1107), None));
    }

    #[test]
    fn a_function_tells_its_branches_if_it_calls_for_that() {
        let code = [LEA_RDI.as_slice(), &CALL].concat();
        let calls = |known| Calls::of(&code, 0x1000, false, &known).tell_branches;
        assert!(calls(teller(0x100c)) && !calls(teller(0x1000)) && !calls(Known::default()));
        let known = Known { teller: None, atomics: FxHashSet::from_iter([0x100c]) };
        assert!(Calls::of(&code, 0x1000, false, &known).atomics.contains(&0x100c));
    }
}
