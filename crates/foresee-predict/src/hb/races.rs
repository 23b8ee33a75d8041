//! The races found: one per pair of places, with counts.

use foresee_trace::LocId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::entries::Entry;
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

struct Pair {
    /// Indices of the two accesses of the instance to show.
    events: (u64, u64),
    instances: u64,
    schedulable: bool,
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

    /// An earlier access and one from `place` at `time` race.
    pub(super) fn found(&mut self, earlier: &Entry, place: u32, time: u64, schedulable: bool) {
        self.racy.count(time, place);
        if schedulable {
            self.schedulable.count(time, place);
        }
        let other = earlier.key.place();
        let events = (earlier.time - 1, time - 1);
        let places = (place.min(other), place.max(other));
        let pair = self.pairs.entry(places).or_insert(Pair { events, instances: 0, schedulable });
        if pair.instances == 0 {
            self.news.push(places);
        }
        pair.instances += 1;
        let is_first_schedulable = schedulable && !pair.schedulable;
        let is_earlier =
            schedulable == pair.schedulable && (events.1, events.0) < (pair.events.1, pair.events.0);
        if is_first_schedulable || is_earlier {
            pair.events = events;
        }
        pair.schedulable |= schedulable;
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

    /// The places of races found since the last call.
    pub(super) fn news(&mut self) -> Vec<Vec<Place>> {
        let news = std::mem::take(&mut self.news);
        news.iter().map(|&(a, b)| vec![self.place_of(a), self.place_of(b)]).collect()
    }

    pub(super) fn outcome(self) -> Outcome {
        let mut findings: Vec<Finding> = (self.pairs.iter())
            .map(|(&(a, b), pair)| {
                let (first, second) = self.place_of(a).pair(self.place_of(b));
                let events = vec![pair.events.0, pair.events.1];
                let mut race = Finding::observed(FindingKind::Race, "hb", events, vec![first, second]);
                race.instances = pair.instances;
                race.schedulable = pair.schedulable;
                race
            })
            .collect();
        findings.sort_unstable_by(|a, b| (&a.events, &a.places).cmp(&(&b.events, &b.places)));
        Outcome { findings, ..Outcome::default() }
    }
}
