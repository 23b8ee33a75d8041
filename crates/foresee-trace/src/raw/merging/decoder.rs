//! Decoding the records of one thread, in its order: from the bytes of its chunks.
//!
//! That is done in batches, in one tight loop, as nearly all records are a byte or a few.

use std::io;
use std::sync::Arc;

use foresee_format::near::{NearAccess, near_entered, near_key};
use foresee_format::places::{ATOMIC, FILLER, NOW, Said, is_whole, what};
use foresee_format::{CHUNK_HEADER_WORDS, DIGEST_SHIFT, ShortCall, Tag, UNSETTLED};

use super::joined::{Joined, Kept};
use super::read_places::ReadPlaces;
use super::record::{LONGEST, Record, SAW};
use crate::raw::raw_files::RawFiles;

/// How much of a thread's chunks is read at once: little at first, as there may be very many threads, then more.
const FIRST_WINDOW: u64 = 1 << 9;
const LAST_WINDOW: u64 = 1 << 14;
/// Likewise, how many records are decoded at once.
const FIRST_BATCH: usize = 1;

const NEAR_READ: u8 = Tag::NearRead as u8;
const NEAR_WRITE: u8 = Tag::NearWrite as u8;
const NEAR_READ_SEEN: u8 = Tag::NearReadSeen as u8;

/// Where decoding a thread's records has come to.
#[derive(Clone)]
pub(super) struct Decoder {
    /// The bodies of the thread's chunks, each from its first byte to its end, and which comes next.
    chunks: Vec<(u64, u64)>,
    next_chunk: usize,
    /// What of the current chunk is left to read.
    left: (u64, u64),
    window: Vec<u8>,
    next_window: u64,
    at: usize,
    /// Records that are decoded, and were not taken from here.
    ready: Vec<Record>,
    next_batch: usize,
    /// The key of the last record that was decoded.
    last_key: u64,
    /// The key of the last record as it was written, and what near records are near to.
    written_key: u64,
    near: NearAccess,
    /// The places that compact records are of; none before the first.
    places: ReadPlaces,
    /// The accesses that are recorded along with others, and the addresses that they are counted from.
    joined: Arc<Joined>,
    kept: Kept,
    /// The last access, until what follows it is decoded: only then those were done that were recorded along with it.
    last_access: Option<Record>,
    /// Whether the records of the current chunk go up to its end, and do not end with the thread.
    goes_on: bool,
    /// Whether the thread has ended: its last record is decoded.
    has_ended: bool,
    /// Whether a record that still waits for its value is not to be read yet.
    only_settled: bool,
    /// How many chunks nobody will read again.
    freed: usize,
    /// The byte of the file behind which the next chunk is missing, if it is.
    lost: Option<u64>,
}

/// Why a stream gave no record.
pub(super) enum Ended {
    /// There are no more.
    Done,
    /// There are no more, but the last chunk is full: there may have been another, which is lost.
    Cut,
    /// The next one, which has this key, still waits for its value.
    Unsettled(u64),
    /// At this byte of the file is no record.
    Bad(u64),
    /// There were more, but the chunk after this byte of the file is missing.
    Lost(u64),
}

/// The record that something compact is, if it is one.
fn record_at(said: Said, key: u64, len: usize) -> Option<Record> {
    let record = |tag| Some(Record { key, words: [0; 4], tag, detail: 0, length: len as u8 });
    match said {
        Said::Nothing | Said::Now(_) => None,
        Said::Exit => record(Tag::Exit),
        Said::Branch => record(Tag::Branch),
        Said::At(what, addr) => record_of(what, addr, [0; 2], key, len),
        Said::Atomic(what, addr, values, _) => record_of(what, addr, values, key, len),
        Said::Load(what, addr, value) => record_of(what, addr, [value; 2], key, len),
    }
}

