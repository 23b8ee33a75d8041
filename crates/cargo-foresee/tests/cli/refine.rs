//! `foresee refine`, through the real program.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::support::Folder;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../foresee-refine/tests/data").join(name)
}

fn json(folder: &Folder, args: &[&str]) -> (Option<i32>, Json) {
    let outcome = folder.foresee(&[&["refine", "--format", "json"], args].concat());
    (outcome.code, serde_json::from_str(&outcome.stdout).unwrap_or_else(|_| panic!("{}", outcome.stderr)))
}

#[test]
fn verdicts_of_all_histories() {
    let folder = Folder::new();
    let path = data("linearizability.json");
    let (code, found) = json(&folder, &[path.to_str().unwrap()]);
    assert_eq!(code, Some(66));
    let expected: Json = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let (found, expected) = (found["cases"].as_array().unwrap(), expected["cases"].as_array().unwrap());
    assert_eq!((found.len(), expected.len()), (289, 289));
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found["linearizable"], expected["linearizable"], "{}", expected["id"]);
        assert_eq!(found["first"].is_null(), expected["linearizable"] == true, "{}", expected["id"]);
    }
}

#[test]
fn verdicts_of_all_logs() {
    let folder = Folder::new();
    let path = data("refinement.json");
    let (code, found) = json(&folder, &[path.to_str().unwrap()]);
    assert_eq!(code, Some(66));
    let expected: Json = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let (found, expected) = (found["cases"].as_array().unwrap(), expected["cases"].as_array().unwrap());
    assert_eq!((found.len(), expected.len()), (227, 227));
    for (found, expected) in found.iter().zip(expected) {
        for check in ["io", "view"] {
            for field in ["ok", "first", "call", "kind"] {
                assert_eq!(found[check][field], expected[check][field], "{} {check} {field}", expected["id"]);
            }
        }
    }
}

/// A single case is what other tools write: the exit code is its verdict.
#[test]
fn a_case_alone() {
    let folder = Folder::new();
    let cases: Json = serde_json::from_slice(&std::fs::read(data("refinement.json")).unwrap()).unwrap();
    let case = |id: &str| cases["cases"].as_array().unwrap().iter().find(|case| case["id"] == id).unwrap();
    folder.write("fine.json", case("fig3").to_string());
    let (code, found) = json(&folder, &["fine.json"]);
    assert_eq!((code, &found["first"]), (Some(0), &Json::Null));
    folder.write("wrong.json", case("fig3-void-delete-order").to_string());
    let (code, found) = json(&folder, &["wrong.json"]);
    assert_eq!((code, &found["first"]), (Some(66), &Json::from(7)));
    let finding = &found["findings"][0];
    assert_eq!((&finding["kind"], &finding["first"]), (&Json::from("refinement"), &Json::from(7)));
    assert_eq!(finding["refinement"]["blame"], "commit-points");
    assert!(finding["refinement"]["other_order"].is_array());
    let outcome = folder.foresee(&["refine", "wrong.json"]);
    for part in [
        "delete(3) → false",
        "the commit points are wrong or too strict",
        "an order that explains everything",
    ] {
        assert!(outcome.stderr.contains(part), "`{part}` expected in: {}", outcome.stderr);
    }
    for format in ["sarif", "junit"] {
        let outcome = folder.foresee(&["refine", "wrong.json", "--format", format]);
        assert_eq!(outcome.code, Some(66), "{}", outcome.stderr);
        assert!(outcome.stdout.contains("commit points"), "{}", outcome.stdout);
    }
}

#[test]
fn histories_of_other_tools() {
    let folder = Folder::new();
    let path = |name: &str| data("histories").join(name).to_str().unwrap().to_owned();
    for line in std::fs::read_to_string(path("EXPECTED.tsv")).unwrap().lines() {
        let (file, verdict) = line.split_once('\t').unwrap();
        let model = if file.starts_with("kv") { "kv" } else { "register" };
        let outcome = folder.foresee(&["refine", "--model", model, &path(file)]);
        let expected = if verdict == "linearizable" { 0 } else { 66 };
        assert_eq!(outcome.code, Some(expected), "{file}: {}", outcome.stderr);
    }
    let outcome = folder.foresee(&["refine", &path("kv/c01-bad.txt")]);
    for part in ["no order of the operations explains get(", "the smallest part that does not fit"] {
        assert!(outcome.stderr.contains(part), "`{part}` expected in: {}", outcome.stderr);
    }
}

#[test]
fn sequential_consistency_is_weaker() {
    let folder = Folder::new();
    let stale = r#"{"model": "register", "ops": [
        {"client": 0, "op": "write", "args": [1], "ret": "ok", "call": 1, "return": 2},
        {"client": 1, "op": "read", "args": [], "ret": 0, "call": 3, "return": 4}]}"#;
    folder.write("stale.json", stale);
    assert_eq!(folder.foresee(&["refine", "stale.json"]).code, Some(66));
    assert_eq!(folder.foresee(&["refine", "stale.json", "--consistency", "sequential"]).code, Some(0));
}

