//! The nondeterministic automaton of an LTL formula, by obligations.
//!
//! A state is a set of formulas that must hold from the next event on. Reading a letter, each obligation is taken apart:
//! `a U b` holds if `b` does, or if `a` does and `a U b` is still owed afterwards (the until is *postponed*). A run is
//! accepting if no until is postponed for ever. States are paired with the memory of the past formulas, which decides
//! those atoms. Only states from which an accepting run exists, found by strongly connected components, are *live*.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::ltl::{FIRST_PAST, STATE_LIMIT, too_big};
use super::ptltl::Past;
use super::temporal::{Alphabet, Temporal};
use super::{CompileError, Letter};

/// Obligations: a set of subformulas, as bits.
type Owed = u128;
/// Live sets of obligations, by number.
pub(super) type Sets = BTreeSet<u32>;

/// The live part of the automaton.
pub(super) struct Tableau {
    /// By memory of the past and set: the live successors for each letter.
    edges: FxHashMap<(u64, u32), Vec<Sets>>,
    start: Sets,
    /// What each set owes.
    owed: Vec<Owed>,
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
    ids: FxHashMap<Owed, u32>,
    /// For a letter and the truth of the past formulas: the ways of each part.
    ways: FxHashMap<(Letter, Vec<bool>), Vec<Vec<Way>>>,
}

type Node = (u64, Owed);

impl Tableau {
    pub(super) fn new(formula: &Temporal, alphabet: Alphabet, past: &Past) -> Result<Tableau, CompileError> {
        let formula = normal_form(formula, true);
        let (parts, numbers) = (Vec::new(), FxHashMap::default());
        let (ids, ways) = (FxHashMap::default(), FxHashMap::default());
        let mut builder = Builder { alphabet, past, parts, untils: 0, numbers, ids, ways };
        let first: Node = (0, 1 << builder.part(&formula)?);
        let mut numbers = FxHashMap::from_iter([(first, 0usize)]);
        let mut nodes = vec![first];
        // Per node, per letter: the successors and what was postponed on the way.
        let mut edges: Vec<Vec<Vec<(usize, u64)>>> = Vec::new();
        while let Some(&(memory, owed)) = nodes.get(edges.len()) {
            let mut by_letter = Vec::new();
            for letter in 0..alphabet.letters() {
                let (after, ways) = builder.ways(memory, owed, letter);
                let mut number = |Way { owed, postponed }: Way| {
                    let number = *numbers.entry((after, owed)).or_insert_with(|| {
                        nodes.push((after, owed));
                        nodes.len() - 1
                    });
                    (number, postponed)
                };
                by_letter.push(ways.into_iter().map(&mut number).collect());
            }
            edges.push(by_letter);
            if nodes.len() > STATE_LIMIT {
                return Err(too_big());
            }
        }
        let flat: Vec<Vec<(usize, u64)>> = edges.iter().map(|letters| letters.concat()).collect();
        let live = live_nodes(&flat, builder.untils);
        let sets: Vec<u32> = nodes.iter().map(|(_, owed)| builder.id(*owed)).collect();
        let only_live = |letters: &Vec<Vec<(usize, u64)>>| -> Vec<Sets> {
            let kept = |found: &[(usize, u64)]| -> Sets {
                found.iter().filter(|to| live[to.0]).map(|to| sets[to.0]).collect()
            };
            letters.iter().map(|found| kept(found)).collect()
        };
        let start = if live[0] { Sets::from([sets[0]]) } else { Sets::new() };
        let keys = nodes.iter().zip(&sets).map(|((memory, _), set)| (*memory, *set));
        let edges = keys.zip(&edges).map(|(key, letters)| (key, only_live(letters))).collect();
        let mut owed = vec![0; builder.ids.len()];
        builder.ids.iter().for_each(|(set, id)| owed[*id as usize] = *set);
        Ok(Tableau { edges, start, owed })
    }

    pub(super) fn start(&self) -> Sets {
        self.start.clone()
    }

    /// The live sets after a letter, read with this memory of the past. A set that owes all that another does and more
    /// adds nothing: whatever satisfies it satisfies the other.
    pub(super) fn after(&self, memory: u64, sets: &Sets, letter: Letter) -> Sets {
        let successors =
            |set: &u32| self.edges.get(&(memory, *set)).and_then(|letters| letters.get(letter as usize));
        let mut all: Sets = sets.iter().filter_map(successors).flatten().copied().collect();
        let owes = |set: u32| self.owed[set as usize];
        let owed: Vec<Owed> = all.iter().map(|set| owes(*set)).collect();
        all.retain(|set| !owed.iter().any(|other| *other != owes(*set) && other & !owes(*set) == 0));
        all
    }
}

impl Builder<'_> {
    fn id(&mut self, owed: Owed) -> u32 {
        let fresh = self.ids.len() as u32;
        *self.ids.entry(owed).or_insert(fresh)
    }

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
    fn ways(&mut self, memory: u64, owed: Owed, letter: Letter) -> (u64, Vec<Way>) {
        let (after, past) = self.past.read_roots(memory, letter);
        let key = (letter, past);
        if !self.ways.contains_key(&key) {
            let ways = self.ways_of_parts(letter, &key.1);
            self.ways.insert(key.clone(), ways);
        }
        let of_parts = self.ways.get(&key).map_or(&[][..], Vec::as_slice);
        let owed_parts = of_parts.iter().enumerate().filter(|(part, _)| owed >> part & 1 == 1);
        (after, owed_parts.fold(vec![DONE], |ways, (_, more)| combine(&ways, more)))
    }

    fn ways_of_parts(&self, letter: Letter, past: &[bool]) -> Vec<Vec<Way>> {
        let holds = |atom: u32| match atom.checked_sub(FIRST_PAST) {
            Some(index) => past.get(index as usize).copied().unwrap_or(false),
            None => self.alphabet.holds(letter, atom),
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
