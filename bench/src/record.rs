//! What recording costs: four programs, each built natively, with ThreadSanitizer and with foresee, and run in turn.
//!
//! The programs are in `bench/record`, a workspace of its own; all have four threads. Time is processor time, user and
//! system, of the whole process, and the least of several runs counts, so that other work on the machine disturbs it less.
//! TSan reports nothing: finding is not what is measured, and Rust's library is not instrumented in either build. What foresee has built is also
//! run without being recorded (*idle*).
//!
//! Recording writes gigabytes within a second of a program's own time, so what is packed is a smaller run of the same work; sizes
//! per event and the time of packing are taken from that. Before a program is recorded, it is worked out which of its accesses need no record (*join*). An *event* is one of the packed trace.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use foresee_symbols::{CLOCK_VARIABLE, best_clock, joined};

use crate::corpus::Failed;
use crate::scale;

const PROGRAMS: [&str; 4] = ["bank", "map", "pipeline", "compute"];
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// How much of their work the programs do, in percent, and how often.
pub(crate) struct Effort {
    pub(crate) measured: u32,
    pub(crate) packed: u32,
    pub(crate) times: usize,
}

pub(crate) fn run(effort: &Effort) -> ExitCode {
    match table(effort).and_then(|()| scale::run(effort.measured, effort.times)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("record: {why}");
            ExitCode::from(2)
        }
    }
}

/// Builds everything and prints the table.
fn table(effort: &Effort) -> Result<(), Failed> {
    let builds = Builds::new()?;
    println!(
        "processor time and peak memory over native, the least of {} runs; sizes and packing: per event of a smaller run",
        effort.times
    );
    println!(
        "{:<9} {:>8} {:>10} {:>6} {:>6} {:>8} {:>7} {:>9} {:>12} {:>6} {:>8} {:>8} {:>7}",
        "program",
        "native s",
        "M events/s",
        "idle",
        "TSan",
        "foresee",
        "(user)",
        "TSan mem",
        "foresee mem",
        "B raw",
        "B packed",
        "ns pack",
        "s join"
    );
    let mut logs = [0.0; 2];
    for program in PROGRAMS {
        let joining = builds.join(program)?;
        let mut least = [Cost::MOST; 4];
        for _ in 0..effort.times {
            let run = |build| builds.program(build, program, effort.measured);
            let mut idle = run(&builds.foresee);
            idle.env_remove("FORESEE_RAW");
            let ways = [run(&builds.native), idle, run(&builds.tsan), run(&builds.foresee)];
            for (least, mut command) in least.iter_mut().zip(ways) {
                *least = least.min(builds.cost(&mut command)?);
            }
        }
        let packed = builds.pack(program, effort.packed)?;
        let [native, idle, tsan, foresee] = least;
        let slower = [tsan.seconds() / native.seconds(), foresee.seconds() / native.seconds()];
        logs.iter_mut().zip(slower).for_each(|(sum, slower)| *sum += slower.ln());
        let share = f64::from(effort.measured) / f64::from(effort.packed);
        println!(
            "{program:<9} {:>8.3} {:>10.0} {:>5.1}x {:>5.1}x {:>7.1}x {:>6.1}x {:>8.1}x {:>11.1}x {:>6.2} {:>8.2} {:>8.0} {joining:>7.2}",
            native.seconds(),
            packed.events * share / native.seconds() / 1e6,
            idle.seconds() / native.seconds(),
            slower[0],
            slower[1],
            foresee.user / native.seconds(),
            tsan.kib / native.kib,
            foresee.kib / native.kib,
            packed.raw_bytes / packed.events,
            packed.bytes / packed.events,
            packed.seconds * 1e9 / packed.events,
        );
    }
    let [tsan, foresee] = logs.map(|sum| (sum / PROGRAMS.len() as f64).exp());
    println!("geometric mean: TSan {tsan:.1}x, foresee {foresee:.1}x: {:.2} of TSan's", foresee / tsan);
    println!(
        "targets: 0.50 of TSan's, below TSan on each, memory 1.5x and fixed buffers, 4 bytes packed per event"
    );
    Ok(())
}

/// Where the programs of each build are, and what runs them.
struct Builds {
    native: PathBuf,
    tsan: PathBuf,
    foresee: PathBuf,
    /// `cargo-foresee` itself, built as this program is.
    tool: PathBuf,
    scratch: tempfile::TempDir,
}

impl Builds {
    fn new() -> Result<Builds, Failed> {
        let own = Path::new(env!("CARGO_MANIFEST_DIR"));
        let sources = own.join("record");
        let us = std::env::current_exe()?;
        let profile = us.parent().ok_or("this program is nowhere")?;
        let work = profile.with_file_name("record");
        let tool = tool()?;

        let build = |cargo: &Path, way: &str, flags: &str| {
            let mut build = Command::new(cargo);
            build.args(["build", "--release", "--bins", "--locked", "--quiet", "--target", TARGET]);
            build.current_dir(&sources).env("RUSTFLAGS", flags);
            // `cargo foresee` puts what it builds into a folder of its own there.
            let folder = if way == "foresee" { work.clone() } else { work.join(way) };
            build.env("CARGO_TARGET_DIR", folder);
            // Sanitizers are not stable, but what a stable compiler makes with them is what is compared here.
            build.env("RUSTC_BOOTSTRAP", if way == "tsan" { "1" } else { "0" });
            succeed(&mut build)?;
            Ok::<_, Failed>(work.join(way).join(TARGET).join("release"))
        };
        let cargo = Path::new("cargo");
        Ok(Builds {
            native: build(cargo, "native", "")?,
            tsan: build(cargo, "tsan", "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer")?,
            foresee: build(&tool, "foresee", "")?,
            tool,
            scratch: tempfile::tempdir_in(&work)?,
        })
    }

