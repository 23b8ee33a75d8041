//! `foresee refine`, through the real program.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::programs::compilers;
use crate::support::{Folder, example, outcome};

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

/// What is found is where the file has it, whatever else is in it.
#[test]
fn events_of_edn_can_be_looked_up() {
    let folder = Folder::new();
    let text = "{:process :nemesis, :type :info, :f :start}\n\n{:process 0, :type :invoke, :f :write, :value 1}\n\
                {:process 0, :type :ok, :f :write, :value 1}\n{:process 1, :type :invoke, :f :cas, :value [1 2]}\n\
                {:process 1, :type :fail, :f :cas, :value [1 2], :error :refused}\n{:process 0, :type :invoke, :f :read, :value nil}\n\
                {:process 0, :type :ok, :f :read, :value 7}\n";
    folder.write("history.edn", text);
    let (code, found) = json(&folder, &["history.edn"]);
    let finding = &found["findings"][0];
    assert_eq!((code, &found["first"], &finding["first"]), (Some(66), &6.into(), &6.into()), "{found:#}");
    assert_eq!(
        (&finding["events"][0]["index"], &finding["events"][0]["location"]["line"]),
        (&6.into(), &8.into())
    );
    let operation = &finding["refinement"]["operation"];
    let placed = (&operation["call"], &operation["returned"], &operation["line"]);
    assert_eq!(placed, (&5.into(), &6.into(), &7.into()), "{found:#}");
    let outcome = folder.foresee(&["refine", "history.edn"]);
    assert!(outcome.stderr.contains("called at event 5 (line 7)"), "{}", outcome.stderr);
    let outcome = folder.foresee(&["refine", "history.edn", "--format", "sarif"]);
    let sarif: Json = serde_json::from_str(&outcome.stdout).unwrap();
    let place = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(
        (&place["artifactLocation"]["uri"], &place["region"]["startLine"]),
        (&"history.edn".into(), &8.into())
    );
}

/// Every model that is listed takes histories, logs and traces, and what the user says counts.
#[test]
fn every_listed_model_works() {
    let folder = Folder::new();
    let help = folder.foresee(&["refine", "--help"]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, listed) = help.split_once("What the operations are of: ").unwrap();
    let listed: Vec<&str> = listed.split_once(" [default").unwrap().0.split(", ").collect();
    assert_eq!(listed.len(), 16, "{listed:?}");
    folder.write("unknown.json", "{\"model\": \"?\", \"ops\": []}");
    let said = folder.foresee(&["refine", "unknown.json"]).stderr.replace(" or ", ", ");
    let (_, expected) = said.trim_end().rsplit_once("expected ").unwrap();
    assert_eq!(expected.split(", ").collect::<Vec<_>>(), listed);
    for model in listed {
        assert!(help.contains(&format!(" {model} ")), "{model}: which operations does it have?");
        let (op, args, ret) = match model {
            "register" => ("read", "[]", "0"),
            "kv" => ("get", "[1]", "\"\""),
            "set" => ("contains", "[1]", "false"),
            "queue" => ("deq", "[]", "\"empty\""),
            "stack" => ("pop", "[]", "\"empty\""),
            "pqueue" => ("peek_min", "[]", "\"empty\""),
            "counter" => ("get", "[]", "0"),
            "multiset" | "bst" => ("lookup", "[1]", "false"),
            "tree" => ("lookup", "[1]", "\"none\""),
            "cache" => ("read", "[1]", "\"none\""),
            "vector" => ("size", "[]", "0"),
            "stringbuffer" => ("toString", "[\"a\"]", "\"\""),
            "files" => ("read", "[1, 0]", "\"none\""),
            "map" => ("get", "[1]", "null"),
            "channel" => ("recv", "[]", "\"empty\""),
            other => panic!("{other}: which operation does it have?"),
        };
        assert!(model == "bst" || help.contains(&format!("{op}(")), "{model}: {op}");
        let history = |model: &str, ret: &str| {
            let op = format!(
                "\"client\": 0, \"op\": \"{op}\", \"args\": {args}, \"ret\": {ret}, \"call\": 1, \"return\": 2"
            );
            format!("{{{model} \"ops\": [{{{op}}}]}}")
        };
        let log = |ret: &str| {
            format!(
                "{{\"structure\": \"{model}\"}}\n{{\"thread\": \"a\", \"op\": \"call\", \"method\": \"{op}\", \"args\": {args}}}\n\
                 {{\"thread\": \"a\", \"op\": \"commit\"}}\n\
                 {{\"thread\": \"a\", \"op\": \"return\", \"method\": \"{op}\", \"ret\": {ret}}}\n"
            )
        };
        for (ret, code) in [(ret, 0), ("\"something else\"", 66)] {
            folder.write("said.json", history("", ret));
            folder.write("own.json", history(&format!("\"model\": \"{model}\","), ret));
            folder.write("own.log", log(ret));
            folder.write("other.log", log(ret).replacen(model, "nothing", 1));
            for args in [
                &["said.json", "--model", model][..],
                &["own.json"],
                &["own.json", "--model", model],
                &["own.log"],
                &["other.log", "--model", model],
            ] {
                let outcome = folder.foresee(&[&["refine"], args].concat());
                assert_eq!(outcome.code, Some(code), "{model} {args:?}: {}", outcome.stderr);
            }
        }
        folder.write("trace.std", format!("T1|call({op})\n"));
        let outcome = folder.foresee(&["refine", "--model", model, "trace.std"]);
        assert!(!outcome.stderr.contains("no model"), "{model}: {}", outcome.stderr);
    }
}

