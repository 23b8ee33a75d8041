//! Reads that saw what no recorded write explains.

use super::*;
use foresee_format::near::{NearAccess, with_digest};

const X: u64 = 0x5556_0000_0100;
const PC: u64 = 0x5555_0000_1000;

fn plain(tag: Tag, size: u8, key: u64, addr: u64) -> Vec<u64> {
    vec![first_word(tag, size, key), PC, addr]
}

fn saw(size: u8, digest: u64, key: u64, addr: u64) -> Vec<u64> {
    vec![first_word(Tag::ReadSeen, size, key), PC | digest << DIGEST_SHIFT, addr]
}

fn wide(tag: Tag, key: u64, addr: u64, size: u64) -> Vec<u64> {
    vec![first_word(tag, 0, key), PC, addr, size]
}

/// Something that is stamped.
fn stamp(key: u64) -> Vec<u64> {
    vec![first_word(Tag::Fence, 5, key), PC]
}

fn reader_of(flags: RunFlags, image: Option<&[u8]>, threads: &[Vec<Vec<u64>>]) -> RawReader {
    let mut file = header();
    file[8 * FLAGS_WORD..][..8].copy_from_slice(&flags.word().to_le_bytes());
    if let Some(image) = image {
        let mut words = vec![TEXT_IMAGE, image.len() as u64];
        words.extend(image.as_chunks::<8>().0.iter().map(|&word| u64::from_le_bytes(word)));
        file.extend(chunk(TEXT_OWNER, &[&words]));
    }
    for (owner, records) in (0..).zip(threads) {
        let begin = vec![first_word(Tag::Begin, 0, 2 * owner + 1)];
        let records: Vec<&[u64]> = [&begin].into_iter().chain(records).map(Vec::as_slice).collect();
        file.extend(chunk(owner, &records));
    }
    let mut temporary = tempfile::tempfile().unwrap();
    temporary.write_all(&file).unwrap();
    let mut reader = RawReader::new(temporary, Box::new(NoSymbols), LockTable::default()).unwrap();
    while reader.advance().unwrap() {}
    reader
}

/// How many pairs of reads differ unexplained.
fn firings(threads: &[Vec<Vec<u64>>]) -> u64 {
    let reader = reader_of(RunFlags::HAS_SEEN_VALUES, None, threads);
    reader.trust().unseen_writes().map(|unseen| unseen.times).sum()
}

#[test]
fn two_reads_that_differ_show_an_unseen_write() {
    assert_eq!(firings(&[vec![saw(4, 1, 4, X), saw(4, 2, 4, X), saw(4, 2, 4, X)]]), 1);
    assert_eq!(firings(&[vec![saw(4, 1, 4, X), saw(4, 1, 4, X)]]), 0);
    // Of different bytes nothing is known.
    assert_eq!(firings(&[vec![saw(4, 1, 4, X), saw(8, 2, 4, X), saw(4, 3, 4, X + 4)]]), 0);
    let others = vec![saw(4, 1, 4, X), stamp(11)];
    let threads = [others, vec![saw(4, 2, 14, X), stamp(15)]];
    assert_eq!(firings(&threads), 1);
    let reader = reader_of(RunFlags::HAS_SEEN_VALUES, None, &threads);
    let trust = reader.trust();
    let unseen = trust.unseen_writes().next().unwrap();
    assert_eq!((unseen.mem.addr, unseen.mem.size, unseen.events), (X, 4, [5, 7]));
    assert_eq!(reader.facts().last().unwrap(), &(super::super::VALUES_COMPARED.to_owned(), "1".to_owned()));
}

#[test]
fn a_recorded_write_of_a_shared_byte_explains_it() {
    for write in [
        plain(Tag::Write, 4, 4, X),
        plain(Tag::Write, 1, 4, X + 3),
        plain(Tag::Write, 16, 4, X - 15),
        wide(Tag::WriteRange, 4, X - 5000, 10_000),
        wide(Tag::WriteRange, 4, X - 5_000_000, 10_000_000),
        wide(Tag::Alloc, 4, X, 100),
        wide(Tag::Free, 4, X - 8, 100),
        wide(Tag::Changed, 4, X & !4095, 4096),
        vec![first_word(Tag::WriteValue, 4, 4), PC, X, 7],
        vec![first_word(Tag::Store, 5 | 2 << 4, 5), PC, X, 7],
    ] {
        assert_eq!(firings(&[vec![saw(4, 1, 4, X), write.clone(), saw(4, 2, 6, X)]]), 0, "{write:x?}");
    }
    for other in [plain(Tag::Write, 4, 4, X + 4), plain(Tag::Write, 16, 4, X - 16), plain(Tag::Read, 4, 4, X)]
    {
        assert_eq!(firings(&[vec![saw(4, 1, 4, X), other.clone(), saw(4, 2, 6, X)]]), 1, "{other:x?}");
    }
}

