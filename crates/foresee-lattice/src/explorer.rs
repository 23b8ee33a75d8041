//! Walks through the computation lattice, level by level (Sen, Roşu, Agha: *Detecting errors in multithreaded programs by
//! generalized predictive analysis of executions*, 2005).
//!
//! A path from the empty cut upwards is a run that the [`Causality`] allows; the machine runs along all paths at once. Cuts that are
//! reached with the same state are one entry, so there are at most as many entries as cuts times states, though the paths are
//! exponentially many. Two levels are in memory, never more.
//!
//! **Breadth.** With [`Breadth::Most`], only the most promising cuts of each level go on: the one of the observed run, then those
//! whose state is nearest to a verdict, then those nearest to the observed run. `Most(1)` is the observed run. A
//! limit on memory is a breadth, too, and [`Report::exhaustive`] says whether anything was left out.
//!
//! **Events that come while it goes on.** [`Explorer::advance`] goes as far as the known steps allow: a level is left when the next
//! step of every thread is known for all its cuts, cannot happen there yet ([`Causality::expect`]), or the thread has
//! [ended](Explorer::end); at a [moment](Explorer::pause_at) that was set it pauses before the next level, and goes on there later. [`Explorer::oldest`] gives the steps that all cuts have behind them; [`Causality::forget`] drops them.
//!
//! **Cost.** See `level`: time linear in the edges of the lattice, memory two levels, one of them twice while it is made.

use std::time::Instant;

use foresee_monitor::formalism::Categories;
use rustc_hash::FxHashSet;

use super::causality::Causality;
use super::guide::Guide;
use super::level::{Group, VerdictAt};
use super::machine::Machine;
use super::trail;
use super::walk::Walk;

pub use super::options::{Breadth, Options};

/// A reported verdict, and how to get there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The verdicts.
    pub categories: Categories,
    /// The threads whose steps lead there, in order; the last step is the one with the verdict.
    pub path: Vec<u32>,
    /// The event of that step.
    pub event: u32,
}

/// What is known at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// One per place and verdict, those with the fewest steps first.
    pub violations: Vec<Violation>,
    /// How many cuts there are (of the part that was explored).
    pub cuts: u64,
    /// How many entries: cuts times states.
    pub entries: u64,
    /// The most entries in a level.
    pub widest: usize,
    /// How many levels were completed; the empty cut is one.
    pub levels: usize,
    /// Whether every run was looked at.
    pub exhaustive: bool,
}

/// An exploration in progress.
pub struct Explorer<'a, M: Machine> {
    machine: M,
    options: Options<'a>,
    walk: Walk<M::State>,
    ended: Vec<bool>,
    known: FxHashSet<Group>,
    reported: Vec<(usize, VerdictAt<M::State>)>,
    cuts: u64,
    entries: u64,
    widest: usize,
    stopped: bool,
    pause_at: Option<Instant>,
    paused: bool,
}

impl<'a, M: Machine> Explorer<'a, M> {
    /// At the empty cut.
    pub fn new(machine: M, threads: usize, mut options: Options<'a>) -> Self {
        let known = std::mem::take(&mut options.known);
        let walk = Walk::start(threads, machine.start());
        Explorer {
            machine,
            options,
            walk,
            ended: vec![false; threads],
            known,
            reported: Vec::new(),
            cuts: 1,
            entries: 1,
            widest: 1,
            stopped: false,
            pause_at: None,
            paused: false,
        }
    }

    /// From now on [`Explorer::advance`] goes no further than to this moment, if there is one; it can be called again.
    pub fn pause_at(&mut self, moment: Option<Instant>) {
        self.pause_at = moment;
    }

    /// Whether the last [`Explorer::advance`] was paused while there was more to do.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// No more steps of this thread will come; or they are not waited for.
    pub fn end(&mut self, thread: u32) {
        let threads = self.ended.len().max(thread as usize + 1);
        self.ended.resize(threads, false);
        self.ended[thread as usize] = true;
    }

    /// Steps of this thread are waited for again.
    pub fn resume(&mut self, thread: u32) {
        if let Some(ended) = self.ended.get_mut(thread as usize) {
            *ended = false;
        }
    }

    /// How many places and verdicts are known, and not reported again.
    pub fn known(&self) -> usize {
        self.known.len()
    }