/// Of very long values, only the beginning is shown, whatever the format.
#[test]
fn long_values_make_no_long_reports() {
    let folder = Folder::new();
    let long = "y".repeat(1_000_000);
    let op = |op: &str, args: &str, ret: &str, call: u32| {
        let end = call + 1;
        format!(
            "{{\"client\": 0, \"op\": \"{op}\", \"args\": [{args}], \"ret\": {ret}, \"call\": {call}, \"return\": {end}}}"
        )
    };
    let history = |method: &str| {
        let ops =
            [op(method, &format!("\"{long}\""), "\"ok\"", 1), op("read", "", &format!("\"z{long}\""), 3)];
        format!("{{\"model\": \"register\", \"ops\": [{}]}}", ops.join(", "))
    };
    folder.write("long.json", history("write"));
    for format in ["human", "json", "junit", "sarif"] {
        let outcome = folder.foresee(&["refine", "long.json", "--format", format]);
        assert_eq!(outcome.code, Some(66), "{format}");
        let said = outcome.stdout + &outcome.stderr;
        assert!(said.contains("… (") && said.len() < 50_000, "{format}: {}", said.len());
    }
    folder.write("long.json", history("jump"));
    let outcome = folder.foresee(&["refine", "long.json"]);
    assert!(outcome.code == Some(2) && outcome.stderr.len() < 5_000, "{}", outcome.stderr.len());
}

/// A log of a buffer that is appended to itself: short, and no memory holds what it says.
fn doubling_log() -> String {
    let operation = |method: &str, args: &str| {
        format!(
            "{{\"thread\": \"a\", \"op\": \"call\", \"method\": \"{method}\", \"args\": {args}}}\n{{\"thread\": \"a\", \"op\": \"commit\"}}\n\
             {{\"thread\": \"a\", \"op\": \"return\", \"method\": \"{method}\", \"ret\": \"ok\"}}\n"
        )
    };
    "{\"structure\": \"stringbuffer\"}\n".to_owned()
        + &operation("set", "[\"a\", \"x\"]")
        + &operation("append", "[\"a\", \"a\"]").repeat(60)
}

/// Inserts that have committed and never return, and a lookup that only some of their results explain.
fn unfinished_log(many: usize) -> String {
    let mut log = "{\"structure\": \"multiset\"}\n".to_owned();
    for nth in 0..many {
        let other = nth + 1;
        log += &format!(
            "{{\"thread\": \"T{nth}\", \"op\": \"call\", \"method\": \"insertPair\", \"args\": [{nth}, {other}]}}\n\
             {{\"thread\": \"T{nth}\", \"op\": \"commit\"}}\n"
        );
    }
    log + &format!(
        "{{\"thread\": \"a\", \"op\": \"call\", \"method\": \"lookup\", \"args\": [{many}]}}\n\
         {{\"thread\": \"a\", \"op\": \"return\", \"method\": \"lookup\", \"ret\": false}}\n"
    )
}

