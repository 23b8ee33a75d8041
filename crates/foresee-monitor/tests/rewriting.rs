//! Rewriting systems, against what they mean: the whole string is looked at for each step.
#![allow(clippy::unwrap_used)]

use foresee_monitor::compile;
use foresee_monitor::spec::diagnostic::Severity;
use foresee_monitor::spec::format::format;
use foresee_monitor::watch::{FeedError, Watch};
use foresee_oracle::Random;

const SYMBOLS: [&str; 5] = ["a", "b", "c", "X", "Y"];

#[derive(Clone, Debug)]
struct Rule {
    at_begin: bool,
    left: Vec<usize>,
    at_end: bool,
    right: Result<Vec<usize>, &'static str>,
}

impl Rule {
    fn text(&self) -> String {
        let words =
            |symbols: &[usize]| symbols.iter().map(|symbol| SYMBOLS[*symbol]).collect::<Vec<_>>().join(" ");
        let right = match &self.right {
            Ok(right) if right.is_empty() => "#epsilon".to_owned(),
            Ok(right) => words(right),
            Err(verdict) => format!("#{verdict}"),
        };
        let (begin, end) = (if self.at_begin { "^ " } else { "" }, if self.at_end { " $" } else { "" });
        format!("{begin}{}{end} -> {right} .", words(&self.left))
    }

    fn fits(&self, text: &[usize], at: usize) -> bool {
        text[at..].starts_with(&self.left)
            && (!self.at_begin || at == 0)
            && (!self.at_end || at + self.left.len() == text.len())
    }
}

/// The event at which a verdict comes, if one comes; nothing at all if rewriting takes too long for this test.
fn by_definition(rules: &[Rule], events: &[usize]) -> Option<Option<(usize, &'static str)>> {
    let mut text = Vec::new();
    for (nth, event) in events.iter().enumerate() {
        text.push(*event);
        let mut steps = 0;
        'rewriting: loop {
            steps += 1;
            if steps > 200 || text.len() > 200 {
                return None;
            }
            for at in 0..text.len() {
                let fitting = rules.iter().filter(|rule| rule.fits(&text, at));
                // The first of the longest: `max_by_key` has the last.
                let Some(rule) = fitting.rev().max_by_key(|rule| rule.left.len()) else { continue };
                match &rule.right {
                    Err(verdict) => return Some(Some((nth, verdict))),
                    Ok(right) => _ = text.splice(at..at + rule.left.len(), right.iter().copied()),
                }
                continue 'rewriting;
            }
            break;
        }
    }
    Some(None)
}

fn random_rule(random: &mut Random) -> Rule {
    let symbols = |random: &mut Random, least: usize, most: usize| -> Vec<usize> {
        (0..least + random.below(most - least + 1)).map(|_| random.below(SYMBOLS.len())).collect()
    };
    let left = symbols(random, 1, 3);
    let right = match random.below(8) {
        0 => Err("succeed"),
        1 => Err("fail"),
        2 => Ok(symbols(random, 0, 3)),
        _ => Ok(symbols(random, 0, left.len().saturating_sub(1))),
    };
    Rule { at_begin: random.percent(15), left, at_end: random.percent(15), right }
}

fn spec(rules: &str) -> String {
    format!(
        "property P {{ event a; event b; event c;\nsrs: {rules}\n@succeed {{ count; }} @fail {{ count; }} }}"
    )
}

#[test]
fn rules_rewrite_as_the_definition_says() {
    let mut random = Random::new(11);
    let (mut ended, mut went_on) = (0, 0);
    for _ in 0..6000 {
        let mut rules: Vec<Rule> = (0..1 + random.below(5)).map(|_| random_rule(&mut random)).collect();
        let made: Vec<usize> = rules.iter().filter_map(|rule| rule.right.clone().ok()).flatten().collect();
        rules.retain(|rule| rule.left.iter().all(|symbol| *symbol < 3 || made.contains(symbol)));
        let text: Vec<String> = rules.iter().map(Rule::text).collect();
        let events: Vec<usize> = (0..random.below(12)).map(|_| random.below(3)).collect();
        // What was left out may have made what others need.
        let Ok(compiled) = compile(&spec(&text.join("\n"))) else { continue };
        let Some(expected) = by_definition(&rules, &events) else { continue };
        let property = &compiled.properties[0];
        let mut watch = Watch::new(property, |_| None);
        let mut found = Vec::new();
        for (at, event) in events.iter().enumerate() {
            let tell = &mut |verdict: foresee_monitor::watch::Verdict<'_>| {
                for handler in verdict.categories.indices() {
                    found.push((at, property.bodies[0].handlers[handler].category.clone()));
                }
            };
            watch.event(*event as u32, 0, &[], tell).unwrap();
        }
        let expected: Vec<(usize, String)> =
            expected.map(|(at, verdict)| (at, verdict.to_owned())).into_iter().collect();
        ended += expected.len();
        went_on += usize::from(expected.is_empty());
        assert_eq!(found, expected, "{text:#?}\n{events:?}");
    }
    assert!(ended > 500 && went_on > 1000, "{ended} {went_on}");
}

