//! The races found: one per pair of places, with counts.

use foresee_trace::{LocId, Names, StrId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::entries::{Entry, Key};
use foresee_witness::engine::Outcome;
use foresee_witness::judge::{Finding, FindingKind, Place};

/// How much races, counted as the tools of the field count: by later access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RaceCounts {
    /// Events that race with some earlier event.
    pub events: u64,
    /// Distinct locations of those.
    pub locations: u64,
}

/// A place in 32 bits: a location, or the number of an address that stands for an unknown one.
const ADDRESS: u32 = 1 << 31;

/// How certain a race is; the later, the more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    /// Blind code may have ordered the accesses.
    Doubtful,
    /// Nothing has.
    Observed,
    /// Nor can anything that the run depends on.
    Schedulable,
}

struct Pair {
    /// Indices of the two accesses of the instance to show.
    events: (u64, u64),
    instances: u64,
    standing: Standing,
    /// The blind code of both threads between the two accesses.
    blind: [Option<StrId>; 2],
    /// The place of the other access, if one is the allocator's in all instances.
    with_allocation: Option<u32>,
}

impl Pair {
    /// Whether it says nothing that others do not say: memory that a thread has no right to access yet was written there by
    /// the allocator, too.
    fn is_repeated(&self, told: &FxHashSet<u32>) -> bool {
        self.with_allocation.is_some_and(|place| told.contains(&place))
    }
}

#[derive(Default)]
struct Racy {
    events: u64,
    places: FxHashSet<u32>,
    last: u64,
    last_place: u32,
}

impl Racy {
    fn count(&mut self, time: u64, place: u32) {
        if self.last != time {
            self.last = time;
            self.events += 1;
            if self.last_place != place || self.events == 1 {
                self.last_place = place;
                self.places.insert(place);
            }
        }
    }

    fn counts(&self) -> RaceCounts {
        RaceCounts { events: self.events, locations: self.places.len() as u64 }
    }
}

/// All races so far.
#[derive(Default)]
pub(super) struct Races {
    pairs: FxHashMap<(u32, u32), Pair>,
    racy: Racy,
    schedulable: Racy,
    addresses: Vec<u64>,
    address_ids: FxHashMap<u64, u32>,
    /// Pairs that were not reported yet.
    news: Vec<(u32, u32)>,
    /// The last blind code of each slot that may have synchronised, and when.
    blind: Vec<(u64, StrId)>,
}

impl Races {
    /// The place of an access to memory that starts at `addr`.
    #[inline]
    pub(super) fn place(&mut self, loc: LocId, addr: u64) -> u32 {
        if loc == LocId::UNKNOWN { self.address(addr) } else { loc.0 & !ADDRESS }
    }

    fn address(&mut self, addr: u64) -> u32 {
        let next = ADDRESS | self.addresses.len() as u32;
        let id = *self.address_ids.entry(addr).or_insert(next);
        if id == next {
            self.addresses.push(addr);
        }
        id
    }

    /// The thread in this slot has run blind code that may have synchronised.
    pub(super) fn ran_blind(&mut self, slot: u32, time: u64, code: StrId) {
        if self.blind.len() <= slot as usize {
            self.blind.resize(slot as usize + 1, (0, StrId::EMPTY));
        }
        self.blind[slot as usize] = (time, code);
    }

    /// The last blind code of a slot, if it came after this time.
    fn blind_since(&self, slot: u32, time: u64) -> Option<StrId> {
        self.blind.get(slot as usize).filter(|&&(ran, _)| ran > time).map(|&(_, code)| code)
    }

    /// An earlier access and one at `time` race.
    pub(super) fn found(&mut self, earlier: &Entry, key: Key, time: u64, standing: Standing) {
        let place = key.place();
        self.racy.count(time, place);
        if standing == Standing::Schedulable {
            self.schedulable.count(time, place);
        }
        let other = earlier.key.place();
        let events = (earlier.time - 1, time - 1);
        let places = (place.min(other), place.max(other));
        let blind = [earlier.key.slot(), key.slot()].map(|slot| self.blind_since(slot, earlier.time));
        let with_allocation = match (earlier.key.manner().allocates(), key.manner().allocates()) {
            (true, _) => Some(place),
            (_, true) => Some(other),
            _ => None,
        };
        let new = Pair { events, instances: 0, standing, blind, with_allocation };
        let pair = self.pairs.entry(places).or_insert(new);
        pair.with_allocation = pair.with_allocation.and(with_allocation);
        let is_certain = standing > Standing::Doubtful;
        if is_certain && (pair.instances == 0 || pair.standing == Standing::Doubtful) {
            self.news.push(places);
        }
        pair.instances += 1;
        let is_earlier = standing == pair.standing && (events.1, events.0) < (pair.events.1, pair.events.0);
        if standing > pair.standing || is_earlier {
            *pair = Pair { events, standing, blind, ..*pair };
        }
    }

    pub(super) fn racy(&self) -> RaceCounts {
        self.racy.counts()
    }

    pub(super) fn schedulable(&self) -> RaceCounts {
        self.schedulable.counts()
    }

    fn place_of(&self, id: u32) -> Place {
        match id & ADDRESS {
            0 => Place::new(LocId(id), 0),
            _ => Place::new(LocId::UNKNOWN, self.addresses[(id & !ADDRESS) as usize]),
        }
    }

    /// The places in certain pairs without an allocation.
    fn told_places(&self) -> FxHashSet<u32> {
        let is_told = |pair: &Pair| pair.with_allocation.is_none() && pair.standing > Standing::Doubtful;
        let told = self.pairs.iter().filter(|(_, pair)| is_told(pair));
        told.flat_map(|(&(a, b), _)| [a, b]).collect()
    }

    /// The places of races found since the last call.
    pub(super) fn news(&mut self) -> Vec<Vec<Place>> {
        let news = std::mem::take(&mut self.news);
        let told = if news.is_empty() { FxHashSet::default() } else { self.told_places() };
        let told = news.iter().filter(|&places| !self.pairs[places].is_repeated(&told));
        told.map(|&(a, b)| vec![self.place_of(a), self.place_of(b)]).collect()
    }

    pub(super) fn outcome(self, names: &Names) -> Outcome {
        let told = self.told_places();
        let mut findings: Vec<Finding> = (self.pairs.iter())
            .filter(|(_, pair)| !pair.is_repeated(&told))
            .map(|(&(a, b), pair)| {
                let (first, second) = self.place_of(a).pair(self.place_of(b));
                let events = vec![pair.events.0, pair.events.1];
                let mut race = Finding::observed(FindingKind::Race, "hb", events, vec![first, second]);
                race.instances = pair.instances;
                race.schedulable = pair.standing == Standing::Schedulable;
                if pair.standing == Standing::Doubtful {
                    race.doubt_because(doubt(names, pair.blind));
                }
                race
            })
            .collect();
        findings.sort_unstable_by(|a, b| (&a.events, &a.places).cmp(&(&b.events, &b.places)));
        Outcome { findings, ..Outcome::default() }
    }
}

/// Why a race is not certain.
fn doubt(names: &Names, blind: [Option<StrId>; 2]) -> String {
    let mut code: Vec<&str> = blind.iter().flatten().map(|&code| names.str(code)).collect();
    code.dedup();
    let (what, are) = match code[..] {
        [] => ("code".to_owned(), "is"),
        [one] => (format!("`{one}`"), "is"),
        [first, second, ..] => (format!("`{first}` and `{second}`"), "are"),
    };
    format!("{what} ran in between, which {are} not recorded and may have ordered the two accesses")
}
