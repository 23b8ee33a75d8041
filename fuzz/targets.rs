//! What the fuzzers run. The same functions run over the corpus, and over changes of it, in the test suite on stable
//! (`crates/foresee-trace/tests/fuzz_corpus.rs`).

use std::io::Write as _;

use foresee_trace::file::TraceReader;
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
