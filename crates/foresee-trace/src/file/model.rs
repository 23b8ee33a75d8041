//! What an event is expected to touch, from what its thread touched before.
//!
//! A block has a [`Rule`] for each of its sites (`sites`), with two parts:
//!
//! * **in which context** what happened last time is looked up: that of the site alone, with the site before it (one place may do
//!   several things in turn), or with the last lock or function (which shows what is protected by the lock);
//! * **beside what** it is: a region of memory, or nothing. The fields of an object are as far from what the thread touched
//!   just before as last time, whichever object it is.
//!
//! Where nothing is known yet, the site's *first target* is expected: the first thing that it ever touched. What is stored is the
//! difference to what is expected, which is mostly 0.
//!
//! The writer tries all rules on samples of a block, and writes down which it has taken ([`Rules`]). So a reader has nothing to
//! find out, and whether an expectation is right, which follows no pattern, decides no branch.

/// How many slots a block has for what happened in some context. Contexts that share a slot only make expectations worse.
const MOST_SLOTS: usize = 1 << 12;
const FEWEST_SLOTS: usize = 1 << 6;

/// Slots hold what they hold with these bits changed: 0 is a slot that was not used.
const USED: u64 = 0x5eed_0000_0000_0001;

/// Beside what: nothing (0), or a region of memory (1 to 4), by two bits of the address (the program and its heap, and what is
/// mapped, as stacks and heaps of threads are, mostly differ in them), or all that is no memory.
const NO_MEMORY: usize = 5;
const BASES: usize = 8;

/// The contexts.
const ALONE: u8 = 0;
const AFTER_SITE: u8 = 1;
const AFTER_LOCK: u8 = 2;

/// How the targets of a site are expected: the context, and beside what from the third bit on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rule(u8);

impl Rule {
    /// Expects what the site touched last.
    pub(crate) const AGAIN: Rule = Rule(ALONE);

    /// As it stands in a block; whatever stands there is some rule.
    pub(crate) fn from_number(number: u8) -> Rule {
        Rule(number)
    }

    pub(crate) fn number(self) -> u8 {
        self.0
    }

    /// All that a writer tries for a site that touches such things.
    fn candidates(is_memory: bool, first_target: u64) -> [Rule; RULES] {
        let beside = (base(is_memory, first_target) as u8) << 2;
        let again = Rule::AGAIN;
        [again, Rule(AFTER_SITE), Rule(ALONE | beside), Rule(AFTER_SITE | beside), Rule(AFTER_LOCK)]
    }
}

const RULES: usize = 5;

/// What a model has to know of a site.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemorySlot {
    pub(crate) site: u32,
    pub(crate) is_memory: bool,
}

/// A target, and what was expected.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touched {
    pub(crate) target: u64,
    pub(crate) expected: u64,
}

/// What is known in a block.
#[derive(Debug, Default)]
pub(crate) struct Model {
    /// The last target, or how far it was from what it is beside: by site, and by other contexts. As many as a power of two.
    alone: Vec<u64>,
    within: Vec<u64>,
    /// What was touched last, by what things may be beside.
    recent: [u64; BASES],
    last_site: u32,
}

impl Model {
    /// Forgets everything: a block of so many events begins.
    pub(crate) fn begin(&mut self, events: usize) {
        for slots in [&mut self.alone, &mut self.within] {
            slots.clear();
            slots.resize(Model::slots(events), 0);
        }
        self.recent = [0; BASES];
        self.last_site = 0;
    }

    fn slots(events: usize) -> usize {
        events.next_power_of_two().clamp(FEWEST_SLOTS, MOST_SLOTS)
    }

    /// How many bytes it has for so many events.
    pub(crate) fn bytes(events: usize) -> usize {
        2 * 8 * Model::slots(events)
    }

    /// The next event is at this place, and touches what `target` makes of what is expected. `first_target` is asked for if nothing is known.
    #[inline(always)]
    pub(crate) fn pass(
        &mut self,
        place: MemorySlot,
        rule: Rule,
        first_target: impl FnOnce() -> u64,
        target: impl FnOnce(u64) -> u64,
    ) -> Touched {
        // Branches, as what does not ask for what was touched just before need not wait for that.
        let is_beside = rule.0 >> 2 != 0;
        let base = if is_beside { self.recent[usize::from(rule.0 >> 2) % BASES] } else { 0 };
        let slot = match rule.0 & 3 {
            AFTER_SITE => within(&mut self.within, place.site, u64::from(self.last_site)),
            AFTER_LOCK => within(&mut self.within, place.site, self.recent[NO_MEMORY]),
            _ => {
                let at = place.site as usize & (self.alone.len() - 1);
                &mut self.alone[at]
            }
        };
        let expected = if *slot == 0 { first_target() } else { base.wrapping_add(*slot ^ USED) };
        let target = target(expected);
        *slot = target.wrapping_sub(base) ^ USED;
        self.recent[self::base(place.is_memory, target)] = target;
        self.last_site = place.site;
        Touched { target, expected }
    }
}

