//! Histories of Jepsen mean what Jepsen and Knossos mean by them, and their events can be looked up in the file.

#![allow(clippy::unwrap_used)]

use foresee_refine::linear::Limits;
use foresee_refine::named::{Consistency, check};
use foresee_refine::read::{Case, Place, Subject, read};

fn entry(process: &str, kind: &str, f: &str, rest: &str) -> String {
    format!("{{:process {process}, :type :{kind}, :f :{f}, {rest}}}\n")
}

fn only_case(text: &str) -> Case {
    let mut cases = read(text.as_bytes(), None).unwrap();
    assert_eq!(cases.len(), 1);
    cases.remove(0)
}

fn is_linearizable(text: &str) -> bool {
    let Subject::History { model, initial, history } = only_case(text).subject else {
        panic!("a history is expected")
    };
    let verdict = check(model, &initial, &history, Consistency::Linearizable, Limits::default());
    verdict.unwrap().is_linearizable().unwrap()
}

/// A register with 1 in it, a compare-and-set from 1 to 2 that ends so, and what is read later.
fn compare_and_set(end: &str, read: i64) -> String {
    entry("0", "invoke", "write", ":value 1")
        + &entry("0", "ok", "write", ":value 1")
        + &entry("1", "invoke", "cas", ":value [1 2]")
        + &entry("1", end, "cas", ":value [1 2], :error :timed-out")
        + &entry("0", "invoke", "read", ":value nil")
        + &entry("0", "ok", "read", &format!(":value {read}"))
}

#[test]
fn what_failed_did_not_happen() {
    // Not even a look at the value, which would have been the one that was expected.
    assert!(is_linearizable(&compare_and_set("fail", 1)));
    assert!(!is_linearizable(&compare_and_set("fail", 2)));
    let write = |end: &str| compare_and_set(end, 1).replace(":cas, :value [1 2]", ":write, :value 3");
    assert!(
        is_linearizable(&write("fail")) && is_linearizable(&write("info")) && !is_linearizable(&write("ok"))
    );
}

#[test]
fn what_nobody_knows_may_have_happened() {
    assert!(is_linearizable(&compare_and_set("info", 1)) && is_linearizable(&compare_and_set("info", 2)));
    assert!(!is_linearizable(&compare_and_set("info", 3)));
    assert!(!is_linearizable(&compare_and_set("ok", 1)) && is_linearizable(&compare_and_set("ok", 2)));
}

#[test]
fn a_process_may_say_something_without_an_operation() {
    let remark = entry("1", "info", "read", ":value nil, :error :no-node");
    assert!(is_linearizable(&(remark.clone() + &compare_and_set("ok", 2) + &remark)));
    let independent = remark
        + &entry("0", "invoke", "read", ":value [5 nil]")
        + &entry("0", "ok", "read", ":value [5 nil]");
    assert_eq!(only_case(&independent).id.as_deref(), Some("5"));
}

#[test]
fn events_are_numbered_by_all_entries_of_the_file() {
    let nemesis = entry(":nemesis", "info", "start", ":value nil");
    let failed = entry("7", "invoke", "write", ":value 9") + &entry("7", "fail", "write", ":value 9");
    let own = entry("0", "invoke", "read", ":value nil") + &nemesis + &entry("0", "ok", "read", ":value 4");
    let entries = nemesis.clone() + &failed + "; a remark\n\n" + &own;
    let place = |event, line| Place { event, line: Some(line) };
    assert_eq!(only_case(&entries).places, [place(3, 6), place(5, 8)]);
    // The same in a vector, whose lines count, too.
    assert_eq!(only_case(&format!("[\n{entries}]\n")).places, [place(3, 7), place(5, 9)]);
    assert_eq!(only_case(&format!("({}\n)", entries.trim_start())).places, [place(3, 6), place(5, 8)]);
    let log = "WARN jepsen.core - hello\nINFO  jepsen.util - :nemesis\t:info\t:start\tnil\n\
               INFO  jepsen.util - 0\t:invoke\t:read\tnil\nINFO  jepsen.util - 0\t:ok\t:read\t4\n";
    assert_eq!(only_case(log).places, [place(1, 3), place(2, 4)]);
}

