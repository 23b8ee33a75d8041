//! What program files say about addresses, as whoever reads them answers: [`Symbolizer`].

use super::libraries::is_library_function;
use super::modules::Module;

/// Where some code comes from. Empty and 0 are unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SourceLocation {
    /// The function.
    pub function: String,
    /// Its file.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
}

impl SourceLocation {
    /// Whether this is the user's own, and not of a library that stands between the user and what happens.
    pub fn is_users(&self) -> bool {
        !is_library_function(&self.function) && !self.is_library()
    }

    /// Whether this is code of the standard library of Rust or C++, wherever it was compiled, of the system's headers, or of foresee's runtime, which calls `main`.
    fn is_library(&self) -> bool {
        let starts = ["/rustc/", "/usr/include/", "/usr/lib/"];
        let parts = ["/lib/rustlib/src/rust/library/", "/foresee-rt/src/"];
        starts.iter().any(|start| self.file.starts_with(start))
            || parts.iter().any(|part| self.file.contains(part))
    }
}

/// A static variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataSymbol {
    /// Its name.
    pub name: String,
    /// Its first address.
    pub addr: u64,
    /// Its size in bytes.
    pub size: u32,
}

/// Where the code of a function comes from, which says how its accesses to memory are to be taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// Built with the program, instrumented.
    #[default]
    Program,
    /// A prebuilt part of the standard library that works on its caller's data (`alloc`, `core`).
    Container,
    /// A prebuilt part of the standard library that works on data of its own, and has unseen ways to order it.
    Foreign,
}

/// What is known about an instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Code {
    /// The calls it is in, innermost first: inlined ones, then the function itself.
    pub frames: Vec<SourceLocation>,
    /// Where the function comes from.
    pub origin: Origin,
}

/// What the code of a program says about the call that returns to some address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// Whether the function that it is in records its branches.
    pub records_branches: bool,
    /// Whether it calls for an atomic operation.
    pub is_atomic: bool,
    /// The first argument, if it is the same address whenever the call is made.
    pub argument: Option<u64>,
}

/// Code that ran and whose accesses or orders are not in the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlindCode {
    /// Which code: a function, and what it does.
    pub code: String,
    /// Whether it may also have ordered threads.
    pub orders: Orders,
}

/// How code that is not recorded may order threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Orders {
    /// It does not.
    Nothing,
    /// By what only code of its own kind uses: a lock or an atomic of a library, the kernel.
    Own,
    /// By any atomic, of the program's too.
    Atomics,
}

/// What a program has of code that is neither instrumented nor of the system, and may do anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ForeignCode {
    /// There is some, which the system may call.
    pub is_there: bool,
    /// The program may have the system call it when a thread ends.
    pub ends_threads: bool,
}

/// Whether code records what it does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Recording {
    /// It is built with instrumentation; the first address of its function.
    Instrumented(u64),
    /// It is not, and nothing is known of what it does.
    Blind(BlindCode),
    /// It is part of the system or of the runtime: what it does is known where it is called.
    #[default]
    System,
}

/// A place that a call of a function has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Position {
    /// The call that returns to this address.
    At(u64),
    /// The same, and what returns there has freed memory.
    FreedAt(u64),
    /// The same, and what returns there has entered a function.
    EnteredAt(u64),
    /// Within a function that it has called and that records nothing itself, at a record of the runtime's.
    Within,
    /// The same, where an instrumented function is called back.
    CalledBack,
    /// Somewhere: where it was before is not known either.
    Anywhere,
    /// Its end.
    Exit,
}

/// Finds the names of code and data of a program that ran.
pub trait Symbolizer {
    /// What is at `pc`, an address within an instruction (the return address of a call less one).
    fn code(&mut self, modules: &[Module], pc: u64) -> Code;

    /// The static variable that has the byte at `addr`.
    fn data(&mut self, modules: &[Module], addr: u64) -> Option<DataSymbol>;

    /// What its code says about the call that returns to `pc`.
    fn call(&mut self, _modules: &[Module], _pc: u64) -> Call {
        Call::default()
    }

    /// Whether the function records what it does that has the call which returns to `pc`.
    fn recording(&mut self, _modules: &[Module], _pc: u64) -> Recording {
        Recording::System
    }

    /// The blind code that may have run in a function that is built with instrumentation, after a call in it returned to `from` and
    /// before it came to `to`, if it recorded nothing in between.
    fn blind(&mut self, _modules: &[Module], _from: u64, _to: Position) -> Option<BlindCode> {
        None
    }

    /// Whether code that is built with instrumentation has atomics in assembly.
    fn has_atomics_in_assembly(&mut self) -> bool {
        false
    }

    /// What there is of code that is neither instrumented nor of the system.
    fn foreign_code(&mut self) -> ForeignCode {
        ForeignCode::default()
    }

    /// Whether it finds names at all.
    fn knows_names(&self) -> bool {
        true
    }

    /// What the program may do to order threads that its compiler does not instrument, if anything.
    fn unseen(&self) -> Option<&'static str> {
        None
    }
}

/// Knows no names: locations are the file and the offset in it.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSymbols;

impl Symbolizer for NoSymbols {
    fn code(&mut self, modules: &[Module], pc: u64) -> Code {
        let file = match modules.iter().find(|module| (module.start..module.end).contains(&pc)) {
            Some(module) => format!("{}+{:#x}", module.path, pc - module.start + module.offset),
            None => format!("{pc:#x}"),
        };
        let frames = vec![SourceLocation { file, ..SourceLocation::default() }];
        Code { frames, origin: Origin::Program }
    }

    fn data(&mut self, _modules: &[Module], _addr: u64) -> Option<DataSymbol> {
        None
    }

    fn knows_names(&self) -> bool {
        false
    }
}
