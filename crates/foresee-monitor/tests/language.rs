//! The language as its users meet it: what specs mean, what is said about wrong ones, and how they are formatted.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::sync::Arc;

use foresee_monitor::formalism::raw::RawMonitor;
use foresee_monitor::property::{Parameter, Source};
use foresee_monitor::spec::diagnostic::{Diagnostic, Severity};
use foresee_monitor::spec::format::format;
use foresee_monitor::spec::raw_monitors::RawMonitors;
use foresee_monitor::watch::{FeedError, Watch};
use foresee_monitor::{compile, compile_with};

/// The events (by number) at which something was reported.
fn reported(spec: &str, events: &[(u32, u64, &[u64])]) -> Vec<usize> {
    let compiled = compile(spec).unwrap_or_else(|problems| panic!("{problems:#?}"));
    let mut watch = Watch::new(&compiled.properties[0], |_| None);
    let mut found = Vec::new();
    for (at, (event, thread, values)) in events.iter().enumerate() {
        watch.event(*event, *thread, values, &mut |_| found.push(at)).unwrap();
    }
    found
}

/// One line per problem, as `line:column severity: message (label) [help]`.
fn problems(spec: &str) -> Vec<String> {
    let problems = compile(spec).map_or_else(|problems| problems, |compiled| compiled.warnings);
    let line = |problem: &Diagnostic| {
        let (line, column) = problem.position(spec);
        let severity = if problem.severity == Severity::Error { "error" } else { "warning" };
        let help = problem.help.as_ref().map(|help| format!(" [{help}]")).unwrap_or_default();
        format!("{line}:{column} {severity}: {} ({}){help}", problem.message, problem.label)
    };
    problems.iter().map(line).collect()
}

#[test]
fn guards_decide_which_events_count() {
    let spec = "property Small(q) {
        var limit: int = 3;
        event push(q, n) when n * 2 > limit && !(n % 2 == 1);
        ere: push push
        @match { count; }
    }";
    assert_eq!(reported(spec, &[(0, 0, &[7, 2]), (0, 0, &[7, 1]), (0, 0, &[7, 3]), (0, 0, &[7, 4])]), [3]);
}

#[test]
fn threads_can_be_parameters() {
    let spec = "property TwoLocks(l, thread) {
        event acquire(l, thread);
        event release(l, thread);
        ere: acquire acquire
        @match { report \"{l} twice by {thread}\"; }
    }";
    assert_eq!(reported(spec, &[(0, 1, &[9]), (0, 2, &[9]), (0, 1, &[9])]), [2]);
}

#[test]
fn perthread_monitors_see_only_their_thread() {
    let spec = "perthread property Twice(x) { event a(x); ere: a a @match { count; } }";
    assert_eq!(reported(spec, &[(0, 1, &[5]), (0, 2, &[5]), (0, 1, &[5])]), [2]);
}

#[test]
fn unconnected_parameters_are_combined_unless_connected_is_asked_for() {
    let free = "property P(f, t) { event open(f); event start(t); event use_it(f, t);
        ere: open start use_it @match { count; } }";
    let events: [(u32, u64, &[u64]); 3] = [(0, 0, &[1]), (1, 0, &[2]), (2, 0, &[1, 2])];
    assert_eq!(reported(free, &events), [2]);
    assert_eq!(reported(&format!("connected {free}"), &events), [0; 0]);
}

#[test]
fn formulas_over_variables_read_the_initial_state() {
    let spec = "property SafeLanding {
        var landing, approved: int;
        var radio: int = 1;
        ptltl: landing == 1 -> [approved == 1, radio == 0)
        @violation { report \"landing without a live, approved radio contact\"; }
    }";
    let compiled = compile(spec).unwrap();
    let run = |assignments: &[(usize, i64)]| {
        let mut watch = Watch::new(&compiled.properties[0], |_| None);
        let mut violations = Vec::new();
        for (at, (var, value)) in assignments.iter().enumerate() {
            watch.assign(*var, *value, 0, &mut |_| violations.push(at));
        }
        violations
    };
    assert_eq!(run(&[(1, 1), (0, 1), (2, 0)]), [2]);
    assert_eq!(run(&[(1, 1), (2, 0), (0, 1)]), [2]);
    assert_eq!(run(&[(1, 1), (0, 1)]), [0; 0]);
    // The initial value comes from the program where the spec does not say.
    let mut approved = Watch::new(&compiled.properties[0], |name| (name == "approved").then_some(1));
    let mut violations = 0;
    approved.assign(0, 1, 0, &mut |_| violations += 1);
    assert_eq!(violations, 0);
}

