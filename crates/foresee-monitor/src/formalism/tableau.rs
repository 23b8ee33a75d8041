//! The nondeterministic automaton of an LTL formula, by obligations.
//!
//! A state is a set of formulas that must hold from the next event on. Reading a letter, each obligation is taken apart:
//! `a U b` holds if `b` does, or if `a` does and `a U b` is still owed afterwards (the until is *postponed*). A run is
//! accepting if no until is postponed for ever. States are paired with the memory of the past formulas, which decides
//! those atoms; guessed atoms may be either at each letter. Only states from which an accepting run exists, found by strongly connected components, are *live*.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::ptltl::Past;
use super::temporal::{Alphabet, FIRST_GUESS, FIRST_PAST, Temporal};
use super::{CompileError, Letter};

/// How many states any of the automata of a formula may have.
pub const STATE_LIMIT: usize = 4096;

pub(super) fn too_big() -> CompileError {
    CompileError::TooBig { what: "this formula", limit: STATE_LIMIT, culprit: "temporal operators" }
}

/// Obligations: a set of subformulas, as bits.
type Owed = u128;
/// Live states, by number.
pub(super) type Nodes = BTreeSet<u32>;

/// The live part of the automaton.
pub(super) struct Tableau {
    /// The live successors of each state for each letter.
    edges: Vec<Vec<Nodes>>,
    start: Nodes,
    nodes: Vec<Node>,
}

/// One way to meet all obligations at a letter: what is owed afterwards, and which untils were postponed.
#[derive(Clone, Copy)]
struct Way {
    owed: Owed,
    postponed: u64,
}

const DONE: Way = Way { owed: 0, postponed: 0 };

/// A subformula; operands are numbers of smaller ones.
enum Part {
    Const(bool),
    Literal(u32, bool),
    And(usize, usize),
    Or(usize, usize),
    Next(usize),
    /// With the bit of its postponement.
    Until(usize, usize, u64),
    Release(usize, usize),
}

struct Builder<'a> {
    alphabet: Alphabet,
    past: &'a Past,
    parts: Vec<Part>,
    untils: u32,
    numbers: FxHashMap<Temporal, usize>,
    /// For a letter, a guess and the truth of the past formulas: the ways of each part.
    ways: FxHashMap<(Letter, u32, Vec<bool>), Vec<Vec<Way>>>,
}

/// The memory of the past, and what is owed.
type Node = (u64, Owed);

impl Tableau {
    /// The automaton of a formula with so many guessed atoms.
    pub(super) fn new(
        formula: &Temporal,
        alphabet: Alphabet,
        past: &Past,
        guesses: u32,
    ) -> Result<Tableau, CompileError> {
        let formula = normal_form(formula, true);
        let (parts, numbers, ways) = (Vec::new(), FxHashMap::default(), FxHashMap::default());
        let mut builder = Builder { alphabet, past, parts, untils: 0, numbers, ways };
        let first: Node = (0, 1 << builder.part(&formula)?);
        let mut numbers = FxHashMap::from_iter([(first, 0usize)]);
        let mut nodes = vec![first];
        // Per node, per letter: the successors and what was postponed on the way.
        let mut edges: Vec<Vec<Vec<(usize, u64)>>> = Vec::new();
        while let Some(&(memory, owed)) = nodes.get(edges.len()) {
            let mut by_letter = Vec::new();
            for letter in 0..alphabet.letters() {
                let mut successors = Vec::new();
                for guess in 0..1 << guesses {
                    let (after, ways) = builder.ways(memory, owed, letter, guess);
                    successors.extend(ways.into_iter().map(|Way { owed, postponed }| {
                        let number = *numbers.entry((after, owed)).or_insert_with(|| {
                            nodes.push((after, owed));
                            nodes.len() - 1
                        });
                        (number, postponed)
                    }));
                }
                by_letter.push(successors);
            }
            edges.push(by_letter);
            if nodes.len() > STATE_LIMIT {
                return Err(too_big());
            }
        }
        let flat: Vec<Vec<(usize, u64)>> = edges.iter().map(|letters| letters.concat()).collect();
        let live = live_nodes(&flat, builder.untils);
        let kept = |found: &Vec<(usize, u64)>| -> Nodes {
            found.iter().filter(|to| live[to.0]).map(|to| to.0 as u32).collect()
        };
        let start = if live[0] { Nodes::from([0]) } else { Nodes::new() };
        let edges = edges.iter().map(|letters| letters.iter().map(kept).collect()).collect();
        Ok(Tableau { edges, start, nodes })
    }

    pub(super) fn start(&self) -> Nodes {
        self.start.clone()
    }

