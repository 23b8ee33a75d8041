//! Merging: the records of all threads in the observed order.
//!
//! The file consists of [`chunks`], each of one thread. A [`stream`] has the records of a thread, which its [`decoder`] decodes chunk by chunk, also [`ahead`] on other threads; [`turns`] decide which stream comes next: by key, equal keys by thread. The runtime's documentation
//! argues why that is an order the program really had.
//!
//! **Damage.** Nothing in the file is trusted. Where a thread's records end that should go on, the merged order ends, too: what other
//! threads did later may depend on what is lost.
//!
//! **A file that is still written** is looked at again and again ([`look`](Merger::look)). Only records with keys below a
//! horizon are taken from it, which [`following`](super::following) moves.

mod ahead;
mod chunks;
mod decoder;
mod header;
mod joined;
mod lookahead;
mod read_places;
mod record;
mod stream;
mod turns;

use foresee_format::near::near_key;
use foresee_format::{CUT_WORD, REQUEST_WORD, RunFlags, Stop};
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use self::ahead::Workers;
use self::chunks::Chunks;
pub(crate) use self::chunks::Growth;
use self::decoder::Ended;
use self::header::Header;
pub use self::header::has_begun;
pub(crate) use self::lookahead::Lookahead;
pub(crate) use self::record::{Record, SAW};
pub(crate) use self::stream::Stream;
use self::turns::Turns;
use crate::raw::raw_files::RawFiles;
use crate::source::Facts;
use crate::{Damage, TraceError};

/// From this size of a trace on, records are decoded ahead, if no more threads than these have them all the time: what is ahead takes memory for each.
const LARGE: u64 = 1 << 22;
const FEW_STREAMS: usize = 64;

/// The records of a raw trace in the observed order.
pub(crate) struct Merger {
    files: Arc<RawFiles>,
    /// Those who decode ahead, if that is worth it.
    workers: Option<Workers>,
    bytes: u64,
    header: Header,
    chunks: Chunks,
    streams: Vec<Stream>,
    /// Those whose threads have ended and of which nothing is left: what is in their chunks is given back.
    free: Vec<usize>,
    /// The stream of each thread.
    stream_of: FxHashMap<u64, usize>,
    turns: Turns,
    /// The key of the record that was taken last: the largest so far.
    reached: u64,
    /// Records from this key on are not of all threads.
    stop: u64,
    growth: Growth,
    /// Records from this key on must not be taken before the next look.
    horizon: u64,
    /// Streams that wait for others, and the key up to which those go meanwhile.
    parked: Vec<usize>,
    barrier: u64,
    /// Whether a record turned up too late to be put in its place.
    came_late: Cell<bool>,
    bytes_read: u64,
}

impl Merger {
    /// Nothing of the file is looked at yet.
    pub(crate) fn new(files: Arc<RawFiles>) -> Merger {
        Merger {
            files,
            workers: None,
            bytes: 0,
            header: Header::default(),
            chunks: Chunks::new(),
            streams: Vec::new(),
            free: Vec::new(),
            stream_of: FxHashMap::default(),
            turns: Turns::default(),
            reached: 0,
            stop: u64::MAX,
            growth: Growth::Complete,
            horizon: u64::MAX,
            parked: Vec::new(),
            barrier: u64::MAX,
            came_late: Cell::new(false),
            bytes_read: 0,
        }
    }

