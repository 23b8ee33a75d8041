//! Disks that fail, and SIGKILL at any moment: nothing is torn, nothing is left behind, and the program goes on.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::observe::{hello, say};
use crate::programs::UNGUARDED;
use crate::support::{Folder, Outcome, end_if_it_hangs, outcome};

/// From the nth call on, whatever a program of this name wants to put into files fails.
const FAILS: &str = r#"
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <errno.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/stat.h>
    #include <sys/uio.h>
    #include <unistd.h>
    static int fails(int fd) {
        static int calls;
        struct stat about;
        const char *in = getenv("FAILS_IN"), *at = getenv("FAILS_AT"), *with = getenv("FAILS_WITH");
        if (!in || !at || !with || strcmp(in, program_invocation_short_name)) return 0;
        if (fstat(fd, &about) || !S_ISREG(about.st_mode)) return 0;
        if (__atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST) < atoi(at)) return 0;
        errno = atoi(with);
        return 1;
    }
    #define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
    ssize_t write(int fd, const void *from, size_t n) { return fails(fd) ? -1 : NEXT(write)(fd, from, n); }
    ssize_t writev(int fd, const struct iovec *from, int n) { return fails(fd) ? -1 : NEXT(writev)(fd, from, n); }
    ssize_t pwrite64(int fd, const void *from, size_t n, off_t at) { return fails(fd) ? -1 : NEXT(pwrite64)(fd, from, n, at); }
    int posix_fallocate(int fd, off_t at, off_t n) { return fails(fd) ? errno : NEXT(posix_fallocate)(fd, at, n); }
    int posix_fallocate64(int fd, off_t at, off_t n) { return fails(fd) ? errno : NEXT(posix_fallocate64)(fd, at, n); }
    int ftruncate64(int fd, off_t n) { return fails(fd) ? -1 : NEXT(ftruncate64)(fd, n); }
    int fsync(int fd) { return fails(fd) ? -1 : NEXT(fsync)(fd); }
    int fdatasync(int fd) { return fails(fd) ? -1 : NEXT(fdatasync)(fd); }
"#;

const ENOSPC: i32 = 28;
const EIO: i32 = 5;

/// A library that makes writing fail, in a folder of its own.
fn failing_disk() -> (Folder, PathBuf) {
    let folder = Folder::new();
    folder.write("fails.c", FAILS);
    let library = folder.path("fails.so");
    let mut compile = Command::new("cc");
    compile.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(folder.path("fails.c"));
    assert!(compile.status().unwrap().success());
    (folder, library)
}

