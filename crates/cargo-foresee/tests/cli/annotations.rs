//! What programs say themselves, with `foresee.h` and the `foresee` crate, and values of what is watched.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Folder, Outcome, outcome};

const ANNOTATED: &str = r#"
#include <foresee.h>
#include <pthread.h>
#include <stdlib.h>
int landing;
static long counter = 5;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static int token;
static int step(int leave) {
    FORESEE_ATOMIC_SCOPE("step");
    if (leave)
        return 1;
    counter++;
    return 0;
}
static void *work(void *arg) {
    pthread_mutex_lock(&guard);
    landing = 1;
    FORESEE_EVENT("put", FORESEE_OBJECT((void *)16), FORESEE_INT(-7),
                  FORESEE_STR("a text that is longer than the thirty-two bytes of a piece"));
    pthread_mutex_unlock(&guard);
    FORESEE_LOCAL(critical, 1);
    FORESEE_HAPPENS_BEFORE(&token);
    return arg;
}
int main(void) {
    FORESEE_NAME_LOCK(&guard, "the guard");
    FORESEE_WATCH(landing);
    FORESEE_WATCH_AS("count", counter);
    short *heap = (short *)malloc(sizeof *heap);
    FORESEE_WATCH_AS("height", *heap);
    *heap = -3;
    pthread_t thread;
    pthread_create(&thread, NULL, work, &token);
    pthread_join(thread, NULL);
    FORESEE_HAPPENS_AFTER(&token);
    FORESEE_EVENT("done");
    FORESEE_ATOMIC_BEGIN("outer");
    int left = step(0) + step(1) + landing + *heap;
    FORESEE_ATOMIC_END();
    free(heap);
    return left != -1;
}
"#;

/// The events of a trace that have one of these forms, without their places.
fn events(folder: &Folder, trace: &str, forms: &[&str]) -> Vec<String> {
    let text = folder.foresee(&["trace", "dump", trace]).success();
    let wanted = text.lines().filter(|line| forms.iter().any(|form| line.contains(form)));
    wanted.map(|line| line.split('|').take(2).collect::<Vec<_>>().join("|")).collect()
}

const SAID: &[&str] = &["|event(", "|local(", "|begin(", "|end(", "(the guard)", "sync token"];

#[test]
fn c_and_cxx_programs_say_what_they_mean() {
    for (source, optimise) in [("said.c", "-O0"), ("said.cpp", "-O2")] {
        let folder = Folder::new();
        folder.write(source, ANNOTATED);
        let driver = if source.ends_with(".c") { "cc" } else { "c++" };
        folder
            .compile(&[driver, "-Wall", "-Wextra", "-Werror", optimise, source, "-o", "prog", "-pthread"])
            .success();
        folder.foresee(&["record", "-o", "run.ft", "--", "./prog"]).success();
        folder.foresee(&["trace", "validate", "run.ft"]).success();
        let expected = [
            "T1|req(the guard)",
            "T1|acq(the guard)",
            "T1|event(put, @16, -7, \"a text that is longer than the thirty-two bytes of a piece\")",
            "T1|rel(the guard)",
            "T1|local(critical=1)",
            "T1|rmw.release(sync token)",
            "main|load.acquire(sync token)",
            "main|event(done)",
            "main|begin(outer)",
            "main|begin(step)",
            "main|end(step)",
            "main|begin(step)",
            "main|end(step)",
            "main|end(outer)",
        ];
        assert_eq!(events(&folder, "run.ft", SAID), expected, "{source}");
        let values = ["main|w(height=-3)", "T1|w(landing=1)", "main|r(count=5)", "main|w(count=6)"];
        let found = events(&folder, "run.ft", &["(height", "(landing", "(count"]);
        assert_eq!(found[..4], values, "{source}");
        let mut read = found[4..].to_vec();
        read.sort();
        assert_eq!(read, ["main|r(height=-3)", "main|r(landing=1)"], "{source}");
    }
}

