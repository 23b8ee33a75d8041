//! Bounds of time, against what they mean: each formula evaluated anew at each event, over all events so far.
#![allow(clippy::unwrap_used)]

use foresee_monitor::compile;
use foresee_monitor::spec::diagnostic::Severity;
use foresee_monitor::spec::format::format;
use foresee_monitor::watch::{FeedError, Watch};
use foresee_oracle::Random;

/// A formula, as the tests understand it.
#[derive(Clone, Debug)]
enum Meaning {
    Event(u32),
    Not(Box<Meaning>),
    And(Box<Meaning>, Box<Meaning>),
    Previously(Box<Meaning>),
    Since(Box<Meaning>, Option<(&'static str, u64)>, Box<Meaning>),
    Once(Option<(&'static str, u64)>, Box<Meaning>),
    Historically(Option<(&'static str, u64)>, Box<Meaning>),
}
use Meaning::*;

fn within(bound: Option<(&str, u64)>, ago: u64) -> bool {
    match bound {
        None => true,
        Some(("<=", time)) => ago <= time,
        Some(("<", time)) => ago < time,
        Some((">=", time)) => ago >= time,
        Some((_, time)) => ago > time,
    }
}

impl Meaning {
    fn holds(&self, events: &[(u32, u64)], at: usize) -> bool {
        let ago = |then: usize| events[at].1 - events[then].1;
        match self {
            Event(event) => events[at].0 == *event,
            Not(inner) => !inner.holds(events, at),
            And(left, right) => left.holds(events, at) && right.holds(events, at),
            Previously(inner) => at > 0 && inner.holds(events, at - 1),
            Since(left, bound, right) => (0..=at).any(|then| {
                within(*bound, ago(then))
                    && right.holds(events, then)
                    && (then + 1..=at).all(|later| left.holds(events, later))
            }),
            Once(bound, inner) => (0..=at).any(|then| within(*bound, ago(then)) && inner.holds(events, then)),
            Historically(bound, inner) => {
                (0..=at).all(|then| !within(*bound, ago(then)) || inner.holds(events, then))
            }
        }
    }

    fn text(&self) -> String {
        let bound = |bound: &Option<(&str, u64)>| {
            bound.map_or(String::new(), |(sign, time)| format!("[{sign} {time}ms]"))
        };
        match self {
            Event(event) => format!("e{event}"),
            Not(inner) => format!("!({})", inner.text()),
            And(left, right) => format!("({} && {})", left.text(), right.text()),
            Previously(inner) => format!("(*)({})", inner.text()),
            Since(left, limit, right) => format!("(({}) S{} ({}))", left.text(), bound(limit), right.text()),
            Once(limit, inner) => format!("<*>{}({})", bound(limit), inner.text()),
            Historically(limit, inner) => format!("[*]{}({})", bound(limit), inner.text()),
        }
    }
}

fn random_formula(random: &mut Random, depth: usize) -> Meaning {
    let bound = |random: &mut Random| {
        let sign = ["<=", "<", ">=", ">"][random.below(4)];
        random.percent(80).then(|| (sign, random.below(5) as u64))
    };
    let inner = |random: &mut Random| Box::new(random_formula(random, depth - 1));
    match if depth == 0 { 0 } else { random.below(8) } {
        1 => Not(inner(random)),
        2 => And(inner(random), inner(random)),
        3 => Previously(inner(random)),
        4 | 5 => {
            let (left, limit) = (inner(random), bound(random));
            Since(left, limit, inner(random))
        }
        6 => Once(bound(random), inner(random)),
        7 => Historically(bound(random), inner(random)),
        _ => Event(random.below(3) as u32),
    }
}

fn violations(formula: &str, events: &[(u32, u64)]) -> Option<Vec<usize>> {
    let spec =
        format!("property P {{ event e0; event e1; event e2;\nptltl: {formula}\n@violation {{ count; }} }}");
    let compiled = match compile(&spec) {
        Ok(compiled) => compiled,
        Err(problems) => {
            assert!(problems.iter().any(|problem| problem.message.contains("63")), "{spec}\n{problems:#?}");
            return None;
        }
    };
    let mut watch = Watch::new(&compiled.properties[0], |_| None);
    let mut found = Vec::new();
    for (at, (event, time)) in events.iter().enumerate() {
        watch.at(time * 1_000_000);
        watch.event(*event, 0, &[], &mut |_| found.push(at)).unwrap();
    }
    Some(found)
}

#[test]
fn bounds_of_time_are_what_they_mean() {
    let mut random = Random::new(5);
    let mut told = [0, 0];
    for _ in 0..4000 {
        let meaning = random_formula(&mut random, 3);
        let mut now = random.below(1000) as u64;
        let happens = |random: &mut Random| {
            now += random.below(4) as u64;
            (random.below(3) as u32, now)
        };
        let mut happens = happens;
        let events: Vec<(u32, u64)> = (0..random.below(12)).map(|_| happens(&mut random)).collect();
        let expected: Vec<usize> = (0..events.len()).filter(|at| !meaning.holds(&events, *at)).collect();
        if let Some(found) = violations(&meaning.text(), &events) {
            assert_eq!(found, expected, "{}\n{events:?}", meaning.text());
            told[0] += expected.len();
            told[1] += events.len() - expected.len();
        }
    }
    assert!(told[0] > 5000 && told[1] > 5000, "{told:?}");
}

#[test]
fn each_instance_has_its_own_times() {
    let spec = "property Answered(r) { event request(r); event response(r);
        ptltl: response -> request within 5s
        @violation { report \"{r} answered too late\"; } }";
    let compiled = compile(spec).unwrap();
    let mut watch = Watch::new(&compiled.properties[0], |_| None);
    let mut late = Vec::new();
    for (event, request, seconds) in
        [(0, 1, 100), (0, 2, 103), (1, 2, 108), (1, 1, 108), (0, 1, 109), (1, 1, 114)]
    {
        watch.at(seconds * 1_000_000_000);
        watch.event(event, 0, &[request], &mut |verdict| late.push((verdict.values[0], seconds))).unwrap();
    }
    assert_eq!(late, [(1, 108)]);
    for same in ["once[<= 5s] request", "<*>[<= 5000ms] request", "<*>[< 5000000001ns] request"] {
        let other = compile(&spec.replace("request within 5s", same)).unwrap();
        let mut watch = Watch::new(&other.properties[0], |_| None);
        let mut late = 0;
        for (event, seconds) in [(0, 0), (1, 5), (1, 6)] {
            watch.at(seconds * 1_000_000_000);
            watch.event(event, 0, &[1], &mut |_| late += 1).unwrap();
        }
        assert_eq!(late, 1, "{same}");
    }
    let neat = format(spec).unwrap();
    assert!(neat.contains("ptltl: response -> request within 5s"), "{neat}");
}

#[test]
fn without_times_nothing_is_said() {
    let spec = "property P { event a; ptltl: <*>[<= 1s] a @violation { count; } }";
    let compiled = compile(spec).unwrap();
    assert!(compiled.properties[0].is_timed());
    let mut watch = Watch::new(&compiled.properties[0], |_| None);
    let told = watch.event(0, 0, &[], &mut |_| ());
    assert_eq!(told, Err(FeedError::NoTime { property: "P".to_owned() }));
}

#[test]
fn bounds_that_mean_nothing_are_refused() {
    let of = |modifier: &str, body: &str| {
        let spec = format!(
            "{modifier}property P {{ var v: int; event a; event b;\n{body} @violation {{ count; }} }}"
        );
        let problems = compile(&spec).map_or_else(|problems| problems, |compiled| compiled.warnings);
        let errors = problems.iter().filter(|problem| problem.severity == Severity::Error);
        errors.map(|problem| format!("{:?} {}", problem.position(&spec), problem.message)).collect::<Vec<_>>()
    };
    let past = "time bounds the past operators of `ptltl`: `<*>`, `[*]` and `S`";
    for (modifier, body, expected) in [
        (
            "",
            "ptltl: a -> <*>[<= 5] b",
            "(2, 20) expected a time with its unit, such as `5s`, found `5`".to_owned(),
        ),
        ("", "ptltl: a -> <*>[<= 5parsecs] b", "(2, 20) not a number".to_owned()),
        ("", "ltl: [](a -> <>[<= 5s] b)", format!("(2, 16) {past}")),
        ("", "ltl: [](a -> <*>[<= 5s] b)", format!("(2, 17) {past}")),
        ("", "ltl: a U[<= 5s] b", format!("(2, 9) {past}")),
        ("", "thread i; mttl: @i(<*>[<= 5s] v == 1)", format!("(2, 23) {past}")),
        (
            "",
            "ptltl: a within b",
            "(2, 17) expected a time with its unit, such as `5s`, found `b`".to_owned(),
        ),
        (
            "",
            "ptltl: v == 1 -> <*>[<= 5s] b",
            "(2, 21) time bounds formulas over events only, not over variables".to_owned(),
        ),
        ("suffix ", "ptltl: <*>[<= 5s] b", "(2, 11) a `suffix` property has no bounds of time".to_owned()),
        ("", "ptltl: <*>[<= 99999999999999999h] b", "(2, 15) not a number".to_owned()),
    ] {
        assert_eq!(of(modifier, body).first(), Some(&expected), "{body}");
    }
    let many = vec!["<*>[<= 5s] a"; 40].join(" && ");
    assert!(of("", &format!("ptltl: {many}"))[0].contains("at most 16"));
}
