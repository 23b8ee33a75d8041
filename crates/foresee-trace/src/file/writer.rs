//! Writes a trace file from events in order.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use super::block::{BlockKind, Header};
use super::columns::{Encoder, Expectation};
use super::pack::Packer;
use super::sites::SiteWriter;
use super::tables::{Written, write_facts, write_trust};
use super::{MAGIC, MAX_COLUMN, SEGMENT_EVENTS, START_LEN, VERSION};
use crate::TraceError;
use crate::event::Event;
use crate::flat::{Flat, Payload};
use crate::names::Names;
use crate::source::{EventSink, Facts};
use crate::trust::Trust;

/// How many threads may have open blocks; more end the segment early, so that memory stays bounded.
const MAX_OPEN_THREADS: usize = 1024;
const NO_SLOT: u32 = u32::MAX;

/// Writes a trace file. Events are stamped 0, 1, 2, … as they come.
///
/// Memory: one open block per thread that was active since the last checkpoint, at most 1,024, each with its
/// events, of some 14 bytes each. Until [`finish`](EventSink::finish), a reader sees the events up to the last checkpoint.
pub struct TraceWriter<W: Write = BufWriter<File>> {
    out: W,
    offset: u64,
    /// Offset and header of all blocks so far: the index.
    blocks: Vec<u8>,
    written: Written,
    sites: SiteWriter,
    /// Encoders of this segment, and used ones behind them.
    encoders: Vec<Encoder>,
    open: usize,
    slot_of_thread: Vec<u32>,
    expectation: Expectation,
    packer: Packer,
    packed: Vec<u8>,
    stamp: u64,
    segment_events: usize,
    in_segment: usize,
}

impl TraceWriter {
    /// Creates (or replaces) the file at `path`.
    pub fn create(path: &Path, facts: &Facts) -> Result<TraceWriter, TraceError> {
        TraceWriter::new(BufWriter::with_capacity(1 << 18, File::create(path)?), facts)
    }
}

impl<W: Write> TraceWriter<W> {
    /// Writes to anything.
    pub fn new(out: W, facts: &Facts) -> Result<Self, TraceError> {
        let mut writer = TraceWriter {
            out,
            offset: START_LEN,
            blocks: Vec::new(),
            written: Written::nothing(),
            sites: SiteWriter::default(),
            encoders: Vec::new(),
            open: 0,
            slot_of_thread: Vec::new(),
            expectation: Expectation::default(),
            packer: Packer::new(),
            packed: Vec::new(),
            stamp: 0,
            segment_events: SEGMENT_EVENTS,
            in_segment: 0,
        };
        let mut start = [0; START_LEN as usize];
        start[..8].copy_from_slice(&MAGIC);
        start[8..10].copy_from_slice(&VERSION.to_le_bytes());
        writer.out.write_all(&start)?;
        writer.table(BlockKind::Facts, &write_facts(facts))?;
        Ok(writer)
    }

    /// Sets a checkpoint every `events` events: fewer lose less of a file that is cut off, more compress better.
    pub fn segment_events(mut self, events: usize) -> Self {
        self.segment_events = events.max(1);
        self
    }

    #[cold]
    fn open_block(&mut self, thread: usize) -> usize {
        if self.slot_of_thread.len() <= thread {
            self.slot_of_thread.resize(thread + 1, NO_SLOT);
        }
        if self.encoders.len() == self.open {
            self.encoders.push(Encoder::new());
        }
        let slot = self.open;
        self.open += 1;
        self.slot_of_thread[thread] = slot as u32;
        self.encoders[slot].begin(thread as u32, self.stamp);
        slot
    }

    /// Puts all that is buffered into blocks and sets a checkpoint.
    fn checkpoint(&mut self, names: &Names) -> Result<(), TraceError> {
        while let Some(payload) = self.written.update(names) {
            if payload.len() > MAX_COLUMN {
                return Err(TraceError::TooLarge { what: "names" });
            }
            self.table(BlockKind::Names, &payload)?;
        }
        if let Some(payload) = self.sites.update() {
            self.table(BlockKind::Sites, &payload)?;
        }
        for slot in 0..self.open {
            let encoder = &self.encoders[slot];
            let header = Header {
                thread: encoder.thread,
                events: encoder.events,
                first: encoder.first,
                last: encoder.last,
                ..Header::new(BlockKind::Events)
            };
            encoder.compress(
                self.sites.first_targets(),
                &mut self.expectation,
                &mut self.packer,
                &mut self.packed,
            );
            self.slot_of_thread[encoder.thread as usize] = NO_SLOT;
            self.block(header)?;
        }
        self.open = 0;
        self.in_segment = 0;
        self.packed.clear();
        self.block(Header { first: self.stamp, last: self.stamp, ..Header::new(BlockKind::Checkpoint) })?;
        Ok(())
    }

    fn table(&mut self, kind: BlockKind, payload: &[u8]) -> Result<(), TraceError> {
        self.packed.clear();
        self.packer.pack(payload, &mut self.packed);
        self.block(Header::new(kind))
    }

    /// Writes `self.packed` as a block.
    fn block(&mut self, header: Header) -> Result<(), TraceError> {
        let header = header.write(&self.packed, &mut self.out)?;
        self.blocks.extend_from_slice(&self.offset.to_le_bytes());
        self.blocks.extend_from_slice(&header.encode());
        self.offset += (super::block::HEADER_LEN + self.packed.len()) as u64;
        Ok(())
    }
}

impl<W: Write> EventSink for TraceWriter<W> {
    #[inline]
    fn push(&mut self, names: &Names, event: &Event<'_>) -> Result<(), TraceError> {
        let thread = event.thread.index();
        let slot = match self.slot_of_thread.get(thread) {
            Some(&slot) if slot != NO_SLOT => slot as usize,
            _ => self.open_block(thread),
        };
        let (flat, payload) = Flat::of(&event.op);
        let site = self.sites.id(event.loc, flat, payload != Payload::Nothing);
        let encoder = &mut self.encoders[slot];
        encoder.push(self.stamp, site, flat.target, payload);
        self.stamp += 1;
        self.in_segment += 1;
        if self.in_segment >= self.segment_events || self.open > MAX_OPEN_THREADS || encoder.is_full() {
            self.checkpoint(names)?;
        }
        Ok(())
    }

    fn fact(&mut self, key: &str, value: &str) -> Result<(), TraceError> {
        self.table(BlockKind::Facts, &write_facts(&vec![(key.to_owned(), value.to_owned())]))
    }

    fn finish(&mut self, names: &Names, trust: &Trust) -> Result<(), TraceError> {
        self.checkpoint(names)?;
        self.table(BlockKind::Trust, &write_trust(trust))?;
        let index_at = self.offset;
        self.packed = std::mem::take(&mut self.blocks);
        self.block(Header::new(BlockKind::Index))?;
        self.out.write_all(&super::scan::trailer(index_at))?;
        self.out.flush()?;
        Ok(())
    }
}
