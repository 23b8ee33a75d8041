//! What calls do: which are events, which have no effect, which are blind.

use std::rc::Rc;

use foresee_trace::raw::{BlindCode, Orders, Recording};
use iced_x86::{FlowControl, Instruction, Mnemonic, OpKind};
use rustc_hash::{FxHashMap, FxHashSet};

use super::callee::{Call, callee, given_functions, is_harmless_system_call, on_all_ways};
use super::coverage::{CallKind, Uncovered, uncovered};
use super::effects::{self, Effect, Effects};
use super::file_code::{Callee, FileCode, FunctionStart};
use super::flow::{Flow, Return, decode, is_call};
use super::formatting::formatters;
use super::runtime_calls::{
    calls_back, is_copy, is_cxx_library, is_entry_point, is_stateful, keeps_arguments, runtime_call,
};
use crate::demangle::demangled;

/// What to call a function that is called by a computed address.
const UNKNOWN: &str = "a function that is not known";
/// How deep calls of functions without instrumentation are followed.
const DEPTH: u32 = 24;

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
    /// Whether there is code of others; see [`has_foreign_code`](ProgramCode::has_foreign_code).
    has_foreign_code: Option<bool>,
}

struct LoadedCode {
    name: String,
    code: Rc<FileCode>,
    assembly: Option<Assembly>,
}

/// The instructions of assembly in instrumented code that order threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Assembly {
    None,
    /// They call the kernel.
    SystemCalls,
    Atomics,
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

/// A function of the program that is instrumented.
pub(super) struct FunctionCode {
    pub(super) flow: Flow,
    /// What calls do, by instruction.
    pub(super) calls: FxHashMap<usize, Call>,
    /// What is blind, by instruction.
    pub(super) blind: FxHashMap<usize, BlindCode>,
    /// Whether what is called by a computed address may be code of others, which may go on to a function of the program.
    pub(super) may_leave: bool,
}

