//! What grows with the input stays within bounds: memory does not grow with the square of anything, nor with what nobody asks for.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::process::Command;

use crate::support::{Folder, Outcome, outcome};

/// Runs foresee with no more than so many megabytes of its own.
fn foresee_within(folder: &Folder, megabytes: u64, args: &[&str]) -> Outcome {
    let line = format!("ulimit -d {}; exec \"$0\" \"$@\"", megabytes << 10);
    let mut command = Command::new("sh");
    command.args(["-c", &line, env!("CARGO_BIN_EXE_foresee")]).args(args).current_dir(folder.path("."));
    outcome(command.output().unwrap())
}

/// Each thread learns of all that came before it.
#[test]
fn memory_is_not_quadratic_in_threads() {
    let folder = Folder::new();
    let (mut chain, mut at_once) = (String::new(), String::new());
    for thread in 1..=60_000 {
        let section = |of: &mut String| {
            let _ = writeln!(of, "T{thread}|acq(l)|a.c:2\nT{thread}|w(x)|a.c:3\nT{thread}|rel(l)|a.c:4");
        };
        let _ = writeln!(chain, "T0|fork(T{thread})|a.c:1");
        section(&mut chain);
        section(&mut at_once);
    }
    folder.write("chain.std", &chain);
    // Threads that nobody started, all of them there until the end.
    folder.write("at_once.std", at_once);
    for trace in ["chain.std", "at_once.std"] {
        let checked = foresee_within(&folder, 1000, &["check", trace]);
        assert_eq!(checked.code, Some(0), "{trace}: {}", checked.stderr);
        // What does not fit is not decided, and that is said.
        let limited = foresee_within(&folder, 1000, &["check", trace, "--memory", "100M"]);
        assert_eq!(limited.code, Some(3), "{trace}: {}", limited.stderr);
        assert!(limited.stderr.contains("prediction looked at the first"), "{}", limited.stderr);
        assert_eq!(foresee_within(&folder, 1000, &["trace", "validate", trace]).code, Some(0));
    }
}

/// Of a program file only what is needed is read.
#[test]
fn program_files_may_be_huge() {
    let folder = Folder::new();
    folder.build(
        "race.c",
        "#include <pthread.h>\nint counter;\nstatic void *work(void *x) { counter++; return x; }\n\
         int main(void) {\n    pthread_t t;\n    pthread_create(&t, 0, work, 0);\n    counter++;\n    pthread_join(t, 0);\n}\n",
    );
    // With nothing in them, these bytes take no room.
    let file = OpenOptions::new().write(true).open(folder.path("prog")).unwrap();
    file.set_len(3 << 30).unwrap();
    drop(file);
    let ran = foresee_within(&folder, 1000, &["run", "--", "./prog"]);
    assert_eq!(ran.code, Some(66), "{}", ran.stderr);
    assert!(ran.stderr.contains("race on `counter`") && ran.stderr.contains("race.c:3"), "{}", ran.stderr);
}
