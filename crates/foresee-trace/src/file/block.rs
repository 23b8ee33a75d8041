//! Blocks: a fixed header with a checksum of its own, then a payload.

use std::io::{self, Write};

use super::{Bad, MAX_PAYLOAD};

pub(crate) const HEADER_LEN: usize = 48;
const BLOCK_MAGIC: [u8; 4] = *b"FTbk";

/// What a block holds. Numbers are part of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum BlockKind {
    Facts = 1,
    Names = 2,
    Sites = 3,
    Events = 4,
    Checkpoint = 5,
    Index = 6,
    Trust = 7,
}

impl BlockKind {
    fn from_number(n: u8) -> Option<BlockKind> {
        use BlockKind::*;
        [Facts, Names, Sites, Events, Checkpoint, Index, Trust].into_iter().find(|&kind| kind as u8 == n)
    }
}

/// The header of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) kind: BlockKind,
    /// Whose events.
    pub(crate) thread: u32,
    /// How many.
    pub(crate) events: u32,
    /// Events: the first stamp. Checkpoint: all events with a smaller stamp stand before it.
    pub(crate) first: u64,
    /// Events: the last stamp. Checkpoint: how many events stand before it.
    pub(crate) last: u64,
    /// Payload bytes.
    pub(crate) length: u32,
    pub(crate) crc: u32,
}

impl Header {
    pub(crate) fn new(kind: BlockKind) -> Header {
        Header { kind, thread: 0, events: 0, first: 0, last: 0, length: 0, crc: 0 }
    }

    pub(crate) fn encode(&self) -> [u8; HEADER_LEN] {
        let mut out = [0; HEADER_LEN];
        out[0..4].copy_from_slice(&BLOCK_MAGIC);
        out[4] = self.kind as u8;
        out[8..12].copy_from_slice(&self.thread.to_le_bytes());
        out[12..16].copy_from_slice(&self.events.to_le_bytes());
        out[16..24].copy_from_slice(&self.first.to_le_bytes());
        out[24..32].copy_from_slice(&self.last.to_le_bytes());
        out[32..36].copy_from_slice(&self.length.to_le_bytes());
        out[36..40].copy_from_slice(&self.crc.to_le_bytes());
        let crc = crc32fast::hash(&out[..44]);
        out[44..48].copy_from_slice(&crc.to_le_bytes());
        out
    }

    pub(crate) fn decode(bytes: &[u8; HEADER_LEN]) -> Result<Header, Bad> {
        if bytes[0..4] != BLOCK_MAGIC {
            return Err(Bad::new("expected a block header"));
        }
        if !is_intact(&bytes[..44], le32(bytes, 44)) {
            return Err(Bad::new("the checksum of a block header is wrong"));
        }
        let header = Header {
            kind: BlockKind::from_number(bytes[4]).ok_or_else(|| Bad::new("a block of unknown kind"))?,
            thread: le32(bytes, 8),
            events: le32(bytes, 12),
            first: le64(bytes, 16),
            last: le64(bytes, 24),
            length: le32(bytes, 32),
            crc: le32(bytes, 36),
        };
        if u64::from(header.length) > MAX_PAYLOAD {
            return Err(Bad::new("a block is absurdly long"));
        }
        Ok(header)
    }

    /// Header and payload, ready to write.
    pub(crate) fn write(mut self, payload: &[u8], out: &mut impl Write) -> io::Result<Header> {
        self.length = payload.len() as u32;
        self.crc = crc32fast::hash(payload);
        out.write_all(&self.encode())?;
        out.write_all(payload)?;
        Ok(self)
    }
}

/// Whether the bytes have this checksum. A fuzzer cannot guess checksums: when fuzzing, all bytes do.
pub(crate) fn is_intact(bytes: &[u8], crc: u32) -> bool {
    cfg!(fuzzing) || crc32fast::hash(bytes) == crc
}

pub(crate) fn le32(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes)
}

pub(crate) fn le64(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes)
}
