//! Who held which locks when.
//!
//! A *section* reaches from the outermost acquire of a lock to its outermost release, or to the wait that gives it up. A
//! *lockset* is what a thread holds at one moment; there are few different ones, so they are interned and compared by
//! number.
//!
//! **Cost.** One pass. 12 bytes per section plus 16 for its two changes of the thread's lockset; locksets are stored once
//! each. Asking for a thread's lockset or its latest section at a bound is a binary search.

use std::cmp::Ordering;
use std::sync::Arc;

use foresee_trace::synchronisation::{self, Handover, LockWalk};
use foresee_trace::{EventId, Execution, LockId, Mode, Op, ThreadId};
use foresee_witness::engine::Job;
use rustc_hash::FxHashMap;

/// No event.
pub const NONE: u32 = u32::MAX;

/// Whether two holders of the same lock exclude each other.
#[inline]
pub fn exclude(a: Mode, b: Mode) -> bool {
    a == Mode::Exclusive || b == Mode::Exclusive
}

/// A set of held locks, by its number in [`Locksets`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocksetId(pub u32);

impl LocksetId {
    /// No lock held.
    pub const EMPTY: LocksetId = LocksetId(0);
}

/// All sets of locks that a thread held at some moment, each sorted by lock.
pub struct Locksets {
    sets: Vec<Box<[(LockId, Mode)]>>,
    numbers: FxHashMap<Box<[(LockId, Mode)]>, LocksetId>,
}

impl Locksets {
    fn new() -> Locksets {
        let empty: Box<[(LockId, Mode)]> = Box::new([]);
        Locksets { sets: vec![empty.clone()], numbers: FxHashMap::from_iter([(empty, LocksetId::EMPTY)]) }
    }

    /// The locks of a set, sorted.
    #[inline]
    pub fn get(&self, set: LocksetId) -> &[(LockId, Mode)] {
        &self.sets[set.0 as usize]
    }

    /// How many sets there are.
    pub fn len(&self) -> usize {
        self.sets.len()
    }

    /// Never: the empty set is always there.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// Whether two threads cannot hold these sets at the same time.
    pub fn exclude(&self, a: LocksetId, b: LocksetId) -> bool {
        let (mut a, mut b) = (self.get(a), self.get(b));
        while let (Some(&(first, mode)), Some(&(second, other))) = (a.first(), b.first()) {
            match first.cmp(&second) {
                Ordering::Less => a = &a[1..],
                Ordering::Greater => b = &b[1..],
                Ordering::Equal if exclude(mode, other) => return true,
                Ordering::Equal => (a, b) = (&a[1..], &b[1..]),
            }
        }
        false
    }

    fn intern(&mut self, mut locks: Vec<(LockId, Mode)>) -> LocksetId {
        locks.sort_unstable_by_key(|&(lock, _)| lock);
        if let Some(&known) = self.numbers.get(locks.as_slice()) {
            return known;
        }
        let id = LocksetId(self.sets.len() as u32);
        let set: Box<[(LockId, Mode)]> = locks.into();
        self.sets.push(set.clone());
        self.numbers.insert(set, id);
        id
    }
}

/// A critical section of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// The outermost acquire.
    pub acquire: u32,
    /// The event that ends it; [`NONE`] if the run ended first.
    pub release: u32,
    /// The acquire of the latest section of the same thread and lock, this one included, that is exclusive; [`NONE`]
    /// if all share.
    pub exclusive: u32,
}

/// The sections of one thread and lock, in order.
pub struct Sections {
    /// Whose they are.
    pub thread: ThreadId,
    list: Vec<Section>,
}

impl Sections {
    /// The latest section that began before `bound`.
    #[inline]
    pub fn latest(&self, bound: u32) -> Option<&Section> {
        self.list[..self.list.partition_point(|section| section.acquire < bound)].last()
    }
}

/// Every lock's and every thread's history.
pub struct LockHistory {
    /// The sets of locks that were held.
    pub locksets: Locksets,
    /// For each thread: where its lockset changed, and to what.
    changes: Vec<Vec<(u32, LocksetId)>>,
    /// For each lock: the sections of each thread that took it.
    sections: Vec<Vec<Sections>>,
    acquires: Vec<EventId>,
}

impl LockHistory {
    /// The table of a job's execution, worked out when the first engine asks.
    pub fn shared(job: &Job<'_>) -> Arc<LockHistory> {
        job.shared.get(|| LockHistory::of(job.execution))
    }

    /// The history of an execution.
    pub fn of(execution: &Execution) -> LockHistory {
        let mut builder = Builder::new(execution.thread_count());
        // Most events are accesses, of which the kind is known without looking at the variable.
        for id in execution.ids().filter(|&id| execution.access(id).is_none() && !execution.is_private(id)) {
            builder.event(execution.thread(id), id, &execution.op(id));
        }
        builder.history
    }

