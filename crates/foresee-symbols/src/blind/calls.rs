//! What calls do: which are events, which have no effect, which are blind.

use std::rc::Rc;

use foresee_trace::raw::{BlindCode, Recording};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register};
use rustc_hash::FxHashMap;

use super::coverage::{Announcement, CallKind, Uncovered, uncovered};
use super::effects::{self, Effect, Effects};
use super::file_code::{Callee, FileCode, FunctionStart};
use super::flow::{Flow, Return, decode};
use crate::demangle::demangled;

/// What to call a function that is called by a computed address.
const UNKNOWN: &str = "a function that is not known";
/// How deep calls of functions without instrumentation are followed.
const DEPTH: u32 = 24;
/// How far back the source of a called address is looked for.
const LOOK_BACK: usize = 12;
/// How many instructions of an entry point of the runtime come before it calls its function.
const ENTRY: usize = 40;

/// A file of the program, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileId(usize);

/// The code of all files of a program.
#[derive(Default)]
pub(crate) struct ProgramCode {
    files: Vec<LoadedCode>,
    effects: Effects,
    kinds: FxHashMap<(FileId, FunctionStart), FunctionKind>,
    functions: FxHashMap<(FileId, FunctionStart), Rc<FunctionCode>>,
}

struct LoadedCode {
    name: String,
    code: Rc<FileCode>,
}

/// What calling a function is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum FunctionKind {
    /// It records its entry.
    Instrumented,
    /// One of the runtime's.
    Runtime,
    /// Neither: this is what it does.
    Plain(Effect),
}

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
}

/// A function of the program that is instrumented.
pub(super) struct FunctionCode {
    pub(super) flow: Flow,
    /// What calls do, by instruction.
    pub(super) calls: FxHashMap<usize, Call>,
    /// What is blind, by instruction.
    pub(super) blind: FxHashMap<usize, BlindCode>,
}

/// Functions that the runtime stands in front of and that are an event whenever they are called.
const EVENTS: &[&str] = &[
    "malloc",
    "calloc",
    "pthread_mutex_lock",
    "pthread_mutex_unlock",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    "pthread_rwlock_unlock",
    "pthread_cond_wait",
    "pthread_cond_signal",
    "pthread_cond_broadcast",
    "pthread_spin_lock",
    "pthread_spin_unlock",
    "_Znwm",
    "_Znam",
    "pthread_join",
    "pthread_barrier_wait",
    "sem_post",
];

impl ProgramCode {
    /// The file of this name; `read` gets its code when it is first asked for.
    pub(crate) fn file(&mut self, name: &str, read: impl FnOnce() -> Option<FileCode>) -> Option<FileId> {
        if let Some(at) = self.files.iter().position(|file| file.name == name) {
            return Some(FileId(at));
        }
        let code = Rc::new(read()?);
        self.files.push(LoadedCode { name: name.to_owned(), code });
        // What was not found before may be there now.
        self.kinds.clear();
        self.functions.clear();
        Some(FileId(self.files.len() - 1))
    }

    /// The user says what functions of this name do.
    pub(crate) fn add_effect(&mut self, name: &str, effect: Effect) {
        self.effects.add(name, effect);
    }

    pub(super) fn code(&self, file: FileId) -> &Rc<FileCode> {
        &self.files[file.0].code
    }

    /// The instrumented function that has the instruction before this address.
    pub(crate) fn instrumented(&mut self, file: FileId, address: u64) -> Option<FunctionStart> {
        let function = self.code(file).function_at(address.checked_sub(1)?)?;
        (self.kind(file, function, 0) == FunctionKind::Instrumented).then_some(function)
    }

    /// Whether the function that has the instruction before this address records what it does.
    pub(crate) fn recording(&mut self, file: FileId, address: u64) -> Recording {
        let Some(function) = self.code(file).function_at(address.wrapping_sub(1)) else {
            let system = self.has_known_effects(file);
            let code = file_name(&self.files[file.0].name).to_owned();
            return if system {
                Recording::System
            } else {
                Recording::Blind(BlindCode { code, orders: true })
            };
        };
        match self.kind(file, function, 0) {
            FunctionKind::Instrumented => Recording::Instrumented(function.0),
            FunctionKind::Runtime => Recording::System,
            FunctionKind::Plain(_) if self.has_known_effects(file) => Recording::System,
            FunctionKind::Plain(effect) => {
                let (code, orders) = (self.code(file).name(function), effect == Effect::Orders);
                Recording::Blind(BlindCode { code, orders })
            }
        }
    }

