//! The engines: rate and memory by length of the trace, the programs of the RV-Predict paper, and what witnesses cost.
//!
//! Every measurement runs in a process of its own that reads the binary trace from a file: peak memory is that process's,
//! and no measurement warms up the next. Times include reading the file and, for engines that need it, building
//! the execution in memory.

pub(crate) mod child;

use std::path::Path;
use std::process::Command;

use cargo_foresee::engines::{self, ENGINES};
use foresee_trace::file::TraceWriter;
use foresee_trace::generate::{Generator, Shape};
use foresee_trace::text::TextWriter;
use foresee_trace::{EventSink, EventSource};

use crate::blocks::Blocks;
use crate::programs::{EXAMPLES, PROGRAMS};

/// A trace that an engine is measured on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Input {
    /// 8 threads, 1000 variables, 20 locks.
    Default,
    /// The same, with locks nested three deep, some of them the wrong way round.
    Inversions,
    /// The same as the default, every critical section an atomic block.
    Blocks,
}

impl Input {
    const ALL: [Input; 3] = [Input::Default, Input::Inversions, Input::Blocks];

    fn name(self) -> &'static str {
        match self {
            Input::Default => "default",
            Input::Inversions => "inversions",
            Input::Blocks => "blocks",
        }
    }

    fn source(self, events: u64) -> Box<dyn EventSource> {
        let shape = Shape { events, ..Shape::default() };
        match self {
            Input::Default => Box::new(Generator::new(&shape)),
            Input::Inversions => Box::new(Generator::new(&Shape { nesting: 3, inversions: 0.05, ..shape })),
            Input::Blocks => Box::new(Blocks::new(Generator::new(&shape))),
        }
    }
}

/// The engines measured by length: on what, and how many million events per second are wanted.
const MEASURED: &[(&str, Input, Option<f64>)] = &[
    ("hb", Input::Default, Some(20.0)),
    ("syncp", Input::Default, Some(1.0)),
    ("deadlock", Input::Inversions, Some(5.0)),
    ("atomicity", Input::Blocks, Some(5.0)),
    ("lockset", Input::Default, None),
];

/// Wanted of the paper's programs: seconds and KiB.
const WANTED: &[(&str, f64, f64)] = &[("huge", 1.0, 3072.0), ("mixedlockshuge", 1.0, 1024.0)];

pub(crate) fn run(lengths: &[u64]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("bench.ft");
    rates(&path, lengths);
    paper(&path);
    witnesses(&path, lengths[0]);
}

fn rates(path: &Path, lengths: &[u64]) {
    println!(
        "engines by length of the trace (8 threads, 1000 variables, 20 locks), read from the .ft, one core\n"
    );
    println!(
        "{:<10} {:<7} {:<11} {:>11} {:>9} {:>7} {:>11} {:>9} {:>8} {:>10}",
        "engine",
        "sees",
        "trace",
        "events",
        "Mevent/s",
        "target",
        "peak KiB",
        "findings",
        "refused",
        "undecided"
    );
    for input in Input::ALL {
        for &length in lengths {
            write(path, &mut *input.source(length));
            for &(engine, _, target) in MEASURED.iter().filter(|measured| measured.1 == input) {
                let target = target.map_or(String::new(), |rate| format!(">={rate}"));
                for (sees, command) in forms(engine) {
                    let row = match measure(&[command, engine], path).as_deref() {
                        Some([events, seconds, peak, findings, refused, undecided]) => {
                            let rate = events / seconds / 1e6;
                            format!(
                                "{events:>11} {rate:>9.2} {target:>7} {peak:>11} {findings:>9} {refused:>8} {undecided:>10}"
                            )
                        }
                        _ => format!("{length:>11} {:>9} {target:>7}", "failed"),
                    };
                    println!("{engine:<10} {sees:<7} {:<11} {row}", input.name());
                }
            }
        }
    }
}

/// The forms an engine comes in, and the command that measures it.
fn forms(name: &str) -> Vec<(&'static str, &'static str)> {
    let Some(engine) = engines::engine(name) else { return Vec::new() };
    let stream = engine.stream.map(|_| ("stream", "child-stream"));
    let whole = engine.whole.map(|_| ("whole", "child-whole"));
    stream.into_iter().chain(whole).collect()
}

