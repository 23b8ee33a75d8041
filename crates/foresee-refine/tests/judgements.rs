//! Whom violations are blamed on.

#![allow(clippy::unwrap_used)]

use foresee_refine::linear::Limits;
use foresee_refine::named::{Refinement, refine};
use foresee_refine::read::{Subject, read};
use foresee_refine::refine::{Judgement, Kind};

/// Checks a log of a multiset, given as `THREAD WORD…` lines.
fn check(lines: &str) -> Refinement {
    let mut text = "{\"structure\": \"multiset\"}\n".to_owned();
    for line in lines.lines() {
        let mut words = line.split_whitespace();
        let (thread, op) = (words.next().unwrap(), words.next().unwrap());
        let rest: Vec<&str> = words.collect();
        let fields = match (op, &rest[..]) {
            ("call", [method, args]) => format!(",\"method\":\"{method}\",\"args\":{args}"),
            ("return", [method, ret]) => format!(",\"method\":\"{method}\",\"ret\":{ret}"),
            ("write", [target, value]) => format!(",\"target\":\"{target}\",\"value\":{value}"),
            _ => String::new(),
        };
        text += &format!("{{\"thread\":\"{thread}\",\"op\":\"{op}\"{fields}}}\n");
    }
    let cases = read(text.as_bytes(), None).unwrap();
    let Subject::Log { structure, log } = &cases[0].subject else { panic!("a log is expected") };
    refine(*structure, log, Limits::default()).unwrap()
}

fn by_view(lines: &str) -> (Kind, Judgement) {
    let (violation, judgement) = check(lines).view.unwrap().unwrap();
    (violation.kind, judgement)
}

#[test]
fn writes_that_are_seen_before_their_commit_need_a_block() {
    let log = "a call insert [1]\nb call insert [2]\na write A[0].elt 1\na write A[0].valid true\n\
               b write A[1].elt 2\nb write A[1].valid true\nb commit\nb return insert \"success\"\n\
               a commit\na return insert \"success\"";
    assert_eq!(by_view(log), (Kind::View, Judgement::MissingBlock));
}

#[test]
fn a_commit_before_the_write_is_too_early() {
    let log = "a call insert [1]\na write A[0].elt 1\na commit\na write A[0].valid true\na return insert \"success\"";
    assert_eq!(by_view(log), (Kind::View, Judgement::LaterCommit { before: 4 }));
}

#[test]
fn an_element_that_is_lost_is_the_structures_fault() {
    let log = "a call insert [1]\nb call insert [2]\na write A[0].elt 1\nb write A[0].elt 2\n\
               a write A[0].valid true\na commit\na return insert \"success\"\n\
               b write A[0].valid true\nb commit\nb return insert \"success\"";
    assert_eq!(by_view(log), (Kind::View, Judgement::Structure));
}

#[test]
fn results_that_another_order_explains_are_the_commit_points_fault() {
    let log = "a call insert [1]\nb call delete [1]\na write A[0].elt 1\na commit_begin\na write A[0].valid true\na commit\na commit_end\n\
               b commit\nb return delete false\na return insert \"success\"";
    let (violation, judgement) = check(log).io.unwrap();
    assert_eq!((violation.kind, violation.first), (Kind::ReturnValue, 7));
    assert_eq!(judgement, Judgement::CommitPoints { order: vec![1, 0] });
}
