//! Reads a trace file: finds its blocks, loads its tables, merges its threads.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use super::block::{BlockKind, HEADER_LEN};
use super::columns::{Decoder, Record};
use super::merge::{MAX_STREAMS, Tournament};
use super::pack::Unpacker;
use super::scan::{BlockRef, find_blocks};
use super::sites::SiteTable;
use super::tables::{read_facts, read_names, read_trust};
use super::varint::Cursor;
use super::{Bad, MAGIC, MAX_OPEN_BYTES, MAX_STAMP, START_LEN, VERSION};
use crate::batch::EventBatch;
use crate::event::{Event, Op};
use crate::ids::{LocId, ThreadId};
use crate::names::Names;
use crate::source::{EventSource, Facts, FileInfo};
use crate::trust::{Gap, NoEnd, Trust};
use crate::{Damage, TraceError};

/// How many events of a thread are decoded at a time.
const BATCH: usize = 128;
/// After how many matches in a row it pays to ask how long a stream will win.
const MANY_WINS: u32 = 3;
/// Tables may decompress to this many times their size: enough for names, too little for a bomb.
const MAX_TABLE_RATIO: usize = 64;

/// A reader of a trace file: all its events in order, in memory that does not grow with their number.
pub struct TraceReader {
    file: File,
    info: FileInfo,
    facts: Facts,
    /// What the file says is missing, if it gets that far.
    trust: Option<Trust>,
    names: Names,
    sites: SiteTable,
    /// Checkpoints as (events before it, stamp), and all event blocks by first stamp.
    checkpoints: Vec<(u64, u64)>,
    blocks: Vec<BlockRef>,
    /// The first block that is not open yet, and its first stamp.
    next_block: usize,
    next_due: u64,
    open: Vec<Stream>,
    closed: Vec<Stream>,
    open_bytes: usize,
    tournament: Tournament,
    unpacker: Unpacker,
    buffer: Vec<u8>,
    /// Events from this stamp on are not known to be complete.
    horizon: u64,
    damage: Option<Damage>,
    delivered: u64,
    bytes_opened: u64,
    /// The open stream whose event was reached.
    current: Option<usize>,
    /// How many matches in a row that stream has won.
    wins: u32,
    /// The next event is of the same stream if its stamp is smaller; 0 if that is not known.
    until: u64,
}

/// An open block.
#[derive(Default)]
struct Stream {
    thread: u32,
    offset: u64,
    decoder: Decoder,
    records: Vec<Record>,
    at: usize,
}

impl TraceReader {
    /// Opens a trace.
    pub fn new(file: File) -> Result<TraceReader, TraceError> {
        let bytes = file.metadata()?.len();
        let version = read_start(&file, bytes)?;
        let mut reader = TraceReader {
            file,
            info: FileInfo { version, bytes, ..FileInfo::default() },
            facts: Facts::new(),
            trust: None,
            names: Names::new(),
            sites: SiteTable::default(),
            checkpoints: Vec::new(),
            blocks: Vec::new(),
            next_block: 0,
            next_due: 0,
            open: Vec::new(),
            closed: Vec::new(),
            open_bytes: 0,
            tournament: Tournament::default(),
            unpacker: Unpacker::new(),
            buffer: Vec::new(),
            horizon: MAX_STAMP,
            damage: None,
            delivered: 0,
            bytes_opened: 0,
            current: None,
            wins: 0,
            until: 0,
        };
        reader.load();
        Ok(reader)
    }

    /// What is known without reading the events.
    pub fn info(&self) -> FileInfo {
        self.info
    }

    /// Goes to the event with this index (from 0), so that the next [`advance`](EventSource::advance) reaches it. Skips
    /// by checkpoints, so it costs no more than one segment.
    pub fn seek(&mut self, index: u64) -> Result<(), TraceError> {
        let (before, stamp) =
            self.checkpoints.iter().rev().find(|&&(before, _)| before <= index).copied().unwrap_or((0, 0));
        while let Some(stream) = self.open.pop() {
            self.close(stream);
        }
        self.tournament.restart(std::iter::empty());
        self.current = None;
        self.until = 0;
        self.next_block = self.blocks.partition_point(|block| block.header.first < stamp);
        self.next_due = 0;
        self.delivered = before;
        while self.delivered < index && self.advance()? {}
        Ok(())
    }

    fn load(&mut self) {
        let layout = find_blocks(&self.file, self.info.bytes);
        let mut damage = layout.damage;
        for block in layout.blocks {
            if let Err(bad) = self.add_block(block) {
                damage = Some((block.offset, bad));
                break;
            }
        }
        if let Err(bad) = self.sites.check(&self.names) {
            damage = Some((START_LEN, bad));
            self.checkpoints.clear();
        }
        if let Some((offset, what)) = damage {
            self.damaged(
                offset.min(self.info.bytes),
                what,
                self.checkpoints.last().map_or(0, |&(_, stamp)| stamp),
            );
        }
        self.blocks.sort_by_key(|block| (block.header.first, block.header.thread));
    }

