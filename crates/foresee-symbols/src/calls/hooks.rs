//! Where jumps can be put into a function, so that the runtime takes notice of it.
//!
//! A hook replaces whole instructions by a jump of five bytes to a piece of code of the runtime's. That does what is to be done there,
//! then what was replaced, and goes back. Two places are exact by what they are:
//!
//! - **the first instruction**: all registers are as the caller left them;
//! - **each return**: the result is where the caller takes it from. The jump takes the place of the instructions before the return that
//!   are always run with it, and of the space behind it; these are run first, then the hook's own work, then the return.
//!
//! Nothing may lead into the middle of what is replaced. Jumps of the function itself are seen. Exceptions do not land there: whoever
//! catches one makes a call before the function can return, and no such call is replaced. Jumps to where a register says may lead anywhere;
//! in a function with such jumps, instructions before a return are only replaced if they follow the call by which an instrumented
//! function says that it returns, behind which there is nothing to jump to.

use foresee_format::JUMP_LEN;
use iced_x86::{FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, Register};

use super::code::{FunctionCode, ProgramCode, is_filling};

/// What is replaced at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hook {
    pub(super) address: u64,
    /// Bytes that are replaced.
    pub(super) len: usize,
    /// Instructions that are done elsewhere instead.
    pub(super) copied: Vec<u8>,
    /// Where these have 4-byte numbers that are relative to the instruction.
    pub(super) fields: Vec<usize>,
}

/// Why there can be no hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoHook {
    #[error("its first instructions cannot be moved; build without optimisation")]
    Beginning,
    #[error("it jumps back to its beginning; build without optimisation")]
    BeginningIsTarget,
    #[error("it never returns")]
    NeverReturns,
    #[error(
        "it ends in a call of another function, which returns in its place; build with `-fno-optimize-sibling-calls`, or without optimisation"
    )]
    TailCall,
    #[error("there is no room at one of its returns; build with `-fpatchable-function-entry=5,5` (C, C++)")]
    ShortEnd,
    #[error("its arguments are not known any more when it returns")]
    ArgumentsAreGone,
    #[error("the optimiser may have removed its result, as nobody uses it; build without optimisation")]
    NoResult,
}

/// The hook at the first instruction.
pub(super) fn entry(code: &FunctionCode) -> Result<Hook, NoHook> {
    let skipped = code.instructions.first().is_some_and(|one| one.mnemonic() == Mnemonic::Endbr64);
    let from = usize::from(skipped);
    let mut len = 0;
    let mut taken = from;
    while len < JUMP_LEN {
        let one = code.instructions.get(taken).ok_or(NoHook::Beginning)?;
        len += one.len();
        taken += 1;
        match one.flow_control() {
            FlowControl::Next => {}
            FlowControl::ConditionalBranch if one.is_jcc_short_or_near() => {}
            // All of a short function, and what is behind it.
            FlowControl::Return if one.op_count() == 0 => {
                len += room_behind(code, taken - 1);
                if len < JUMP_LEN {
                    return Err(NoHook::Beginning);
                }
                len = (one.next_ip() - code.instructions[from].ip()) as usize;
                len = len.max(JUMP_LEN);
            }
            _ => return Err(NoHook::Beginning),
        }
    }
    let replaced = &code.instructions[from..taken];
    let end = replaced.first().map_or(0, Instruction::ip) + len as u64;
    if code.has_target_in(code.start()..end) {
        return Err(NoHook::BeginningIsTarget);
    }
    // Where a register says may be anywhere, but not where the frame is made.
    let makes_frame = |one: &Instruction| {
        one.mnemonic() == Mnemonic::Push
            || one.mnemonic() == Mnemonic::Sub && one.op0_register() == Register::RSP
    };
    if code.has_computed_jumps && !replaced.iter().any(makes_frame) {
        return Err(NoHook::BeginningIsTarget);
    }
    hook(code, replaced, len).ok_or(NoHook::Beginning)
}

/// A function that is as short as that is replaced as a whole by the hook at its beginning: that hook, now without instructions, and one
/// for the return that comes after it, with the instructions and no place of its own in the program.
pub(super) fn whole(code: &FunctionCode, entry: &Hook, is_known: bool) -> Result<Option<[Hook; 2]>, NoHook> {
    let is_end = |one: &Instruction| one.flow_control() == FlowControl::Return;
    let Some(end) = code.instructions.iter().position(is_end) else { return Ok(None) };
    let end_of_hook = entry.address + entry.len as u64;
    let straight = code.instructions[..end].iter().all(|one| one.flow_control() == FlowControl::Next);
    if !straight || code.instructions[end].ip() >= end_of_hook {
        return Ok(None);
    }
    if !is_known && !result_is_seen(code, end) {
        return Err(NoHook::NoResult);
    }
    let copied = entry.copied[..entry.copied.len() - code.instructions[end].len()].to_vec();
    let behind = Hook { address: entry.address, len: 0, copied, fields: entry.fields.clone() };
    let before = Hook { copied: Vec::new(), fields: Vec::new(), ..entry.clone() };
    Ok(Some([before, behind]))
}

