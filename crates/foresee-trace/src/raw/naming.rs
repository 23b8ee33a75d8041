//! Names for addresses: each asked for once.

use rustc_hash::{FxHashMap, FxHashSet};

use super::format::{NAME_LEN, SYNC_SPACE};
use super::modules::Module;
use crate::event::Mem;
use crate::ids::{LocId, LockId, StrId, ThreadId};
use crate::names::{Location, Names};

/// Where some code comes from. Empty and 0 are unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceLocation {
    /// The innermost function, inlined ones included.
    pub function: String,
    /// Its file.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
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

/// Finds the names of code and data of a program that ran.
pub trait Symbolizer {
    /// What is at `pc`, an address within an instruction (the return address of a call less one).
    fn location(&mut self, modules: &[Module], pc: u64) -> SourceLocation;

    /// The static variable that has the byte at `addr`.
    fn data(&mut self, modules: &[Module], addr: u64) -> Option<DataSymbol>;
}

/// Knows no names: locations are the file and the offset in it.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSymbols;

impl Symbolizer for NoSymbols {
    fn location(&mut self, modules: &[Module], pc: u64) -> SourceLocation {
        let file = match modules.iter().find(|module| (module.start..module.end).contains(&pc)) {
            Some(module) => format!("{}+{:#x}", module.path, pc - module.start + module.offset),
            None => format!("{pc:#x}"),
        };
        SourceLocation { file, ..SourceLocation::default() }
    }

    fn data(&mut self, _modules: &[Module], _addr: u64) -> Option<DataSymbol> {
        None
    }
}

/// All names of a raw trace as they become known.
pub(super) struct Naming {
    pub(super) names: Names,
    symbolizer: Box<dyn Symbolizer>,
    modules: Vec<Module>,
    thread_names: Vec<u8>,
    threads: FxHashMap<u64, ThreadId>,
    locks: FxHashMap<u64, LockId>,
    locations: FxHashMap<u64, LocId>,
    functions: FxHashMap<u64, StrId>,
    /// Addresses in modules that have been looked up.
    data: FxHashSet<u64>,
}

impl Naming {
    pub(super) fn new(
        symbolizer: Box<dyn Symbolizer>,
        modules: Vec<Module>,
        thread_names: Vec<u8>,
    ) -> Naming {
        Naming {
            names: Names::new(),
            symbolizer,
            modules,
            thread_names,
            threads: FxHashMap::default(),
            locks: FxHashMap::default(),
            locations: FxHashMap::default(),
            functions: FxHashMap::default(),
            data: FxHashSet::default(),
        }
    }

    /// The thread of this number. Two threads of the same name are told apart by their numbers.
    pub(super) fn thread(&mut self, number: u64) -> ThreadId {
        if let Some(&id) = self.threads.get(&number) {
            return id;
        }
        let slot = self.thread_names.chunks_exact(NAME_LEN as usize).nth(number as usize);
        let given = slot.map(|slot| slot.split(|&byte| byte == 0).next().unwrap_or_default());
        let mut name = match given {
            Some(given) if !given.is_empty() => String::from_utf8_lossy(given).into_owned(),
            _ if number == 0 => "main".to_owned(),
            _ => format!("T{number}"),
        };
        let threads = self.names.threads().len();
        let mut id = self.names.thread(&name);
        while id.index() < threads {
            name = format!("{name}#{number}");
            id = self.names.thread(&name);
        }
        self.threads.insert(number, id);
        id
    }

    /// The lock or condition at this address.
    pub(super) fn lock(&mut self, addr: u64) -> LockId {
        if let Some(&id) = self.locks.get(&addr) {
            return id;
        }
        let mut name = self.object_name(addr).unwrap_or_else(|| format!("l@{addr:#x}"));
        let locks = self.names.locks().len();
        let mut id = self.names.lock(&name);
        while id.index() < locks {
            // Statics of two files may have the same name.
            name = format!("{name}@{addr:#x}");
            id = self.names.lock(&name);
        }
        self.locks.insert(addr, id);
        id
    }

    /// The static at this address, with the offset in it.
    fn object_name(&mut self, addr: u64) -> Option<String> {
        self.module_at(addr)?;
        let symbol = self.symbolizer.data(&self.modules, addr)?;
        match addr.checked_sub(symbol.addr)? {
            0 => Some(symbol.name),
            offset => Some(format!("{}+{offset}", symbol.name)),
        }
    }

    /// Where the call that returns to `pc` is.
    pub(super) fn location(&mut self, pc: u64) -> LocId {
        if pc == 0 {
            return LocId::UNKNOWN;
        }
        if let Some(&id) = self.locations.get(&pc) {
            return id;
        }
        let found = self.symbolizer.location(&self.modules, pc - 1);
        let location = Location {
            file: self.names.intern(&found.file),
            line: found.line,
            column: found.column,
            function: self.names.intern(&found.function),
        };
        let id = self.names.location(location);
        self.locations.insert(pc, id);
        id
    }

    /// The function that has the call that returns to `pc`.
    pub(super) fn function(&mut self, pc: u64) -> StrId {
        if let Some(&id) = self.functions.get(&pc) {
            return id;
        }
        let found = self.symbolizer.location(&self.modules, pc.saturating_sub(1));
        let name = if found.function.is_empty() { found.file } else { found.function };
        let id = self.names.intern(&name);
        self.functions.insert(pc, id);
        id
    }

    /// Learns the name of what an access touches, if it is a static, or a stand-in for a barrier or semaphore.
    pub(super) fn touch(&mut self, mem: Mem) {
        let stands_in = mem.addr & !(SYNC_SPACE - 1) == SYNC_SPACE;
        if !(stands_in || self.module_at(mem.addr).is_some()) || !self.data.insert(mem.addr) {
            return;
        }
        if stands_in {
            let object = mem.addr & (SYNC_SPACE - 1);
            let name = self.object_name(object).unwrap_or_else(|| format!("{object:#x}"));
            let name = self.names.intern(&format!("sync {name}"));
            self.names.declare_symbol(name, Some(mem.addr), mem.size);
        } else if !self.names.symbol_at(mem.addr).is_some_and(|symbol| symbol.mem.overlaps(mem))
            && let Some(symbol) = self.symbolizer.data(&self.modules, mem.addr)
        {
            let name = self.names.intern(&symbol.name);
            self.names.declare_symbol(name, Some(symbol.addr), symbol.size.max(1));
        }
    }

    fn module_at(&self, addr: u64) -> Option<&Module> {
        let after = self.modules.partition_point(|module| module.start <= addr);
        self.modules.get(after.checked_sub(1)?).filter(|module| addr < module.end)
    }
}
