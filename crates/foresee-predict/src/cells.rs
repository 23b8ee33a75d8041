//! Which cells can race at all: one pass that spares engines the others.
//!
//! Most memory is used by one thread, or under one lock, or only atomically. What is left is what engines that look for races need to know of.
//!
//! **Epochs.** Data are often prepared by one thread, then shared under a lock, and in the end looked at and freed by one thread again, without the lock: what orders that is the start and
//! the end of threads. So the accesses to a cell are divided. A new *epoch* begins with an access that would leave the epoch without a lock in common, if every
//! reordering has that access after all others of the epoch ([`must`](crate::must)); otherwise the cell can race. Accesses of one epoch do not race. Nor do those of two, if each
//! later access must come after the one that began its epoch, or after all of the epoch before, which is known if that was one thread's. Whatever is not known counts as a race.
//!
//! **Cost.** One pass, with clocks; some 50 bytes per cell and 12 per thread that accesses it, of which 4 per cell are kept.

use std::sync::Arc;

use foresee_trace::{Access, Execution, LockId, Mode, ThreadId};
use rustc_hash::FxHashMap;

use crate::locks::{LockHistory, LocksetId};
use crate::must::MustClocks;
use foresee_witness::checker::Reads;
use foresee_witness::engine::{Budget, Job};

/// What can be said of the accesses to a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accessed {
    /// They are ordered, by a thread, a lock or what every reordering keeps, or nothing writes.
    InOrder,
    /// Those that are not are atomic.
    Atomically,
    /// They may race; the number of the cell among those that may.
    Openly(u32),
}

/// The cells of an execution.
pub struct Cells {
    accessed: Vec<u32>,
    /// How many accesses there are to each cell that may race.
    pub counts: Vec<u32>,
}

/// Instead of a cell's number.
const IN_ORDER: u32 = u32::MAX;
const ATOMICALLY: u32 = u32::MAX - 1;

/// How often to look at the clock.
const EVENTS_PER_LOOK: usize = 1 << 16;

/// If more threads access a cell in one epoch, no other epoch follows.
const MAX_THREADS: usize = 32;

impl Cells {
    /// The table of a job's execution, worked out when the first engine asks.
    pub fn shared(job: &Job<'_>) -> Arc<Cells> {
        job.shared.get(|| Cells::of(job.execution, &LockHistory::shared(job), job.budget))
    }

    /// The cells of an execution. What is accessed once time is over counts as what may race.
    pub fn of(execution: &Execution, locks: &LockHistory, budget: Budget) -> Cells {
        let mut cells = vec![Cell::UNSEEN; execution.cell_count()];
        let mut guards = Guards::new(locks);
        let mut held = locks.walk();
        // Of all that engines take to be kept, this is the least.
        let mut clocks = MustClocks::new(execution, Reads::Relaxed);
        let mut users = Users::default();
        let mut is_over = false;
        for id in execution.ids() {
            is_over = is_over || id.index() % EVENTS_PER_LOOK == 0 && budget.is_exhausted();
            if is_over {
                for cell in execution.access(id).into_iter().flat_map(|(var, _)| execution.cells(var)) {
                    let cell = &mut cells[cell as usize];
                    (cell.accesses, cell.is_open) = (cell.accesses + 1, true);
                }
                continue;
            }
            if !clocks.begin(id) {
                continue;
            }
            if let Some((var, access)) = execution.access(id) {
                let thread = execution.thread(id);
                let lockset = held.before(thread, id);
                for cell in execution.cells(var) {
                    let cell = &mut cells[cell as usize];
                    cell.accesses += 1;
                    if !cell.is_open {
                        let refined = guards.refine(cell.epoch.guards, lockset, access.writes);
                        let after = |(of, event)| of == thread || clocks.is_before(of, event, thread);
                        let alone = || guards.refine(Guards::ALL, lockset, access.writes);
                        cell.add((thread, id.0), access, refined, alone, after, &mut users);
                    }
                }
            }
            clocks.end(id);
        }
        let mut counts = Vec::new();
        let accessed = (cells.iter())
            .map(|cell| {
                if cell.is_open {
                    counts.push(cell.accesses);
                    counts.len() as u32 - 1
                } else if cell.is_atomic {
                    ATOMICALLY
                } else {
                    IN_ORDER
                }
            })
            .collect();
        Cells { accessed, counts }
    }

