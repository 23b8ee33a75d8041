//! The chunks of a raw trace: whose each is, and the texts in some of them.
//!
//! Of a trace that is still written, the scan stops where it cannot be sure, and goes on from there the next time: at a
//! chunk whose header is not there yet, and at a thread's first, unless it is said that chunks stay as they are ([`RunFlags::CHUNKS_STAY`]).
//! Once it is complete, homes and their copies are put in order.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use foresee_format::{
    CHUNK_HEADER_WORDS, CHUNK_MAGIC, FREE_OWNER, HEADER_LEN, KEY_WORD, LEN_WORD, MAX_CHUNK, MAX_THREADS,
    OWNER_WORD, PAGE, RunFlags, TEXT_CALLS, TEXT_FACTS, TEXT_IMAGE, TEXT_JOINED, TEXT_MAPS, TEXT_OWNER, TURN,
};

use super::joined::Joined;
use crate::raw::raw_files::RawFiles;
use crate::source::Facts;
use crate::{Damage, TraceError};

/// Whether a file is still written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Growth {
    Growing,
    Complete,
}

/// The longest text that is read: facts or maps.
const MAX_TEXT: u64 = 1 << 24;

/// A chunk of records: whose, and from which byte to which.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk {
    pub(super) owner: u64,
    /// From which key on it is the owner's, if chunks are used again; its turn and `TURN`, if it is a home or a copy.
    key: u64,
    pub(super) start: u64,
    pub(super) end: u64,
}

impl Chunk {
    /// Its turn, or 0.
    fn turn(self) -> u64 {
        self.key.saturating_sub(TURN)
    }
}

/// The fact that says that the program records its branches.
const BRANCHES_FACT: &str = "branches";

/// The facts that said before version 4 what flags in the header say since.
const FLAG_FACTS: [(&str, RunFlags); 3] = [
    ("rust", RunFlags::IS_RUST),
    (BRANCHES_FACT, RunFlags::HAS_BRANCHES),
    ("left out", RunFlags::ACCESSES_LEFT_OUT),
];

/// What is in the file's chunks, before any record is read.
pub(super) struct Chunks {
    /// Where the scan goes on.
    offset: u64,
    /// What the scan has found; the reader takes it.
    pub(super) found: Vec<Chunk>,
    /// Threads of which a chunk is missing after those found, and the byte of the file after which it would be.
    pub(super) lost: Vec<(u64, u64)>,
    pub(super) facts: Facts,
    /// What hooks record, by their numbers: the names of parameters, and the function.
    pub(super) calls: Vec<[String; 2]>,
    /// The accesses that are recorded along with others.
    pub(super) joined: Arc<Joined>,
    /// What the program's data is at the beginning, as texts have it.
    pub(super) images: Vec<Vec<u8>>,
    /// What is known of the run from its beginning on: from the header, or from facts.
    pub(super) flags: RunFlags,
    /// The copies of `/proc/self/maps` and their keys, the last one first.
    pub(super) maps: Vec<(u64, String)>,
    pub(super) damage: Option<Damage>,
}

impl Chunks {
    pub(super) fn new() -> Chunks {
        Chunks {
            offset: HEADER_LEN,
            found: Vec::new(),
            lost: Vec::new(),
            facts: Facts::default(),
            calls: Vec::new(),
            joined: Arc::default(),
            images: Vec::new(),
            flags: RunFlags::NONE,
            maps: Vec::new(),
            damage: None,
        }
    }