/// The hooks at all returns. Bytes before `free_from` belong to another hook. `is_known` says whether the function's result is
/// surely there: nobody but the linker knows its name.
pub(super) fn returns(
    program: &ProgramCode,
    code: &FunctionCode,
    free_from: u64,
    is_known: bool,
) -> Result<Vec<Hook>, NoHook> {
    if code.returns_elsewhere {
        return Err(NoHook::ShortEnd);
    }
    let mut hooks = Vec::new();
    let mut free_from = free_from;
    for (at, one) in code.instructions.iter().enumerate() {
        let ends_in_exit = is_exit_jump(program, one);
        if code.leaves(one) && !ends_in_exit || is_computed_leave(program, code, at) {
            return Err(NoHook::TailCall);
        }
        if one.flow_control() != FlowControl::Return && !ends_in_exit {
            continue;
        }
        if !is_known && !result_is_seen(code, at) {
            return Err(NoHook::NoResult);
        }
        let hook = match ends_in_exit {
            true => at_exit_jump(one, free_from)?,
            false => at_return(program, code, at, free_from)?,
        };
        free_from = hook.address + hook.len as u64;
        hooks.push(hook);
    }
    if hooks.is_empty() { Err(NoHook::NeverReturns) } else { Ok(hooks) }
}

fn at_return(program: &ProgramCode, code: &FunctionCode, at: usize, free_from: u64) -> Result<Hook, NoHook> {
    let list = &code.instructions;
    // A return that also takes arguments from the stack is another.
    if list[at].op_count() != 0 {
        return Err(NoHook::ShortEnd);
    }
    let mut len = list[at].len() + room_behind(code, at);
    let mut from = at;
    while len < JUMP_LEN {
        let before = from.checked_sub(1).ok_or(NoHook::ShortEnd)?;
        let goes_on =
            list[before].flow_control() == FlowControl::Next || is_exit_call(program, &list[before]);
        if code.is_target(list[from].ip()) || !goes_on || list[before].ip() < free_from {
            return Err(NoHook::ShortEnd);
        }
        len += list[before].len();
        from = before;
    }
    let may_be_reached = from < at && code.has_computed_jumps && !follows_exit_call(program, code, from);
    if may_be_reached || list[from].ip() < free_from {
        return Err(NoHook::ShortEnd);
    }
    let len = (list[at].next_ip() - list[from].ip()) as usize;
    let hook = hook(code, &list[from..at], len.max(JUMP_LEN)).ok_or(NoHook::ShortEnd)?;
    Ok(Hook { address: list[from].ip(), ..hook })
}

/// In place of a jump to what instrumented functions call before they return, and which returns for them, there is that call, with the stack aligned, and then the return.
fn at_exit_jump(jump: &Instruction, free_from: u64) -> Result<Hook, NoHook> {
    const PUSH_RAX: u8 = 0x50;
    const CALL: u8 = 0xe8;
    const POP_RAX: u8 = 0x58;
    let address = jump.ip();
    if address < free_from {
        return Err(NoHook::ShortEnd);
    }
    let distance = jump.near_branch_target().wrapping_sub(address + 6) as i64;
    let distance = i32::try_from(distance).map_err(|_| NoHook::ShortEnd)?;
    let copied = [&[PUSH_RAX, CALL][..], &distance.to_le_bytes(), &[POP_RAX]].concat();
    Ok(Hook { address, len: jump.len(), copied, fields: vec![2] })
}

/// Whether the function ends by a jump to that call, in which there is room for another jump.
fn is_exit_jump(program: &ProgramCode, one: &Instruction) -> bool {
    one.flow_control() == FlowControl::UnconditionalBranch
        && one.len() >= JUMP_LEN
        && program.exit == Some(one.near_branch_target())
}

/// Whether this instruction is, or comes right after, the call by which an instrumented function says that it returns.
fn follows_exit_call(program: &ProgramCode, code: &FunctionCode, at: usize) -> bool {
    let list = &code.instructions;
    for one in (0..=at).rev() {
        if is_exit_call(program, &list[one]) {
            return true;
        }
        if code.is_target(list[one].ip()) || list[one].flow_control() != FlowControl::Next {
            return false;
        }
    }
    false
}

fn is_exit_call(program: &ProgramCode, one: &Instruction) -> bool {
    one.flow_control() == FlowControl::Call && program.exit == Some(one.near_branch_target())
}

