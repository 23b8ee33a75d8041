//! Which accesses need no record of their own, as the record of another tells where they are.
//!
//! Compilers announce each access by a call. Many come in company: the fields of an object, a counter that is read and written, neighbours in an array. Where one of them is done, so are
//! the others, at addresses a constant apart. So the calls of all but the first are taken out of the program when it is recorded ([`JoinedAccess`] says how that is told), and whoever reads the trace puts the
//! accesses back. Nothing is lost by that: every access is in the trace, in the order of its thread.
//!
//! **Why that is right.** A *chain* is code that is done from its beginning to its end once it is begun: it has no jump, nobody jumps into it, and nothing is called in it but the runtime, for accesses. In a chain,
//! an access is *joined* if its address differs from that of an earlier one by a constant, which the state of registers shows (`state`): it is done whenever the earlier one is, and the reader knows all its
//! words. It comes back behind the recorded access that was done last before it, so the thread's order is kept. Between those two a thread does nothing that orders it with others (such instructions end a chain),
//! so whatever another thread did in the meantime, it may have done before or after both.
//!
//! Nobody jumps into a chain: targets of jumps in the function are known, and of jumps from elsewhere; where exceptions are caught is known, and calls for accesses throw none. A function that jumps to
//! computed addresses is left out, and one of which an address inside stands in the program's data, or is computed by its code (`__builtin_setjmp`). What is in a stack frame stays there until it is stored to; if the function computes the address of anything in its frame, any store may be to that (`Frame`).
//!
//! **What can come into a chain.** A signal handler: it may run accesses of its own in the middle, synchronise, or not come back; and cancellation of a thread at any moment. Programs that call the functions for that are left out altogether,
//! or that ask the system itself for a handler, or for nobody knows what. So are those with code that nobody looks at here: other libraries than the system's (the runtime knows them), code that can be written, jumps through thunks.
//!
//! **The end.** A thread that was ended in a chain had nothing else to do than the rest of it, which is put back: it would have come next, whatever others did. What may fail (a division) ends a chain, but for the accesses themselves: memory that is not there is
//! nobody's.
//!
//! **Cost.** Functions that have accesses are decoded once, and chains with at least two accesses interpreted. [`table`] stops when its time is over; what it has found until then is as good.

use std::os::unix::fs::MetadataExt as _;
use std::rc::Rc;
use std::time::Instant;

