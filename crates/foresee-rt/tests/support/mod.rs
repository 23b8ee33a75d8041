//! Compiles a program with the compiler's instrumentation, links the runtime, records a run and reads it.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::OnceLock;
use std::time::Duration;

use foresee_predict::hb::HappensBefore;
use foresee_trace::raw::{LockTable, NoSymbols, RawReader, is_side_file};
use foresee_trace::validate::Validator;
use foresee_trace::{EventSource as _, Facts, Mode, Op, Trust};
use foresee_witness::engine::StreamEngine as _;
use foresee_witness::judge::Finding;

/// The static library, built as the driver builds it.
pub(crate) fn runtime() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let status = Command::new(env!("CARGO")).args(["build", "-q", "-p", "foresee-rt"]).status().unwrap();
        assert!(status.success());
        // The test is target/debug/deps/name-hash.
        let test = std::env::current_exe().unwrap();
        test.ancestors().nth(2).unwrap().join("libforesee_rt.a")
    })
}

/// A compiler to which what we ask for is said in its own flags.
#[derive(Clone, Copy)]
struct Compiler {
    c: &'static str,
    cxx: &'static str,
    flags: &'static [&'static str],
}

const COMPILERS: [Compiler; 2] = [
    // Copies and comparisons that the compiler expands in place would not be seen.
    Compiler {
        c: "gcc",
        cxx: "g++",
        flags: &[
            "-mmemcpy-strategy=libcall:-1:noalign",
            "-mmemset-strategy=libcall:-1:noalign",
            "-fno-builtin-memcmp",
        ],
    },
    Compiler { c: "clang", cxx: "clang++", flags: &["-mllvm", "-tsan-instrument-read-before-write=1"] },
];

/// Does something with `programs/<name>`, C or C++ by its ending, built by each compiler. In CI they must all be there.
pub(crate) fn each(name: &str, test: impl Fn(&Program)) {
    for compiler in COMPILERS {
        let there = Command::new(compiler.c).arg("--version").output().is_ok();
        if there || std::env::var("CI").is_ok_and(|ci| ci == "true") {
            test(&Program::compile(name, compiler));
        } else {
            eprintln!("skipped: there is no {}", compiler.c);
        }
    }
}

/// A compiled program in a directory of its own.
pub(crate) struct Program {
    directory: tempfile::TempDir,
    source: PathBuf,
    compiler: Compiler,
}

/// One recorded run.
pub(crate) struct Run {
    pub status: ExitStatus,
    pub facts: Facts,
    pub trust: Trust,
    /// Each event as `thread operation`, in order.
    pub events: Vec<String>,
    pub races: Vec<Finding>,
    /// How many atomics had a value that nobody was recorded to have written.
    unexplained: u64,
}

