//! What calls are, and what they lead to: through stubs of the linker, slots that the loader fills in, and registers.

use foresee_trace::raw::BlindCode;
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register};

use super::coverage::Announcement;
use super::file_code::{Callee, FileCode};
use super::flow::Flow;

/// How far back the source of a called address is looked for.
const LOOK_BACK: usize = 40;

/// What a call is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Call {
    /// It announces an access, which is an event.
    Announces(Announcement),
    /// It is an event whenever it is done.
    Event,
    /// The function says that it is left.
    Leaves,
    /// One into the runtime that is no event, or not always.
    Tool,
    /// One without effect, or whose effect is seen.
    Nothing,
    NeverReturns,
    Blind(BlindCode),
    /// One of a computed address: an event, if what it calls is instrumented.
    Unknown,
}

/// What the call at this instruction leads to.
pub(super) fn callee(code: &FileCode, instructions: &[Instruction], at: usize) -> Callee {
    let one = &instructions[at];
    match one.flow_control() {
        FlowControl::Call | FlowControl::UnconditionalBranch => through_stub(code, one.near_branch_target()),
        FlowControl::IndirectCall | FlowControl::IndirectBranch if one.is_ip_rel_memory_operand() => {
            code.slot(one.ip_rel_memory_address())
        }
        FlowControl::IndirectCall if one.op0_kind() == OpKind::Register => {
            in_register(code, instructions, at, one.op0_register())
        }
        _ => Callee::Unknown,
    }
}

/// System calls that order nothing: waiting for an atomic and waking who waits for it (the atomic itself is the program's, and orders
/// what it orders), and asking who one is.
const HARMLESS: [u64; 4] = [FUTEX, GETTID, GETPID, SCHED_YIELD];
const FUTEX: u64 = 202;
const GETTID: u64 = 186;
const GETPID: u64 = 39;
const SCHED_YIELD: u64 = 24;
/// What a futex is used for: to wait and to wake, if the bits are left out that say how. Other uses write to it.
const FUTEX_USES: [u64; 4] = [0, 1, 9, 10];
const FUTEX_HOW: u64 = !(128 | 256);

/// Whether the call of `syscall` at this instruction is for one of them, by a constant.
pub(super) fn is_harmless_system_call(instructions: &[Instruction], at: usize) -> bool {
    match constant_in(Register::RDI, instructions, at) {
        Some(FUTEX) => constant_in(Register::RDX, instructions, at)
            .is_some_and(|operation| FUTEX_USES.contains(&(operation & FUTEX_HOW))),
        number => number.is_some_and(|number| HARMLESS.contains(&number)),
    }
}

/// The constant that is in a register at this instruction, if it was put there shortly before.
fn constant_in(register: Register, instructions: &[Instruction], at: usize) -> Option<u64> {
    let before = instructions[..at].iter().rev().take(LOOK_BACK);
    let mut before = before.take_while(|one| one.flow_control() == FlowControl::Next);
    let set = before.find(|one| {
        one.op_count() > 0
            && one.op0_kind() == OpKind::Register
            && one.op0_register().full_register() == register
    })?;
    match set.mnemonic() {
        Mnemonic::Mov => set.try_immediate(1).ok(),
        Mnemonic::Xor if set.op1_kind() == OpKind::Register && set.op1_register() == set.op0_register() => {
            Some(0)
        }
        _ => None,
    }
}

/// The functions whose addresses are put into registers shortly before a call.
pub(super) fn given_functions(code: &FileCode, instructions: &[Instruction], at: usize) -> Vec<u64> {
    let before = instructions[..at].iter().rev().take(LOOK_BACK);
    let before = before.take_while(|one| one.flow_control() == FlowControl::Next);
    let addresses = before.filter_map(|one| taken_address(code, one));
    addresses.filter(|&address| code.is_start(address)).collect()
}

