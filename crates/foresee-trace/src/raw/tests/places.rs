//! Compact records: what a thread does where it has been before.

use foresee_format::places::{ATOMIC, EXIT, FILLER, WrittenPlaces, now, what};

use super::*;

const PC: u64 = 0x5555_0000_1000;
const ADDR: u64 = 0x5556_0000_0000;

/// The records of a thread on their way into a chunk, as the runtime writes them.
struct Writing {
    places: WrittenPlaces,
    bytes: Vec<u8>,
}

impl Writing {
    fn new() -> Writing {
        Writing { places: WrittenPlaces::none(), bytes: Vec::new() }
    }

    fn full(&mut self, words: &[u64]) {
        self.bytes.resize(self.bytes.len().next_multiple_of(8), FILLER);
        self.bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    }

    fn compact(&mut self, word: u64, len: usize) {
        self.bytes.extend_from_slice(&word.to_le_bytes()[..len]);
    }

    fn at(&mut self, tag: Tag, detail: u8, pc: u64, addr: u64) {
        let at = what(tag, detail, pc);
        if let Some(record) = self.places.known(at, addr) {
            self.compact(record.word, record.len);
            self.places.note(record, addr);
        } else if let Some(second) = self.places.full(at, addr) {
            self.full(&[at, second]);
            self.places.note_full(at, second);
        }
    }

    fn chunk(self, owner: u64) -> Vec<u8> {
        let mut chunk = chunk(owner, &[]);
        chunk[8 * CHUNK_HEADER_WORDS..][..self.bytes.len()].copy_from_slice(&self.bytes);
        chunk
    }
}

#[test]
fn compact_records_are_read_as_full_ones_with_the_key_before_them() {
    let mut thread = Writing::new();
    thread.full(&[first_word(Tag::Begin, 0, 1)]);
    thread.full(&[first_word(Tag::Fork, 0, 1), PC, 1]);
    for round in 0..2 {
        thread.at(Tag::EnterAt, 0, PC, PC - 100);
        thread.at(Tag::WriteAt, 8, PC + 4, ADDR + 8 * round);
        thread.at(Tag::ReadRangeAt, 20, PC + 9, ADDR);
        thread.compact(EXIT.into(), 1);
        thread.full(&[first_word(Tag::Now, 0, 8)]);
    }
    let other = chunk(1, &[&[first_word(Tag::Begin, 0, 3)], &[first_word(Tag::End, 0, 5)]]);
    let file = [header(), thread.chunk(0), other];
    let (events, damaged) = read(&file.concat()).unwrap();
    let round = ["enter", "write", "read", "exit"];
    let begin = ["thread-begin", "fork"];
    let other = ["thread-begin", "thread-end"];
    assert_eq!(events, [&begin[..], &round, &other, &round].concat());
    assert!(!damaged);
}

#[test]
fn compact_atomics_have_keys_of_their_own() {
    let mut thread = Writing::new();
    thread.full(&[first_word(Tag::Begin, 0, 1)]);
    thread.full(&[first_word(Tag::Fork, 0, 1), PC, 1]);
    thread.full(&[first_word(Tag::Rmw, 0x25, 3), PC, ADDR, 0, 100]);
    let at = what(Tag::NearRmw, 0x25, PC);
    thread.places.note_atomic(at, ADDR, 0);
    // The last key counts as 4, so this one has 9.
    let record = thread.places.atomic(at, ADDR + 8, [1, 2], 2).unwrap();
    assert_eq!(record.word as u8, ATOMIC);
    thread.compact(record.word, record.len);
    let other = chunk(1, &[&[first_word(Tag::Begin, 0, 8)], &[first_word(Tag::End, 0, 10)]]);
    let file = [header(), thread.chunk(0), other].concat();
    let (events, _) = read(&file).unwrap();
    assert_eq!(events, ["thread-begin", "fork", "rmw", "thread-begin", "rmw", "thread-end"]);
    let (lines, _) = lines(&file, Box::new(NoSymbols));
    let last = lines.iter().rfind(|line| line.contains("rmw")).unwrap();
    assert!(last.contains("rmw.seqcst") && last.contains('2'), "{last}");
}

#[test]
fn compact_loads_have_the_last_key_that_was_said() {
    let mut thread = Writing::new();
    thread.full(&[first_word(Tag::Begin, 0, 1)]);
    thread.full(&[first_word(Tag::Fork, 0, 1), PC, 1]);
    thread.full(&[first_word(Tag::Load, 0x20, 2), PC, ADDR, 70]);
    let at = what(Tag::NearLoad, 0x20, PC);
    thread.places.note_atomic(at, ADDR, 70);
    // Once more with key 2, then with 10.
    for now in [None, now(8), None] {
        now.into_iter().for_each(|(word, len)| thread.compact(word, len));
        let record = thread.places.load(at, ADDR, 70).unwrap();
        thread.places.note(record, ADDR);
        thread.compact(record.word, record.len);
    }
    let other = chunk(1, &[&[first_word(Tag::Begin, 0, 9)], &[first_word(Tag::End, 0, 11)]]);
    let file = [header(), thread.chunk(0), other].concat();
    let (events, damaged) = read(&file).unwrap();
    let begin = ["thread-begin", "fork", "load", "load"];
    assert_eq!(events, [&begin[..], &["thread-begin", "load", "load", "thread-end"]].concat());
    assert!(!damaged);
    let (lines, _) = lines(&file, Box::new(NoSymbols));
    let is_load = |line: &&String| line.contains("load.relaxed") && line.contains("70");
    assert_eq!(lines.iter().filter(is_load).count(), 4, "{lines:?}");
}

#[test]
fn compact_records_of_places_that_nobody_told_are_damage() {
    let mut thread = Writing::new();
    thread.full(&[first_word(Tag::Begin, 0, 1)]);
    thread.compact(u64::from(u8::MAX), 1);
    let (events, damaged) = read(&[header(), thread.chunk(0)].concat()).unwrap();
    assert_eq!((events, damaged), (vec!["thread-begin"], true));
}

#[test]
fn places_are_told_anew_in_each_chunk() {
    let mut first = Writing::new();
    first.full(&[first_word(Tag::Begin, 0, 1)]);
    first.at(Tag::WriteAt, 8, PC, ADDR);
    let mut second = Writing::new();
    second.full(&[first_word(Tag::Now, 0, 2)]);
    let at = what(Tag::WriteAt, 8, PC);
    let told = second.places.full(at, ADDR).unwrap();
    second.places.note_full(at, told);
    second.at(Tag::WriteAt, 8, PC, ADDR);
    let (events, damaged) = read(&[header(), first.chunk(0), second.chunk(0)].concat()).unwrap();
    assert_eq!((events, damaged), (vec!["thread-begin", "write"], true));
}
