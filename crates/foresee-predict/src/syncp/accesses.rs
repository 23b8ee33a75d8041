//! The accesses that can race, listed by cell.

use foresee_trace::{Access, EventId, Execution, LockId, Mode, ThreadId};
use rustc_hash::FxHashMap;

use crate::locks::{LockHistory, LocksetId};
use foresee_witness::judge::Place;

/// Where and how: races are distinguished by the places of two sites.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct AccessSite {
    pub(super) place: Place,
    pub(super) access: Access,
}

/// Accesses of the same class differ only in when they happen.
pub(super) struct Class {
    pub(super) thread: ThreadId,
    pub(super) site: u32,
    pub(super) lockset: LocksetId,
}

/// An access to a cell.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    pub(super) class: u32,
    pub(super) event: EventId,
}

/// All accesses to the cells that can race.
pub(super) struct Accesses {
    pub(super) sites: Vec<AccessSite>,
    pub(super) classes: Vec<Class>,
    /// The cells that can race: where their entries are.
    pub(super) cells: Vec<std::ops::Range<usize>>,
    entries: Vec<Entry>,
    /// For each cell of the execution: its number in `cells`, or why it is not there.
    numbers: Vec<u32>,
}

/// Instead of a cell's number: its accesses are ordered, by a thread or a lock, or nothing writes.
const ORDERED: u32 = u32::MAX;
/// Instead of a cell's number: all accesses are atomic.
const ATOMIC: u32 = u32::MAX - 1;

impl Accesses {
    pub(super) fn of(execution: &Execution, locks: &LockHistory) -> Accesses {
        let (numbers, counts) = suspicious_cells(execution, locks);
        let mut cells = Vec::with_capacity(counts.len());
        let mut total = 0;
        for count in counts {
            // Grows to its full length while it is filled.
            cells.push(total..total);
            total += count as usize;
        }
        let nothing = Entry { class: 0, event: EventId(0) };
        let mut accesses = Accesses {
            sites: Vec::new(),
            classes: Vec::new(),
            cells,
            entries: vec![nothing; total],
            numbers,
        };
        if total > 0 {
            accesses.fill(execution, locks);
        }
        accesses
    }

    fn fill(&mut self, execution: &Execution, locks: &LockHistory) {
        let mut interner = Interner::default();
        let mut held = locks.walk();
        for id in execution.ids() {
            let Some((var, access)) = execution.access(id) else { continue };
            let mut class = None;
            for cell in execution.cells(var) {
                let number = self.numbers[cell as usize];
                if number == ORDERED || number == ATOMIC {
                    continue;
                }
                let class = *class.get_or_insert_with(|| {
                    let thread = execution.thread(id);
                    let lockset = held.before(thread, id);
                    let place = Place::of_access(execution, id, var);
                    interner.class(self, thread, AccessSite { place, access }, lockset)
                });
                let range = &mut self.cells[number as usize];
                self.entries[range.end] = Entry { class, event: id };
                range.end += 1;
            }
        }
    }

    /// The accesses to the `nth` of the cells that can race, in the observed order.
    pub(super) fn entries(&self, nth: usize) -> &[Entry] {
        &self.entries[self.cells[nth].clone()]
    }

    /// The writes to a cell of the execution after an event, but for those that the event orders after itself; `None` if they
    /// are not listed.
    pub(super) fn later_writes(&self, cell: u32, event: EventId) -> Option<impl Iterator<Item = Entry> + '_> {
        let entries = match self.numbers[cell as usize] {
            ATOMIC => return None,
            ORDERED => &[],
            number => self.entries(number as usize),
        };
        let later = &entries[entries.partition_point(|entry| entry.event <= event)..];
        Some(later.iter().copied().filter(|&entry| self.site(entry).access.writes))
    }

    pub(super) fn class(&self, entry: Entry) -> &Class {
        &self.classes[entry.class as usize]
    }

    fn site(&self, entry: Entry) -> AccessSite {
        self.sites[self.class(entry).site as usize]
    }
}

/// Place, and how it is accessed.
type SiteKey = (Place, u8);

#[derive(Default)]
struct Interner {
    sites: FxHashMap<SiteKey, u32>,
    classes: FxHashMap<(ThreadId, SiteKey, LocksetId), u32>,
}