/// What is not decided has not passed, in any format, and each says what ended it.
#[test]
fn undecided_is_said_in_every_format() {
    let folder = Folder::new();
    folder.write("doubling.log", doubling_log());
    folder.write("unfinished.log", unfinished_log(40));
    let cases: [(&[&str], &str, &str); 3] = [
        (&["doubling.log", "--memory", "8M"], "memory", "within the memory given: --memory gives more"),
        (&["doubling.log", "--time", "0s"], "time", "within the time there was: --time gives more"),
        (&["unfinished.log", "--time", "5m"], "results", "have committed and never returned"),
    ];
    for (args, lack, said) in cases {
        let outcome = folder.foresee(&[&["refine"], args].concat());
        assert_eq!(outcome.code, Some(3), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("1 case could not be decided"), "{}", outcome.stderr);
        assert!(outcome.stderr.contains(said), "{}", outcome.stderr);
        assert_eq!(outcome.stderr.contains("however much time"), lack == "results", "{}", outcome.stderr);
        let (code, found) = json(&folder, args);
        assert_eq!((code, &found["cases"][0]["ok"]), (Some(3), &Json::Null), "{found:#}");
        assert_eq!(found["cases"][0]["undecided"], lack, "{found:#}");
        assert_eq!(found["stats"]["undecided"], 1, "{found:#}");
        let outcome = folder.foresee(&[&["refine", "--format", "junit"], args].concat());
        assert_eq!(outcome.code, Some(3), "{}", outcome.stderr);
        for part in ["tests=\"1\" failures=\"0\" skipped=\"1\"", "<skipped message=\"undecided: ", said] {
            assert!(outcome.stdout.contains(part), "`{part}` expected in: {}", outcome.stdout);
        }
        let outcome = folder.foresee(&[&["refine", "--format", "sarif"], args].concat());
        assert_eq!(outcome.code, Some(3), "{}", outcome.stderr);
        let sarif: Json = serde_json::from_str(&outcome.stdout).unwrap();
        let result = &sarif["runs"][0]["results"][0];
        assert_eq!((&result["kind"], &result["level"]), (&"open".into(), &"none".into()), "{sarif:#}");
        assert!(result["message"]["text"].as_str().unwrap().contains(said), "{sarif:#}");
    }
}