impl ProgramCode {
    /// The file of this name; `read` gets its code when it is first asked for.
    pub(crate) fn file(&mut self, name: &str, read: impl FnOnce() -> Option<FileCode>) -> Option<FileId> {
        if let Some(at) = self.files.iter().position(|file| file.name == name) {
            return Some(FileId(at));
        }
        let code = Rc::new(read()?);
        self.files.push(LoadedCode { name: name.to_owned(), code, assembly: None });
        // What was not found before may be there now.
        self.kinds.clear();
        self.functions.clear();
        self.has_foreign_code = None;
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
            let code =
                format!("{} (code without a symbol: was it stripped?)", file_name(&self.files[file.0].name));
            return if system {
                Recording::System
            } else {
                Recording::Blind(BlindCode { code, orders: Orders::Atomics })
            };
        };
        match self.kind(file, function, 0) {
            FunctionKind::Instrumented => Recording::Instrumented(function.0),
            FunctionKind::Runtime => Recording::System,
            FunctionKind::Plain(_) if self.has_known_effects(file) => Recording::System,
            FunctionKind::Plain(effect) => {
                Recording::Blind(BlindCode { code: self.code(file).name(function), orders: orders(effect) })
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
        let mut calls = self.calls(file, &instructions, 0);
        let returns = |at: usize| match calls.get(&at) {
            Some(Call::NeverReturns) => Return::Never,
            Some(Call::Announces(_) | Call::Tool | Call::Leaves) => Return::Always,
            _ => Return::OrThrows,
        };
        let flow = Flow::of(instructions, &code, returns);
        for (&at, call) in calls.iter_mut().filter(|(_, call)| **call == Call::Unknown) {
            if let Some(callee) = on_all_ways(&code, &flow, at) {
                *call = self.call(file, &callee, 0);
            }
        }
        // (Rust's compiler announces all accesses to what others may know.)
        let variables = if code.is_rust() { &[] } else { code.frame_variables(start) };
        let keeping: FxHashSet<usize> = if variables.is_empty() {
            FxHashSet::default()
        } else {
            calls.keys().copied().filter(|&at| self.keeps(file, &flow.instructions, at)).collect()
        };
        let kind = |at: usize| match calls.get(&at) {
            Some(&Call::Announces(what)) => CallKind::Announces(what),
            Some(Call::Tool | Call::Leaves) => CallKind::Tool,
            Some(_) if !keeping.contains(&at) => CallKind::Other,
            _ => CallKind::Keeping,
        };
        let name = code.name(start);
        let mut blind: FxHashMap<usize, BlindCode> = FxHashMap::default();
        for Uncovered { at, may_order } in uncovered(&code, &flow, variables, kind) {
            let what = format!("{name} (an access that its compiler does not record)");
            let orders = if may_order && self.assembly(file) > Assembly::None {
                Orders::Atomics
            } else {
                Orders::Nothing
            };
            blind.insert(at, BlindCode { code: what, orders });
        }
        for (at, one) in flow.instructions.iter().enumerate() {
            if synchronises(one) {
                let what = format!("{name} (an instruction that synchronises, in assembly)");
                let orders = if calls_system(one) { Orders::Own } else { Orders::Atomics };
                blind.insert(at, BlindCode { code: what, orders });
            }
            match calls.get(&at) {
                Some(Call::Blind(what)) => drop(blind.insert(at, what.clone())),
                Some(Call::Unknown) => drop(blind.insert(at, self.unknown(&code))),
                _ => {}
            }
            if flow.leaps.contains(&at) {
                blind.insert(at, self.unknown(&code));
            }
            let formatters = if code.is_rust() { formatters(&code, one) } else { Vec::new() };
            // What a panic says is read by a thread that ends, or has given up what it did.
            let panics = || {
                let next = (at..).find(|&at| {
                    let one = flow.instructions.get(at);
                    one.is_none_or(|one| one.flow_control() != FlowControl::Next)
                });
                next.is_some_and(|next| calls.get(&next) == Some(&Call::NeverReturns))
            };
            for formatter in formatters.into_iter().filter(|_| !panics()) {
                if let Call::Blind(what) = self.call(file, &Callee::Here(formatter), 0) {
                    blind.insert(at, what);
                }
            }
        }
        let may_leave = self.has_foreign_code();
        let function = Rc::new(FunctionCode { flow, calls, blind, may_leave });
        self.functions.insert((file, start), Rc::clone(&function));
        function
    }

    /// Whether what is called may keep an address that it is given, for others or for later. Functions of the system and of C++'s
    /// library do not, but for those that start or prepare something.
    fn keeps(&mut self, file: FileId, instructions: &[Instruction], at: usize) -> bool {
        let (file, symbol) = match callee(self.code(file), instructions, at) {
            Callee::Unknown => return true,
            Callee::Here(address) => {
                let Some(start) = self.code(file).function_at(address) else { return true };
                let is_runtime = self.kind(file, start, 0) == FunctionKind::Runtime;
                let symbol = self.code(file).symbol(start);
                return if is_runtime { keeps_arguments(symbol) } else { !is_cxx_library(symbol) };
            }
            Callee::Import(symbol) => (self.exporter(&symbol).map(|(file, _)| file), symbol),
        };
        keeps_arguments(&symbol) || !file.is_some_and(|file| self.is_system(file))
    }

    /// Which instructions of instrumented code order threads. These are of assembly, as compilers make calls of atomics. Then
    /// other instructions of the same file may be atomic loads and stores in assembly, which look like any other. (A hint to the processor that a
    /// thread spins orders nothing, and most are beside atomics that are seen.)
    fn assembly(&mut self, file: FileId) -> Assembly {
        if let Some(known) = self.files[file.0].assembly {
            return known;
        }
        let code = Rc::clone(self.code(file));
        let mut found = Assembly::None;
        for start in code.starts().into_iter().filter(|&start| !code.is_runtime(start)) {
            let instructions = decode(&code, start);
            let own = instructions.iter().filter(|one| synchronises(one));
            let own =
                own.map(|one| if calls_system(one) { Assembly::SystemCalls } else { Assembly::Atomics });
            let most = own.max().unwrap_or(Assembly::None);
            if most > found && self.records_entry(file, &instructions) {
                found = most;
            }
        }
        *self.files[file.0].assembly.insert(found)
    }

    /// Whether instrumented code of a file has instructions that order threads.
    pub(super) fn has_assembly(&mut self, file: FileId) -> bool {
        self.assembly(file) > Assembly::None
    }

    /// What the table says of a function, by its name as people write it.
    pub(super) fn effect_of(&self, name: &str) -> Option<Effect> {
        self.effects.of(name)
    }

    /// Whether instrumented code of the program has atomics in assembly.
    pub(crate) fn has_atomics_in_assembly(&mut self) -> bool {
        let own = |file: &FileId| self.code(*file).is_instrumented();
        let files: Vec<FileId> = (0..self.files.len()).map(FileId).filter(own).collect();
        files.into_iter().any(|file| self.assembly(file) == Assembly::Atomics)
    }

    /// What all calls of these instructions do.
    fn calls(&mut self, file: FileId, instructions: &[Instruction], depth: u32) -> FxHashMap<usize, Call> {
        let own: std::collections::BTreeMap<u64, usize> =
            instructions.iter().enumerate().map(|(at, one)| (one.ip(), at)).collect();
        let code = self.code(file);
        let function = instructions.first().and_then(|first| code.function_at(first.ip()));
        let is_for_futex = function.is_some_and(|function| code.symbol(function).contains("futex"));
        let mut calls = FxHashMap::default();
        for (at, one) in instructions.iter().enumerate() {
            if is_call(one, &own) {
                let callee = callee(self.code(file), instructions, at);
                let call = match &callee {
                    Callee::Unknown => Call::Unknown,
                    // Only assembly calls what is within its own function.
                    &Callee::Here(address) if own.get(&address).is_some_and(|&to| to > 0) => {
                        call_of(Effect::Atomics, "assembly")
                    }
                    // A function that is there for one system call says so in its name.
                    Callee::Import(name)
                        if name == "syscall"
                            && (is_for_futex || is_harmless_system_call(instructions, at)) =>
                    {
                        Call::Nothing
                    }
                    _ if self.is_calling_back(file, &callee) => self.call_back(file, instructions, at, depth),
                    _ => self.call(file, &callee, depth),
                };
                calls.insert(at, call);
            }
        }
        calls
    }

    /// Whether what is called calls back a function that it is given.
    fn is_calling_back(&self, file: FileId, callee: &Callee) -> bool {
        match callee {
            Callee::Here(address) => {
                let function = self.code(file).function_at(*address);
                function.is_some_and(|function| calls_back(self.code(file).symbol(function)))
            }
            Callee::Import(symbol) => calls_back(symbol),
            Callee::Unknown => false,
        }
    }

    /// What a call does that calls back: what the functions do whose addresses are given to it.
    fn call_back(&mut self, file: FileId, instructions: &[Instruction], at: usize, depth: u32) -> Call {
        let given = given_functions(self.code(file), instructions, at);
        let calls: Vec<Call> =
            given.iter().map(|address| self.call(file, &Callee::Here(*address), depth)).collect();
        let blind = calls.iter().find(|call| matches!(call, Call::Blind(_) | Call::Unknown));
        match blind {
            Some(call) => call.clone(),
            None if calls.is_empty() => {
                let code = Rc::clone(self.code(file));
                Call::Blind(self.unknown(&code))
            }
            None => Call::Nothing,
        }
    }

    fn call(&mut self, file: FileId, callee: &Callee, depth: u32) -> Call {
        let (file, address) = match callee {
            Callee::Unknown => return Call::Unknown,
            Callee::Here(address) => (file, *address),
            // A library finds the runtime in whatever program loads it.
            Callee::Import(symbol) if symbol.starts_with("__tsan_") => return runtime_call(symbol),
            Callee::Import(symbol) => {
                let exporter = self.exporter(symbol);
                // A function of the system is known by the name that it is called by: it has others.
                let is_listed = exporter.is_none_or(|(file, _)| self.has_known_effects(file));
                let name = demangled(symbol);
                let known = self.effects.own(&name).or_else(|| self.effects.of(&name).filter(|_| is_listed));
                match (exporter, known) {
                    (_, Some(effect)) => return call_of(effect, &name),
                    (None, None) => return call_of(Effect::Atomics, &name),
                    (Some(found), None) => found,
                }
            }
        };
        let Some(start) = self.code(file).function_at(address) else {
            return Call::Unknown;
        };
        let symbol = self.code(file).symbol(start).to_owned();
        match self.kind(file, start, depth) {
            FunctionKind::Instrumented => Call::Event,
            FunctionKind::Runtime if is_copy(&symbol) && self.code(file).is_rust() => {
                call_of(Effect::Memory, &symbol)
            }
            FunctionKind::Runtime if is_stateful(&symbol) => call_of(Effect::Memory, &symbol),
            FunctionKind::Runtime => runtime_call(&symbol),
            FunctionKind::Plain(effect) => call_of(effect, &self.code(file).name(start)),
        }
    }

    /// Who defines a function for all files. In which order they are searched is not known: one that is not of the system may do more.
    fn exporter(&self, name: &str) -> Option<(FileId, u64)> {
        let all = (0..self.files.len()).map(FileId);
        let mut found = all.filter_map(|file| Some((file, self.code(file).export(name)?)));
        let first = found.next()?;
        let is_program = first.0 == FileId(0);
        let other = if is_program { None } else { found.find(|&(file, _)| !self.is_system(file)) };
        Some(if self.is_system(first.0) { other.unwrap_or(first) } else { first })
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
            Effect::Orders | Effect::Atomics if is_rust_library(&name) => Effect::Memory,
            effect => effect,
        });
        self.kinds.insert((file, start), FunctionKind::Plain(effect));
        FunctionKind::Plain(effect)
    }

    /// Whether instructions tell the runtime that a function is entered.
    pub(super) fn records_entry(&self, file: FileId, instructions: &[Instruction]) -> bool {
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
            return Effect::Atomics;
        }
        let calls = self.calls(file, instructions, depth + 1);
        if instructions.iter().any(synchronises) {
            return Effect::Atomics;
        }
        let mut effect = Effect::Nothing;
        for call in calls.values() {
            effect = match (call, effect) {
                (Call::Blind(BlindCode { orders: Orders::Atomics, .. }) | Call::Unknown, _) => {
                    return Effect::Atomics;
                }
                (Call::Blind(BlindCode { orders: Orders::Own, .. }), _) => Effect::Orders,
                (Call::Blind(_), Effect::Nothing) => Effect::Memory,
                _ => effect,
            };
        }
        // An atomic load or store looks like any other, so what accesses memory may order threads.
        let returns = |at: usize| match calls.get(&at) {
            Some(Call::NeverReturns) => Return::Never,
            _ => Return::Always,
        };
        let flow = Flow::of(instructions.to_vec(), code, returns);
        let is_seen = flow.leaps.is_empty() && uncovered(code, &flow, &[], |_| CallKind::Other).is_empty();
        if is_seen { effect } else { Effect::Atomics }
    }

    /// What a function is that is called by a computed address and is not instrumented: one of the system, or, in Rust, of Rust's library, unless there is code of others.
    fn unknown(&mut self, code: &FileCode) -> BlindCode {
        if self.has_foreign_code() {
            return foreign();
        }
        let orders = if code.is_rust() { Orders::Nothing } else { Orders::Own };
        BlindCode { code: UNKNOWN.to_owned(), orders }
    }

    /// Whether the program has code that is neither instrumented nor of the system, and that may do anything: a library, or parts of the program's own file. It may be called by an address that
    /// nobody sees it get, and by the system. (A program in Rust has much of Rust's library in its own file, which is known; there only libraries count.)
    pub(crate) fn has_foreign_code(&mut self) -> bool {
        if let Some(known) = self.has_foreign_code {
            return known;
        }
        let files: Vec<FileId> = (0..self.files.len()).map(FileId).collect();
        let found = files.into_iter().any(|file| self.is_foreign(file) || self.has_plain_code(file));
        self.has_foreign_code = Some(found);
        found
    }

    /// Whether the program may have the system call such code when a thread ends: what `pthread_key_create` is given. (In Rust, nobody does that.)
    pub(crate) fn has_foreign_ends(&mut self) -> bool {
        let mut own = self.files.iter().filter(|file| file.code.is_instrumented());
        own.any(|file| !file.code.is_rust()) && self.has_foreign_code()
    }

    fn is_foreign(&self, file: FileId) -> bool {
        let name = file_name(&self.files[file.0].name);
        let is_of = |known: &[&str]| known.iter().any(|beginning| name.starts_with(beginning));
        let is_known = self.has_known_effects(file) || is_of(&COMPUTING) || is_of(&PASSIVE);
        name.contains(".so") && !is_known && !self.code(file).is_instrumented()
    }

    /// Whether an instrumented file has functions that are not, and that order threads. (Those that order nothing by an instruction of their own are too many to doubt everything for: compilers leave
    /// out entries of small functions.)
    pub(super) fn has_plain_code(&mut self, file: FileId) -> bool {
        let code = Rc::clone(self.code(file));
        if !code.is_instrumented() || code.is_rust() || self.has_known_effects(file) {
            return false;
        }
        // Rust's are of the runtime, in such a program.
        let is_runtime = |start: FunctionStart| {
            let symbol = code.symbol(start);
            let is_named = RUNTIME.iter().any(|beginning| symbol.starts_with(beginning));
            is_named || is_rust_symbol(symbol) || code.is_runtime(start) || is_entry_point(&code, start)
        };
        code.starts().into_iter().filter(|&start| !is_runtime(start)).any(|start| {
            let instructions = decode(&code, start);
            instructions.iter().any(synchronises) && !self.records_entry(file, &instructions)
        })
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
        Some(Effect::Atomics)
    }
}

