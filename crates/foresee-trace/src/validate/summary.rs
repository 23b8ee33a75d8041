//! What is in a trace: counts, in memory that does not grow with its length.

use super::distinct::Distinct;
use crate::event::Event;
use crate::flat::{Flat, OpKind};
use crate::names::Names;

/// A number of things; an estimate where an exact count would need too much memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// How many.
    pub number: u64,
    /// Whether that is exact; otherwise it is within a few per cent.
    pub exact: bool,
}

/// Counts the events of a trace by kind, and what they use.
pub struct Summary {
    kinds: [u64; OpKind::ALL.len()],
    threads: Used,
    locks: Used,
    locations: Used,
    variables: Distinct,
}

/// Which ids occur. Bounded by the names there are.
#[derive(Default)]
struct Used {
    seen: Vec<bool>,
    count: u64,
}

impl Used {
    #[inline]
    fn insert(&mut self, id: usize, named: usize) {
        if id >= self.seen.len() {
            if id >= named {
                return;
            }
            self.seen.resize(named, false);
        }
        if !self.seen[id] {
            self.seen[id] = true;
            self.count += 1;
        }
    }
}

/// Nothing counted yet. (Arrays of this length have no default of their own.)
impl Default for Summary {
    fn default() -> Self {
        Summary {
            kinds: [0; OpKind::ALL.len()],
            threads: Used::default(),
            locks: Used::default(),
            locations: Used::default(),
            variables: Distinct::default(),
        }
    }
}

impl Summary {
    /// Counts an event whose ids are in `names`.
    pub fn event(&mut self, names: &Names, event: &Event<'_>) {
        let (flat, _) = Flat::of(&event.op);
        self.kinds[flat.kind as usize] += 1;
        self.threads.insert(event.thread.index(), names.threads().len());
        if event.loc != crate::LocId::UNKNOWN {
            self.locations.insert(event.loc.index(), names.locations().len());
        }
        match flat.kind.target() {
            crate::flat::Target::Memory => self.variables.insert(mix(flat.target) ^ u64::from(flat.size)),
            crate::flat::Target::Lock => self.locks.insert(flat.target as usize, names.locks().len()),
            _ => {}
        }
    }

    /// How many events there are.
    pub fn events(&self) -> u64 {
        self.kinds.iter().sum()
    }

    /// Each kind of operation that occurs, by its name, and how often.
    pub fn kinds(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        (0u8..)
            .zip(self.kinds)
            .filter_map(|(n, count)| Some((OpKind::from_number(n)?.name(), count)))
            .filter(|k| k.1 > 0)
    }

    /// How many threads did something.
    pub fn threads(&self) -> u64 {
        self.threads.count
    }

    /// How many locks and conditions were used.
    pub fn locks(&self) -> u64 {
        self.locks.count
    }

    /// How many known source locations events have.
    pub fn locations(&self) -> u64 {
        self.locations.count
    }

    /// How many different pieces of memory were touched.
    pub fn variables(&self) -> Count {
        let (number, exact) = self.variables.count();
        Count { number, exact }
    }

    /// How many events order threads: locks, forks, joins, waits, atomics, fences.
    pub fn synchronisation(&self) -> u64 {
        use OpKind::*;
        let kinds = [
            Load,
            Store,
            Rmw,
            Fence,
            Request,
            Acquire,
            Release,
            Fork,
            Join,
            ThreadBegin,
            ThreadEnd,
            Wait,
            Notify,
        ];
        kinds.iter().map(|&kind| self.kinds[kind as usize]).sum()
    }
}

/// Spreads the bits of a number over all 64 (the finaliser of splitmix64).
#[inline]
pub(super) fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
