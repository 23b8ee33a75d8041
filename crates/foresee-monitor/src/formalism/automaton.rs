//! Deterministic finite automata: what most formalisms compile to.
//!
//! A step is one table lookup. [`Automaton::explore`] builds one from anything with states and steps, breadth first, up
//! to a limit; [`Automaton::minimised`] merges states that no sequence of events can tell apart (Moore's partition
//! refinement, at most states² × letters, in practice a few rounds).

use std::hash::Hash;

use rustc_hash::FxHashMap;

use super::{Categories, Letter, Monitor, Outlook};

/// How many entries a table may have: states times letters.
pub const TABLE_LIMIT: usize = 1 << 20;

/// A deterministic finite automaton with verdicts on its states; state 0 is the start, unless it is [primed](Self::primed).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Automaton {
    letters: u32,
    start: u32,
    next: Vec<u32>,
    verdicts: Vec<Categories>,
}

impl Automaton {
    /// The automaton with these rows, one per state, each with the successor for every letter.
    pub fn new(letters: u32, rows: &[Vec<u32>], verdicts: Vec<Categories>) -> Automaton {
        Automaton { letters, start: 0, next: rows.iter().flatten().copied().collect(), verdicts }
    }

    /// The automaton of all states reachable from `start`, or nothing if there are more than `limit`, or
    /// the table would be too big.
    pub fn explore<S: Clone + Eq + Hash>(
        letters: u32,
        limit: usize,
        start: S,
        mut step: impl FnMut(&S, Letter) -> S,
        mut verdicts: impl FnMut(&S) -> Categories,
    ) -> Option<Automaton> {
        let mut ids = FxHashMap::from_iter([(start.clone(), 0u32)]);
        let mut states = vec![start];
        let mut next = Vec::new();
        let mut done = 0;
        while let Some(state) = states.get(done).cloned() {
            for letter in 0..letters {
                let to = step(&state, letter);
                let id = *ids.entry(to).or_insert_with_key(|to| {
                    states.push(to.clone());
                    states.len() as u32 - 1
                });
                next.push(id);
            }
            if states.len() > limit || next.len() > TABLE_LIMIT {
                return None;
            }
            done += 1;
        }
        Some(Automaton { letters, start: 0, next, verdicts: states.iter().map(&mut verdicts).collect() })
    }

    /// How many letters it reads.
    pub fn letters(&self) -> u32 {
        self.letters
    }

    /// How many states it has.
    pub fn states(&self) -> usize {
        self.verdicts.len()
    }

    /// The state after `letter`.
    #[inline]
    pub fn next(&self, state: u32, letter: Letter) -> u32 {
        self.next[state as usize * self.letters as usize + letter as usize]
    }

    /// The verdicts of this state.
    #[inline]
    pub fn verdicts_of(&self, state: u32) -> Categories {
        self.verdicts[state as usize]
    }

    /// The same automaton with the fewest states.
    #[must_use]
    pub fn minimised(&self) -> Automaton {
        let mut class = renumber(self.verdicts.iter());
        let mut count = 0;
        loop {
            let row = |state: u32| (0..self.letters).map(move |letter| self.next(state, letter));
            let refined = {
                let signature = |state: u32| {
                    (class[state as usize], row(state).map(|to| class[to as usize]).collect::<Vec<_>>())
                };
                let signatures: Vec<_> = (0..self.states() as u32).map(signature).collect();
                renumber(signatures.iter())
            };
            let classes = refined.iter().max().map_or(0, |most| most + 1);
            class = refined;
            if classes == count {
                break;
            }
            count = classes;
        }
        let mut next = vec![0; count as usize * self.letters as usize];
        let mut verdicts = vec![Categories::NONE; count as usize];
        for state in 0..self.states() as u32 {
            let of = class[state as usize];
            verdicts[of as usize] = self.verdicts_of(state);
            for letter in 0..self.letters {
                next[(of * self.letters + letter) as usize] = class[self.next(state, letter) as usize];
            }
        }
        Automaton { letters: self.letters, start: class[self.start as usize], next, verdicts }
    }

    /// Whether from each state some state with a verdict that `wanted` accepts can be reached (in zero or more steps).
    pub fn can_reach(&self, wanted: impl Fn(u32) -> bool) -> Vec<bool> {
        let mut can: Vec<bool> = (0..self.states() as u32).map(wanted).collect();
        loop {
            let mut changed = false;
            for state in 0..self.states() {
                let reaches = |letter| can[self.next(state as u32, letter) as usize];
                if !can[state] && (0..self.letters).any(reaches) {
                    can[state] = true;
                    changed = true;
                }
            }
            if !changed {
                return can;
            }
        }
    }

    /// The same automaton after it has read a first letter: the initial state of the program's variables.
    #[must_use]
    pub fn primed(mut self, letter: Letter) -> Automaton {
        self.start = self.next(self.start, letter);
        self
    }

    /// Sets the verdicts of every state anew.
    #[must_use]
    pub fn with_verdicts(mut self, verdicts_of: impl Fn(u32) -> Categories) -> Automaton {
        for (state, verdicts) in self.verdicts.iter_mut().enumerate() {
            *verdicts = verdicts_of(state as u32);
        }
        self
    }
}

/// Numbers the distinct items from 0 in order of appearance, so that the first item gets 0.
fn renumber<T: Eq + Hash>(items: impl Iterator<Item = T>) -> Vec<u32> {
    let mut numbers = FxHashMap::default();
    items
        .map(|item| {
            let fresh = numbers.len() as u32;
            *numbers.entry(item).or_insert(fresh)
        })
        .collect()
}

impl Monitor for Automaton {
    type State = u32;

    #[inline]
    fn start(&self) -> u32 {
        self.start
    }

    #[inline]
    fn step(&self, state: &mut u32, letter: Letter) {
        *state = self.next(*state, letter);
    }

    #[inline]
    fn verdicts(&self, state: &u32) -> Categories {
        self.verdicts_of(*state)
    }

    fn outlook(&self) -> Outlook {
        let edge = |state, letter| {
            let to = self.next(state, letter);
            (letter, to, self.verdicts_of(to))
        };
        let edges = |state| (0..self.letters).map(|letter| edge(state, letter)).collect();
        Outlook { start: self.start, edges: (0..self.states() as u32).map(edges).collect() }
    }

    #[inline]
    fn place(&self, state: &u32) -> u32 {
        *state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exploring_counts_modulo_and_minimising_merges() {
        let told = |state: &u32| Categories(u64::from(state.is_multiple_of(2)));
        let six = Automaton::explore(1, 10, 0u32, |state, _| (state + 1) % 6, told).unwrap();
        assert_eq!(six.states(), 6);
        let two = six.minimised();
        assert_eq!((two.states(), two.next(0, 0), two.next(1, 0)), (2, 1, 0));
        assert_eq!(Automaton::explore(1, 5, 0u32, |state, _| (state + 1) % 6, told), None);
    }
}
