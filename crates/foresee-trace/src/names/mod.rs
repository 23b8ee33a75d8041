//! The names behind the ids: strings, threads, locks, source locations, symbols.
//!
//! A name costs one hash of its bytes when it comes in as text; everything after that is an index into a dense table.
//! Strings live in one arena, so a million short names are a few large allocations.

mod locations;
mod strings;
mod symbols;

use rustc_hash::FxHashMap;

pub use self::locations::Location;
use self::locations::Locations;
use self::strings::{ByString, Strings};
use self::symbols::Symbols;
pub use self::symbols::{DEFAULT_SYMBOL_SIZE, Symbol};
use crate::event::Mem;
use crate::ids::{LocId, LockId, StrId, ThreadId};

/// How the name begins of what stands for waiting to have a lock alone: whoever does is in the way of those who share it and want to share it once more. The lock's name follows.
pub const WRITERS_OF: &str = "writers of ";

/// A lock without a name of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnnamedLock<'a> {
    /// Where it is.
    pub addr: u64,
    /// Its type, if that is known.
    pub of: Option<&'a str>,
}

/// All names of a trace.
#[derive(Clone, Debug)]
pub struct Names {
    strings: Strings,
    threads: Named,
    passing: PassingThreads,
    locks: Named,
    locations: Locations,
    symbols: Symbols,
}

/// Threads whose names are kept only as long as they are there. A trace has either these or the others.
#[derive(Clone, Debug, Default)]
struct PassingThreads {
    /// How many there were.
    count: u32,
    names: FxHashMap<ThreadId, Box<str>>,
}

/// Things that are numbered, and known by a name each.
#[derive(Clone, Debug, Default)]
struct Named {
    names: Vec<StrId>,
    /// The first of each name.
    of_name: ByString,
}

impl Named {
    fn add(&mut self, name: StrId) -> u32 {
        let id = self.names.len() as u32;
        self.names.push(name);
        if self.of_name.get(name).is_none() {
            self.of_name.set(name, id);
        }
        id
    }

    /// The first of this name, new if there is none.
    #[inline]
    fn id(&mut self, name: StrId) -> u32 {
        match self.of_name.get(name) {
            Some(id) => id,
            None => self.add(name),
        }
    }
}

impl Default for Names {
    fn default() -> Self {
        let mut names = Names {
            strings: Strings::default(),
            threads: Named::default(),
            passing: PassingThreads::default(),
            locks: Named::default(),
            locations: Locations::default(),
            symbols: Symbols::default(),
        };
        names.intern("");
        names.location(Location::default());
        names
    }
}

impl Names {
    /// Names of a trace that has none yet.
    pub fn new() -> Self {
        Names::default()
    }

    /// The id of a string.
    #[inline]
    pub fn intern(&mut self, text: &str) -> StrId {
        self.strings.intern(text)
    }

    /// The string with this id; empty for an id of another trace.
    #[inline]
    pub fn str(&self, id: StrId) -> &str {
        self.strings.get(id)
    }

    /// How many strings there are.
    pub fn string_count(&self) -> usize {
        self.strings.len()
    }

    /// The thread of this name, new if there is none.
    #[inline]
    pub fn thread(&mut self, name: &str) -> ThreadId {
        ThreadId(self.threads.id(self.strings.intern(name)))
    }

    /// One more thread; several threads may have the same name.
    pub fn new_thread(&mut self, name: StrId) -> ThreadId {
        ThreadId(self.threads.add(name))
    }

    /// One more thread, which is to be [forgotten](Names::forget_thread) when it has gone: it is not among [`threads`](Names::threads). For who
    /// reads a trace that never ends, and keeps nothing by the ids of threads.
    pub fn passing_thread(&mut self, name: String) -> ThreadId {
        let id = ThreadId(self.passing.count);
        self.passing.count += 1;
        self.passing.names.insert(id, name.into_boxed_str());
        id
    }

    /// A [passing](Names::passing_thread) thread has gone; no other gets its id.
    pub fn forget_thread(&mut self, id: ThreadId) {
        self.passing.names.remove(&id);
    }

    /// Names of all threads, by id.
    pub fn threads(&self) -> &[StrId] {
        &self.threads.names
    }

    /// The name of a thread.
    pub fn thread_name(&self, id: ThreadId) -> &str {
        match self.threads().get(id.index()) {
            Some(&name) => self.str(name),
            None => self.passing.names.get(&id).map_or("", |name| name),
        }
    }

    /// The lock of this name, new if there is none.
    #[inline]
    pub fn lock(&mut self, name: &str) -> LockId {
        LockId(self.locks.id(self.strings.intern(name)))
    }

    /// One more lock; several locks may have the same name.
    pub fn new_lock(&mut self, name: StrId) -> LockId {
        LockId(self.locks.add(name))
    }

    /// Names of all locks, by id.
    pub fn locks(&self) -> &[StrId] {
        &self.locks.names
    }

    /// The name of a lock.
    pub fn lock_name(&self, id: LockId) -> &str {
        self.locks().get(id.index()).map_or("", |&name| self.str(name))
    }