#[test]
fn raw_monitors_are_found_by_name() {
    struct Third;
    impl RawMonitor for Third {
        fn step(&self, state: u64, _: u32) -> u64 {
            state + 1
        }
        fn verdicts(&self, state: u64) -> &[&'static str] {
            if state == 3 { &["match"] } else { &[] }
        }
    }
    let spec = "property Third(x) { event a(x); raw: \"third\" @match { call \"logger\"; } }";
    let mut monitors = RawMonitors::default();
    monitors.register("third", Arc::new(Third));
    let compiled = compile_with(spec, &monitors).unwrap();
    let mut watch = Watch::new(&compiled.properties[0], |_| None);
    let mut found = Vec::new();
    (0..5).for_each(|at| watch.event(0, 0, &[1], &mut |_| found.push(at)).unwrap());
    assert_eq!(found, [2]);
    assert_eq!(
        problems(spec),
        ["1:38 error: no monitor is registered under the name `third` (not registered)"]
    );
}

#[test]
fn wrong_events_are_refused_when_fed() {
    let compiled = compile("property P(x) { event a(x); ere: a a @match { count; } }").unwrap();
    let mut watch = Watch::new(&compiled.properties[0], |_| None);
    let arity = FeedError::Arity { event: "a".into(), expected: 1, found: 2 };
    assert_eq!(watch.event(0, 0, &[1, 2], &mut |_| ()), Err(arity));
    assert_eq!(watch.event(7, 0, &[], &mut |_| ()), Err(FeedError::UnknownEvent(7)));
}

#[test]
fn mistakes_are_reported_with_place_expectation_and_suggestion() {
    let body = |body: &str| format!("property P(x) {{\n  event push(x);\n  event pop(x);\n  {body}\n}}");
    let cases: [(String, &[&str]); 14] = [
        (body("ptltl: strt(push) -> (*)pop @violation { count; }"), &[
            "4:10 error: there is no operator `strt` (no operator of formulas) [did you mean `start(p)`?]",
        ]),
        (body("ltl: [](push(x) -> <> pop) @violation { count; }"), &[
            "4:11 error: there is no operator `push` (no operator of formulas) [what events carry is said where they are declared: `event open(f);`]",
        ]),
        (body("ere: push psuh pop @match { count; }"), &[
            "4:13 error: no event is called `psuh` (expected an event of this property) [did you mean `push`?]",
        ]),
        (body("ere: push (pop @match { count; }"), &[
            "4:18 error: expected `)` to close the group, found `@` (expected `)` to close the group)",
        ]),
        (body("erre: push pop @match { count; }"), &[
            "4:3 error: `erre` is not a formalism (expected `event`, `var`, a formalism such as `ere:`, a handler or `}`) [did you mean `ere`?]",
        ]),
        (body("ere: push pop @mtch { count; }"), &[
            "4:18 error: there is no verdict `mtch` (expected one of: match, fail, ?) [did you mean `match`?]",
        ]),
        (body("ere: push pop @match { report \"{y}\"; }"), &[
            "4:33 error: `{y}` is not a known name (known names: x, loc, thread, trace) [did you mean `x`?]",
        ]),
        (body("ltl: [](push -> <> popp) @violation { count; }"), &[
            "4:22 error: no event is called `popp` (expected an event of this property) [did you mean `pop`?]",
        ]),
        (body("ptltl: push -> <> pop @violation { count; }"), &[
            "4:3 error: an operator about later events cannot be used here: `ptltl` speaks of the past; `ltl` mixes both (this body cannot be monitored)",
        ]),
        (body("fsm: s [ push -> t, push -> s, pop -> s ] t [] @fail { count; }"), &[
            "4:23 warning: state `s` has two transitions for `push` (never taken: the first one, to `t`, counts)",
        ]),
        (body("ere: push & pop @match { count; }"), &[
            "4:20 warning: the verdict `match` can never be reached (no sequence of events leads to this verdict)",
        ]),
        (body("ere: push+ @match { count; }"), &[
            "3:9 warning: no body uses the event `pop` (never used) [it still counts as a step of every body that has begun; remove it if that is not intended]",
        ]),
        (body("ere: push pop"), &[
            "4:3 warning: this `ere` body has no handler (its verdicts are ignored) [add one of `@match`, `@fail`, `@?`]",
        ]),
        ("property A { ere x }\nsufix property B { }\nproperty C(c) { event e(c); ere: e @match { explode; } }".into(), &[
            "1:18 error: expected `:` after the formalism, found `x` (expected `:` after the formalism)",
            "2:16 error: this property has no body (expected a body such as `ere: …`)",
            "3:45 error: `explode` is not an action (expected `report`, `reset`, `count`, `abort`, `call` or `recover`)",
        ]),
    ];
    for (spec, expected) in cases {
        assert_eq!(problems(&spec), expected, "{spec}");
    }
}