/// The slot of a site in some context.
#[inline]
fn within(slots: &mut [u64], site: u32, context: u64) -> &mut u64 {
    let both = u64::from(site).wrapping_add(context.wrapping_mul(0xd6e8_feb8_6659_fd93));
    let at = (both.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize & (slots.len() - 1);
    &mut slots[at]
}

#[inline]
fn base(is_memory: bool, target: u64) -> usize {
    if is_memory { 1 + (target >> 45) as usize % 4 } else { NO_MEMORY }
}

/// Of this many windows of events, one is looked at to choose the rules.
const SAMPLED: usize = 16;
const WINDOW: usize = 256;

/// The rules that a writer has chosen so far, by site.
#[derive(Default)]
pub(crate) struct Rules {
    chosen: Vec<Rule>,
    model: Model,
    /// For each site, and each rule, about how many bytes the current sample would take.
    costs: Vec<[u32; RULES]>,
}

/// A site as its writer knows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstTarget {
    pub(crate) is_memory: bool,
    /// The first thing that it ever touched.
    pub(crate) target: u64,
}

impl Rules {
    /// The rule of a site.
    #[inline]
    pub(crate) fn of(&self, site: u32) -> Rule {
        self.chosen.get(site as usize).copied().unwrap_or(Rule::AGAIN)
    }

    /// Chooses rules for the sites of the events of a block, as far as they are in the sample. Sites that are not keep
    /// theirs: blocks are much alike.
    pub(crate) fn choose(&mut self, first_targets: &[FirstTarget], sites: &[u32], targets: &[u64]) {
        self.costs.clear();
        self.costs.resize(first_targets.len(), [0; RULES]);
        for rule in 0..RULES {
            self.model.begin(sites.len() / SAMPLED);
            for (sites, targets) in sites.chunks(WINDOW).zip(targets.chunks(WINDOW)).step_by(SAMPLED) {
                for (&site, &target) in sites.iter().zip(targets) {
                    let at = site as usize;
                    let (Some(&known), Some(costs)) = (first_targets.get(at), self.costs.get_mut(at)) else {
                        continue;
                    };
                    let by = Rule::candidates(known.is_memory, known.target)[rule];
                    let place = MemorySlot { site, is_memory: known.is_memory };
                    costs[rule] += cost(self.model.pass(place, by, || known.target, |_| target));
                }
            }
        }
        self.chosen.resize(first_targets.len(), Rule::AGAIN);
        for ((known, chosen), costs) in first_targets.iter().zip(&mut self.chosen).zip(&self.costs) {
            let cheapest = (0..RULES).min_by_key(|&rule| costs[rule]).unwrap_or(0);
            // Not for what may be chance.
            if 8 * costs[cheapest] < 7 * costs[0] {
                *chosen = Rule::candidates(known.is_memory, known.target)[cheapest];
            } else if costs[0] > 0 {
                *chosen = Rule::AGAIN;
            }
        }
    }
}

/// About how many bytes a difference takes: none if there is none, as these compress well.
fn cost(touched: Touched) -> u32 {
    let difference = touched.target.wrapping_sub(touched.expected) as i64;
    let bits = 65 - difference.unsigned_abs().leading_zeros();
    if difference == 0 { 0 } else { 1 + bits.div_ceil(7) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(site: u32, is_memory: bool) -> MemorySlot {
        MemorySlot { site, is_memory }
    }

    /// How many targets are expected wrongly with the rules that are chosen for them. Sites are numbered in their order.
    fn wrong(events: &[(MemorySlot, u64)]) -> usize {
        let (mut rules, mut model) = (Rules::default(), Model::default());
        let mut first_targets: Vec<FirstTarget> = Vec::new();
        for &(place, target) in events {
            if place.site as usize == first_targets.len() {
                first_targets.push(FirstTarget { is_memory: place.is_memory, target });
            }
        }
        let sites: Vec<u32> = events.iter().map(|(place, _)| place.site).collect();
        let targets: Vec<u64> = events.iter().map(|&(_, target)| target).collect();
        rules.choose(&first_targets, &sites, &targets);
        model.begin(events.len());
        let is_wrong = |&&(place, target): &&(MemorySlot, u64)| {
            model.pass(place, rules.of(place.site), || 0, |_| target).expected != target
        };
        events.iter().filter(is_wrong).count()
    }

    #[test]
    fn what_a_lock_protects_and_the_fields_of_an_object_are_expected() {
        let objects = (0..8000_u64).map(|n| n.wrapping_mul(n) % 11 + 1);
        let rounds = objects.map(|lock| {
            let object = 0x5555_0000_0000 + ((lock * lock) << 12);
            [(place(0, false), lock), (place(1, true), object), (place(2, true), object + 8)]
        });
        let events: Vec<_> = rounds.flatten().collect();
        // Which lock is taken cannot be expected.
        assert!(wrong(&events) < 8000 + 100);
    }

    #[test]
    fn one_place_that_does_two_things_in_turn_is_expected() {
        let turn = [(place(0, true), 16), (place(1, true), 32), (place(1, true), 4096)];
        let events: Vec<_> = turn.into_iter().cycle().take(30_000).collect();
        assert!(wrong(&events) < 10);
    }

    #[test]
    fn what_a_reader_expects_is_what_the_writer_expected() {
        let (mut writer, mut reader) = (Model::default(), Model::default());
        let mut random = 1_u64;
        for events in [10, 5000] {
            writer.begin(events);
            reader.begin(events);
            for _ in 0..events {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let (place, rule) =
                    (place((random >> 40) as u32 % 300, random >> 63 == 0), Rule((random >> 50) as u8));
                let target = ((random >> 20) % 64) << (random >> 58);
                let difference = target.wrapping_sub(writer.pass(place, rule, || 7, |_| target).expected);
                let read = reader.pass(place, rule, || 7, |expected| expected.wrapping_add(difference));
                assert_eq!(read.target, target);
            }
        }
    }
}
