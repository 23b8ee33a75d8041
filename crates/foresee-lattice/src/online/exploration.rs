//! What happens to one binding of a property's parameters, and all ways in which it could have happened.
//!
//! The binding's slice are those of the relevant events that happen to the binding or to a part of it. Clocks count relevant events of all bindings;
//! what a clock counts of a slice follows from where the slice's events are among them. So nothing more need be sent for a
//! property with parameters than for one without, which has one slice with everything in it.

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use foresee_monitor::formalism::Categories;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::intake::Thread;
use super::limits::Limits;
use super::recent_steps;
use super::records::Record;
use super::stage::{Reached, Stage, Watcher};
use super::witness::Log;
use crate::binding::Binding;
use crate::causality::{self, Causality, Need, Needs};
use crate::explorer::{Explorer, Options};
use crate::machine::Machine as _;
use foresee_witness::engine::Budget;

/// Steps that are behind all cuts are looked for after so many new ones.
const FORGET_AFTER: usize = 256;

/// The exploration of one binding.
pub(super) struct Exploration<'a> {
    pub(super) binding: Arc<Binding>,
    log: Arc<RwLock<Log>>,
    causality: Causality,
    tracks: Vec<Track>,
    /// None if the property reports nothing about such a binding.
    bodies: Vec<Body<'a>>,
    patience: usize,
    /// Some runs were not looked at, as steps came too late for them.
    missed: bool,
    /// What all cuts had behind them, at levels from which recent steps still begin.
    behind: VecDeque<(usize, Vec<u32>)>,
    /// The events that happen to the binding itself; `None` if they were too many to keep.
    own: Option<Vec<Arc<Record>>>,
    /// The last event that concerned it.
    pub(super) last: u32,
}

/// A thread's part of the slice.
#[derive(Default)]
struct Track {
    /// The steps that are not forgotten, and how many are.
    steps: VecDeque<Arc<Record>>,
    forgotten: u32,
    /// How many steps of each thread its last step comes after.
    known: Vec<u32>,
    /// What is known of its next step is of this version.
    version: u32,
    /// The thread of the program that has its place.
    holder: u32,
}

impl Track {
    /// How many of its steps are among the relevant events of its thread up to this position.
    fn count(&self, position: u32) -> u32 {
        // All cuts have those behind them that are forgotten: they count, whatever the position.
        self.forgotten + self.steps.partition_point(|step| step.position() <= position) as u32
    }
}

struct Body<'a> {
    watcher: Watcher<'a>,
    explorer: Explorer<'a, Watcher<'a>>,
    /// Where the observed run is.
    observed: Reached,
}

/// A verdict of a run that did not happen, at a step.
pub(super) struct PredictedVerdict {
    pub(super) body: usize,
    pub(super) before: Reached,
    pub(super) step: u32,
    pub(super) categories: Categories,
}

impl<'a> Exploration<'a> {
    pub(super) fn new(stage: &'a Stage<'a>, binding: Arc<Binding>, limits: &Limits, memory: usize) -> Self {
        let log = Arc::new(RwLock::new(Log::default()));
        let body = |script| {
            let watcher = || Watcher {
                script,
                records: &stage.records,
                binding: Arc::clone(&binding),
                log: Arc::clone(&log),
            };
            let options = Options {
                breadth: limits.breadth,
                memory,
                budget: Budget::unlimited(),
                place: &*stage.place,
                violations: limits.findings,
                known: FxHashSet::default(),
            };
            let explorer = Explorer::new(watcher(), 0, options);
            Body { observed: watcher().start(), watcher: watcher(), explorer }
        };
        let is_bound = binding.domain.len() == stage.property.params.len();
        let tells = is_bound || !stage.property.modifiers.full_binding;
        let bodies = if tells { stage.scripts.iter().map(body).collect() } else { Vec::new() };
        Exploration {
            binding,
            log,
            causality: Causality::new(0),
            tracks: Vec::new(),
            bodies,
            patience: limits.patience,
            missed: false,
            behind: VecDeque::new(),
            own: Some(Vec::new()),
            last: 0,
        }
    }

    /// Keeps an event of the binding itself for bindings that are still to come, if there are not too many.
    pub(super) fn keep(&mut self, record: &Arc<Record>, most: usize) {
        if self.own.as_ref().is_some_and(|own| own.len() >= most) {
            self.own = None;
        }
        if let Some(own) = &mut self.own {
            own.push(Arc::clone(record));
        }
    }