    /// What is to be known of an instrumented function.
    pub(super) fn function(&mut self, file: FileId, start: FunctionStart) -> Rc<FunctionCode> {
        if let Some(known) = self.functions.get(&(file, start)) {
            return Rc::clone(known);
        }
        let code = Rc::clone(self.code(file));
        let instructions = decode(&code, start);
        let calls = self.calls(file, &instructions, 0);
        let returns = |at: usize| match calls.get(&at) {
            Some(Call::NeverReturns) => Return::Never,
            Some(Call::Announces(_) | Call::Tool | Call::Leaves) => Return::Always,
            _ => Return::OrThrows,
        };
        let flow = Flow::of(instructions, &code, returns);
        let kind = |at: usize| match calls.get(&at) {
            Some(&Call::Announces(what)) => CallKind::Announces(what),
            Some(Call::Tool | Call::Leaves) => CallKind::Tool,
            _ => CallKind::Other,
        };
        let name = code.name(start);
        let mut blind: FxHashMap<usize, BlindCode> = FxHashMap::default();
        for Uncovered { at, may_order } in uncovered(&code, &flow, kind) {
            let what = format!("{name} (an access that its compiler does not record)");
            blind.insert(at, BlindCode { code: what, orders: may_order });
        }
        for (at, one) in flow.instructions.iter().enumerate() {
            if synchronises(one) {
                let what = format!("{name} (an instruction that synchronises, in assembly)");
                blind.insert(at, BlindCode { code: what, orders: true });
            }
            if let Some(Call::Blind(what)) = calls.get(&at) {
                blind.insert(at, what.clone());
            }
        }
        let function = Rc::new(FunctionCode { flow, calls, blind });
        self.functions.insert((file, start), Rc::clone(&function));
        function
    }

    /// What all calls of these instructions do.
    fn calls(&mut self, file: FileId, instructions: &[Instruction], depth: u32) -> FxHashMap<usize, Call> {
        let own: std::collections::BTreeMap<u64, usize> =
            instructions.iter().enumerate().map(|(at, one)| (one.ip(), at)).collect();
        let mut calls = FxHashMap::default();
        for (at, one) in instructions.iter().enumerate() {
            if super::flow::is_call(one, &own) {
                let callee = callee(self.code(file), instructions, at);
                calls.insert(at, self.call(file, &callee, depth));
            }
        }
        calls
    }

    fn call(&mut self, file: FileId, callee: &Callee, depth: u32) -> Call {
        let (file, address) = match callee {
            Callee::Unknown => return call_of(Effect::Orders, UNKNOWN),
            Callee::Here(address) => (file, *address),
            Callee::Import(symbol) => {
                let exporter = self.exporter(symbol);
                // A function of the system is known by the name that it is called by: it has others.
                let is_listed = exporter.is_none_or(|(file, _)| self.has_known_effects(file));
                let name = demangled(symbol);
                let known = self.effects.own(&name).or_else(|| self.effects.of(&name).filter(|_| is_listed));
                match (exporter, known) {
                    (_, Some(effect)) => return call_of(effect, &name),
                    (None, None) => return call_of(Effect::Orders, &name),
                    (Some(found), None) => found,
                }
            }
        };
        let Some(start) = self.code(file).function_at(address) else {
            return call_of(Effect::Orders, UNKNOWN);
        };
        let symbol = self.code(file).symbol(start).to_owned();
        match self.kind(file, start, depth) {
            FunctionKind::Instrumented => Call::Event,
            FunctionKind::Runtime if is_copy(&symbol) && self.code(file).is_rust() => {
                call_of(Effect::Memory, &symbol)
            }
            FunctionKind::Runtime => runtime_call(&symbol),
            FunctionKind::Plain(effect) => call_of(effect, &self.code(file).name(start)),
        }
    }

    /// Who defines a function for all files: the first that has it.
    fn exporter(&self, name: &str) -> Option<(FileId, u64)> {
        let found = self.files.iter().enumerate();
        found.filter_map(|(at, file)| Some((FileId(at), file.code.export(name)?))).next()
    }

    fn kind(&mut self, file: FileId, start: FunctionStart, depth: u32) -> FunctionKind {
        if let Some(known) = self.kinds.get(&(file, start)) {
            return known.clone();
        }
        let code = Rc::clone(self.code(file));
        if code.is_runtime(start) || is_entry_point(&code, start) {
            self.kinds.insert((file, start), FunctionKind::Runtime);
            return FunctionKind::Runtime;
        }
        let name = code.name(start);
        // A program's own function may have a name that one of the system has; not one with a path or an underscore before it.
        let is_listed = self.has_known_effects(file);
        let is_known = is_listed || name.contains("::") || name.starts_with('_');
        let of_table = self.effects.of(&name).filter(|_| is_known);
        let known = self.effects.own(&name).or(of_table).or_else(|| self.of_library(file, &name));
        if let Some(effect) = known.filter(|_| is_listed) {
            self.kinds.insert((file, start), FunctionKind::Plain(effect));
            return FunctionKind::Plain(effect);
        }
        let instructions = decode(&code, start);
        if self.records_entry(file, &instructions) {
            self.kinds.insert((file, start), FunctionKind::Instrumented);
            return FunctionKind::Instrumented;
        }
        // A function that calls itself does what the rest of it does.
        self.kinds.insert((file, start), FunctionKind::Plain(Effect::Nothing));
        let effect = known.unwrap_or_else(|| match self.decoded(file, &code, &instructions, depth) {
            // The runtime stands in front of what orders threads in Rust's library, or the table names it.
            Effect::Orders if is_rust_library(&name) => Effect::Memory,
            effect => effect,
        });
        self.kinds.insert((file, start), FunctionKind::Plain(effect));
        FunctionKind::Plain(effect)
    }