use foresee_format::{JOINED_MAGIC, JOINED_SLOTS, JoinedAccess, MOST_JOINED};
use iced_x86::{FlowControl, Instruction, Mnemonic, OpKind, Register};
use object::{
    Object as _, ObjectKind, ObjectSection as _, ObjectSegment as _, SectionKind, SegmentFlags, elf,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::callee::callee;
use super::file_code::{Callee, FileCode, FunctionStart};
use super::flow::{Flow, Return, decode};
use super::state::{Interpreter, State};
use super::values::Value;
use crate::image::{Image, ImageError};

/// The variable by which the runtime finds the table.
pub const VARIABLE: &str = "FORESEE_JOINED";

/// Functions by which a thread may leave a chain, or by which something else may come into one: handlers of signals, cancellation, code that is not in the program's file, or is changed.
const LEAVING: &str = "longjmp _longjmp siglongjmp __longjmp_chk setcontext swapcontext makecontext pthread_setcanceltype pthread_cancel sigaction __sigaction signal bsd_signal sysv_signal __sysv_signal \
    ssignal sigset sigvec dlopen dlmopen dlsym dlvsym mprotect pkey_mprotect";
/// How the names of functions begin that jump to a computed address for others.
const THUNKS: [&str; 4] =
    ["__x86_indirect_thunk", "__x86.indirect_thunk", "__llvm_retpoline", "__x86_return_thunk"];
/// How those of Rust's library begin, which handles what it installs, and leaves nothing.
const RUST_LIBRARY: &str = "std::";
/// The function by which programs ask the system for anything, by number; and the numbers of what comes into chains: handlers of signals, and changes of code.
const SYSTEM: &str = "syscall";
const FORBIDDEN: [u64; 3] = [10, 13, 329];
/// So many instructions before a call say with which number it is done.
const NEAR: usize = 16;
/// One of the runtime's, by which programs have values recorded: calls for accesses do more then.
const WATCHES: &str = "foresee_watch";

/// So many are joined at most: a text of the raw trace has them.
const MOST: usize = 1 << 18;
/// A program with more code takes longer to look at than is worth it.
const LARGEST: u64 = 1 << 26;
/// The lengths that a call can have.
const CALL_LENGTHS: std::ops::RangeInclusive<usize> = 2..=6;

/// The table for a program, as the runtime reads it; `None` if no access can be joined.
///
/// # Errors
/// A file that cannot be read, or is no ELF file.
pub fn table(path: &std::path::Path, until: Instant) -> Result<Option<Vec<u8>>, ImageError> {
    let image = Rc::new(Image::read(path)?);
    let file = image.elf()?;
    let is_writable = |flags| matches!(flags, SegmentFlags::Elf { p_flags, .. } if p_flags.0 & (elf::PF_W.0 | elf::PF_X.0) == elf::PF_W.0 | elf::PF_X.0);
    let code_changes = file.segments().any(|segment| is_writable(segment.flags()));
    // Where other programs have addresses in their data, the relocations that are read do not say.
    let has_other_relocations = file.section_by_name(".relr.dyn").is_some();
    if code_changes || has_other_relocations || file.kind() != ObjectKind::Dynamic {
        return Ok(None);
    }
    let code = file.sections().filter(|section| section.kind() == SectionKind::Text);
    if code.map(|section| section.size()).fold(0, u64::saturating_add) > LARGEST {
        return Ok(None);
    }
    let Some(code) = FileCode::of(&image) else { return Ok(None) };
    let joined = joined(&code, until);
    let about = image.metadata();
    let changed = [about.mtime(), about.mtime_nsec()].map(i64::cast_unsigned);
    let header = [JOINED_MAGIC, about.dev(), about.ino(), about.len(), changed[0], changed[1]];
    let words = header.into_iter().chain(joined.iter().flat_map(|access| access.words()));
    Ok((!joined.is_empty()).then(|| words.flat_map(u64::to_le_bytes).collect()))
}

/// The accesses of a program that need no record.
fn joined(code: &FileCode, until: Instant) -> Vec<JoinedAccess> {
    let mut runtime = Runtime { code, known: FxHashMap::default() };
    let mut functions = Vec::new();
    // Where jumps lead to that leave their function.
    let mut entered: FxHashSet<FunctionStart> = FxHashSet::default();
    for start in code.starts() {
        if Instant::now() >= until {
            return Vec::new();
        }
        let instructions = decode(code, start);
        let mut accesses = 0;
        for (at, one) in instructions.iter().enumerate() {
            match one.flow_control() {
                FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => {
                    let target = one.near_branch_target();
                    let other = code.function_at(target).filter(|other| *other != start);
                    entered.extend(other.filter(|other| other.0 != target));
                }
                FlowControl::Call | FlowControl::IndirectCall => match runtime.called(&instructions, at) {
                    Called::Access(_) => accesses += 1,
                    _ if may_do_anything(code, start) => {}
                    Called::Forbids => return Vec::new(),
                    Called::System if asks_for_more(&instructions[..at], Register::RDI) => return Vec::new(),
                    Called::System | Called::Other => {}
                },
                _ => {}
            }
            let is_asked = one.mnemonic() == Mnemonic::Syscall && !may_do_anything(code, start);
            if is_asked && asks_for_more(&instructions[..at], Register::RAX) {
                return Vec::new();
            }
            if one.mnemonic() == Mnemonic::Lea && one.is_ip_rel_memory_operand() {
                let address = one.ip_rel_memory_address();
                entered.extend(code.function_at(address).filter(|of| of.0 != address));
            }
        }
        let leaps = |one: &Instruction| leaps(code, start, one);
        if accesses > 1 && !code.is_runtime(start) && !instructions.iter().any(leaps) {
            functions.push((start, instructions));
        }
    }
    let inside = code.addresses_in_data().filter(|&address| !code.is_start(address));
    entered.extend(inside.filter_map(|address| code.function_at(address)));
    let mut found = Vec::new();
    for (start, instructions) in functions {
        if Instant::now() >= until || found.len() >= MOST {
            break;
        }
        if !entered.contains(&start) {
            found.extend(Chains::of(code, instructions, &mut runtime));
        }
    }
    found
}

/// Whether a function is known to leave chains alone, whatever it calls.
fn may_do_anything(code: &FileCode, start: FunctionStart) -> bool {
    code.is_runtime(start) || code.name(start).trim_start_matches('<').starts_with(RUST_LIBRARY)
}

/// Whether the system is asked for what comes into chains, or for nobody knows what: the number is in this register.
fn asks_for_more(before: &[Instruction], register: Register) -> bool {
    let sets = |one: &Instruction| {
        one.op_count() > 0
            && one.op0_kind() == OpKind::Register
            && one.op0_register().full_register() == register
    };
    let near = before.iter().rev().take(NEAR).take_while(|one| one.flow_control() == FlowControl::Next);
    let number =
        near.into_iter().find(|one| sets(one)).and_then(|one| match (one.mnemonic(), one.op1_kind()) {
            (Mnemonic::Mov, OpKind::Immediate32 | OpKind::Immediate32to64) => Some(one.immediate(1)),
            (Mnemonic::Xor, OpKind::Register) if one.op1_register() == one.op0_register() => Some(0),
            _ => None,
        });
    number.is_none_or(|number| FORBIDDEN.contains(&number))
}

/// Whether an instruction of a function jumps to a computed address, other than that of a function of a library; or somebody does so for it.
fn leaps(code: &FileCode, start: FunctionStart, one: &Instruction) -> bool {
    match one.flow_control() {
        FlowControl::IndirectBranch => !one.is_ip_rel_memory_operand(),
        FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch | FlowControl::Call => {
            let target = one.near_branch_target();
            let calls_inside = one.flow_control() == FlowControl::Call
                && target != start.0
                && code.function_at(target) == Some(start);
            let is_thunk =
                |of: FunctionStart| THUNKS.iter().any(|begins| code.symbol(of).starts_with(begins));
            calls_inside || code.function_at(target).is_some_and(is_thunk)
        }
        _ => false,
    }
}

/// What is known of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Called {
    /// It records an access, and does nothing else.
    Access(Access),
    /// No access of a program that does this can be joined.
    Forbids,
    /// The system is asked for something, by number.
    System,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Access {
    writes: bool,
    size: u8,
}

/// The runtime's functions for accesses, by where calls lead to.
struct Runtime<'a> {
    code: &'a FileCode,
    known: FxHashMap<u64, Called>,
}