    fn raw(&self) -> PathBuf {
        self.scratch.path().join("raw")
    }

    /// The program, told to do so much of its work, and where to record if it is built for that.
    fn program(&self, build: &Path, program: &str, percent: u32) -> Command {
        let mut command = Command::new(build.join(program));
        command.arg(percent.to_string()).env("FORESEE_RAW", self.raw());
        command.env("TSAN_OPTIONS", "report_bugs=0");
        if build == self.foresee {
            command.env(joined::VARIABLE, self.joined(program));
            // As `foresee record` has it, too.
            command.env(CLOCK_VARIABLE, best_clock(&build.join(program)).unwrap_or("counter"));
        }
        command
    }

    /// Where the table is of the accesses that need no record, as `foresee record` has it made whenever it runs a program.
    fn joined(&self, program: &str) -> PathBuf {
        self.scratch.path().join(format!("{program}.joined"))
    }

    /// Has that table made; how many seconds it takes.
    fn join(&self, program: &str) -> Result<f64, Failed> {
        let begun = Instant::now();
        let table = joined::table(&self.foresee.join(program), begun + Duration::from_secs(60))?;
        std::fs::write(self.joined(program), table.unwrap_or_default())?;
        Ok(begun.elapsed().as_secs_f64())
    }

    /// Runs it; what it recorded is thrown away.
    fn cost(&self, command: &mut Command) -> Result<Cost, Failed> {
        let said = self.scratch.path().join("cost");
        let mut shell = Command::new("bash");
        // Bash tells times to a thousandth of a second, GNU time tells memory.
        shell.args(["-c", r#"TIMEFORMAT="%3U %3S"; time /usr/bin/time -f %M -o "$0" "$@""#]).arg(&said);
        shell.arg(command.get_program()).args(command.get_args());
        shell.env_remove("FORESEE_RAW");
        shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = shell.output()?;
        let kib = std::fs::read_to_string(&said)?.trim().parse()?;
        let told = String::from_utf8_lossy(&output.stderr);
        let times = told.lines().last().and_then(|line| line.split_once(' '));
        let (user, system) = times.filter(|_| output.status.success()).ok_or_else(|| told.to_string())?;
        let cost = Cost { user: user.parse()?, system: system.parse()?, kib };
        remove_raw(&self.raw())?;
        Ok(cost)
    }

    /// Records a smaller run, once alone and once to pack it.
    fn pack(&self, program: &str, percent: u32) -> Result<Packed, Failed> {
        let trace = self.scratch.path().join("packed.ft");
        let alone = self.cost(&mut self.program(&self.foresee, program, percent))?;
        let mut record = Command::new(&self.tool);
        record.args(["foresee", "record", "--keep-raw", "-o"]).arg(&trace);
        record.arg("--").arg(self.foresee.join(program)).arg(percent.to_string());
        let with_packing = self.cost(&mut record)?;
        let mut events = 0_u64;
        let mut reader = foresee_trace::open(&trace)?;
        while reader.advance()? {
            events += 1;
        }
        let raw = trace.with_extension("raw");
        let length = |path: &Path| Ok::<_, Failed>(std::fs::metadata(path)?.len() as f64);
        let packed = Packed {
            events: events as f64,
            raw_bytes: length(&raw)?,
            bytes: length(&trace)?,
            seconds: with_packing.seconds() - alone.seconds(),
        };
        std::fs::remove_file(raw)?;
        Ok(packed)
    }
}

/// Removes a raw trace with its side files, if there is one.
pub(crate) fn remove_raw(raw: &Path) -> Result<(), Failed> {
    let (Some(folder), Some(name)) = (raw.parent(), raw.file_name().and_then(|name| name.to_str())) else {
        return Ok(());
    };
    for file in std::fs::read_dir(folder)? {
        let file = file?;
        if file.file_name().to_str().is_some_and(|file| file == name || file.starts_with(&format!("{name}+")))
        {
            std::fs::remove_file(file.path())?;
        }
    }
    Ok(())
}

/// `cargo-foresee` itself, built as this program is, with the runtime beside it.
pub(crate) fn tool() -> Result<PathBuf, Failed> {
    built(&["-p", "cargo-foresee", "-p", "foresee-rt"], "cargo-foresee")
}

/// A program of this workspace, built as this one is, which is beside it then.
pub(crate) fn built(what: &[&str], name: &str) -> Result<PathBuf, Failed> {
    let us = std::env::current_exe()?;
    let mut build = Command::new("cargo");
    build.args(["build", "--quiet"]).args(what);
    if !cfg!(debug_assertions) {
        build.arg("--release");
    }
    succeed(build.current_dir(env!("CARGO_MANIFEST_DIR")))?;
    Ok(us.with_file_name(name))
}

pub(crate) fn succeed(command: &mut Command) -> Result<(), Failed> {
    let status = command.status()?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}").into()) }
}

/// What one run took.
#[derive(Clone, Copy)]
struct Cost {
    user: f64,
    system: f64,
    kib: f64,
}

impl Cost {
    const MOST: Cost = Cost { user: f64::MAX, system: f64::MAX, kib: f64::MAX };

    fn seconds(self) -> f64 {
        self.user + self.system
    }

    /// The quicker one, and the least memory of both.
    fn min(self, other: Cost) -> Cost {
        let quicker = if self.seconds() < other.seconds() { self } else { other };
        Cost { kib: self.kib.min(other.kib), ..quicker }
    }
}

/// What became of a recording.
struct Packed {
    events: f64,
    raw_bytes: f64,
    bytes: f64,
    /// What packing took.
    seconds: f64,
}
