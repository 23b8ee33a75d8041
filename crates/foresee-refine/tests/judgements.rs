//! Whom violations are blamed on, and what is said of annotations.

#![allow(clippy::unwrap_used)]

use foresee_oracle::{Random, for_each_seed};
use foresee_refine::linear::Limits;
use foresee_refine::log::{Action, Event, Log, Thread};
use foresee_refine::named::{Refinement, Structure, refine, refine_at};
use foresee_refine::read::{Subject, read};
use foresee_refine::refine::{BrokenBlock, Judgement, Kind, Mode, broken_block};

/// A log of a multiset, given as `THREAD WORD…` lines.
fn log_of(lines: &str) -> Log {
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
    let Subject::Log { log, .. } = &cases[0].subject else { panic!("a log is expected") };
    log.clone()
}

fn check(lines: &str) -> Refinement {
    refine(Structure::Multiset, &log_of(lines), Limits::default()).unwrap()
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

/// What others see in the meantime does not matter where views are compared only at rest; what stays wrong does.
#[test]
fn views_at_rest() {
    let at_rest = |log: &str| {
        let found = refine_at(Structure::Multiset, &log_of(log), Mode::Quiescent, Limits::default()).unwrap();
        found.view.unwrap().map(|(violation, judgement)| (violation.first, violation.kind, judgement))
    };
    let early = "a call insert [1]\na write A[0].elt 1\na commit\na write A[0].valid true\na return insert \"success\"";
    assert_eq!(by_view(early).0, Kind::View);
    assert_eq!(at_rest(early), None);
    // Found by the first commit, and at rest only when both have returned.
    let lost = "a call insert [1]\nb call insert [2]\na write A[0].elt 1\nb write A[0].elt 2\n\
                a write A[0].valid true\na commit\na return insert \"success\"\n\
                b write A[0].valid true\nb commit\nb return insert \"success\"";
    assert_eq!(check(lost).view.unwrap().unwrap().0.first, 5);
    assert_eq!(at_rest(lost), Some((9, Kind::View, Judgement::Structure)));
}

#[test]
fn a_missing_commit_belongs_after_the_last_write() {
    let log = "a call insert [1]\na write A[0].elt 1\na write A[0].valid true\na return insert \"success\"";
    let (violation, judgement) = check(log).view.unwrap().unwrap();
    assert_eq!((violation.kind, violation.last_write), (Kind::MissingCommit, Some(2)));
    assert_eq!(judgement, Judgement::Annotations);
}

#[test]
fn a_block_into_which_another_thread_writes_is_not_one_step() {
    let log = "a call insert [1]\na commit_begin\na write A[0].elt 1\nb call insert [2]\nb write A[0].elt 2\n\
               a write A[0].elt 1\na commit\na commit_end\na return insert \"success\"";
    let expected = BrokenBlock { begin: 1, write: 5, between: 4, target: "A[0].elt".into() };
    assert_eq!(check(log).block, Some(expected));
    // Another variable: both orders come to the same.
    assert_eq!(check(&log.replace("b write A[0].elt", "b write A[1].elt")).block, None);
}

/// By definition: blocks and writes outside of them can be put in an order that keeps that of each two writes of a variable.
fn can_be_serial(log: &Log) -> bool {
    let mut unit_of = Vec::new();
    let mut open: Vec<Option<usize>> = vec![None; log.threads.len()];
    for (index, event) in log.events.iter().enumerate() {
        let own = &mut open[event.thread as usize];
        match event.action {
            Action::BlockBegin => *own = Some(index),
            Action::BlockEnd => *own = None,
            _ => {}
        }
        unit_of.push(own.unwrap_or(index));
    }
    let count = log.events.len();
    let mut before = vec![vec![false; count]; count];
    let target = |event: &Event| match &event.action {
        Action::Write { target, .. } => Some(target.clone()),
        _ => None,
    };
    for second in 0..count {
        for first in 0..second {
            let (a, b) = (&log.events[first], &log.events[second]);
            if target(a).is_some() && target(a) == target(b) && unit_of[first] != unit_of[second] {
                before[unit_of[first]][unit_of[second]] = true;
            }
        }
    }
    for middle in 0..count {
        for first in 0..count {
            for last in 0..count {
                before[first][last] |= before[first][middle] && before[middle][last];
            }
        }
    }
    (0..count).all(|unit| !before[unit][unit])
}

#[test]
fn blocks_are_one_step_by_definition() {
    let mut verdicts = [0, 0];
    for_each_seed(30_000, |seed| {
        let mut random = Random::new(seed);
        let threads = (0..3).map(|nth| Thread { name: format!("T{nth}").into(), is_internal: false });
        let mut log = Log { threads: threads.collect(), events: Vec::new() };
        let mut open = [false; 3];
        for _ in 0..4 + random.below(24) {
            let thread = random.below(3);
            let action = match random.below(6) {
                0 if open[thread] => Action::BlockEnd,
                0 | 1 if !open[thread] => Action::BlockBegin,
                _ => Action::Write { target: format!("x{}", random.below(4)).into(), value: 1.into() },
            };
            match action {
                Action::BlockBegin => open[thread] = true,
                Action::BlockEnd => open[thread] = false,
                _ => {}
            }
            log.events.push(Event { thread: thread as u32, action });
        }
        let is_serial = can_be_serial(&log);
        verdicts[usize::from(is_serial)] += 1;
        assert_eq!(broken_block(&log).is_none(), is_serial, "{:?}", log.events);
    });
    if std::env::var_os("FORESEE_TEST_SEED").is_none() {
        assert!(verdicts.iter().all(|count| *count > 1_000), "{verdicts:?}");
    }
}

/// Without any write there is no view: that a result is not known rules nothing out.
#[test]
fn a_log_of_results_alone_has_no_view() {
    let log = "a call insert [3]\na commit\nb call lookup [3]\nb return lookup true";
    let Refinement { io, view, .. } = check(log);
    assert_eq!((io, view), (None, None));
}