/// Whether a jump to where a register says leaves the function: then its frame is gone.
fn is_computed_leave(program: &ProgramCode, code: &FunctionCode, at: usize) -> bool {
    let list = &code.instructions;
    let Some(before) = at.checked_sub(1).map(|before| &list[before]) else {
        return list[at].flow_control() == FlowControl::IndirectBranch;
    };
    let drops_frame = matches!(before.mnemonic(), Mnemonic::Pop | Mnemonic::Leave)
        || before.mnemonic() == Mnemonic::Add && before.op0_register() == Register::RSP
        || is_exit_call(program, before);
    list[at].flow_control() == FlowControl::IndirectBranch && drops_frame
}

/// Whether something is put into the register of the result, on the straight way to this return and behind the last call.
fn result_is_seen(code: &FunctionCode, at: usize) -> bool {
    let list = &code.instructions;
    let mut factory = InstructionInfoFactory::new();
    for one in (0..at).rev() {
        if code.is_target(list[one + 1].ip()) || list[one].flow_control() != FlowControl::Next {
            return false;
        }
        let info = factory.info(&list[one]);
        let is_result = |used: &iced_x86::UsedRegister| {
            used.register().full_register() == Register::RAX
                && matches!(used.access(), OpAccess::Write | OpAccess::ReadWrite)
        };
        // A frame is also dropped by `pop rax`.
        if list[one].mnemonic() != Mnemonic::Pop && info.used_registers().iter().any(is_result) {
            return true;
        }
    }
    false
}

/// How many bytes behind an instruction nobody needs.
fn room_behind(code: &FunctionCode, at: usize) -> usize {
    let behind = code.instructions[at + 1..].iter();
    behind.take_while(|one| is_filling(one) && !code.is_target(one.ip())).map(Instruction::len).sum()
}

