//! The records of one thread, in its order, read a little at a time.
//!
//! Whoever merges threads asks each for its next record very often. So records are decoded in batches, in one tight loop, and
//! then only taken from a list.

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
const LAST_BATCH: usize = 1 << 7;

const NEAR_READ: u8 = Tag::NearRead as u8;
const NEAR_WRITE: u8 = Tag::NearWrite as u8;
const NEAR_READ_SEEN: u8 = Tag::NearReadSeen as u8;

#[derive(Clone)]
pub(crate) struct Stream {
    pub(crate) thread: u64,
    /// The bodies of the thread's chunks, each from its first byte to its end, and which comes next.
    chunks: Vec<(u64, u64)>,
    next_chunk: usize,
    /// What of the current chunk is left to read.
    left: (u64, u64),
    window: Vec<u8>,
    next_window: u64,
    at: usize,
    /// Records that are decoded, and how many of them are taken.
    ready: Vec<Record>,
    taken: usize,
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
    /// How many of the records that come next are delayed.
    delayed: usize,
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
#[inline]
fn record_at(said: Said, key: u64, len: usize) -> Option<Record> {
    let record = |tag, detail, words| Some(Record { key, words, tag, detail, length: len as u8 });
    let (what, addr) = match said {
        Said::Nothing | Said::Now(_) => return None,
        Said::Exit => return record(Tag::Exit, 0, [0; 4]),
        Said::Branch => return record(Tag::Branch, 0, [0; 4]),
        Said::At(what, addr) | Said::Atomic(what, addr, ..) | Said::Load(what, addr, _) => (what, addr),
    };
    let values = match said {
        Said::Atomic(_, _, values, _) => values,
        Said::Load(_, _, value) => [value; 2],
        _ => [0; 2],
    };
    let (detail, pc) = ((what >> 8) as u8, what >> 16);
    match Tag::from_number(what as u8)? {
        Tag::NearLoad => record(Tag::Load, detail, [pc, addr, values[0], values[1]]),
        Tag::NearStore => record(Tag::Store, detail, [pc, addr, values[0], values[1]]),
        Tag::NearRmw => record(Tag::Rmw, detail, [pc, addr, values[0], values[1]]),
        Tag::ReadAt => record(Tag::Read, detail, [pc, addr, 0, 0]),
        Tag::WriteAt => record(Tag::Write, detail, [pc, addr, 0, 0]),
        Tag::ReadRangeAt => record(Tag::ReadRange, 0, [pc, addr, detail.into(), 0]),
        Tag::WriteRangeAt => record(Tag::WriteRange, 0, [pc, addr, detail.into(), 0]),
        Tag::EnterAt => record(Tag::Enter, 0, [addr, pc, 0, 0]),
        _ => None,
    }
}

impl Stream {
    /// A stream without chunks; whether it `grows`.
    pub(super) fn new(thread: u64, grows: bool, joined: Arc<Joined>) -> Stream {
        Stream {
            thread,
            chunks: Vec::new(),
            next_chunk: 0,
            left: (0, 0),
            window: Vec::new(),
            next_window: FIRST_WINDOW,
            at: 0,
            ready: Vec::new(),
            taken: 0,
            next_batch: FIRST_BATCH,
            last_key: 0,
            written_key: 0,
            near: NearAccess::nowhere(),
            places: ReadPlaces::default(),
            joined,
            kept: Kept::default(),
            last_access: None,
            delayed: 0,
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

    /// Knows of all chunks that the other stream of the same thread knows of.
    pub(crate) fn take_chunks_of(&mut self, other: &Stream) {
        self.chunks.extend_from_slice(other.chunks.get(self.chunks.len()..).unwrap_or_default());
    }

    /// How many chunks it has begun to read.
    pub(crate) fn chunks_passed(&self) -> usize {
        self.next_chunk
    }

    /// Whether the thread has ended: its last record is decoded.
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Whether the thread has ended, and all its records are taken.
    pub(crate) fn is_over(&self) -> bool {
        self.has_ended && self.peek().is_none()
    }

    /// Lets go what was for records that are still to come.
    pub(super) fn let_go(&mut self) {
        (self.ready, self.taken) = (Vec::new(), 0);
        self.forget_window();
        self.places = ReadPlaces::default();
    }

    /// The chunks that were read to their ends since the last call, with their headers: nobody will ask for them again.
    pub(super) fn take_read(&mut self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let from = self.freed;
        let read = if self.is_over() { self.next_chunk } else { self.next_chunk.saturating_sub(1) };
        self.freed = read.max(from);
        let read = self.chunks.get(from..self.freed).unwrap_or_default();
        read.iter().map(|&(start, end)| (start - 8 * CHUNK_HEADER_WORDS as u64, end))
    }

    /// What was read ahead may have changed. Whether the stream still `grows`.
    pub(crate) fn look_again(&mut self, grows: bool) {
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

    /// The key of the last record that was decoded.
    pub(crate) fn last_key(&self) -> u64 {
        self.last_key
    }

    /// The next record, if one is decoded.
    #[inline]
    pub(crate) fn peek(&self) -> Option<&Record> {
        self.ready.get(self.taken)
    }

    /// The next records, as far as they are decoded.
    pub(super) fn ready(&self) -> &[Record] {
        self.ready.get(self.taken..).unwrap_or_default()
    }

    /// The same stream after those.
    pub(super) fn without_ready(&self) -> Stream {
        Stream {
            chunks: self.chunks.clone(),
            window: self.window.clone(),
            near: self.near.clone(),
            places: self.places.clone(),
            joined: Arc::clone(&self.joined),
            ready: Vec::new(),
            taken: 0,
            ..*self
        }
    }

    /// Takes the next record, if one is decoded.
    #[inline]
    pub(super) fn take(&mut self) -> Option<&Record> {
        let record = self.ready.get(self.taken)?;
        self.taken += 1;
        self.delayed = self.delayed.saturating_sub(1);
        Some(record)
    }

    /// Whether the next record is delayed.
    pub(crate) fn is_delayed(&self) -> bool {
        self.delayed > 0
    }

    /// So many of the records that come next count as made at this key, which is not smaller than theirs.
    pub(super) fn delay(&mut self, count: usize, key: u64) {
        self.delayed = count;
        self.last_key = self.last_key.max(key);
        for record in self.ready.iter_mut().skip(self.taken).chain(&mut self.last_access) {
            record.key = record.key.max(key);
        }
    }

    /// Decodes the next records, once all are taken; why there are none, if so.
    pub(super) fn refill(&mut self, files: &RawFiles) -> io::Result<Result<(), Ended>> {
        self.ready.clear();
        self.taken = 0;
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
                        self.places = ReadPlaces::default();
                    }
                    return Ok(Err(ended));
                }
            }
        }
        self.next_batch = (2 * self.next_batch).min(LAST_BATCH);
        Ok(Ok(()))
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
                code if code >= FILLER && code != ATOMIC && code != NOW => match self.places.read(first) {
                    Some((said, len)) => {
                        if let Some(record) = record_at(said, most, len) {
                            self.push(record);
                        }
                        self.at += len;
                        continue;
                    }
                    None => break,
                },
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

    /// Goes on to the last record that is there.
    pub(crate) fn skip_all(&mut self, files: &RawFiles) -> io::Result<()> {
        while self.decode_near() || self.decode(files)?.is_ok() {
            self.ready.clear();
        }
        self.taken = 0;
        if self.has_ended {
            self.let_go();
        }
        Ok(())
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
            return Ok(self.next_chunk());
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
        self.places = ReadPlaces::default();
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
        if self.joined.is_empty() {
            return self.ready.push(record);
        }
        if let Some(before) = self.last_access.take() {
            self.joined.follow(before, &mut self.kept, &mut self.ready);
        }
        self.ready.push(record);
        if self.only_settled {
            self.joined.follow(record, &mut self.kept, &mut self.ready);
        } else {
            self.last_access = Some(record);
        }
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
