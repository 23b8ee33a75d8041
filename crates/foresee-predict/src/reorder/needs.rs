//! What has to be done before an event can be: a prefix of each thread.
//!
//! Events before the cut count as done. Linear in the events added.

use rustc_hash::FxHashMap;

use super::facts::Facts;
use crate::witness::Reads;

/// Why a set cannot grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// It would contain a target, or an event that can never be done.
    Impossible,
    /// It would be larger than allowed.
    TooLarge,
}

/// A thread's part of the set: its events at positions from `start` to `end`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) start: u32,
    pub(super) end: u32,
    /// The position of the target.
    pub(super) stop: u32,
}

/// A set of events that contains what its events need.
#[derive(Clone)]
pub(super) struct Needs<'f, 'e> {
    facts: &'f Facts<'e>,
    cut: u32,
    /// How many more events may be added.
    room: usize,
    pub(super) parts: FxHashMap<u32, Part>,
    reads: Reads,
    /// Reads that read another write of the same value, because the observed one is out of reach.
    instead: FxHashMap<u32, u32>,
}

/// How many other writes of the same value to look at.
const TRIED_WRITES: usize = 16;

impl<'f, 'e> Needs<'f, 'e> {
    pub(super) fn new(facts: &'f Facts<'e>, cut: u32, room: usize, reads: Reads) -> Self {
        Needs { facts, cut, room, parts: FxHashMap::default(), reads, instead: FxHashMap::default() }
    }

    /// Calls `visit` with every write that `event` is to read.
    pub(super) fn sources(&self, event: u32, mut visit: impl FnMut(u32)) {
        match self.instead.get(&event) {
            Some(&write) => visit(write),
            None => self.facts.sources(event, visit),
        }
    }

    /// The write that a read is to see in the `nth` cell of its variable.
    pub(super) fn read_from(&self, read: u32, nth: usize) -> Option<u32> {
        match self.instead.get(&read) {
            Some(&write) => Some(write),
            None => self.facts.read_from(read, nth),
        }
    }

    /// Whether some read was given another write than observed.
    pub(super) fn chose_writes(&self) -> bool {
        !self.instead.is_empty()
    }

    /// Lets a read whose write is out of reach read another one of the same value.
    fn choose_write(&mut self, read: u32) {
        if self.reads == Reads::SameWrite {
            return;
        }
        let reachable = |write: u32| {
            let (thread, position) = self.place(write);
            write >= self.cut && self.parts.get(&thread).is_none_or(|part| position < part.stop)
        };
        let mut out_of_reach = false;
        self.facts.sources(read, |write| out_of_reach |= write >= self.cut && !reachable(write));
        if out_of_reach {
            let other = self.facts.same_value_writes(read).take(TRIED_WRITES).find(|&write| reachable(write));
            self.instead.extend(other.map(|write| (read, write)));
        }
    }

    /// Never adds this event or a later one of its thread.
    pub(super) fn stop_at(&mut self, target: u32) -> Result<(), Stop> {
        if target < self.cut {
            return Err(Stop::Impossible);
        }
        let (thread, position) = self.place(target);
        self.part(thread).stop = position;
        Ok(())
    }

    /// Adds an event and what it needs.
    pub(super) fn add(&mut self, event: u32) -> Result<(), Stop> {
        let (thread, position) = self.place(event);
        self.raise(vec![(thread, position + 1)])
    }

    /// Adds what an event needs so that its thread can do it next; with `reads`, also the writes it reads.
    pub(super) fn enable(&mut self, target: u32, reads: bool) -> Result<(), Stop> {
        let mut todo = vec![self.place(target)];
        let mut possible = true;
        self.pre(target, reads, &mut todo, &mut possible);
        if !possible {
            return Err(Stop::Impossible);
        }
        self.raise(todo)
    }

    fn pre(&self, event: u32, reads: bool, todo: &mut Vec<(u32, u32)>, possible: &mut bool) {
        let mut need = |before: u32| {
            // A join before the end of the joined thread, a thread that runs before its fork: no such run exists.
            *possible &= before < event;
            if before >= self.cut {
                let (thread, position) = self.place(before);
                todo.push((thread, position + 1));
            }
        };
        self.facts.enablers(event, &mut need);
        if reads {
            self.sources(event, need);
        }
    }

    /// Raises the ends of threads, and those that this needs.
    fn raise(&mut self, mut todo: Vec<(u32, u32)>) -> Result<(), Stop> {
        while let Some((thread, end)) = todo.pop() {
            let part = self.part(thread);
            if end > part.stop {
                return Err(Stop::Impossible);
            }
            let from = part.end;
            if end <= from {
                continue;
            }
            part.end = end;
            self.room = self.room.checked_sub((end - from) as usize).ok_or(Stop::TooLarge)?;
            let mut possible = true;
            let facts = self.facts;
            for &event in &facts.threads[thread as usize][from as usize..end as usize] {
                self.choose_write(event);
                self.pre(event, true, &mut todo, &mut possible);
            }
            if !possible {
                return Err(Stop::Impossible);
            }
        }
        Ok(())
    }

    /// Makes a thread part of the set, if only with no events.
    pub(super) fn know(&mut self, thread: u32) {
        self.part(thread);
    }

    fn part(&mut self, thread: u32) -> &mut Part {
        self.parts.entry(thread).or_insert_with(|| {
            let start = self.facts.position_at(thread, self.cut);
            Part { start, end: start, stop: u32::MAX }
        })
    }

    fn place(&self, event: u32) -> (u32, u32) {
        let thread = self.facts.execution.thread(foresee_trace::EventId(event)).0;
        (thread, self.facts.position[event as usize])
    }
}
