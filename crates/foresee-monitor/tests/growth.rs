//! Specs that grow in every direction: the compiler takes them or refuses them, and does not run away. Each shape comes in sizes up to far
//! beyond the limits; what was exponential, or as deep as the text is long, would not come back from here.

use std::fmt::Write as _;

use foresee_monitor::compile;

/// A property with an event and a body.
fn with_body(body: &str) -> String {
    format!("property P(x) {{ event a(x); event b(x); var v: int; {body} @match {{ report \"m\"; }} }}")
}

fn numbered(count: usize, one: impl Fn(usize) -> String) -> String {
    (0..count).map(one).collect()
}

/// What it is called, and what makes it in a size.
type Shape = (&'static str, fn(usize) -> String);

fn shapes() -> Vec<Shape> {
    vec![
        ("plus after plus", |n| with_body(&format!("ere: a{}", "+".repeat(n)))),
        ("star after star", |n| with_body(&format!("ere: a{}", "*".repeat(n)))),
        ("maybe after maybe", |n| with_body(&format!("ere: a{}", "?".repeat(n)))),
        ("plus around plus", |n| with_body(&format!("ere: {}a{}", "(".repeat(n), " b)+".repeat(n)))),
        ("all repetitions", |n| with_body(&format!("ere: {}a{}", "(".repeat(n), ")+ b)* a)?".repeat(n)))),
        ("long sequence", |n| with_body(&format!("ere: {}", "a b ".repeat(n)))),
        ("repeated sequences", |n| with_body(&format!("ere: {}", "(a | b)* a ".repeat(n)))),
        ("choices", |n| with_body(&format!("ere: a{}", " | a b".repeat(n)))),
        ("intersections", |n| with_body(&format!("ere: (a | b)*{}", " & ((a | b)* a b*)".repeat(n)))),
        ("complements", |n| with_body(&format!("ere: {}a", "~".repeat(n)))),
        ("complements of sequences", |n| {
            with_body(&format!("ere: {}a{}", "~(b* ".repeat(n), " b)".repeat(n)))
        }),
        ("conjunctions", |n| with_body(&format!("ptltl: a{}", " && a".repeat(n)))),
        ("disjunctions", |n| with_body(&format!("ltl: a{}", " || [] a".repeat(n)))),
        ("implications", |n| with_body(&format!("ptltl: a{}", " -> a".repeat(n)))),
        ("since", |n| with_body(&format!("ptltl: a{}", " S b".repeat(n)))),
        ("until", |n| with_body(&format!("ltl: a{}", " U b".repeat(n)))),
        ("next", |n| with_body(&format!("ltl: {}a", "o ".repeat(n)))),
        ("previous", |n| with_body(&format!("ptltl: {}a", "(*) ".repeat(n)))),
        ("always and eventually", |n| with_body(&format!("ltl: {}a", "[] <> ".repeat(n)))),
        ("products", |n| with_body(&format!("ptltl: v{} > 0", " * v".repeat(n)))),
        ("sums", |n| with_body(&format!("ptltl: v{} > 0", " + v".repeat(n)))),
        ("minus after minus", |n| with_body(&format!("ptltl: {}v > 0", "- ".repeat(n)))),
        ("knowledge", |n| {
            format!("property P {{ thread t; local c: int; mttl: c > 0{} }}", " && c > 0".repeat(n))
        }),
        ("predicates", |n| with_body(&format!("ptltl: v == 0{}", numbered(n, |i| format!(" || v == {i}"))))),
        ("grammar", |n| with_body(&format!("cfg: s -> a{}", numbered(n, |i| format!(", s{i} -> a s b"))))),
        ("alternatives", |n| with_body(&format!("cfg: s -> a{}", " | s s".repeat(n)))),
        ("guards", |n| format!("property P(x) {{ event a(x) when 1{} == 1; ere: a }}", " + 1".repeat(n))),
        ("parameters", |n| {
            format!("property P(x{}) {{ event a(x); ere: a }}", numbered(n, |i| format!(", p{i}")))
        }),
        ("events", |n| {
            let events = numbered(n, |i| format!("event e{i}(x);"));
            format!("property P(x) {{ {events} ere: e0{} }}", numbered(n, |i| format!(" | e{i}")))
        }),
        ("states", |n| {
            let mut text = "property P { event a; event b; fsm: ".to_owned();
            (0..n).for_each(|i| _ = write!(text, "s{i} [ a -> s{}, b -> s0 ] ", (i + 1) % n));
            text + "@fail { report \"f\"; } }"
        }),
        ("states and events", |n| {
            let events = numbered(n, |i| format!("event e{i};"));
            format!("property P {{ {events} fsm: {} }}", numbered(n, |i| format!("s{i} [ e{i} -> s0 ] ")))
        }),
        ("properties", |n| {
            numbered(n, |i| format!("property P{i} {{ event a; ere: a @match {{ report \"m\"; }} }}\n"))
        }),
        ("mistakes", |n| "property P { event ; }\n".repeat(n)),
        ("odd characters", |n| "§ ".repeat(n)),
        ("unknown names", |n| with_body(&format!("ere: {}", "unknown ".repeat(n)))),
        ("long names", |n| format!("property P {{ event {0}x; ere: {0}y }}", "n".repeat(n))),
        ("open braces", |n| "property P { ".repeat(n)),
    ]
}

#[test]
fn nothing_runs_away() {
    for (name, shape) in shapes() {
        for size in [1, 10, 100, 1000, 10_000, 100_000] {
            let text = shape(size);
            if let Err(problems) = compile(&text) {
                assert!(!problems.is_empty(), "{name} of {size}");
                assert!(problems.len() < 5000, "{name} of {size}: {} problems", problems.len());
                let shown = problems.iter().take(50).map(|problem| problem.rendered("p.rv", &text).len());
                assert!(shown.max() < Some(5000), "{name} of {size}");
            }
        }
    }
}

#[test]
fn repetitions_of_repetitions_mean_what_they_meant() {
    for (one, other) in
        [("a++++", "a a*"), ("((a+ b)+ b)+", "(a a* b (a a* b)* b) (a a* b (a a* b)* b)*"), ("(a?)+", "a*")]
    {
        let of = |pattern: &str| compile(&with_body(&format!("ere: {pattern}"))).unwrap().properties;
        assert_eq!(format!("{:?}", of(one)[0].bodies), format!("{:?}", of(other)[0].bodies), "{one}");
    }
}
