//! The names behind the ids: strings, threads, locks, source locations, symbols.
//!
//! A name costs one hash of its bytes when it comes in as text; everything after that is an index into a dense table.
//! Strings live in one arena, so a million short names are a few large allocations.

use std::collections::BTreeMap;
use std::hash::Hasher as _;

use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};

use crate::event::Mem;
use crate::ids::{LocId, LockId, StrId, ThreadId};

/// Where named variables of text traces live: an address range no x86-64 program can use.
const SYMBOLIC_BASE: u64 = 1 << 60;

/// The size of a variable about which nothing but its name is known.
pub const DEFAULT_SYMBOL_SIZE: u32 = 8;

/// A place in the source. Empty parts are unknown: a text trace's `345` is a line without a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Location {
    /// The file's path, or any label the trace gives.
    pub file: StrId,
    /// Line, from 1; 0 if unknown.
    pub line: u32,
    /// Column, from 1; 0 if unknown.
    pub column: u32,
    /// The function, demangled.
    pub function: StrId,
}

/// A named piece of memory: a static of the program, or a variable of a text trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: StrId,
    /// The bytes it names.
    pub mem: Mem,
}

/// A lock without a name of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnnamedLock<'a> {
    /// Where it is.
    pub addr: u64,
    /// Its type, if that is known.
    pub of: Option<&'a str>,
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

/// All names of a trace.
#[derive(Clone, Debug)]
pub struct Names {
    strings: Strings,
    threads: Vec<StrId>,
    thread_of: ByString,
    locks: Vec<StrId>,
    lock_of: ByString,
    locations: Vec<Location>,
    location_ids: FxHashMap<Location, LocId>,
    location_of_text: ByString,
    symbols: Vec<Symbol>,
    symbol_of: ByString,
    symbols_by_addr: BTreeMap<u64, u32>,
    next_symbolic: u64,
}