#[test]
fn events_of_a_key_keep_their_numbers() {
    let reads = |key: i64| {
        let process = key.to_string();
        entry(&process, "invoke", "read", &format!(":value [{key} nil]"))
            + &entry(&process, "ok", "read", &format!(":value [{key} nil]"))
    };
    let cases = read((reads(1) + &reads(2)).as_bytes(), None).unwrap();
    let events = |case: &Case| case.places.iter().map(|place| place.event).collect::<Vec<_>>();
    assert_eq!(cases.iter().map(events).collect::<Vec<_>>(), [[0, 1], [2, 3]]);
}

/// What is wrong with a text.
fn refused(text: &str) -> String {
    match read(text.as_bytes(), None) {
        Ok(cases) => panic!("{cases:?} of {text}"),
        Err(why) => why.to_string(),
    }
}

/// Versions of Jepsen print operations in different forms: each of them counts.
#[test]
fn operations_in_logs_of_all_versions() {
    let forms = [
        "INFO  jepsen.util - ",
        "INFO [2020-01-01 00:00:00,000] jepsen worker 0 - jepsen.util ",
        "2020-01-01 00:00:00,000{GMT}\tINFO\t[jepsen worker 0] jepsen.util: ",
    ];
    for (one, other) in forms.iter().flat_map(|one| forms.map(|other| (*one, other))) {
        let log = |value: i64| {
            format!(
                "{one}0\t:invoke\t:write\t5\n{one}0\t:ok\t:write\t5\nINFO jepsen.core - {{:type :info}}\n\
                 {other}0\t:invoke\t:read\tnil\n{other}0\t:ok\t:read\t{value}\n"
            )
        };
        assert!(is_linearizable(&log(5)), "{one} {other}");
        assert!(!is_linearizable(&log(9)), "{one} {other}");
    }
}

/// An operation in a form that nobody knows is not passed over.
#[test]
fn operations_in_unknown_forms_are_refused() {
    let known = "INFO  jepsen.util - 0\t:invoke\t:read\tnil\nINFO  jepsen.util - 0\t:ok\t:read\tnil\n";
    assert!(is_linearizable(known));
    for prefix in ["INFO  jepsen.utils - ", "INFO  jepsen.util -", "INFO  jepsen.util:", "INFO jepsen.core "]
    {
        let text = known.to_owned() + &known.replace("INFO  jepsen.util - ", prefix);
        assert!(refused(&text).starts_with("line 3: "), "{prefix}");
    }
    let more = known.replace(":ok\t:read\tnil", ":ok\t:read\tnil 7");
    assert!(refused(&more).starts_with("line 2: `7` after the value"), "{}", refused(&more));
    // Of what failed an error is told.
    let failed = known.replace(":ok\t:read\tnil", ":fail\t:read\tnil\t:timed-out");
    assert!(is_linearizable(&failed));
}

/// Nothing in an entry is passed over that would change what it says.
#[test]
fn entries_that_contradict_themselves_are_refused() {
    let read = |process: &str, index: [i64; 2]| {
        entry(process, "invoke", "read", &format!(":value nil, :index {}", index[0]))
            + &entry(process, "ok", "read", &format!(":value nil, :index {}", index[1]))
    };
    assert!(is_linearizable(&(read("0", [0, 1]) + &read("1", [2, 5]))));
    assert!(refused(&(read("0", [2, 3]) + &read("1", [0, 1]))).starts_with("line 3: an :index"));
    assert!(refused(&read(":c0", [0, 1])).starts_with("line 1: a :process that is no number"));
    assert!(is_linearizable(&(read(":nemesis", [0, 1]) + &read("0", [2, 3]))));
    let twice = entry("0", "invoke", "read", ":value nil") + &entry("0", "ok", "read", ":value 5 :value nil");
    assert!(refused(&twice).starts_with("line 2: `:value` is there twice"), "{}", refused(&twice));
}
