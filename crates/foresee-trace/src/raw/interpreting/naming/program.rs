//! The files of the recorded program as they were mapped, and what the symbolizer knows about them.

use crate::raw::interpreting::atomic_values::Memory;
use crate::raw::modules::{Module, add_modules};
use crate::raw::symbols::{BlindCode, Call, Code, DataSymbol, Position, Recording, Symbolizer};

/// What is mapped, and who knows about it.
pub(super) struct Program {
    pub(super) symbolizer: Box<dyn Symbolizer>,
    pub(super) modules: Vec<Module>,
}

impl Program {
    /// Files are mapped as this copy of `/proc/self/maps` says, from now on. Whether one has taken the place of another.
    pub(super) fn remap(&mut self, maps: &str) -> bool {
        add_modules(&mut self.modules, maps)
    }

    /// What is at the instruction before `pc`.
    pub(super) fn code_before(&mut self, pc: u64) -> Code {
        if pc == 0 { Code::default() } else { self.symbolizer.code(&self.modules, pc - 1) }
    }

    /// What the program's code says about the call that returns to `pc`.
    pub(super) fn call(&mut self, pc: u64) -> Call {
        self.symbolizer.call(&self.modules, pc)
    }

    /// Whether the code that calls from before `pc` records what it does.
    pub(super) fn recording(&mut self, pc: u64) -> Recording {
        if pc == 0 { Recording::System } else { self.symbolizer.recording(&self.modules, pc) }
    }

    /// What ran between two positions of a function without being recorded.
    pub(super) fn blind(&mut self, from: u64, to: Position) -> Option<BlindCode> {
        self.symbolizer.blind(&self.modules, from, to)
    }

    /// The file that is mapped at this address.
    fn module_at(&self, addr: u64) -> Option<&Module> {
        let after = self.modules.partition_point(|module| module.start <= addr);
        let below = after.checked_sub(1).and_then(|at| self.modules.get(at));
        below.filter(|module| addr < module.end)
    }

    /// Whether a file is mapped at this address.
    pub(super) fn is_mapped(&self, addr: u64) -> bool {
        self.module_at(addr).is_some()
    }

    /// What kind of memory is at this address.
    pub(super) fn memory(&self, addr: u64) -> Memory {
        match self.module_at(addr) {
            None => Memory::Reused,
            Some(module) if module.is_of_kernel() => Memory::Foreign,
            Some(_) => Memory::Lasting,
        }
    }

    /// The static variable at this address.
    pub(super) fn data(&mut self, addr: u64) -> Option<DataSymbol> {
        if self.is_mapped(addr) { self.symbolizer.data(&self.modules, addr) } else { None }
    }

    /// The name of the static variable at this address, with the offset in it.
    pub(super) fn object_name(&mut self, addr: u64) -> Option<String> {
        let symbol = self.data(addr)?;
        match addr.checked_sub(symbol.addr)? {
            0 => Some(symbol.name),
            offset => Some(format!("{}+{offset}", symbol.name)),
        }
    }
}