/// Code of others, called by an address that nobody saw it get.
pub(super) fn foreign() -> BlindCode {
    BlindCode { code: UNKNOWN.to_owned(), orders: Orders::Atomics }
}

/// What a call of a function with this effect is.
fn call_of(effect: Effect, name: &str) -> Call {
    match effect {
        Effect::Nothing => Call::Nothing,
        Effect::NeverReturns => Call::NeverReturns,
        Effect::Memory | Effect::Orders | Effect::Atomics => {
            Call::Blind(BlindCode { code: name.to_owned(), orders: orders(effect) })
        }
    }
}

/// How a function with this effect orders threads.
fn orders(effect: Effect) -> Orders {
    match effect {
        Effect::Nothing | Effect::NeverReturns | Effect::Memory => Orders::Nothing,
        Effect::Orders => Orders::Own,
        Effect::Atomics => Orders::Atomics,
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

/// Libraries that nobody calls by an address, and that call nothing back.
const PASSIVE: [&str; 9] = [
    "libatomic.",
    "libpthread.",
    "libdl.",
    "librt.",
    "libresolv.",
    "libnss_",
    "libcrypt.",
    "libubsan.",
    "libutil.",
];

/// How functions of the runtime are called that compilers and programs call.
const RUNTIME: [&str; 3] = ["__tsan_", "foresee_", "__sanitizer_"];

/// Whether a symbol is of Rust: of either way to write such names, the older of which ends with a hash.
fn is_rust_symbol(symbol: &str) -> bool {
    let name = symbol.split(".llvm.").next().unwrap_or(symbol);
    let hash = name.strip_suffix('E').and_then(|name| name.rsplit_once("17h")).map(|(_, hash)| hash);
    let is_hash = |hash: &str| hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    name.starts_with("_R") || name.starts_with("_ZN") && hash.is_some_and(is_hash)
}

/// Libraries that compute on what they are given, and order nothing.
const COMPUTING: [&str; 5] = ["libz.", "libbz2.", "liblzma.", "liblz4.", "libsnappy."];

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether an instruction orders threads by itself.
fn synchronises(one: &Instruction) -> bool {
    let exchanges = one.mnemonic() == Mnemonic::Xchg
        && (one.op0_kind() == OpKind::Memory || one.op1_kind() == OpKind::Memory);
    one.has_lock_prefix() || exchanges || one.mnemonic() == Mnemonic::Mfence || calls_system(one)
}

/// Whether an instruction calls the kernel.
fn calls_system(one: &Instruction) -> bool {
    matches!(one.mnemonic(), Mnemonic::Syscall | Mnemonic::Sysenter | Mnemonic::Int)
}