    /// The live states after a letter. One that remembers the same as another and owes all that it does and more adds nothing:
    /// whatever satisfies it satisfies the other.
    pub(super) fn after(&self, nodes: &Nodes, letter: Letter) -> Nodes {
        let mut all: Nodes =
            nodes.iter().flat_map(|node| &self.edges[*node as usize][letter as usize]).copied().collect();
        let found: Vec<Node> = all.iter().map(|node| self.nodes[*node as usize]).collect();
        all.retain(|node| {
            let (memory, owed) = self.nodes[*node as usize];
            !found.iter().any(|(same, less)| *same == memory && *less != owed && less & !owed == 0)
        });
        all
    }
}

impl Builder<'_> {
    /// The number of a subformula in normal form; its operands have smaller ones.
    fn part(&mut self, formula: &Temporal) -> Result<usize, CompileError> {
        if let Some(known) = self.numbers.get(formula) {
            return Ok(*known);
        }
        let part = match formula {
            Temporal::Const(value) => Part::Const(*value),
            Temporal::Atom(atom) => Part::Literal(*atom, true),
            Temporal::Not(inner) => match **inner {
                Temporal::Atom(atom) => Part::Literal(atom, false),
                _ => Part::Const(false),
            },
            Temporal::And(left, right) => Part::And(self.part(left)?, self.part(right)?),
            Temporal::Or(left, right) => Part::Or(self.part(left)?, self.part(right)?),
            Temporal::Next(inner) => Part::Next(self.part(inner)?),
            Temporal::Until(left, right) => {
                let (left, right) = (self.part(left)?, self.part(right)?);
                self.untils += 1;
                Part::Until(left, right, 1u64.checked_shl(self.untils - 1).ok_or(too_big())?)
            }
            Temporal::Release(left, right) => Part::Release(self.part(left)?, self.part(right)?),
            // Past formulas have become atoms.
            Temporal::Previous(_) | Temporal::Since(..) => Part::Const(false),
        };
        if self.parts.len() >= Owed::BITS as usize {
            return Err(too_big());
        }
        self.parts.push(part);
        self.numbers.insert(formula.clone(), self.parts.len() - 1);
        Ok(self.parts.len() - 1)
    }

    /// What the past remembers after this letter, and the ways to meet what is owed at it.
    fn ways(&mut self, memory: u64, owed: Owed, letter: Letter, guess: u32) -> (u64, Vec<Way>) {
        let (after, past) = self.past.read_roots(memory, letter, guess);
        let key = (letter, guess, past);
        if !self.ways.contains_key(&key) {
            let ways = self.ways_of_parts(letter, guess, &key.2);
            self.ways.insert(key.clone(), ways);
        }
        let of_parts = self.ways.get(&key).map_or(&[][..], Vec::as_slice);
        let owed_parts = of_parts.iter().enumerate().filter(|(part, _)| owed >> part & 1 == 1);
        (after, owed_parts.fold(vec![DONE], |ways, (_, more)| combine(&ways, more)))
    }

    fn ways_of_parts(&self, letter: Letter, guess: u32, past: &[bool]) -> Vec<Vec<Way>> {
        let holds = |atom: u32| match (atom.checked_sub(FIRST_GUESS), atom.checked_sub(FIRST_PAST)) {
            (Some(bit), _) => guess >> bit & 1 == 1,
            (None, Some(index)) => past.get(index as usize).copied().unwrap_or(false),
            (None, None) => self.alphabet.holds(letter, atom),
        };
        let truth = |value: bool| if value { vec![DONE] } else { Vec::new() };
        let later = |part: usize, postponed| [Way { owed: 1 << part, postponed }];
        let mut ways: Vec<Vec<Way>> = Vec::with_capacity(self.parts.len());
        for (number, part) in self.parts.iter().enumerate() {
            ways.push(match *part {
                Part::Const(value) => truth(value),
                Part::Literal(atom, positive) => truth(holds(atom) == positive),
                Part::And(left, right) => combine(&ways[left], &ways[right]),
                Part::Or(left, right) => minimal(ways[left].iter().chain(&ways[right]).copied()),
                Part::Next(inner) => match self.parts[inner] {
                    Part::Const(value) => truth(value),
                    _ => later(inner, 0).to_vec(),
                },
                Part::Until(left, right, bit) => {
                    let postponed = combine(&ways[left], &later(number, bit));
                    minimal(ways[right].iter().copied().chain(postponed))
                }
                Part::Release(left, right) => {
                    let kept = combine(&ways[right], &later(number, 0));
                    minimal(combine(&ways[left], &ways[right]).into_iter().chain(kept))
                }
            });
        }
        ways
    }
}