fn paper(path: &Path) {
    println!(
        "\nprograms of the RV-Predict paper, all default engines; races are racy pairs of source lines\n"
    );
    println!(
        "{:<17} {:>9} {:>9} {:>9} {:>7} {:>8} {:>8} {:>7} {:>6} {:>6} {:>7} {:>8} {:>10}",
        "program",
        "events",
        "KiB",
        "paper",
        "target",
        "seconds",
        "paper",
        "target",
        "races",
        "built",
        "others",
        "refused",
        "undecided"
    );
    for program in PROGRAMS {
        let events = write(path, &mut (program.start)());
        let kib = path.metadata().map_or(0, |m| m.len()) as f64 / 1024.0;
        let wanted = WANTED.iter().find(|wanted| wanted.0 == program.name);
        let below = |limit: Option<f64>| limit.map_or(String::new(), |limit| format!("<{limit}"));
        let (most_seconds, most_kib) = (below(wanted.map(|w| w.1)), below(wanted.map(|w| w.2)));
        let found = match measure(&["child-pipeline"], path).as_deref() {
            Some([seconds, races, others, refused, undecided]) => format!(
                "{seconds:>8.2} {:>8.2} {most_seconds:>7} {races:>6} {:>6} {others:>7} {refused:>8} {undecided:>10}",
                program.paper_seconds, program.races
            ),
            _ => format!("{:>8}", "failed"),
        };
        println!(
            "{:<17} {events:>9} {kib:>9.1} {:>9} {most_kib:>7} {found}",
            program.name, program.paper_kib
        );
    }
}

fn witnesses(path: &Path, length: u64) {
    println!("\nwitnesses as a share of the analysis (reading the trace not counted), {length} events\n");
    println!(
        "{:<10} {:<11} {:>9} {:>11} {:>11} {:>8}  target",
        "engine", "trace", "witnesses", "analysis s", "checking s", "share"
    );
    for input in Input::ALL {
        write(path, &mut *input.source(length));
        for engine in ENGINES.iter().filter(|engine| engine.whole.is_some()) {
            let own =
                MEASURED.iter().find(|measured| measured.0 == engine.name).map_or(Input::Default, |m| m.1);
            if own != input {
                continue;
            }
            let row = match measure(&["child-witnesses", engine.name], path).as_deref() {
                Some([count, analysis, checking]) => {
                    let share = 100.0 * checking / analysis;
                    format!("{count:>9} {analysis:>11.3} {checking:>11.3} {share:>7.1}%  <20%")
                }
                _ => format!("{:>9}", "failed"),
            };
            println!("{:<10} {:<11} {row}", engine.name, input.name());
        }
    }
}

/// The small runs as text traces.
pub(crate) fn write_examples(folder: &Path) {
    for (name, start) in EXAMPLES {
        let mut run = start();
        let file = std::fs::File::create(folder.join(name).with_extension("std")).expect("writable");
        let mut writer = TextWriter::new(file, run.facts());
        copy(&mut run, &mut writer);
    }
}

/// Writes the trace of a program of the paper.
pub(crate) fn write_program(name: &str, path: &Path) {
    match PROGRAMS.iter().find(|program| program.name == name) {
        Some(program) => println!("{} events", write(path, &mut (program.start)())),
        None => {
            let names: Vec<&str> = PROGRAMS.iter().map(|program| program.name).collect();
            eprintln!("no program `{name}`; there are {}", names.join(", "));
        }
    }
}

/// Writes a trace file; says how many events it has.
fn write(path: &Path, source: &mut dyn EventSource) -> u64 {
    let mut writer = TraceWriter::create(path, source.facts()).expect("writable");
    copy(source, &mut writer)
}

fn copy(source: &mut dyn EventSource, sink: &mut dyn EventSink) -> u64 {
    let mut events = 0;
    while source.advance().expect("generated") {
        sink.push(source.names(), &source.event()).expect("written");
        events += 1;
    }
    sink.finish(source.names(), &source.trust()).expect("written");
    events
}

/// Runs a hidden command of this program on the trace in a process of its own; the numbers it prints, or `None` if it
/// failed (out of memory, …), which it says itself.
fn measure(command: &[&str], path: &Path) -> Option<Vec<f64>> {
    let this = std::env::current_exe().expect("this program");
    let output = Command::new(this)
        .args(command)
        .arg(path)
        .stderr(std::process::Stdio::inherit())
        .output()
        .expect("runs");
    if !output.status.success() {
        return None;
    }
    let text = String::from_utf8_lossy(&output.stdout);
    text.split_whitespace().map(|number| number.parse().ok()).collect()
}
