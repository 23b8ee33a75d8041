//! All bindings of a property's parameters, as events come.
//!
//! A binding becomes known with the first event that happens to it; two that share a value and agree make a third, and so on. (Those are the
//! bindings that are looked at [offline](crate::predict), too.) A new one begins with what has happened to its parts before,
//! so the events of each binding are kept for those that are still to come.
//!
//! **Memory.** When there are too many explorations, or they take too much, those go that nothing happened to for the longest time. A binding that
//! is gone must not come back: its exploration would begin in the middle, and report runs that there are not. Nor must one that it is
//! part of. So what is gone is remembered, in a set of fixed size that sometimes takes a new binding for one that is gone.
//! What is not looked at is [counted](Explorations::left_out).

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::exploration::Exploration;
use super::limits::Limits;
use super::records::Record;
use super::stage::Stage;
use crate::binding::Binding;

/// One event makes at most so many new bindings.
const NEW_AT_ONCE: usize = 1 << 10;

/// The levels of an exploration may take so many bytes, however many explorations there are.
const LEAST: usize = 1 << 15;

/// The explorations of a property.
pub(super) struct Explorations<'a> {
    stage: &'a Stage<'a>,
    limits: Limits,
    by_binding: BTreeMap<Arc<Binding>, Exploration<'a>>,
    /// The bindings with a value of a parameter.
    with: FxHashMap<(u8, u64), FxHashSet<Arc<Binding>>>,
    gone: Gone,
    left_out: u64,
    /// The levels of one exploration may take so many bytes.
    share: usize,
    /// What explorations that are gone have looked at.
    past_cuts: u64,
}

impl<'a> Explorations<'a> {
    pub(super) fn new(stage: &'a Stage<'a>, limits: Limits) -> Explorations<'a> {
        let mut explorations = Explorations {
            stage,
            limits,
            by_binding: BTreeMap::new(),
            with: FxHashMap::default(),
            gone: Gone::new(limits.memory / 64),
            left_out: 0,
            share: limits.memory / 2,
            past_cuts: 0,
        };
        if stage.property.params.is_empty() {
            explorations.create(Arc::new(Binding::default()));
        }
        explorations
    }

    /// Makes the explorations that an event begins. It is not in them yet.
    pub(super) fn prepare(&mut self, record: &Record) {
        if self.stage.property.params.is_empty() {
            return;
        }
        for (binding, _) in &record.acts {
            if !self.by_binding.contains_key(binding) {
                self.admit(Arc::new(binding.clone()));
            }
        }
    }

    /// Hands an event to those whom it concerns.
    pub(super) fn step(&mut self, record: &Arc<Record>) {
        if self.stage.property.params.is_empty() {
            return self.by_binding.values_mut().for_each(|exploration| exploration.step(record));
        }
        let mut concerned: Vec<Arc<Binding>> = Vec::new();
        for (part, _) in &record.acts {
            let some: &mut dyn Iterator<Item = &Arc<Binding>> = match part.pairs().next() {
                Some(value) => &mut self.with.get(&value).into_iter().flatten(),
                None => &mut self.by_binding.keys(),
            };
            concerned.extend(some.filter(|binding| part.is_part_of(binding)).cloned());
            let can_grow = part.domain.len() < self.stage.property.params.len();
            if let Some(exploration) = self.by_binding.get_mut(part).filter(|_| can_grow) {
                exploration.keep(record, self.limits.patience);
            }
        }
        concerned.sort_unstable();
        concerned.dedup();
        for binding in concerned {
            if let Some(exploration) = self.by_binding.get_mut(&binding) {
                exploration.step(record);
            }
        }
    }

    pub(super) fn get(&self, binding: &Binding) -> Option<&Exploration<'a>> {
        self.by_binding.get(binding)
    }

    /// All of them, in a fixed order.
    pub(super) fn all(&mut self) -> impl Iterator<Item = &mut Exploration<'a>> {
        self.by_binding.values_mut()
    }

    /// From now on, about so many bytes for all.
    pub(super) fn limit(&mut self, memory: usize) {
        self.limits.memory = memory;
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.by_binding.len()
    }

    /// How many bindings were not looked at, or not to the end.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }

    pub(super) fn is_exhaustive(&self) -> bool {
        self.left_out == 0 && self.by_binding.values().all(Exploration::is_exhaustive)
    }

    pub(super) fn cuts(&self) -> u64 {
        self.past_cuts + self.by_binding.values().map(Exploration::cuts).sum::<u64>()
    }

    /// Lets explorations go until those that are left fit; about how many bytes these take.
    ///
    /// `records` is what the events take that they hold.
    pub(super) fn fit(&mut self, records: usize) -> usize {
        let most = self.limits.memory / 2;
        let mut weight: usize = self.by_binding.values().map(Exploration::weight).sum();
        let (few, allowed) = (self.len() / 2, self.limits.slices);
        let fits = |weight: usize, len: usize, part: usize| {
            weight <= most / 4 * part && len <= allowed / 4 * part && (records <= most / 2 || len <= few)
        };
        if !self.stage.property.params.is_empty() && !fits(weight, self.len(), 4) {
            let mut all: Vec<_> = self
                .by_binding
                .values()
                .map(|exploration| (exploration.last, &exploration.binding))
                .collect();
            all.sort_unstable();
            let all: Vec<Arc<Binding>> = all.into_iter().map(|(_, binding)| Arc::clone(binding)).collect();
            // A good part at once, as this looks at all of them.
            for binding in all {
                if fits(weight, self.len(), 3) {
                    break;
                }
                weight -= self.drop(&binding);
            }
        }
        let share = (most / self.len().max(1)).max(LEAST);
        self.share = share;
        self.by_binding.values_mut().for_each(|exploration| exploration.limit(share));
        weight
    }

    /// Lets an exploration go; how many bytes it took.
    fn drop(&mut self, binding: &Arc<Binding>) -> usize {
        let Some(exploration) = self.by_binding.remove(binding) else { return 0 };
        for value in binding.pairs() {
            if let Some(with) = self.with.get_mut(&value) {
                with.remove(binding);
                if with.is_empty() {
                    self.with.remove(&value);
                }
            }
        }
        self.gone.insert(binding);
        self.left_out += 1;
        self.past_cuts += exploration.cuts();
        exploration.weight()
    }

    /// A binding that is not known, and all that it makes together with others.
    fn admit(&mut self, binding: Arc<Binding>) {
        let mut new = vec![binding];
        let mut at = 0;
        while at < new.len() {
            let this = Arc::clone(&new[at]);
            let mut others: Vec<Arc<Binding>> = new[..at].to_vec();
            for value in this.pairs() {
                others.extend(self.with.get(&value).into_iter().flatten().cloned());
            }
            for other in others {
                let shares = !this.domain.and(other.domain).is_empty();
                if let Some(both) = this.join(&other).filter(|_| shares)
                    && !self.by_binding.contains_key(&both)
                    && !new.iter().any(|known| **known == both)
                {
                    if new.len() == NEW_AT_ONCE {
                        self.left_out += 1;
                    } else {
                        new.push(Arc::new(both));
                    }
                }
            }
            at += 1;
        }
        new.into_iter().for_each(|binding| self.create(binding));
    }

    /// Makes an exploration, with what has happened to parts of the binding.
    fn create(&mut self, binding: Arc<Binding>) {
        let mut past: Vec<Arc<Record>> = Vec::new();
        for part in binding.parts() {
            let own = self.by_binding.get(&part).map(Exploration::own);
            if matches!(own, Some(None)) || self.gone.has(&part) {
                self.left_out += 1;
                return;
            }
            past.extend(own.flatten().into_iter().flatten().cloned());
        }
        past.sort_unstable_by_key(|record| record.step);
        // An event that is several things to the property may have happened to several parts.
        past.dedup_by_key(|record| record.step);
        let mut exploration = Exploration::new(self.stage, Arc::clone(&binding), &self.limits, self.share);
        past.iter().for_each(|record| exploration.step(record));
        for value in binding.pairs() {
            self.with.entry(value).or_default().insert(Arc::clone(&binding));
        }
        self.by_binding.insert(binding, exploration);
    }
}

