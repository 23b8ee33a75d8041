//! Each formalism against its definition, on random patterns, formulas, grammars and sequences of events.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::rc::Rc;

use foresee_monitor::compile;
use foresee_monitor::formalism::cfg::{Cfg, Grammar, Symbol};
use foresee_monitor::formalism::ere::Ere;
use foresee_monitor::formalism::ltl;
use foresee_monitor::formalism::ptltl::Past;
use foresee_monitor::formalism::temporal::{Alphabet, Temporal};
use foresee_monitor::formalism::{Categories, Handled, Monitor};
use foresee_monitor::watch::Watch;
use foresee_oracle::Random;

type Word = Vec<u32>;

fn words(letters: u32, longest: usize) -> Vec<Word> {
    let mut all: Vec<Word> = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..longest {
        let shorter = all[from..].to_vec();
        from = all.len();
        for word in shorter {
            all.extend((0..letters).map(|letter| [word.clone(), vec![letter]].concat()));
        }
    }
    all
}

fn random_word(random: &mut Random, letters: u32, longest: usize) -> Word {
    (0..random.below(longest + 1)).map(|_| random.below(letters as usize) as u32).collect()
}

fn after<M: Monitor>(monitor: &M, word: &[u32]) -> Categories {
    let mut state = monitor.start();
    word.iter().for_each(|letter| monitor.step(&mut state, *letter));
    monitor.verdicts(&state)
}