#[test]
fn blow_ups_are_refused_and_deep_nesting_too() {
    let chain = "(a | b) ".repeat(16);
    let spec = format!("property P {{ event a; event b; ere: ~((a | b)* a {chain}) @match {{ count; }} }}");
    let found = problems(&spec);
    assert!(found[0].contains("needs more than 4096 states"), "{found:?}");
    let deep = format!(
        "property P {{ event a; ltl: {}a{} @violation {{ count; }} }}",
        "(".repeat(9999),
        ")".repeat(9999)
    );
    assert!(problems(&deep)[0].contains("nested too deeply"));
}

#[test]
fn no_text_makes_the_parser_panic() {
    let spec = "full-binding property P(x) { var v: int = -1; creation event a(x) = write(x) when v > 0; \
                fsm: s [ a -> s ] ltl n: [](a U (*) a) @n@violation { report \"{x}\"; } }";
    for end in (0..spec.len()).filter(|end| spec.is_char_boundary(*end)) {
        for piece in ["", "}", "@", "\"", "[*", "/*", "é", "99999999999999999999"] {
            let _ = compile(&format!("{}{piece}", &spec[..end]));
            let _ = compile(&format!("{piece}{}", &spec[end..]));
        }
    }
}

#[test]
fn formatting_keeps_the_meaning_and_is_stable() {
    let ragged = "// about iterators\nfull-binding   property P( c,i ){ event create(c,i) ;\n// used\nevent next(i) when i>0&&i<9;\
                  var a,b:int=3;\nere  pat :create\n   next*\n@pat@match{report \"{i} \\\"x\\\"\";reset}\n/* end */ }  // last";
    let neat = "// about iterators\nfull-binding property P(c, i) {\n    event create(c, i);\n    // used\n    \
                event next(i) when (i > 0) && (i < 9);\n    var a, b: int = 3;\n    ere pat: create\n             next*\n    \
                @pat@match { report \"{i} \\\"x\\\"\"; reset; }\n    /* end */\n}\n// last\n";
    let formatted = format(ragged).unwrap();
    assert_eq!(formatted, neat);
    assert_eq!(format(&formatted).unwrap(), formatted);
    assert!(compile(&formatted).is_ok(), "{:?}", compile(&formatted));
}

#[test]
fn formulas_of_twenty_operators_compile_or_are_refused() {
    let events: String = (0..5).map(|event| format!("event e{event}; ")).collect();
    for (nth, formula) in [
        "[](e0 -> <>(e1 && o (e2 U (e3 || e4)))) && [](e1 -> (!e2 W e3)) && (<> e4 -> [](e0 -> o o e1)) && (e2 R e3)",
        "[](e0 -> (e1 U (e2 U (e3 U (e4 U e0))))) && [](<> e1 && <> e2 && <> e3 && <> e4 && o o o o o o e0)",
        "[]((e0 -> <>(e1 && <>(e2 && <>(e3 && <> e4)))) && (e1 -> <>(e2 && <>(e3 && <>(e4 && <> e0)))) && (e2 -> <>(e3 && <>(e4 && <>(e0 && <> e1)))))",
        "[](e0 -> <*> e1) && [](e2 -> (!e3 S e4)) && [](e1 -> [e2, e3)) && <>(e4 && (*) e1) && [](e0 -> o !e0)",
    ]
    .into_iter()
    .enumerate()
    {
        let began = std::time::Instant::now();
        let spec = format!("property P {{ {events} ltl: {formula} @violation {{ count; }} }}");
        let compiled = compile(&spec);
        println!("{nth}: {} in {:?}", if compiled.is_ok() { "compiled" } else { "refused" }, began.elapsed());
        if let Err(problems) = compiled {
            assert!(problems[0].message.contains("needs more than"), "{problems:?}");
        }
    }
}