/// The record of what is done somewhere, if it can be done.
#[inline(always)]
fn record_of(what: u64, addr: u64, [read, written]: [u64; 2], key: u64, len: usize) -> Option<Record> {
    let record = |tag, detail, words| Some(Record { key, words, tag, detail, length: len as u8 });
    let (detail, pc) = ((what >> 8) as u8, what >> 16);
    let at = Tag::from_number(what as u8)?;
    let atomic = |tag| record(tag, detail, [pc, addr, read, written]);
    match at {
        Tag::ReadAt => record(Tag::Read, detail, [pc, addr, 0, 0]),
        Tag::WriteAt => record(Tag::Write, detail, [pc, addr, 0, 0]),
        Tag::ReadRangeAt => record(Tag::ReadRange, 0, [pc, addr, detail.into(), 0]),
        Tag::WriteRangeAt => record(Tag::WriteRange, 0, [pc, addr, detail.into(), 0]),
        Tag::EnterAt => record(Tag::Enter, 0, [addr, pc, 0, 0]),
        Tag::NearLoad => atomic(Tag::Load),
        Tag::NearStore => atomic(Tag::Store),
        Tag::NearRmw => atomic(Tag::Rmw),
        _ => None,
    }
}

impl Default for Decoder {
    /// One that decodes nothing.
    fn default() -> Decoder {
        Decoder::new(0, false, Arc::default())
    }
}

impl Decoder {
    /// One without chunks; whether the trace `grows`.
    pub(super) fn new(version: u64, grows: bool, joined: Arc<Joined>) -> Decoder {
        Decoder {
            chunks: Vec::new(),
            next_chunk: 0,
            left: (0, 0),
            window: Vec::new(),
            next_window: FIRST_WINDOW,
            at: 0,
            ready: Vec::new(),
            next_batch: FIRST_BATCH,
            last_key: 0,
            written_key: 0,
            near: NearAccess::nowhere(),
            places: ReadPlaces::of_version(version),
            joined,
            kept: Kept::default(),
            last_access: None,
            goes_on: false,
            has_ended: false,
            only_settled: grows,
            freed: 0,
            lost: None,
        }
    }

    pub(super) fn add_chunk(&mut self, start: u64, end: u64) {
        self.chunks.push((start, end));
    }

    /// A chunk is missing after those that were added, behind this byte of the file.
    pub(super) fn set_lost(&mut self, offset: u64) {
        self.lost = Some(offset);
    }

    /// Knows of all chunks that the other decoder of the same thread knows of.
    pub(super) fn take_chunks_of(&mut self, other: &Decoder) {
        self.chunks.extend_from_slice(other.chunks.get(self.chunks.len()..).unwrap_or_default());
    }

    /// How many chunks it has begun to read.
    pub(super) fn chunks_passed(&self) -> usize {
        self.next_chunk
    }

    /// Whether the thread has ended: its last record is decoded.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// The key of the last record that was decoded.
    pub(super) fn last_key(&self) -> u64 {
        self.last_key
    }

    /// How many records the next batch has.
    pub(super) fn next_batch(&self) -> usize {
        self.next_batch
    }

    /// Lets go what was for records that are still to come.
    pub(super) fn let_go(&mut self) {
        self.ready = Vec::new();
        self.forget_window();
        self.places = self.places.anew();
    }

