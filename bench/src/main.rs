//! Every performance claim, re-runnable: `cargo run --release -p foresee-bench -- NAME`.
//!
//! Each benchmark prints a table of per-event figures, rates and ratios, all from one run: machines are noisy, and what
//! counts is what was measured side by side. Targets are printed beside the figures; nothing is asserted.

mod blocks;
mod calls;
mod corpus;
mod instrumented;
mod knowledge;
mod lattice;
mod monitor;
mod monitor_naive;
mod monitored;
mod predict;
mod programs;
mod record;
mod refine;
mod scale;
mod sdk_programs;
mod soak;
mod trace;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["trace"] => trace::run(10_000_000, 100_000_000),
        ["trace", "quick"] => trace::run(1_000_000, 4_000_000),
        ["child-info", path] => trace::info_in_this_process(path),
        ["predict"] => predict::run(&[1_000_000, 10_000_000, 100_000_000]),
        ["predict", "quick"] => predict::run(&[100_000, 1_000_000]),
        ["child-stream", engine, path] => predict::child::stream(engine, path),
        ["child-whole", engine, path] => predict::child::whole(engine, path),
        ["child-pipeline", path] => predict::child::pipeline(path),
        ["child-witnesses", engine, path] => predict::child::witnesses(engine, path),
        ["monitor"] => monitor::run(10_000_000),
        ["monitor", "quick"] => monitor::run(1_000_000),
        ["knowledge"] => knowledge::run(&[2_000, 2_000_000], 100_000_000),
        ["knowledge", "quick"] => knowledge::run(&[2_000, 200_000], 4_000_000),
        ["child-knowledge", program, rounds, journal] => knowledge::child(program, rounds, journal),
        ["lattice"] => lattice::run(99, 10_000_000),
        ["lattice", "quick"] => lattice::run(40, 200_000),
        ["record"] => return record::run(&record::Effort { measured: 100, packed: 4, times: 3 }),
        ["record", "quick"] => return record::run(&record::Effort { measured: 10, packed: 2, times: 1 }),
        ["calls"] => return calls::run(2_000_000),
        ["calls", "quick"] => return calls::run(200_000),
        ["monitored"] => monitored::run(5_000),
        ["monitored", "quick"] => monitored::run(500),
        ["refine"] => refine::run(&refine::Effort { operations: 1_000_000, runs: 30, timed: 200_000 }),
        ["refine", "quick"] => refine::run(&refine::Effort { operations: 100_000, runs: 3, timed: 20_000 }),
        ["soak"] => return soak::run(60.0),
        ["soak", minutes] if minutes.parse::<f64>().is_ok_and(|minutes| minutes > 0.0) => {
            return soak::run(minutes.parse().unwrap_or(60.0));
        }
        ["corpus", ref names @ ..] => return corpus::run(names),
        ["program", name, path] => predict::write_program(name, path.as_ref()),
        ["examples", folder] => predict::write_examples(folder.as_ref()),
        _ => {
            eprintln!(
                "usage: foresee-bench trace [quick] | predict [quick] | monitor [quick] | monitored [quick] | calls [quick] | knowledge [quick] | lattice [quick] | record [quick] | refine [quick] | soak [MINUTES] | corpus [NAME…] | program NAME FILE.ft | \
                 examples FOLDER"
            );
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

/// What something took on one core, for `events` events: processor time of this process, so that other programs on the
/// machine disturb it less.
#[derive(Clone, Copy)]
struct Took {
    seconds: f64,
    events: u64,
}

impl Took {
    fn of<T>(events: u64, work: impl FnOnce() -> T) -> (Took, T) {
        let start = processor_seconds();
        let result = work();
        (Took { seconds: processor_seconds() - start, events }, result)
    }

    fn nanos(self) -> f64 {
        self.seconds * 1e9 / self.events as f64
    }

    fn millions_per_second(self) -> f64 {
        self.events as f64 / self.seconds / 1e6
    }
}

/// Processor time of all threads of this process so far, except those that have ended.
fn processor_seconds() -> f64 {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return 0.0 };
    let nanos = |thread: std::fs::DirEntry| {
        let stat = std::fs::read_to_string(thread.path().join("schedstat")).unwrap_or_default();
        stat.split(' ').next().and_then(|nanos| nanos.parse::<f64>().ok()).unwrap_or(0.0)
    };
    threads.flatten().map(nanos).sum::<f64>() / 1e9
}

/// The most memory this process ever had resident, in KiB.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}