    /// What can be said of the accesses to a cell.
    #[inline]
    pub fn accessed(&self, cell: u32) -> Accessed {
        match self.accessed[cell as usize] {
            IN_ORDER => Accessed::InOrder,
            ATOMICALLY => Accessed::Atomically,
            number => Accessed::Openly(number),
        }
    }
}

/// An access: whose, and which event.
type By = (ThreadId, u32);

/// What the pass knows of a cell.
#[derive(Clone, Copy)]
struct Cell {
    epoch: Epoch,
    /// What later accesses must come after, one of the two: what began this epoch, and the last of the epoch before, if that was one thread's.
    begun: Option<(By, Option<By>)>,
    accesses: u32,
    is_atomic: bool,
    is_open: bool,
}

/// Accesses that do not race, as far as is known.
#[derive(Clone, Copy)]
struct Epoch {
    /// The last access of each thread: the first of them in [`Users`].
    users: u32,
    /// Whether there are more.
    is_crowded: bool,
    several: bool,
    written: bool,
    plainly: bool,
    /// The locks that every access held, and every write exclusively.
    guards: u32,
}

impl Epoch {
    const EMPTY: Epoch = Epoch {
        users: NONE,
        is_crowded: false,
        several: false,
        written: false,
        plainly: false,
        guards: Guards::ALL,
    };

    /// Whether nothing keeps its accesses apart.
    fn is_unguarded(self) -> bool {
        self.several && self.written && self.guards == Guards::NONE_IN_COMMON
    }
}

impl Cell {
    const UNSEEN: Cell =
        Cell { epoch: Epoch::EMPTY, begun: None, accesses: 0, is_atomic: false, is_open: false };

    /// Notes an access: `refined` are the guards of its epoch after it, `alone` are its own, and `after` says what it must come after.
    fn add(
        &mut self,
        by: By,
        access: Access,
        refined: u32,
        alone: impl FnOnce() -> u32,
        after: impl Fn(By) -> bool,
        users: &mut Users,
    ) {
        if let Some((first, before)) = self.begun
            && !after(first)
            && !before.is_some_and(&after)
        {
            self.is_open = true;
            return;
        }
        let mut list = self.epoch.users;
        let is_crowded = self.epoch.is_crowded || !users.note(&mut list, by);
        let grown = Epoch {
            users: list,
            is_crowded,
            several: self.epoch.several || users.of(list).nth(1).is_some(),
            written: self.epoch.written || access.writes,
            plainly: self.epoch.plainly || !access.atomic,
            guards: refined,
        };
        if !grown.is_unguarded() || !grown.plainly {
            self.is_atomic |= grown.is_unguarded();
            self.epoch = grown;
            return;
        }
        let others = || users.of(grown.users).filter(|&(thread, _)| thread != by.0);
        if is_crowded || !others().all(&after) {
            self.is_open = true;
            return;
        }
        let before = if self.epoch.several { None } else { others().next() };
        self.begun = Some((by, before));
        self.epoch = Epoch {
            users: users.again(list, by),
            written: access.writes,
            plainly: !access.atomic,
            guards: alone(),
            ..Epoch::EMPTY
        };
    }
}

/// The last accesses of threads, in lists.
#[derive(Default)]
struct Users {
    all: Vec<(By, u32)>,
}

/// No list goes on here.
const NONE: u32 = u32::MAX;