    /// The verdicts since the last call: the event, the state before it, and the verdict. They will be missing in the report at the end.
    pub fn take_reported(&mut self) -> Vec<(u32, M::State, Categories)> {
        self.reported
            .drain(..)
            .map(|(_, reported)| (reported.event, reported.state, reported.categories))
            .collect()
    }

    /// How many steps the cuts have by now.
    pub fn level(&self) -> usize {
        self.walk.level
    }

    /// Whether nothing was left out so far.
    pub fn is_exhaustive(&self) -> bool {
        !self.walk.left_out && !self.stopped
    }

    /// How many entries the present level has.
    pub fn width(&self) -> usize {
        self.walk.width()
    }

    /// From now on, about so many bytes for the levels.
    pub fn limit(&mut self, memory: usize) {
        self.options.memory = memory;
    }

    /// How many cuts there were so far.
    pub fn cuts(&self) -> u64 {
        self.cuts
    }

    /// Goes on as far as the known steps and the budget allow. Whether something new was reported.
    pub fn advance(&mut self, causality: &Causality) -> bool {
        let before = self.reported.len();
        self.paused = false;
        self.ended.resize(causality.threads(), false);
        self.walk.grow(causality.threads());
        while !self.stopped && self.awaited(causality).next().is_none() {
            if self.options.budget.is_exhausted() {
                self.stopped = true;
                break;
            }
            if self.pause_at.is_some_and(|moment| Instant::now() >= moment) {
                self.paused = self.walk.level < causality.len();
                break;
            }
            let Explorer { machine, options, known, walk, .. } = self;
            let guide = Guide { causality, machine, options, known, within: None };
            let Some(reported) = walk.step(&guide) else { break };
            for (group, reported) in reported {
                if self.reported.len() < self.options.violations && self.known.insert(group) {
                    self.reported.push((self.walk.level - 1, reported));
                }
            }
            let (entries, cuts) = self.walk.size();
            self.cuts += cuts as u64;
            self.entries += entries as u64;
            self.widest = self.widest.max(entries);
        }
        self.reported.len() > before
    }

    /// What would be reported if no more steps came; it is not reported again. The exploration stays where it is.
    pub fn look_ahead(&mut self, causality: &Causality) -> Vec<(u32, M::State, Categories)> {
        let (walk, ended) = (self.walk.clone(), self.ended.clone());
        let (cuts, entries, widest, stopped) = (self.cuts, self.entries, self.widest, self.stopped);
        self.ended.resize(causality.threads(), true);
        self.ended.fill(true);
        self.advance(causality);
        (self.walk, self.ended) = (walk, ended);
        (self.cuts, self.entries, self.widest, self.stopped) = (cuts, entries, widest, stopped);
        self.take_reported()
    }

    /// The threads that hold it up: in some cut of the level their next step, which is not known, could happen.
    pub fn awaited<'e>(&'e self, causality: &'e Causality) -> impl Iterator<Item = u32> + 'e {
        let all = 0..causality.threads() as u32;
        let is_awaited = |&thread: &u32| !self.ended.get(thread as usize).copied().unwrap_or(false);
        all.filter(is_awaited).filter(|&thread| self.walk.waits_for(thread, causality))
    }

    /// The steps that all cuts have behind them, by thread.
    pub fn oldest(&self) -> Vec<u32> {
        self.walk.range().0
    }

    /// What is known when no more steps come. `causality` must still know all steps, or there are no paths to show.
    pub fn finish(mut self, causality: &Causality) -> Report {
        self.ended.fill(true);
        self.advance(causality);
        let exhaustive = !self.walk.left_out && !self.stopped;
        let path = |&(level, ref reported): &(usize, VerdictAt<M::State>)| {
            let known = &self.known;
            let within = (!self.walk.left_out).then_some(&reported.cut[..]);
            let guide = Guide { causality, machine: &self.machine, options: &self.options, known, within };
            let mut path = trail::to(&guide, level, &reported.cut, &reported.state)?;
            path.push(reported.thread);
            Some(Violation { categories: reported.categories, path, event: reported.event })
        };
        Report {
            violations: self.reported.iter().filter_map(path).collect(),
            cuts: self.cuts,
            entries: self.entries,
            widest: self.widest,
            levels: self.walk.level + 1,
            exhaustive,
        }
    }
}

/// Explores everything there is.
pub fn explore<M: Machine>(causality: &Causality, machine: &M, options: Options<'_>) -> Report {
    Explorer::new(machine, causality.threads(), options).finish(causality)
}