#[test]
fn hard_histories_are_undecided_within_the_memory_given() {
    let folder = Folder::new();
    let append =
        |n: usize| format!("{{:process {n}, :type :invoke, :f :append, :key \"k\", :value \"{n},\"}}\n");
    let done = |n: usize| format!("{{:process {n}, :type :ok, :f :append, :key \"k\", :value \"{n},\"}}\n");
    let mut text: String = (0..30).map(append).chain((0..30).map(done)).collect();
    text += "{:process 0, :type :invoke, :f :get, :key \"k\", :value nil}\n";
    text += "{:process 0, :type :ok, :f :get, :key \"k\", :value \"no\"}\n";
    folder.write("hard.edn", text);
    let outcome = folder.foresee(&["refine", "hard.edn", "--memory", "8M"]);
    assert_eq!(outcome.code, Some(3), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("could not be decided"), "{}", outcome.stderr);
}

#[test]
fn bad_input_gets_one_clear_line() {
    let folder = Folder::new();
    let cases: &[(&str, &[&str])] = &[
        ("", &["expected a history or a refinement log"]),
        ("{", &["line 1"]),
        ("{\"cases\": [3]}", &["case 0", "expected an object"]),
        ("{\"model\": \"queue\"}", &["expected `ops`"]),
        ("{\"model\": \"heap\", \"ops\": []}", &["no model is called `heap`", "pqueue"]),
        ("{\"ops\": []}", &["which model?", "--model"]),
        (
            "{\"id\": \"a\", \"model\": \"queue\", \"ops\": [{\"client\": 0, \"op\": \"pop\", \"args\": [], \"ret\": 1, \"call\": 1, \"return\": 2}]}",
            &["a:", "no operation pop()", "enq(v) or deq()"],
        ),
        (
            "{\"model\": \"queue\", \"ops\": [{\"client\": 0, \"op\": \"deq\", \"args\": [], \"ret\": 1, \"call\": 2, \"return\": 2}]}",
            &["returns before it is called"],
        ),
        (
            "{\"structure\": \"multiset\", \"events\": [{\"thread\": \"T\", \"op\": \"jump\"}]}",
            &["event 0", "`jump`", "expected call"],
        ),
        (
            "{\"structure\": \"multiset\", \"events\": [{\"thread\": \"T\", \"op\": \"write\", \"target\": \"x\", \"value\": 1}]}",
            &["event 0", "no write of `x`", "A[i].elt"],
        ),
        ("{:process 0, :type :ok, :f :read, :value 1}", &["line 1", "no operation that could end"]),
        ("{:process 0, :type :maybe, :f :read}", &["line 1", ":invoke"]),
        ("[{:process 0, :type :invoke, :f :read, :value \"x}", &["within a string"]),
        ("INFO  jepsen.util - x\t:invoke\t:read\tnil\n", &["line 1", "no process"]),
        ("hello\n", &["line 1", "jepsen.util"]),
    ];
    for (text, parts) in cases {
        folder.write("bad", text);
        folder.foresee(&["refine", "bad"]).one_message(2, parts);
    }
    folder.write("deep", format!("{{:process 0, :value {}", "[".repeat(100_000)));
    folder.foresee(&["refine", "deep"]).one_message(2, &["nested deeper"]);
    folder.write("deep.json", "[".repeat(100_000));
    folder.foresee(&["refine", "deep.json"]).one_message(2, &["line 1"]);
    folder.foresee(&["refine", "missing.json"]).one_message(2, &["missing.json", "No such file"]);
}

#[test]
fn a_log_in_lines() {
    let folder = Folder::new();
    let log = "{\"structure\": \"multiset\", \"ds_threads\": []}\n\
               {\"thread\": \"a\", \"op\": \"call\", \"method\": \"insert\", \"args\": [1]}\n\
               {\"thread\": \"a\", \"op\": \"write\", \"target\": \"A[0].elt\", \"value\": 1}\n\
               {\"thread\": \"a\", \"op\": \"commit\"}\n\
               {\"thread\": \"a\", \"op\": \"return\", \"method\": \"insert\", \"ret\": \"success\"}\n{\"thread\"";
    folder.write("run.log", log);
    let (code, found) = json(&folder, &["run.log"]);
    assert_eq!((code, &found["first"]), (Some(66), &Json::from(2)));
    assert_eq!(found["findings"][0]["refinement"]["violation"], "view");
    assert_eq!(found["findings"][0]["refinement"]["differences"][0]["part"], "1");
}