    /// Looks at the file as it is now: its header, its chunks, the next record of each stream. Whether all of it can be seen,
    /// which is so unless it grows.
    pub(crate) fn look(&mut self, growth: Growth) -> Result<bool, TraceError> {
        let (has_grown, stop) = (self.growth == Growth::Growing, self.stop);
        self.growth = growth;
        if growth == Growth::Complete {
            self.horizon = u64::MAX;
        }
        self.bytes = self.files.len()?;
        self.header = Header::read(&self.files, self.bytes)?;
        self.stop = self.stop.min(self.header.stop.unwrap_or(u64::MAX));
        // What was read may be gone, and what is there now be of another thread.
        self.note_late(self.header.lost_before > 0 && (has_grown || growth == Growth::Growing));
        self.chunks.flags = self.chunks.flags.with_if(self.header.flags, true);
        let all = self.chunks.scan(&self.files, self.bytes, growth, self.is_short())?;
        if growth == Growth::Complete && self.is_short() {
            self.chunks.note_damage(self.bytes, "the file is shorter than the program made it");
        }
        self.chunks.describe_flags();
        for chunk in std::mem::take(&mut self.chunks.found) {
            self.stream_of(chunk.owner).decoder().add_chunk(chunk.start, chunk.end);
        }
        for (owner, offset) in std::mem::take(&mut self.chunks.lost) {
            self.stream_of(owner).decoder().set_lost(offset);
        }
        let is_worth_it =
            growth == Growth::Complete && self.bytes >= LARGE && self.streams.len() <= FEW_STREAMS;
        if is_worth_it && self.workers.is_none() {
            self.workers = Workers::begin(&self.files);
        }
        self.turns.reconsider(&self.streams);
        for stream in 0..self.streams.len() {
            // A thread that has ended writes no more: in a long run most have.
            if growth == Growth::Growing && self.streams[stream].is_over() {
                self.streams[stream].let_go();
                continue;
            }
            self.streams[stream].look_again(growth == Growth::Growing);
            let is_out = self.streams[stream].peek().is_none() && !self.parked.contains(&stream);
            if is_out && self.pull(stream)? {
                self.turns.add(stream, &self.streams);
            }
        }
        self.note_late(growth == Growth::Growing && self.stop != stop && self.stop <= self.reached);
        Ok(all)
    }

    /// The stream of a thread, which may be a new one.
    fn stream_of(&mut self, thread: u64) -> &mut Stream {
        let stream = match self.stream_of.get(&thread) {
            Some(&stream) => stream,
            None => self.new_stream(thread),
        };
        &mut self.streams[stream]
    }

    /// A stream for this thread, in the place of one that nobody needs any more if there is such.
    fn new_stream(&mut self, thread: u64) -> usize {
        let new = Stream::new(
            thread,
            self.header.version,
            self.growth == Growth::Growing,
            Arc::clone(&self.chunks.joined),
        );
        let stream = match self.free.pop() {
            Some(free) => {
                let before = std::mem::replace(&mut self.streams[free], new);
                self.stream_of.remove(&before.thread);
                free
            }
            None => {
                self.streams.push(new);
                self.streams.len() - 1
            }
        };
        self.stream_of.insert(thread, stream);
        stream
    }

    /// The stream that has the record with the smallest key of all threads, if there is one that may be taken.
    #[inline]
    pub(crate) fn advance(&mut self) -> Result<Option<usize>, TraceError> {
        if let Some(leader) = self.turns.leader()
            && self.streams[leader].peek().is_none()
        {
            self.pull(leader)?;
        }
        let Some(stream) = self.turns.first(&self.streams) else { return Ok(None) };
        let Some(record) = self.streams[stream].peek() else { return Ok(None) };
        if record.key >= self.horizon || record.key > self.barrier {
            return Ok(None);
        }
        if record.key >= self.stop {
            self.turns.end();
            return Ok(None);
        }
        Ok(Some(stream))
    }

    /// The stream that has the next record for sure, if that may be taken, and nothing else is due before it; with the thread
    /// and the record.
    #[inline]
    pub(crate) fn certain(&self) -> Option<(usize, u64, &Record)> {
        let stream = self.turns.certain(&self.streams)?;
        let one = &self.streams[stream];
        let record = one.peek()?;
        let is_due = record.key < self.stop
            && record.key < self.horizon
            && record.key <= self.barrier
            && self.chunks.maps.last().is_none_or(|&(key, _)| record.key < key);
        is_due.then_some((stream, one.thread, record))
    }

    /// As [`certain`](Merger::certain), the records that come next for sure, as far as they are decoded and up to a key: the stream, its thread, the records, and the key from which on
    /// they do not count.
    #[inline]
    pub(crate) fn certain_run(&self) -> Option<(usize, u64, &[Record], u64)> {
        let (stream, until) = self.turns.certain_until()?;
        let one = &self.streams[stream];
        let maps = self.chunks.maps.last().map_or(u64::MAX, |&(key, _)| key);
        let until = until.min(self.stop).min(self.horizon).min(self.barrier.saturating_add(1)).min(maps);
        Some((stream, one.thread, one.ready(), until))
    }

    /// Takes so many records of a stream, which are decoded.
    #[inline]
    pub(crate) fn take_many(&mut self, stream: usize, count: usize) {
        for record in self.streams[stream].take_many(count) {
            self.reached = record.key;
            self.bytes_read += u64::from(record.length);
        }
    }

