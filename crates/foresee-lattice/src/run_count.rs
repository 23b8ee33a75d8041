//! How many runs there are for the property: those that differ in what it looks at.
//!
//! Steps that only take a turn make many paths through the lattice that are one run for the property. So words are counted, the
//! sequences of the property's own steps: for each word that can begin a run, all cuts that it can lead to are known (the usual
//! construction of a deterministic automaton), and words with the same cuts and the same state of the machine go on together.
//!
//! **Cost.** The cuts of a word are closed under silent steps, which can be many: beyond a limit there is no answer.

use foresee_monitor::formalism::Categories;
use rustc_hash::{FxHashMap, FxHashSet};

use super::causality::{Causality, SILENT, Step};
use super::machine::Machine;

/// How many cuts are looked at, over all words.
const MOST: usize = 1 << 18;

/// How many steps each thread has done.
type Cut = Box<[u32]>;

/// The cuts of some words, in order.
type Cuts = Vec<Cut>;

/// The words that lead to the same cuts, by the state of the machine after them.
type Level<S> = FxHashMap<Cuts, Vec<(S, Count)>>;

/// How many runs there are, and on how many of them nothing was reported; `u64::MAX` stands for that many or more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// All.
    pub all: u64,
    /// Those on which nothing was reported.
    pub clean: u64,
}

impl Count {
    /// Of the one empty run.
    const ONE: Count = Count { all: 1, clean: 1 };

    /// After a step that had something reported, or not.
    fn after(self, reported: bool) -> Count {
        Count { clean: if reported { 0 } else { self.clean }, ..self }
    }

    /// With those that come another way.
    fn and(self, other: Count) -> Count {
        Count { all: self.all.saturating_add(other.all), clean: self.clean.saturating_add(other.clean) }
    }
}

/// How many complete runs there are for the property, and on how many of them nothing is reported; `None` if that takes too long.
pub fn count<M: Machine>(causality: &Causality, machine: &M) -> Option<Count> {
    let mut looked_at = 0;
    let empty: Cut = vec![0; causality.threads()].into();
    let first = closed(causality, [empty].into_iter().collect(), &mut looked_at)?;
    let mut level: Level<M::State> = FxHashMap::default();
    level.insert(first, vec![(machine.start(), Count::ONE)]);
    for _ in 0..letters(causality) {
        let mut next: Level<M::State> = FxHashMap::default();
        for (cuts, words) in &level {
            for ((_, letter), reached) in by_step(causality, cuts) {
                let reached = closed(causality, reached, &mut looked_at)?;
                let to = next.entry(reached).or_default();
                for (state, count) in words {
                    let (state, reported) = machine.step(state, letter);
                    let count = count.after(reported != Categories::NONE);
                    match to.iter_mut().find(|(known, _)| *known == state) {
                        Some((_, known)) => *known = known.and(count),
                        None => to.push((state, count)),
                    }
                }
            }
        }
        level = next;
    }
    level.into_values().flatten().map(|(_, count)| count).reduce(Count::and)
}

/// How many steps the property looks at.
fn letters(causality: &Causality) -> usize {
    (0..causality.threads() as u32)
        .flat_map(|thread| (0..causality.count(thread)).filter_map(move |nth| causality.step(thread, nth)))
        .filter(|step| step.letter != SILENT)
        .count()
}

/// The steps that can be next in a cut, and the cuts after them.
fn after<'a>(causality: &'a Causality, cut: &'a Cut) -> impl Iterator<Item = (&'a Step, Cut)> + 'a {
    (0..causality.threads() as u32).filter_map(move |thread| {
        let step = causality.next(thread, |of| cut[of as usize])?;
        let mut after = cut.clone();
        after[thread as usize] += 1;
        Some((step, after))
    })
}

/// The cuts that each of the property's steps leads to, by its event and letter.
fn by_step(causality: &Causality, cuts: &[Cut]) -> FxHashMap<(u32, u32), FxHashSet<Cut>> {
    let mut reached: FxHashMap<(u32, u32), FxHashSet<Cut>> = FxHashMap::default();
    for (step, cut) in cuts.iter().flat_map(|cut| after(causality, cut)) {
        if step.letter != SILENT {
            reached.entry((step.event, step.letter)).or_default().insert(cut);
        }
    }
    reached
}

/// All cuts that silent steps lead to.
fn closed(causality: &Causality, mut cuts: FxHashSet<Cut>, looked_at: &mut usize) -> Option<Cuts> {
    let mut new: Vec<Cut> = cuts.iter().cloned().collect();
    while let Some(cut) = new.pop() {
        *looked_at += 1;
        if *looked_at > MOST {
            return None;
        }
        for (step, cut) in after(causality, &cut) {
            if step.letter == SILENT && cuts.insert(cut.clone()) {
                new.push(cut);
            }
        }
    }
    let mut cuts: Cuts = cuts.into_iter().collect();
    cuts.sort_unstable();
    Some(cuts)
}

#[cfg(test)]
mod tests {
    use foresee_monitor::formalism::automaton::Automaton;
    use foresee_oracle::{Config, for_each_seed, random_execution};
    use foresee_trace::EventId;

    use super::super::model_name::ModelName;
    use super::*;

    /// All sequences of the property's steps, by walking every path.
    fn words(causality: &Causality, cut: &Cut, word: &mut Vec<u32>, found: &mut FxHashSet<Vec<u32>>) {
        found.insert(word.clone());
        for (step, cut) in after(causality, cut) {
            let is_letter = step.letter != SILENT;
            if is_letter {
                word.push(step.event);
            }
            words(causality, &cut, word, found);
            if is_letter {
                word.pop();
            }
        }
    }

    #[test]
    fn words_are_counted_not_paths() {
        // Tells something when it reads letter 1 after letter 0.
        let (nothing, something) = (Categories::NONE, Categories::only(0));
        let automaton =
            Automaton::new(2, &[vec![1, 0], vec![1, 2], vec![1, 0]], vec![nothing, nothing, something]);
        let of_silent = std::cell::Cell::new(0);
        for_each_seed(300, |seed| {
            let execution = random_execution(seed, &Config { events: 4..=9, ..Config::default() });
            let letter = |id: EventId| (id.0 % 3 != 2).then_some(id.0 % 3);
            let (causality, _) = ModelName::Weak.model().read(&execution, &letter, false);
            let empty: Cut = vec![0; causality.threads()].into();
            let mut found = FxHashSet::default();
            words(&causality, &empty, &mut Vec::new(), &mut found);
            found.retain(|word| word.len() == letters(&causality));
            of_silent.set(of_silent.get() + usize::from(causality.len() > letters(&causality)));
            let clean = found.iter().filter(|word| {
                let letters: Vec<u32> = word.iter().map(|event| event % 3).collect();
                !letters.windows(2).any(|two| two == [0, 1])
            });
            let expected = Count { all: found.len() as u64, clean: clean.count() as u64 };
            assert_eq!(count(&causality, &automaton).unwrap_or_default(), expected);
        });
        let one_seed = std::env::var_os("FORESEE_TEST_SEED").is_some();
        assert!(one_seed || of_silent.get() > 20, "silent steps were met {} times", of_silent.get());
    }
}
