//! Logs and histories that are hard on purpose: they must be answered soon, and rightly or not at all.

#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use foresee_refine::Value;
use foresee_refine::linear::Limits;
use foresee_refine::log::Log;
use foresee_refine::named::{Structure, refine};
use foresee_refine::read::{Subject, read};
use foresee_refine::refine::{Kind, RefineError};

fn log_of(structure: &str, lines: &str) -> Log {
    let text = format!("{{\"structure\": \"{structure}\"}}\n{lines}");
    let mut cases = read(text.as_bytes(), None).unwrap();
    let Subject::Log { log, .. } = cases.remove(0).subject else { panic!("a log is expected") };
    log
}

/// Inserts that have committed and never return: each may have succeeded or failed.
fn unfinished_inserts(many: usize) -> String {
    let mut lines = String::new();
    for nth in 0..many {
        writeln!(lines, r#"{{"thread":"T{nth}","op":"call","method":"insert","args":[{nth}]}}"#).unwrap();
        writeln!(lines, r#"{{"thread":"T{nth}","op":"commit"}}"#).unwrap();
    }
    lines
}

/// A lookup of what the first of these inserts put there, or did not.
const LOOKUP: &str = r#"{"thread":"a","op":"call","method":"lookup","args":[0]}
{"thread":"a","op":"return","method":"lookup","ret":false}
"#;

#[test]
fn results_that_nobody_knows_are_tried_as_far_as_there_is_room() {
    let few = unfinished_inserts(6) + LOOKUP;
    assert_eq!(refine(Structure::Multiset, &log_of("multiset", &few), Limits::default()).unwrap().io, None);

    let many = unfinished_inserts(40);
    assert_eq!(refine(Structure::Multiset, &log_of("multiset", &many), Limits::default()).unwrap().io, None);

    // Some combination explains this, and it is not among those that were tried: not known, and not a violation.
    let too_many = log_of("multiset", &(many + LOOKUP));
    let answer = refine(Structure::Multiset, &too_many, Limits::default());
    assert!(matches!(answer, Err(RefineError::TooManyResults { .. })), "{answer:?}");
}

#[test]
fn what_no_result_explains_is_a_violation_all_the_same() {
    let lines = unfinished_inserts(40) + "{\"thread\":\"a\",\"op\":\"commit\"}\n";
    let found = refine(Structure::Multiset, &log_of("multiset", &lines), Limits::default()).unwrap();
    assert_eq!(found.io.unwrap().0.kind, Kind::CommitOutside);
}

#[test]
fn very_many_threads_are_read_soon() {
    let mut lines = String::new();
    for nth in 0..200_000 {
        writeln!(lines, r#"{{"thread":"T{nth}","op":"call","method":"lookup","args":[1]}}"#).unwrap();
    }
    assert_eq!(log_of("multiset", &lines).threads.len(), 200_000);
}

#[test]
fn the_size_of_a_vector_that_jumps_costs_nothing() {
    let mut lines = r#"{"thread":"a","op":"call","method":"add","args":[1]}"#.to_owned() + "\n";
    for nth in 0..2_000_i64 {
        let size = i64::MAX * (nth % 2);
        writeln!(lines, r#"{{"thread":"a","op":"write","target":"size","value":{size}}}"#).unwrap();
    }
    lines += r#"{"thread":"a","op":"commit"}
{"thread":"a","op":"return","method":"add","ret":"ok"}
"#;
    let found = refine(Structure::Vector, &log_of("vector", &lines), Limits::default()).unwrap();
    let (violation, _) = found.view.unwrap().unwrap();
    assert_eq!(violation.kind, Kind::View);
    let parts: Vec<&Value> = violation.differences.iter().map(|difference| &difference.part).collect();
    assert!(parts.contains(&&Value::from("size")), "{parts:?}");
}

/// A tree that is a list, in which inner nodes are taken out again and again: each way back to the root is gone once.
#[test]
fn a_tree_that_is_a_list() {
    let mut lines = String::new();
    let mut write = |target: String, value: Option<usize>| {
        let value = value.map_or("null".to_owned(), |node| format!("\"{node}\""));
        writeln!(lines, r#"{{"thread":"a","op":"write","target":"{target}","value":{value}}}"#).unwrap();
    };
    const NODES: usize = 20_000;
    write("root".to_owned(), Some(0));
    for node in 0..NODES {
        write(format!("key[{node}]"), Some(node));
        write(format!("right[{node}]"), Some(node + 1));
    }
    // From the top: the second node is taken out, until two are left.
    for node in 1..NODES - 1 {
        write("right[0]".to_owned(), Some(node + 1));
    }
    lines =
        r#"{"thread":"a","op":"call","method":"insertPair","args":["0","19999"]}"#.to_owned() + "\n" + &lines;
    lines += r#"{"thread":"a","op":"write","target":"right[19999]","value":null}
{"thread":"a","op":"commit"}
{"thread":"a","op":"return","method":"insertPair","ret":"success"}
"#;
    let found = refine(Structure::SearchTree, &log_of("bst", &lines), Limits::default()).unwrap();
    assert_eq!(found.view, Some(None));
}

#[test]
fn numbers_that_do_not_fit_are_texts() {
    let edn = "{:process 0, :type :invoke, :f :write, :value 123456789012345678901234567890N, :time 1.5}";
    assert_eq!(read(edn.as_bytes(), None).map(|cases| cases.len()), Ok(1));
    let json = |number: &str| {
        let ops =
            format!(r#"[{{"client":0,"op":"write","args":[{number}],"ret":"ok","call":1,"return":2}}]"#);
        read(format!(r#"{{"model":"register","ops":{ops}}}"#).as_bytes(), None).is_ok()
    };
    assert!(json("18446744073709551615") && json("-9223372036854775808"));
    assert!(!json("1.5") && !json("1e400") && !json("123456789012345678901234567890"));
}

/// Jepsen's independent keys: each is a register of its own.
#[test]
fn values_with_keys_are_histories_of_their_own() {
    let entry = |process: i64, kind: &str, f: &str, value: &str| {
        format!("{{:process {process}, :type :{kind}, :f :{f}, :value {value}}}\n")
    };
    let text = entry(0, "invoke", "write", "[1 5]")
        + &entry(1, "invoke", "read", "[2 nil]")
        + &entry(0, "ok", "write", "[1 5]")
        + &entry(1, "ok", "read", "[2 nil]")
        + &entry(0, "invoke", "cas", "[1 [5 6]]")
        + &entry(1, "invoke", "read", "[1 nil]")
        + &entry(1, "ok", "read", "[1 6]")
        + &entry(0, "info", "cas", "nil");
    let cases = read(text.as_bytes(), None).unwrap();
    let ids: Vec<_> = cases.iter().map(|case| case.id.as_deref().unwrap()).collect();
    assert_eq!(ids, ["1", "2"]);
    let Subject::History { history, .. } = &cases[0].subject else { panic!("a history is expected") };
    let shown: Vec<String> = history.ops().iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["write(5) → \"ok\"", "cas(5, 6) → ?", "read() → 6"]);
    // A register that has lists in it is one register.
    let lists = entry(0, "invoke", "write", "[1 5]") + &entry(1, "invoke", "read", "nil");
    assert_eq!(read(lists.as_bytes(), None).unwrap()[0].id, None);
}

#[test]
fn strings_of_edn_have_characters_by_number() {
    let history = r#"{:process 0, :type :invoke, :f :write, :value "\u00e9\ud83d\ude00"}"#;
    let mut cases = read(history.as_bytes(), None).unwrap();
    let Subject::History { history, .. } = cases.remove(0).subject else { panic!("a history is expected") };
    assert_eq!(history.ops()[0].args, [Value::from("é😀")]);
    for wrong in [r#""\ud83d""#, r#""\u12""#, r#""\ud83d\u0041""#, r#""\u+123""#, r#""\u00é""#] {
        let text = format!("{{:process 0, :type :invoke, :f :write, :value {wrong}}}");
        assert!(read(text.as_bytes(), None).is_err(), "{wrong}");
    }
}

#[test]
fn what_ends_is_what_was_begun() {
    let edn = "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :read, :value 1}";
    let said = read(edn.as_bytes(), None).unwrap_err().to_string();
    assert!(said.contains("begun `write`, and `read` ends"), "{said}");
}

#[test]
fn very_many_results_that_nobody_knows_take_no_more_time_than_there_is() {
    let log = log_of("multiset", &unfinished_inserts(3_500));
    let limits = Limits { deadline: Some(Instant::now() + Duration::from_millis(300)), ..Limits::default() };
    let began = Instant::now();
    let answer = refine(Structure::Multiset, &log, limits);
    assert!(matches!(answer, Err(RefineError::OutOfTime { .. })), "{answer:?}");
    assert!(began.elapsed() < Duration::from_secs(20));
}