impl Runtime<'_> {
    fn called(&mut self, instructions: &[Instruction], at: usize) -> Called {
        let one = &instructions[at];
        match one.flow_control() {
            FlowControl::Call => {}
            FlowControl::IndirectCall => return self.of(&callee(self.code, instructions, at)),
            // A jump at the end of a function is recorded as if the caller had called.
            _ => return Called::Other,
        }
        let target = one.near_branch_target();
        if let Some(&known) = self.known.get(&target) {
            return known;
        }
        let called = self.of(&callee(self.code, instructions, at));
        self.known.insert(target, called);
        called
    }

    fn of(&self, callee: &Callee) -> Called {
        match callee {
            Callee::Here(address) if self.code.is_start(*address) => {
                called(self.code.symbol(FunctionStart(*address)))
            }
            Callee::Import(name) => called(name),
            Callee::Here(_) | Callee::Unknown => Called::Other,
        }
    }
}

fn called(symbol: &str) -> Called {
    if symbol == WATCHES || LEAVING.split_ascii_whitespace().any(|name| name == symbol) {
        return Called::Forbids;
    }
    if symbol == SYSTEM {
        return Called::System;
    }
    let Some(rest) = symbol.strip_prefix("__tsan_") else { return Called::Other };
    let rest = rest.strip_prefix("unaligned_").unwrap_or(rest);
    let (writes, size) = match (rest.strip_prefix("read"), rest.strip_prefix("write")) {
        (Some(size), _) => (false, size),
        (_, Some(size)) => (true, size),
        _ => return Called::Other,
    };
    match size {
        "1" | "2" | "4" | "8" | "16" => Called::Access(Access { writes, size: size.parse().unwrap_or(1) }),
        _ => Called::Other,
    }
}

