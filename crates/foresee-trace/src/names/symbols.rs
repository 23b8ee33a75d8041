//! Named pieces of memory.

use std::collections::BTreeMap;

use super::strings::ByString;
use crate::event::Mem;
use crate::ids::StrId;

/// Where named variables of text traces live: an address range no x86-64 program can use.
const SYMBOLIC_BASE: u64 = 1 << 60;

/// The size of a variable about which nothing but its name is known.
pub const DEFAULT_SYMBOL_SIZE: u32 = 8;

/// How many are looked at to find what is within what: parts beyond that are known by the whole, if at all.
const MOST_PARTS: usize = 1 << 10;

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
    /// By where it begins; of those that begin there, the smallest last.
    by_addr: BTreeMap<(u64, u32), u32>,
    /// The smallest other that each is within, if there is one: a part of a variable may have a name of its own.
    around: Vec<Option<u32>>,
    /// The next address to make up.
    next_symbolic: u64,
}

impl Default for Symbols {
    fn default() -> Symbols {
        Symbols {
            all: Vec::new(),
            of_name: ByString::default(),
            by_addr: BTreeMap::new(),
            around: Vec::new(),
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
        self.nest(mem, id);
        self.by_addr.insert(position(mem), id);
        mem
    }

    /// Finds what a new one is within, and what is within it.
    fn nest(&mut self, mem: Mem, id: u32) {
        let outer = self.around_byte(mem.addr, |outer| contains(outer, mem));
        self.around.push(outer);
        let within = |from: u64| (from, 0)..=(from.saturating_add(u64::from(mem.size)), u32::MAX);
        for &other in self.by_addr.range(within(mem.addr)).map(|(_, other)| other).take(MOST_PARTS) {
            let around = &mut self.around[other as usize];
            if *around == outer && contains(mem, self.all[other as usize].mem) {
                *around = Some(id);
            }
        }
    }

    /// The smallest one with this byte in it of which this is true.
    fn around_byte(&self, addr: u64, is_it: impl Fn(Mem) -> bool) -> Option<u32> {
        let (_, &nearest) = self.by_addr.range(..=(addr, u32::MAX)).next_back()?;
        let outwards = std::iter::successors(Some(nearest), |&id| self.around[id as usize]);
        let has_byte = |mem: Mem| u128::from(addr) < mem.end();
        outwards
            .take(MOST_PARTS)
            .find(|&id| has_byte(self.all[id as usize].mem) && is_it(self.all[id as usize].mem))
    }

    /// The symbol of this name; the first, if there are several.
    #[inline]
    pub(super) fn named(&self, name: StrId) -> Option<Symbol> {
        self.of_name.get(name).map(|id| self.all[id as usize])
    }

    /// The smallest symbol that contains the byte at `addr`.
    pub(super) fn at(&self, addr: u64) -> Option<Symbol> {
        self.around_byte(addr, |_| true).map(|id| self.all[id as usize])
    }
}

/// By this they are in order.
fn position(mem: Mem) -> (u64, u32) {
    (mem.addr, u32::MAX - mem.size)
}

/// Whether all of a piece of memory is in another, larger one.
fn contains(outer: Mem, inner: Mem) -> bool {
    outer.addr <= inner.addr && inner.end() <= outer.end() && outer.size > inner.size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_names_of_their_own() {
        // Whichever is declared first.
        let declared = [(0x100, 16), (0x100, 4), (0x108, 8), (0x108, 2), (0x200, 4)];
        for turn in 0..declared.len() {
            let mut symbols = Symbols::default();
            let mut order = declared;
            order.rotate_left(turn);
            for (addr, size) in order {
                symbols.declare(StrId(size), Some(addr), size);
            }
            let size_at = |addr| symbols.at(addr).map(|symbol| symbol.mem.size);
            let expected = [
                (0xff, None),
                (0x100, Some(4)),
                (0x104, Some(16)),
                (0x109, Some(2)),
                (0x10a, Some(8)),
                (0x110, None),
                (0x203, Some(4)),
            ];
            for (addr, size) in expected {
                assert_eq!(size_at(addr), size, "{addr:#x}, turn {turn}");
            }
        }
    }
}