#[test]
fn what_does_not_end_is_given_up_and_told() {
    for rules in [
        "a -> a .",
        "a -> b . b -> a .",
        "a -> a a .",
        "a b -> b b a . b b -> b b b",
        "a -> c c c c c . c -> a a a a",
    ] {
        let compiled = compile(&spec(rules)).unwrap();
        let mut watch = Watch::new(&compiled.properties[0], |_| None);
        let mut told = 0;
        let mut fed = Vec::new();
        for event in [0, 1, 1, 0, 1, 1] {
            fed.push(watch.event(event, 0, &[], &mut |_| told += 1));
        }
        let gave_up = FeedError::GaveUp { property: "P".to_owned() };
        assert_eq!(fed.iter().filter(|fed| **fed == Err(gave_up.clone())).count(), 1, "{rules}: {fed:?}");
        assert_eq!(told, 0, "{rules}");
    }
    // A string that nothing rewrites grows with the events.
    let compiled = compile(&spec("b -> #fail")).unwrap();
    let mut watch = Watch::new(&compiled.properties[0], |_| None);
    let first = (0..10_000).position(|_| watch.event(0, 0, &[], &mut |_| ()).is_err());
    assert_eq!(first, Some(foresee_monitor::formalism::srs::LONGEST));
}

#[test]
fn each_instance_has_its_own_string() {
    let spec = "property Nested(c) { event open(c); event close(c); event done(c);
        srs: open close -> #epsilon . ^ close -> #fail . ^ done -> #succeed . open done -> #fail .
        @fail { report \"{c}\"; reset; } @succeed { count; } }";
    let compiled = compile(spec).unwrap();
    let mut watch = Watch::new(&compiled.properties[0], |_| None);
    let mut told = Vec::new();
    for (at, (event, object)) in
        [(0, 1), (0, 2), (1, 1), (0, 2), (2, 1), (1, 2), (2, 2), (1, 2), (0, 2), (1, 2), (2, 2)]
            .into_iter()
            .enumerate()
    {
        watch.event(event, 0, &[object], &mut |verdict| told.push((at, verdict.categories.0))).unwrap();
    }
    assert_eq!(told, [(4, 2), (6, 1), (7, 1), (10, 2)]);
}

#[test]
fn wrong_rules_are_refused() {
    let of = |modifier: &str, rules: &str| {
        let spec = format!("{modifier}{}", spec(rules));
        let problems = compile(&spec).map_or_else(|problems| problems, |compiled| compiled.warnings);
        let unused = |problem: &&foresee_monitor::spec::diagnostic::Diagnostic| {
            !problem.message.contains("no body uses")
        };
        let said = problems.iter().filter(unused).map(|problem| {
            let severity = if problem.severity == Severity::Error { "error" } else { "warning" };
            let help = problem.help.as_ref().map(|help| format!(" [{help}]")).unwrap_or_default();
            format!("{:?} {severity}: {}{help}", problem.position(&spec), problem.message)
        });
        said.collect::<Vec<_>>()
    };
    for (modifier, rules, expected) in [
        (
            "",
            "a aa -> #fail .",
            "(2, 8) error: no event is called `aa`, and no rule makes it [did you mean `a`?]",
        ),
        (
            "",
            "a -> #suceed .",
            "(2, 12) error: `#suceed` is not the right side of a rule [did you mean `succeed`?]",
        ),
        ("", "-> a .", "(2, 6) error: expected a symbol: an event, or what a rule makes, found `->`"),
        ("", "^ $ -> a .", "(2, 8) error: expected a symbol: an event, or what a rule makes, found `$`"),
        ("", "a $ b -> a .", "(2, 10) error: expected `->` and what the left side becomes, found `b`"),
        ("", "a -> .", "(2, 11) error: expected a symbol, `#epsilon`, `#succeed` or `#fail`, found `.`"),
        ("", "a b -> opend .", "(2, 13) warning: no rule rewrites `opend`, and no event is called so"),
        ("suffix ", "a -> #fail", "(2, 1) error: a `suffix` property has no `srs` bodies"),
        (
            "",
            "a -> #fail b -> #fail",
            "(2, 17) error: expected an operator, a handler such as `@match { … }`, or `}`, found `b`",
        ),
    ] {
        assert_eq!(of(modifier, rules).first().map(String::as_str), Some(expected), "{rules}");
    }
    let neat = format(&spec("a b -> #epsilon .\n      ^ c $ -> #fail")).unwrap();
    assert!(neat.contains("    srs: a b -> #epsilon .\n         ^ c $ -> #fail\n"), "{neat}");
    assert_eq!(format(&neat).unwrap(), neat);
}
