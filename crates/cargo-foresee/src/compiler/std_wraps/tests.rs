//! Real programs, linked by both linkers, with and without optimisation.

use std::process::{Command, Stdio};
use std::sync::OnceLock;

use foresee_predict::hb::HappensBefore;
use foresee_trace::raw::{LockTable, NoSymbols, RawReader};
use foresee_trace::{EventSource as _, Op, Order};
use foresee_witness::engine::StreamEngine as _;
use foresee_witness::judge::Finding;

use super::super::response::expanded;
use super::*;

#[test]
fn paths_have_no_hashes() {
    for mangled in [
        "_RNvMNtNtNtNtCsjrHSEGnQ3l9_3std3sys4sync7condvar5futexNtB2_7Condvar4wait",
        "_ZN3std3sys4sync7condvar5futex7Condvar4wait17h0123456789abcdefE",
    ] {
        assert_eq!(path(mangled), "std::sys::sync::condvar::futex::Condvar::wait");
    }
    assert_eq!(path("_RNvCsfLfy6EI15iL_7___rustc12___rust_alloc"), "__rustc::__rust_alloc");
}

#[test]
fn what_is_no_library_is_refused() {
    assert!(Functions::default().find(b"not an archive").is_err());
    let refused = link_arguments(Path::new("/no/such/rustc"), Path::new("/no")).unwrap_err();
    assert!(refused.to_string().starts_with("/no/such/rustc: cannot run it"), "{refused}");
}

#[test]
fn any_path_can_be_in_a_response_file() {
    let folder = tempfile::tempdir().unwrap();
    let (file, object) = (folder.path().join("args"), r#"/a b/it's "quoted" \ here.o"#);
    fs::write(&file, response_file(&Functions::default(), Path::new(object))).unwrap();
    assert_eq!(expanded(&[format!("@{}", file.display()).into()]), [object]);
}

fn target() -> &'static Path {
    static TARGET: OnceLock<PathBuf> = OnceLock::new();
    // The test is target/debug/deps/name-hash.
    TARGET.get_or_init(|| std::env::current_exe().unwrap().ancestors().nth(2).unwrap().to_owned())
}

/// The runtime, built as the driver builds it.
fn runtime() -> PathBuf {
    static BUILT: OnceLock<()> = OnceLock::new();
    BUILT.get_or_init(|| {
        let status = Command::new(env!("CARGO")).args(["build", "-q", "-p", "foresee-rt"]).status().unwrap();
        assert!(status.success());
    });
    target().join("libforesee_rt.a")
}

/// How many of its operations count, and what happens-before says of the run.
struct Run {
    operations: Vec<Op<'static>>,
    races: Vec<Finding>,
}

impl Run {
    fn count(&self, is: impl Fn(&Op<'_>) -> bool) -> usize {
        self.operations.iter().filter(|op| is(op)).count()
    }
}

/// Compiles a program, runs it unrecorded and recorded; does so for each linker, with and without optimisation.
fn runs(name: &str, flags: &[&str]) -> Vec<Run> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../foresee-rt/tests/programs/std").join(name);
    let folder = tempfile::tempdir().unwrap();
    let link = link_arguments(Path::new("rustc"), &folder.path().join("wraps")).unwrap();
    let again = link_arguments(Path::new("rustc"), &folder.path().join("wraps")).unwrap();
    assert_eq!(link, again);
    let linkers: [&[&str]; 2] = [&[], &["-Clinker-features=-lld", "-Zunstable-options"]];
    let mut runs = Vec::new();
    for (i, linker) in linkers.iter().enumerate() {
        for level in ["0", "3"] {
            let program = folder.path().join(format!("program-{i}-{level}"));
            let mut rustc = Command::new("rustc");
            rustc.env("RUSTC_BOOTSTRAP", "1").args(["--edition=2024", "-Awarnings", "--target", TARGET]);
            rustc.args(["-Zsanitizer=thread", "-Zexternal-clangrt", "-Cunsafe-allow-abi-mismatch=sanitizer"]);
            rustc.arg(format!("-Copt-level={level}")).args(*linker).args(flags);
            let runtime = runtime().into_os_string();
            let needed = ["-Wl,--undefined=__tsan_init"].map(OsString::from).into_iter();
            for argument in needed.chain(link.clone()).chain([runtime]) {
                let mut flag = OsString::from("-Clink-arg=");
                flag.push(argument);
                rustc.arg(flag);
            }
            assert!(rustc.arg("-o").args([&program, &source]).status().unwrap().success(), "{name}");
            runs.push(record(&program));
        }
    }
    runs
}

