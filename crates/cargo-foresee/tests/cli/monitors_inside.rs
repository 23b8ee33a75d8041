//! Recorded programs that have monitors in them (`foresee::monitor!`).

use serde_json::Value;

use crate::support::Folder;

/// A file is written by one thread and closed by another, which no order keeps apart. Handlers do what the program does.
const MAIN: &str = r#"
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

foresee::monitor! {
    property KeptOpen(f) {
        event opened(f);
        event wrote(f);
        event closed(f);
        ere: opened wrote* closed wrote
        @match { report "written after it was closed"; }
    }
    property Twice(f) {
        event again(f);
        ere: again again
        @match { call "twice"; }
    }
}

static HANDLED: AtomicU32 = AtomicU32::new(0);

fn main() {
    let times = std::env::args().nth(1).map_or(0, |times| times.parse().unwrap());
    foresee::on("twice", |_| {
        HANDLED.fetch_add(1, Ordering::Relaxed);
    });
    kept_open::opened(1);
    let writer = std::thread::spawn(move || {
        kept_open::wrote(1);
        for _ in 0..times {
            kept_open::wrote(1);
        }
        twice::again(7);
        twice::again(7);
    });
    std::thread::sleep(Duration::from_millis(500));
    kept_open::closed(1);
    writer.join().unwrap();
    assert_eq!(HANDLED.load(Ordering::Relaxed), 1);
}
"#;

/// What the monitor says, for predicting.
const SPEC: &str = r#"property Closed(f) {
    event opened(f);
    event wrote(f);
    event closed(f);
    ere: opened wrote* closed wrote
    @match { report "written after it was closed"; }
}
"#;

fn program() -> Folder {
    let folder = Folder::new();
    folder.package_with_sdk("");
    folder.write("src/main.rs", MAIN);
    folder.write("closed.rv", SPEC);
    folder
}

#[test]
fn events_of_monitors_are_recorded_and_what_monitors_do_is_not() {
    let folder = program();
    let report = |times: &str| -> Value {
        let line = ["cargo", "run", "-q", "--spec", "closed.rv", "--format", "json", "--", times];
        let outcome = folder.foresee(&line);
        assert_eq!(outcome.code, Some(66), "{}", outcome.stderr);
        serde_json::from_str(&outcome.stdout).unwrap()
    };
    let few = report("0");
    let [finding] = few["findings"].as_array().unwrap().as_slice() else { panic!("{few}") };
    assert_eq!((&finding["property"], &finding["certainty"]), (&"Closed".into(), &"predicted".into()));
    let events = |report: &Value| report["stats"]["events"].as_u64().unwrap();
    // The event, what it carries, and the way to the monitor, in a build without optimisation: with the monitor's own steps they were hundreds.
    let many = report("1000");
    let each = (events(&many) - events(&few)) / 1000;
    assert!((1..=80).contains(&each), "{each} events for each event of the monitor");
}
