//! The observer's side: one property and one program.
//!
//! Messages wait until all that came before them are there; then each event becomes a step. What a message claims is
//! compared with what is known: numbers and counts that do not fit are [lies](Lie), and there is no going on after one.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};

use foresee_monitor::formalism::Categories;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::found::{Found, Run};
use super::message::{Act, Relevant, Silent};
use super::stage::{Reached, Record, Stage, Watcher};
use crate::engine::Budget;
use crate::finding::Certainty;
use crate::lattice::causality::{self, Causality, Need, Needs};
use crate::lattice::explorer::{Breadth, Explorer, Options};
use crate::lattice::machine::Machine as _;

/// What one program may ask of the observer.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many cuts of a level go on.
    pub breadth: Breadth,
    /// At most so many entries in a level.
    pub entries: usize,
    /// Threads that do something relevant.
    pub threads: usize,
    /// Messages that wait for others.
    pub buffered: usize,
    /// What one event may be to the property.
    pub acts: usize,
    /// So many steps may wait for a thread that says nothing.
    pub patience: usize,
    /// So many findings are told.
    pub findings: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            breadth: Breadth::All,
            entries: 1 << 16,
            threads: 512,
            buffered: 1 << 16,
            acts: 64,
            patience: 1 << 10,
            findings: 1000,
        }
    }
}

/// What cannot be true, or is too much.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum Lie {
    #[error("there is no property {0}")]
    Property(u32),
    #[error("message {0} came twice")]
    Twice(u32),
    #[error("message {0} came after the end")]
    AfterEnd(u32),
    #[error("message {0} speaks of what the property does not have")]
    OutOfRange(u32),
    #[error("message {0}: the clock of thread {1} goes back")]
    GoesBack(u32, u32),
    #[error("message {0} is said to come after events that came later")]
    Future(u32),
    #[error("message {0} is of thread {1}, which has ended")]
    Ended(u32, u32),
    #[error("more than {0} messages wait for others")]
    Buffered(usize),
    #[error("more than {0} threads")]
    Threads(usize),
}

/// A property that watches a program.
pub struct Observation<'a> {
    stage: &'a Stage<'a>,
    limits: Limits,
    /// Threads in the order in which they became known.
    threads: Vec<Thread>,
    by_number: FxHashMap<u32, u32>,
    /// How many messages are taken.
    taken: u32,
    /// How many of them were events.
    count: u32,
    /// Messages that came too early.
    ahead: BTreeMap<u32, Said>,
    /// How many messages there will be.
    end: Option<u32>,
    causality: Causality,
    bodies: Vec<Body<'a>>,
    places: RandomState,
    /// Some runs were not looked at, as steps came too late for them.
    missed: bool,
    found: Vec<Found>,
    told: usize,
}

/// A message with a number.
enum Said {
    Relevant(Relevant),
    Silent(Silent),
}

struct Body<'a> {
    watcher: &'a Watcher<'a>,
    explorer: Explorer<'a, Watcher<'a>>,
    /// Where the observed run is.
    observed: Reached,
    known: FxHashSet<(u64, Categories)>,
}

#[derive(Default)]
struct Thread {
    clock: Vec<u32>,
    has_ended: bool,
    /// The numbers of its steps that are not forgotten, and of the first one in the thread.
    steps: std::collections::VecDeque<u32>,
    forgotten: u32,
}

/// Steps that are behind all cuts are looked for after so many new ones.
const FORGET_AFTER: u32 = 256;