    /// Whether instructions tell the runtime that a function is entered.
    fn records_entry(&self, file: FileId, instructions: &[Instruction]) -> bool {
        let code = self.code(file);
        instructions.iter().enumerate().any(|(at, one)| {
            matches!(one.flow_control(), FlowControl::Call | FlowControl::IndirectCall)
                && match callee(code, instructions, at) {
                    Callee::Here(address) => {
                        code.function_at(address).is_some_and(|to| code.symbol(to) == "__tsan_func_entry")
                    }
                    Callee::Import(name) => name == "__tsan_func_entry",
                    Callee::Unknown => false,
                }
        })
    }

    /// What a function without instrumentation does, by its code.
    fn decoded(&mut self, file: FileId, code: &FileCode, instructions: &[Instruction], depth: u32) -> Effect {
        if depth > DEPTH || instructions.is_empty() {
            return Effect::Orders;
        }
        let calls = self.calls(file, instructions, depth + 1);
        if instructions.iter().any(synchronises) {
            return Effect::Orders;
        }
        let mut effect = Effect::Nothing;
        for call in calls.values() {
            match call {
                Call::Blind(BlindCode { orders: true, .. }) => return Effect::Orders,
                Call::Blind(_) => effect = Effect::Memory,
                _ => {}
            }
        }
        // An atomic load or store looks like any other, so what accesses memory may order threads.
        let returns = |at: usize| match calls.get(&at) {
            Some(Call::NeverReturns) => Return::Never,
            _ => Return::Always,
        };
        let flow = Flow::of(instructions.to_vec(), code, returns);
        if uncovered(code, &flow, |_| CallKind::Other).is_empty() { effect } else { Effect::Orders }
    }

    /// Whether a file is part of the system, of which the table knows what matters.
    fn is_system(&self, file: FileId) -> bool {
        SYSTEM.iter().any(|name| file_name(&self.files[file.0].name).starts_with(name))
    }

    /// Whether the table says what the functions of a file do that programs call, so that nothing in them is blind by itself.
    fn has_known_effects(&self, file: FileId) -> bool {
        self.is_system(file)
            || OPENMP.iter().any(|name| file_name(&self.files[file.0].name).starts_with(name))
    }

    /// The effect of a function of the system that the table does not name, or of a library of which all is known.
    fn of_library(&mut self, file: FileId, name: &str) -> Option<Effect> {
        if file_name(&self.files[file.0].name).starts_with("libm.") {
            return Some(effects::of_libm(name));
        }
        if self.is_system(file) {
            return Some(Effect::Memory);
        }
        if file.0 == 0 {
            return None;
        }
        if COMPUTING.iter().any(|library| file_name(&self.files[file.0].name).starts_with(library)) {
            return Some(Effect::Memory);
        }
        // A library of somebody else may do anything.
        Some(Effect::Orders)
    }
}

/// What a call of a function with this effect is.
fn call_of(effect: Effect, name: &str) -> Call {
    match effect {
        Effect::Nothing => Call::Nothing,
        Effect::NeverReturns => Call::NeverReturns,
        Effect::Memory => Call::Blind(BlindCode { code: name.to_owned(), orders: false }),
        Effect::Orders => Call::Blind(BlindCode { code: name.to_owned(), orders: true }),
    }
}

/// Whether this is a function of Rust's library. Without instrumentation, it came with the toolchain.
fn is_rust_library(name: &str) -> bool {
    const CRATES: [&str; 4] = ["std::", "core::", "alloc::", "compiler_builtins::"];
    let path = name.trim_start_matches(['<', '&', '(', '[']);
    let of_type = path.split_once(" as ").is_some_and(|(of, implemented)| {
        !of.contains("::") && CRATES.iter().any(|of| implemented.starts_with(of))
    });
    of_type || CRATES.iter().any(|of| path.starts_with(of))
}

/// Libraries whose functions do not order threads but by what the runtime stands in front of, or the table names.
const SYSTEM: [&str; 6] = ["libc.", "libm.", "libstdc++.", "libgcc_s.", "ld-linux", "libc++"];