    /// Takes the next record of a stream.
    #[inline]
    pub(crate) fn take(&mut self, stream: usize) -> Option<&Record> {
        let record = self.streams[stream].take()?;
        self.reached = record.key;
        self.bytes_read += u64::from(record.length);
        Some(record)
    }

    /// Whether a stream other than that which comes next has records of this key.
    pub(crate) fn others_have(&self, key: u64) -> bool {
        self.turns.first_other().is_some_and(|other| other <= key)
    }

    /// The stream which comes next waits, while others go on up to this key.
    pub(crate) fn park(&mut self, stream: usize, key: u64) {
        self.turns.leave(stream);
        self.parked.push(stream);
        self.barrier = key;
    }

    /// Of a stream that waits: whether it has another record of this key. `None` if that is not known yet.
    pub(crate) fn parked_has(&mut self, stream: usize, key: u64) -> Result<Option<bool>, TraceError> {
        self.decode_more(stream)?;
        if self.horizon <= key {
            return Ok(None);
        }
        Ok(Some(self.peek(stream).is_some_and(|record| record.key == key && key < self.stop)))
    }

    /// Whether everything with this key is there to be taken.
    pub(crate) fn has_all_of(&self, key: u64) -> bool {
        key < self.horizon
    }

    /// The streams that wait take part again.
    pub(crate) fn unpark(&mut self) -> Result<(), TraceError> {
        self.barrier = u64::MAX;
        self.turns.reconsider(&self.streams);
        for stream in std::mem::take(&mut self.parked) {
            self.decode_more(stream)?;
            self.turns.add(stream, &self.streams);
        }
        Ok(())
    }

    /// Decodes more records of a stream, if those that are decoded are all taken.
    pub(crate) fn decode_more(&mut self, stream: usize) -> Result<(), TraceError> {
        if self.streams[stream].peek().is_none() {
            self.pull(stream)?;
        }
        Ok(())
    }

    /// Decodes the next records of a stream; whether there are any.
    fn pull(&mut self, stream: usize) -> Result<bool, TraceError> {
        let is_short = self.is_short();
        let one = &mut self.streams[stream];
        let (ended, last_key) = match one.refill(&self.files, self.workers.as_ref())? {
            Ok(()) => {
                let is_late = one.peek().is_some_and(|record| record.key < self.reached);
                self.note_late(is_late);
                return Ok(true);
            }
            Err(ended) => (ended, one.last_key()),
        };
        match ended {
            Ended::Done => {}
            Ended::Unsettled(key) => self.horizon = self.horizon.min(key),
            Ended::Cut if !is_short || self.growth == Growth::Growing => {}
            Ended::Cut => self.end_after(last_key),
            Ended::Bad(offset) => {
                self.end_after(last_key);
                self.chunks.note_damage(offset, "not a record");
            }
            Ended::Lost(offset) => {
                self.end_after(last_key);
                self.chunks.note_damage(offset, "a chunk of a thread is missing");
            }
        }
        Ok(false)
    }

    /// What other threads did after this may depend on what a thread has lost.
    fn end_after(&mut self, key: u64) {
        self.stop = self.stop.min(key + 1);
    }

    fn note_late(&mut self, is_late: bool) {
        if is_late {
            self.came_late.set(true);
        }
    }

    /// Whether the file is shorter than it was.
    fn is_short(&self) -> bool {
        self.bytes < self.header.length || self.files.is_short()
    }

    /// Has the records of a stream that were made in the same page as the next one count as made at its end, which is at `at_most` if nothing is
    /// recorded of it yet. False if they do already.
    pub(crate) fn delay(&mut self, stream: usize, at_most: u64) -> bool {
        let one = &self.streams[stream];
        let Some(next) = one.peek().filter(|_| !one.is_delayed()) else { return false };
        let page = near_key(next.key);
        let all = Lookahead { stream: one, files: &self.files, saw_the_end: None };
        let (mut count, mut end) = (0, None);
        for record in all.records() {
            if near_key(record.key) > page {
                end = Some(record.key);
                break;
            }
            count += 1;
        }
        self.streams[stream].delay(count, end.unwrap_or(at_most).max(page));
        true
    }

    /// Has all threads of the running program take fresh keys; whether they can be asked.
    pub(crate) fn request_fresh_keys(&self, number: u64) -> bool {
        self.files.first().write_all_at(&number.to_le_bytes(), 8 * REQUEST_WORD as u64).is_ok()
    }