impl Users {
    /// Notes the last access of a thread in a list; false if there are too many.
    #[inline]
    fn note(&mut self, list: &mut u32, by: By) -> bool {
        let (mut at, mut count) = (*list, 0);
        while let Some(((thread, event), next)) = self.all.get_mut(at as usize) {
            if *thread == by.0 {
                *event = by.1;
                return true;
            }
            (at, count) = (*next, count + 1);
        }
        if count == MAX_THREADS {
            return false;
        }
        self.all.push((by, *list));
        *list = self.all.len() as u32 - 1;
        true
    }

    /// Makes a list, which nobody asks for any more, one with this access only.
    fn again(&mut self, list: u32, by: By) -> u32 {
        if let Some(first) = self.all.get_mut(list as usize) {
            *first = (by, NONE);
        }
        list
    }

    fn of(&self, mut list: u32) -> impl Iterator<Item = By> + '_ {
        std::iter::from_fn(move || {
            let &(by, next) = self.all.get(list as usize)?;
            list = next;
            Some(by)
        })
    }
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use foresee_oracle::{Config, Oracle, for_each_seed, random_execution};
    use foresee_trace::text::TextReader;

    use super::*;

    fn cells(execution: &Execution) -> Cells {
        Cells::of(execution, &LockHistory::of(execution), Budget::unlimited())
    }

    /// What the oracle finds to race is in a cell that can.
    #[test]
    fn whatever_races_can_race() {
        for_each_seed(40_000, |seed| {
            let lock_heavy = if seed % 2 == 0 { 100 } else { 0 };
            let execution = random_execution(seed, &Config { lock_heavy, ..Config::default() });
            let cells = cells(&execution);
            for (first, second) in Oracle::new(&execution).races() {
                let common =
                    [first, second].map(|id| execution.access(id).map(|(var, _)| execution.cells(var)));
                let [Some(mut one), Some(other)] = common else { panic!("accesses race") };
                let can_race =
                    |cell| other.contains(&cell) && matches!(cells.accessed(cell), Accessed::Openly(_));
                assert!(one.any(can_race));
            }
        });
    }

    #[track_caller]
    fn assert_open(text: &str, open: usize) {
        let execution = Execution::read(&mut TextReader::new(text.as_bytes())).unwrap();
        assert_eq!(cells(&execution).counts.len(), open, "{text}");
    }

    const SHARED: &str = "A|fork(B)\nA|fork(C)\nB|acq(l)\nB|w(x)\nB|rel(l)\nC|acq(l)\nC|w(x)\nC|rel(l)\n";

    #[test]
    fn what_is_prepared_and_looked_at_by_one_thread_needs_no_lock_then() {
        assert_open(&format!("A|w(x)\n{SHARED}A|join(B)\nA|join(C)\nA|r(x)\nA|w(x)\n"), 0);
        assert_open(&format!("A|w(x)\n{SHARED}A|join(B)\nA|r(x)\n"), 1);
        assert_open(&format!("{SHARED}A|w(x)\n"), 1);
        // Nobody has started the fourth.
        assert_open(&format!("A|w(x)\n{SHARED}D|acq(l)\nD|r(x)\nD|rel(l)\n"), 1);
    }

    #[test]
    fn without_time_nothing_is_spared() {
        let execution = Execution::read(&mut TextReader::new("A|w(x)\nA|r(x)\nA|w(y)\n".as_bytes())).unwrap();
        let cells = Cells::of(&execution, &LockHistory::of(&execution), Budget::lasting(Duration::ZERO));
        assert_eq!(cells.counts, [2, 1]);
    }

    #[test]
    fn the_end_of_a_thread_may_be_known_by_an_atomic() {
        let counted = SHARED.replace("w(x)\nB|rel(l)\n", "w(x)\nB|rel(l)\nB|rmw.release(n=2->1)\n");
        let counted = counted + "C|rmw.release(n=1->0)\nA|load.acquire(n=0)\nA|w(x)\n";
        assert_open(&format!("A|w(x)\n{counted}"), 0);
        assert_open(&format!("A|w(x)\n{}", counted.replace("A|load.acquire(n=0)\n", "")), 1);
    }
}
