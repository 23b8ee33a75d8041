//! Seedable synthetic executions of any size, for benchmarks and tests.
//!
//! A [`Generator`] simulates threads that take locks, access variables and give the locks back; at every step a runnable
//! thread, chosen uniformly at random, does one event. Variable `v` belongs to lock `v % locks`, and inside a critical
//! section a thread accesses only variables of its innermost lock: with [`Shape::unprotected`] at 0 there is no race.
//!
//! **The run always ends well.** Every event is paid for from a budget, and whoever opens something pays for closing it at
//! once (an acquire costs 2: itself and its release). When the budget is used up, what is left to do is exactly what has
//! been paid for: releases and joins. A freed lock is handed to the thread that has waited longest, and a thread that would
//! close a cycle of waiting (possible only with [`Shape::inversions`]) does without its inner lock; so no run
//! gets stuck.
//!
//! **Cost.** Constant time per event (except for the check against cycles, which follows the chain of waiting threads), no
//! allocation after the start; memory grows with threads, locks and variables, not with events. The
//! same shape gives the same execution on every platform: all arithmetic is on integers or on basic, exactly
//! specified floating-point operations.

mod random;
mod shape;

use std::ops::Range;

use crate::TraceError;
use crate::event::{Event, Mem, Mode, Op};
use crate::ids::{LocId, LockId, ThreadId};
use crate::names::{Location, Names};
use crate::source::{EventSource, Facts};
use crate::trust::Trust;
use random::{Chance, Pick, Random};
use shape::NESTED_SHARE;
pub use shape::{Forks, Shape};

/// A critical section a thread is in.
#[derive(Clone, Copy)]
struct Section {
    lock: u32,
    accesses_left: u32,
    /// A nested section is to come first.
    nests: bool,
}

/// What a thread is about to do.
#[derive(Clone, Copy)]
enum Phase {
    /// Fork this child, and those after it.
    Fork(u32),
    Work,
    /// Acquire this lock: it is free for this thread, or will be when the thread is woken.
    Acquire(u32),
    /// Join this child, and those after it.
    Join(u32),
    Done,
}

struct Thread {
    phase: Phase,
    sections: Vec<Section>,
    /// Inner locks have lower numbers.
    descending: bool,
    /// The lock the thread waits for.
    waits_for: Option<u32>,
    /// Who else waits for the same lock, after this thread.
    next_waiting: Option<u32>,
    /// Not runnable until the child to be joined has ended.
    awaits_child: bool,
    parent: u32,
    children: Range<u32>,
}

#[derive(Clone, Copy, Default)]
struct Lock {
    owner: Option<u32>,
    first_waiting: Option<u32>,
    last_waiting: Option<u32>,
}

/// Locations of one kind of operation: one per target, in order.
#[derive(Clone, Copy)]
struct Locations(u32);

impl Locations {
    fn new(names: &mut Names, count: u32, next_line: &mut u32) -> Self {
        let file = names.intern("gen.rs");
        let first = names.locations().len() as u32;
        for _ in 0..count {
            *next_line += 1;
            names.location(Location { file, line: *next_line, ..Location::default() });
        }
        Locations(first)
    }

    #[inline]
    fn of(self, target: u32) -> LocId {
        LocId(self.0 + target)
    }
}

struct Places {
    read: Locations,
    write: Locations,
    request: Locations,
    acquire: Locations,
    release: Locations,
    fork: Locations,
    join: Locations,
}

/// A synthetic execution, made while it is read.
pub struct Generator {
    names: Names,
    facts: Facts,
    shape: Shape,
    random: Random,
    pick_variable: Pick,
    unprotected: Chance,
    write: Chance,
    nest: Chance,
    invert: Chance,
    /// Locks that have variables.
    useful_locks: u32,
    places: Places,
    memory: Vec<Mem>,
    threads: Vec<Thread>,
    locks: Vec<Lock>,
    runnable: Vec<u32>,
    /// Events that are neither made nor reserved for closing what is open.
    budget: u64,
    made: u64,
    current: Event<'static>,
}

