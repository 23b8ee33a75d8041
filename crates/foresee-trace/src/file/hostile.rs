//! Files with correct checksums and wrong contents: what a hostile writer, or a bug, would make.
//!
//! Checksums keep accidents out; they keep nobody out who can compute them. Here every block of a valid file is unpacked,
//! changed at random and sealed again, and the reader must end, without a panic and within its memory.

use std::fs::File;
use std::io::Write as _;

use foresee_oracle::Random;

use super::block::{BlockKind, HEADER_LEN, Header};
use super::pack::{Packer, Unpacker};
use super::scan::{find_blocks, trailer};
use super::varint::{Cursor, put};
use super::{MAX_COLUMN, START_LEN, TraceReader, TraceWriter};
use crate::generate::{Generator, Shape};
use crate::{EventSink as _, EventSource as _};

fn valid_file() -> Vec<u8> {
    let mut source =
        Generator::new(&Shape { events: 400, threads: 3, variables: 5, locks: 2, ..Shape::default() });
    let mut bytes = Vec::new();
    let mut writer =
        TraceWriter::new(&mut bytes, &vec![("command".into(), "x".into())]).unwrap().segment_events(100);
    while source.advance().unwrap() {
        writer.push(source.names(), &source.event()).unwrap();
    }
    writer.finish(source.names(), &source.trust()).unwrap();
    drop(writer);
    bytes
}

fn as_file(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file
}

/// The blocks of a file, each with its columns unpacked.
fn unpacked(bytes: &[u8]) -> Vec<(Header, Vec<Vec<u8>>)> {
    let file = as_file(bytes);
    let (mut payload, mut unpacker) = (Vec::new(), Unpacker::new());
    let mut blocks = Vec::new();
    for block in find_blocks(&file, bytes.len() as u64).blocks {
        block.payload(&file, &mut payload).unwrap();
        let mut cursor = Cursor::new(&payload);
        let mut columns = Vec::new();
        while !cursor.is_empty() {
            let mut column = Vec::new();
            unpacker.unpack(&mut cursor, MAX_COLUMN, &mut column).unwrap();
            columns.push(column);
        }
        blocks.push((block.header, columns));
    }
    blocks
}

/// A file of these blocks, uncompressed, with correct checksums and index.
fn sealed(start: &[u8], blocks: &[(Header, Vec<Vec<u8>>)]) -> Vec<u8> {
    let mut out = start[..START_LEN as usize].to_vec();
    let mut index = Vec::new();
    for (header, columns) in blocks {
        let mut payload = Vec::new();
        for column in columns {
            put(&mut payload, column.len() as u64);
            put(&mut payload, column.len() as u64);
            payload.extend_from_slice(column);
        }
        index.extend_from_slice(&(out.len() as u64).to_le_bytes());
        let header = header.write(&payload, &mut out).unwrap();
        index.extend_from_slice(&header.encode());
    }
    let at = out.len() as u64;
    Header::new(BlockKind::Index).write(&index, &mut out).unwrap();
    out.extend_from_slice(&trailer(at));
    out
}

fn read_all(bytes: &[u8]) -> u64 {
    let mut reader = TraceReader::new(as_file(bytes)).unwrap();
    let mut count = 0;
    while reader.advance().unwrap() {
        let _ = reader.event();
        count += 1;
        assert!(count < 10_000_000, "delivers without end");
    }
    count
}

#[test]
fn resealing_changes_nothing() {
    let bytes = valid_file();
    assert_eq!(read_all(&sealed(&bytes, &unpacked(&bytes))), read_all(&bytes));
}

#[test]
fn changed_contents_with_correct_checksums() {
    let bytes = valid_file();
    let blocks = unpacked(&bytes);
    assert!(blocks.iter().any(|(header, _)| header.kind == BlockKind::Sites) && HEADER_LEN == 48);
    let mut random = Random::new(11);
    for _ in 0..20_000 {
        let mut blocks = blocks.clone();
        for _ in 0..1 + random.below(3) {
            let at = random.below(blocks.len());
            if random.below(8) == 0 {
                let copy = blocks[random.below(blocks.len())].clone();
                blocks.insert(at, copy);
            }
            let (header, columns) = &mut blocks[at];
            match random.below(6) {
                0 => header.first = header.first.wrapping_add(random.below(1000) as u64).wrapping_sub(500),
                1 => header.last = [0, u64::MAX, 1 << 44][random.below(3)],
                2 => header.events = [0, 1, u32::MAX][random.below(3)],
                3 => header.thread = [0, 1, u32::MAX][random.below(3)],
                _ => {
                    let column = random.below(columns.len());
                    if let Some(column) = columns.get_mut(column)
                        && !column.is_empty()
                    {
                        let at = random.below(column.len());
                        match random.below(4) {
                            0 => column[at] = 0xff,
                            1 => column[at] ^= 1 << random.below(8),
                            2 => column.truncate(at),
                            _ => column.insert(at, random.below(256) as u8),
                        }
                    }
                }
            }
        }
        read_all(&sealed(&bytes, &blocks));
    }
}

#[test]
fn a_bomb_is_refused() {
    let bytes = valid_file();
    let mut blocks = unpacked(&bytes);
    // One block that would have 32 MiB of columns when open, by thousands, all open at once: a gigabyte is the limit.
    let mut payload = Vec::new();
    Packer::new().pack(&vec![0; MAX_COLUMN], &mut payload);
    assert!(payload.len() < 10_000, "compresses well");
    blocks.retain(|(header, _)| header.kind != BlockKind::Events && header.kind != BlockKind::Checkpoint);
    let mut out = sealed(&bytes, &blocks);
    // A table that decompresses to far more than its size.
    let table = Header::new(BlockKind::Names);
    out.truncate(START_LEN as usize);
    table.write(&payload, &mut out).unwrap();
    let mut reader = TraceReader::new(as_file(&out)).unwrap();
    assert!(!reader.advance().unwrap());
    assert!(reader.damage().unwrap().what.contains("absurdly long"), "{:?}", reader.damage());
}