#[test]
fn default_transitions_use_all_events() {
    let spec =
        "property P { event a; event b; fsm: one [ a -> two ] two [ default -> one ] @two { count; } }";
    assert_eq!(problems(spec), [""; 0]);
    let spec = spec.replace("default", "a");
    assert_eq!(problems(&spec).len(), 1, "without it, `b` is used nowhere");
}

#[test]
fn calls_carry_arguments_and_results() {
    let spec = "property P(l) {
        event open(l) = exit(\"log_open\" | \"log_reopen\") returning l;
        event write(l) = enter(\"log_write\" | \"log_writev\", l);
        event big(l, n) = enter(\"log_write\", l, _, n) when n > 4096;
        event close(l) = enter(\"Log::close\", this as l, thread);
        event idle = enter(\"idle\", _, _);
        event made(l, r) = exit(\"make\", _, *to as l) returning r when r == 0;
        ere: (open | made) (write | big | idle)* close+ write
        @match { count; }
    }";
    assert_eq!(problems(spec), [""; 0]);
    let compiled = compile(spec).unwrap();
    let sources: Vec<&Source> = compiled.properties[0].events.iter().map(|event| &event.source).collect();
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let expected = [
        Source::Result(names(&["log_open", "log_reopen"]), vec![Parameter::Result]),
        Source::Arguments(names(&["log_write", "log_writev"]), vec![Parameter::Position(0)]),
        Source::Arguments(names(&["log_write"]), vec![Parameter::Position(0), Parameter::Position(2)]),
        Source::Arguments(names(&["Log::close"]), vec![Parameter::Named("this".to_owned())]),
        Source::Enter(names(&["idle"])),
        Source::Result(names(&["make"]), vec![Parameter::Stored("to".to_owned()), Parameter::Result]),
    ];
    assert_eq!(sources, expected.iter().collect::<Vec<_>>());
    // Events by number: 1 write(l), 2 big(l, n).
    assert_eq!(
        reported(spec, &[(0, 0, &[7]), (2, 0, &[7, 5000]), (3, 0, &[7]), (1, 0, &[8]), (1, 0, &[7])]),
        [4]
    );
    let once = format(spec).unwrap();
    assert!(once.contains("event open(l) = exit(\"log_open\" | \"log_reopen\") returning l;"), "{once}");
    assert!(once.contains("event big(l, n) = enter(\"log_write\", l, _, n) when n > 4096;"), "{once}");
    assert!(once.contains("enter(\"Log::close\", this as l, thread);"), "{once}");
    assert_eq!(format(&once).unwrap(), once);
    let spec = "property P(thread) { event f(thread) = enter(\"f\", thread); ere: f @match { count; } }";
    assert_eq!(problems(spec), [""; 0]);
}

#[test]
fn what_calls_do_not_carry_is_refused() {
    let of = |event: &str| {
        let found =
            problems(&format!("property P(x) {{\nevent f(x) = {event};\nere: f @match {{ count; }} }}"));
        assert_eq!(found.len(), 1, "{event}: {found:?}");
        found[0].clone()
    };
    for (event, message) in [
        ("enter(x)", "2:14 error: `enter` needs a function (expected the function's name in quotes)"),
        ("enter(\"f\") returning x", "2:35 error: what a function returns is not known when it is entered"),
        ("enter(\"f\", *p as x)", "2:26 error: what `p` points to may change until the function returns"),
        ("exit(\"f\", *p)", "2:26 error: expected `as` and a name for what is stored there"),
        ("exit(\"f\") returning _", "2:34 error: a result that is not asked for"),
        (
            "enter(\"f\", a as x, y)",
            "2:33 error: which parameter is `y`? (behind parameters with names there are no positions)",
        ),
        ("enter(\"f\", \"g\")", "2:25 error: `enter` takes its functions first"),
        ("enter(\"f\" | g, x)", "2:26 error: expected another function's name, in quotes, found `g`"),
        ("enter(\"f\", _)", "2:9 error: the event after `=` does not carry `x`"),
        ("enter(\"f\", y)", "2:9 error: the event after `=` does not carry `x`"),
        ("acquire(a as x)", "2:22 error: `acquire` is no call: it has no parameters with names"),
        ("acquire(x) returning y", "2:35 error: `acquire` returns nothing"),
        ("acquire(\"f\", x)", "2:22 error: only `enter` and `exit` take a text"),
    ] {
        assert!(of(event).starts_with(message), "{event}: {}", of(event));
    }
    assert!(of("enter(\"f\", a as x, y)").ends_with("[write `PARAMETER as y`]"));
    assert!(of("enter(\"f\") returning x").ends_with("[write `exit(…) returning x`]"));
}

#[test]
fn a_blank_line_after_a_comment_stays() {
    let body = "property P {\n    // What happens.\n\n    // First this.\n    event a;\n    ere: a\n    @match { count; }\n}\n";
    let spec = format!("// A file.\n\n// A property.\n{body}");
    assert_eq!(format(&spec).unwrap(), spec);
    let wide = spec
        .replace("// A file.\n\n", "// A file.\n\n\n\n")
        .replace("}\n", "    // Last.\n\n}\n\n// End.\n\n\n");
    let formatted = format(&wide).unwrap();
    assert!(formatted.ends_with("    // Last.\n}\n// End.\n"), "{formatted}");
    assert_eq!(format(&formatted).unwrap(), formatted);
}

#[test]
fn variables_may_be_named_by_their_paths() {
    let spec = "property P {
        var a::OPENED, b::OPENED: int;
        var file.c:opened, work.count: int = 1;
        ptltl: a::OPENED == 1 -> b::OPENED == 0 && file.c:opened + work.count == 2
        @violation { report \"both\"; }
    }";
    let compiled = compile(spec).unwrap();
    let names: Vec<&str> = compiled.properties[0].vars.iter().map(|var| var.name.as_str()).collect();
    assert_eq!(names, ["a::OPENED", "b::OPENED", "file.c:opened", "work.count"]);
    assert!(compile(&format(spec).unwrap()).is_ok(), "{}", format(spec).unwrap());
    let elsewhere = problems("property P { event a::b; ere: a @match { count; } }");
    assert!(elsewhere[0].contains("only variables have names of several words"), "{elsewhere:?}");
}

#[test]
fn a_verdict_that_is_for_ever_is_told_once() {
    let spec = "property P(x) { event a(x); event b(x); ltl: [] !b @violation { count; } }";
    let after = |x: &'static [u64]| [(0, 0, x), (1, 0, x), (0, 0, x), (1, 0, x), (1, 0, x)];
    assert_eq!(reported(spec, &after(&[1])), [1]);
    let again = "property P(x) { event a(x); event b(x); ltl: [] !b @violation { count; reset; } }";
    assert_eq!(reported(again, &after(&[1])), [1, 3, 4]);
    let never = "property P { event a; ltl: false @violation { count; } }";
    assert_eq!(reported(never, &[(0, 0, &[]), (0, 0, &[])]), [0]);
    let variables = "property P { var x: int = 1; event a; ltl: [] x == 0 @violation { count; } }";
    assert_eq!(
        reported(variables, &[(0, 0, &[]), (0, 0, &[])]),
        [0],
        "what holds before the first event counts"
    );
}

#[test]
fn what_says_nothing_is_warned_of() {
    let one = |spec: &str, part: &str| {
        let said = problems(spec);
        assert!(said.iter().any(|said| said.contains("warning") && said.contains(part)), "{said:?}");
    };
    one(
        "property P(l) { event aquire(l); event release(l); ere: aquire release @match { count; } }",
        "did you mean the built-in event `acquire`?",
    );
    one(
        "property P(l, m) { event use(l); ere: use use @match { count; } }",
        "no event binds the parameter `m`",
    );
    one("property P { event a; cfg: S -> a S | S S @match { count; } }", "no sequence of events is a `S`");
    one(
        "property P(f) { event open(f); event write(f); ere: open write @match { count; } }",
        "`write` is the built-in event",
    );
    one(
        "property P(u, f) { event login(u); event open(f); event access(u, f);
         ptltl: access -> <*> login && <*> open @violation { count; } }",
        "is combined with each",
    );
    let silent = |spec: &str| assert_eq!(problems(spec), [""; 0]);
    silent("property P(f) { event open(f); event write(f) = write(f); ere: open write @match { count; } }");
    silent("perthread property P(l) { event acquire(l); event begin; ere: acquire begin @match { count; } }");
    silent("property P(f) { event writes(f); event works(f); ere: writes works @match { count; } }");
    silent("property P { event a; cfg: S -> a S | epsilon @match { count; } }");
    silent(
        "connected property P(u, f) { event login(u); event open(f); event access(u, f);
         ptltl: access -> <*> login && <*> open @violation { count; } }",
    );
}

#[test]
fn values_are_compared_with_texts() {
    let spec = "property P(f) {
        event secret(f, name) = open(f, name) when name == \"a\\\"b\" || \"key\" == name;
        event other(f) = open(f, name) when name != \"key\";
        ere: secret @match { count; }
    }";
    let compiled = compile(spec).unwrap();
    let property = &compiled.properties[0];
    assert_eq!(property.texts, ["a\"b", "key"]);
    let number = foresee_monitor::predicate::text_number;
    assert_eq!(
        reported(spec, &[(0, 0, &[1, 7]), (0, 0, &[1, number(0)]), (0, 0, &[2, number(1)])]),
        [1, 2],
        "7 is another text, or none"
    );
    let neat = format(spec).unwrap();
    assert!(neat.contains("when (name == \"a\\\"b\") || (\"key\" == name);"), "{neat}");
    assert_eq!(compile(&neat).unwrap().properties[0].texts, property.texts);
}

#[test]
fn texts_are_no_numbers() {
    let of = |guard: &str| {
        let spec = format!(
            "property P(f) {{ var v: int;\nevent e(f, name) when {guard};\nere: e @match {{ count; }} }}"
        );
        problems(&spec)
    };
    for (guard, expected) in [
        (
            "name < \"x\"",
            "2:23 error: texts are the same or not: there is no order among them (expected `==` or `!=`)",
        ),
        ("name + \"x\" == 3", "2:30 error: a text is no number (texts are compared with `==` or `!=`)"),
        ("\"x\"", "2:23 error: this is not a condition (expected a condition)"),
        ("v == \"x\"", "2:23 error: `v` is a number, not a text (expected a value that the event carries)"),
        (
            "thread == \"x\"",
            "2:23 error: `thread` is a number, not a text (expected a value that the event carries)",
        ),
        (
            "3 == \"x\"",
            "2:23 error: a text is compared with a value that the event carries (expected the name of a value)",
        ),
        (
            "\"y\" == \"x\"",
            "2:30 error: a text is compared with a value that the event carries (expected the name of a value)",
        ),
        (
            "nam == \"x\"",
            "2:23 error: `nam` is neither a variable nor a value of the event (unknown name) [did you mean `name`?]",
        ),
    ] {
        assert_eq!(of(guard), [expected], "{guard}");
    }
    let formula = problems("property P { var v: int;\nptltl: v == \"x\" @violation { count; } }");
    assert_eq!(formula.len(), 1);
    assert!(formula[0].starts_with("2:8 error: `v` is a number, not a text"), "{formula:?}");
}

#[test]
fn an_event_of_the_program_can_be_several_of_a_property() {
    let spec = "property Inversion(t1, t2, a, b) {
        event outer1(t1, a) = acq(t1, a, _);
        event inner1(t1, b) = acq(t1, b, _);
        event outer2(t2, b) = acq(t2, b, _);
        event inner2(t2, a) = acq(t2, a, rank) when rank > 0;
        ere: outer1 inner1 outer2 inner2
        @match { count; }
    }";
    let compiled = compile(spec).unwrap();
    let events = &compiled.properties[0].events;
    assert!(events.iter().all(|event| event.source == Source::Named("acq".to_owned()) && event.arity == 3));
    let acq = |t: u64, l: u64| [(0, t, l), (1, t, l), (2, t, l), (3, t, l)];
    let run: Vec<_> = [acq(1, 8), acq(1, 9), acq(2, 9), acq(2, 8)].concat();
    let mut watch = Watch::new(&compiled.properties[0], |_| None);
    let mut found = Vec::new();
    for (at, (event, thread, lock)) in run.iter().enumerate() {
        watch
            .event(*event, 0, &[*thread, *lock, 1], &mut |verdict| found.push((at, verdict.values.to_vec())))
            .unwrap();
    }
    found.retain(|(_, values)| values[0] != values[1] && values[2] != values[3]);
    assert_eq!(found, [(15, vec![1, 2, 8, 9])]);
    assert_eq!(
        problems("property P(l) { event a(l) = aquire(l); ere: a @match { count; } }"),
        [
            "1:30 warning: `aquire` is an event of the program's own (not a built-in event) [did you mean the built-in event `acquire`?]"
        ]
    );
    let twice = problems("property P(a, b) { event e(a);\nevent e(b); ere: e @match { count; } }");
    assert_eq!(
        twice,
        [
            "2:7 error: there is already a event or variable called `e` (used twice) [one event of the program can be several: `event other(…) = e(…);`]"
        ]
    );
    assert!(
        problems("property P(x) { event e(x) when _ > 1; ere: e @match { count; } }")[0]
            .contains("unknown name")
    );
}

#[test]
fn events_change_variables_of_their_instance() {
    let spec = "property AtMostTwo(s) {
        state count: int = 0;
        event push(s) when count < 2 { count += 1; }
        event over(s) = push(s) when count >= 2;
        event pop(s) { count -= 1; }
        ere: (push | pop)* over
        @match { report \"{s} is full\"; reset; }
    }";
    let push = |s: &'static [u64]| [(1, 0, s), (0, 0, s)];
    let pop = |s: &'static [u64]| [(2, 0, s), (2, 0, &[9])];
    let run = [push(&[1]), push(&[1]), push(&[2]), pop(&[1]), push(&[1]), push(&[1]), push(&[1])].concat();
    assert_eq!(reported(spec, &run), [10], "after the verdict the variable is what it was at first");
    let formula = "property P { state n: int = 1; state odd: bool;\nevent a(x) { n += x; odd = n % 2 == 1; }
        ptltl: a -> n <= 4 && !odd @violation { count; } }";
    let events: [(u32, u64, &[u64]); 4] = [(0, 0, &[1]), (0, 0, &[1]), (0, 0, &[1]), (0, 0, &[2])];
    assert_eq!(reported(formula, &events), [1, 3]);
    assert_eq!(problems(formula), [""; 0]);
}

