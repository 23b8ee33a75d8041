//! `foresee run` checks a program while it runs.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;

use serde_json::Value;

use crate::support::Folder;

/// Two threads race once; then one of them goes on until its standard input ends.
const RACES_AND_WAITS: &str = r#"
#include <poll.h>
#include <pthread.h>
#include <unistd.h>
int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *unused) { shared = 1; return unused; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    shared = 2;
    pthread_join(thread, 0);
    struct pollfd input = { 0, POLLIN, 0 };
    while (poll(&input, 1, 10) == 0) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
    return 0;
}
"#;

/// Much happens, for longer than it takes to look at it.
const BUSY: &str = r#"
#include <pthread.h>
#include <unistd.h>
long racy, guarded[64];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *unused) {
    for (int i = 0; i < 30; i++) {
        for (int j = 0; j < 500; j++) {
            pthread_mutex_lock(&lock);
            guarded[j % 64]++;
            pthread_mutex_unlock(&lock);
        }
        racy++;
        usleep(30000);
    }
    return unused;
}
int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    return 0;
}
"#;

#[test]
fn a_race_is_told_while_the_program_runs() {
    let folder = Folder::new();
    folder.build("races.c", RACES_AND_WAITS);
    let mut command = folder.command(&["run", "--timeout", "120s", "--", "./prog"]);
    let mut foresee = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let input = foresee.stdin.take();
    let mut told = BufReader::new(foresee.stderr.take().unwrap());
    let mut line = String::new();
    told.read_line(&mut line).unwrap();
    assert!(line.contains("data race observed: ") && line.contains("races.c:7"), "{line}");
    // Only now does the program end, and the report come.
    drop(input);
    let mut report = String::new();
    told.read_to_string(&mut report).unwrap();
    assert!(report.contains("observed data race on `shared`"), "{report}");
    assert_eq!(foresee.wait().unwrap().code(), Some(66));
}

#[test]
fn checking_beside_the_program_finds_what_checking_its_trace_does() {
    let folder = Folder::new();
    folder.build("busy.c", BUSY);
    let findings = |text: &str| -> Value {
        let report: Value = serde_json::from_str(text).unwrap();
        assert!(report["stats"]["events"].as_u64().unwrap() > 100_000, "{}", report["stats"]);
        report["findings"].clone()
    };
    let live = folder.foresee(&["run", "--trace", "run.ft", "--format", "json", "--", "./prog"]);
    let after = folder.foresee(&["check", "--format", "json", "run.ft"]);
    assert_eq!((live.code, after.code), (Some(66), Some(66)), "{}", live.stderr);
    assert_eq!(findings(&live.stdout), findings(&after.stdout));
    folder.foresee(&["trace", "validate", "run.ft"]).success();
    assert_eq!(folder.files(), ["busy.c", "prog", "run.ft"]);
}
