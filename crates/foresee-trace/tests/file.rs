//! The trace file: what goes in comes out, and what is damaged is read up to the damage.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::fs::File;
use std::io::Write;

use foresee_oracle::Random;
use foresee_trace::file::{TraceReader, TraceWriter};
use foresee_trace::{
    Event, EventSink as _, EventSource as _, Execution, Facts, Location, Names, TraceError, Trust,
};
use support::{names, random_event};

fn facts() -> Facts {
    vec![("command".into(), "prog --flag".into()), ("host".into(), "bänk".into())]
}

fn write(names: &Names, events: &[Event<'_>], segment: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = TraceWriter::new(&mut bytes, &facts()).unwrap().segment_events(segment);
    for event in events {
        writer.push(names, event).unwrap();
    }
    writer.finish(names, &Trust::whole()).unwrap();
    drop(writer);
    bytes
}

fn open(bytes: &[u8]) -> Result<TraceReader, foresee_trace::TraceError> {
    let mut file: File = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    TraceReader::new(file)
}

fn random_events(seed: u64, count: usize, threads: u32) -> (Names, Vec<Event<'static>>) {
    let names = names(threads);
    let mut random = Random::new(seed);
    let events = (0..count).map(|_| random_event(&mut random, &names)).collect();
    (names, events)
}

/// Reads all, checking each event against what was written; how many there were.
fn check_prefix(reader: &mut TraceReader, events: &[Event<'_>]) -> usize {
    let mut count = 0;
    while reader.advance().unwrap() {
        assert_eq!(reader.event(), events[count], "event {count}");
        count += 1;
    }
    assert!(!reader.advance().unwrap(), "the end is the end");
    count
}

#[test]
fn every_event_comes_back() {
    for seed in 0..40 {
        let threads = [1, 2, 3, 8, 100][seed as usize % 5];
        let (names, events) = random_events(seed, 3000, threads);
        for segment in [1, 7, 500, 1 << 18] {
            let mut reader = open(&write(&names, &events, segment)).unwrap();
            assert_eq!(check_prefix(&mut reader, &events), events.len(), "seed {seed}, segment {segment}");
            assert_eq!(reader.damage(), None);
            assert_eq!(reader.facts(), &facts());
            assert_eq!(reader.trust(), Trust::whole());
            assert_eq!(reader.names().threads(), names.threads());
            assert_eq!(reader.info().events, events.len() as u64);
        }
    }
}

#[test]
fn an_execution_holds_what_the_file_has() {
    let (names, events) = random_events(5, 5000, 8);
    let mut reader = open(&write(&names, &events, 1000)).unwrap();
    let execution = Execution::read(&mut reader).unwrap();
    assert_eq!(execution.len(), events.len());
    for (id, event) in execution.ids().zip(&events) {
        assert_eq!(execution.event(id), *event);
    }
}

#[test]
fn seeking_lands_on_the_event() {
    let (names, events) = random_events(9, 2000, 5);
    let mut reader = open(&write(&names, &events, 64)).unwrap();
    for index in [1999, 0, 63, 64, 65, 1000, 3] {
        reader.seek(index).unwrap();
        assert!(reader.advance().unwrap());
        assert_eq!(reader.event(), events[index as usize], "index {index}");
    }
    reader.seek(5000).unwrap();
    assert!(!reader.advance().unwrap());
}

#[test]
fn an_empty_trace_is_a_trace() {
    let mut reader = open(&write(&Names::new(), &[], 10)).unwrap();
    assert!(!reader.advance().unwrap());
    assert_eq!(reader.damage(), None);
}

/// Writes events on another thread, with names that come up as they do: a thread, a string and a location for each thousand.
fn write_beside(
    out: impl Write + Send + 'static,
    count: usize,
    finishes: bool,
) -> (Names, Vec<Event<'static>>, Result<(), TraceError>) {
    let (mut names, mut events) = (names(2), Vec::new());
    let mut random = Random::new(8);
    let mut writer = TraceWriter::beside(out, &facts()).unwrap().segment_events(5000);
    let mut result = Ok(());
    for at in 0..count {
        if at.is_multiple_of(1000) {
            let name = names.intern(&format!("name {at}"));
            names.new_thread(name);
            names.location(Location { file: name, line: at as u32, column: 0, function: name });
        }
        events.push(random_event(&mut random, &names));
        if result.is_ok() {
            result = writer.push(&names, &events[at]);
        }
    }
    if finishes && result.is_ok() {
        result = writer.fact("later", "known").and_then(|()| writer.finish(&names, &Trust::whole()));
        assert!(result.is_err() || writer.push(&names, &events[0]).is_err(), "the end is the end");
    }
    (names, events, result)
}

#[test]
fn what_another_thread_writes_is_what_was_handed_in() {
    for finishes in [true, false] {
        let file = tempfile::tempfile().unwrap();
        let (names, events, result) = write_beside(file.try_clone().unwrap(), 200_000, finishes);
        result.unwrap();
        let mut reader = TraceReader::new(file).unwrap();
        let count = check_prefix(&mut reader, &events);
        // Without its end, it ends at a checkpoint.
        assert_eq!(count, if finishes { 200_000 } else { 195_000 });
        assert_eq!(reader.damage().is_none(), finishes);
        assert!(names.threads().starts_with(reader.names().threads()));
        assert_eq!(reader.facts().len(), facts().len() + usize::from(finishes));
    }
}

/// A disk that is full after so many bytes.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_told_whoever_writes() {
    for room in [1 << 12, 1 << 16, 1 << 20] {
        let (.., result) = write_beside(Full(room), 200_000, true);
        assert!(
            matches!(&result, Err(TraceError::Io(why)) if why.kind() == std::io::ErrorKind::StorageFull),
            "{room}: {result:?}"
        );
    }
}

#[test]
fn many_short_threads() {
    let (names, mut events) = random_events(3, 30_000, 20_000);
    events.sort_by_key(|e| e.thread); // 20,000 threads, one after the other
    let mut reader = open(&write(&names, &events, 1 << 18)).unwrap();
    assert_eq!(check_prefix(&mut reader, &events), events.len());
}

#[test]
fn truncation_at_every_byte() {
    let (names, events) = random_events(1, 400, 3);
    let bytes = write(&names, &events, 50);
    let mut most = 0;
    for len in 1..bytes.len() {
        let mut reader = open(&bytes[..len]).unwrap_or_else(|e| panic!("cut at {len}: {e}"));
        let count = check_prefix(&mut reader, &events);
        assert!(count >= most, "a longer file has no fewer events: {count} at {len}");
        assert!(count.is_multiple_of(50), "only whole segments");
        most = count;
        // Without its index a file may still be whole; without a block it may not.
        match reader.damage() {
            Some(damage) => assert!(damage.offset <= len as u64 && damage.delivered == count as u64),
            None => assert_eq!(count, events.len()),
        }
    }
    assert_eq!(most, events.len());
}

#[test]
fn flipped_bits_anywhere() {
    let (names, events) = random_events(2, 300, 3);
    let bytes = write(&names, &events, 40);
    for at in 0..bytes.len() {
        for bit in [0, 3, 7] {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1 << bit;
            // The magic and the version say what kind of file it is; damage there makes it another kind.
            let Ok(mut reader) = open(&bytes) else {
                assert!(at < 16, "byte {at}");
                continue;
            };
            let count = check_prefix(&mut reader, &events);
            assert!(
                count == events.len() || reader.damage().is_some(),
                "byte {at} bit {bit}: {count} events"
            );
        }
    }
}

#[test]
fn garbage_spliced_in() {
    let (names, events) = random_events(4, 500, 4);
    let bytes = write(&names, &events, 64);
    let mut random = Random::new(77);
    for round in 0..3000 {
        let mut bytes = bytes.clone();
        let at = 16 + random.below(bytes.len() - 16);
        let len = (1 + random.below(64)).min(bytes.len() - at);
        match random.below(3) {
            0 => bytes[at..at + len].fill(0xff),
            1 => drop(bytes.drain(at..at + len)),
            _ => bytes[at..at + len].iter_mut().for_each(|b| *b = random.bits() as u8),
        }
        let mut reader = open(&bytes).unwrap_or_else(|e| panic!("round {round}: {e}"));
        check_prefix(&mut reader, &events);
    }
}

#[test]
fn not_a_trace_and_other_versions_say_so() {
    let message = |bytes: &[u8]| open(bytes).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(message(b"").contains("empty"));
    assert!(message(b"\x89PNG\r\n\x1a\n0123456789").contains("at byte 1"));
    let mut newer = write(&Names::new(), &[], 10);
    newer[8] = 9;
    assert!(message(&newer).contains("version 9"));
    newer[8] = 1;
    assert!(message(&newer).contains("version 1") && message(&newer).contains("record it again"));
}
