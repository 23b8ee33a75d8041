//! Reading a trace while it is written: the same events as afterwards, or a warning.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use super::*;
use crate::event::Event;
use crate::ids::ThreadId;

/// Threads that write records with growing keys, each into chunks of its own; what they write appears when it is asked for.
pub(super) struct Program {
    pub(super) file: File,
    len: u64,
    /// Where each thread writes next, and where its chunk ends.
    places: Vec<(u64, u64)>,
    /// Words that are about to be written, and where.
    pub(super) in_flight: Vec<(u64, u64)>,
}

impl Program {
    pub(super) fn new(threads: usize) -> Program {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(&header(), 0).unwrap();
        let flags = RunFlags::CHUNKS_STAY.word();
        file.write_all_at(&flags.to_le_bytes(), 8 * FLAGS_WORD as u64).unwrap();
        Program { file, len: HEADER_LEN, places: vec![(0, 0); threads], in_flight: Vec::new() }
    }

    pub(super) fn record(&mut self, thread: usize, record: &[u64]) {
        let (next, end) = self.places[thread];
        if next + 8 * record.len() as u64 > end {
            let words = [CHUNK_MAGIC, thread as u64, UNIT, 0];
            self.file.set_len(self.len + UNIT).unwrap();
            let start = self.len;
            self.in_flight.extend((1..4).chain([0]).map(|i| (start + 8 * i as u64, words[i])));
            self.places[thread] = (start + 32, start + UNIT);
            self.len += UNIT;
        }
        let next = self.places[thread].0;
        self.in_flight.extend((1..record.len()).chain([0]).map(|i| (next + 8 * i as u64, record[i])));
        self.places[thread].0 += 8 * record.len() as u64;
    }

    /// The first of the words that are about to be written appear.
    pub(super) fn write(&mut self, words: usize) {
        for (at, word) in self.in_flight.drain(..words) {
            self.file.write_all_at(&word.to_le_bytes(), at).unwrap();
        }
    }

    pub(super) fn reader(&self, symbolizer: Box<dyn Symbolizer>) -> Option<RawReader> {
        let file = self.file.try_clone().unwrap();
        RawReader::follow(file, symbolizer, LockTable::default()).unwrap()
    }
}

fn take(reader: &mut RawReader, events: &mut Vec<String>) {
    while reader.advance().unwrap() {
        let event = reader.event();
        events.push(format!("{} {:?}", reader.names().thread_name(event.thread), event.op));
    }
}

#[test]
fn following_delivers_what_reading_afterwards_does() {
    for seed in 0..40_u64 {
        let mut state = seed;
        let mut below = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        let mut program = Program::new(3);
        let (mut reader, mut events, mut early) = (None, Vec::new(), 0);
        let mut written = 0;
        for key in 0..6000 {
            let words = [first_word(Tag::Write, 4, 2 * (key / 3)), 9, 0x1000 + 8 * key];
            program.record(below(3) as usize, &words);
            if below(300) == 0 {
                // What was in flight at the last look is there at this one; of the rest, something.
                let about = program.in_flight.len();
                program.write(written.max(below(about as u64 + 1) as usize));
                written = program.in_flight.len();
                match &mut reader {
                    Some(reader) => RawReader::look_again(reader).unwrap(),
                    None => reader = program.reader(Box::new(NoSymbols)),
                }
                reader.iter_mut().for_each(|reader| take(reader, &mut events));
                early = events.len();
            }
        }
        program.write(program.in_flight.len());
        let mut reader = reader.or_else(|| program.reader(Box::new(NoSymbols))).unwrap();
        reader.end_following().unwrap();
        take(&mut reader, &mut events);
        let mut after = Vec::new();
        let file = program.file.try_clone().unwrap();
        take(&mut RawReader::new(file, Box::new(NoSymbols), LockTable::default()).unwrap(), &mut after);
        assert_eq!(events, after, "seed {seed}");
        assert!(!reader.came_late(), "seed {seed}");
        assert!(early > 0 && after.len() == 6000, "seed {seed}: {early} of {}", after.len());
    }
}

