//! Named pieces of memory.

use std::collections::BTreeMap;

use super::strings::ByString;
use crate::event::Mem;
use crate::ids::StrId;

/// Where named variables of text traces live: an address range no x86-64 program can use.
const SYMBOLIC_BASE: u64 = 1 << 60;

/// The size of a variable about which nothing but its name is known.
pub const DEFAULT_SYMBOL_SIZE: u32 = 8;

/// A named piece of memory: a static of the program, or a variable of a text trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: StrId,
    /// The bytes it names.
    pub mem: Mem,
}

impl Symbol {
    /// Whether all that is known is the name: neither address nor size came from a program or a declaration.
    pub fn is_default(&self) -> bool {
        self.mem.addr >= SYMBOLIC_BASE && self.mem.size == DEFAULT_SYMBOL_SIZE
    }

    /// Whether the address is made up.
    pub fn is_symbolic(&self) -> bool {
        self.mem.addr >= SYMBOLIC_BASE
    }
}

/// The symbols of a trace.
#[derive(Clone, Debug)]
pub(super) struct Symbols {
    all: Vec<Symbol>,
    of_name: ByString,
    by_addr: BTreeMap<u64, u32>,
    /// The next address to make up.
    next_symbolic: u64,
}

impl Default for Symbols {
    fn default() -> Symbols {
        Symbols {
            all: Vec::new(),
            of_name: ByString::default(),
            by_addr: BTreeMap::new(),
            next_symbolic: SYMBOLIC_BASE,
        }
    }
}

impl Symbols {
    /// All of them, in the order of their declaration.
    pub(super) fn all(&self) -> &[Symbol] {
        &self.all
    }

    /// A new one; without an address it gets one of its own.
    pub(super) fn declare(&mut self, name: StrId, addr: Option<u64>, size: u32) -> Mem {
        let addr = addr.unwrap_or(self.next_symbolic);
        if addr >= self.next_symbolic {
            self.next_symbolic = addr.saturating_add(u64::from(size).max(1).next_multiple_of(8));
        }
        let mem = Mem { addr, size };
        let id = self.all.len() as u32;
        self.all.push(Symbol { name, mem });
        if self.of_name.get(name).is_none() {
            self.of_name.set(name, id);
        }
        self.by_addr.insert(addr, id);
        mem
    }

    /// The symbol of this name; the first, if there are several.
    #[inline]
    pub(super) fn named(&self, name: StrId) -> Option<Symbol> {
        self.of_name.get(name).map(|id| self.all[id as usize])
    }

    /// The symbol that contains the byte at `addr`.
    pub(super) fn at(&self, addr: u64) -> Option<Symbol> {
        let (_, &id) = self.by_addr.range(..=addr).next_back()?;
        let symbol = self.all[id as usize];
        (u128::from(addr) < symbol.mem.end()).then_some(symbol)
    }
}
