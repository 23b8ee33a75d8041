use foresee_monitor::compile;
use foresee_trace::EventSource as _;
use foresee_trace::text::TextReader;

use super::*;

/// What an engine finds in a text trace.
pub(crate) fn over_text(mut engine: Box<dyn StreamEngine + '_>, trace: &str) -> Outcome {
    let mut reader = TextReader::new(trace.as_bytes());
    let mut index = 0;
    while reader.advance().unwrap() {
        engine.names(reader.names());
        engine.event(index, &reader.event());
        index += 1;
    }
    engine.finish(reader.names())
}

/// What the properties say of a text trace: message, events and how often.
fn observed(spec: &str, trace: &str) -> Vec<(String, Vec<u64>, u64)> {
    let compiled = compile(spec).unwrap_or_else(|problems| panic!("{problems:#?}"));
    let outcome = over_text(Box::new(ObservedVerdicts::new(&compiled.properties, "run.std")), trace);
    let message = |finding: &Finding| finding.statement.as_ref().unwrap().message.clone();
    outcome.findings.iter().map(|f| (message(f), f.events.clone(), f.instances)).collect()
}

fn messages(spec: &str, trace: &str) -> Vec<String> {
    observed(spec, trace).into_iter().map(|(message, ..)| message).collect()
}

#[test]
fn verdicts_of_one_handler_at_one_place_are_one_finding() {
    let spec = r#"property Closed(f) { event open(f); event close(f);
        ere: close @match { report "{f} closed by {thread} at {loc} in {trace}, never opened"; } }"#;
    let trace = "T1|event(open, @1)|3\nT1|event(close, @2)|4\nT2|event(close, @3)|4\nT1|event(close, @4)|5\n";
    let found = observed(spec, trace);
    assert_eq!(
        found,
        [
            ("@2 closed by T1 at 4 in run.std, never opened".to_owned(), vec![1], 2),
            ("@4 closed by T1 at 5 in run.std, never opened".to_owned(), vec![3], 1)
        ]
    );
}

#[test]
fn locks_threads_numbers_and_strings_are_called_by_their_names() {
    let spec = r#"
        property Twice(l) { event acquire(l); event release(l);
            ere: acquire acquire @match { report "{l} taken twice"; } }
        property Joined(t) { event fork(t); event join(t);
            ere: fork join @match { report "{t} joined"; } }
        property Sent(n, to) { event send(n, to); ere: send @match { report "{n} to {to}"; } }
        perthread property Own(x) { event write(x); ere: write @match { report "{x} written"; } }"#;
    let trace = "main|acq(m)\nmain|acq(m)\nmain|fork(worker)\nmain|join(worker)\nmain|event(send, -3, \"bob\")\nmain|w(y)\n";
    assert_eq!(messages(spec, trace), ["m taken twice", "worker joined", "-3 to bob", "y written"]);
}

#[test]
fn a_lock_and_the_object_at_its_address_are_one() {
    let spec = r#"property Guarded(l) { event acquire(l); event release(l); event guards(l);
        ere: acquire guards @match { report "{l} guards"; } }"#;
    let trace = "T1|acq(l@0x70)\nT1|event(guards, @0x70)\nT1|event(guards, @0x71)\n";
    assert_eq!(messages(spec, trace), ["l@0x70 guards"]);
}

#[test]
fn an_object_is_not_called_like_the_lock_it_begins_with() {
    let spec = r#"property Used(o) { event uses(o); ere: uses @match { report "{o} used"; } }"#;
    let trace = "T1|acq(l@0x70)\nT1|event(uses, @0x70)\n";
    assert_eq!(messages(spec, trace), ["@112 used"]);
}

#[test]
fn memory_that_is_used_again_holds_other_objects() {
    let spec = r#"property Closed(f) { event open(f); event close(f); event use(f);
        ere: open close use @match { report "{f} used"; } }"#;
    let first = "T1|event(open, @0x11008)\nT1|event(close, @0x11008)\n";
    let again = "T1|event(use, @0x11008)\n";
    assert_eq!(messages(spec, &format!("{first}{again}")), ["@0x11008 used"]);
    let freed = "T1|free([0x11000..0x11010])\n";
    assert_eq!(messages(spec, &format!("{first}{freed}{again}")), [""; 0]);
    assert_eq!(messages(spec, &format!("{first}{freed}{first}{again}")), ["@0x11008 used"]);
}

#[test]
fn values_of_accesses_are_handed_out_where_they_are_known() {
    let spec = r#"property Big(x, v) { event write(x, v) when v > 10; event read(x, v) when v < 0;
        ere: write | read @match { report "{x} = {v}"; } }"#;
    let trace = "T1|w(x=5)\nT1|w(x=11)\nT1|w(x)\nT1|r(x=-2)\nT1|r(x)\n";
    let mut said = messages(spec, trace);
    said.sort();
    assert_eq!(said, ["x = 11"], "one handler at one unknown place");
    assert_eq!(observed(spec, trace)[0].2, 2);
}

#[test]
fn the_end_of_the_run_is_nobodys_place() {
    let spec = r#"property Left(l) { event acquire(l); event release(l); event end_program;
        ere: (acquire release)* acquire end_program @match { report "{l} held at {loc} by {thread}"; } }"#;
    let found = observed(spec, "T1|acq(m)|a.rs:3\n");
    assert_eq!(found, [("m held at the end of the run by no thread".to_owned(), vec![], 1)]);
}

#[test]
fn handlers_that_only_count_are_no_findings_and_abort_ends() {
    let counting = "property P { event a; ere: a @match { count; reset; } }";
    assert_eq!(messages(counting, "T1|event(a)\n"), [""; 0]);
    let aborting = r#"property P { event a; ere: a+ @match { report "a"; abort; } }"#;
    assert_eq!(observed(aborting, "T1|event(a)\nT1|event(a)\n"), [("a".to_owned(), vec![0], 1)]);
    let calling = r#"property P { event a; ere: a @match { call "f"; } }"#;
    assert_eq!(messages(calling, "T1|event(a)\n"), ["match"]);
}

#[test]
fn an_event_with_other_values_is_another_event() {
    let spec = r#"property P(x) { event a(x); ere: a @match { report "a"; } }"#;
    assert_eq!(messages(spec, "T1|event(a, @1, @2)\nT1|event(b, @1)\n"), [""; 0]);
}

#[test]
fn texts_of_the_trace_are_those_of_guards() {
    let spec = r#"property Secret(f, name) {
            event secret(f, name) = open(f, name) when name == "key" || name == "";
            ere: secret @match { report "{f} is {name}"; } }
        property Others(name) {
            event other(name) = open(_, name) when name != "key";
            ere: other @match { report "other {name}"; } }"#;
    let trace = "T1|event(open, @1, \"log\")|1\nT1|event(open, @2, \"key\")|2\nT1|event(open, @3, \"\")|3\n";
    assert_eq!(messages(spec, trace), ["other log", "@2 is key", "@3 is ", "other "]);
}

#[test]
fn instances_remember_values_in_traces() {
    let spec = r#"property Twice(f) {
            state last: int = 0;
            event again(f, name) = open(f, name) when name == last;
            event first(f, name) = open(f, name) when name != last { last = name; }
            ere: first+ again @match { report "{f} opened twice"; } }"#;
    let trace = "T1|event(open, @1, \"a\")|1\nT1|event(open, @2, \"a\")|2\nT1|event(open, @1, \"b\")|3\nT1|event(open, @1, \"b\")|4\n";
    assert_eq!(messages(spec, trace), ["@1 opened twice"]);
}