#[test]
fn annotations_are_nothing_to_another_compiler_and_need_no_runtime() {
    let folder = Folder::new();
    folder.write("said.c", ANNOTATED.replace("(void *)16", "no_such_function()"));
    folder.write("other.c", ANNOTATED);
    let include = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/../../include");
    let flags = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", include, "-pthread", "-o", "prog"];
    for args in [&["said.c"][..], &["-DFORESEE=1", "other.c"]] {
        let built = Command::new("cc").args(args).args(flags).current_dir(folder.path(".")).output().unwrap();
        assert!(built.status.success(), "{}", outcome(built).stderr);
        assert!(Command::new(folder.path("prog")).status().unwrap().success());
    }
}

const RACING: &str = r#"
#include <pthread.h>
int shared, guarded;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t start;
static void *work(void *base) {
    pthread_barrier_wait(&start);
    for (int i = 0; i < 20000; i++) {
        static int inner;
        shared = (int)(long)base + i;
        pthread_mutex_lock(&guard);
        guarded = (int)(long)base + i;
        if (inner != -1)
            inner = i;
        pthread_mutex_unlock(&guard);
    }
    return 0;
}
int main(void) {
    pthread_t threads[2];
    pthread_barrier_init(&start, 0, 2);
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, (void *)((i + 1) * 100000));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
"#;

#[test]
fn a_watched_static_has_its_values_and_a_racy_one_never_those_of_others() {
    let folder = Folder::new();
    folder.build("racing.c", RACING);
    let watch = ["--watch", "shared", "--watch", "guarded", "--watch", "inner"];
    folder.foresee(&[&["record", "-o", "run.ft"], &watch[..], &["--", "./prog"]].concat()).success();
    folder.foresee(&["trace", "validate", "run.ft"]).success();
    for (thread, base) in [("T1", 100_000), ("T2", 200_000)] {
        let written = |variable: &str| -> Vec<Option<u32>> {
            let found = events(&folder, "run.ft", &[&format!("{thread}|w({variable}")]);
            let value = |event: &String| event.split_once('=')?.1.trim_end_matches(')').parse().ok();
            found.iter().map(value).collect()
        };
        let all: Vec<Option<u32>> = (0..20_000).map(|i| Some(base + i)).collect();
        assert_eq!(written("guarded"), all);
        assert_eq!(written("inner.0").len(), 20_000);
        assert!(!written("inner.0").contains(&None));
        let racy = written("shared");
        assert_eq!(racy.len(), all.len());
        assert!(racy.iter().zip(&all).all(|(found, own)| found.is_none() || found == own));
    }
}

#[test]
fn what_cannot_be_watched_is_said() {
    let folder = Folder::new();
    folder.build("racing.c", RACING);
    let nothing = folder.foresee(&["record", "--watch", "altitude", "--", "./prog"]);
    nothing.one_message(2, &["./prog", "no static `altitude`"]);
    folder.write("script", "#!/bin/sh\n");
    folder.foresee(&["record", "--watch", "x", "--", "./script"]).one_message(2, &["./script", "ELF"]);
    folder.foresee(&["record", "--watch", "x", "--", "./gone"]).one_message(2, &["./gone", "cannot read"]);
}

const RUST: &str = r#"
#![forbid(unsafe_code)]
use foresee::attr::atomic;

struct Plane { altitude: u32, name: String }

#[atomic]
fn descend(plane: &mut Plane, by: u32) -> Option<u32> {
    let lower = plane.altitude.checked_sub(by)?;
    plane.altitude = lower;
    Some(lower)
}

fn counted() -> u8 {
    foresee::event!(counted);
    3
}

