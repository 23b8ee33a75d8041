//! Strings, each stored once, and tables by string.

use std::hash::Hasher as _;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use crate::ids::StrId;

/// A map from string ids to other ids: dense, because most strings of a trace name something.
#[derive(Clone, Debug, Default)]
pub(super) struct ByString(Vec<u32>);

impl ByString {
    #[inline]
    pub(super) fn get(&self, key: StrId) -> Option<u32> {
        self.0.get(key.index()).copied().filter(|&id| id != u32::MAX)
    }

    pub(super) fn set(&mut self, key: StrId, id: u32) {
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
pub(super) struct Strings {
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
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    #[inline]
    pub(super) fn get(&self, id: StrId) -> &str {
        let id = id.index();
        let Some(&end) = self.ends.get(id) else { return "" };
        let start = if id == 0 { 0 } else { self.ends[id - 1] };
        &self.arena[start..end]
    }

    #[inline]
    pub(super) fn intern(&mut self, text: &str) -> StrId {
        let (start, len) = (first_bytes(text.as_bytes()), text.len() as u32);
        let hash = hash(text, start);
        let same = |known: &Interned| {
            known.start == start && known.len == len && (len <= 8 || self.get(StrId(known.id)) == text)
        };
        match self.ids.find(hash, same) {
            Some(known) => StrId(known.id),
            None => StrId(self.add(text, hash, start)),
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