    /// What the thread of a stream does next.
    pub(crate) fn lookahead(&self, stream: usize) -> Lookahead<'_> {
        let saw_the_end = (self.growth == Growth::Growing).then_some(&self.came_late);
        Lookahead { stream: &self.streams[stream], files: &self.files, saw_the_end }
    }

    /// The next record of a stream, if it is decoded.
    pub(crate) fn peek(&self, stream: usize) -> Option<&Record> {
        self.streams[stream].peek()
    }

    /// A copy of `/proc/self/maps` that holds from this key on, or from an earlier one, and was not asked for yet.
    pub(crate) fn take_maps(&mut self, key: u64) -> Option<String> {
        self.chunks.maps.pop_if(|(from, _)| *from <= key).map(|(_, maps)| maps)
    }

    /// Records from this key on must not be taken before the next look.
    pub(crate) fn set_horizon(&mut self, key: u64) {
        self.horizon = key;
    }

    /// The streams of all threads, in the order in which they were found.
    pub(crate) fn streams(&self) -> &[Stream] {
        &self.streams
    }

    /// Parts of the file that were read and will not be needed again, from which byte to which.
    pub(crate) fn take_read(&mut self) -> Vec<(u64, u64)> {
        let read = self.streams.iter_mut().flat_map(Stream::take_read).collect();
        let is_free = |stream: &usize| self.streams[*stream].is_over() && !self.parked.contains(stream);
        self.free = (0..self.streams.len()).filter(is_free).collect();
        read
    }

    pub(crate) fn growth(&self) -> Growth {
        self.growth
    }

    /// Accesses that were recorded along with each thread's last one were done.
    pub(crate) fn complete_last_accesses(&self) {
        self.chunks.joined.complete_last();
    }

    /// Whether a record turned up too late to be put in its place.
    pub(crate) fn came_late(&self) -> bool {
        self.came_late.get()
    }

    /// Whether the program has lost more of its beginning since the last look: then what was read may be of two moments.
    pub(crate) fn is_overtaken(&self) -> bool {
        let mut word = [0; 8];
        let now = self.files.read_exact_at(&mut word, 8 * CUT_WORD as u64).map(|()| u64::from_le_bytes(word));
        now.is_ok_and(|now| now != self.header.lost_before)
    }

    /// Records with a smaller key are lost; 0 if none is.
    pub(crate) fn lost_before(&self) -> u64 {
        self.header.lost_before
    }

    /// Why recording stopped before the program ended, if it did; known once the file is complete.
    pub(crate) fn why_stopped(&self) -> Option<Stop> {
        self.header.why_stopped.filter(|_| self.growth == Growth::Complete)
    }

    /// Whether the process is known not to have ended by itself; known once the file is complete.
    pub(crate) fn was_ended(&self) -> bool {
        let tells = self.growth == Growth::Complete && self.flags().contains(RunFlags::TELLS_END);
        tells && !self.header.has_ended
    }

    /// What is known of the run from its beginning on.
    pub(crate) fn flags(&self) -> RunFlags {
        self.chunks.flags
    }

    /// The table of thread names.
    pub(crate) fn thread_names(&self) -> &[u8] {
        &self.header.thread_names
    }

    /// What hooks record, by their numbers: the names of parameters, and the function.
    pub(crate) fn calls(&self) -> &[[String; 2]] {
        &self.chunks.calls
    }

    pub(crate) fn facts(&self) -> &Facts {
        &self.chunks.facts
    }

    /// What the program's data was before anything was recorded, as texts have it, each once.
    pub(crate) fn take_images(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.chunks.images)
    }

    /// Something more is known of the run.
    pub(crate) fn set_fact(&mut self, name: &str, value: String) {
        let facts = &mut self.chunks.facts;
        match facts.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = value,
            None => facts.push((name.to_owned(), value)),
        }
    }

    pub(crate) fn damage(&self) -> Option<&Damage> {
        self.chunks.damage.as_ref()
    }

    /// How many events came before the damage, if there is any.
    pub(crate) fn set_delivered(&mut self, delivered: u64) {
        if let Some(damage) = &mut self.chunks.damage {
            damage.delivered = delivered;
        }
    }

    pub(crate) fn files(&self) -> &RawFiles {
        &self.files
    }

    pub(crate) fn into_files(self) -> Arc<RawFiles> {
        self.files
    }

    /// How many bytes of records were taken, and how many the file has.
    pub(crate) fn progress(&self) -> (u64, u64) {
        (self.bytes_read.min(self.bytes), self.bytes)
    }
}