/// Libraries behind OpenMP. The runtime stands in front of what programs call to order threads, and the table names what has no effect; other
/// functions may do anything.
const OPENMP: [&str; 4] = ["libgomp.", "libomp.", "libomp-", "libiomp5."];

/// Libraries that compute on what they are given, and order nothing.
const COMPUTING: [&str; 5] = ["libz.", "libbz2.", "liblzma.", "liblz4.", "libsnappy."];

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether an instruction orders threads by itself.
fn synchronises(one: &Instruction) -> bool {
    let exchanges = one.mnemonic() == Mnemonic::Xchg
        && (one.op0_kind() == OpKind::Memory || one.op1_kind() == OpKind::Memory);
    one.has_lock_prefix()
        || exchanges
        || matches!(one.mnemonic(), Mnemonic::Syscall | Mnemonic::Sysenter | Mnemonic::Int | Mnemonic::Mfence)
}

/// Whether a function is an entry point of the runtime, which leads to one of its functions at once.
fn is_entry_point(code: &FileCode, start: FunctionStart) -> bool {
    let instructions = decode(code, start);
    instructions.iter().take(ENTRY).any(|one| {
        let leads = matches!(one.flow_control(), FlowControl::Call | FlowControl::UnconditionalBranch);
        leads
            && code.function_at(one.near_branch_target()).is_some_and(|to| to != start && code.is_runtime(to))
    })
}

/// What the call at this instruction leads to.
fn callee(code: &FileCode, instructions: &[Instruction], at: usize) -> Callee {
    let one = &instructions[at];
    match one.flow_control() {
        FlowControl::Call | FlowControl::UnconditionalBranch => through_stub(code, one.near_branch_target()),
        FlowControl::IndirectCall if one.is_ip_rel_memory_operand() => code.slot(one.ip_rel_memory_address()),
        FlowControl::IndirectCall if one.op0_kind() == OpKind::Register => {
            in_register(code, instructions, at, one.op0_register())
        }
        _ => Callee::Unknown,
    }
}

/// The address in a register that is called, if it was put there shortly before.
fn in_register(code: &FileCode, instructions: &[Instruction], at: usize, register: Register) -> Callee {
    for one in instructions[..at].iter().rev().take(LOOK_BACK) {
        if one.flow_control() != FlowControl::Next {
            break;
        }
        let writes = one.op_count() > 0
            && one.op0_kind() == OpKind::Register
            && one.op0_register().full_register() == register;
        if writes {
            return match one.mnemonic() {
                Mnemonic::Mov if one.is_ip_rel_memory_operand() => code.slot(one.ip_rel_memory_address()),
                Mnemonic::Lea if one.is_ip_rel_memory_operand() => {
                    through_stub(code, one.ip_rel_memory_address())
                }
                _ => Callee::Unknown,
            };
        }
    }
    Callee::Unknown
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

/// What a call into the runtime is.
fn runtime_call(symbol: &str) -> Call {
    if let Some(rest) = symbol.strip_prefix("__tsan_") {
        return match rest {
            "func_entry" => Call::Event,
            "func_exit" => Call::Leaves,
            "vptr_update" => Call::Announces(Announcement { writes: true, size: Some(8) }),
            "vptr_read" => Call::Announces(Announcement { writes: false, size: Some(8) }),
            "read_range" => Call::Announces(Announcement { writes: false, size: None }),
            "write_range" => Call::Announces(Announcement { writes: true, size: None }),
            _ if rest.starts_with("atomic") => Call::Event,
            _ => announcement(rest).map_or(Call::Tool, Call::Announces),
        };
    }
    if symbol.starts_with("__sanitizer_cov") {
        return Call::Tool;
    }
    if EVENTS.contains(&symbol) { Call::Event } else { Call::Nothing }
}

/// Functions that are not recorded in Rust programs, where Rust's library calls them for itself. (What is built with instrumentation
/// calls others.)
fn is_copy(symbol: &str) -> bool {
    matches!(symbol, "memcpy" | "memmove" | "memset" | "realloc")
}

/// What `read4`, `unaligned_write8` and the like announce.
fn announcement(rest: &str) -> Option<Announcement> {
    let rest = rest.strip_prefix("unaligned_").unwrap_or(rest);
    let rest = rest.strip_prefix("volatile_").unwrap_or(rest);
    let (writes, rest) = match rest.strip_prefix("read_write") {
        Some(rest) => (true, rest),
        None => match rest.strip_prefix("read") {
            Some(rest) => (false, rest),
            None => (true, rest.strip_prefix("write")?),
        },
    };
    let size = rest.strip_suffix("_pc").unwrap_or(rest).parse().ok()?;
    Some(Announcement { writes, size: Some(size) })
}