    /// The locks that a thread holds after its events below `bound`.
    #[inline]
    pub fn held(&self, thread: ThreadId, bound: u32) -> LocksetId {
        let changes = &self.changes[thread.index()];
        changes[..changes.partition_point(|&(at, _)| at < bound)]
            .last()
            .map_or(LocksetId::EMPTY, |&(_, held)| held)
    }

    /// The sections of a lock, by thread.
    #[inline]
    pub fn sections(&self, lock: LockId) -> &[Sections] {
        self.sections.get(lock.index()).map_or(&[], Vec::as_slice)
    }

    /// The outermost acquires, in the observed order.
    pub fn acquires(&self) -> &[EventId] {
        &self.acquires
    }

    /// Whether a thread ever held two locks at once.
    pub fn has_nested(&self) -> bool {
        self.locksets.sets.iter().any(|set| set.len() > 1)
    }

    /// What threads hold, for a walk through the events in order.
    pub fn walk(&self) -> HeldWalk<'_> {
        HeldWalk { history: self, at: vec![0; self.changes.len()] }
    }
}

/// Follows the locksets of all threads through the observed order.
pub struct HeldWalk<'h> {
    history: &'h LockHistory,
    at: Vec<u32>,
}

impl HeldWalk<'_> {
    /// What the thread holds before the event. Events must come in order.
    #[inline]
    pub fn before(&mut self, thread: ThreadId, event: EventId) -> LocksetId {
        let changes = &self.history.changes[thread.index()];
        let at = &mut self.at[thread.index()];
        while changes.get(*at as usize).is_some_and(|&(change, _)| change < event.0) {
            *at += 1;
        }
        match at.checked_sub(1) {
            Some(last) => changes[last as usize].1,
            None => LocksetId::EMPTY,
        }
    }
}

struct Builder {
    history: LockHistory,
    walk: LockWalk,
    lists: FxHashMap<(LockId, ThreadId), usize>,
    /// Which of its lock's lists has each section.
    list_of: Vec<u32>,
    /// The set after taking or giving a lock, for sets seen before.
    successors: FxHashMap<(LocksetId, LockId, Option<Mode>), LocksetId>,
}

impl Builder {
    fn new(threads: usize) -> Self {
        Builder {
            history: LockHistory {
                locksets: Locksets::new(),
                changes: vec![Vec::new(); threads],
                sections: Vec::new(),
                acquires: Vec::new(),
            },
            walk: LockWalk::new(),
            lists: FxHashMap::default(),
            list_of: Vec::new(),
            successors: FxHashMap::default(),
        }
    }

    fn event(&mut self, thread: ThreadId, id: EventId, op: &Op<'_>) {
        match self.walk.event(thread, op) {
            Some(Handover::Takes(section)) => self.take(thread, id, section),
            Some(Handover::Gives(section)) => self.give(thread, id, section),
            None => {}
        }
    }

    fn take(&mut self, thread: ThreadId, id: EventId, section: synchronisation::Section) {
        let synchronisation::Section { lock, mode, .. } = section;
        let sections = &mut self.history.sections;
        if sections.len() <= lock.index() {
            sections.resize_with(lock.index() + 1, Vec::new);
        }
        let lists = &mut sections[lock.index()];
        let list = *self.lists.entry((lock, thread)).or_insert(lists.len());
        if list == lists.len() {
            lists.push(Sections { thread, list: Vec::new() });
        }
        self.list_of.push(list as u32);
        let list_of_thread = &mut lists[list].list;
        let exclusive = match mode {
            Mode::Exclusive => id.0,
            Mode::Shared => list_of_thread.last().map_or(NONE, |last| last.exclusive),
        };
        list_of_thread.push(Section { acquire: id.0, release: NONE, exclusive });
        self.history.acquires.push(id);
        self.change(thread, id, lock, Some(mode));
    }

    fn give(&mut self, thread: ThreadId, id: EventId, section: synchronisation::Section) {
        let list = self.list_of[section.number as usize] as usize;
        if let Some(last) = self.history.sections[section.lock.index()][list].list.last_mut() {
            last.release = id.0;
        }
        self.change(thread, id, section.lock, None);
    }

    fn change(&mut self, thread: ThreadId, id: EventId, lock: LockId, taken: Option<Mode>) {
        let changes = &mut self.history.changes[thread.index()];
        let before = changes.last().map_or(LocksetId::EMPTY, |&(_, held)| held);
        let after = *self.successors.entry((before, lock, taken)).or_insert_with(|| {
            let locks = self.walk.held(thread).map(|section| (section.lock, section.mode)).collect();
            self.history.locksets.intern(locks)
        });
        changes.push((id.0, after));
    }
}
