//! Raw traces made by hand: order, and files that are cut or wrong.

use std::io::Write as _;

use foresee_format::*;

use super::{LockTable, NoSymbols, RawReader, Symbolizer};
use crate::text::TextWriter;
use crate::{EventSink as _, EventSource, Gap, Op, TraceError, Trust};

mod attempts;
mod branches;
mod calls;
mod follow;
mod home_chunks;
mod locks;
mod near;
mod places;
mod side_files;
mod ties;
mod times;
mod trust;
mod unseen_writes;
mod usual;

fn header() -> Vec<u8> {
    let mut file = vec![0; HEADER_LEN as usize];
    file[..8].copy_from_slice(&MAGIC);
    file[8..16].copy_from_slice(&VERSION.to_le_bytes());
    file
}

fn chunk(owner: u64, records: &[&[u64]]) -> Vec<u8> {
    let mut words = vec![CHUNK_MAGIC, owner, UNIT, 0];
    records.iter().for_each(|record| words.extend_from_slice(record));
    words.resize(UNIT as usize / 8, 0);
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn read(file: &[u8]) -> Result<(Vec<&'static str>, bool), TraceError> {
    let mut temporary = tempfile::tempfile()?;
    temporary.write_all(file)?;
    let mut reader = RawReader::new(temporary, Box::new(NoSymbols), LockTable::default())?;
    let mut events = Vec::new();
    while reader.advance()? {
        events.push(reader.event().op.name());
    }
    Ok((events, reader.damage().is_some()))
}

fn two_threads() -> Vec<u8> {
    let first = |tag, key| first_word(tag, 0, key);
    let mut file = header();
    file.extend(chunk(
        0,
        &[&[first(Tag::Begin, 1)], &[first(Tag::Fork, 3), 9, 1], &[first(Tag::Join, 11), 9, 1]],
    ));
    file.extend(vec![0; UNIT as usize]);
    file.extend(chunk(
        1,
        &[&[first(Tag::Begin, 5)], &[first_word(Tag::Write, 4, 6), 9, 0x100], &[first(Tag::End, 7)]],
    ));
    file
}

#[test]
fn threads_are_merged_by_key() {
    let (events, damaged) = read(&two_threads()).unwrap();
    let names = ["thread-begin", "fork", "thread-begin", "write", "thread-end", "join"];
    assert_eq!(events, names);
    assert!(!damaged);
}

#[test]
fn a_thread_that_nobody_started_begins_after_all_others() {
    let first = |tag, key| first_word(tag, 0, key);
    let mut file = header();
    file.extend(chunk(0, &[&[first(Tag::Begin, 1)], &[first(Tag::Fork, 3), 9, 1], &[first(Tag::End, 11)]]));
    file.extend(chunk(1, &[&[first(Tag::Begin, 4)], &[first(Tag::End, 9)]]));
    file.extend(chunk(2, &[&[first(Tag::Begin, 6)], &[first_word(Tag::Write, 4, 6), 9, 0x100]]));
    let takes_over = [first_word(Tag::Load, 2 << 4, 7), 9, 0x100, 0];
    file.extend(chunk(3, &[&[first(Tag::Begin, 7)], &takes_over]));
    let (lines, _) = lines(&file, Box::new(NoSymbols));
    let said = lines.iter().filter_map(|line| line.split('(').next()).collect::<Vec<_>>();
    let expected = [
        "main|thread_begin",
        "main|fork",
        "T1|thread_begin",
        "T2|thread_begin",
        "main|rmw.acqrel",
        "T1|rmw.acqrel",
        "T2|rmw.acqrel",
        // Among threads of this kind.
        "T2|rmw.acqrel",
        "T2|w",
        "T3|thread_begin",
        "T3|load.relaxed",
        "T1|thread_end",
        "main|thread_end",
    ];
    assert_eq!(said, expected);
}

/// Who has asked for such a thread may have ended before it begins.
#[test]
fn a_thread_that_nobody_started_begins_after_those_that_ended() {
    let first = |tag, key| first_word(tag, 0, key);
    let write = |key| [first_word(Tag::Write, 4, key), 9, 0x100];
    let forks = [[first(Tag::Fork, 3), 9, 1], [first(Tag::Fork, 5), 9, 2], [first(Tag::Join, 17), 9, 2]];
    let mut file = header();
    file.extend(chunk(
        0,
        &[&[first(Tag::Begin, 1)], &forks[0], &forks[1], &forks[2], &[first(Tag::End, 25)]],
    ));
    file.extend(chunk(1, &[&[first(Tag::Begin, 4)], &[first(Tag::End, 9)]]));
    file.extend(chunk(2, &[&[first(Tag::Begin, 6)], &[first(Tag::End, 11)]]));
    file.extend(chunk(3, &[&[first(Tag::Begin, 18)], &write(18), &[first(Tag::End, 19)]]));
    file.extend(chunk(4, &[&[first(Tag::Begin, 20)], &write(20)]));
    let (lines, _) = lines(&file, Box::new(NoSymbols));
    let joins: Vec<&String> = lines.iter().filter(|line| line.contains("|join(")).collect();
    // T2 was joined by main, which is there; T1 is joined once, and T4 learns of it from T3, which has ended.
    assert!(
        matches!(&joins[..], [main, first, last]
            if main.starts_with("main|join(T2)") && first.starts_with("T3|join(T1)") && last.starts_with("T4|join(T3)")),
        "{lines:#?}"
    );
}

#[test]
fn a_cut_file_gives_a_prefix_of_each_thread() {
    let whole = two_threads();
    for len in
        (8..whole.len()).step_by(509).chain(whole.len() - UNIT as usize..whole.len() - UNIT as usize + 120)
    {
        let (events, _) = read(&whole[..len]).unwrap();
        assert!(events.len() <= 6, "cut at {len}");
    }
}

#[test]
fn wrong_bytes_never_panic() {
    let whole = two_threads();
    let places = [HEADER_LEN as usize, HEADER_LEN as usize + 2 * UNIT as usize];
    for place in places.into_iter().flat_map(|place| place..place + 104) {
        for byte in (1..=Tag::ALL.len() as u8).chain([0x7f, 0xff]) {
            let mut file = whole.clone();
            file[place] = byte;
            let _ = read(&file);
        }
    }
}

#[test]
fn recording_that_stopped_is_read_up_to_there() {
    let mut file = two_threads();
    file[8 * STOP_WORD..8 * STOP_WORD + 8].copy_from_slice(&6u64.to_le_bytes());
    assert_eq!(read(&file).unwrap().0.len(), 3);
}

#[test]
fn a_bad_record_ends_what_may_depend_on_it() {
    let mut file = two_threads();
    let at = HEADER_LEN as usize + 2 * UNIT as usize + 8 * CHUNK_HEADER_WORDS + 8;
    file[at] = 200;
    let (events, damaged) = read(&file).unwrap();
    assert!(damaged);
    assert!(events.iter().all(|event| *event != "join"));
}

#[test]
fn what_follows_a_lost_chunk_in_time_is_left_out() {
    let first = |tag, key| first_word(tag, 0, key);
    let begin = [first(Tag::Begin, 1)];
    let write = [first_word(Tag::Write, 4, 6), 9, 0x100];
    let full: Vec<&[u64]> =
        std::iter::once(&begin[..]).chain(std::iter::repeat_n(&write[..], 2729)).collect();
    let mut file = header();
    file.extend(chunk(0, &full));
    file.extend(chunk(1, &[&[first(Tag::Begin, 3)], &[first(Tag::End, 9)]]));
    // As it is, the thread just had no time to go on.
    assert!(read(&file).unwrap().0.contains(&"thread-end"));
    let longer = file.len() as u64 + UNIT;
    file[8 * LENGTH_WORD..8 * LENGTH_WORD + 8].copy_from_slice(&longer.to_le_bytes());
    let (events, _) = read(&file).unwrap();
    assert!(events.contains(&"write") && !events.contains(&"thread-end"));
}

#[test]
fn after_a_store_of_unknown_value_any_value_is_explained() {
    let size = 2 << 4;
    let store = |detail, key, value| [first_word(Tag::Store, size | detail, key), 9, 0x100, value];
    let load = |key, value| [first_word(Tag::Load, size, key), 9, 0x100, value];
    let mut file = header();
    file.extend(chunk(0, &[&store(0, 1, 7), &load(3, 8), &store(UNKNOWN_VALUE, 5, 0), &load(7, 9)]));
    let mut temporary = tempfile::tempfile().unwrap();
    temporary.write_all(&file).unwrap();
    let mut reader = RawReader::new(temporary, Box::new(NoSymbols), LockTable::default()).unwrap();
    let mut seen = Vec::new();
    while reader.advance().unwrap() {
        if let Op::Load { mem, value, .. } | Op::Store { mem, value, .. } = reader.event().op {
            assert_eq!(mem.size, 4);
            seen.push(value);
        }
    }
    assert_eq!(seen, [Some(7), None, None, Some(9)]);
    assert_eq!(reader.unexplained(), 1);
}

/// What a file says, as the lines of a text trace.
fn lines(file: &[u8], symbolizer: Box<dyn Symbolizer>) -> (Vec<String>, RawReader) {
    let mut temporary = tempfile::tempfile().unwrap();
    temporary.write_all(file).unwrap();
    let mut reader = RawReader::new(temporary, symbolizer, LockTable::default()).unwrap();
    let mut text = Vec::new();
    let mut writer = TextWriter::new(&mut text, reader.facts());
    while reader.advance().unwrap() {
        writer.push(reader.names(), &reader.event()).unwrap();
    }
    writer.finish(reader.names(), &reader.trust()).unwrap();
    drop(writer);
    let text = String::from_utf8(text).unwrap();
    (text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect(), reader)
}

/// What a file of one thread with these records says, as text.
fn said(records: &[&[u64]]) -> String {
    let mut file = header();
    file.extend(chunk(0, records));
    lines(&file, Box::new(NoSymbols)).0.iter().map(|line| format!("{line}\n")).collect()
}

fn word(text: &[u8; 8]) -> u64 {
    u64::from_le_bytes(*text)
}

fn text_record(text: &[u8; 8], len: u8) -> [u64; 5] {
    [first_word(Tag::Text, len, 2), word(text), 0, 0, 0]
}

#[test]
fn an_event_takes_its_arguments_and_the_last_text_as_its_name() {
    let long: [u64; 5] =
        [first_word(Tag::Text, 32, 2), word(b"12345678"), word(b"abcdefgh"), 0x2020_2020, 0x2d];
    let (end, name) =
        (text_record(b"end\0\0\0\0\0", 3 | TEXT_ENDS), text_record(b"put\0\0\0\0\0", 3 | TEXT_ENDS));
    let arg = |kind, value| [first_word(Tag::Arg, kind, 2), value];
    let named = [first_word(Tag::Named, 0, 3), 0];
    let text =
        said(&[&arg(ARG_INT, u64::MAX), &long, &end, &arg(ARG_STR, 0), &arg(ARG_OBJECT, 9), &name, &named]);
    assert!(text.starts_with("main|event(put, -1, \"12345678abcdefgh"), "{text}");
    assert!(text.ends_with("end\", @9)\n"), "{text}");
    // Nothing is left for the next one, and an event without a name is none.
    let local = [first_word(Tag::Local, 0, 5), 0, 7];
    assert_eq!(
        said(&[&arg(ARG_INT, 1), &name, &local, &name, &named]),
        "main|local(put=7)\nmain|event(put)\n"
    );
    assert_eq!(said(&[&named, &local]), "");
}

#[test]
fn a_process_that_dies_while_it_speaks_has_said_nothing() {
    let begin = [first_word(Tag::BlockBegin, 0, 2), 0];
    let (name, part) = (text_record(b"a\0\0\0\0\0\0\0", 1 | TEXT_ENDS), text_record(b"b\0\0\0\0\0\0\0", 1));
    let end = [first_word(Tag::BlockEnd, 0, 2), 0];
    assert_eq!(said(&[&name, &begin, &part]), "main|begin(a)\n");
    assert_eq!(said(&[&end, &name, &begin, &end, &end]), "main|begin(a)\nmain|end(a)\n");
}

#[test]
fn a_value_that_was_not_settled_is_unknown() {
    let name = text_record(b"x\0\0\0\0\0\0\0", 1 | TEXT_ENDS);
    let variable = [first_word(Tag::NameVariable, 0, 2), 0, 0x100, 4];
    let written = |detail, value| [first_word(Tag::WriteValue, detail, 2), 0, 0x100, value];
    let read = |value| [first_word(Tag::ReadValue, 4, 2), 0, 0x100, value];
    let text = said(&[&name, &variable, &written(4, 7), &written(4 | UNSETTLED, 0), &read(8), &read(9)]);
    // The last read is not explained.
    assert_eq!(text, "main|w(x=7)\nmain|w(x)\nmain|r(x=8)\nmain|r(x)\n");
}

/// A chunk that its thread has from this key on.
fn chunk_from(owner: u64, key: u64, records: &[&[u64]]) -> Vec<u8> {
    let mut chunk = chunk(owner, records);
    chunk[8 * KEY_WORD..8 * KEY_WORD + 8].copy_from_slice(&key.to_le_bytes());
    chunk
}

/// The text of a trace whose header says that everything is there from this key on.
fn cut_at(cut: u64, chunks: &[Vec<u8>]) -> String {
    let mut file = header();
    file[8 * CUT_WORD..8 * CUT_WORD + 8].copy_from_slice(&cut.to_le_bytes());
    chunks.iter().for_each(|chunk| file.extend(chunk));
    let mut temporary = tempfile::tempfile().unwrap();
    temporary.write_all(&file).unwrap();
    let mut reader = RawReader::new(temporary, Box::new(NoSymbols), LockTable::default()).unwrap();
    let mut text = Vec::new();
    assert!(reader.trust().gaps().contains(&Gap::NoBeginning));
    let mut writer = TextWriter::new(&mut text, &Vec::new());
    while reader.advance().unwrap() {
        writer.push(reader.names(), &reader.event()).unwrap();
    }
    writer.finish(reader.names(), &Trust::whole()).unwrap();
    assert!(!reader.trust().gaps().contains(&Gap::Overtaken));
    drop(writer);
    String::from_utf8(text).unwrap()
}

#[test]
fn locks_given_back_after_the_cut_are_held_at_it() {
    let release = |key, detail, lock| [first_word(Tag::Release, detail, key), 9, lock];
    let write = |key| [first_word(Tag::Write, 4, key), 9, 0x100];
    // In the file, the thread's later chunk comes first. What is before the cut is not delivered, but counts.
    let text = cut_at(
        20,
        &[
            chunk_from(0, 31, &[&release(33, EXCLUSIVE, 0x10)]),
            chunk_from(1, 5, &[&[first_word(Tag::Acquire, SHARED, 7), 9, 0x20], &write(20)]),
            chunk_from(
                0,
                9,
                &[
                    &[first_word(Tag::Frame, 0, 8), 9, 9],
                    &write(8),
                    &[first_word(Tag::Acquire, EXCLUSIVE, 11), 9, 0x30],
                    &write(22),
                    &release(23, AS_HELD, 0x20),
                ],
            ),
            chunk_from(FREE_OWNER, 3, &[&write(40)]),
        ],
    );
    let expected = [
        "main|enter(0x8)|0x8",
        "main|acq.try(l@0x10)",
        "main|acq.try_shared(l@0x20)",
        "main|acq.try(l@0x30)",
        "T1|acq.try_shared(l@0x20)",
        "T1|w([0x100..0x104])|0x8",
        "main|w([0x100..0x104])|0x8",
        "main|rel.shared(l@0x20)|0x8",
        "main|rel(l@0x10)|0x8",
    ];
    assert_eq!(text.lines().filter(|line| line.contains('|')).collect::<Vec<_>>(), expected);
}
