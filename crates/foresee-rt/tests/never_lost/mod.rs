//! Whatever ends the program or the recording: the trace is valid, has what happened, and the program does as without us.
//!
//! Where more is better, `FORESEE_TIMES` multiplies what is done.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use foresee_trace::Gap;

use crate::support::{Program, each};

fn times() -> u64 {
    std::env::var("FORESEE_TIMES").map_or(1, |times| times.parse().unwrap())
}

/// A process that is killed has recorded everything that it is known to have done.
#[test]
fn killed_at_any_moment() {
    each("lost/heavy.c", |program| {
        for _ in 0..15 * times() {
            let micros = RandomState::new().hash_one(0) % 60_000;
            let done = program.file("done");
            let _ = std::fs::remove_file(&done);
            let Some(run) = program.record_killed_after(&[&done], &[], Duration::from_micros(micros)) else {
                continue;
            };
            assert!(run.races.is_empty(), "after {micros} us: {:#?}", run.describe_races());
            let done: Vec<u64> = std::fs::read(&done)
                .unwrap_or_default()
                .as_chunks::<8>()
                .0
                .iter()
                .map(|bytes| u64::from_le_bytes(*bytes))
                .collect();
            // Until they have names, threads have numbers.
            if done.get(24) != Some(&1) {
                continue;
            }
            for (thread, &rounds) in ["first", "second", "third"].iter().zip(done.iter().step_by(8)) {
                let acquired = run.count(thread, "acquire") as u64;
                assert!(
                    (rounds..=rounds + 1).contains(&acquired),
                    "{thread} after {micros} us: {acquired} of {rounds}"
                );
            }
        }
    });
}

/// Of a process that keeps only the end, the file stays short and has the end: all that happened since the cut.
#[test]
fn killed_at_any_moment_with_only_the_end_kept() {
    each("lost/heavy.c", |program| {
        let mut cut = 0;
        for round in 0..15 * times() {
            let micros = 1000 + RandomState::new().hash_one(round) % 100_000;
            let done = program.file("done");
            let _ = std::fs::remove_file(&done);
            let keep = [("FORESEE_KEEP_LAST", "400000")];
            let time = Duration::from_micros(micros);
            let Some(run) = program.record_killed_after(&[&done], &keep, time) else { continue };
            assert!(run.races.is_empty(), "after {micros} us: {:#?}", run.describe_races());
            // Six chunks, or one for each thread; the header, facts and mappings.
            assert!(program.trace_len() <= 12 << 16, "{}", program.trace_len());
            cut += u64::from(run.trust.gaps().contains(&Gap::NoBeginning));
        }
        assert!(cut > 5, "{cut}");
    });
}

/// How many acquires the main thread and the others do, for each way to end of `endings.c`.
const ENDINGS: [(&str, usize, usize); 18] = [
    ("returns", 1000, 0),
    ("aborts", 1000, 0),
    ("overflows", 1000, 0),
    ("is-killed", 1000, 0),
    ("crashes", 1000, 0),
    ("exits-at-once", 1000, 0),
    ("exits-with-handlers", 1010, 0),
    ("leaves-main", 1000, 1000),
    ("exits-while-threads-run", 1000, AT_LEAST + 1000),
    ("jumps", 1010, 0),
    ("handles-signals", 1200, 0),
    ("forks", 1000, 0),
    ("vforks", 1000, 0),
    ("thread-returns", 0, 1000),
    ("thread-aborts", 0, 1000),
    ("thread-exits", 0, 1000),
    ("thread-exits-at-once", 0, 1000),
    ("thread-overflows", 0, 1000),
];
/// Added to a number that may be larger.
const AT_LEAST: usize = 1_000_000;