    fn add_block(&mut self, block: BlockRef) -> Result<(), Bad> {
        let header = block.header;
        self.info.blocks += 1;
        match header.kind {
            BlockKind::Facts => {
                let table = self.table(&block)?;
                self.facts.extend(read_facts(&table)?);
            }
            BlockKind::Trust => {
                let table = self.table(&block)?;
                self.trust = Some(read_trust(&table)?);
            }
            BlockKind::Names => {
                let table = self.table(&block)?;
                read_names(&table, &mut self.names)?;
            }
            BlockKind::Sites => {
                let table = self.table(&block)?;
                self.sites.read(&table)?;
            }
            BlockKind::Checkpoint => {
                if header.first > MAX_STAMP || header.last != self.info.events {
                    return Err(Bad::new("a checkpoint makes no sense"));
                }
                self.checkpoints.push((header.last, header.first));
            }
            BlockKind::Events => {
                let known = (header.thread as usize) < self.names.threads().len();
                if !known || header.first > header.last || header.last >= MAX_STAMP || header.events == 0 {
                    return Err(Bad::new("an events block makes no sense"));
                }
                self.info.events += u64::from(header.events);
                self.info.event_bytes += HEADER_LEN as u64 + u64::from(header.length);
                self.blocks.push(block);
            }
            BlockKind::Index => return Err(Bad::new("an index in the middle of the file")),
        }
        Ok(())
    }

    fn table(&mut self, block: &BlockRef) -> Result<Vec<u8>, Bad> {
        let mut table = Vec::new();
        block.payload(&self.file, &mut self.buffer)?;
        let limit = self.buffer.len() * MAX_TABLE_RATIO;
        let mut cursor = Cursor::new(&self.buffer);
        self.unpacker.unpack(&mut cursor, limit, &mut table)?;
        Ok(table)
    }

    /// Notes damage; only events with a smaller stamp than `horizon` will be delivered. The first damage is the one reported.
    fn damaged(&mut self, offset: u64, what: Bad, horizon: u64) {
        self.horizon = self.horizon.min(horizon);
        self.damage.get_or_insert(Damage { offset, what: what.0, delivered: 0 });
    }

    /// Opens every block that may hold the next event.
    #[cold]
    fn open_blocks(&mut self) {
        let before = self.next_block;
        while let Some(&block) = self.blocks.get(self.next_block) {
            let next = self.open.iter().filter_map(|s| s.records.get(s.at)).map(|r| r.stamp).min();
            if block.header.first >= self.horizon || next.is_some_and(|stamp| block.header.first > stamp) {
                break;
            }
            self.next_block += 1;
            self.bytes_opened += u64::from(block.header.length);
            if let Err(bad) = self.open_block(block) {
                self.damaged(block.offset, bad, block.header.first);
            }
        }
        self.next_due = self.blocks.get(self.next_block).map_or(MAX_STAMP, |block| block.header.first);
        if self.next_block != before {
            self.restart();
        }
    }

    fn open_block(&mut self, block: BlockRef) -> Result<(), Bad> {
        let header = block.header;
        block.payload(&self.file, &mut self.buffer)?;
        let mut stream = self.closed.pop().unwrap_or_default();
        stream.thread = header.thread;
        stream.offset = block.offset;
        stream.at = 0;
        stream.decoder.begin(&self.buffer, header.events, header.first, &self.sites, &mut self.unpacker)?;
        stream.decoder.batch(BATCH, &self.sites, &self.names, &mut stream.records)?;
        self.open_bytes += stream.decoder.open_bytes();
        // A thread's blocks follow each other, so it has one open at a time.
        let at = self.open.partition_point(|s| s.thread < header.thread);
        if self.open.get(at).is_some_and(|s| s.thread == header.thread) {
            return Err(Bad::new("two blocks of a thread overlap"));
        }
        self.open.insert(at, stream);
        if self.open_bytes > MAX_OPEN_BYTES || self.open.len() > MAX_STREAMS {
            return Err(Bad::new("too many blocks are open at one time"));
        }
        Ok(())
    }

    fn close(&mut self, stream: Stream) {
        self.open_bytes = self.open_bytes.saturating_sub(stream.decoder.open_bytes());
        self.closed.push(stream);
    }

    fn restart(&mut self) {
        let stamps = self.open.iter().map(|s| s.records.get(s.at).map_or(MAX_STAMP - 1, |r| r.stamp));
        self.tournament.restart(stamps);
    }