    /// All events of the binding itself, if they were kept.
    pub(super) fn own(&self) -> Option<&[Arc<Record>]> {
        self.own.as_deref()
    }

    /// One more event of the slice.
    pub(super) fn step(&mut self, record: &Arc<Record>) {
        self.last = record.step;
        if self.bodies.is_empty() {
            return;
        }
        self.grow(record.clock.len());
        let own = record.thread as usize;
        let mut clock = self.project(&record.clock);
        clock[own] = self.causality.count(record.thread) + 1;
        let needs = self.beyond(&clock, own);
        let past: u64 = clock.iter().map(|&count| u64::from(count)).sum::<u64>() - 1;
        let (event, letter) = (record.step, record.step);
        self.causality.push(record.thread, causality::Step { event, letter, needs, takes: SmallVec::new() });
        let track = &mut self.tracks[own];
        track.known = clock;
        track.version = 0;
        track.steps.push_back(Arc::clone(record));
        self.log.write().unwrap_or_else(PoisonError::into_inner).hear(record);
        for Body { watcher, explorer, observed } in &mut self.bodies {
            *observed = watcher.step(observed, letter).0;
            // It could have been done in a level that is left.
            self.missed |= past < explorer.level() as u64;
            explorer.resume(record.thread);
        }
        if self.causality.len().is_multiple_of(FORGET_AFTER) {
            self.forget();
        }
    }

    /// Where the observed run is.
    pub(super) fn observed(&self, body: usize) -> Option<&Reached> {
        self.bodies.get(body).map(|body| &body.observed)
    }

    /// From now on it goes no further than to this moment, if there is one.
    pub(super) fn pause_at(&mut self, moment: Option<Instant>) {
        self.bodies.iter_mut().for_each(|body| body.explorer.pause_at(moment));
    }

    /// Whether there was no time for all that is known.
    pub(super) fn is_paused(&self) -> bool {
        self.bodies.iter().any(|body| body.explorer.is_paused())
    }

    /// Explores as far as is known; what is reported there.
    pub(super) fn advance(&mut self, threads: &[Thread], is_over: bool) -> Vec<PredictedVerdict> {
        let mut reported = Vec::new();
        if self.level() == self.causality.len() {
            return reported;
        }
        self.explore(threads, is_over, &mut reported);
        // A thread that says nothing must not hold up too much.
        while !self.is_paused() && self.causality.len() - self.level() > self.patience {
            let before = self.level();
            for body in &mut self.bodies {
                let awaited: Vec<u32> = body.explorer.awaited(&self.causality).collect();
                awaited.into_iter().for_each(|thread| body.explorer.end(thread));
            }
            self.explore(threads, is_over, &mut reported);
            if self.level() == before {
                break;
            }
        }
        reported
    }

    /// What is reported if no more events come. It stays where it is.
    pub(super) fn look_ahead(&mut self) -> Vec<PredictedVerdict> {
        let mut all = Vec::new();
        for (body, Body { explorer, .. }) in self.bodies.iter_mut().enumerate() {
            if explorer.level() < self.causality.len() {
                let reported = explorer.look_ahead(&self.causality).into_iter();
                all.extend(reported.map(|(step, before, categories)| PredictedVerdict {
                    body,
                    before,
                    step,
                    categories,
                }));
            }
        }
        all
    }

    /// Whether every run was looked at, as far as events are known.
    pub(super) fn is_exhaustive(&self) -> bool {
        !self.missed && self.bodies.iter().all(|body| body.explorer.is_exhaustive())
    }

    /// How many cuts there were.
    pub(super) fn cuts(&self) -> u64 {
        self.bodies.iter().map(|body| body.explorer.cuts()).sum()
    }