impl Default for Names {
    fn default() -> Self {
        let mut names = Names {
            strings: Strings::default(),
            threads: Vec::new(),
            thread_of: ByString::default(),
            locks: Vec::new(),
            lock_of: ByString::default(),
            locations: Vec::new(),
            location_ids: FxHashMap::default(),
            location_of_text: ByString::default(),
            symbols: Vec::new(),
            symbol_of: ByString::default(),
            symbols_by_addr: BTreeMap::new(),
            next_symbolic: SYMBOLIC_BASE,
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
        StrId(self.strings.intern(text))
    }

    /// The string with this id; empty for an id of another trace.
    #[inline]
    pub fn str(&self, id: StrId) -> &str {
        self.strings.get(id.0)
    }

    /// How many strings there are.
    pub fn string_count(&self) -> usize {
        self.strings.ends.len()
    }

    /// The thread of this name, new if there is none.
    #[inline]
    pub fn thread(&mut self, name: &str) -> ThreadId {
        let name = self.intern(name);
        match self.thread_of.get(name) {
            Some(id) => ThreadId(id),
            None => self.new_thread(name),
        }
    }

    /// One more thread; several threads may have the same name.
    pub fn new_thread(&mut self, name: StrId) -> ThreadId {
        let id = self.threads.len() as u32;
        self.threads.push(name);
        if self.thread_of.get(name).is_none() {
            self.thread_of.set(name, id);
        }
        ThreadId(id)
    }

    /// Names of all threads, by id.
    pub fn threads(&self) -> &[StrId] {
        &self.threads
    }

    /// The name of a thread.
    pub fn thread_name(&self, id: ThreadId) -> &str {
        self.threads.get(id.index()).map_or("", |&name| self.str(name))
    }

    /// The lock of this name, new if there is none.
    #[inline]
    pub fn lock(&mut self, name: &str) -> LockId {
        let name = self.intern(name);
        match self.lock_of.get(name) {
            Some(id) => LockId(id),
            None => self.new_lock(name),
        }
    }

    /// One more lock; several locks may have the same name.
    pub fn new_lock(&mut self, name: StrId) -> LockId {
        let id = self.locks.len() as u32;
        self.locks.push(name);
        if self.lock_of.get(name).is_none() {
            self.lock_of.set(name, id);
        }
        LockId(id)
    }

    /// Names of all locks, by id.
    pub fn locks(&self) -> &[StrId] {
        &self.locks
    }

    /// The name of a lock.
    pub fn lock_name(&self, id: LockId) -> &str {
        self.locks.get(id.index()).map_or("", |&name| self.str(name))
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
        let next = LocId(self.locations.len() as u32);
        let id = *self.location_ids.entry(location).or_insert(next);
        if id == next {
            self.locations.push(location);
        }
        id
    }

    /// The id of a location written as text: `345`, `file:12`, `file:12:5`, each with ` in function` or without; anything
    /// else is a label. [`Names::location_text`] gives the same text back.
    #[inline]
    pub fn location_from_text(&mut self, text: &str) -> LocId {
        let key = self.intern(text);
        match self.location_of_text.get(key) {
            Some(id) => LocId(id),
            None => {
                let location = self.parse_location(text);
                let id = self.location(location);
                self.location_of_text.set(key, id.0);
                id
            }
        }
    }

    fn parse_location(&mut self, text: &str) -> Location {
        let (place, function) = match text.rsplit_once(" in ") {
            Some((place, function)) if !function.is_empty() => (place, function),
            _ => (text, ""),
        };
        let function = self.intern(function);
        // Only numbers that print the same way are numbers: `007` stays a label.
        let number = |s: &str| s.parse::<u32>().ok().filter(|&n| n > 0 && n.to_string() == s);
        if let Some(line) = number(place) {
            return Location { line, function, ..Location::default() };
        }
        let (file, line, column) = match place.rsplit_once(':').map(|(rest, last)| (rest, number(last))) {
            Some((rest, Some(last))) if !rest.is_empty() => match rest.rsplit_once(':') {
                Some((file, line)) if !file.is_empty() && number(line).is_some() => {
                    (file, number(line).unwrap_or(0), last)
                }
                _ => (rest, last, 0),
            },
            _ => (place, 0, 0),
        };
        Location { file: self.intern(file), line, column, function }
    }

    /// A location as text.
    pub fn location_text(&self, id: LocId) -> String {
        use std::fmt::Write as _;
        let Some(at) = self.locations.get(id.index()) else { return String::new() };
        let mut text = self.str(at.file).to_owned();
        if at.line != 0 {
            let colon = if text.is_empty() { "" } else { ":" };
            let _ = write!(text, "{colon}{}", at.line);
            if at.column != 0 {
                let _ = write!(text, ":{}", at.column);
            }
        }
        if at.function != StrId::EMPTY {
            let _ = write!(text, " in {}", self.str(at.function));
        }
        text
    }

    /// All locations, by id.
    pub fn locations(&self) -> &[Location] {
        &self.locations
    }

    /// The location with this id.
    pub fn location_at(&self, id: LocId) -> Location {
        self.locations.get(id.index()).copied().unwrap_or_default()
    }

    /// The memory of the variable of this name; a new variable gets an address of its own and
    /// [`DEFAULT_SYMBOL_SIZE`] bytes.
    #[inline]
    pub fn symbol(&mut self, name: &str) -> Mem {
        let name = self.intern(name);
        match self.symbol_of.get(name) {
            Some(id) => self.symbols[id as usize].mem,
            None => self.declare_symbol(name, None, DEFAULT_SYMBOL_SIZE),
        }
    }

    /// A variable of which more is known; without an address it gets one of its own.
    pub fn declare_symbol(&mut self, name: StrId, addr: Option<u64>, size: u32) -> Mem {
        let addr = addr.unwrap_or(self.next_symbolic);
        if addr >= self.next_symbolic {
            self.next_symbolic = addr.saturating_add(u64::from(size).max(1).next_multiple_of(8));
        }
        let mem = Mem { addr, size };
        let id = self.symbols.len() as u32;
        self.symbols.push(Symbol { name, mem });
        if self.symbol_of.get(name).is_none() {
            self.symbol_of.set(name, id);
        }
        self.symbols_by_addr.insert(addr, id);
        mem
    }

    /// All symbols, in the order of their declaration.
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// Whether a symbol of this name was declared.
    pub fn has_symbol(&self, name: StrId) -> bool {
        self.symbol_of.get(name).is_some()
    }

    /// The symbol of this name; the first, if there are several.
    pub fn symbol_named(&self, name: StrId) -> Option<Symbol> {
        self.symbol_of.get(name).map(|id| self.symbols[id as usize])
    }

    /// The symbol that contains the byte at `addr`.
    pub fn symbol_at(&self, addr: u64) -> Option<Symbol> {
        let (_, &id) = self.symbols_by_addr.range(..=addr).next_back()?;
        let symbol = self.symbols[id as usize];
        (u128::from(addr) < symbol.mem.end()).then_some(symbol)
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

/// A map from string ids to other ids: dense, because most strings of a trace name something.
#[derive(Clone, Debug, Default)]
struct ByString(Vec<u32>);

impl ByString {
    #[inline]
    fn get(&self, key: StrId) -> Option<u32> {
        self.0.get(key.index()).copied().filter(|&id| id != u32::MAX)
    }

    fn set(&mut self, key: StrId, id: u32) {
        if self.0.len() <= key.index() {
            self.0.resize(key.index() + 1, u32::MAX);
        }
        self.0[key.index()] = id;
    }
}

/// Interned strings: one arena, one table of ids.
///
/// Most names are short. An entry of the table holds the first eight bytes and the length, which decide alone for names of
/// at most eight bytes; the arena is looked at only for longer ones.
#[derive(Clone, Debug, Default)]
struct Strings {
    arena: String,
    /// Where each string ends in the arena; it begins where the one before it ends.
    ends: Vec<usize>,
    ids: HashTable<Interned>,
}

#[derive(Clone, Copy, Debug)]
struct Interned {
    start: u64,
    len: u32,
    id: u32,
}

impl Strings {
    #[inline]
    fn get(&self, id: u32) -> &str {
        let id = id as usize;
        let Some(&end) = self.ends.get(id) else { return "" };
        let start = if id == 0 { 0 } else { self.ends[id - 1] };
        &self.arena[start..end]
    }

    #[inline]
    fn intern(&mut self, text: &str) -> u32 {
        let (start, len) = (first_bytes(text.as_bytes()), text.len() as u32);
        let hash = hash(text, start);
        let same = |known: &Interned| {
            known.start == start && known.len == len && (len <= 8 || self.get(known.id) == text)
        };
        match self.ids.find(hash, same) {
            Some(known) => known.id,
            None => self.add(text, hash, start),
        }
    }

    #[cold]
    fn add(&mut self, text: &str, hash_of_text: u64, start: u64) -> u32 {
        let id = self.ends.len() as u32;
        self.arena.push_str(text);
        self.ends.push(self.arena.len());
        let entry = Interned { start, len: text.len() as u32, id };
        let (arena, ends) = (&self.arena, &self.ends);
        self.ids.insert_unique(hash_of_text, entry, |known| {
            let end = ends[known.id as usize];
            hash(&arena[end - known.len as usize..end], known.start)
        });
        id
    }
}

/// The first eight bytes; of shorter texts all bytes, so that texts of the same length differ here if they differ.
#[inline]
fn first_bytes(bytes: &[u8]) -> u64 {
    if let Some(first) = bytes.first_chunk::<8>() {
        return u64::from_le_bytes(*first);
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        return u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32;
    }
    match *bytes {
        [] => 0,
        [a] => u64::from(a),
        [a, b] => u64::from_le_bytes([a, b, 0, 0, 0, 0, 0, 0]),
        [a, b, c, ..] => u64::from_le_bytes([a, b, c, 0, 0, 0, 0, 0]),
    }
}

#[inline]
fn hash(text: &str, start: u64) -> u64 {
    let mut hasher = FxHasher::default();
    if text.len() <= 8 {
        hasher.write_u64(start);
        hasher.write_usize(text.len());
    } else {
        hasher.write(text.as_bytes());
    }
    hasher.finish()
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
