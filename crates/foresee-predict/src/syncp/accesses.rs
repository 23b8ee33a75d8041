//! The accesses that can race, listed by cell.

use foresee_trace::{Access, EventId, Execution, ThreadId};
use rustc_hash::FxHashMap;

use crate::cells::{Accessed, Cells};
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
pub(super) struct Accesses<'c> {
    pub(super) sites: Vec<AccessSite>,
    pub(super) classes: Vec<Class>,
    /// The cells that can race, by their numbers: where their entries are.
    pub(super) cells: Vec<std::ops::Range<usize>>,
    entries: Vec<Entry>,
    all: &'c Cells,
}

impl<'c> Accesses<'c> {
    pub(super) fn of(execution: &Execution, locks: &LockHistory, all: &'c Cells) -> Accesses<'c> {
        let mut cells = Vec::with_capacity(all.counts.len());
        let mut total = 0;
        for &count in &all.counts {
            // Grows to its full length while it is filled.
            cells.push(total..total);
            total += count as usize;
        }
        let nothing = Entry { class: 0, event: EventId(0) };
        let mut accesses =
            Accesses { sites: Vec::new(), classes: Vec::new(), cells, entries: vec![nothing; total], all };
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
                let Accessed::Openly(number) = self.all.accessed(cell) else { continue };
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
        let entries = match self.all.accessed(cell) {
            Accessed::Atomically => return None,
            Accessed::InOrder => &[],
            Accessed::Openly(number) => self.entries(number as usize),
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
    fn class(
        &mut self,
        all: &mut Accesses<'_>,
        thread: ThreadId,
        site: AccessSite,
        lockset: LocksetId,
    ) -> u32 {
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