/// An access that is recorded.
#[derive(Clone, Copy)]
struct Recorded {
    /// What varies of its address, and the rest.
    address: (Value, i64),
    pc: u64,
}

/// What is known at a point of a chain.
struct Chain {
    state: State,
    /// The recorded accesses from which others can be counted, by their slots.
    bases: Vec<Recorded>,
    next_slot: usize,
    /// The last recorded access, and how many follow it that are not.
    last: Option<(u64, usize)>,
}

/// The stack frame of a function.
#[derive(Clone, Copy)]
struct Frame {
    /// Whether a register is set to it.
    has_pointer: bool,
    /// Whether the address of something in it may be elsewhere than in the registers for that.
    is_given_away: bool,
}

impl Frame {
    fn of(instructions: &[Instruction]) -> Frame {
        let sets_pointer = |one: &Instruction| {
            one.mnemonic() == Mnemonic::Mov
                && one.op0_register() == Register::RBP
                && one.op1_register() == Register::RSP
        };
        let mut frame = Frame { has_pointer: instructions.iter().any(sets_pointer), is_given_away: false };
        frame.is_given_away = instructions.iter().any(|one| frame.gives_away(one));
        frame
    }

    /// Whether a register has the address of the frame.
    fn is_in(self, register: Register) -> bool {
        let register = register.full_register();
        register == Register::RSP || self.has_pointer && register == Register::RBP
    }

    fn gives_away(self, one: &Instruction) -> bool {
        use Mnemonic as M;
        let is_register = |nth: u32| one.op_kind(nth) == OpKind::Register;
        let is_frame = |nth: u32| is_register(nth) && self.is_in(one.op_register(nth));
        if one.mnemonic() == M::Lea {
            return !is_frame(0) && (self.is_in(one.memory_base()) || self.is_in(one.memory_index()));
        }
        if !(0..one.op_count()).any(is_frame) {
            return false;
        }
        match one.mnemonic() {
            M::Mov => !(is_frame(0) && is_frame(1)),
            M::Add | M::Sub | M::And => is_register(1) || !is_frame(0),
            // Those of the caller.
            M::Push | M::Pop => one.op0_register() != Register::RBP,
            _ => true,
        }
    }

    /// The register that stores to the frame are by.
    fn base(self) -> Register {
        if self.has_pointer { Register::RBP } else { Register::RSP }
    }
}

/// The chains of one function.
struct Chains<'a, 'r> {
    flow: &'a Flow,
    frame: Frame,
    interpreter: Interpreter<'a>,
    runtime: &'a mut Runtime<'r>,
    found: Vec<JoinedAccess>,
}

impl Chains<'_, '_> {
    fn of(code: &FileCode, instructions: Vec<Instruction>, runtime: &mut Runtime<'_>) -> Vec<JoinedAccess> {
        let accesses: Vec<bool> = (0..instructions.len())
            .map(|at| matches!(runtime.called(&instructions, at), Called::Access(_)))
            .collect();
        let returns = |at: usize| if accesses[at] { Return::Always } else { Return::OrThrows };
        let frame = Frame::of(&instructions);
        let flow = Flow::of(instructions, code, returns);
        let interpreter = Interpreter::new(code);
        let mut chains = Chains { flow: &flow, frame, interpreter, runtime, found: Vec::new() };
        // A block is in one chain, which begins where no other block leads on.
        for block in (0..flow.blocks.len()).filter(|&block| chains.is_first(block)).collect::<Vec<_>>() {
            let blocks: Vec<usize> =
                std::iter::successors(Some(block), |&block| chains.after(block)).collect();
            let accesses = blocks.iter().filter(|&&block| accesses[flow.blocks[block].to - 1]);
            if accesses.count() > 1 {
                chains.go_through(&blocks);
            }
        }
        chains.found
    }

    /// The block that is done after this one, and only then.
    fn after(&self, block: usize) -> Option<usize> {
        match self.flow.blocks[block].next[..] {
            [next] if next > block && self.flow.blocks[next].previous == [block] => Some(next),
            _ => None,
        }
    }

    /// Whether it is done after no other block alone.
    fn is_first(&self, block: usize) -> bool {
        match self.flow.blocks[block].previous[..] {
            [before] => self.after(before) != Some(block),
            _ => true,
        }
    }

