//! JSON in which something would be passed over is refused: a wrong verdict about what was not read is worse than none.

#![allow(clippy::unwrap_used)]

use foresee_refine::read::{Case, Subject, read};

fn refused(text: &str) -> String {
    match read(text.as_bytes(), None) {
        Ok(cases) => panic!("{cases:?} of {text}"),
        Err(why) => why.to_string(),
    }
}

fn only_case(text: &str) -> Case {
    let mut cases = read(text.as_bytes(), None).unwrap();
    assert_eq!(cases.len(), 1);
    cases.remove(0)
}

fn history(operation: &str) -> String {
    format!("{{\"id\": \"a\", \"model\": \"queue\", \"ops\": [{{{operation}}}]}}")
}

const TAKE: &str = "\"client\": 0, \"op\": \"deq\", \"args\": [], \"call\": 1";

#[test]
fn names_that_nobody_knows() {
    let read = |rest: &str| refused(&history(&format!("{TAKE}, {rest}")));
    let unknown =
        "a: nothing is called `retrun` here; expected `client`, `op`, `args`, `ret`, `call`, `return`";
    assert_eq!(read("\"ret\": null, \"retrun\": 2"), unknown);
    let case = "{\"model\": \"queue\", \"ops\": [], \"threads\": 3}";
    assert_eq!(refused(case), "case 0: nothing is called `threads` here; expected `model`, `ops`");
    let file = "{\"cases\": [], \"model\": \"queue\"}";
    assert_eq!(refused(file), "the file: nothing is called `model` here; expected `cases`");
    let head = "{\"structure\": \"set\", \"ds_thread\": \"T\"}\n{\"thread\": \"T\", \"op\": \"commit\"}\n";
    assert!(refused(head).starts_with("line 1: nothing is called `ds_thread`"), "{}", refused(head));
    let event = "{\"structure\": \"set\", \"events\": [{\"thread\": \"T\", \"op\": \"commit\", \"method\": \"add\"}]}";
    assert!(refused(event).contains("nothing is called `method` here; expected `thread`, `op`"));
    // What people and other tools add is known.
    let remark = "{\"cases\": [{\"id\": \"a\", \"note\": \"b\", \"linearizable\": true, \"model\": \"queue\", \"ops\": []}], \"version\": 1}";
    assert_eq!(only_case(remark).id.as_deref(), Some("a"));
}

#[test]
fn names_that_are_there_twice() {
    let twice = refused(&history(&format!("{TAKE}, \"ret\": 7, \"ret\": \"empty\", \"return\": 2")));
    assert!(twice.starts_with("line 1: `ret` is there twice"), "{twice}");
    let whole = history(&format!("{TAKE}, \"ret\": 7, \"return\": 2"));
    let ops = whole.replacen("\"ops\":", "\"ops\": [], \"ops\":", 1);
    assert!(refused(&ops).contains("`ops` is there twice"), "{ops}");
    let cases = format!("{{\"cases\": [{whole}], \"cases\": []}}");
    assert!(refused(&cases).contains("`cases` is there twice"));
    let line = "{\"structure\": \"set\"}\n{\"thread\": \"T\", \"op\": \"commit\", \"op\": \"panic\"}\n";
    assert!(refused(line).starts_with("line 2: `op` is there twice"), "{}", refused(line));
}

#[test]
fn what_contradicts_itself() {
    let result = refused(&history(&format!("{TAKE}, \"ret\": 7, \"return\": null")));
    assert_eq!(result, "a: operation 0: a result and no `return`; expected when it returned");
    let both = "{\"model\": \"queue\", \"structure\": \"multiset\", \"ops\": [], \"events\": []}";
    assert!(refused(both).contains("both `ops` and `events`"));
    let headless = "{\"thread\": \"T\", \"op\": \"commit\"}\n{\"thread\": \"T\", \"op\": \"commit\"}\n";
    assert!(refused(headless).starts_with("line 1: expected a line that says what the log is of"));
}

/// The log of a program that was killed ends somewhere: that is told.
#[test]
fn a_log_that_was_cut() {
    let whole = "{\"structure\": \"set\"}\n{\"thread\": \"T\", \"op\": \"call\", \"method\": \"contains\", \"args\": [1]}\n";
    let cut =
        whole.to_owned() + "{\"thread\": \"T\", \"op\": \"return\", \"method\": \"contains\", \"ret\": tr";
    assert!(only_case(whole).remarks.is_empty());
    let case = only_case(&cut);
    let [remark] = &case.remarks[..] else { panic!("{:?}", case.remarks) };
    assert!(remark.starts_with("line 3 is incomplete"), "{remark}");
    let Subject::Log { log, .. } = case.subject else { panic!("a log is expected") };
    assert_eq!(log.events.len(), 1);
    // What is wrong, and not cut, is refused.
    assert!(refused(&(whole.to_owned() + "}")).starts_with("line 3: "));
}