    /// What is known of a lock that has no name of its own. It is called `l@` and the address, with `#2` for the second
    /// lock at that address, and `:` before its type.
    pub fn unnamed_lock(&self, id: LockId) -> Option<UnnamedLock<'_>> {
        let rest = self.lock_name(id).strip_prefix("l@0x")?;
        let (place, of) = rest.split_once(':').map_or((rest, None), |(place, of)| (place, Some(of)));
        let address = place.split_once('#').map_or(place, |(address, _)| address);
        Some(UnnamedLock { addr: u64::from_str_radix(address, 16).ok()?, of })
    }

    /// The id of a location.
    pub fn location(&mut self, location: Location) -> LocId {
        self.locations.id(location)
    }

    /// The id of a location written as text: `345`, `file:12`, `file:12:5`, each with ` in function` or without; anything
    /// else is a label. [`Names::location_text`] gives the same text back.
    #[inline]
    pub fn location_from_text(&mut self, text: &str) -> LocId {
        self.locations.of_text(text, &mut self.strings)
    }

    /// A location as text.
    pub fn location_text(&self, id: LocId) -> String {
        self.locations.text(id, &self.strings)
    }

    /// All locations, by id.
    pub fn locations(&self) -> &[Location] {
        self.locations.all()
    }

    /// The location with this id.
    pub fn location_at(&self, id: LocId) -> Location {
        self.locations().get(id.index()).copied().unwrap_or_default()
    }

    /// The memory of the variable of this name; a new variable gets an address of its own and
    /// [`DEFAULT_SYMBOL_SIZE`] bytes.
    #[inline]
    pub fn symbol(&mut self, name: &str) -> Mem {
        let name = self.intern(name);
        match self.symbols.named(name) {
            Some(symbol) => symbol.mem,
            None => self.declare_symbol(name, None, DEFAULT_SYMBOL_SIZE),
        }
    }

    /// A variable of which more is known; without an address it gets one of its own.
    pub fn declare_symbol(&mut self, name: StrId, addr: Option<u64>, size: u32) -> Mem {
        self.symbols.declare(name, addr, size)
    }

    /// All symbols, in the order of their declaration.
    pub fn symbols(&self) -> &[Symbol] {
        self.symbols.all()
    }

    /// Whether a symbol of this name was declared.
    pub fn has_symbol(&self, name: StrId) -> bool {
        self.symbols.named(name).is_some()
    }

    /// The symbol of this name; the first, if there are several.
    pub fn symbol_named(&self, name: StrId) -> Option<Symbol> {
        self.symbols.named(name)
    }

    /// The symbol that contains the byte at `addr`.
    pub fn symbol_at(&self, addr: u64) -> Option<Symbol> {
        self.symbols.at(addr)
    }

    /// Memory as a person reads it: `COUNTER`, `buf[4..8]`, or `[0x7ffe10..0x7ffe14]` where nothing is named.
    pub fn mem_text(&self, mem: Mem) -> String {
        match self.symbol_at(mem.addr) {
            Some(symbol) if symbol.mem == mem => self.str(symbol.name).to_owned(),
            Some(symbol) => {
                let start = u128::from(mem.addr - symbol.mem.addr);
                format!("{}[{start}..{}]", self.str(symbol.name), start + u128::from(mem.size))
            }
            None => format!("[{:#x}..{:#x}]", mem.addr, mem.end()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_stored_once() {
        let mut names = Names::new();
        let ids: Vec<_> = (0..1000).map(|i| names.intern(&format!("name{i}"))).collect();
        for (i, &id) in ids.iter().enumerate() {
            assert_eq!(names.intern(&format!("name{i}")), id);
            assert_eq!(names.str(id), format!("name{i}"));
        }
        assert_eq!(names.intern(""), StrId::EMPTY);
    }

    #[test]
    fn texts_that_differ_anywhere_are_different_strings() {
        let mut names = Names::new();
        let mut seen = std::collections::HashMap::new();
        let flipped =
            |at: usize, len: usize| (0..len).map(|i| if i == at { 'b' } else { 'a' }).collect::<String>();
        for text in (0..20).flat_map(|len| (0..=len).map(move |at| flipped(at, len))) {
            let id = names.intern(&text);
            assert_eq!(names.str(id), text);
            assert_eq!(*seen.entry(text).or_insert(id), id);
        }
        assert_eq!(seen.values().collect::<std::collections::HashSet<_>>().len(), seen.len());
    }

    #[test]
    fn locations_come_back_as_they_were_written() {
        let mut names = Names::new();
        for text in [
            "345",
            "0",
            "007",
            "a.rs:12",
            "a.rs:12:5",
            "a b:1:2 in f<T>::g",
            "12 in f",
            "x:y",
            ":3",
            "",
            "a:0:1",
        ] {
            let id = names.location_from_text(text);
            assert_eq!(names.location_text(id), text);
        }
        let id = names.location_from_text("src/a.rs:12:5 in bank::transfer");
        let at = names.location_at(id);
        assert_eq!(
            (names.str(at.file), at.line, at.column, names.str(at.function)),
            ("src/a.rs", 12, 5, "bank::transfer")
        );
    }

    #[test]
    fn symbols_name_their_bytes() {
        let mut names = Names::new();
        let x = names.symbol("x");
        assert_eq!(names.symbol("x"), x);
        let buf = names.intern("buf");
        let buf = names.declare_symbol(buf, Some(0x5000), 16);
        let y = names.symbol("y");
        assert!(!x.overlaps(y));
        assert_eq!(names.mem_text(x), "x");
        assert_eq!(names.mem_text(Mem { addr: buf.addr + 4, size: 4 }), "buf[4..8]");
        assert_eq!(names.mem_text(Mem { addr: 0x10, size: 4 }), "[0x10..0x14]");
    }
}