fn record(program: &Path) -> Run {
    let command = || {
        let mut command = Command::new("timeout");
        command.arg("60").arg(program).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    assert!(command().env_remove("FORESEE_RAW").status().unwrap().success());
    let raw = program.with_extension("raw");
    assert!(command().env("FORESEE_RAW", &raw).status().unwrap().success());
    let mut reader = RawReader::open(&raw, Box::new(NoSymbols), LockTable::default()).unwrap();
    let mut engine = Box::new(HappensBefore::new());
    let mut operations = Vec::new();
    while reader.advance().unwrap() {
        let event = reader.event();
        engine.event(operations.len() as u64, &event);
        operations.push(match event.op {
            Op::Load { mem, order, value } => Op::Load { mem, order, value },
            Op::Store { mem, order, value } => Op::Store { mem, order, value },
            Op::Rmw { mem, order, values } => Op::Rmw { mem, order, values },
            Op::Wait { cond, timed } => Op::Wait { cond, timed },
            Op::Notify { cond, all } => Op::Notify { cond, all },
            Op::Alloc { mem } => Op::Alloc { mem },
            Op::Free { mem } => Op::Free { mem },
            _ => Op::Branch,
        });
    }
    let races = engine.finish(reader.names()).findings;
    Run { operations, races }
}

fn assert_clean(runs: &[Run]) {
    for run in runs {
        assert!(run.races.is_empty(), "{:#?}", run.races);
    }
}

#[test]
fn what_is_not_ordered_is_a_race() {
    for run in runs("racy.rs", &[]) {
        assert!(!run.races.is_empty());
    }
}

#[test]
fn scopes_end_after_their_threads() {
    let runs = runs("scope.rs", &[]);
    assert_clean(&runs);
    for run in runs {
        let unseen = |op: &Op<'_>| matches!(op, Op::Rmw { order: Order::Release, values: None, .. });
        // 8 and 2 threads in 20 rounds, and the one that panics. Of other counts, those of `Arc`, the library does some.
        assert!(run.count(unseen) >= 201);
    }
}

#[test]
fn what_is_initialised_once_is_seen() {
    let runs = runs("once.rs", &[]);
    assert_clean(&runs);
    for run in runs {
        let published = |op: &Op<'_>| matches!(op, Op::Store { order: Order::Release, value: None, .. });
        assert!(run.count(published) >= 5);
    }
}

#[test]
fn barriers_order_rounds() {
    assert_clean(&runs("barrier.rs", &[]));
}

#[test]
fn conditions_are_waited_for() {
    for run in runs("condvar.rs", &[]) {
        assert!(run.count(|op| matches!(op, Op::Wait { .. })) >= 2);
        assert_eq!(run.count(|op| matches!(op, Op::Notify { all: false, .. })), 2);
        assert_eq!(run.count(|op| matches!(op, Op::Notify { all: true, .. })), 1);
    }
}

#[test]
fn who_was_unparked_has_seen_it() {
    for run in runs("park.rs", &[]) {
        let parked = |op: &Op<'_>| matches!(op, Op::Rmw { order: Order::Acquire, values: None, .. });
        assert!(run.count(parked) >= 7);
    }
}

#[test]
fn memory_is_recorded_as_the_program_asks_for_it() {
    let runs = runs("memory.rs", &[]);
    assert_clean(&runs);
    for run in runs {
        assert_eq!(run.count(|op| matches!(op, Op::Alloc { mem } if mem.size == 100)), 400);
        assert_eq!(run.count(|op| matches!(op, Op::Free { mem } if mem.size == 100)), 400);
    }
}

/// The compiler may inline such an allocator into its callers: then its memory is what `malloc` says.
#[test]
fn memory_of_an_allocator_of_the_programs_own() {
    let runs = runs("memory.rs", &["--cfg=counting"]);
    assert_clean(&runs);
    for run in runs {
        assert!(run.count(|op| matches!(op, Op::Alloc { mem } if (100..=104).contains(&mem.size))) >= 400);
    }
}
