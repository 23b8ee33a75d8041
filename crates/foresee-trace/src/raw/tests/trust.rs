//! What a raw trace lacks is known to whoever reads it, from whatever form of it.

use std::fs::File;
use std::io::{Seek as _, Write as _};

use foresee_format::*;

use super::{chunk, header, two_threads};
use crate::file::{TraceReader, TraceWriter};
use crate::raw::{
    Code, DataSymbol, LockTable, Module, NoSymbols, Origin, RawReader, SourceLocation, Symbolizer,
};
use crate::text::{TextReader, TextWriter};
use crate::trust::tests::every_gap;
use crate::{EventSink, EventSource, Gap, NoEnd, Trust};

/// Knows the line of everything, or of nothing, and that the program has such atomics.
struct Symbols {
    line: u32,
    unseen: Option<&'static str>,
}

impl Symbolizer for Symbols {
    fn code(&mut self, _modules: &[Module], _pc: u64) -> Code {
        let frame = SourceLocation { file: "a.rs".to_owned(), line: self.line, ..SourceLocation::default() };
        Code { frames: vec![frame], origin: Origin::Program }
    }

    fn data(&mut self, _modules: &[Module], _addr: u64) -> Option<DataSymbol> {
        None
    }

    fn unseen(&self) -> Option<&'static str> {
        self.unseen
    }
}

fn symbols() -> Box<dyn Symbolizer> {
    Box::new(Symbols { line: 1, unseen: None })
}

fn as_file(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.rewind().unwrap();
    file
}

fn copy(source: &mut dyn EventSource, sink: &mut dyn EventSink) {
    while source.advance().unwrap() {
        sink.push(source.names(), &source.event()).unwrap();
    }
    sink.finish(source.names(), &source.trust()).unwrap();
}

fn packed(source: &mut dyn EventSource) -> Vec<u8> {
    let mut bytes = Vec::new();
    copy(source, &mut TraceWriter::new(&mut bytes, &Vec::new()).unwrap());
    bytes
}

fn text(source: &mut dyn EventSource) -> Vec<u8> {
    let mut bytes = Vec::new();
    copy(source, &mut TextWriter::new(&mut bytes, &Vec::new()));
    bytes
}

/// The trust of a raw trace, which is the same after it was packed, packed again, converted to text, and packed once more.
fn trust_of(raw: &[u8], symbolizer: Box<dyn Symbolizer>) -> Trust {
    let mut reader = RawReader::new(as_file(raw), symbolizer, LockTable::default()).unwrap();
    let once = packed(&mut reader);
    let twice = packed(&mut TraceReader::new(as_file(&once)).unwrap());
    let as_text = text(&mut TraceReader::new(as_file(&twice)).unwrap());
    let again = packed(&mut TextReader::new(&as_text[..]));
    let (trust, last) = (reader.trust(), TraceReader::new(as_file(&again)).unwrap());
    assert_eq!(last.trust(), trust);
    trust
}

fn with_word(mut file: Vec<u8>, word: usize, value: u64) -> Vec<u8> {
    file[8 * word..8 * word + 8].copy_from_slice(&value.to_le_bytes());
    file
}

fn with_facts(facts: &str) -> Vec<u8> {
    let mut words = vec![TEXT_FACTS, facts.len() as u64];
    let padded: Vec<u8> = facts.bytes().chain(std::iter::repeat_n(0, 8)).collect();
    words.extend(padded.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes)));
    let mut file = two_threads();
    file.extend(chunk(TEXT_OWNER, &[&words]));
    file
}

#[test]
fn a_complete_recording_is_whole() {
    assert_eq!(trust_of(&two_threads(), symbols()), Trust::whole());
    assert_eq!(trust_of(&with_facts("rust\0yes\0command\0a.out\0"), symbols()), Trust::whole());
}

#[test]
fn what_a_recording_lacks_is_known_in_every_form() {
    let expected = |raw: &[u8], symbolizer, gaps: &[Gap]| {
        assert_eq!(trust_of(raw, symbolizer).gaps(), gaps);
    };
    for stop in Stop::ALL {
        let stopped = with_word(two_threads(), WHY_WORD, stop as u64);
        expected(&stopped, symbols(), &[Gap::NoEnd(NoEnd::Stopped(stop))]);
    }
    expected(&with_word(two_threads(), CUT_WORD, 4), symbols(), &[Gap::NoBeginning]);
    // The flags of the header, and the facts that they were before version 4.
    let left_out = with_word(two_threads(), FLAGS_WORD, RunFlags::ACCESSES_LEFT_OUT.word());
    expected(&left_out, symbols(), &[Gap::AccessesLeftOut]);
    expected(&with_facts("left out\0some\0"), symbols(), &[Gap::AccessesLeftOut]);
    let mut damaged = two_threads();
    damaged.extend([1; 64]);
    expected(&damaged, symbols(), &[Gap::Damaged, Gap::NoEnd(NoEnd::Damaged)]);
    let no_lines = || Box::new(Symbols { line: 0, unseen: None });
    let rust = with_word(two_threads(), FLAGS_WORD, RunFlags::IS_RUST.word());
    expected(&rust, no_lines(), &[Gap::NoDebugInfo]);
    expected(&with_facts("rust\0yes\0"), no_lines(), &[Gap::NoDebugInfo]);
    expected(&two_threads(), no_lines(), &[]);
    let unseen = Box::new(Symbols { line: 1, unseen: Some("`fetch_max`") });
    expected(&two_threads(), unseen, &[Gap::UninstrumentedAtomics("`fetch_max`".to_owned())]);
    expected(&two_threads(), Box::new(NoSymbols), &[Gap::NotSymbolised]);
}

#[test]
fn every_gap_is_kept_by_files_and_text() {
    for gap in every_gap() {
        let trust: Trust = [gap].into_iter().collect();
        let mut source = TextReader::new("T1|w(x)|3\n".as_bytes());
        let mut bytes = Vec::new();
        let mut writer = TraceWriter::new(&mut bytes, &Vec::new()).unwrap();
        while source.advance().unwrap() {
            writer.push(source.names(), &source.event()).unwrap();
        }
        writer.finish(source.names(), &trust).unwrap();
        drop(writer);
        let as_text = text(&mut TraceReader::new(as_file(&bytes)).unwrap());
        let again = packed(&mut TextReader::new(&as_text[..]));
        assert_eq!(TraceReader::new(as_file(&again)).unwrap().trust(), trust);
    }
}

#[test]
fn a_raw_trace_without_symbols_is_not_whole() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&two_threads()).unwrap();
    let mut source = crate::open(file.path()).unwrap();
    while source.advance().unwrap() {}
    assert_eq!(source.trust().gaps(), [Gap::NotSymbolised]);
}

#[test]
fn a_file_without_its_end_does_not_claim_to_be_whole() {
    let mut reader = RawReader::new(as_file(&header()), symbols(), LockTable::default()).unwrap();
    let bytes = packed(&mut reader);
    let mut cut = TraceReader::new(as_file(&bytes[..100])).unwrap();
    while cut.advance().unwrap() {}
    assert_eq!(cut.trust().gaps(), [Gap::Unstated, Gap::NoEnd(NoEnd::Damaged)]);
}

#[test]
fn an_unknown_gap_is_a_mistake() {
    let mut source = TextReader::new("#gap no-middle\nT1|w(x)|3\n".as_bytes());
    let why = source.advance().unwrap_err().to_string();
    assert_eq!(
        why,
        "line 1, column 6: expected what the trace lacks, as in `#gap no-beginning`, found `no-middle`"
    );
}
