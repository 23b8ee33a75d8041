//! From events in order to the blocks of a trace file, a segment at a time.

use std::io::Write;

use super::block::{BlockKind, Header};
use super::columns::{Encoder, Expectation};
use super::pack::Packer;
use super::sites::SiteWriter;
use super::tables::{write_facts, write_trust};
use super::{MAGIC, MAX_COLUMN, START_LEN, VERSION};
use crate::TraceError;
use crate::flat::{Flat, Payload};
use crate::ids::{LocId, ThreadId};
use crate::source::Facts;
use crate::trust::Trust;

/// How many threads may have open blocks; more end the segment early, so that memory stays bounded.
const MAX_OPEN_THREADS: usize = 1024;
const NO_SLOT: u32 = u32::MAX;

/// Puts events into blocks, and blocks into a file. Whatever names they use has to be written before the next [checkpoint](SegmentWriter::checkpoint).
pub(super) struct SegmentWriter<W> {
    out: W,
    offset: u64,
    /// Offset and header of all blocks so far: the index.
    blocks: Vec<u8>,
    sites: SiteWriter,
    /// Encoders of this segment, and used ones behind them.
    encoders: Vec<Encoder>,
    open: usize,
    slot_of_thread: Vec<u32>,
    expectation: Expectation,
    packer: Packer,
    packed: Vec<u8>,
    stamp: u64,
    /// How many events make a checkpoint due.
    pub(super) segment_events: usize,
    in_segment: usize,
}

impl<W: Write> SegmentWriter<W> {
    /// A checkpoint is due every `segment_events` events.
    pub(super) fn new(out: W, facts: &Facts, segment_events: usize) -> Result<Self, TraceError> {
        let mut writer = SegmentWriter {
            out,
            offset: START_LEN,
            blocks: Vec::new(),
            sites: SiteWriter::default(),
            encoders: Vec::new(),
            open: 0,
            slot_of_thread: Vec::new(),
            expectation: Expectation::default(),
            packer: Packer::new(),
            packed: Vec::new(),
            stamp: 0,
            segment_events,
            in_segment: 0,
        };
        let mut start = [0; START_LEN as usize];
        start[..8].copy_from_slice(&MAGIC);
        start[8..10].copy_from_slice(&VERSION.to_le_bytes());
        writer.out.write_all(&start)?;
        writer.facts(facts)?;
        Ok(writer)
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

    /// Writes names that are new.
    pub(super) fn names(&mut self, payload: &[u8]) -> Result<(), TraceError> {
        if payload.len() > MAX_COLUMN {
            return Err(TraceError::TooLarge { what: "names" });
        }
        self.table(BlockKind::Names, payload)
    }

    /// Writes facts.
    pub(super) fn facts(&mut self, facts: &Facts) -> Result<(), TraceError> {
        self.table(BlockKind::Facts, &write_facts(facts))
    }

    /// Puts all that is buffered into blocks and sets a checkpoint.
    pub(super) fn checkpoint(&mut self) -> Result<(), TraceError> {
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

    /// Appends an event; whether a checkpoint is due.
    #[inline]
    pub(super) fn push(&mut self, thread: ThreadId, loc: LocId, flat: Flat, payload: Payload<'_>) -> bool {
        let slot = match self.slot_of_thread.get(thread.index()) {
            Some(&slot) if slot != NO_SLOT => slot as usize,
            _ => self.open_block(thread.index()),
        };
        let site = self.sites.id(loc, flat, payload != Payload::Nothing);
        let encoder = &mut self.encoders[slot];
        encoder.push(self.stamp, site, flat.target, payload);
        self.stamp += 1;
        self.in_segment += 1;
        self.in_segment >= self.segment_events || self.open > MAX_OPEN_THREADS || encoder.is_full()
    }

    /// Sets the last checkpoint and completes the file.
    pub(super) fn finish(&mut self, trust: &Trust) -> Result<(), TraceError> {
        self.checkpoint()?;
        self.table(BlockKind::Trust, &write_trust(trust))?;
        let index_at = self.offset;
        self.packed = std::mem::take(&mut self.blocks);
        self.block(Header::new(BlockKind::Index))?;
        self.out.write_all(&super::scan::trailer(index_at))?;
        self.out.flush()?;
        Ok(())
    }
}