/// A hook that replaces these instructions; `None` if they mean something else elsewhere. Fields are as if the copied instructions
/// were where the replaced ones are, also if they have become longer.
fn hook(code: &FunctionCode, replaced: &[Instruction], len: usize) -> Option<Hook> {
    let address = replaced.first().map_or(0, Instruction::ip);
    let (mut copied, mut fields) = (Vec::new(), Vec::new());
    for one in replaced {
        let at = copied.len();
        if one.is_jcc_short() {
            // 7x rel8 is 0f 8x rel32.
            let bytes = code.bytes_of(std::slice::from_ref(one));
            copied.extend([0x0f, bytes.first()? & 0x0f | 0x80]);
            let distance = one.near_branch_target().wrapping_sub(address + at as u64 + 6) as i64;
            copied.extend(i32::try_from(distance).ok()?.to_le_bytes());
            fields.push(at + 2);
            continue;
        }
        copied.extend(code.bytes_of(std::slice::from_ref(one)));
        match code.relative_field(one)? {
            0 => {}
            field => {
                let field = at + field;
                let moved = (one.ip() - address) as i64 - at as i64;
                let bytes: [u8; 4] = copied.get(field..field + 4)?.try_into().ok()?;
                let distance = i64::from(i32::from_le_bytes(bytes)) + moved;
                copied[field..field + 4].copy_from_slice(&i32::try_from(distance).ok()?.to_le_bytes());
                fields.push(field);
            }
        }
    }
    Some(Hook { address, len, copied, fields })
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: u64 = 0x1000;
    const EXIT: u64 = 0x2000;

    /// A function of these bytes, and what is behind it.
    fn function(code: &[u8], behind: &[u8]) -> (ProgramCode, FunctionCode) {
        let end = START + code.len() as u64;
        let bytes = [code, behind].concat();
        let program = ProgramCode { sections: vec![(START, bytes)], starts: vec![START], exit: Some(EXIT) };
        let range = START..end;
        let code = FunctionCode::new(&program, std::slice::from_ref(&range)).unwrap();
        (program, code)
    }

    fn call_exit(at: u64) -> [u8; 5] {
        let distance = (EXIT - (START + at + 5)) as u32;
        let [a, b, c, d] = distance.to_le_bytes();
        [0xe8, a, b, c, d]
    }

    #[test]
    fn whole_instructions_are_replaced_at_the_beginning() {
        // push rbp; mov rbp, rsp; lea rax, [rip + 0x100]; ret
        let code = [0x55, 0x48, 0x89, 0xe5, 0x48, 0x8d, 0x05, 0, 1, 0, 0, 0xc3];
        let (_, all) = function(&code, &[]);
        let hook = entry(&all).unwrap();
        assert_eq!((hook.address, hook.len, &hook.copied[..]), (START, 11, &code[..11]));
        assert_eq!(hook.fields, [7]);
        // endbr64 stays.
        let marked = [&[0xf3, 0x0f, 0x1e, 0xfa][..], &code].concat();
        assert_eq!(entry(&function(&marked, &[]).1).unwrap().address, START + 4);
        // dec edi; jne back; nop …
        let looped = [0xff, 0xcf, 0x75, 0xfc, 0x90, 0x90, 0xc3];
        assert_eq!(entry(&function(&looped, &[]).1), Err(NoHook::BeginningIsTarget));
        // nop of 5 bytes; jmp back to it; ret
        let back = [0x0f, 0x1f, 0x44, 0, 0, 0xeb, 0xf9, 0xc3];
        assert_eq!(entry(&function(&back, &[]).1), Err(NoHook::BeginningIsTarget));
        assert_eq!(entry(&function(&[0x90, 0xc3], &[]).1), Err(NoHook::Beginning));
        let hook = entry(&function(&[0x90, 0xc3], &[0xcc; 3]).1).unwrap();
        assert_eq!((hook.len, &hook.copied[..]), (5, &[0x90, 0xc3][..]));
    }

    #[test]
    fn short_jumps_become_long_ones() {
        // test edi, edi; je + 7; lea rax, [rip + 0x100]; ret …
        let code = [0x85, 0xff, 0x74, 0x07, 0x48, 0x8d, 0x05, 0, 1, 0, 0, 0xc3];
        let hook = entry(&function(&code, &[]).1).unwrap();
        assert_eq!(hook.len, 11);
        let (je, lea) = (&hook.copied[2..8], &hook.copied[8..15]);
        // To 0x100b, from 0x1008.
        assert_eq!(je, [0x0f, 0x84, 3, 0, 0, 0]);
        // To 0x110b, from 0x100f.
        assert_eq!(lea, [0x48, 0x8d, 0x05, 0xfc, 0, 0, 0]);
        assert_eq!(hook.fields, [4, 11]);
    }

    #[test]
    fn returns_take_what_is_always_run_before_them() {
        // push rbx; call; call exit; mov eax, ebx; pop rbx; ret
        let mut code = vec![0x53, 0xe8, 0, 0, 0, 0];
        code.extend(call_exit(6));
        code.extend([0x89, 0xd8, 0x5b, 0xc3]);
        let (program, all) = function(&code, &[]);
        let [hook] = &returns(&program, &all, START, false).unwrap()[..] else { panic!("one return") };
        assert_eq!((hook.address, hook.len, hook.copied.len()), (START + 6, 9, 8));
        assert_eq!(hook.fields, [1]);
        // With room behind it, the call stays.
        let (program, all) = function(&code, &[0xcc; 8]);
        let [hook] = &returns(&program, &all, START, false).unwrap()[..] else { panic!("one return") };
        assert_eq!((hook.address, hook.len, &hook.copied[..]), (START + 15 - 1, 5, &[][..]));
        // Without the result, which somebody has removed.
        code.drain(11..13);
        let (program, all) = function(&code, &[0xcc; 8]);
        assert_eq!(returns(&program, &all, START, false), Err(NoHook::NoResult));
        assert!(returns(&program, &all, START, true).is_ok());
    }

    #[test]
    fn nothing_leads_into_what_is_replaced() {
        // test edi, edi; je to the return; mov eax, 1; ret
        let code = [0x85, 0xff, 0x74, 0x05, 0xb8, 1, 0, 0, 0, 0xc3];
        let (program, all) = function(&code, &[]);
        assert_eq!(returns(&program, &all, START, true), Err(NoHook::ShortEnd));
        let (program, all) = function(&code, &[0x90; 4]);
        assert_eq!(returns(&program, &all, START, true).unwrap()[0].address, START + 9);
        // A jump to another function.
        let (program, all) = function(&[0xe9, 0, 1, 0, 0], &[]);
        assert_eq!(returns(&program, &all, START, true), Err(NoHook::TailCall));
        // A jump to the call before returns, which returns.
        let mut code = vec![0x31, 0xc0, 0xe9];
        code.extend(((EXIT - (START + 7)) as u32).to_le_bytes());
        let (program, all) = function(&code, &[]);
        let [hook] = &returns(&program, &all, START, false).unwrap()[..] else { panic!("one return") };
        assert_eq!((hook.address, hook.len, &hook.fields[..]), (START + 2, 5, &[2][..]));
        assert_eq!((hook.copied[0], hook.copied[1], hook.copied[6]), (0x50, 0xe8, 0x58));
        assert_eq!(hook.copied[2..6], ((EXIT - (START + 2 + 6)) as u32).to_le_bytes());
        // ud2
        let (program, all) = function(&[0x0f, 0x0b], &[]);
        assert_eq!(returns(&program, &all, START, true), Err(NoHook::NeverReturns));
    }
}