/// Runs foresee where the disk fails in one of the programs.
fn fails(folder: &Folder, library: &PathBuf, place: (&str, u32, i32), args: &[&str]) -> Outcome {
    let (program, at, with) = place;
    let mut command = folder.command(args);
    command.env("LD_PRELOAD", library).env("FAILS_IN", program).env("FAILS_AT", at.to_string());
    command.env("FAILS_WITH", with.to_string()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    end_if_it_hangs(&child);
    outcome(child.wait_with_output().unwrap())
}

/// A program that writes much more than fits into one piece of its recording.
const WRITES: &str = r#"
    #include <stdio.h>
    volatile long counter;
    int main(void) {
        for (int i = 0; i < 400000; i++) counter++;
        puts("went on");
        return 0;
    }
"#;

#[test]
fn a_disk_that_fails_under_the_recorder_does_not_stop_the_program() {
    let (_lives, library) = failing_disk();
    let folder = Folder::new();
    folder.build("writes.c", WRITES);
    for with in [ENOSPC, EIO] {
        let mut is_whole = false;
        for at in (1..=4).chain([6, 9, 14, 1000]) {
            let ran =
                fails(&folder, &library, ("prog", at, with), &["record", "-o", "run.ft", "--", "./prog"]);
            assert_eq!(ran.stdout, "went on\n", "{at}, {with}: {}", ran.stderr);
            let is_torn = ran.stderr.contains("panicked") || ran.stderr.contains("damaged");
            assert!(!is_torn, "{at}, {with}: {}", ran.stderr);
            let has_trace = folder.path("run.ft").exists();
            // A program that could not even begin is said to have recorded nothing.
            assert_eq!(ran.code, Some(if has_trace { 0 } else { 2 }), "{at}, {with}: {}", ran.stderr);
            if has_trace {
                folder.foresee(&["trace", "validate", "run.ft"]).success();
                let info = folder.foresee(&["trace", "info", "run.ft"]).stdout;
                is_whole = !ran.stderr.contains("recording stops");
                assert_eq!(info.contains("whole            yes"), is_whole, "{at}, {with}: {info}");
                let why = if with == EIO { "Input/output error" } else { "the disk is full" };
                assert_eq!(info.contains(why), !is_whole, "{at}, {with}: {info}");
                fs::remove_file(folder.path("run.ft")).unwrap();
            }
            assert_eq!(folder.files(), ["prog", "writes.c"], "{at}, {with}");
        }
        assert!(is_whole, "it writes that often?");
    }
}

/// What was there before is there still, or all of the new one is.
#[test]
fn a_disk_that_fails_under_packer_and_report_leaves_what_was_there() {
    let (_lives, library) = failing_disk();
    let folder = Folder::new();
    folder.build("unguarded.c", UNGUARDED);
    folder.foresee(&["record", "-o", "t.ft", "--", "./prog"]);
    let before = folder.files();
    let commands: [(&str, &[&str]); 4] = [
        ("run.ft", &["record", "-o", "run.ft", "--", "./prog"]),
        ("copy.ft", &["trace", "convert", "t.ft", "-o", "copy.ft"]),
        ("copy.std", &["trace", "convert", "t.ft", "-o", "copy.std"]),
        ("r.json", &["check", "t.ft", "--format", "json", "--output", "r.json"]),
    ];
    for (output, args) in commands {
        for with in [ENOSPC, EIO] {
            let mut has_succeeded = false;
            for at in 1..=40 {
                folder.write(output, "old\n");
                let ran = fails(&folder, &library, ("foresee", at, with), args);
                let content = fs::read(folder.path(output)).unwrap();
                has_succeeded = content != b"old\n";
                let context = format!("{args:?}, {at}, {with}: {:?} {}", ran.code, ran.stderr);
                assert!(!ran.stderr.contains("panicked"), "{context}");
                if has_succeeded {
                    assert!(matches!(ran.code, Some(0 | 66)), "{context}");
                } else {
                    let why = if with == ENOSPC { "No space left" } else { "Input/output error" };
                    assert_eq!(ran.code, Some(1), "{context}");
                    assert!(ran.stderr.contains(output) && ran.stderr.contains(why), "{context}");
                }
                fs::remove_file(folder.path(output)).unwrap();
                assert_eq!(folder.files(), before, "{context}");
                // What a recording writes first it can do without.
                if has_succeeded && at > 1 {
                    break;
                }
            }
            assert!(has_succeeded, "{args:?} writes that often?");
        }
    }
}

/// A limit on the size of files ends neither foresee nor the program: recording stops, and what foresee writes fails with a message.
#[test]
fn a_file_that_may_not_be_so_large_is_an_error() {
    let folder = Folder::new();
    folder.build("writes.c", WRITES);
    folder.generate("t.ft");
    let before = folder.files();
    // In blocks of 512 bytes.
    let limited = |blocks: u32, args: &[&str]| {
        let line = format!("ulimit -f {blocks}; exec \"$0\" \"$@\"");
        let mut command = Command::new("sh");
        command.args(["-c", &line, env!("CARGO_BIN_EXE_foresee")]).args(args).current_dir(folder.path("."));
        outcome(command.output().unwrap())
    };
    let written = limited(2, &["trace", "convert", "t.ft", "-o", "copy.std"]);
    written.one_message(1, &["copy.std", "File too large"]);
    assert_eq!(folder.files(), before);
    let recorded = limited(400, &["record", "-o", "run.ft", "--", "./prog"]);
    assert_eq!((recorded.code, recorded.stdout.as_str()), (Some(0), "went on\n"), "{}", recorded.stderr);
    assert!(recorded.stderr.contains("the file as large as it may be"), "{}", recorded.stderr);
    folder.foresee(&["trace", "validate", "run.ft"]).success();
}

/// Processes that have to do with this folder.
fn processes_in(folder: &Folder) -> Vec<String> {
    let path = folder.path(".").canonicalize().unwrap();
    let all = fs::read_dir("/proc").unwrap().flatten();
    let of_folder = all.filter(|entry| fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == path));
    of_folder.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

/// Waits until none is left.
fn wait_for_processes(folder: &Folder) {
    let begun = Instant::now();
    while !processes_in(folder).is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?} are still there", processes_in(folder));
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Lets foresee go on for so long, and kills it.
fn kill_after(folder: &Folder, args: &[&str], time: Duration) {
    let mut child = folder.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(time);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn sigkill_tears_nothing_and_leaves_nothing_behind() {
    let folder = Folder::new();
    folder.build("writes.c", WRITES);
    folder.generate("t.ft");
    let record = ["record", "-o", "run.ft", "--", "./prog"];
    let run = ["run", "--trace", "run.ft", "--format", "json", "--output", "r.json", "--", "./prog"];
    let check = ["check", "t.ft", "--format", "json", "--output", "r.json"];
    let commands: [&[&str]; 3] = [&record, &run, &check];
    // Moments of a fixed random sequence, up to somewhat more than it takes.
    let mut seed = 7_u64;
    for args in commands {
        let begun = Instant::now();
        folder.foresee(args);
        let whole = begun.elapsed();
        for name in ["run.ft", "r.json"] {
            let _ = fs::remove_file(folder.path(name));
        }
        for _ in 0..10 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            kill_after(&folder, args, whole.mul_f64((seed >> 33) as f64 / (1_u64 << 31) as f64 * 1.2));
            // The recorded program runs on to its end.
            wait_for_processes(&folder);
            if folder.path("run.ft").exists() {
                folder.foresee(&["trace", "validate", "run.ft"]).success();
            }
            if folder.path("r.json").exists() {
                folder.read("r.json");
            }
        }
        let ended = folder.foresee(args);
        assert!(matches!(ended.code, Some(0 | 66)), "{args:?}: {}", ended.stderr);
        for name in ["run.ft", "r.json"] {
            let _ = fs::remove_file(folder.path(name));
        }
        assert_eq!(folder.files(), ["prog", "t.ft", "writes.c"], "{args:?}");
    }
}

#[test]
fn an_observer_that_was_killed_does_not_stand_in_the_way() {
    let folder = Folder::new();
    folder.write("p.rv", "property P { event e; ere: e @match { report \"m\"; } }\n");
    let observe = ["observe", "--listen", "unix:socket", "--spec", "p.rv", "--exit-after", "1"];
    for time in [5, 20, 80, 200] {
        kill_after(&folder, &observe, Duration::from_millis(time));
    }
    let mut child = folder.command(&observe).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    end_if_it_hangs(&child);
    let begun = Instant::now();
    while std::os::unix::net::UnixStream::connect(folder.path("socket")).is_err() {
        assert!(begun.elapsed() < Duration::from_secs(20) && child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(10));
    }
    let client = say(&folder, &(hello("p") + "{\"ended\":{\"messages\":[0]}}\n"));
    let ended = outcome(child.wait_with_output().unwrap());
    drop(client);
    assert!(ended.code == Some(0) && ended.stderr.contains("p has ended"), "{}", ended.stderr);
    assert_eq!(folder.files(), ["p.rv"]);
}