#[test]
fn every_way_to_end() {
    each("lost/endings.c", |program| {
        for (how, by_main, by_others) in ENDINGS {
            let how_it_is = program.run_native(&[how]);
            let (how_recorded, run) = program.record_output(&[how]);
            assert_eq!(how_recorded, how_it_is, "{how}");
            assert!(run.races.is_empty(), "{how}: {:#?}", run.describe_races());
            assert_eq!(run.count("main", "acquire"), by_main, "{how}");
            let others = run.count("T", "acquire");
            let expected =
                if by_others < AT_LEAST { others == by_others } else { others >= by_others - AT_LEAST };
            assert!(expected, "{how}: {others}");
            if how == "jumps" {
                assert_eq!(run.count("main", "enter"), run.count("main", "exit"), "{how}");
            }
            let children: Vec<_> = program.others().iter().map(|run| run.count("main", "acquire")).collect();
            match how {
                "forks" => assert_eq!(children, [500]),
                "vforks" => assert!(children.iter().all(|&acquires| acquires == 0)),
                _ => assert!(children.is_empty(), "{how}"),
            }
        }
    });
}

#[test]
fn many_threads_at_once_and_one_after_another() {
    each("lost/many.c", |program| {
        for (threads, at_once) in [(1000, 1000), (3000 * times(), 8)] {
            let (_, run) = program.record_output(&[&threads.to_string(), &at_once.to_string()]);
            assert!(run.status.success());
            assert!(run.races.is_empty());
            for what in ["fork", "join"] {
                assert_eq!(run.count("main", what) as u64, threads, "{what}");
            }
            for what in ["acquire", "release", "thread-begin", "thread-end"] {
                assert_eq!(run.count("T", what) as u64, threads, "{what}");
            }
            // Threads that live together and the first 1,024 have 64 KiB each; those that come later use what earlier ones left.
            assert!(
                program.trace_len() < (at_once + 1024 + 8) * (1 << 16) + threads * 1000,
                "{}",
                program.trace_len()
            );
        }
    });
}

/// A file system of so many kilobytes.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// `None` if this user may not mount.
    fn of(kilobytes: u64) -> Option<SmallDisk> {
        let disk = SmallDisk(tempfile::tempdir().unwrap());
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={kilobytes}k"), "none"]).arg(disk.0.path());
        let mounted = mount.output().is_ok_and(|output| output.status.success());
        if !mounted {
            eprintln!("skipped: mounting is not permitted");
        }
        mounted.then_some(disk)
    }

    fn trace(&self) -> PathBuf {
        self.0.path().join("trace.raw")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).output();
    }
}

/// The recording stops and says so, the program goes on, and what was recorded is valid.
#[track_caller]
fn assert_stops(program: &Program, trace: &Path, prefix: &[&str], what: &str) -> String {
    let (stderr, run) = program.record_to(trace, prefix);
    assert!(stderr.contains("the program"), "{what}: {stderr}");
    if let Some(run) = run {
        assert!(run.status.success(), "{what}: {:?}", run.status);
        assert!(run.races.is_empty(), "{what}");
    }
    stderr
}

#[test]
fn a_full_disk() {
    each("lost/busy.c", |program| {
        for kilobytes in [4, 64, 128, 256, 320, 512, 1024, 2048] {
            let Some(disk) = SmallDisk::of(kilobytes) else { return };
            let stderr = assert_stops(program, &disk.trace(), &[], &format!("{kilobytes} KiB"));
            // Where the recording fits at all, something is left for others.
            assert!(kilobytes < 1024 || stderr.contains("little of the disk is left"), "{stderr}");
        }
    });
}

#[test]
fn files_that_may_not_be_long() {
    each("lost/busy.c", |program| {
        for bytes in [0u64, 1, 4096, 65_536, 100_000, 131_072, 200_000, 400_000, 1 << 20, 3 << 20] {
            let limit = format!("--fsize={bytes}");
            let trace = program.file("limited.raw");
            let _ = std::fs::remove_file(&trace);
            assert_stops(program, &trace, &["prlimit", &limit], &limit);
        }
    });
}
