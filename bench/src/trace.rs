//! The trace file and the text form: cost per event of writing and reading, size, and memory for traces of any length.

use std::fs::File;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;

use foresee_trace::file::{TraceReader, TraceWriter};
use foresee_trace::generate::{Generator, Shape};
use foresee_trace::text::{TextReader, TextWriter};
use foresee_trace::validate::{Summary, Validator};
use foresee_trace::{Event, EventSink, EventSource, Execution, Op, Trust};

use crate::{Took, peak_memory};

pub(crate) fn run(events: u64, most: u64) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (binary, text) = (folder.path().join("bench.ft"), folder.path().join("bench.std"));
    let shape = Shape { events, ..Shape::default() };

    // Events from memory, so that making them is not measured.
    let execution = Execution::read(&mut Generator::new(&shape)).expect("generated");
    let list: Vec<Event<'_>> = execution.ids().map(|id| execution.event(id)).collect();
    let events = list.len() as u64;
    let (write, ()) = Took::of(events, || {
        let mut writer = TraceWriter::create(&binary, &Vec::new()).expect("writable");
        for event in &list {
            writer.push(execution.names(), event).expect("written");
        }
        writer.finish(execution.names(), &Trust::whole()).expect("written");
    });
    let (write_text, ()) = Took::of(events, || {
        let mut writer = TextWriter::new(File::create(&text).expect("writable"), &Vec::new());
        for event in &list {
            writer.push(execution.names(), event).expect("written");
        }
        writer.finish(execution.names(), &Trust::whole()).expect("written");
    });
    drop(list);
    drop(execution);
    let binary_source = || TraceReader::new(open(&binary)).expect("a trace");
    let (merge, merged) = Took::of(events, || merge_only(&mut binary_source()));
    let (merge_text, merged_text) = Took::of(events, || merge_only(&mut TextReader::new(open(&text))));
    let (read, count) = Took::of(events, || consume(&mut binary_source()));
    let (read_text, count_text) = Took::of(events, || consume(&mut TextReader::new(open(&text))));
    assert_eq!([merged, merged_text, count, count_text], [events; 4]);

    let size = |path: &Path| path.metadata().map_or(0, |m| m.len()) as f64 / events as f64;
    println!("trace file and text form, {events} events of the default shape, one core\n");
    println!("{:<28} {:>10} {:>10} {:>8}  target", "", ".ft", ".std", "ratio");
    let row = |what: &str, ours: f64, theirs: f64, target: &str| {
        println!("{what:<28} {ours:>10.2} {theirs:>10.2} {:>8.2}  {target}", ours / theirs);
    };
    row("write, ns/event", write.nanos(), write_text.nanos(), ".ft at most 30");
    row("size, bytes/event", size(&binary), size(&text), ".ft at most 3");
    row(
        "read and merge, million/s",
        merge.millions_per_second(),
        merge_text.millions_per_second(),
        ".ft at least 40, .std at least 10",
    );
    row("… and look at each", read.millions_per_second(), read_text.millions_per_second(), "");

    println!("\ntrace info (summary and validation), in a process of its own\n");
    println!("{:>12} {:>14} {:>18} {:>12}", "events", "bytes/event", "million events/s", "peak KiB");
    let mut length = most / 100;
    while length <= most {
        let path = folder.path().join("long.ft");
        let mut source = Generator::new(&Shape { events: length, ..Shape::default() });
        let mut writer = TraceWriter::create(&path, &Vec::new()).expect("writable");
        while source.advance().expect("generated") {
            writer.push(source.names(), &source.event()).expect("written");
        }
        writer.finish(source.names(), &source.trust()).expect("written");
        let this = std::env::current_exe().expect("this program");
        let output =
            Command::new(this).args(["child-info".as_ref(), path.as_os_str()]).output().expect("runs");
        let bytes = path.metadata().map_or(0, |m| m.len()) as f64 / length as f64;
        println!("{length:>12} {bytes:>14.2} {}", String::from_utf8_lossy(&output.stdout).trim_end());
        length *= 10;
    }
}

/// What `trace info` and `trace validate` do; prints the rate and the peak memory.
pub(crate) fn info_in_this_process(path: &str) {
    let mut source = foresee_trace::open(Path::new(path)).expect("a trace");
    let (mut summary, mut validator, mut index) = (Summary::default(), Validator::new(), 0);
    let (took, ()) = Took::of(1, || {
        while source.advance().expect("readable") {
            summary.event(source.names(), &source.event());
            validator.event(source.names(), index, &source.event());
            index += 1;
        }
    });
    assert!(validator.finish().is_valid() && summary.events() == index);
    let took = Took { events: index, ..took };
    println!("{:>18.1} {:>12}", took.millions_per_second(), peak_memory());
}

fn open(path: &Path) -> File {
    File::open(path).expect("readable")
}

/// Reads every event, and looks at none.
fn merge_only(source: &mut impl EventSource) -> u64 {
    let mut count = 0;
    while source.advance().expect("readable") {
        count += 1;
    }
    count
}

/// Looks at every event, as an engine would.
fn consume(source: &mut impl EventSource) -> u64 {
    let (mut count, mut seen) = (0, 0);
    while source.advance().expect("readable") {
        let event = source.event();
        seen ^= match event.op {
            Op::Read { mem, .. } => mem.addr,
            Op::Write { mem, .. } => mem.addr + 1,
            Op::Acquire { lock, .. } | Op::Release { lock, .. } => u64::from(lock.0),
            _ => u64::from(event.thread.0),
        };
        count += 1;
    }
    black_box(seen);
    count
}