fn main() {
    let mut plane = Box::new(Plane { altitude: 900, name: "Echo".to_owned() });
    foresee::watch!("altitude", plane.altitude);
    foresee::event!(takeoff, plane.altitude, passengers = counted(), name = plane.name.as_str());
    foresee::local!(critical = true);
    descend(&mut plane, 100);
    let token = 5;
    std::thread::spawn(move || foresee::happens_before(&token)).join().unwrap();
    foresee::happens_after(&token);
    foresee::atomic!("last", { descend(&mut plane, 1000) });
}
"#;

/// Compiles a program in Rust, `prog`, against the SDK in its recorded form: to be recorded, or without the recorder.
pub(crate) fn compile_rust(folder: &Folder, source: &str, is_recorded: bool) {
    let instrument = [
        "--target=x86_64-unknown-linux-gnu",
        "-Zsanitizer=thread",
        "-Zexternal-clangrt",
        "-Cunsafe-allow-abi-mismatch=sanitizer",
        "-Cdebuginfo=1",
    ];
    let runtime = ["-Wl,--undefined=__tsan_init".to_owned(), folder.runtime().display().to_string()];
    let runtime = runtime.map(|arg| format!("-Clink-arg={arg}"));
    let (flags, link): (&[&str], &[String]) = if is_recorded { (&instrument, &runtime) } else { (&[], &[]) };
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let rustc = |args: &[&str], source: &Path| {
        let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()));
        rustc.args(["--edition", "2024", "-L", "."]).args(args).arg(source).current_dir(folder.path("."));
        let done: Outcome = outcome(rustc.env("RUSTC_BOOTSTRAP", "1").output().unwrap());
        assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
    };
    let sdk = |name: &str| -> PathBuf { crates.join(name).join("src/lib.rs") };
    let macros = ["--crate-type", "proc-macro", "--extern", "proc_macro", "--crate-name", "foresee_macros"];
    rustc(&macros, &sdk("foresee-macros"));
    let library =
        ["--crate-type", "rlib", "--crate-name", "foresee", "--extern", "foresee_macros", "--cfg", "foresee"];
    rustc(&[&library, flags].concat(), &sdk("foresee"));
    folder.write("prog.rs", source);
    let link: Vec<&str> = link.iter().map(String::as_str).collect();
    let program = ["--extern", "foresee", "--cfg", "foresee", "--crate-name", "prog"];
    rustc(&[&program, flags, &link].concat(), Path::new("prog.rs"));
}

#[test]
fn rust_programs_say_what_they_mean() {
    let folder = Folder::new();
    compile_rust(&folder, RUST, true);
    folder.foresee(&["record", "-o", "run.ft", "--", "./prog"]).success();
    folder.foresee(&["trace", "validate", "run.ft"]).success();
    let expected = [
        "main|r(altitude=900)",
        "main|event(counted)",
        "main|event(takeoff, 900, 3, \"Echo\")",
        "main|local(critical=1)",
        "main|begin(prog::descend)",
        "main|r(altitude=900)",
        "main|w(altitude=800)",
        "main|end(prog::descend)",
        "main|begin(last)",
        "main|begin(prog::descend)",
        "main|r(altitude=800)",
        "main|end(prog::descend)",
        "main|end(last)",
    ];
    assert_eq!(events(&folder, "run.ft", &["|event(", "|local(", "|begin(", "|end(", "(altitude"]), expected);
    let edges = events(&folder, "run.ft", &["(sync "]);
    assert!(edges.iter().any(|event| event.starts_with("T1|rmw.release(")), "{edges:?}");
    let text = folder.foresee(&["trace", "dump", "run.ft"]).success();
    let place = text.lines().find(|line| line.contains("|event(takeoff")).unwrap().split('|').nth(2).unwrap();
    assert!(place.contains("prog.rs:22:") && place.ends_with("in prog::main"), "{place}");
}

#[test]
fn rust_programs_built_for_recording_run_without_the_recorder() {
    let folder = Folder::new();
    compile_rust(&folder, RUST, false);
    assert!(Command::new(folder.path("prog")).status().unwrap().success());
}