fn combine(left: &[Way], right: &[Way]) -> Vec<Way> {
    let both = |l: &Way, r: &Way| Way { owed: l.owed | r.owed, postponed: l.postponed | r.postponed };
    minimal(left.iter().flat_map(|l| right.iter().map(move |r| both(l, r))))
}

/// Without the ways that owe and postpone at least what another does.
fn minimal(ways: impl Iterator<Item = Way>) -> Vec<Way> {
    let beats = |a: &Way, b: &Way| a.postponed & !b.postponed == 0 && a.owed & !b.owed == 0;
    let mut kept: Vec<Way> = Vec::new();
    for way in ways {
        if !kept.iter().any(|other| beats(other, &way)) {
            kept.retain(|other| !beats(&way, other));
            kept.push(way);
        }
    }
    kept
}

/// Negations pushed down to the atoms.
fn normal_form(formula: &Temporal, positive: bool) -> Temporal {
    let go = |inner: &Temporal| normal_form(inner, positive);
    match (formula, positive) {
        (Temporal::Const(value), _) => Temporal::Const(*value == positive),
        (Temporal::Not(inner), _) => normal_form(inner, !positive),
        (Temporal::And(left, right), true) | (Temporal::Or(left, right), false) => {
            match (go(left), go(right)) {
                (Temporal::Const(false), _) | (_, Temporal::Const(false)) => Temporal::Const(false),
                (Temporal::Const(true), other) | (other, Temporal::Const(true)) => other,
                (left, right) => Temporal::and(left, right),
            }
        }
        (Temporal::Or(left, right), true) | (Temporal::And(left, right), false) => {
            match (go(left), go(right)) {
                (Temporal::Const(true), _) | (_, Temporal::Const(true)) => Temporal::Const(true),
                (Temporal::Const(false), other) | (other, Temporal::Const(false)) => other,
                (left, right) => Temporal::or(left, right),
            }
        }
        (Temporal::Next(inner), _) => Temporal::next(go(inner)),
        (Temporal::Until(left, right), true) | (Temporal::Release(left, right), false) => {
            Temporal::until(go(left), go(right))
        }
        (Temporal::Release(left, right), true) | (Temporal::Until(left, right), false) => {
            Temporal::release(go(left), go(right))
        }
        (other, true) => other.clone(),
        (other, false) => Temporal::not(other.clone()),
    }
}

/// The nodes from which a run exists on which each until is, again and again, not postponed.
fn live_nodes(edges: &[Vec<(usize, u64)>], untils: u32) -> Vec<bool> {
    let all = 1u64.checked_shl(untils).map_or(u64::MAX, |bit| bit - 1);
    let component = components(edges);
    let count = component.iter().max().map_or(0, |most| most + 1);
    let (mut met, mut turns) = (vec![0u64; count], vec![false; count]);
    for (from, successors) in edges.iter().enumerate() {
        for (_, postponed) in successors.iter().filter(|to| component[to.0] == component[from]) {
            met[component[from]] |= all & !postponed;
            turns[component[from]] = true;
        }
    }
    let accepting = |node: usize| turns[component[node]] && met[component[node]] == all;
    let mut live: Vec<bool> = (0..edges.len()).map(accepting).collect();
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for node in (0..edges.len()).rev() {
            if !live[node] && edges[node].iter().any(|to| live[to.0]) {
                live[node] = true;
                changed = true;
            }
        }
    }
    live
}

/// Strongly connected components (Kosaraju's two walks, with explicit stacks): a component number for each node.
fn components(edges: &[Vec<(usize, u64)>]) -> Vec<usize> {
    let mut back = vec![Vec::new(); edges.len()];
    for (from, successors) in edges.iter().enumerate() {
        successors.iter().for_each(|to| back[to.0].push(from));
    }
    let mut finished = Vec::new();
    let mut seen = vec![false; edges.len()];
    for root in 0..edges.len() {
        let mut stack = vec![(root, 0)];
        if std::mem::replace(&mut seen[root], true) {
            continue;
        }
        while let Some((node, nth)) = stack.pop() {
            match edges[node].get(nth) {
                Some(&(to, _)) => {
                    stack.push((node, nth + 1));
                    if !std::mem::replace(&mut seen[to], true) {
                        stack.push((to, 0));
                    }
                }
                None => finished.push(node),
            }
        }
    }
    let mut component = vec![usize::MAX; edges.len()];
    let mut count = 0;
    for root in finished.into_iter().rev() {
        if component[root] != usize::MAX {
            continue;
        }
        let mut stack = vec![root];
        component[root] = count;
        while let Some(node) = stack.pop() {
            for &from in &back[node] {
                if component[from] == usize::MAX {
                    component[from] = count;
                    stack.push(from);
                }
            }
        }
        count += 1;
    }
    component
}
