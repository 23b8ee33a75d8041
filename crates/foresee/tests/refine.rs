//! Refinement logging: what is logged, what is found, and that the subjects of the paper are right without their bugs.

#[path = "../../../examples/refine/subjects/mod.rs"]
mod subjects;

use std::collections::BTreeSet;
use std::sync::Mutex;

use foresee::attr::{mutator, observer};
use foresee::refine::log::Action;
use foresee::refine::{Harness, Judgement, Kind, Mode, Recorder, Role, Unsupported, models};
use subjects::SUBJECTS;

#[derive(Default)]
struct Set(Mutex<BTreeSet<i64>>);

impl Set {
    #[mutator]
    fn add(&self, element: i64) -> bool {
        let mut set = self.0.lock().unwrap();
        foresee::commit!();
        set.insert(element)
    }

    /// Commits only where it finds something, and then twice.
    #[mutator]
    fn remove(&self, element: i64) -> bool {
        let mut set = self.0.lock().unwrap();
        let found = set.remove(&element);
        foresee::commit!(if found);
        foresee::commit!(if found);
        found
    }

    #[observer]
    fn contains(&self, element: i64) -> bool {
        self.0.lock().unwrap().contains(&element)
    }
}

foresee::refine_test! {
    fn a_set_behaves_like_one(threads: 4, operations: 100, seeds: 3) {
        specification: models::Set,
        replica: Unsupported,
        structure: Set::default(),
        operation: |set: &Set, choice| match choice.below(2) {
            0 => drop(set.add(choice.key())),
            _ => drop(set.contains(choice.key())),
        },
    }
}

#[test]
fn calls_commits_and_returns_are_logged_in_order() {
    let recorder = Recorder::keeping(Mode::Io, 0);
    let set = Set::default();
    set.add(1); // nobody listens
    {
        let _attached = recorder.attach("main", Role::Application);
        assert!(set.add(2));
        assert!(!set.contains(3));
    }
    set.add(4);
    let recording = recorder.finish().unwrap();
    let words: Vec<String> = (recording.log.events.iter())
        .map(|event| match &event.action {
            Action::Call { method, args } => format!("{method}{args:?}"),
            Action::Return { ret, .. } => format!("{ret}"),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(words, ["add[2]", "Commit", "true", "contains[3]", "false"]);
    assert!(recording.mistakes.is_empty());
}

#[test]
fn a_commit_on_each_path_exactly_once() {
    let recorder = Recorder::checking(models::Set, Unsupported, Mode::Io, 0);
    let set = Set::default();
    {
        let _attached = recorder.attach("main", Role::Application);
        set.add(1);
        set.remove(1);
        set.remove(1);
    }
    let recording = recorder.finish().unwrap();
    assert_eq!(recording.violation.unwrap().kind, Kind::SecondCommit);
    assert_eq!(recording.mistakes.len(), 2, "{:?}", recording.mistakes);
    assert!(
        recording.mistakes[0].contains("`remove` committed 2 times, at")
            && recording.mistakes[0].contains("refine.rs:")
    );
    assert!(recording.mistakes[1].contains("`remove` returned without a commit"));
}

/// A method without a commit, which has logged what it wrote.
struct Counter(Mutex<foresee::Logged<i64>>);

impl Counter {
    #[mutator]
    fn inc(&self) -> &'static str {
        let mut count = self.0.lock().unwrap();
        let next = **count + 1;
        count.set(next);
        "ok"
    }
}

#[test]
fn a_missing_commit_is_told_with_the_last_write() {
    let recorder = Recorder::keeping(Mode::View, 0);
    let counter = Counter(Mutex::new(foresee::Logged::new(|| "count", 0)));
    {
        let _attached = recorder.attach("main", Role::Application);
        counter.inc();
    }
    let recording = recorder.finish().unwrap();
    let [mistake] = &recording.mistakes[..] else { panic!("{:?}", recording.mistakes) };
    let line =
        1 + include_str!("refine.rs").lines().position(|line| line.contains("count.set(next)")).unwrap();
    assert!(
        mistake.ends_with(&format!("which on this path is at crates/foresee/tests/refine.rs:{line}")),
        "{mistake}"
    );
}

#[test]
fn a_log_file_is_what_the_command_reads() {
    let path = std::env::temp_dir().join(format!("foresee-refine-{}.log", std::process::id()));
    let recorder = Recorder::to_file(&path, "set").unwrap();
    let set = Set::default();
    {
        let _attached = recorder.attach("main", Role::Application);
        set.add(1);
    }
    recorder.finish().unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let expected = "{\"structure\":\"set\"}\n\
                    {\"thread\":\"main\",\"op\":\"call\",\"method\":\"add\",\"args\":[1]}\n\
                    {\"thread\":\"main\",\"op\":\"commit\"}\n\
                    {\"thread\":\"main\",\"op\":\"return\",\"method\":\"add\",\"ret\":true}\n";
    assert_eq!(text, expected);
}

/// Long runs of the subjects as they should be.
#[test]
fn subjects_without_their_bugs_are_right() {
    for subject in SUBJECTS {
        for seed in 0..4 {
            for threads in [2, 8] {
                let mode = if seed == 3 { Mode::Quiescent } else { Mode::View };
                let harness = Harness { threads, seed, mode, operations: 150, ..Harness::default() };
                let report = (subject.test)(&harness, false).unwrap();
                let is_right = !report.is_wrong() && report.finding.is_none();
                assert!(is_right, "{}, seed {seed}: {report}", subject.name);
            }
        }
    }
}

#[test]
fn bugs_of_subjects_are_found() {
    for subject in SUBJECTS {
        let found = (0..60).find_map(|seed| {
            let harness = Harness { threads: 8, seed, operations: 200, yields: 30, ..Harness::default() };
            let report = (subject.test)(&harness, true).unwrap();
            assert!(report.mistakes.is_empty(), "{}: {report}", subject.name);
            let finding = report.finding?;
            (!matches!(finding.judgement, Judgement::CommitPoints { .. })).then_some(finding)
        });
        let finding = found.unwrap_or_else(|| panic!("{}: nothing found", subject.name));
        assert!(finding.after > 0, "{}", finding.text);
    }
}
