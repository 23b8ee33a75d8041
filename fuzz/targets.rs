//! What the fuzzers run. The same functions run over the corpus, and over changes of it, in the test suite on stable
//! (`crates/foresee-trace/tests/fuzz_corpus.rs`).

use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;

use foresee_trace::file::TraceReader;
use foresee_trace::raw::{
    Code, DataSymbol, LockTable, Module, NoSymbols, RawReader, SourceLocation, Symbolizer,
};
use foresee_trace::text::{TextReader, TextWriter};
use foresee_trace::validate::Validator;
use foresee_trace::{EventSink as _, EventSource};

/// Any bytes as a trace file: ends, without a panic, and what it delivers can be written as text and read again.
pub(crate) fn trace_file(bytes: &[u8]) {
    let Ok(mut file) = tempfile::tempfile() else { return };
    if file.write_all(bytes).is_err() {
        return;
    }
    if let Ok(mut reader) = TraceReader::new(file) {
        round_trip(&mut reader);
    }
}

/// Any bytes as a text trace: ends, without a panic, and what it delivers can be written as text and read again.
pub(crate) fn text(bytes: &[u8]) {
    round_trip(&mut TextReader::new(bytes));
}

/// Any bytes as a raw trace: ends, without a panic, and what it delivers can be written as text and read again.
///
/// A raw trace is mostly zeroes. So that changes hit what is not, the bytes are pieces, each with its length before it (two bytes, little-endian),
/// and each piece goes to the next place in the file where a chunk may begin.
pub(crate) fn raw_trace(bytes: &[u8]) {
    for symbolizer in [Box::new(NoSymbols) as Box<dyn Symbolizer>, Box::new(LockFunctions)] {
        let Ok(file) = spread(bytes) else { return };
        if let Ok(mut reader) = RawReader::new(file, symbolizer, LockTable::default()) {
            round_trip(&mut reader);
        }
    }
}

/// The distance between two places in a raw trace where a chunk may begin.
const UNIT: u64 = 1 << 16;

/// More pieces than this make a run of the fuzzer slow, and nothing new.
const PIECES: usize = 16;

fn spread(mut bytes: &[u8]) -> std::io::Result<File> {
    let file = tempfile::tempfile()?;
    let mut offset = 0;
    for _ in 0..PIECES {
        let Some((len, rest)) = bytes.split_first_chunk() else { break };
        let (piece, rest) = rest.split_at(rest.len().min(u16::from_le_bytes(*len).into()));
        file.write_all_at(piece, offset)?;
        (bytes, offset) = (rest, offset + UNIT);
    }
    file.set_len(offset)?;
    Ok(file)
}

/// Takes some addresses for the insides of lock functions.
struct LockFunctions;

impl Symbolizer for LockFunctions {
    fn code(&mut self, _: &[Module], pc: u64) -> Code {
        let functions: &[&str] = match pc % 8 {
            0 => &["<std::sys::sync::mutex::futex::Mutex>::lock", "main"],
            1 => &["<std::sys::sync::mutex::futex::Mutex>::unlock", "main"],
            2 => &["<std::sys::sync::mutex::futex::Mutex>::try_lock", "main"],
            3 => &["<std::sys::sync::rwlock::futex::RwLock>::read", "main"],
            4 => &["core::sync::atomic::atomic_swap"],
            _ => &["main"],
        };
        let frame = |function: &&str| SourceLocation {
            function: function.to_string(),
            line: 1,
            ..Default::default()
        };
        Code { frames: functions.iter().map(frame).collect(), ..Code::default() }
    }

    fn data(&mut self, _: &[Module], _: u64) -> Option<DataSymbol> {
        None
    }
}

fn round_trip(source: &mut dyn EventSource) {
    let mut written = Vec::new();
    let mut writer = TextWriter::new(&mut written, source.facts());
    let mut validator = Validator::default();
    let mut count = 0;
    while let Ok(true) = source.advance() {
        writer.push(source.names(), &source.event()).expect("writing to memory");
        validator.event(source.names(), count, &source.event());
        count += 1;
    }
    writer.finish(source.names(), &source.trust()).expect("writing to memory");
    drop(writer);
    let mut again = TextReader::new(&written[..]);
    let mut read = 0;
    while again.advance().unwrap_or_else(|e| panic!("{e} in {:?}", String::from_utf8_lossy(&written))) {
        read += 1;
    }
    assert_eq!(read, count);
    assert_eq!(again.trust(), source.trust());
}