    fn go_through(&mut self, blocks: &[usize]) {
        let state = self.interpreter.within(self.frame.has_pointer);
        let mut chain = Chain { state, bases: Vec::new(), next_slot: 0, last: None };
        for &block in blocks {
            for at in self.flow.blocks[block].from..self.flow.blocks[block].to {
                self.step(&mut chain, at);
            }
        }
    }

    fn step(&mut self, chain: &mut Chain, at: usize) {
        let one = &self.flow.instructions[at];
        if self.flow.calls(at) {
            match self.runtime.called(&self.flow.instructions, at) {
                Called::Access(access) => self.access(chain, access, one),
                Called::Forbids | Called::System | Called::Other => {
                    chain.bases.clear();
                    chain.state.forget_frame(None);
                }
            }
            return self.interpreter.call(&mut chain.state, one.ip());
        }
        if may_order(one) {
            chain.bases.clear();
        }
        let stores: Vec<Value> = (self.interpreter.accesses(&chain.state, one).iter())
            .filter(|access| access.writes)
            .map(|access| access.address)
            .collect();
        let base = self.interpreter.register(&chain.state, self.frame.base());
        let base = base.map(|base| self.interpreter.values.split(base).0);
        self.interpreter.step(&mut chain.state, one);
        for address in stores {
            if Some(self.interpreter.values.split(address).0) == base {
                chain.state.forget_frame(base);
            } else if self.frame.is_given_away || self.interpreter.values.is_in_frame(address) {
                chain.state.forget_frame(None);
            }
        }
    }

    /// A call for an access: it is joined, or others may be joined to it.
    fn access(&mut self, chain: &mut Chain, access: Access, one: &Instruction) {
        let Some(address) = self.interpreter.register(&chain.state, Register::RDI) else { return };
        let address = self.interpreter.values.split(address);
        let pc = one.next_ip();
        let base = chain.bases.iter().zip(0_u8..).find_map(|(base, slot)| {
            let distance = i32::try_from(address.1.wrapping_sub(base.address.1)).ok()?;
            (base.address.0 == address.0).then_some((base.pc, slot, distance))
        });
        if let (Some((base, slot, distance)), Some((after, following))) = (base, chain.last)
            && following < MOST_JOINED
            && CALL_LENGTHS.contains(&one.len())
        {
            chain.last = Some((after, following + 1));
            let call_len = one.len() as u8;
            let Access { size, writes } = access;
            self.found.push(JoinedAccess { after, base, pc, distance, size, writes, call_len, slot });
            return;
        }
        let recorded = Recorded { address, pc };
        if chain.bases.len() < JOINED_SLOTS {
            chain.bases.push(recorded);
        } else {
            chain.bases[chain.next_slot] = recorded;
            chain.next_slot = (chain.next_slot + 1) % JOINED_SLOTS;
        }
        chain.last = Some((pc, 0));
    }
}

/// Whether an instruction may order threads, wait for another, or fail.
fn may_order(one: &Instruction) -> bool {
    let exchanges =
        one.mnemonic() == Mnemonic::Xchg && (0..one.op_count()).any(|nth| one.op_kind(nth) == OpKind::Memory);
    let fences = matches!(
        one.mnemonic(),
        Mnemonic::Mfence
            | Mnemonic::Lfence
            | Mnemonic::Sfence
            | Mnemonic::Cpuid
            | Mnemonic::Syscall
            | Mnemonic::Pause
            | Mnemonic::Div
            | Mnemonic::Idiv
    );
    exchanges
        || fences
        || one.has_lock_prefix()
        || !matches!(one.flow_control(), FlowControl::Next | FlowControl::UnconditionalBranch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_record_an_access_and_nothing_else() {
        let access = |writes, size| Called::Access(Access { writes, size });
        assert_eq!(called("__tsan_read4"), access(false, 4));
        assert_eq!(called("__tsan_unaligned_write16"), access(true, 16));
        for other in [
            "__tsan_read_write4",
            "__tsan_read4_pc",
            "__tsan_volatile_read4",
            "__tsan_read_range",
            "memcpy",
            "__tsan_vptr_read",
        ] {
            assert_eq!(called(other), Called::Other, "{other}");
        }
    }
}
