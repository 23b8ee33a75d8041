//! What has to be done before an event can be: a prefix of each thread.
//!
//! Events before the cut count as done. Linear in the events added.
//!
//! Where control flow is known, only reads before a branch of their thread *count*, and those before a write that a read
//! that counts is to read: such a write must have its value.

use foresee_trace::EventId;
use rustc_hash::FxHashMap;

use super::facts::Observed;
use crate::values::{is_branch, writes_a_value};
use foresee_witness::checker::Reads;

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
    /// Reads before this position count.
    pub(super) counted: u32,
    /// The position of the target.
    pub(super) stop: u32,
}

/// So many events of a thread, of which so many have to read as observed.
struct Need {
    thread: u32,
    end: u32,
    counted: u32,
}

/// A set of events that contains what its events need.
#[derive(Clone)]
pub(super) struct Needs<'f> {
    observed: Observed<'f>,
    cut: u32,
    /// How many more events may be added.
    room: usize,
    pub(super) parts: FxHashMap<u32, Part>,
    reads: Reads,
    /// Whether only some reads count.
    pub(super) by_branches: bool,
    /// Reads that read another write of the same value, because the observed one is out of reach.
    instead: FxHashMap<u32, u32>,
}

/// How many other writes of the same value to look at.
const TRIED_WRITES: usize = 16;

impl<'f> Needs<'f> {
    pub(super) fn new(observed: Observed<'f>, cut: u32, room: usize, reads: Reads) -> Self {
        let by_branches = reads == Reads::Relaxed && observed.facts.has_branches();
        let (parts, instead) = (FxHashMap::default(), FxHashMap::default());
        Needs { observed, cut, room, parts, reads, by_branches, instead }
    }

    /// Calls `visit` with every write that `event` is to read.
    pub(super) fn sources(&self, event: u32, mut visit: impl FnMut(u32)) {
        match self.instead.get(&event) {
            Some(&write) => visit(write),
            None => self.observed.sources(event, visit),
        }
    }

    /// The write that a read is to see in the `nth` cell of its variable.
    pub(super) fn read_from(&self, read: u32, nth: usize) -> Option<u32> {
        match self.instead.get(&read) {
            Some(&write) => Some(write),
            None => self.observed.facts.read_from(read, nth),
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
        self.observed.sources(read, |write| out_of_reach |= write >= self.cut && !reachable(write));
        if out_of_reach {
            let other =
                self.observed.same_value_writes(read).take(TRIED_WRITES).find(|&write| reachable(write));
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
        self.raise(vec![Need { thread, end: position + 1, counted: 0 }])
    }

    /// Adds what an event needs so that its thread can do it next; with `reads`, so that it does as observed.
    pub(super) fn enable(&mut self, target: u32, reads: bool) -> Result<(), Stop> {
        let (thread, end) = self.place(target);
        let mut todo = vec![Need { thread, end, counted: if reads { end } else { 0 } }];
        let mut possible = true;
        self.observed
            .before_about_to(target, |before| possible &= self.need(before, target, false, &mut todo));
        if !possible {
            return Err(Stop::Impossible);
        }
        if reads {
            self.writes(target, &mut todo)?;
        }
        self.raise(todo)
    }

    fn enablers(&self, event: u32, todo: &mut Vec<Need>) -> Result<(), Stop> {
        let mut possible = true;
        self.observed.enablers(event, |before| possible &= self.need(before, event, false, todo));
        if possible { Ok(()) } else { Err(Stop::Impossible) }
    }

    fn writes(&self, read: u32, todo: &mut Vec<Need>) -> Result<(), Stop> {
        let mut possible = true;
        self.sources(read, |write| {
            let has_value = writes_a_value(self.observed.execution, EventId(write));
            possible &= self.need(write, read, has_value, todo);
        });
        if possible { Ok(()) } else { Err(Stop::Impossible) }
    }

    /// Notes that an event comes before another one. A join before the end of the joined thread, a thread that runs before
    /// its fork: no such run exists.
    fn need(&self, before: u32, event: u32, as_observed: bool, todo: &mut Vec<Need>) -> bool {
        if before >= self.cut {
            let (thread, position) = self.place(before);
            let end = position + 1;
            todo.push(Need { thread, end, counted: if as_observed { end } else { 0 } });
        }
        before < event
    }

    /// Raises the ends of threads, and those that this needs.
    fn raise(&mut self, mut todo: Vec<Need>) -> Result<(), Stop> {
        let facts = self.observed.facts;
        while let Some(Need { thread, end, mut counted }) = todo.pop() {
            let by_branches = self.by_branches;
            let part = self.part(thread);
            if end > part.stop {
                return Err(Stop::Impossible);
            }
            let events = &facts.threads[thread as usize];
            let new = part.end as usize..end.max(part.end) as usize;
            part.end = new.end as u32;
            if !by_branches {
                counted = part.end;
            } else if let Some(branch) = new.clone().rev().find(|&position| self.is_branch(events[position]))
            {
                counted = counted.max(branch as u32 + 1);
            }
            self.room = self.room.checked_sub(new.len()).ok_or(Stop::TooLarge)?;
            for &event in &events[new] {
                self.enablers(event, &mut todo)?;
            }
            let part = self.part(thread);
            let new = part.counted as usize..counted.max(part.counted) as usize;
            part.counted = new.end as u32;
            for &event in &events[new] {
                self.choose_write(event);
                self.writes(event, &mut todo)?;
            }
        }
        Ok(())
    }

    pub(super) fn is_branch(&self, event: u32) -> bool {
        is_branch(self.observed.execution, EventId(event))
    }

    /// Makes a thread part of the set, if only with no events.
    pub(super) fn know(&mut self, thread: u32) {
        self.part(thread);
    }

    fn part(&mut self, thread: u32) -> &mut Part {
        self.parts.entry(thread).or_insert_with(|| {
            let start = self.observed.facts.position_at(thread, self.cut);
            Part { start, end: start, counted: start, stop: u32::MAX }
        })
    }

    fn place(&self, event: u32) -> (u32, u32) {
        let thread = self.observed.execution.thread(EventId(event)).0;
        (thread, self.observed.facts.position[event as usize])
    }
}