impl Generator {
    /// The execution of this shape.
    pub fn new(shape: &Shape) -> Self {
        let mut shape = shape.clone();
        shape.variables = shape.variables.max(1);
        shape.section = shape.section.max(1);
        shape.nesting = shape.nesting.max(1);
        let forkable = u32::try_from(shape.events / 2).unwrap_or(u32::MAX - 1) + 1;
        let most_threads = if shape.forks == Forks::None { u32::MAX } else { forkable };
        shape.threads = shape.threads.clamp(1, most_threads);

        let mut names = Names::new();
        let memory = (0..shape.variables).map(|v| names.symbol(&format!("x{v}"))).collect();
        for l in 0..shape.locks {
            names.lock(&format!("l{l}"));
        }
        for t in 0..shape.threads {
            names.thread(&format!("T{t}"));
        }
        let mut line = 0;
        let mut places = |count| Locations::new(&mut names, count, &mut line);
        let places = Places {
            read: places(shape.variables),
            write: places(shape.variables),
            request: places(shape.locks),
            acquire: places(shape.locks),
            release: places(shape.locks),
            fork: places(shape.threads),
            join: places(shape.threads),
        };

        let forked = if shape.forks == Forks::None { 0 } else { u64::from(shape.threads - 1) };
        Generator {
            names,
            facts: vec![("generator".to_owned(), format!("foresee trace gen {shape}"))],
            random: Random::new(shape.seed),
            pick_variable: Pick::new(shape.variables, shape.skew),
            unprotected: Chance::new(shape.chance_of_unprotected()),
            write: Chance::new(shape.writes),
            nest: Chance::new(NESTED_SHARE),
            invert: Chance::new(shape.inversions),
            useful_locks: shape.locks.min(shape.variables),
            places,
            memory,
            threads: threads(&shape),
            locks: vec![Lock::default(); shape.locks as usize],
            runnable: (0..if shape.forks == Forks::None { shape.threads } else { 1 }).collect(),
            budget: shape.events - 2 * forked,
            made: 0,
            current: Event { thread: ThreadId(0), loc: LocId::UNKNOWN, op: Op::Branch },
            shape,
        }
    }

    /// Lets the thread in this place of `runnable` do something; `None` if it had nothing to do but wait or end.
    #[inline]
    fn step(&mut self, place: usize) -> Option<(LocId, Op<'static>)> {
        let me = self.runnable[place];
        let thread = &mut self.threads[me as usize];
        match thread.phase {
            Phase::Work => self.work(place, me),
            Phase::Acquire(lock) => {
                thread.phase = Phase::Work;
                Some(self.acquire(me, lock))
            }
            Phase::Fork(child) if child < thread.children.end => {
                thread.phase = Phase::Fork(child + 1);
                self.runnable.push(child);
                Some((self.places.fork.of(child), Op::Fork { child: ThreadId(child) }))
            }
            Phase::Fork(_) => {
                thread.phase = Phase::Work;
                self.work(place, me)
            }
            Phase::Join(child) if child < thread.children.end => {
                if !matches!(self.threads[child as usize].phase, Phase::Done) {
                    self.threads[me as usize].awaits_child = true;
                    self.runnable.swap_remove(place);
                    return None;
                }
                self.threads[me as usize].phase = Phase::Join(child + 1);
                Some((self.places.join.of(child), Op::Join { child: ThreadId(child) }))
            }
            Phase::Join(_) | Phase::Done => self.end(place, me),
        }
    }

    #[inline]
    fn work(&mut self, place: usize, me: u32) -> Option<(LocId, Op<'static>)> {
        let Some(&section) = self.threads[me as usize].sections.last() else {
            return self.work_outside(place, me);
        };
        if section.nests
            && let Some(event) = self.nest(place, me, section.lock)
        {
            return Some(event);
        }
        if section.accesses_left == 0 || self.budget == 0 {
            return Some(self.release(me, section.lock));
        }
        if let Some(section) = self.threads[me as usize].sections.last_mut() {
            section.accesses_left -= 1;
        }
        let any = self.pick_variable.pick(&mut self.random);
        let mine = any - any % self.shape.locks + section.lock;
        let variable = if mine < self.shape.variables { mine } else { section.lock };
        Some(self.access(variable))
    }

    fn work_outside(&mut self, place: usize, me: u32) -> Option<(LocId, Op<'static>)> {
        let unprotected = self.unprotected.happens(&mut self.random);
        if unprotected && self.budget > 0 {
            let variable = self.pick_variable.pick(&mut self.random);
            return Some(self.access(variable));
        }
        if !unprotected {
            let lock = self.pick_variable.pick(&mut self.random) % self.shape.locks;
            if let Some(event) = self.take(place, me, lock) {
                return Some(event);
            }
        }
        let thread = &mut self.threads[me as usize];
        thread.phase = Phase::Join(thread.children.start);
        self.step(place)
    }

    /// Starts a section inside the one of `outer`; `None` where that is not possible.
    fn nest(&mut self, place: usize, me: u32, outer: u32) -> Option<(LocId, Op<'static>)> {
        let thread = &mut self.threads[me as usize];
        thread.sections.last_mut()?.nests = false;
        if thread.sections.len() == 1 {
            thread.descending = self.invert.happens(&mut self.random);
        }
        let choices = if thread.descending { 0..outer } else { outer + 1..self.useful_locks };
        if choices.is_empty() {
            return None;
        }
        let inner = choices.start + self.random.below(choices.len() as u32);
        self.take(place, me, inner)
    }