fn handled(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn random_ere(random: &mut Random, depth: u32) -> Ere {
    let inner = |random: &mut Random| random_ere(random, depth - 1);
    match if depth == 0 { random.below(4) } else { random.below(10) } {
        0 | 1 => Ere::Event(random.below(2) as u32),
        2 => Ere::Event(0),
        3 => Ere::Epsilon,
        4 | 5 => Ere::concat(inner(random), inner(random)),
        6 if random.below(2) == 0 => Ere::plus(inner(random)),
        6 => Ere::star(inner(random)),
        7 => Ere::or(inner(random), inner(random)),
        8 => Ere::and(inner(random), inner(random)),
        _ => Ere::complement(inner(random)),
    }
}

fn ere_matches(ere: &Ere, word: &[u32]) -> bool {
    let split = |from: usize| (from..=word.len()).map(|at| word.split_at(at));
    match ere {
        Ere::Empty => false,
        Ere::Epsilon => word.is_empty(),
        Ere::Event(event) => word == [*event],
        Ere::Concat(head, tail) => split(0).any(|(l, r)| ere_matches(head, l) && ere_matches(tail, r)),
        Ere::Star(inner) => {
            word.is_empty() || split(1).any(|(l, r)| ere_matches(inner, l) && ere_matches(ere, r))
        }
        // Of an inner expression that does not match nothing.
        Ere::Plus(inner) => {
            let again = Ere::star((**inner).clone());
            split(1).any(|(l, r)| ere_matches(inner, l) && ere_matches(&again, r))
        }
        Ere::Or(parts) => parts.iter().any(|part| ere_matches(part, word)),
        Ere::And(parts) => parts.iter().all(|part| ere_matches(part, word)),
        Ere::Not(inner) => !ere_matches(inner, word),
    }
}

#[test]
fn regular_expressions_match_by_definition() {
    let names = handled(&["match", "fail", "?"]);
    let continuations = words(2, 6);
    for seed in 0..4_000 {
        let mut random = Random::new(seed);
        let ere = random_ere(&mut random, 3);
        let automaton = ere.compile(2, Handled(&names)).unwrap();
        let word = random_word(&mut random, 2, 6);
        let can = continuations.iter().any(|more| ere_matches(&ere, &[&word[..], more].concat()));
        let expected = match (ere_matches(&ere, &word), can) {
            (true, _) => 0,
            (false, false) => 1,
            (false, true) => 2,
        };
        assert_eq!(after(&automaton, &word), Categories::only(expected), "seed {seed}: {ere:?} {word:?}");
    }
}

fn random_temporal(random: &mut Random, depth: u32, past: bool, future: bool) -> Temporal {
    if depth == 0 {
        return Temporal::Atom(random.below(2) as u32);
    }
    let inner = |random: &mut Random| random_temporal(random, depth - 1, past, future);
    match random.below(12) {
        0 => Temporal::Atom(random.below(2) as u32),
        1 => Temporal::not(inner(random)),
        2 => Temporal::and(inner(random), inner(random)),
        3 => Temporal::or(inner(random), inner(random)),
        4 => Temporal::implies(inner(random), inner(random)),
        5 | 6 if past => {
            // Operands of past operators speak of the past, or now and then of anything.
            let future = future && random.percent(40);
            let inner = |random: &mut Random| random_temporal(random, depth - 1, true, future);
            match random.below(7) {
                0 => Temporal::previous(inner(random)),
                1 => Temporal::once(inner(random)),
                2 => Temporal::historically(inner(random)),
                3 => Temporal::start(inner(random)),
                4 => Temporal::stop(inner(random)),
                5 => Temporal::interval(inner(random), inner(random)),
                _ => Temporal::since(inner(random), inner(random)),
            }
        }
        7 if future => Temporal::next(inner(random)),
        8 if future => Temporal::until(inner(random), inner(random)),
        9 if future => Temporal::always(inner(random)),
        10 if future => Temporal::eventually(inner(random)),
        11 if future => Temporal::weak_until(inner(random), inner(random)),
        _ => Temporal::Const(random.percent(50)),
    }
}

/// The truth of a formula at every position of a word whose last position is followed by position `back` again. Past
/// operators look back along the word only, so the loop must have been unrolled until the past no longer changes.
fn truth(formula: &Temporal, word: &[u32], alphabet: Alphabet, back: usize) -> Vec<bool> {
    let length = word.len();
    let of = |inner: &Temporal| truth(inner, word, alphabet, back);
    let after = |at: usize| if at + 1 == length { back } else { at + 1 };
    let fixpoint = |start: bool, step: &dyn Fn(usize, bool) -> bool| {
        let mut now = vec![start; length];
        for _ in 0..=length {
            for at in (0..length).rev() {
                now[at] = step(at, now[after(at)]);
            }
        }
        now
    };
    let mut along = Vec::new();
    match formula {
        Temporal::Const(value) => vec![*value; length],
        Temporal::Atom(atom) => word.iter().map(|letter| alphabet.holds(*letter, *atom)).collect(),
        Temporal::Not(inner) => of(inner).iter().map(|value| !value).collect(),
        Temporal::And(left, right) => of(left).iter().zip(of(right)).map(|(l, r)| *l && r).collect(),
        Temporal::Or(left, right) => of(left).iter().zip(of(right)).map(|(l, r)| *l || r).collect(),
        Temporal::Next(inner) => {
            let inner = of(inner);
            (0..length).map(|at| inner[after(at)]).collect()
        }
        Temporal::Until(left, right) => {
            let (left, right) = (of(left), of(right));
            fixpoint(false, &|at, next| right[at] || left[at] && next)
        }
        Temporal::Release(left, right) => {
            let (left, right) = (of(left), of(right));
            fixpoint(true, &|at, next| right[at] && (left[at] || next))
        }
        Temporal::Previous(inner) => {
            let inner = of(inner);
            (0..length).map(|at| at > 0 && inner[at - 1]).collect()
        }
        Temporal::Since(left, right) => {
            let (left, right) = (of(left), of(right));
            for at in 0..length {
                let before = at > 0 && along[at - 1];
                along.push(right[at] || left[at] && before);
            }
            along
        }
    }
}

#[test]
fn past_formulas_hold_by_definition() {
    let names = handled(&["validation", "violation"]);
    for seed in 0..20_000 {
        let mut random = Random::new(seed);
        let formula = random_temporal(&mut random, 4, true, false);
        let alphabet = if random.percent(50) { Alphabet::Events(3) } else { Alphabet::Masks(2) };
        let Ok((past, automaton)) = Past::compile(Rc::new(formula.clone()), alphabet, Handled(&names)) else {
            continue;
        };
        let word = random_word(&mut random, alphabet.letters(), 12);
        let expected = truth(&formula, &word, alphabet, 0);
        for length in 1..=word.len() {
            let reported = Categories::only(usize::from(!expected[length - 1]));
            assert_eq!(after(&past, &word[..length]), reported, "seed {seed}: {formula:?} {word:?} {length}");
            if let Some(automaton) = &automaton {
                assert_eq!(
                    after(automaton, &word[..length]),
                    reported,
                    "seed {seed}: {formula:?} {word:?} {length}"
                );
            }
        }
    }
}

/// The formula on `prefix` followed by each of many infinite continuations.
fn on_lassos(formula: &Temporal, alphabet: Alphabet, prefix: &[u32]) -> (bool, bool) {
    let (mut some, mut not_all) = (false, false);
    for stem in words(alphabet.letters(), 2) {
        for turn in words(alphabet.letters(), 3).into_iter().skip(1) {
            let unrolled: Word = prefix
                .iter()
                .chain(&stem)
                .copied()
                .chain(turn.iter().copied().cycle().take(turn.len() * 8))
                .collect();
            let holds = truth(formula, &unrolled, alphabet, unrolled.len() - turn.len())[0];
            some |= holds;
            not_all |= !holds;
        }
    }
    (some, not_all)
}

#[test]
fn ltl_has_three_verdicts_by_definition() {
    let names = handled(&["violation", "validation", "?"]);
    let alphabet = Alphabet::Events(2);
    let mut reported = [0; 3];
    for seed in 0..1_500 {
        let mut random = Random::new(seed);
        let formula = random_temporal(&mut random, 3, true, true);
        let automaton = ltl::compile(&formula, alphabet, Handled(&names)).unwrap();
        let prefix = random_word(&mut random, 2, 4);
        let verdict = |prefix: &[u32]| match on_lassos(&formula, alphabet, prefix) {
            (false, _) => 0,
            (true, false) => 1,
            (true, true) => 2,
        };
        // What is for ever is told once.
        let is_told = (1..prefix.len()).any(|end| verdict(&prefix[..end]) < 2);
        let verdict = verdict(&prefix);
        reported[verdict] += 1;
        assert_eq!(
            after(&automaton, &prefix),
            if is_told { Categories::NONE } else { Categories::only(verdict) },
            "seed {seed}: {formula:?} {prefix:?}"
        );
    }
    assert!(reported.iter().all(|count| *count > 100), "{reported:?}");
}

fn random_grammar(random: &mut Random) -> Grammar {
    let symbols = 1 + random.below(3) as u32;
    let mut rules = Vec::new();
    for symbol in 0..symbols {
        for _ in 0..1 + random.below(3) {
            let part = |random: &mut Random| match random.percent(55) {
                true => Symbol::Event(random.below(2) as u32),
                false => Symbol::Rule(random.below(symbols as usize) as u32),
            };
            rules.push((symbol, (0..random.below(4)).map(|_| part(random)).collect()));
        }
    }
    Grammar { rules, symbols }
}

/// By symbol and stretch of the word: whether the symbol derives exactly that stretch, and by symbol and position whether
/// it derives some sequence that begins with all the rest of the word.
fn derives(grammar: &Grammar, word: &[u32]) -> (bool, bool) {
    let (length, symbols) = (word.len(), grammar.symbols as usize);
    let mut exact = vec![vec![vec![false; length + 1]; length + 1]; symbols];
    let mut begins = vec![vec![false; length + 1]; symbols];
    let mut productive = vec![false; symbols];
    loop {
        let before = (exact.clone(), begins.clone(), productive.clone());
        for (symbol, right) in &grammar.rules {
            let symbol = *symbol as usize;
            let is_productive = |part: &Symbol| match part {
                Symbol::Event(_) => true,
                Symbol::Rule(rule) => before.2[*rule as usize],
            };
            productive[symbol] |= right.iter().all(is_productive);
            for from in 0..=length {
                let mut reached = vec![from];
                for (nth, part) in right.iter().enumerate() {
                    let rest_productive = right[nth..].iter().all(is_productive);
                    for &at in &reached {
                        let part_begins = match part {
                            Symbol::Event(event) => at == length || at + 1 == length && word[at] == *event,
                            Symbol::Rule(rule) => before.1[*rule as usize][at],
                        };
                        begins[symbol][from] |= part_begins && rest_productive;
                    }
                    reached = (0..=length)
                        .filter(|to| {
                            reached.iter().any(|at| match part {
                                Symbol::Event(event) => at + 1 == *to && word[*at] == *event,
                                Symbol::Rule(rule) => before.0[*rule as usize][*at][*to],
                            })
                        })
                        .collect();
                }
                for to in reached {
                    exact[symbol][from][to] = true;
                    begins[symbol][from] |= to == length;
                }
            }
        }
        if before == (exact.clone(), begins.clone(), productive.clone()) {
            return (exact[0][0][length], begins[0][0]);
        }
    }
}

#[test]
fn grammars_derive_by_definition() {
    let names = handled(&["match", "fail"]);
    for seed in 0..10_000 {
        let mut random = Random::new(seed);
        let grammar = random_grammar(&mut random);
        let cfg = Cfg::new(&grammar, 2, Handled(&names));
        let word = random_word(&mut random, 2, 8);
        let expected = match derives(&grammar, &word) {
            (true, _) => Categories::only(0),
            (false, false) => Categories::only(1),
            (false, true) => Categories::NONE,
        };
        assert_eq!(after(&cfg, &word), expected, "seed {seed}: {grammar:?} {word:?}");
    }
}

#[test]
fn brackets_a_million_deep_neither_slow_down_nor_overflow_the_stack() {
    let names = handled(&["match", "fail"]);
    let nested = vec![(0, vec![Symbol::Event(0), Symbol::Rule(0), Symbol::Event(1)]), (0, Vec::new())];
    let right = vec![(0, vec![Symbol::Event(0), Symbol::Rule(0)]), (0, Vec::new())];
    for (rules, letters) in [(nested, [0, 1]), (right, [0, 0])] {
        let cfg = Cfg::new(&Grammar { rules, symbols: 1 }, 2, Handled(&names));
        let mut state = cfg.start();
        for letter in letters {
            (0..300_000).for_each(|_| cfg.step(&mut state, letter));
        }
        assert_eq!(cfg.verdicts(&state), Categories::only(0));
    }
}

/// Fig. 2 of the paper: one property in five formalisms, over the eleven events of Fig. 3.
#[test]
fn five_formalisms_say_the_same() {
    let spec = r#"
        property UnsafeMapIterator(m, c, i) {
            event create_coll(m, c);
            event create_iter(c, i);
            event use_iter(i);
            event update_map(m);
            fsm: start [ create_coll -> s1 ]
                 s1 [ update_map -> s1, create_iter -> s2 ]
                 s2 [ use_iter -> s2, update_map -> s3 ]
                 s3 [ update_map -> s3, use_iter -> end ]
                 end []
            @fsm@end { report "fsm: {i}"; reset; }
            ere: create_coll update_map* create_iter use_iter* update_map+ use_iter
            @ere@match { report "ere: {i}"; reset; }
            cfg: S -> create_coll Updates create_iter Nexts update_map Updates use_iter,
                 Nexts -> Nexts use_iter | epsilon
                 Updates -> Updates update_map | epsilon
            @cfg@match { report "cfg: {i}"; reset; }
            ltl: <>(create_coll and <>(create_iter and <>(update_map and <> use_iter)))
            @validation { report "ltl: {i}"; reset; }
            ptltl: use_iter -> ((<*>(create_iter and (<*> create_coll))) -> ((not update_map) S create_iter))
            @violation { report "ptltl: {i}"; reset; }
        }"#;
    let compiled = compile(spec).unwrap_or_else(|problems| panic!("{problems:#?}"));
    // The formulas say something of objects that nothing has connected yet.
    let [warning] = compiled.warnings.as_slice() else { panic!("{:?}", compiled.warnings) };
    assert!(warning.message.contains("each `m`, `c` is combined with each `i`"), "{warning:?}");
    let mut watch = Watch::new(&compiled.properties[0], |_| None);
    let trace: [(u32, &[u64]); 11] = [
        (0, &[101, 201]),
        (0, &[101, 202]),
        (1, &[201, 301]),
        (1, &[201, 302]),
        (2, &[301]),
        (1, &[202, 303]),
        (3, &[101]),
        (2, &[302]),
        (0, &[102, 203]),
        (1, &[203, 304]),
        (2, &[304]),
    ];
    let mut reported = Vec::new();
    for (at, (event, values)) in trace.into_iter().enumerate() {
        watch
            .event(event, 0, values, &mut |verdict| {
                reported.push((at, verdict.body, verdict.values.to_vec()))
            })
            .unwrap();
    }
    let expected: Vec<_> = (0..5).map(|body| (7, body, vec![101, 201, 302])).collect();
    assert_eq!(reported, expected);
}

/// By hand: a past operator over a future one, whose truth is known only later.
#[test]
fn past_operators_may_speak_of_the_future() {
    let names = handled(&["violation", "validation", "?"]);
    let (a, b) = (|| Temporal::Atom(0), || Temporal::Atom(1));
    let reported = |formula: &Temporal, word: &[u32]| {
        let automaton = ltl::compile(formula, Alphabet::Events(2), Handled(&names)).unwrap();
        after(&automaton, word).indices().map(|bit| names[bit].clone()).collect::<Vec<_>>()
    };
    // At the second event, the first was followed by b.
    let formula = Temporal::next(Temporal::previous(Temporal::next(b())));
    assert_eq!(reported(&formula, &[0]), ["?"]);
    assert_eq!(reported(&formula, &[0, 1]), ["validation"]);
    assert_eq!(reported(&formula, &[0, 0]), ["violation"]);
    // Whenever b comes, all so far were a or were followed by two b.
    let two = Temporal::and(Temporal::next(b()), Temporal::next(Temporal::next(b())));
    let formula = Temporal::always(Temporal::implies(b(), Temporal::historically(Temporal::or(a(), two))));
    assert_eq!(reported(&formula, &[0, 1, 1]), ["?"]);
    assert_eq!(reported(&formula, &[0, 1, 0]), ["violation"]);
}
