//! Names, facts and trust as block payloads.
//!
//! A names block holds what is new since the block before it, table by table; ids follow from position, so nothing but
//! the names themselves is stored.

use super::Bad;
use super::varint::{Cursor, put, put_str};
use crate::ids::StrId;
use crate::names::{Location, Names};
use crate::source::Facts;
use crate::trust::{Gap, Trust};

/// A payload with more bytes of strings than this ends there.
const PIECE: usize = 1 << 22;

/// How much of each table has been written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Written {
    strings: usize,
    threads: usize,
    locks: usize,
    locations: usize,
    symbols: usize,
}

impl Written {
    /// What a reader knows before the first block: the empty string and the unknown location.
    pub(crate) fn nothing() -> Written {
        Written { strings: 1, locations: 1, ..Written::default() }
    }

    fn all(names: &Names) -> Written {
        Written {
            strings: names.string_count(),
            threads: names.threads().len(),
            locks: names.locks().len(),
            locations: names.locations().len(),
            symbols: names.symbols().len(),
        }
    }

    /// The next payload with what is new in `names`, or nothing if nothing is. Many strings take several payloads, of
    /// which the last has the other tables.
    pub(crate) fn update(&mut self, names: &Names) -> Option<Vec<u8>> {
        let mut now = Written::all(names);
        if now == *self {
            return None;
        }
        let mut strings = Vec::new();
        for id in self.strings..now.strings {
            put_str(&mut strings, names.str(StrId(id as u32)));
            if strings.len() > PIECE {
                now = Written { strings: id + 1, ..*self };
                break;
            }
        }
        let mut out = Vec::with_capacity(strings.len() + 16);
        put(&mut out, (now.strings - self.strings) as u64);
        out.append(&mut strings);
        put(&mut out, (now.threads - self.threads) as u64);
        for name in &names.threads()[self.threads..now.threads] {
            put(&mut out, u64::from(name.0));
        }
        put(&mut out, (now.locks - self.locks) as u64);
        for name in &names.locks()[self.locks..now.locks] {
            put(&mut out, u64::from(name.0));
        }
        put(&mut out, (now.locations - self.locations) as u64);
        for at in &names.locations()[self.locations..now.locations] {
            for part in [at.file.0, at.line, at.column, at.function.0] {
                put(&mut out, u64::from(part));
            }
        }
        put(&mut out, (now.symbols - self.symbols) as u64);
        for symbol in &names.symbols()[self.symbols..now.symbols] {
            put(&mut out, u64::from(symbol.name.0));
            put(&mut out, symbol.mem.addr);
            put(&mut out, u64::from(symbol.mem.size));
        }
        *self = now;
        Some(out)
    }
}

/// Adds the contents of a names block.
pub(crate) fn read_names(payload: &[u8], names: &mut Names) -> Result<(), Bad> {
    let mut cursor = Cursor::new(payload);
    for _ in 0..count(&mut cursor)? {
        let before = names.string_count();
        names.intern(cursor.get_str()?);
        if names.string_count() == before {
            return Err(Bad::new("a string stands twice"));
        }
    }
    for _ in 0..count(&mut cursor)? {
        let name = string(&mut cursor, names)?;
        names.new_thread(name);
    }
    for _ in 0..count(&mut cursor)? {
        let name = string(&mut cursor, names)?;
        names.new_lock(name);
    }
    for _ in 0..count(&mut cursor)? {
        let file = string(&mut cursor, names)?;
        let (line, column) = (cursor.get_u32()?, cursor.get_u32()?);
        let function = string(&mut cursor, names)?;
        let before = names.locations().len();
        names.location(Location { file, line, column, function });
        if names.locations().len() == before {
            return Err(Bad::new("a location stands twice"));
        }
    }
    for _ in 0..count(&mut cursor)? {
        let name = string(&mut cursor, names)?;
        let addr = cursor.get()?;
        let size = cursor.get_u32()?;
        names.declare_symbol(name, Some(addr), size);
    }
    end(&cursor)
}

pub(crate) fn write_facts(facts: &Facts) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, facts.len() as u64);
    for (key, value) in facts {
        put_str(&mut out, key);
        put_str(&mut out, value);
    }
    out
}

pub(crate) fn read_facts(payload: &[u8]) -> Result<Facts, Bad> {
    let mut cursor = Cursor::new(payload);
    let mut facts = Facts::new();
    for _ in 0..count(&mut cursor)? {
        facts.push((cursor.get_str()?.to_owned(), cursor.get_str()?.to_owned()));
    }
    end(&cursor)?;
    Ok(facts)
}

pub(crate) fn write_trust(trust: &Trust) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, trust.gaps().len() as u64);
    trust.gaps().iter().for_each(|gap| put_str(&mut out, &gap.code()));
    out
}

pub(crate) fn read_trust(payload: &[u8]) -> Result<Trust, Bad> {
    let mut cursor = Cursor::new(payload);
    let mut trust = Trust::whole();
    for _ in 0..count(&mut cursor)? {
        let gap = Gap::of_code(cursor.get_str()?);
        trust.add(gap.ok_or_else(|| Bad::new("the trace lacks something, but it is unknown what"))?);
    }
    end(&cursor)?;
    Ok(trust)
}

/// A number of records; each takes at least a byte, so more than there are bytes is a lie.
pub(crate) fn count(cursor: &mut Cursor<'_>) -> Result<u64, Bad> {
    let count = cursor.get()?;
    if count > cursor.remaining() as u64 {
        return Err(Bad::new("a table claims more entries than its block has bytes"));
    }
    Ok(count)
}

pub(crate) fn end(cursor: &Cursor<'_>) -> Result<(), Bad> {
    if cursor.is_empty() { Ok(()) } else { Err(Bad::new("a block has bytes left over")) }
}

fn string(cursor: &mut Cursor<'_>, names: &Names) -> Result<StrId, Bad> {
    let id = cursor.get_u32()?;
    if (id as usize) < names.string_count() { Ok(StrId(id)) } else { Err(Bad::new("a string id is unknown")) }
}