    /// Acquires or requests a lock; `None` if the budget does not allow it or the threads would wait in a cycle.
    fn take(&mut self, place: usize, me: u32, lock: u32) -> Option<(LocId, Op<'static>)> {
        let Some(owner) = self.locks[lock as usize].owner else {
            self.budget = self.budget.checked_sub(2)?;
            self.locks[lock as usize].owner = Some(me);
            return Some(self.acquire(me, lock));
        };
        if self.waits_for_me(owner, me) {
            return None;
        }
        self.budget = self.budget.checked_sub(3)?;
        self.runnable.swap_remove(place);
        let waiting = &mut self.locks[lock as usize];
        match waiting.last_waiting.replace(me) {
            Some(last) => self.threads[last as usize].next_waiting = Some(me),
            None => waiting.first_waiting = Some(me),
        }
        let thread = &mut self.threads[me as usize];
        thread.waits_for = Some(lock);
        thread.phase = Phase::Acquire(lock);
        Some((self.places.request.of(lock), Op::Request { lock: LockId(lock), mode: Mode::Exclusive }))
    }

    fn waits_for_me(&self, mut thread: u32, me: u32) -> bool {
        loop {
            if thread == me {
                return true;
            }
            let Some(lock) = self.threads[thread as usize].waits_for else { return false };
            let Some(owner) = self.locks[lock as usize].owner else { return false };
            thread = owner;
        }
    }

    /// The event of acquiring a lock that is already reserved for the thread.
    fn acquire(&mut self, me: u32, lock: u32) -> (LocId, Op<'static>) {
        // Uniform from 1 to twice the mean, less one.
        let accesses_left = 1 + self.random.below(self.shape.section.saturating_mul(2) - 1);
        let thread = &mut self.threads[me as usize];
        let may_nest = thread.sections.len() + 1 < self.shape.nesting as usize;
        let nests = may_nest && self.nest.happens(&mut self.random);
        thread.sections.push(Section { lock, accesses_left, nests });
        (
            self.places.acquire.of(lock),
            Op::Acquire { lock: LockId(lock), mode: Mode::Exclusive, tried: false },
        )
    }

    fn release(&mut self, me: u32, lock: u32) -> (LocId, Op<'static>) {
        self.threads[me as usize].sections.pop();
        let freed = &mut self.locks[lock as usize];
        freed.owner = freed.first_waiting;
        if let Some(heir) = freed.first_waiting {
            let thread = &mut self.threads[heir as usize];
            thread.waits_for = None;
            freed.first_waiting = thread.next_waiting.take();
            if freed.first_waiting.is_none() {
                freed.last_waiting = None;
            }
            self.runnable.push(heir);
        }
        (self.places.release.of(lock), Op::Release { lock: LockId(lock), mode: Mode::Exclusive })
    }

    #[inline]
    fn access(&mut self, variable: u32) -> (LocId, Op<'static>) {
        self.budget -= 1;
        let mem = self.memory[variable as usize];
        if self.write.happens(&mut self.random) {
            (self.places.write.of(variable), Op::Write { mem, value: None })
        } else {
            (self.places.read.of(variable), Op::Read { mem, value: None })
        }
    }

    /// A thread that has joined its children ends. The main thread, alone now, first uses up the budget with reads.
    fn end(&mut self, place: usize, me: u32) -> Option<(LocId, Op<'static>)> {
        let alone = me == 0 && (self.shape.forks != Forks::None || self.threads.len() == 1);
        if alone && self.budget > 0 {
            self.budget -= 1;
            let variable = self.pick_variable.pick(&mut self.random);
            let mem = self.memory[variable as usize];
            return Some((self.places.read.of(variable), Op::Read { mem, value: None }));
        }
        self.threads[me as usize].phase = Phase::Done;
        self.runnable.swap_remove(place);
        let parent = self.threads[me as usize].parent;
        let awaiting = &mut self.threads[parent as usize];
        if awaiting.awaits_child && matches!(awaiting.phase, Phase::Join(child) if child == me) {
            awaiting.awaits_child = false;
            self.runnable.push(parent);
        }
        None
    }
}

fn threads(shape: &Shape) -> Vec<Thread> {
    let deepest = shape.nesting.min(shape.locks) as usize;
    let mut threads: Vec<Thread> = (0..shape.threads)
        .map(|t| {
            let children = shape.children(t);
            Thread {
                phase: Phase::Fork(children.start),
                sections: Vec::with_capacity(deepest),
                descending: false,
                waits_for: None,
                next_waiting: None,
                awaits_child: false,
                parent: t,
                children,
            }
        })
        .collect();
    for parent in 0..shape.threads {
        for child in shape.children(parent) {
            threads[child as usize].parent = parent;
        }
    }
    threads
}

impl EventSource for Generator {
    #[inline]
    fn advance(&mut self) -> Result<bool, TraceError> {
        while !self.runnable.is_empty() {
            let place = self.random.below(self.runnable.len() as u32) as usize;
            let thread = ThreadId(self.runnable[place]);
            if let Some((loc, op)) = self.step(place) {
                self.current = Event { thread, loc, op };
                self.made += 1;
                return Ok(true);
            }
        }
        Ok(false)
    }

    #[inline]
    fn event(&self) -> Event<'_> {
        self.current
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn trust(&self) -> Trust {
        Trust::whole()
    }

    /// In events, not bytes: there are no bytes.
    fn progress(&self) -> (u64, Option<u64>) {
        (self.made, Some(self.shape.events))
    }
}

#[cfg(test)]
mod tests;