    /// About how many bytes it takes, records aside.
    pub(super) fn weight(&self) -> usize {
        let threads = self.tracks.len();
        let of_body = |Body { watcher, explorer, .. }: &Body<'_>| {
            explorer.width() * (16 + watcher.bytes(threads)) + explorer.known() * 32
        };
        let entries: usize = self.bodies.iter().map(of_body).sum();
        let tracks: usize =
            self.tracks.iter().map(|track| 192 + track.steps.len() * 64 + track.known.len() * 4).sum();
        let behind = self.behind.len() * threads * 4;
        let own = self.own.as_ref().map_or(0, |own| own.len() * 8);
        1024 + entries + tracks + behind + own
    }

    /// From now on, about so many bytes for its levels.
    pub(super) fn limit(&mut self, memory: usize) {
        let memory = memory / self.bodies.len().max(1);
        self.bodies.iter_mut().for_each(|body| body.explorer.limit(memory));
    }

    /// What was heard of it.
    pub(super) fn log(&self) -> &RwLock<Log> {
        &self.log
    }

    fn explore(&mut self, threads: &[Thread], is_over: bool, reported: &mut Vec<PredictedVerdict>) {
        self.grow(threads.len());
        for (of, thread) in (0..).zip(threads) {
            if std::mem::replace(&mut self.tracks[of as usize].holder, thread.holder) != thread.holder {
                self.begin_anew(of);
            }
        }
        for body in 0..self.bodies.len() {
            if is_over {
                (0..threads.len() as u32).for_each(|thread| self.bodies[body].explorer.end(thread));
            }
            loop {
                let Body { explorer, .. } = &mut self.bodies[body];
                explorer.advance(&self.causality);
                if explorer.level() == self.causality.len() {
                    break;
                }
                // Perhaps more is known by now of a thread that holds it up.
                let is_old = |&of: &u32| self.tracks[of as usize].version != threads[of as usize].version;
                let Some(old) = explorer.awaited(&self.causality).find(is_old) else { break };
                self.learn(old, &threads[old as usize]);
            }
            let news = self.bodies[body].explorer.take_reported().into_iter();
            reported.extend(news.map(|(step, before, categories)| PredictedVerdict {
                body,
                before,
                step,
                categories,
            }));
        }
    }

    /// There is another thread in the place of one that has ended: nothing is known of its next step.
    fn begin_anew(&mut self, of: u32) {
        self.tracks[of as usize].version = 0;
        self.causality.expect(of, Needs::new());
        self.bodies.iter_mut().for_each(|body| body.explorer.resume(of));
    }

    /// Takes in what is known of a thread's next event.
    fn learn(&mut self, of: u32, thread: &Thread) {
        self.tracks[of as usize].version = thread.version;
        if thread.has_ended {
            self.bodies.iter_mut().for_each(|body| body.explorer.end(of));
        } else {
            let clock = self.project(&thread.clock);
            let needs = self.beyond(&clock, of as usize);
            self.causality.expect(of, needs);
        }
    }

    fn level(&self) -> usize {
        self.bodies.iter().map(|body| body.explorer.level()).min().unwrap_or(self.causality.len())
    }

    /// There are so many threads now.
    fn grow(&mut self, threads: usize) {
        while self.tracks.len() < threads {
            self.tracks.push(Track::default());
            self.causality.add_thread();
        }
    }

    /// What a clock counts of this slice.
    fn project(&self, clock: &[u32]) -> Vec<u32> {
        self.tracks.iter().zip(clock).map(|(track, &position)| track.count(position)).collect()
    }

    /// What a clock of a thread covers beyond its last step.
    fn beyond(&self, clock: &[u32], own: usize) -> Needs {
        let last = &self.tracks[own].known;
        (0..clock.len())
            .filter(|&of| of != own && clock[of] > last.get(of).copied().unwrap_or(0))
            .map(|of| Need { thread: of as u32, count: clock[of] })
            .collect()
    }

    /// Forgets what the points at which recent steps begin have behind them.
    fn forget(&mut self) {
        let oldest = self.bodies.iter().map(|body| body.explorer.oldest()).reduce(|mut all, more| {
            all.iter_mut().zip(more).for_each(|(all, more)| *all = (*all).min(more));
            all
        });
        let level = self.level();
        self.behind.push_back((level, oldest.unwrap_or_default()));
        // The recent steps of all entries of this level begin at that one, or later.
        let is_past = |past: &(usize, Vec<u32>)| past.0 + recent_steps::LONGEST <= level;
        while self.behind.get(1).is_some_and(is_past) {
            self.behind.pop_front();
        }
        let Some((level, oldest)) = self.behind.front().filter(|past| is_past(past)) else { return };
        let mut log = self.log.write().unwrap_or_else(PoisonError::into_inner);
        // The explorer may not know all threads yet: nothing of those is forgotten.
        for ((number, track), &before) in self.tracks.iter_mut().enumerate().zip(oldest) {
            let dead = (before - track.forgotten) as usize;
            if let Some(last) = track.steps.drain(..dead).next_back() {
                log.forget(number, last.position());
            }
            track.forgotten = before;
        }
        self.causality.forget(oldest, *level);
    }
}