#[test]
fn guards_ask_for_parameters_that_were_bound_before() {
    let spec = "property Inversion(t1, t2, a, b) {
        event outer1(t1, a) = acq(t1, a);
        event inner1(t1, b) = acq(t1, b) when b != a;
        event outer2(t2, b) = acq(t2, b) when t2 != t1;
        event inner2(t2, a) = acq(t2, a) when t2 != t1 && a != b;
        ere: outer1 inner1 outer2 inner2
        @match { count; }
    }";
    let acq = |t: u64, l: u64| [(0, t, l), (1, t, l), (2, t, l), (3, t, l)];
    let run: Vec<_> = [acq(1, 8), acq(1, 9), acq(2, 9), acq(2, 8)].concat();
    let compiled = compile(spec).unwrap();
    let mut watch = Watch::new(&compiled.properties[0], |_| None);
    let mut found = Vec::new();
    for (at, (event, thread, lock)) in run.iter().enumerate() {
        let tell =
            &mut |verdict: foresee_monitor::watch::Verdict<'_>| found.push((at, verdict.values.to_vec()));
        watch.event(*event, 0, &[*thread, *lock], tell).unwrap();
    }
    assert_eq!(found, [(15, vec![1, 2, 8, 9])]);
}

#[test]
fn the_short_form_of_a_variable_is_the_same_variable() {
    let short = "property P(s) {\n    var n = -2;\n    var on = true;\n    event a(s) { n += 1; on = false; };\n    ere: a\n    @match { count; }\n}\n";
    let neat = format(short).unwrap();
    assert_eq!(
        neat,
        "property P(s) {\n    state n: int = -2;\n    state on: bool = true;\n    event a(s) { n += 1; on = false; }\n    ere: a\n    @match { count; }\n}\n"
    );
    assert_eq!(format(&neat).unwrap(), neat);
    let [one, other] = [short, &neat].map(|spec| compile(spec).unwrap().properties.remove(0));
    assert_eq!((&one.state, &one.events[0].actions), (&other.state, &other.events[0].actions));
    let word = "property P { event state; event x; ere: state x @match { count; } }";
    assert_eq!(problems(word), [""; 0], "`state` remains a name");
}