    /// After the last decoded event of a stream: decodes more, or closes it.
    #[cold]
    fn refill(&mut self, index: usize) {
        let stream = &mut self.open[index];
        let last = stream.records.last().map_or(0, |r| r.stamp);
        stream.at = 0;
        match stream.decoder.batch(BATCH, &self.sites, &self.names, &mut stream.records) {
            Ok(()) => {
                if let Some(record) = stream.records.first() {
                    self.tournament.replace_first(index, record.stamp);
                    return;
                }
            }
            Err(bad) => {
                let offset = stream.offset;
                self.damaged(offset, bad, last);
            }
        }
        let stream = self.open.remove(index);
        self.close(stream);
        self.restart();
    }
}

impl EventSource for TraceReader {
    #[inline]
    fn advance(&mut self) -> Result<bool, TraceError> {
        if let Some(index) = self.current {
            let stream = &mut self.open[index];
            stream.at += 1;
            match stream.records.get(stream.at) {
                Some(next) if next.stamp < self.until => {
                    self.delivered += 1;
                    return Ok(true);
                }
                Some(next) => self.tournament.replace_first(index, next.stamp),
                None => self.refill(index),
            }
        }
        let mut first = self.tournament.first();
        if first.is_none_or(|(_, stamp)| stamp >= self.next_due) {
            self.open_blocks();
            first = self.tournament.first();
        }
        let before = self.current;
        self.current = first.filter(|&(_, stamp)| stamp < self.horizon).map(|(index, _)| index);
        self.wins = if before == self.current { self.wins.saturating_add(1) } else { 0 };
        // Who has won some matches in a row will win more, and then need not play them.
        self.until = match self.current {
            Some(index) if self.wins >= MANY_WINS => {
                self.tournament.second(index).min(self.next_due).min(self.horizon)
            }
            _ => 0,
        };
        if self.current.is_some() {
            self.delivered += 1;
        } else if let Some(damage) = &mut self.damage {
            damage.delivered = self.delivered;
        }
        Ok(self.current.is_some())
    }

    #[inline]
    fn event(&self) -> Event<'_> {
        let reached = self.current.and_then(|index| self.open.get(index));
        let Some((stream, record)) =
            reached.and_then(|stream| Some((stream, stream.records.get(stream.at)?)))
        else {
            // Not to be called here; any event is as good as another.
            return Event { thread: ThreadId(0), loc: LocId::UNKNOWN, op: Op::Branch };
        };
        Event { thread: ThreadId(stream.thread), loc: record.loc, op: stream.decoder.op(record) }
    }

    /// Those that surely come next and are decoded.
    fn take_run(&mut self, batch: &mut EventBatch, most: usize) {
        let Some(stream) = self.current.and_then(|index| self.open.get_mut(index)) else { return };
        let thread = ThreadId(stream.thread);
        let before = batch.len();
        let next = stream.records.iter().skip(stream.at + 1).take(most);
        for record in next.take_while(|record| record.stamp < self.until) {
            if record.has_payload() {
                batch.push(&Event { thread, loc: record.loc, op: stream.decoder.op(record) });
            } else {
                batch.push_flat(thread, record.loc, record.flat);
            }
        }
        let count = batch.len() - before;
        stream.at += count;
        self.delivered += count as u64;
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn trust(&self) -> Trust {
        let mut trust = self.trust.clone().unwrap_or_else(|| [Gap::Unstated].into_iter().collect());
        // Up to the damage it is a real run, as all threads end at the same moment.
        if self.damage.is_some() {
            trust.add(Gap::NoEnd(NoEnd::Damaged));
        }
        trust
    }

    fn damage(&self) -> Option<&Damage> {
        self.damage.as_ref()
    }

    fn skip(&mut self, count: u64) -> Result<(), TraceError> {
        self.seek(self.delivered.saturating_add(count))
    }

    fn file_info(&self) -> Option<FileInfo> {
        Some(self.info)
    }

    fn progress(&self) -> (u64, Option<u64>) {
        (self.bytes_opened, Some(self.info.event_bytes))
    }
}

/// Checks the first bytes; the version.
fn read_start(file: &File, len: u64) -> Result<u16, TraceError> {
    let mut start = [0; START_LEN as usize];
    let have = len.min(START_LEN) as usize;
    file.read_exact_at(&mut start[..have], 0)?;
    if have == 0 {
        return Err(TraceError::Empty);
    }
    let same = start.iter().zip(&MAGIC).take_while(|(a, b)| a == b).count();
    if same < have.min(MAGIC.len()) {
        return Err(TraceError::NotATrace {
            offset: same as u64,
            why: "expected the start of a foresee trace".into(),
        });
    }
    let version = u16::from_le_bytes([start[8], start[9]]);
    match version {
        // A file cut off before its version: nothing in it, but a trace.
        0 if have < START_LEN as usize => Ok(VERSION),
        0 => Err(TraceError::NotATrace { offset: 8, why: "expected a format version, found 0".into() }),
        VERSION => Ok(version),
        1..VERSION => Err(TraceError::OlderVersion { found: version, known: VERSION }),
        _ => Err(TraceError::NewerVersion { found: version, known: VERSION }),
    }
}