/// Of a trace, runs that did not happen are left where the time is over.
#[test]
fn runs_that_nobody_had_time_for_are_said_in_every_format() {
    let folder = Folder::new();
    folder.write("striped.std", STRIPED.replace("T1|w(", "T1|acq(b)\nT1|r(stripe_b=-1)\nT1|rel(b)\nT1|w("));
    let args = ["refine", "--model", "counter", "striped.std", "--time", "0s"];
    let outcome = folder.foresee(&args);
    assert_eq!(outcome.code, Some(3), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("within the time there was"), "{}", outcome.stderr);
    for (format, said) in [("junit", "<skipped message=\"undecided: "), ("sarif", "\"kind\": \"open\"")] {
        let outcome = folder.foresee(&[&args[..], &["--format", format]].concat());
        assert_eq!(outcome.code, Some(3), "{}", outcome.stderr);
        assert!(outcome.stdout.contains(said), "{}", outcome.stdout);
    }
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
            "{\"model\": \"queue\", \"ops\": [{\"client\": 0, \"op\": \"enq\", \"args\": [\"empty\"], \"ret\": \"ok\", \"call\": 1, \"return\": 2}]}",
            &["no operation enq(\"empty\")", "where no v is \"empty\""],
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
        ("INFO  jepsen.utils - 0\t:invoke\t:read\tnil\n", &["line 1", "jepsen.util - PROCESS"]),
        ("{\"model\": \"queue\", \"ops\": [], \"opps\": []}", &["nothing is called `opps`"]),
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

/// Nothing found where nothing was looked at is not "all as specified".
#[test]
fn what_has_no_operation_is_not_right() {
    let folder = Folder::new();
    let empty = [
        ("list.json", "[]"),
        ("cases.json", "{\"cases\": []}"),
        ("ops.json", "{\"model\": \"queue\", \"ops\": []}"),
        ("events.json", "{\"structure\": \"set\", \"events\": []}"),
        ("run.log", "{\"structure\": \"set\"}\n"),
        ("jepsen.log", "INFO  jepsen.util - :nemesis\t:info\t:start\tnil\n"),
        (
            "fail.edn",
            "{:process 0, :type :invoke, :f :read, :value nil}\n{:process 0, :type :fail, :f :read, :value nil}\n",
        ),
        ("run.std", "T1|acq(l)\nT1|rel(l)\n"),
    ];
    for (name, text) in empty {
        folder.write(name, text);
        folder
            .foresee(&["refine", "--model", "register", name])
            .one_message(2, &[name, "no operation in it"]);
    }
    // Of several cases, one that has none is told.
    let op = "{\"client\": 0, \"op\": \"deq\", \"args\": [], \"ret\": \"empty\", \"call\": 1, \"return\": 2}";
    let two = format!(
        "[{{\"id\": \"a\", \"model\": \"queue\", \"ops\": []}}, {{\"id\": \"b\", \"model\": \"queue\", \"ops\": [{op}]}}]"
    );
    folder.write("two.json", two);
    let outcome = folder.foresee(&["refine", "two.json"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("warning: two.json: a: no operation in it"), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("b: no operation"), "{}", outcome.stderr);
}

/// What was not looked at is told.
#[test]
fn what_is_passed_over_is_told() {
    let folder = Folder::new();
    let call = "{\"thread\": \"T\", \"op\": \"call\", \"method\": \"enq\", \"args\": [1]}\n";
    let write = "{\"thread\": \"T\", \"op\": \"write\", \"target\": \"x\", \"value\": 5}\n";
    folder.write(
        "run.log",
        format!("{{\"structure\": \"queue\"}}\n{call}{write}{{\"thread\": \"T\", \"op\": "),
    );
    let outcome = folder.foresee(&["refine", "run.log"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    for part in ["run.log: line 4 is incomplete", "its writes are not looked at: of `queue` only results"] {
        assert!(outcome.stderr.contains(part), "`{part}` expected in: {}", outcome.stderr);
    }
}

/// Two threads write one buffer in commit blocks that overlap: no order of whole blocks does the same. Results and contents agree all the same.
#[test]
fn commit_blocks_that_are_no_steps() {
    let folder = Folder::new();
    let event = |thread: &str, rest: &str| format!("{{\"thread\": \"{thread}\", {rest}}}\n");
    let begin = |thread: &str| {
        event(thread, "\"op\": \"call\", \"method\": \"set\", \"args\": [\"a\", \"x\"]")
            + &event(thread, "\"op\": \"commit_begin\"")
    };
    let write = |thread: &str| event(thread, "\"op\": \"write\", \"target\": \"buf[a]\", \"value\": \"x\"");
    let end = |thread: &str| {
        write(thread)
            + &event(thread, "\"op\": \"commit\"")
            + &event(thread, "\"op\": \"commit_end\"")
            + &event(thread, "\"op\": \"return\", \"method\": \"set\", \"ret\": \"ok\"")
    };
    let both = begin("T0") + &write("T0") + &begin("T1") + &write("T1") + &end("T0") + &end("T1");
    folder.write("run.log", "{\"structure\": \"stringbuffer\"}\n".to_owned() + &both);
    let (code, found) = json(&folder, &["run.log"]);
    let case = &found["cases"][0];
    assert_eq!((code, &case["ok"], &case["first"]), (Some(66), &false.into(), &6.into()), "{found:#}");
    assert_eq!((&case["io"]["ok"], &case["view"]["ok"]), (&true.into(), &true.into()), "{found:#}");
    let blocks = &case["blocks"];
    assert_eq!((&blocks["ok"], &blocks["first"], &blocks["call"]), (&false.into(), &6.into(), &0.into()));
    assert_eq!(blocks["kind"], "block-not-atomic");
    // Where no operation is under way, nothing rests on blocks.
    let (code, found) = json(&folder, &["run.log", "--views", "quiescence"]);
    let case = &found["cases"][0];
    assert_eq!((code, &case["ok"], &case["blocks"]), (Some(0), &true.into(), &Json::Null), "{found:#}");
}

/// Where calls and returns do not match, nobody knows which operations there were.
#[test]
fn a_malformed_log_has_no_order() {
    let folder = Folder::new();
    let read = |rest: &str| format!("{{\"thread\": \"T\", \"op\": {rest}}}\n");
    let wrong = read("\"call\", \"method\": \"get\", \"args\": []")
        + &read("\"return\", \"method\": \"get\", \"ret\": 7");
    folder.write("run.log", "{\"structure\": \"counter\"}\n".to_owned() + &wrong);
    let (code, found) = json(&folder, &["run.log"]);
    assert_eq!((code, &found["cases"][0]["linearizable"]), (Some(66), &false.into()), "{found:#}");
    let more = read("\"return\", \"method\": \"inc\", \"ret\": \"ok\"");
    folder.write("run.log", "{\"structure\": \"counter\"}\n".to_owned() + &wrong + &more);
    let (code, found) = json(&folder, &["run.log"]);
    assert_eq!((code, &found["cases"][0]["linearizable"]), (Some(66), &Json::Null), "{found:#}");
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

/// A counter in two stripes: `get` adds up one after the other. It saw the first before `inc` and the second after `dec`, which in the order of this
/// run is right: -1 was there between the two. Had `inc` come first, it never was.
const STRIPED: &str = "main|fork(T1)
main|fork(T2)
main|fork(T3)
T3|call(get)
T3|acq(a)
T3|r(stripe_a=0)
T3|rel(a)
T2|call(dec)
T2|acq(b)
T2|w(stripe_b=-1)
T2|commit(dec)
T2|rel(b)
T2|return(dec, \"ok\")
T1|call(inc)
T1|acq(a)
T1|w(stripe_a=1)
T1|commit(inc)
T1|rel(a)
T1|return(inc, \"ok\")
T3|acq(b)
T3|r(stripe_b=-1)
T3|rel(b)
T3|return(get, -1)
main|join(T1)
main|join(T2)
main|join(T3)
";

#[test]
fn a_run_that_did_not_happen() {
    let folder = Folder::new();
    folder.write("striped.std", STRIPED);
    let (code, found) = json(&folder, &["--model", "counter", "striped.std"]);
    let finding = &found["findings"][0];
    assert_eq!((code, &finding["certainty"]), (Some(66), &"predicted".into()), "{found:#}");
    assert_eq!((&finding["category"], &finding["first"]), (&"observer".into(), &22.into()));
    assert_eq!(finding["witness"]["checked"], true);
    // Both operations are before the second look, `inc` first.
    let order: Vec<u64> = serde_json::from_value(finding["witness"]["events"].clone()).unwrap();
    let place = |event| order.iter().position(|id| *id == event).unwrap();
    assert!(place(16) < place(10) && place(10) < place(20), "{order:?}");
    assert_eq!(finding["refinement"]["blame"], "structure");
    // People see that run, and where its operations are.
    folder.write(
        "placed.std",
        STRIPED
            .replace("call(get)", "call(get)|stripes.c:7")
            .replace("return(get, -1)", "return(get, -1)|stripes.c:12"),
    );
    let outcome = folder.foresee(&["refine", "--model", "counter", "placed.std"]);
    for part in ["called at event 3", "stripes.c:7", "The run you saw was fine", "witness: "] {
        assert!(outcome.stderr.contains(part), "`{part}` expected in: {}", outcome.stderr);
    }
    let (_, found) = json(&folder, &["--model", "counter", "placed.std"]);
    let finding = &found["findings"][0];
    assert_eq!(finding["events"][0]["location"]["line"], 12, "{found:#}");
    assert_eq!(finding["refinement"]["operation"]["location"]["file"], "stripes.c", "{found:#}");
    // If `inc` has seen what `dec` wrote, no such run is possible.
    folder.write("after.std", STRIPED.replace("T1|w(", "T1|acq(b)\nT1|r(stripe_b=-1)\nT1|rel(b)\nT1|w("));
    let (code, found) = json(&folder, &["--model", "counter", "after.std"]);
    assert_eq!((code, found["findings"].as_array().unwrap().len()), (Some(0), 0), "{found:#}");
}

#[test]
fn what_a_trace_does_not_say() {
    let folder = Folder::new();
    folder.write("striped.std", STRIPED);
    folder.foresee(&["refine", "striped.std"]).one_message(2, &["--model"]);
    folder.foresee(&["refine", "--model", "heap", "striped.std"]).one_message(2, &["heap"]);
}

/// What happened is observed, also in a trace.
#[test]
fn a_run_that_happened() {
    let folder = Folder::new();
    folder.write("striped.std", STRIPED.replace("return(get, -1)", "return(get, 7)"));
    let (code, found) = json(&folder, &["--model", "counter", "striped.std"]);
    assert_eq!((code, &found["findings"][0]["certainty"]), (Some(66), &"observed".into()), "{found:#}");
    assert_eq!(found["cases"][0]["first"], 22);
}

#[test]
fn a_multiset_in_c_and_cxx() {
    let languages =
        compilers().flat_map(|(c, cxx)| [("cc", "FORESEE_CC", "c", c), ("c++", "FORESEE_CXX", "c++", cxx)]);
    for (driver, variable, language, cc) in languages {
        let folder = Folder::new();
        for (flag, code) in [("-DNOTHING", 0), ("-DBUG", 66)] {
            let source = example("../multiset.c");
            let source = source.to_str().unwrap();
            let strict = ["-Wall", "-Wextra", "-Werror"];
            let args = [driver, "-g", flag, "-o", "multiset", "-x", language, source, "-lpthread"];
            folder.runtime();
            let mut compile = folder.command(&args);
            outcome(compile.args(strict).env(variable, cc).output().unwrap()).success();
            folder.foresee(&["record", "-o", "run.ft", "--", "./multiset"]).success();
            let (found_code, found) = json(&folder, &["--model", "multiset", "run.ft"]);
            assert_eq!(found_code, Some(code), "{cc} {flag}: {found:#}");
            if code == 66 {
                let finding = &found["findings"][0];
                assert_eq!(
                    (&finding["certainty"], &finding["category"]),
                    (&"predicted".into(), &"view".into()),
                    "{cc}: {found:#}"
                );
                assert_eq!(finding["witness"]["checked"], true, "{cc}: {found:#}");
            }
        }
    }
}

/// Section 8 of the paper: two methods write the contents (p) and the shape (q) of a structure in opposite orders, each under its lock. No run
/// of whole methods does the same, so reduction rejects it; the shape is nobody's business, and refinement accepts it.
#[test]
fn what_reduction_rejects_and_refinement_accepts() {
    let folder = Folder::new();
    let text = "main|fork(T1)
main|fork(T2)
T1|begin(add)
T1|call(add, 1)
T1|acq(lp)
T1|w(p)
T1|commit(add)
T1|rel(lp)
T2|begin(add)
T2|call(add, 2)
T2|acq(lp)
T2|w(p)
T2|commit(add)
T2|rel(lp)
T2|acq(lq)
T2|w(q)
T2|rel(lq)
T2|return(add, \"true\")
T2|end(add)
T1|acq(lq)
T1|w(q)
T1|rel(lq)
T1|return(add, \"true\")
T1|end(add)
main|join(T1)
main|join(T2)
";
    folder.write("section8.std", text);
    let reduced = folder.foresee(&["check", "--engine", "atomicity", "section8.std"]);
    assert_eq!(reduced.code, Some(66), "{}", reduced.stderr);
    let (code, found) = json(&folder, &["--model", "set", "section8.std"]);
    assert_eq!(code, Some(0), "{found:#}");
}

/// Where an operation without a commit releases its lock first after its last write, the commit probably belongs.
#[test]
fn where_a_missing_commit_belongs() {
    let folder = Folder::new();
    let text = "T1|call(inc)\nT1|commit(inc)\nT1|return(inc, \"ok\")\nT1|call(inc)|a.c:1\nT1|acq(l)|a.c:2\nT1|w(count=1)|a.c:3\nT1|rel(l)|a.c:4\nT1|acq(l)|a.c:5\nT1|rel(l)|a.c:6\n\
                T1|return(inc, \"ok\")|a.c:7\n";
    folder.write("run.std", text);
    let (code, found) = json(&folder, &["--model", "counter", "run.std"]);
    let finding = &found["findings"][0];
    assert_eq!((code, &finding["category"]), (Some(66), &"missing-commit".into()), "{found:#}");
    let note = finding["refinement"]["notes"][0].as_str().unwrap();
    assert!(note.contains("released at a.c:4"), "{note}");
}

/// A program that says nothing of commits: some order must explain its operations.
#[test]
fn a_trace_without_commits_is_a_history() {
    let folder = Folder::new();
    let text = |second: &str| {
        format!(
            "main|fork(T1)\nmain|fork(T2)\nT1|call(enq, 1)|q.c:1\nT1|acq(l)\nT1|rel(l)\nT1|return(enq, \"ok\")|q.c:2\n\
             T2|call(deq)|q.c:3\nT2|return(deq, {second})|q.c:4\nmain|join(T1)\nmain|join(T2)\n"
        )
    };
    folder.write("fine.std", text("1"));
    let (code, found) = json(&folder, &["--model", "queue", "fine.std"]);
    assert_eq!((code, &found["cases"][0]["linearizable"]), (Some(0), &true.into()), "{found:#}");
    folder.write("wrong.std", text("2"));
    let (code, found) = json(&folder, &["--model", "queue", "wrong.std"]);
    let finding = &found["findings"][0];
    assert_eq!((code, &finding["category"]), (Some(66), &"linearizability".into()), "{found:#}");
    assert_eq!(
        (&finding["first"], &finding["events"][0]["location"]["line"]),
        (&7.into(), &4.into()),
        "{found:#}"
    );
    assert_eq!(finding["refinement"]["operation"]["call"], 6, "{found:#}");
}

/// A commit block counts as one step, so it is an atomic block, too.
#[test]
fn a_commit_block_that_is_not_atomic() {
    let folder = Folder::new();
    let text = "main|fork(T1)\nmain|fork(T2)\nT1|call(inc)\nT1|commit_begin(inc)\nT1|acq(l)\nT1|r(x)\nT1|rel(l)\nT2|acq(l)\nT2|w(x)\n\
                T2|rel(l)\nT1|acq(l)\nT1|w(x)\nT1|rel(l)\nT1|commit(inc)\nT1|commit_end(inc)\nT1|return(inc, \"ok\")\n";
    folder.write("run.std", text);
    let found = folder.foresee(&["check", "--engine", "atomicity", "run.std"]);
    assert_eq!(found.code, Some(66), "{}", found.stderr);
    // Under one lock it is.
    folder.write("run.std", text.replace("T2|acq(l)\nT2|w(x)\nT2|rel(l)\n", ""));
    let found = folder.foresee(&["check", "--engine", "atomicity", "run.std"]);
    assert_eq!(found.code, Some(0), "{}", found.stderr);
}

/// A vector whose variables were recorded by instrumentation, by their names and with their values.
#[test]
fn writes_that_instrumentation_recorded() {
    let folder = Folder::new();
    let add = |element: i64, size: i64, written: i64| {
        format!(
            "T1|call(add, {element})\nT1|acq(l)\nT1|commit_begin(add)\nT1|w(elem[{}]={written})\nT1|w(size={size})\n\
             T1|commit(add)\nT1|commit_end(add)\nT1|rel(l)\nT1|return(add, \"ok\")\n",
            size - 1
        )
    };
    folder.write("fine.std", add(7, 1, 7) + &add(8, 2, 8));
    let (code, found) = json(&folder, &["--model", "vector", "fine.std"]);
    assert_eq!((code, &found["cases"][0]["view"]["ok"]), (Some(0), &true.into()), "{found:#}");
    folder.write("wrong.std", add(7, 1, 7) + &add(8, 2, 9));
    let (code, found) = json(&folder, &["--model", "vector", "wrong.std"]);
    let finding = &found["findings"][0];
    assert_eq!(
        (code, &finding["category"], &finding["first"]),
        (Some(66), &"view".into(), &14.into()),
        "{found:#}"
    );
    assert_eq!(finding["refinement"]["differences"][0]["part"], "1");
}

/// An operation that panics has no result, and the thread goes on.
#[test]
fn an_operation_that_panicked() {
    let folder = Folder::new();
    let event = |rest: &str| format!("{{\"thread\": \"a\", {rest}}}\n");
    let call = |method: &str| event(&format!("\"op\": \"call\", \"method\": \"{method}\", \"args\": []"));
    let read = |value: i64| {
        call("get") + &event(&format!("\"op\": \"return\", \"method\": \"get\", \"ret\": {value}"))
    };
    let panicked = "{\"structure\": \"counter\"}\n".to_owned()
        + &call("inc")
        + &event("\"op\": \"commit\"")
        + &event("\"op\": \"panic\"");
    folder.write("fine.log", panicked.clone() + &read(1));
    assert_eq!(json(&folder, &["fine.log"]).0, Some(0));
    folder.write("wrong.log", panicked + &read(2));
    let (code, found) = json(&folder, &["wrong.log"]);
    assert_eq!((code, &found["first"]), (Some(66), &4.into()), "{found:#}");
    // The same in a trace.
    let trace = "T1|call(inc)\nT1|commit(inc)\nT1|event(log_panic)\nT1|call(get)\nT1|return(get, 1)\n";
    folder.write("fine.std", trace);
    let (code, found) = json(&folder, &["--model", "counter", "fine.std"]);
    assert_eq!(code, Some(0), "{found:#}");
}

/// Views that differ only while an operation is under way.
#[test]
fn views_at_rest() {
    let folder = Folder::new();
    let log = "{\"structure\": \"multiset\"}\n{\"thread\": \"a\", \"op\": \"call\", \"method\": \"insert\", \"args\": [1]}\n\
               {\"thread\": \"a\", \"op\": \"write\", \"target\": \"A[0].elt\", \"value\": 1}\n{\"thread\": \"a\", \"op\": \"commit\"}\n\
               {\"thread\": \"a\", \"op\": \"write\", \"target\": \"A[0].valid\", \"value\": true}\n\
               {\"thread\": \"a\", \"op\": \"return\", \"method\": \"insert\", \"ret\": \"success\"}\n";
    folder.write("run.log", log);
    assert_eq!(json(&folder, &["run.log"]).0, Some(66));
    assert_eq!(json(&folder, &["--views", "quiescence", "run.log"]).0, Some(0));
}

/// The same in Rust: methods that log themselves are words of the trace.
#[test]
fn a_multiset_in_rust() {
    let folder = Folder::new();
    folder.package_with_sdk(", default-features = false, features = [\"refine\"]");
    std::fs::create_dir(folder.path("examples")).unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    folder.write("src/lib.rs", "");
    std::fs::copy(root.join("examples/multiset.rs"), folder.path("examples/multiset.rs")).unwrap();
    folder.foresee(&["cargo", "build", "--quiet", "--offline", "--example", "multiset"]).success();
    for (argument, code) in [("right", 0), ("bug", 66)] {
        let program = "target/foresee/x86_64-unknown-linux-gnu/debug/examples/multiset";
        folder.foresee(&["record", "-o", "run.ft", "--", program, argument]).success();
        // What is there to be found takes its time on a busy machine.
        let time: &[&str] = if code == 66 { &["--time", "5m"] } else { &[] };
        let (found_code, found) = json(&folder, &[&["--model", "multiset", "run.ft"], time].concat());
        assert_eq!(found_code, Some(code), "{argument}: {found:#}");
        if code == 66 {
            let finding = &found["findings"][0];
            let kind = (&finding["certainty"], &finding["category"]);
            assert_eq!(kind, (&"predicted".into(), &"view".into()), "{found:#}");
            assert_eq!(finding["witness"]["checked"], true, "{found:#}");
        }
    }
}