#[test]
fn a_write_that_may_be_elsewhere_in_the_order_explains_it() {
    let reads = || vec![saw(4, 1, 8, X), saw(4, 2, 8, X), stamp(21)];
    // Neither before nor after: the thread has not stamped since, or the reads' thread has not gone on.
    assert_eq!(firings(&[vec![plain(Tag::Write, 4, 6, X)], reads()]), 0);
    assert_eq!(firings(&[vec![plain(Tag::Write, 4, 10, X)], reads()]), 0);
    assert_eq!(firings(&[vec![plain(Tag::Write, 4, 20, X)], reads()]), 0);
    // Surely before, surely after.
    assert_eq!(firings(&[vec![plain(Tag::Write, 4, 4, X), stamp(5)], reads()]), 1);
    assert_eq!(firings(&[vec![plain(Tag::Write, 4, 22, X)], reads()]), 1);
    // What a function wrote is recorded when it returns.
    assert_eq!(firings(&[vec![stamp(5), wide(Tag::WriteRange, 22, X, 8)], reads()]), 0);
    assert_eq!(firings(&[vec![stamp(23), wide(Tag::WriteRange, 24, X, 8)], reads()]), 1);
}

#[test]
fn a_write_that_a_handler_came_before_counts_again() {
    let enter = vec![first_word(Tag::Enter, 0, 4), PC, PC];
    let exit = vec![first_word(Tag::Exit, 0, 4)];
    let write = plain(Tag::Write, 4, 4, X);
    assert_eq!(firings(&[vec![write, enter, saw(4, 1, 4, X), exit, saw(4, 2, 4, X)]]), 0);
}

#[test]
fn stacks_atomics_and_runs_with_accesses_left_out_are_not_compared() {
    let stack = vec![first_word(Tag::Alloc, 0, 4), 0, X - 100, 4096];
    let differ = [saw(4, 1, 6, X), saw(4, 2, 6, X)];
    assert_eq!(firings(&[[std::slice::from_ref(&stack), &differ[..]].concat()]), 0);
    // What was a stack is used for something else.
    assert_eq!(firings(&[[&[stack, wide(Tag::Alloc, 6, X, 64)], &differ[..]].concat()]), 1);
    let atomic = vec![first_word(Tag::Load, 5 | 2 << 4, 5), PC, X, 7];
    assert_eq!(firings(&[[&[atomic], &differ[..]].concat()]), 0);
    let flags = RunFlags::HAS_SEEN_VALUES.with_if(RunFlags::ACCESSES_LEFT_OUT, true);
    assert_eq!(reader_of(flags, None, &[differ.to_vec()]).trust().unseen_writes().count(), 0);
    assert_eq!(reader_of(RunFlags::NONE, None, &[differ.to_vec()]).trust().unseen_writes().count(), 0);
}

#[test]
fn the_first_read_is_compared_with_the_programs_data() {
    let mut image = [X.to_le_bytes(), 1000_u64.to_le_bytes(), 512_u64.to_le_bytes()].concat();
    image.extend([7; IMAGE_PIECE]);
    let count = |records: &[Vec<u64>]| {
        let reader = reader_of(RunFlags::HAS_SEEN_VALUES, Some(&image), &[records.to_vec()]);
        reader.trust().unseen_writes().count()
    };
    assert_eq!(count(&[saw(1, 0, 4, X + 511), saw(1, 7, 4, X + 512), saw(8, 0, 4, X)]), 0);
    assert_eq!(count(&[saw(1, 1, 4, X + 511), saw(1, 1, 4, X + 512)]), 2);
    assert_eq!(count(&[saw(1, 1, 4, X - 1), saw(1, 1, 4, X + 1000), saw(2, 1, 4, X + 999)]), 0);
    assert_eq!(count(&[plain(Tag::Write, 1, 4, X + 2), saw(1, 1, 4, X + 2), saw(4, 1, 4, X)]), 0);
}

#[test]
fn near_reads_with_digests_come_back() {
    let near = NearAccess::nowhere();
    assert_eq!(near.encode_seen(PC, X, 8), None);
    near.set(PC, X);
    for (pc, addr, size) in
        [(PC, X, 1), (PC - (1 << 16), X - (1 << 25), 16), (PC + 65535, X + (1 << 25) - 1, 4)]
    {
        let word = with_digest(near.encode_seen(pc, addr, size).unwrap(), 0xa5);
        assert_eq!(near.decode_seen(word), (pc, addr, size, 0xa5));
    }
    assert_eq!(near.encode_seen(PC + (1 << 16), X, 8), None);
    assert_eq!(near.encode_seen(PC, X + (1 << 25), 8), None);
    let word = with_digest(near.encode_seen(PC + 4, X, 4).unwrap(), 2);
    assert_eq!(firings(&[vec![saw(4, 1, 4, X), vec![word]]]), 1);
}
