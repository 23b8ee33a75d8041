//! Finds the blocks of a file: by its index, or block by block where the index is missing or damaged.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use super::block::{BlockKind, HEADER_LEN, Header, is_intact, le32, le64};
use super::{Bad, START_LEN};

const TRAILER_LEN: usize = 24;
const TRAILER_MAGIC: [u8; 8] = *b"FTindex\n";

/// A block and where it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockRef {
    pub(crate) offset: u64,
    pub(crate) header: Header,
}

impl BlockRef {
    /// Reads and checks the payload.
    pub(crate) fn payload(&self, file: &File, out: &mut Vec<u8>) -> Result<(), Bad> {
        out.clear();
        out.resize(self.header.length as usize, 0);
        read_exact_at(file, out, self.offset + HEADER_LEN as u64)?;
        if is_intact(out, self.header.crc) { Ok(()) } else { Err(Bad::new("a checksum is wrong")) }
    }
}

/// The blocks of a file in file order, and where finding them ended if not at the end.
pub(crate) struct Layout {
    pub(crate) blocks: Vec<BlockRef>,
    pub(crate) damage: Option<(u64, Bad)>,
}

/// Finds all blocks of a file of `len` bytes.
pub(crate) fn find_blocks(file: &File, len: u64) -> Layout {
    match from_index(file, len) {
        Ok(blocks) => Layout { blocks, damage: None },
        Err(_) => block_by_block(file, len),
    }
}

/// The last bytes of a complete file.
pub(crate) fn trailer(index_at: u64) -> [u8; TRAILER_LEN] {
    let mut out = [0; TRAILER_LEN];
    out[..8].copy_from_slice(&index_at.to_le_bytes());
    out[8..16].copy_from_slice(&TRAILER_MAGIC);
    let crc = crc32fast::hash(&out[..20]);
    out[20..].copy_from_slice(&crc.to_le_bytes());
    out
}

fn from_index(file: &File, len: u64) -> Result<Vec<BlockRef>, Bad> {
    let mut end = [0; TRAILER_LEN];
    let trailer_at = len.checked_sub(TRAILER_LEN as u64).ok_or_else(|| Bad::new("no trailer"))?;
    read_exact_at(file, &mut end, trailer_at)?;
    if end[8..16] != TRAILER_MAGIC || !is_intact(&end[..20], le32(&end, 20)) {
        return Err(Bad::new("no trailer"));
    }
    let index = header_at(file, le64(&end, 0), trailer_at)?;
    if index.header.kind != BlockKind::Index {
        return Err(Bad::new("no index"));
    }
    let mut payload = Vec::new();
    index.payload(file, &mut payload)?;
    let mut blocks = Vec::with_capacity(payload.len() / (8 + HEADER_LEN));
    let mut expected = START_LEN;
    for entry in payload.chunks(8 + HEADER_LEN) {
        let header = entry.get(8..).and_then(|bytes| bytes.try_into().ok());
        let header = Header::decode(header.ok_or_else(|| Bad::new("the index is cut off"))?)?;
        let offset = le64(entry, 0);
        // Blocks stand one after the other: an index that says otherwise is not one of this file.
        if offset != expected {
            return Err(Bad::new("the index does not fit the file"));
        }
        expected += (HEADER_LEN as u64) + u64::from(header.length);
        blocks.push(BlockRef { offset, header });
    }
    if expected != index.offset {
        return Err(Bad::new("the index does not fit the file"));
    }
    Ok(blocks)
}

fn block_by_block(file: &File, len: u64) -> Layout {
    let mut blocks = Vec::new();
    let mut offset = START_LEN;
    let damage = loop {
        match header_at(file, offset, len) {
            // All blocks are there; only the way to find them fast is damaged.
            Ok(block) if block.header.kind == BlockKind::Index => break None,
            Ok(block) => {
                offset += HEADER_LEN as u64 + u64::from(block.header.length);
                blocks.push(block);
            }
            Err(_) if offset == len => break Some((offset, Bad::new("the trace was not completed"))),
            Err(bad) => break Some((offset, bad)),
        }
    };
    Layout { blocks, damage }
}

fn header_at(file: &File, offset: u64, len: u64) -> Result<BlockRef, Bad> {
    let mut bytes = [0; HEADER_LEN];
    if offset > len || len - offset < HEADER_LEN as u64 {
        return Err(Bad::new("the file is cut off"));
    }
    read_exact_at(file, &mut bytes, offset)?;
    let header = Header::decode(&bytes)?;
    if u64::from(header.length) > len - offset - HEADER_LEN as u64 {
        return Err(Bad::new("the file is cut off"));
    }
    Ok(BlockRef { offset, header })
}

fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    file.read_exact_at(buffer, offset)
}