#[test]
fn what_comes_too_late_is_noticed() {
    let mut program = Program::new(2);
    program.record(0, &[first_word(Tag::Write, 4, 2), 9, 0x100]);
    program.write(program.in_flight.len());
    let mut reader = program.reader(Box::new(NoSymbols)).unwrap();
    program.record(0, &[first_word(Tag::Write, 4, 20), 9, 0x108]);
    program.record(0, &[first_word(Tag::Write, 4, 30), 9, 0x110]);
    program.write(program.in_flight.len());
    for _ in 0..2 {
        reader.look_again().unwrap();
    }
    let mut events = Vec::new();
    take(&mut reader, &mut events);
    assert_eq!(events.len(), 2);
    program.record(1, &[first_word(Tag::Write, 4, 12), 9, 0x100]);
    program.write(program.in_flight.len());
    reader.end_following().unwrap();
    take(&mut reader, &mut events);
    assert_eq!(events.len(), 4);
    assert!(reader.came_late());
}

#[test]
fn a_value_that_is_still_to_come_is_waited_for() {
    let mut program = Program::new(1);
    program.record(0, &[first_word(Tag::Write, 4, 2), 9, 0x100]);
    program.record(0, &[first_word(Tag::WriteValue, 4 | UNSETTLED, 4), 9, 0x200, 0]);
    let value = program.places[0].0 - 32;
    program.record(0, &[first_word(Tag::Write, 4, 6), 9, 0x110]);
    program.write(program.in_flight.len());
    let mut reader = program.reader(Box::new(NoSymbols)).unwrap();
    for _ in 0..3 {
        reader.look_again().unwrap();
    }
    let mut events = Vec::new();
    take(&mut reader, &mut events);
    assert!(events.len() <= 1);
    program.in_flight = vec![(value + 24, 77), (value, first_word(Tag::WriteValue, 4, 4))];
    program.write(2);
    reader.end_following().unwrap();
    take(&mut reader, &mut events);
    assert_eq!(events.len(), 3);
    assert!(events[1].contains("77"), "{events:?}");
    assert!(!reader.came_late());
}

/// Threads that begin, write once and end, one after the other.
fn short_threads(program: &mut Program, threads: std::ops::Range<usize>) {
    for thread in threads {
        let key = 6 * thread as u64;
        program.record(thread, &[first_word(Tag::Begin, 0, key + 1)]);
        program.record(thread, &[first_word(Tag::Write, 4, key + 2), 9, 0x100]);
        program.record(thread, &[first_word(Tag::End, 0, key + 3)]);
    }
    program.write(program.in_flight.len());
}

#[test]
fn what_threads_that_have_ended_left_is_read_and_given_back_however_many_there_were() {
    const THREADS: usize = 3000;
    let mut program = Program::new(THREADS);
    short_threads(&mut program, 0..10);
    let mut reader = program.reader(Box::new(NoSymbols)).unwrap();
    let (mut events, mut given_back) = (Vec::new(), 0);
    for first in (10..THREADS).step_by(10) {
        short_threads(&mut program, first..first + 10);
        reader.look_again().unwrap();
        take(&mut reader, &mut events);
        for (start, end) in reader.take_read() {
            assert!(start.is_multiple_of(UNIT) && end == start + UNIT, "a whole chunk: {start} to {end}");
            program.file.write_all_at(&vec![0; UNIT as usize], start).unwrap();
            given_back += end - start;
        }
        let kept = first as u64 * UNIT - given_back;
        assert!(kept <= 40 * UNIT, "of {first} threads {} are kept", kept / UNIT);
    }
    reader.end_following().unwrap();
    take(&mut reader, &mut events);
    assert!(!reader.came_late() && reader.damage().is_none());
    assert_eq!(events.len(), 3 * THREADS);
}