impl Interner {
    fn class(&mut self, all: &mut Accesses, thread: ThreadId, site: AccessSite, lockset: LocksetId) -> u32 {
        let Access { reads, writes, atomic } = site.access;
        let key = (site.place, u8::from(reads) | u8::from(writes) << 1 | u8::from(atomic) << 2);
        *self.classes.entry((thread, key, lockset)).or_insert_with(|| {
            let site = *self.sites.entry(key).or_insert_with(|| {
                all.sites.push(site);
                all.sites.len() as u32 - 1
            });
            all.classes.push(Class { thread, site, lockset });
            all.classes.len() as u32 - 1
        })
    }
}

/// What the first pass knows of a cell.
#[derive(Clone, Copy)]
struct Summary {
    /// Who accesses it; only the first, if there are several.
    thread: ThreadId,
    several: bool,
    written: bool,
    plainly: bool,
    /// The locks that every access so far held, and every write exclusively.
    guards: u32,
    accesses: u32,
}

/// Numbers the cells that can race and counts their accesses.
fn suspicious_cells(execution: &Execution, locks: &LockHistory) -> (Vec<u32>, Vec<u32>) {
    let unseen = Summary {
        thread: ThreadId(0),
        several: false,
        written: false,
        plainly: false,
        guards: Guards::ALL,
        accesses: 0,
    };
    let mut summaries = vec![unseen; execution.cell_count()];
    let mut guards = Guards::new(locks);
    let mut held = locks.walk();
    for id in execution.ids() {
        let Some((var, access)) = execution.access(id) else { continue };
        let thread = execution.thread(id);
        let lockset = held.before(thread, id);
        for cell in execution.cells(var) {
            let summary = &mut summaries[cell as usize];
            if summary.accesses == 0 {
                summary.thread = thread;
            }
            summary.several |= summary.thread != thread;
            summary.written |= access.writes;
            summary.plainly |= !access.atomic;
            summary.guards = guards.refine(summary.guards, lockset, access.writes);
            summary.accesses += 1;
        }
    }
    let mut counts = Vec::new();
    let numbers = (summaries.iter())
        .map(|cell| {
            if !cell.several || !cell.written || cell.guards != Guards::NONE_IN_COMMON {
                return ORDERED;
            }
            if !cell.plainly {
                return ATOMIC;
            }
            counts.push(cell.accesses);
            counts.len() as u32 - 1
        })
        .collect();
    (numbers, counts)
}

/// Sets of locks that guard a cell, interned.
struct Guards<'l> {
    locks: &'l LockHistory,
    sets: Vec<Vec<LockId>>,
    numbers: FxHashMap<Vec<LockId>, u32>,
    steps: FxHashMap<(u32, LocksetId, bool), u32>,
}

impl<'l> Guards<'l> {
    const NONE_IN_COMMON: u32 = 0;
    /// Before the first access.
    const ALL: u32 = u32::MAX;

    fn new(locks: &'l LockHistory) -> Self {
        Guards {
            locks,
            sets: vec![Vec::new()],
            numbers: FxHashMap::from_iter([(Vec::new(), Guards::NONE_IN_COMMON)]),
            steps: FxHashMap::default(),
        }
    }

    /// What is left of the guards after an access.
    #[inline]
    fn refine(&mut self, guards: u32, held: LocksetId, writes: bool) -> u32 {
        if guards == Guards::NONE_IN_COMMON || held == LocksetId::EMPTY {
            return Guards::NONE_IN_COMMON;
        }
        if let Some(&known) = self.steps.get(&(guards, held, writes)) {
            return known;
        }
        let guarding = |&&(_, mode): &&(LockId, Mode)| mode == Mode::Exclusive || !writes;
        let held_locks = self.locks.locksets.get(held).iter().filter(guarding).map(|&(lock, _)| lock);
        let left: Vec<LockId> = match self.sets.get(guards as usize) {
            Some(set) => held_locks.filter(|lock| set.contains(lock)).collect(),
            None => held_locks.collect(),
        };
        let next = self.sets.len() as u32;
        let refined = *self.numbers.entry(left.clone()).or_insert(next);
        if refined == next {
            self.sets.push(left);
        }
        self.steps.insert((guards, held, writes), refined);
        refined
    }
}