impl<'a> Observation<'a> {
    /// Before any message.
    pub fn new(stage: &'a Stage<'a>, limits: Limits) -> Observation<'a> {
        let body = |watcher: &'a Watcher<'a>| {
            let options = Options {
                breadth: limits.breadth,
                entries: limits.entries,
                budget: Budget::unlimited(),
                place: &*stage.place,
                violations: limits.findings,
                known: FxHashSet::default(),
            };
            let explorer = Explorer::new(watcher, 0, options);
            Body { watcher, explorer, observed: watcher.start(), known: FxHashSet::default() }
        };
        Observation {
            stage,
            limits,
            threads: Vec::new(),
            by_number: FxHashMap::default(),
            taken: 0,
            count: 0,
            ahead: BTreeMap::new(),
            end: None,
            causality: Causality::new(0),
            bodies: stage.watchers.iter().map(body).collect(),
            places: RandomState::new(),
            missed: false,
            found: Vec::new(),
            told: 0,
        }
    }

    /// An event, in any order.
    pub fn relevant(&mut self, event: Relevant) -> Result<(), Lie> {
        self.is_in_range(&event)?;
        self.hear(event.number, Said::Relevant(event))
    }

    /// A promise, in any order.
    pub fn silent(&mut self, promise: Silent) -> Result<(), Lie> {
        self.hear(promise.number, Said::Silent(promise))
    }

    /// There will be so many messages.
    pub fn end(&mut self, messages: u32) -> Result<(), Lie> {
        let last = self.ahead.last_key_value().map_or(self.taken, |(last, _)| last + 1);
        if last > messages || self.end.is_some_and(|end| end != messages) {
            return Err(Lie::AfterEnd(messages));
        }
        self.end = Some(messages);
        Ok(())
    }

    /// Whether all that will come is here.
    pub fn is_over(&self) -> bool {
        self.end == Some(self.taken)
    }

    /// Explores as far as is known. What was found since the last call.
    pub fn advance(&mut self) -> Vec<Found> {
        if self.is_over() {
            self.wait_for_nobody();
        }
        self.explore();
        // A thread that says nothing must not hold up too much.
        while self.causality.len() - self.level() > self.limits.patience {
            let before = self.level();
            for body in &mut self.bodies {
                let awaited: Vec<u32> = body.explorer.awaited(&self.causality).collect();
                awaited.into_iter().for_each(|thread| body.explorer.end(thread));
            }
            self.explore();
            if self.level() == before {
                break;
            }
        }
        std::mem::take(&mut self.found)
    }

    /// What is found if no more messages come. Those that come are waited for all the same.
    pub fn look_ahead(&mut self) -> Vec<Found> {
        let mut found = self.advance();
        for body in 0..self.bodies.len() {
            for (event, state, told) in self.bodies[body].explorer.look_ahead(&self.causality) {
                self.tell(body, &state, event, told, Certainty::Predicted);
            }
        }
        found.append(&mut self.found);
        found
    }

    /// Whether every run that `hb` allows was looked at, as far as events are known.
    pub fn is_exhaustive(&self) -> bool {
        !self.missed && self.ahead.is_empty() && self.bodies.iter().all(|body| body.explorer.is_exhaustive())
    }

    /// How many relevant events there were.
    pub fn events(&self) -> u32 {
        self.count
    }

    /// How many messages wait for others.
    pub fn waiting(&self) -> usize {
        self.ahead.len()
    }

    /// How many cuts there were.
    pub fn cuts(&self) -> u64 {
        self.bodies.iter().map(|body| body.explorer.cuts()).sum()
    }

    fn level(&self) -> usize {
        self.bodies.iter().map(|body| body.explorer.level()).min().unwrap_or(self.causality.len())
    }

    fn wait_for_nobody(&mut self) {
        for thread in 0..self.threads.len() as u32 {
            self.bodies.iter_mut().for_each(|body| body.explorer.end(thread));
        }
    }

    fn is_in_range(&self, event: &Relevant) -> Result<(), Lie> {
        let property = self.stage.property;
        let fits = |act: &Act| match act {
            Act::Event(nth, args) => {
                property.events.get(*nth as usize).is_some_and(|event| event.arity == args.len())
            }
            Act::Assign(var, _) => (*var as usize) < property.vars.len(),
        };
        let few = !event.acts.is_empty() && event.acts.len() <= self.limits.acts;
        if few && event.acts.iter().all(fits) {
            return Ok(());
        }
        Err(Lie::OutOfRange(event.number))
    }

    /// Takes the message, and those that waited for it.
    fn hear(&mut self, number: u32, said: Said) -> Result<(), Lie> {
        // The last number stands for silent steps.
        if number == u32::MAX || self.end.is_some_and(|end| number >= end) {
            return Err(Lie::AfterEnd(number));
        }
        if number < self.taken || self.ahead.insert(number, said).is_some() {
            return Err(Lie::Twice(number));
        }
        while let Some(said) = self.ahead.remove(&self.taken) {
            match said {
                Said::Relevant(event) => self.step(event)?,
                Said::Silent(promise) => self.promise(&promise)?,
            }
            self.taken += 1;
        }
        match self.ahead.len() > self.limits.buffered {
            true => Err(Lie::Buffered(self.limits.buffered)),
            false => Ok(()),
        }
    }

    fn thread(&mut self, number: u32) -> Result<u32, Lie> {
        if let Some(&thread) = self.by_number.get(&number) {
            return Ok(thread);
        }
        if self.threads.len() == self.limits.threads {
            return Err(Lie::Threads(self.limits.threads));
        }
        self.threads.push(Thread::default());
        let thread = self.causality.add_thread();
        self.by_number.insert(number, thread);
        Ok(thread)
    }

    /// The counts by thread of ours; `at` says where they were claimed.
    fn clock(&self, at: u32, pairs: &[(u32, u32)]) -> Result<Vec<u32>, Lie> {
        let mut clock = vec![0; self.threads.len()];
        for (number, count) in pairs {
            let Some(&thread) = self.by_number.get(number) else { return Err(Lie::Future(at)) };
            clock[thread as usize] = *count;
        }
        Ok(clock)
    }

    fn step(&mut self, event: Relevant) -> Result<(), Lie> {
        let at = event.number;
        let thread = self.thread(event.thread)?;
        let mut clock = self.clock(at, &event.clock)?;
        let own = thread as usize;
        let before = &self.threads[own];
        let last = |of: usize| before.clock.get(of).copied().unwrap_or(0);
        if before.has_ended {
            return Err(Lie::Ended(at, event.thread));
        }
        if clock[own] != self.causality.count(thread) + 1 || (0..clock.len()).any(|of| clock[of] < last(of)) {
            return Err(Lie::GoesBack(at, event.thread));
        }
        if (0..clock.len()).any(|of| of != own && clock[of] > self.causality.count(of as u32)) {
            return Err(Lie::Future(at));
        }
        let past: u64 = clock.iter().map(|&count| u64::from(count)).sum::<u64>() - 1;
        let needs = self.beyond(&clock, own);
        let step = self.count;
        self.causality
            .push(thread, causality::Step { event: step, letter: step, needs, takes: SmallVec::new() });
        std::mem::swap(&mut self.threads[own].clock, &mut clock);
        self.threads[own].steps.push_back(step);
        let place = self.places.hash_one(&event.place);
        self.stage.records.insert(Record { step, event, place });
        for body in 0..self.bodies.len() {
            let Body { watcher, explorer, observed, known } = &mut self.bodies[body];
            let (next, told) = watcher.step(observed, step);
            let before = std::mem::replace(observed, next);
            // It could have been done in a level that is left.
            self.missed |= past < explorer.level() as u64;
            explorer.resume(thread);
            if !told.is_empty() {
                explorer.know(place, told);
                if known.insert((place, told)) {
                    self.tell(body, &before, step, told, Certainty::Observed);
                }
            }
        }
        self.count += 1;
        if self.count.is_multiple_of(FORGET_AFTER) {
            self.forget();
        }
        Ok(())
    }

    fn promise(&mut self, promise: &Silent) -> Result<(), Lie> {
        let at = promise.number;
        let thread = self.thread(promise.thread)?;
        let clock = self.clock(at, &promise.clock)?;
        let own = thread as usize;
        if (0..clock.len()).any(|of| clock[of] > self.causality.count(of as u32)) {
            return Err(Lie::Future(at));
        }
        if clock[own] < self.causality.count(thread) {
            return Err(Lie::GoesBack(at, promise.thread));
        }
        if promise.ended {
            self.threads[own].has_ended = true;
            self.bodies.iter_mut().for_each(|body| body.explorer.end(thread));
        } else {
            let needs = self.beyond(&clock, own);
            self.causality.expect(thread, needs);
        }
        Ok(())
    }

    /// What a clock of a thread covers beyond its last step.
    fn beyond(&self, clock: &[u32], own: usize) -> Needs {
        let last = &self.threads[own].clock;
        (0..clock.len())
            .filter(|&of| of != own && clock[of] > last.get(of).copied().unwrap_or(0))
            .map(|of| Need { thread: of as u32, count: clock[of] })
            .collect()
    }

    fn explore(&mut self) {
        for body in 0..self.bodies.len() {
            let explorer = &mut self.bodies[body].explorer;
            explorer.advance(&self.causality);
            for (event, state, told) in explorer.take_told() {
                self.tell(body, &state, event, told, Certainty::Predicted);
            }
        }
    }

    fn tell(&mut self, body: usize, before: &Reached, event: u32, told: Categories, certainty: Certainty) {
        let Some(last) = self.stage.records.get(event) else { return };
        let run = Run::new(self.stage.property, self.bodies[body].watcher, before, last);
        for handler in told.indices() {
            if self.told == self.limits.findings {
                return;
            }
            self.told += 1;
            self.found.push(run.found(&self.stage.property.bodies[body].handlers[handler], certainty));
        }
    }

    /// Forgets what all cuts have behind them.
    fn forget(&mut self) {
        let oldest = self.bodies.iter().map(|body| body.explorer.oldest()).reduce(|mut all, more| {
            all.iter_mut().zip(more).for_each(|(all, more)| *all = (*all).min(more));
            all
        });
        // The explorer may not know all threads yet: nothing of those is forgotten.
        let oldest = oldest.unwrap_or_default();
        for (thread, &before) in self.threads.iter_mut().zip(&oldest) {
            let dead = (before - thread.forgotten) as usize;
            self.stage.records.forget(thread.steps.drain(..dead.min(thread.steps.len())));
            thread.forgotten = before;
        }
        self.causality.forget(&oldest, self.level());
    }
}