/// A thread that starts others, one after the other: some are joined, some detached before or after they end, one is neither. Each locks, and one ends with a lock.
#[test]
fn threads_that_have_gone_are_told_of_once_and_forgotten() {
    const THREADS: u64 = 400;
    let (abandons, stays) = (50, 60);
    let mut program = Program::new(THREADS as usize);
    program.record(0, &[first_word(Tag::Begin, 0, 1)]);
    program.write(program.in_flight.len());
    let mut reader = program.reader(Box::new(NoSymbols)).unwrap();
    reader.forget_threads();
    let (mut gone, mut ended, mut known) = (Vec::new(), Vec::new(), 0);
    for thread in 1..THREADS {
        let mut key = 100 * thread + 1;
        let mut does = |by: u64, tag, words: &[u64]| {
            key += 2;
            let first = first_word(tag, 0, key);
            program.record(by as usize, &[&[first], words].concat());
        };
        does(0, Tag::Fork, &[9, thread]);
        if thread % 3 == 1 {
            does(0, Tag::Detach, &[9, thread]);
        }
        does(thread, Tag::Begin, &[]);
        does(thread, Tag::Acquire, &[9, 0x1000]);
        does(thread, Tag::Release, &[9, 0x1000]);
        if thread == abandons {
            does(thread, Tag::Acquire, &[9, 0x2000]);
        }
        does(thread, Tag::End, &[]);
        match thread % 3 {
            0 if thread != stays => does(0, Tag::Join, &[9, thread]),
            2 => does(0, Tag::Detach, &[9, thread]),
            _ => {}
        }
        program.write(program.in_flight.len());
        reader.look_again().unwrap();
        while reader.advance().unwrap() {
            let Event { thread, op, .. } = reader.event();
            assert!(!gone.contains(&thread), "{thread:?} has gone, and does {op:?}");
            known += usize::from(!reader.names().thread_name(thread).is_empty());
            ended.extend((op == Op::ThreadEnd).then_some(thread));
            gone.extend(reader.take_gone());
        }
        program.in_flight.clear();
    }
    reader.end_following().unwrap();
    while reader.advance().unwrap() {
        ended.extend((reader.event().op == Op::ThreadEnd).then_some(reader.event().thread));
        gone.extend(reader.take_gone());
    }
    assert_eq!((ended.len() as u64, gone.len() as u64), (THREADS - 1, THREADS - 3));
    assert!(known > 1000);
    // Names are there of who is.
    let named = |thread: &ThreadId| !reader.names().thread_name(*thread).is_empty();
    let left: Vec<&str> = ended
        .iter()
        .filter(|thread| named(thread))
        .map(|&thread| reader.names().thread_name(thread))
        .collect();
    assert_eq!(left, [format!("T{abandons}"), format!("T{stays}")]);
    assert!(reader.names().threads().is_empty() && !reader.trust().gaps().is_empty());
}

#[test]
fn who_is_started_by_the_system_after_threads_were_forgotten_is_doubted() {
    for (forgets, detaches) in [(true, true), (true, false), (false, true)] {
        let mut program = Program::new(3);
        let mut does = |by, tag, key, words: &[u64]| {
            program.record(by, &[&[first_word(tag, 0, key)], words].concat());
        };
        does(0, Tag::Begin, 1, &[]);
        does(0, Tag::Fork, 3, &[9, 1]);
        does(1, Tag::Begin, 5, &[]);
        if detaches {
            does(0, Tag::Detach, 6, &[9, 1]);
        }
        does(1, Tag::End, 7, &[]);
        does(2, Tag::Begin, 9, &[]);
        does(2, Tag::Write, 10, &[9, 0x100]);
        program.write(program.in_flight.len());
        let mut reader = program.reader(Box::new(NoSymbols)).unwrap();
        if forgets {
            reader.forget_threads();
        }
        reader.end_following().unwrap();
        let mut events = Vec::new();
        take(&mut reader, &mut events);
        let joins = events.iter().any(|event| event.contains("Join"));
        let is_doubted = reader.trust().gaps().contains(&Gap::ForgottenThreads);
        let both = forgets && detaches;
        assert_eq!((joins, is_doubted), (!both, both), "{events:?}");
    }
}

#[test]
fn a_trace_whose_chunks_may_change_is_read_when_it_is_complete() {
    let mut program = Program::new(1);
    program.file.write_all_at(&[0; 8], 8 * FLAGS_WORD as u64).unwrap();
    short_threads(&mut program, 0..1);
    assert!(program.reader(Box::new(NoSymbols)).is_none());
    let file = program.file.try_clone().unwrap();
    let mut events = Vec::new();
    take(&mut RawReader::new(file, Box::new(NoSymbols), LockTable::default()).unwrap(), &mut events);
    assert_eq!(events.len(), 3);
}