    /// The chunks that were read to their ends since the last call, with their headers: nobody will ask for them again. `is_over` says whether the last one was.
    pub(super) fn take_read(&mut self, is_over: bool) -> impl Iterator<Item = (u64, u64)> + '_ {
        let from = self.freed;
        let read = if is_over { self.next_chunk } else { self.next_chunk.saturating_sub(1) };
        self.freed = read.max(from);
        let read = self.chunks.get(from..self.freed).unwrap_or_default();
        read.iter().map(|&(start, end)| (start - 8 * CHUNK_HEADER_WORDS as u64, end))
    }

    /// What was read ahead may have changed. Whether the trace still `grows`.
    pub(super) fn look_again(&mut self, grows: bool) {
        if self.only_settled {
            self.forget_window();
        }
        self.only_settled = grows;
    }

    fn forget_window(&mut self) {
        self.left.0 -= (self.window.len() - self.at) as u64;
        self.window = Vec::new();
        self.at = 0;
    }

    /// What comes after the records that were decoded counts as made at this key, if theirs is smaller.
    pub(super) fn delay(&mut self, key: u64) {
        self.last_key = self.last_key.max(key);
        if let Some(record) = &mut self.last_access {
            record.key = record.key.max(key);
        }
    }

    /// Decodes the next records, `most` at most, and puts them in the place of these; why there are none, if so.
    pub(super) fn decode_batch(
        &mut self,
        files: &RawFiles,
        records: &mut Vec<Record>,
        most: usize,
    ) -> io::Result<Result<(), Ended>> {
        records.clear();
        self.ready = std::mem::take(records);
        let decoded = self.decode_some(files, most);
        *records = std::mem::take(&mut self.ready);
        decoded
    }

    fn decode_some(&mut self, files: &RawFiles, most: usize) -> io::Result<Result<(), Ended>> {
        while self.ready.len() < self.next_batch {
            if self.decode_near() {
                continue;
            }
            match self.decode(files)? {
                Ok(()) => {}
                // What ended it will do so again.
                Err(_) if !self.ready.is_empty() => return Ok(Ok(())),
                Err(ended) => {
                    self.ready = Vec::new();
                    if !self.only_settled {
                        self.places = self.places.anew();
                    }
                    return Ok(Err(ended));
                }
            }
        }
        self.next_batch = (2 * self.next_batch).min(most);
        Ok(Ok(()))
    }

    /// Goes on to the last record that is there.
    pub(super) fn skip_all(&mut self, files: &RawFiles) -> io::Result<()> {
        while self.decode_near() || self.decode(files)?.is_ok() {
            self.ready.clear();
        }
        if self.has_ended {
            self.let_go();
        }
        Ok(())
    }

    /// Decodes the usual records, which have the key of those before them, as long as there are some; whether there was one.
    #[inline]
    fn decode_near(&mut self) -> bool {
        let before = self.at;
        let key = near_key(self.written_key);
        let most = key.max(self.last_key);
        while self.ready.len() < self.next_batch {
            let Some(&first) = self.window.get(self.at..).and_then(<[u8]>::first_chunk) else { break };
            let first = u64::from_le_bytes(first);
            let (tag, (pc, addr, detail), saw) = match first as u8 {
                // Others have keys of their own.
                code if code >= FILLER && code != ATOMIC && code != NOW => {
                    if let Some((what, addr, len)) = self.places.read_usual(first) {
                        if let Some(record) = record_of(what, addr, [0; 2], most, len) {
                            self.push(record);
                        }
                        self.at += len;
                        continue;
                    }
                    let Some((said, len)) = self.places.read(first) else { break };
                    if let Some(record) = record_at(said, most, len) {
                        self.push(record);
                    }
                    self.at += len;
                    continue;
                }
                NEAR_READ => (Tag::Read, self.near.decode(first), 0),
                NEAR_WRITE => (Tag::Write, self.near.decode(first), 0),
                NEAR_READ_SEEN => {
                    let (pc, addr, size, digest) = self.near.decode_seen(first);
                    (Tag::Read, (pc, addr, size), SAW | u64::from(digest))
                }
                _ => break,
            };
            self.near.set(pc, addr);
            self.ready.push(Record { key: most, words: [pc, addr, saw, 0], tag, detail, length: 8 });
            self.at += 8;
        }
        if self.at == before {
            return false;
        }
        (self.written_key, self.last_key, self.goes_on) = (key, most, true);
        true
    }

    /// Decodes a record, or goes on to the next chunk.
    #[inline]
    fn decode(&mut self, files: &RawFiles) -> io::Result<Result<(), Ended>> {
        if self.window.len() - self.at < 8 * LONGEST {
            self.fill(files)?;
        }
        let bytes = self.window.get(self.at..).unwrap_or_default();
        let code = bytes.first().copied().unwrap_or_default();
        if code == 0 {
            let next = self.next_chunk();
            return Ok(if next.is_err() && self.complete_last() { Ok(()) } else { next });
        }
        let (there, _) = bytes.as_chunks::<8>();
        if code >= FILLER {
            return Ok(self.decode_compact());
        }
        let first = there.first().map_or(0, |&first| u64::from_le_bytes(first));
        let known = Tag::from_number(first as u8);
        let Some((tag, there)) = known.and_then(|tag| Some((tag, there.get(1..tag.words())?))) else {
            return Ok(Err(self.bad()));
        };
        let mut words = [0; LONGEST - 1];
        for (word, &bytes) in words.iter_mut().zip(there) {
            *word = u64::from_le_bytes(bytes);
        }
        let is_value = matches!(tag, Tag::ReadValue | Tag::WriteValue);
        if self.only_settled && is_value && (first >> 8) as u8 & UNSETTLED != 0 {
            return Ok(Err(Ended::Unsettled(first >> 16)));
        }
        if tag.is_short_call() && ShortCall::read((first >> 8) as u8, words).is_none() {
            return Ok(Err(self.bad()));
        }
        self.at += 8 * tag.words();
        self.goes_on = tag != Tag::End;
        self.has_ended |= tag == Tag::End;
        self.record(tag, first, words);
        Ok(Ok(()))
    }

    /// Decodes a compact record that is the last of the window.
    fn decode_compact(&mut self) -> Result<(), Ended> {
        let bytes = self.window.get(self.at..).unwrap_or_default();
        let mut word = [0; 8];
        word.iter_mut().zip(bytes).for_each(|(byte, &there)| *byte = there);
        let word = u64::from_le_bytes(word);
        if self.only_settled && !is_whole(word) {
            self.forget_window();
            return Err(Ended::Done);
        }
        let Some((said, len)) = self.places.read(word).filter(|&(_, len)| len <= bytes.len()) else {
            return Err(self.bad());
        };
        let by = match said {
            Said::Atomic(.., steps) => 2 * steps + 1,
            Said::Now(steps) => 2 * steps,
            _ => 0,
        };
        self.written_key = near_key(self.written_key).saturating_add(by);
        self.last_key = self.last_key.max(self.written_key);
        self.goes_on = true;
        if let Some(record) = record_at(said, self.last_key, len) {
            self.push(record);
        }
        self.at += len;
        Ok(())
    }

    /// There is no record here.
    fn bad(&self) -> Ended {
        Ended::Bad(self.left.0 - (self.window.len() - self.at) as u64)
    }

    /// At the end of a chunk's records: goes on with the next chunk.
    fn next_chunk(&mut self) -> Result<(), Ended> {
        let Some(&(start, end)) = self.chunks.get(self.next_chunk) else {
            let rest = self.left.1 - self.left.0 + (self.window.len() - self.at) as u64;
            let full = rest < 8 * LONGEST as u64;
            self.forget_window();
            return Err(match self.lost {
                Some(offset) => Ended::Lost(offset),
                None if self.goes_on && full => Ended::Cut,
                None => Ended::Done,
            });
        };
        self.next_chunk += 1;
        self.near.forget();
        self.places = self.places.anew();
        self.left = (start, end);
        self.window.clear();
        self.at = 0;
        Ok(())
    }

    /// What a record says, unless it says something only to those after it.
    #[inline]
    fn record(&mut self, tag: Tag, first: u64, mut words: [u64; LONGEST - 1]) {
        let mut detail = (first >> 8) as u8;
        let has_key = !matches!(
            tag,
            Tag::NearRead
                | Tag::NearWrite
                | Tag::NearEnter
                | Tag::NearExit
                | Tag::NearBranch
                | Tag::NearReadSeen
                | Tag::ReadAt
                | Tag::WriteAt
                | Tag::ReadRangeAt
                | Tag::WriteRangeAt
                | Tag::EnterAt
        );
        self.written_key = if has_key { first >> 16 } else { near_key(self.written_key) };
        let said = match tag {
            Tag::ReadAt | Tag::WriteAt | Tag::ReadRangeAt | Tag::WriteRangeAt | Tag::EnterAt => {
                let addr = self.places.note_full(first, words[0]);
                self.last_key = self.last_key.max(self.written_key);
                if let Some(record) = record_at(Said::At(first, addr), self.last_key, 8 * tag.words()) {
                    self.push(record);
                }
                return;
            }
            Tag::NearRead | Tag::NearWrite => {
                (words[0], words[1], detail) = self.near.decode(first);
                if tag == Tag::NearRead { Tag::Read } else { Tag::Write }
            }
            Tag::NearEnter => {
                (words[0], words[1]) = near_entered(self.near.pc(), first);
                Tag::Enter
            }
            Tag::ReadSeen => {
                words[2] = SAW | words[0] >> DIGEST_SHIFT;
                words[0] &= (1 << DIGEST_SHIFT) - 1;
                Tag::Read
            }
            Tag::NearReadSeen => {
                let digest;
                (words[0], words[1], detail, digest) = self.near.decode_seen(first);
                words[2] = SAW | u64::from(digest);
                Tag::Read
            }
            Tag::NearExit => Tag::Exit,
            Tag::NearBranch => Tag::Branch,
            Tag::NearLoad | Tag::NearStore | Tag::NearRmw => {
                words = self.near.decode_atomic(words[0]);
                match tag {
                    Tag::NearLoad => Tag::Load,
                    Tag::NearStore => Tag::Store,
                    _ => Tag::Rmw,
                }
            }
            Tag::CallAlone | Tag::CallWith1 | Tag::CallWith2 | Tag::CallWith3 => {
                return self.short_call(detail, words, 8 * tag.words() as u8);
            }
            Tag::Now => return,
            _ => tag,
        };
        if let Tag::Read | Tag::Write | Tag::Load | Tag::Store | Tag::Rmw = said {
            self.near.set(words[0], words[1]);
        }
        if let Some(near) = said.near_atomic() {
            self.places.note_atomic(what(near, detail, words[0]), words[1], words[2]);
        }
        // A signal handler may have stamped later and written earlier.
        self.last_key = self.last_key.max(self.written_key);
        self.push(Record { key: self.last_key, words, tag: said, detail, length: 8 * tag.words() as u8 });
    }

    /// A call in one record says what several would: its values have its key, as they were taken for it.
    fn short_call(&mut self, detail: u8, words: [u64; LONGEST - 1], length: u8) {
        self.last_key = self.last_key.max(self.written_key);
        let key = self.last_key;
        let Some(call) = ShortCall::read(detail, words) else { return };
        for (detail, value) in call.arguments() {
            self.push(Record { key, words: [value, 0, 0, 0], tag: Tag::Arg, detail, length: 0 });
        }
        let words = [call.pc, call.hook, 0, 0];
        self.push(Record { key, words, tag: Tag::Call, detail: call.detail, length });
    }

    /// A record is decoded, and with it the accesses that were recorded along with the one before. A thread that was ended there may not have done them. (While the trace
    /// is still written, they come at once, as their keys are those of that one.)
    #[inline]
    fn push(&mut self, record: Record) {
        if let Some(before) = self.last_access.take() {
            self.joined.follow(before, &mut self.kept, &mut self.ready);
        }
        self.ready.push(record);
        if !self.joined.may_follow(&record) {
            return;
        }
        if self.only_settled {
            self.joined.follow(record, &mut self.kept, &mut self.ready);
        } else {
            self.last_access = Some(record);
        }
    }

    /// At the end of a thread's records: adds what was recorded along with the last access, if that was done. Whether there was something.
    fn complete_last(&mut self) -> bool {
        let before = self.ready.len();
        if !self.only_settled
            && self.joined.are_last_done()
            && let Some(last) = self.last_access.take()
        {
            self.joined.follow(last, &mut self.kept, &mut self.ready);
        }
        self.ready.len() > before
    }

    /// Reads on in the current chunk; a file that is shorter than the chunk ends it.
    fn fill(&mut self, files: &RawFiles) -> io::Result<()> {
        let len = self.next_window.min(self.left.1 - self.left.0) as usize;
        if len == 0 {
            return Ok(());
        }
        self.next_window = (2 * self.next_window).min(LAST_WINDOW);
        self.window.drain(..self.at);
        self.at = 0;
        let kept = self.window.len();
        self.window.resize(kept + len, 0);
        let mut got = 0;
        while got < len {
            match files.read_at(&mut self.window[kept + got..], self.left.0 + got as u64) {
                Ok(0) => break,
                Ok(n) => got += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.window.truncate(kept + got);
        self.left.0 += got as u64;
        if got < len {
            self.left.1 = self.left.0;
        }
        Ok(())
    }
}