/// Bindings that are gone, and some that are not (Bloom, 1970).
///
/// Of four megabytes, a tenth of new bindings are taken for others when some four million are gone.
struct Gone {
    /// Empty until there is one.
    bits: Vec<u64>,
    words: usize,
    keys: (RandomState, RandomState),
}

impl Gone {
    fn new(bytes: usize) -> Gone {
        Gone { bits: Vec::new(), words: bytes / 8 + 1, keys: Default::default() }
    }

    fn bits(&self, binding: &Binding) -> [(usize, u64); 2] {
        let bit = |key: &RandomState| {
            let hash = key.hash_one(binding);
            (hash as usize / 64 % self.words, 1 << (hash % 64))
        };
        [bit(&self.keys.0), bit(&self.keys.1)]
    }

    fn insert(&mut self, binding: &Binding) {
        self.bits.resize(self.words, 0);
        for (word, bit) in self.bits(binding) {
            self.bits[word] |= bit;
        }
    }

    fn has(&self, binding: &Binding) -> bool {
        !self.bits.is_empty() && self.bits(binding).iter().all(|&(word, bit)| self.bits[word] & bit != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_gone_is_known_to_be() {
        let mut gone = Gone::new(1 << 10);
        let of = |number: u64| {
            let compiled =
                foresee_monitor::compile("property P(x) { event e(x); ere: e @match { report \"\"; } }");
            Binding::of_event(&compiled.ok()?.properties[0], 0, 0, &[number])
        };
        let bindings: Vec<Binding> = (0..100).filter_map(of).collect();
        assert!(!gone.has(&bindings[0]));
        bindings[..50].iter().for_each(|binding| gone.insert(binding));
        assert!(bindings[..50].iter().all(|binding| gone.has(binding)));
        assert!(bindings[50..].iter().filter(|binding| gone.has(binding)).count() < 3);
    }
}
