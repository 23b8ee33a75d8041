//! The chunks of a raw trace: whose each is, and the texts in some of them.
//!
//! Of a trace that is still written, the scan stops where it cannot be sure, and goes on from there the next time: at a
//! chunk whose header is not there yet, and at one that may still be cut (`format::SHARED_FROM`).

use std::cmp::Reverse;
use std::fs::File;
use std::os::unix::fs::FileExt as _;

use super::format::{
    CHUNK_HEADER_WORDS, CHUNK_MAGIC, FREE_OWNER, HEADER_LEN, KEY_WORD, LEN_WORD, MAX_CHUNK, MAX_THREADS,
    OWNER_WORD, SHARED_FROM, TEXT_FACTS, TEXT_MAPS, TEXT_OWNER, UNIT,
};
use crate::{Damage, Facts, TraceError};

/// The longest text that is read: facts or maps.
const MAX_TEXT: u64 = 1 << 24;

/// A chunk of records: whose, and from which byte to which.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk {
    pub(super) owner: u64,
    /// From which key on it is the owner's, if chunks are used again.
    key: u64,
    pub(super) start: u64,
    pub(super) end: u64,
}

/// What is in the file's chunks, before any record is read.
pub(super) struct Chunks {
    /// Where the scan goes on.
    offset: u64,
    /// What the scan has found; the reader takes it.
    pub(super) found: Vec<Chunk>,
    pub(super) facts: Facts,
    /// The copies of `/proc/self/maps` and their keys, the last one first.
    pub(super) maps: Vec<(u64, String)>,
    pub(super) damage: Option<Damage>,
}

impl Chunks {
    pub(super) fn new() -> Chunks {
        Chunks {
            offset: HEADER_LEN,
            found: Vec::new(),
            facts: Facts::default(),
            maps: Vec::new(),
            damage: None,
        }
    }

    /// Goes on up to the end of the file, which has so many bytes. While the trace `grows`, it may end earlier; then the
    /// answer is `false`.
    pub(super) fn scan(&mut self, file: &File, bytes: u64, grows: bool) -> Result<bool, TraceError> {
        while self.damage.is_none() && self.offset + 8 * CHUNK_HEADER_WORDS as u64 <= bytes {
            let mut header = [0; 8 * CHUNK_HEADER_WORDS];
            file.read_exact_at(&mut header, self.offset)?;
            let word = |i: usize| header.as_chunks::<8>().0.get(i).map_or(0, |b| u64::from_le_bytes(*b));
            let (magic, owner, len) = (word(0), word(OWNER_WORD), word(LEN_WORD));
            if magic == 0 {
                if grows {
                    return Ok(false);
                }
                // Whoever wanted this chunk did not live to use it, or nobody wanted the rest of one.
                self.offset = (self.offset + 1).next_multiple_of(UNIT);
                continue;
            }
            let longest = if owner == TEXT_OWNER { MAX_TEXT } else { MAX_CHUNK };
            let fits = len >= 8 * CHUNK_HEADER_WORDS as u64 && len.is_multiple_of(8) && len <= longest;
            let is_owner = owner < MAX_THREADS || matches!(owner, TEXT_OWNER | FREE_OWNER);
            if magic != CHUNK_MAGIC || !fits || !is_owner {
                let what = "not a chunk".to_owned();
                self.damage = Some(Damage { offset: self.offset, what, delivered: 0 });
                break;
            }
            let start = self.offset + 8 * CHUNK_HEADER_WORDS as u64;
            let end = (self.offset + len).min(bytes);
            if grows && (end < self.offset + len || (owner >= SHARED_FROM && owner != TEXT_OWNER)) {
                return Ok(false);
            }
            if end < self.offset + len {
                let what = "the file ends within a chunk".to_owned();
                self.damage = Some(Damage { offset: end, what, delivered: 0 });
            }
            if owner == TEXT_OWNER {
                let is_there = self.text(file, word(KEY_WORD), start, end)?;
                if grows && !is_there {
                    return Ok(false);
                }
            } else if owner != FREE_OWNER {
                self.found.push(Chunk { owner, key: word(KEY_WORD), start, end });
            }
            self.offset += len;
        }
        self.found.sort_by_key(|chunk| chunk.key);
        self.maps.sort_by_key(|&(key, _)| Reverse(key));
        Ok(true)
    }

    /// Reads a text; whether it is there, and not only its place.
    fn text(&mut self, file: &File, key: u64, start: u64, end: u64) -> Result<bool, TraceError> {
        let mut text = vec![0; (end - start) as usize];
        file.read_exact_at(&mut text, start)?;
        let (words, _) = text.as_chunks::<8>();
        let [kind, len, ..] = words else { return Ok(false) };
        let (kind, len) = (u64::from_le_bytes(*kind), u64::from_le_bytes(*len));
        let Some(body) = text.get(16..).and_then(|body| body.get(..usize::try_from(len).ok()?)) else {
            return Ok(false);
        };
        match kind {
            TEXT_FACTS => {
                let parts: Vec<_> = body.split(|&byte| byte == 0).map(String::from_utf8_lossy).collect();
                let (pairs, _) = parts.as_chunks::<2>();
                self.facts.extend(pairs.iter().map(|[name, value]| (name.to_string(), value.to_string())));
            }
            TEXT_MAPS => self.maps.push((key, String::from_utf8_lossy(body).into_owned())),
            _ => {}
        }
        Ok(kind != 0)
    }
}
