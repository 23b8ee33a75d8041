//! Logs and histories that are hard on purpose: they must be answered soon, and rightly or not at all.

#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use foresee_refine::Value;
use foresee_refine::linear::{Exhausted, Limits, Verdict};
use foresee_refine::log::Log;
use foresee_refine::named::{Consistency, Structure, check, explain, refine};
use foresee_refine::read::{Subject, read};
use foresee_refine::refine::{Kind, RefineError};

fn log_of(structure: &str, lines: &str) -> Log {
    let text = format!("{{\"structure\": \"{structure}\"}}\n{lines}");
    let mut cases = read(text.as_bytes(), None).unwrap();
    let Subject::Log { log, .. } = cases.remove(0).subject else { panic!("a log is expected") };
    log
}

/// The verdict of the only history in a text; a violation is explained as well.
fn verdict_of(text: &str, consistency: Consistency, limits: Limits) -> Verdict {
    let subject = read(text.as_bytes(), None).unwrap().remove(0).subject;
    let Subject::History { model, initial, history } = subject else { panic!("a history is expected") };
    let verdict = check(model, &initial, &history, consistency, limits).unwrap();
    if let Verdict::Violation(violation) = &verdict {
        explain(model, &initial, &history, violation, limits).unwrap();
    }
    verdict
}

/// Inserts of different elements that have committed and never return: each may have succeeded or failed.
fn unfinished_inserts(many: usize) -> String {
    unfinished(many, "insert", |nth| format!("{nth}"))
}

/// The same of pairs that hang together.
fn unfinished_pairs(many: usize) -> String {
    unfinished(many, "insertPair", |nth| format!("{nth},{}", nth + 1))
}