#[test]
fn what_cannot_be_remembered_is_refused() {
    let of = |declared: &str, event: &str| {
        problems(&format!(
            "property P(x) {{ {declared}\nvar v: int; event e(x, n) {event}\nere: e @match {{ count; }} }}"
        ))
    };
    for (declared, event, expected) in [
        (
            "",
            "{ n = 1; }",
            "2:29 error: `n` is no `state` variable of this property (events change those, and nothing else) [declare it: `state n: int = 0;`]",
        ),
        (
            "state count: int;",
            "{ cout += 1; }",
            "2:29 error: `cout` is no `state` variable of this property (events change those, and nothing else) [did you mean `count`?]",
        ),
        (
            "state on: bool;",
            "{ on += 1; }",
            "2:29 error: nothing is added to `on`, which is true or false (expected `=`, not `+=`)",
        ),
        ("state on: bool;", "{ on = n; }", ""),
        ("state on: bool;", "{ on = n + 1; }", "2:34 error: this is not a condition (expected a condition)"),
        (
            "state c: float;",
            "{ c = 1; }",
            "1:26 error: variables have the type `int` or `bool`, not `float` (expected `int` or `bool`)",
        ),
        ("state c: int;", "{ c = 1 }", ""),
        (
            "state c: int;",
            "{ c * 2; }",
            "2:31 error: expected `=`, `+=` or `-=`, found `*` (expected `=`, `+=` or `-=`)",
        ),
        (
            "state c: int;",
            "{ }",
            "2:29 error: expected a `state` variable that the event changes, found `}` (expected a `state` variable that the event changes)",
        ),
        (
            "state c: int;",
            "{ c = m; }",
            "2:33 error: `m` is neither a variable nor a value of the event (unknown name) [did you mean `c`?]",
        ),
        (
            "state c: int;",
            "{ skip; }",
            "2:29 error: what has been recorded or reported cannot be skipped (an event is told when it happens, not before) [in a program, ask the monitor before the call (`MONITOR.count(…)`), or `recover` or `abort` on the verdict]",
        ),
        (
            "state c: int = 1;",
            ";",
            "1:23 warning: no event changes `c` (always the same) [change it, as in `event e { c = …; }`; a variable of the program is `var c: int;`]",
        ),
    ] {
        let expected: &[&str] = if expected.is_empty() { &[] } else { &[expected] };
        assert_eq!(of(declared, event), expected, "{declared} {event}");
    }
    let suffix =
        problems("suffix property P(x) { state c: int;\nevent e(x) { c += 1; } ere: e @match { count; } }");
    assert!(suffix[0].contains("a `suffix` property has no variables of its own"), "{suffix:?}");
    let suffix = problems(
        "suffix property P(x, y) { event d(y);\nevent e(x) when x != y; ere: d e @match { count; } }",
    );
    assert!(suffix[0].contains("no guards about what instances remember"), "{suffix:?}");
    let skip = problems("property P { event e; ere: e @match { skip; } }");
    assert!(skip[0].contains("cannot be skipped"), "{skip:?}");
    let many: String = (0..200).map(|nth| format!("state c{nth}: int; ")).collect();
    assert!(
        problems(&format!("property P {{ {many} event e; ere: e @match {{ count; }} }}"))[0]
            .contains("too many variables")
    );
}

#[test]
fn quantifiers_over_values_are_refused_with_what_to_do_instead() {
    let of = |formula: &str| {
        problems(&format!("property P(x) {{ event a(x, t);\nptltl: {formula} @violation {{ count; }} }}"))
    };
    let refused = "only `mttl` bodies have quantifiers, over threads (values of events are not quantified within a formula)";
    assert_eq!(
        of("a -> exists t: <*> a"),
        [format!(
            "2:13 error: {refused} [let a `state` variable of the instance count those that there are: `event add(x, t) {{ there += 1; }}`, and ask for `there > 0`]"
        )]
    );
    assert_eq!(
        of("forall t . a"),
        [format!(
            "2:8 error: {refused} [make `t` a parameter of the property: what it states, it states for each value]"
        )]
    );
    let named = "property P { event exists; event a; ptltl: a -> <*> exists @violation { count; } }";
    assert_eq!(problems(named), [""; 0]);
}