impl Program {
    fn compile(name: &str, compiler: Compiler) -> Program {
        let directory = tempfile::tempdir().unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name);
        let (command, standard) =
            if name.ends_with(".cpp") { (compiler.cxx, "-std=gnu++17") } else { (compiler.c, "-std=gnu17") };
        let object = directory.path().join("program.o");
        let compile = Command::new(command)
            .args(["-g", "-O1", "-mcx16", "-fsanitize=thread", standard, "-c"])
            .args(compiler.flags)
            .arg("-o")
            .args([&object, &source])
            .status()
            .unwrap();
        assert!(compile.success(), "compiling {name} with {command}");
        let link = Command::new(command)
            .arg("-o")
            .args([&directory.path().join("program"), &object])
            .arg(runtime())
            .args(["-lpthread", "-ldl", "-lm", "-lrt"])
            .status()
            .unwrap();
        assert!(link.success(), "linking {name} with {command}");
        Program { directory, source, compiler }
    }

    /// A file of this name beside the program.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// How long the trace of the last recorded run is.
    pub(crate) fn trace_len(&self) -> u64 {
        self.file(TRACE).metadata().unwrap().len()
    }

    fn command(&self) -> Command {
        let mut command = Command::new("timeout");
        command.arg("60").arg(self.directory.path().join("program"));
        command
    }

    /// Runs it unrecorded.
    pub(crate) fn run_plain(&self) -> ExitStatus {
        self.command().env_remove("FORESEE_RAW").status().unwrap()
    }

    /// Records a run; the trace must be a possible one.
    pub(crate) fn record(&self) -> Run {
        self.remove_traces();
        let raw = self.directory.path().join(TRACE);
        let status = self.command().env("FORESEE_RAW", &raw).status().unwrap();
        let run = Run::read(&raw, status);
        // The reader leaves such values out: without this, atomics in a wrong order would go unnoticed.
        assert_eq!(run.unexplained, 0);
        run
    }

    /// What it prints and how it ends without us.
    pub(crate) fn run_native(&self, args: &[&str]) -> (String, ExitStatus) {
        let native = self.file("native");
        if !native.exists() {
            let mut compile = Command::new(self.compiler.c);
            compile.args(["-g", "-O1", "-std=gnu17", "-o"]).args([&native, &self.source]).arg("-lpthread");
            assert!(compile.status().unwrap().success());
        }
        let output = quiet(&native).args(args).env_remove("FORESEE_RAW").output().unwrap();
        (String::from_utf8(output.stdout).unwrap(), output.status)
    }

    /// Records a run: what it prints and how it ends, and what it did.
    pub(crate) fn record_output(&self, args: &[&str]) -> ((String, ExitStatus), Run) {
        self.remove_traces();
        let raw = self.file(TRACE);
        let output = quiet(&self.file("program")).args(args).env("FORESEE_RAW", &raw).output().unwrap();
        let run = Run::read(&raw, output.status);
        ((String::from_utf8(output.stdout).unwrap(), output.status), run)
    }

    /// Records a run to a file elsewhere, started by another command: what it says, and the run, if there is one.
    pub(crate) fn record_to(&self, raw: &Path, prefix: &[&str]) -> (String, Option<Run>) {
        let program = self.file("program");
        let mut words = prefix.iter().map(std::ffi::OsStr::new).chain([program.as_os_str()]);
        let output =
            quiet(Path::new(words.next().unwrap())).args(words).env("FORESEE_RAW", raw).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let run = is_trace(raw).then(|| Run::read(raw, output.status));
        (String::from_utf8(output.stderr).unwrap(), run)
    }

    /// Records a run that is killed after this time; nothing if it had not begun to record.
    pub(crate) fn record_killed_after(
        &self,
        args: &[&Path],
        environment: &[(&str, &str)],
        time: Duration,
    ) -> Option<Run> {
        self.remove_traces();
        let raw = self.file(TRACE);
        let mut command = Command::new(self.file("program"));
        command.args(args).env("FORESEE_RAW", &raw).envs(environment.iter().copied());
        let mut running = command.spawn().unwrap();
        std::thread::sleep(time);
        running.kill().unwrap();
        let status = running.wait().unwrap();
        is_trace(&raw).then(|| Run::read(&raw, status))
    }

    /// What the other processes of the last recorded run did.
    pub(crate) fn others(&self) -> Vec<Run> {
        let main = self.directory.path().join(TRACE);
        let is_trace = |path: &PathBuf| !is_side_file(path.to_str().unwrap()) && *path != main;
        let others = self.trace_files().into_iter().filter(is_trace);
        others.map(|path| Run::read(&path, ExitStatus::default())).collect()
    }

    fn remove_traces(&self) {
        for old in self.trace_files() {
            std::fs::remove_file(old).unwrap();
        }
    }

    /// The files of traces, side files included.
    pub(crate) fn trace_files(&self) -> Vec<PathBuf> {
        let files = std::fs::read_dir(self.directory.path()).unwrap().map(|entry| entry.unwrap().path());
        files.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(TRACE)).collect()
    }

    /// Nothing is reported of this program, run after run.
    pub(crate) fn assert_clean(&self) -> Run {
        assert!(self.run_plain().success());
        for _ in 0..5 {
            let run = self.record();
            assert!(run.status.success(), "{:?}", run.status);
            assert!(run.races.is_empty(), "{:#?}", run.describe_races());
        }
        self.record()
    }
}

/// What a program's trace is called; other processes add their ids.
const TRACE: &str = "trace.raw";

/// A command that leaves no core when it crashes.
fn quiet(program: &Path) -> Command {
    let mut command = Command::new("prlimit");
    command.args(["--core=0", "timeout", "--foreground", "60"]).arg(program);
    command
}

/// Whether a file has what every trace has: one that was just created has not.
fn is_trace(raw: &Path) -> bool {
    std::fs::read(raw).is_ok_and(|bytes| bytes.iter().any(|&byte| byte != 0))
}

impl Run {
    fn read(raw: &Path, status: ExitStatus) -> Run {
        let mut reader = RawReader::open(raw, Box::new(NoSymbols), LockTable::default()).unwrap();
        let mut validator = Validator::new();
        let mut engine = Box::new(HappensBefore::new());
        let mut events = Vec::new();
        while reader.advance().unwrap() {
            let (names, event) = (reader.names(), reader.event());
            let index = events.len() as u64;
            validator.event(names, index, &event);
            engine.event(index, &event);
            let shared = matches!(
                event.op,
                Op::Acquire { mode: Mode::Shared, .. } | Op::Release { mode: Mode::Shared, .. }
            );
            let mode = if shared { "-shared" } else { "" };
            events.push(format!("{} {}{mode}", names.thread_name(event.thread), event.op.name()));
        }
        assert_eq!(reader.damage(), None);
        let verdict = validator.finish();
        assert!(verdict.is_valid(), "{:#?}", verdict.problems);
        let races = engine.finish(reader.names()).findings;
        Run {
            status,
            facts: reader.facts().clone(),
            trust: reader.trust(),
            events,
            races,
            unexplained: reader.unexplained(),
        }
    }

    /// The program succeeded, nothing is reported of it, and nothing is missing.
    #[track_caller]
    pub(crate) fn assert_ends_well(&self) {
        assert!(self.status.success(), "{:?}", self.status);
        assert!(self.races.is_empty(), "{:#?}", self.describe_races());
        assert_eq!(self.unexplained, 0);
    }

    /// How many events of this kind the threads whose names begin so did.
    pub(crate) fn count(&self, thread: &str, operation: &str) -> usize {
        let is = |event: &&String| {
            event.split_once(' ').is_some_and(|(t, o)| t.starts_with(thread) && o == operation)
        };
        self.events.iter().filter(is).count()
    }

    pub(crate) fn describe_races(&self) -> Vec<Vec<&str>> {
        let event = |&index: &u64| self.events[index as usize].as_str();
        self.races.iter().map(|race| race.events.iter().map(event).collect()).collect()
    }
}