fn unfinished(many: usize, method: &str, args: impl Fn(usize) -> String) -> String {
    let mut lines = String::new();
    for nth in 0..many {
        let args = args(nth);
        writeln!(lines, r#"{{"thread":"T{nth}","op":"call","method":"{method}","args":[{args}]}}"#).unwrap();
        writeln!(lines, r#"{{"thread":"T{nth}","op":"commit"}}"#).unwrap();
    }
    lines
}

/// A lookup that does not find an element.
fn lookup(element: usize) -> String {
    let call = format!(r#"{{"thread":"a","op":"call","method":"lookup","args":[{element}]}}"#);
    call + "\n" + r#"{"thread":"a","op":"return","method":"lookup","ret":false}"# + "\n"
}

#[test]
fn results_that_nobody_knows_are_tried_as_far_as_there_is_room() {
    let answer = |lines: &str| refine(Structure::Multiset, &log_of("multiset", lines), Limits::default());
    for lines in
        [unfinished_inserts(6), unfinished_inserts(40), unfinished_inserts(5_000), unfinished_pairs(6)]
    {
        assert_eq!(answer(&(lines + &lookup(0))).unwrap().io, None);
    }
    // Some combination explains this, and it is not among those that were tried: not known, and not a violation.
    let many = unfinished_pairs(40);
    assert_eq!(answer(&many).unwrap().io, None);
    let answer = answer(&(many + &lookup(40)));
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
fn numbers_that_do_not_fit_are_refused_and_never_texts() {
    let edn = |number: &str| {
        // What is beside the operation may be anything.
        let rest = ":time 1.5, :wall 123456789012345678901234567890N, :ratio 1/2, :rate ##NaN";
        let text = format!("{{:process 0, :type :invoke, :f :write, :value {number}, {rest}}}");
        let log = format!("INFO  jepsen.util - 0\t:invoke\t:write\t{number}\n");
        let read = [text, log].map(|text| read(text.as_bytes(), None).map(|mut cases| cases.remove(0)));
        let args = read.map(|case| match case.map(|case| case.subject) {
            Ok(Subject::History { history, .. }) => Ok(history.ops()[0].args[0].clone()),
            Ok(Subject::Log { .. }) => panic!("a history is expected"),
            Err(why) => Err(why.to_string()),
        });
        assert_eq!(args[0], args[1]);
        args[0].clone()
    };
    assert_eq!(edn("-9223372036854775808"), Ok(Value::Int(i64::MIN)));
    assert_eq!(edn("9223372036854775808N"), Ok(Value::Large(1 << 63)));
    assert_eq!(edn("[18446744073709551615]"), Ok(Value::from(vec![u64::MAX])));
    for number in [
        "18446744073709551616",
        "-9223372036854775809",
        "1.5",
        "1e3",
        "1/2",
        "##NaN",
        "##-Inf",
        "0x1F",
        "[2M]",
    ] {
        let said = edn(number).unwrap_err();
        assert!(said.contains("line 1") && said.contains("whole number of at most 64 bits"), "{said}");
    }
    let json = |number: &str| {
        let ops =
            format!(r#"[{{"client":0,"op":"write","args":[{number}],"ret":"ok","call":1,"return":2}}]"#);
        read(format!(r#"{{"model":"register","ops":{ops}}}"#).as_bytes(), None).is_ok()
    };
    assert!(json("18446744073709551615") && json("-9223372036854775808"));
    assert!(!json("1.5") && !json("1e400") && !json("123456789012345678901234567890"));
}

/// Numbers without a sign are larger than those with one, however their digits compare as texts.
#[test]
fn the_smallest_of_large_numbers_is_the_first() {
    let first_out = |first: u64, inserted: [u64; 3]| {
        let op = |nth: usize, op: &str, args: String, ret: String| {
            let (call, end) = (2 * nth, 2 * nth + 1);
            format!(r#"{{"client":0,"op":"{op}","args":[{args}],"ret":{ret},"call":{call},"return":{end}}}"#)
        };
        let inserts = inserted.iter().enumerate();
        let mut ops: Vec<String> =
            inserts.map(|(nth, it)| op(nth, "insert", it.to_string(), r#""ok""#.to_owned())).collect();
        ops.push(op(3, "delete_min", String::new(), first.to_string()));
        let text = format!(r#"{{"model":"pqueue","ops":[{}]}}"#, ops.join(","));
        verdict_of(&text, Consistency::Linearizable, Limits::default()).is_linearizable().unwrap()
    };
    let large = [u64::MAX, 9_999_999_999_999_999_999, 1 << 63];
    assert!(first_out(1 << 63, large));
    assert!(!first_out(u64::MAX, large));
    assert!(first_out(5, [1 << 63, 5, u64::MAX]) && !first_out(1 << 63, [1 << 63, 5, u64::MAX]));
}

/// A counter wraps around: its bits count, with or without a sign.
#[test]
fn a_counter_without_a_sign() {
    let got = |value: &str| {
        let op = r#""client":0,"ret":0,"call":0,"return":1,"op":"fetch_add","args":[9223372036854775808]"#;
        let get = format!(r#""client":0,"ret":{value},"call":2,"return":3,"op":"get","args":[]"#);
        let text = format!(r#"{{"model":"counter","ops":[{{{op}}},{{{get}}}]}}"#);
        verdict_of(&text, Consistency::Linearizable, Limits::default()).is_linearizable().unwrap()
    };
    assert!(got("9223372036854775808") && got("-9223372036854775808") && !got("9223372036854775809"));
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
    let log = log_of("multiset", &unfinished_pairs(20_000));
    let limits = Limits { deadline: Some(Instant::now() + Duration::from_millis(10)), ..Limits::default() };
    let began = Instant::now();
    let answer = refine(Structure::Multiset, &log, limits);
    assert!(matches!(answer, Err(RefineError::OutOfTime { .. })), "{answer:?}");
    assert!(began.elapsed() < Duration::from_secs(20));
}

/// Calls that put a text into a buffer and append it to itself, again and again.
fn doubled(times: usize) -> impl Iterator<Item = (&'static str, &'static str)> {
    [("set", r#"["a","x"]"#)].into_iter().chain(std::iter::repeat_n(("append", r#"["a","a"]"#), times))
}

#[test]
fn a_buffer_that_doubles_takes_no_more_memory_than_there_is() {
    let limits = Limits { memory: 1 << 20, ..Limits::default() };
    let refined = |times: usize| {
        let mut lines = String::new();
        for (method, args) in doubled(times) {
            writeln!(lines, r#"{{"thread":"a","op":"call","method":"{method}","args":{args}}}"#).unwrap();
            writeln!(lines, r#"{{"thread":"a","op":"commit"}}"#).unwrap();
            writeln!(lines, r#"{{"thread":"a","op":"return","method":"{method}","ret":"ok"}}"#).unwrap();
        }
        refine(Structure::StringBuffer, &log_of("stringbuffer", &lines), limits)
    };
    assert_eq!(refined(10).unwrap().io, None);
    let answer = refined(100);
    assert!(matches!(answer, Err(RefineError::OutOfMemory { .. })), "{answer:?}");
}

#[test]
fn a_history_of_a_buffer_that_doubles_is_undecided() {
    let limits = Limits { memory: 1 << 20, ..Limits::default() };
    let checked = |times: usize, read_back: &str, consistency: Consistency| {
        let mut ops = Vec::new();
        for (nth, (method, args)) in doubled(times).chain([("toString", r#"["a"]"#)]).enumerate() {
            let (call, end) = (2 * nth, 2 * nth + 1);
            let ret = if method == "toString" { read_back } else { "ok" };
            let fields = format!(r#""client":0,"op":"{method}","args":{args},"ret":"{ret}""#);
            ops.push(format!(r#"{{{fields},"call":{call},"return":{end}}}"#));
        }
        let text = format!(r#"{{"model":"stringbuffer","ops":[{}]}}"#, ops.join(","));
        verdict_of(&text, consistency, limits)
    };
    for consistency in [Consistency::Linearizable, Consistency::Sequential] {
        assert_eq!(checked(3, "xxxxxxxx", consistency).is_linearizable(), Some(true));
        assert_eq!(checked(12, "no", consistency).is_linearizable(), Some(false));
        assert_eq!(checked(100, "no", consistency), Verdict::Undecided(Exhausted::Memory));
    }
}