/// The address that an instruction takes of something in the file.
pub(super) fn taken_address(code: &FileCode, one: &Instruction) -> Option<u64> {
    match one.mnemonic() {
        Mnemonic::Lea if one.is_ip_rel_memory_operand() => Some(one.ip_rel_memory_address()),
        Mnemonic::Mov if one.op1_kind() == OpKind::Immediate32 => Some(one.immediate32().into()),
        Mnemonic::Mov if one.op1_kind() == OpKind::Memory && one.is_ip_rel_memory_operand() => {
            match code.slot(one.ip_rel_memory_address()) {
                Callee::Here(address) => Some(address),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The address in a register that is called, if it was put there shortly before.
fn in_register(code: &FileCode, instructions: &[Instruction], at: usize, register: Register) -> Callee {
    let before = instructions[..at].iter().rev().take(LOOK_BACK);
    let mut before = before.take_while(|one| one.flow_control() == FlowControl::Next);
    let put = before.find(|one| is_put_into(one, register)).and_then(|one| source(code, one));
    put.unwrap_or(Callee::Unknown)
}

/// The same, on all ways that lead to the call: compilers put what is called in a loop into a register before it.
pub(super) fn on_all_ways(code: &FileCode, flow: &Flow, at: usize) -> Option<Callee> {
    let one = &flow.instructions[at];
    let is_by_register =
        one.flow_control() == FlowControl::IndirectCall && one.op0_kind() == OpKind::Register;
    let register = one.op0_register();
    if !is_by_register || !PRESERVED.contains(&register) {
        return None;
    }
    let mut found = None;
    let mut seen = vec![false; flow.instructions.len()];
    let mut open = flow.before(at);
    while let Some(at) = open.pop() {
        if std::mem::replace(&mut seen[at], true) {
            continue;
        }
        if is_put_into(&flow.instructions[at], register) {
            let put = source(code, &flow.instructions[at])?;
            if found.get_or_insert_with(|| put.clone()) != &put {
                return None;
            }
            continue;
        }
        let before = flow.before(at);
        if at == 0 || before.is_empty() {
            return None;
        }
        open.extend(before);
    }
    found
}

/// Registers that calls preserve.
const PRESERVED: [Register; 6] =
    [Register::RBX, Register::RBP, Register::R12, Register::R13, Register::R14, Register::R15];

fn is_put_into(one: &Instruction, register: Register) -> bool {
    let is = |nth: u32| {
        one.op_count() > nth
            && one.op_kind(nth) == OpKind::Register
            && one.op_register(nth).full_register() == register
    };
    match one.mnemonic() {
        Mnemonic::Cmp | Mnemonic::Test | Mnemonic::Push | Mnemonic::Call | Mnemonic::Jmp => false,
        Mnemonic::Xchg | Mnemonic::Xadd => is(0) || is(1),
        Mnemonic::Cpuid => register == Register::RBX,
        _ => is(0),
    }
}

/// The function whose address an instruction puts into a register.
fn source(code: &FileCode, one: &Instruction) -> Option<Callee> {
    match one.mnemonic() {
        Mnemonic::Mov if one.is_ip_rel_memory_operand() => Some(code.slot(one.ip_rel_memory_address())),
        Mnemonic::Lea if one.is_ip_rel_memory_operand() => {
            Some(through_stub(code, one.ip_rel_memory_address()))
        }
        _ => None,
    }
}

/// Stubs of the linker lead to what a slot has in it.
fn through_stub(code: &FileCode, address: u64) -> Callee {
    let Some(bytes) = code.bytes(address, 16).or_else(|| code.bytes(address, 8)) else {
        return Callee::Here(address);
    };
    let decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
    let first = decoder.into_iter().find(|one| one.mnemonic() != Mnemonic::Endbr64);
    match first {
        Some(one) if one.mnemonic() == Mnemonic::Jmp && one.is_ip_rel_memory_operand() => {
            code.slot(one.ip_rel_memory_address())
        }
        _ => Callee::Here(address),
    }
}