    /// Goes on up to the end of the file, which has so many bytes. While the trace grows, it may end earlier; then the
    /// answer is `false`. It is known to have lost its end if it `is_short`.
    pub(super) fn scan(
        &mut self,
        files: &RawFiles,
        bytes: u64,
        growth: Growth,
        is_short: bool,
    ) -> Result<bool, TraceError> {
        let grows = growth == Growth::Growing;
        while self.damage.is_none() && self.offset + 8 * CHUNK_HEADER_WORDS as u64 <= bytes {
            let mut header = [0; 8 * CHUNK_HEADER_WORDS];
            files.read_exact_at(&mut header, self.offset)?;
            let word = |i: usize| header.as_chunks::<8>().0.get(i).map_or(0, |b| u64::from_le_bytes(*b));
            let (magic, owner, len) = (word(0), word(OWNER_WORD), word(LEN_WORD));
            if magic == 0 {
                if grows {
                    return Ok(false);
                }
                // Whoever wanted this chunk did not live to use it, or nobody wanted the rest of one.
                self.offset = (self.offset + 1).next_multiple_of(PAGE);
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
            let may_change = owner != TEXT_OWNER && !self.flags.contains(RunFlags::CHUNKS_STAY);
            if grows && (end < self.offset + len || may_change) {
                return Ok(false);
            }
            if owner == TEXT_OWNER {
                self.cut_short(bytes, self.offset + len);
                let is_there = self.text(files, word(KEY_WORD), start, end)?;
                if grows && !is_there {
                    return Ok(false);
                }
            } else if owner != FREE_OWNER {
                self.found.push(Chunk { owner, key: word(KEY_WORD), start, end: self.offset + len });
            }
            self.offset += len;
        }
        self.found.sort_by_key(|chunk| chunk.key);
        self.order_homes(is_short);
        self.cut_chunks(bytes);
        self.maps.sort_by_key(|&(key, _)| Reverse(key));
        Ok(true)
    }

    /// Makes a fact of the flag that people want to know of.
    pub(super) fn describe_flags(&mut self) {
        let is_known = self.facts.iter().any(|(name, _)| name == BRANCHES_FACT);
        if self.flags.contains(RunFlags::HAS_BRANCHES) && !is_known {
            self.facts.push((BRANCHES_FACT.to_owned(), "yes".to_owned()));
        }
    }

    /// Notes where the file is damaged; the first damage counts.
    pub(super) fn note_damage(&mut self, offset: u64, what: &str) {
        self.damage.get_or_insert_with(|| Damage { offset, what: what.to_owned(), delivered: 0 });
    }

    /// Puts the chunks of threads that have homes in their order.
    fn order_homes(&mut self, is_short: bool) {
        if self.found.iter().all(|chunk| chunk.turn() == 0) {
            return;
        }
        let mut of_thread: BTreeMap<u64, Vec<Chunk>> = BTreeMap::new();
        for chunk in self.found.drain(..) {
            of_thread.entry(chunk.owner).or_default().push(chunk);
        }
        for (thread, mut chunks) in of_thread {
            in_order(&mut chunks);
            let there = before_a_gap(&chunks, is_short);
            if there < chunks.len() {
                let end = chunks[..there].last().map_or(HEADER_LEN, |chunk| chunk.end);
                self.lost.push((thread, end));
            }
            self.found.extend_from_slice(&chunks[..there]);
        }
    }

    /// Of chunks that the file does not have to their ends, keeps what is there, and nothing of their threads after it.
    fn cut_chunks(&mut self, bytes: u64) {
        let mut ended: Vec<u64> = Vec::new();
        let mut found = std::mem::take(&mut self.found);
        found.retain_mut(|chunk| {
            let is_there = !ended.contains(&chunk.owner);
            if is_there && chunk.end > bytes {
                self.cut_short(bytes, chunk.end);
                chunk.end = bytes;
                ended.push(chunk.owner);
            }
            is_there
        });
        self.found = found;
    }

    fn cut_short(&mut self, bytes: u64, end: u64) {
        if end > bytes {
            let what = "the file ends within a chunk".to_owned();
            self.damage = Some(Damage { offset: bytes, what, delivered: 0 });
        }
    }

    /// Reads a text; whether it is there, and not only its place.
    fn text(&mut self, files: &RawFiles, key: u64, start: u64, end: u64) -> Result<bool, TraceError> {
        let mut text = vec![0; (end - start) as usize];
        files.read_exact_at(&mut text, start)?;
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
                for [name, value] in pairs {
                    match FLAG_FACTS.iter().find(|(fact, _)| fact == name) {
                        Some(&(_, flag)) => self.flags = self.flags.with_if(flag, true),
                        None => self.facts.push((name.to_string(), value.to_string())),
                    }
                }
            }
            TEXT_MAPS => self.maps.push((key, String::from_utf8_lossy(body).into_owned())),
            TEXT_IMAGE => self.images.push(body.to_vec()),
            TEXT_CALLS => {
                let parts: Vec<_> = body.split(|&byte| byte == 0).map(String::from_utf8_lossy).collect();
                let (pairs, _) = parts.as_chunks::<2>();
                self.calls = pairs.iter().map(|pair| pair.clone().map(String::from)).collect();
            }
            TEXT_JOINED => self.joined = Arc::new(Joined::from_text(body)),
            _ => {}
        }
        Ok(kind != 0)
    }
}

/// Drops those of a thread's chunks that are not whole or are copied elsewhere: `foresee_format` has the rules. They are given by their
/// turns, and of one turn by where they are.
fn in_order(chunks: &mut Vec<Chunk>) {
    let latest = chunks.last().map_or(0, |chunk| chunk.turn());
    if latest == 0 {
        return;
    }
    let home = chunks.iter().find(|chunk| chunk.turn() == latest).copied();
    chunks.retain(|chunk| chunk.turn() < latest);
    // Of copies with the same turn the last.
    chunks.reverse();
    chunks.dedup_by(|earlier, later| later.turn() != 0 && later.turn() == earlier.turn());
    chunks.reverse();
    chunks.extend(home.filter(|home| home.turn() % 2 == 1));
}

/// How many of a thread's chunks there are before the first that is missing: turns are 1, 3, 5 and so on, after chunks without.
/// A thread that was kept from using its first home may begin with another, if the file is not known to have lost its end.
fn before_a_gap(chunks: &[Chunk], is_short: bool) -> usize {
    let mut expected = if is_short { Some(1) } else { None };
    let is_not_next = |chunk: &Chunk| {
        let before = if chunk.turn() == 0 { None } else { expected.replace(chunk.turn() + 2) };
        before.is_some_and(|turn| turn != chunk.turn())
    };
    chunks.iter().position(is_not_next).unwrap_or(chunks.len())
}
