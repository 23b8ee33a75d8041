//! Runs engines over one trace and puts what they find together.
//!
//! One pass over the events feeds all streaming engines and, if any engine wants it, builds the execution, what can be on a thread of its own (`apart`); then the
//! whole-trace engines run one after the other, each knowing what is already proven. Findings at the same places are one
//! finding, with the best certainty and a witness if any engine had one.
//!
//! At the end, what the trace says of its own completeness, and whether it is a possible run at all, decides how certain
//! the findings can be: whoever runs an analysis gets the same answer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use foresee_trace::validate::Validator;
use foresee_trace::{Event, EventBatch, Execution, ExecutionBuilder, Gap, Names, Op, Trust};
use rustc_hash::FxHashMap;

use crate::apart::{Apart, Work};
use crate::atomic::AtomicFunctions;
use crate::blind::{BlindCount, BlindSections};
use crate::consequences;
use crate::engine::{Budget, Case, Engine, Outcome, Proven, Stream, StreamEngine, WholeEngine};
use crate::judge::{Certainty, Finding, FindingKind, Place};

/// What the whole analysis may spend.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Everything stops at this moment.
    pub deadline: Option<Instant>,
    /// How long engines that try what is left over may take together.
    pub rest: Duration,
    /// Whole-trace engines look at no more events than this: the trace's beginning, which is a run of its own.
    pub events: u64,
    /// They also look at no event after the first of a thread with this number: what threads know of each other takes memory for each pair.
    pub trace_threads: u64,
    /// Threads for engines that can use several.
    pub threads: usize,
    /// About so many bytes for each engine whose need does not follow from the number of events.
    pub memory: usize,
    /// Set from outside to stop soon and report what is known.
    pub interrupt: Option<&'static AtomicBool>,
}

impl Limits {
    /// Whether somebody wants it to stop.
    fn is_interrupted(&self) -> bool {
        self.interrupt.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}

/// What one engine did.
#[derive(Clone, Debug)]
pub struct EngineStats {
    /// Which.
    pub name: &'static str,
    /// How many findings it had, known ones not counted.
    pub findings: usize,
    /// Candidates it could not decide.
    pub undecided: u64,
    /// Whether its time was over: with more, it may decide more.
    pub out_of_time: bool,
    /// Findings whose witness was refused: bugs of the engine.
    pub refused: u64,
    /// How long it took; for streaming engines, not measured apart from reading.
    pub time: Option<Duration>,
}

/// An analysis in progress.
pub struct Analysis<'o> {
    atomic: AtomicFunctions,
    limits: Limits,
    streams: Vec<(&'static str, Box<dyn StreamEngine + 'o>)>,
    wholes: Vec<Whole<'o>>,
    apart: Apart,
    validator: Validator,
    blind: BlindCount,
    events: u64,
    names_seen: usize,
}

/// The part of an engine that looks at whole executions.
struct Whole<'o> {
    name: &'static str,
    rest: bool,
    engine: Box<dyn WholeEngine + 'o>,
}

/// A finished analysis.
pub struct Analysed {
    /// The execution, if it was kept.
    pub execution: Option<Execution>,
    /// What was found: by kind, then by the events.
    pub findings: Vec<Finding>,
    /// Who did what.
    pub engines: Vec<EngineStats>,
    /// How many events were read.
    pub events: u64,
    /// How many of them the whole-trace engines saw, if not all.
    pub partial: Option<u64>,
    /// What the findings rest on: what the source said of itself, and whether its events are a possible run. Their certainty is lowered
    /// accordingly.
    pub trust: Trust,
    /// In how many critical sections code ran that the trace does not show.
    pub blind: BlindSections,
    /// What engines would have to know of the run and do not, for people.
    pub unknown: Vec<String>,
}

impl<'o> Analysis<'o> {
    /// Starts these engines. Calls of `atomic` are atomic blocks; `keep` keeps the execution even if no engine needs it.
    pub fn new(
        engines: Vec<Engine<'o>>,
        atomic: AtomicFunctions,
        limits: Limits,
        keep: bool,
    ) -> Analysis<'o> {
        let (mut streams, mut wholes, mut work) = (Vec::new(), Vec::new(), Work::default());
        for Engine { name, rest, stream, whole } in engines {
            match stream {
                Some(Stream::Along(engine)) => streams.push((name, engine)),
                Some(Stream::Apart(engine)) => work.engines.push((name, engine)),
                None => {}
            }
            wholes.extend(whole.map(|engine| Whole { name, rest, engine }));
        }
        work.builder = (keep || !wholes.is_empty()).then(ExecutionBuilder::default);
        Analysis {
            atomic,
            limits,
            streams,
            wholes,
            apart: Apart::new(work, limits.threads),
            validator: Validator::new(),
            blind: BlindCount::default(),
            events: 0,
            names_seen: 0,
        }
    }

    /// The next event of the observed run, and the names its ids refer to.
    #[inline]
    pub fn event(&mut self, names: &Names, event: &Event<'_>) {
        self.learn(names);
        let is_kept = self.look_at(names, event);
        self.apart.event(event, is_kept);
    }

    /// The next events.
    pub fn events(&mut self, names: &Names, batch: &EventBatch) {
        self.learn(names);
        // What is kept is a beginning.
        let kept = batch.iter().filter(|event| self.look_at(names, event)).count();
        self.apart.events(batch, kept);
    }

    fn learn(&mut self, names: &Names) {
        // They only grow.
        let known =
            names.string_count() + names.locks().len() + names.symbols().len() + names.threads().len();
        if known != self.names_seen {
            self.names_seen = known;
            self.streams.iter_mut().for_each(|(_, engine)| engine.names(names));
        }
    }

    /// Looks at the next event, as far as that is done here; whether it is part of the execution.
    #[inline]
    fn look_at(&mut self, names: &Names, event: &Event<'_>) -> bool {
        self.validator.event(names, self.events, event);
        self.blind.event(event);
        for (_, engine) in &mut self.streams {
            engine.event(self.events, event);
        }
        let newest = match event.op {
            Op::Fork { child } => child.max(event.thread),
            _ => event.thread,
        };
        if newest.index() as u64 >= self.limits.trace_threads {
            self.limits.events = self.limits.events.min(self.events);
        }
        self.events += 1;
        self.events <= self.limits.events
    }

    /// The places of what was observed since the last call: it is in the result, too.
    pub fn news(&mut self) -> impl Iterator<Item = Vec<Place>> + '_ {
        let Analysis { streams, apart, .. } = self;
        apart.news().into_iter().chain(streams.iter_mut().flat_map(|(_, engine)| engine.news()))
    }

    /// Everything stops at this moment, whatever was said before.
    pub fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.limits.deadline = deadline;
    }

    /// Runs what is left to run. `trust` is what the source of the events says of them, with a gap more if it was not read to its
    /// end; it decides how certain findings can be. `starting` gets the name of each engine before it starts.
    pub fn finish(
        mut self,
        names: &Names,
        mut trust: Trust,
        starting: &mut dyn FnMut(&'static str),
    ) -> Analysed {
        if let Some(problem) = std::mem::take(&mut self.validator).finish().problems.first() {
            trust.add(Gap::Impossible(problem.describe(names)));
        }
        let mut together = Together::default();
        let mut engines = Vec::new();
        let nothing = Apart::new(Work::default(), 1);
        let Work { engines: apart, builder, .. } = std::mem::replace(&mut self.apart, nothing).finish();
        for (name, engine) in apart {
            together.add(name, engine.finish(names), 0, None, &mut engines);
        }
        for (name, engine) in std::mem::take(&mut self.streams) {
            together.add(name, engine.finish(names), 0, None, &mut engines);
        }
        let execution = builder.map(|builder| builder.finish(names.clone()));
        if let Some(execution) = &execution {
            self.predict(execution, &mut together, &mut engines, starting);
        }
        let partial = execution.as_ref().map(|e| e.len() as u64).filter(|&seen| seen < self.events);
        let unknown = std::mem::take(&mut together.unknown);
        let mut findings = together.findings();
        consequences::apply(&trust, execution.as_ref(), &mut findings);
        let blind = std::mem::take(&mut self.blind).finish();
        Analysed { findings, execution, engines, events: self.events, partial, trust, blind, unknown }
    }

    fn budget(&self, deadline: Option<Instant>) -> Budget {
        let Limits { threads, memory, interrupt, .. } = self.limits;
        Budget { deadline, threads, memory, interrupt }
    }

    /// Runs the engines for whole executions, except those that have nothing to work on.
    fn predict(
        &self,
        execution: &Execution,
        together: &mut Together,
        engines: &mut Vec<EngineStats>,
        starting: &mut dyn FnMut(&'static str),
    ) {
        let case = Case::new(execution, self.atomic.clone());
        let mut left = self.limits.rest;
        // Whether there is work is asked before anything is predicted, so that all engines answer by the same survey.
        let job = case.job(&together.proven, self.budget(self.limits.deadline));
        let has_work: Vec<bool> = self.wholes.iter().map(|whole| whole.engine.has_work(&job)).collect();
        for (Whole { name, rest, engine }, has_work) in self.wholes.iter().zip(has_work) {
            if !has_work {
                together.add(name, Outcome::default(), 0, Some(Duration::ZERO), engines);
                continue;
            }
            let start = Instant::now();
            // Even preparing takes an engine a pass over the execution: without time left, it does not start.
            let no_time = self.limits.deadline.is_some_and(|deadline| start >= deadline);
            if no_time || (*rest && left.is_zero()) || self.limits.is_interrupted() {
                together.add(name, Outcome { undecided: 1, ..Outcome::default() }, 0, None, engines);
                out_of_time(name, engines);
                continue;
            }
            starting(name);
            let own = if *rest { start.checked_add(left) } else { None };
            let deadline = [own, self.limits.deadline].into_iter().flatten().min();
            let before = case.refused();
            let outcome = engine.run(&case.job(&together.proven, self.budget(deadline)));
            let time = start.elapsed();
            if *rest {
                left = left.saturating_sub(time);
            }
            together.add(name, outcome, case.refused() - before, Some(time), engines);
            if deadline.is_some_and(|deadline| start + time >= deadline) {
                out_of_time(name, engines);
            }
        }
    }
}

fn out_of_time(name: &str, engines: &mut [EngineStats]) {
    engines.iter_mut().filter(|stats| stats.name == name).for_each(|stats| stats.out_of_time = true);
}

/// Findings by what they are about.
#[derive(Default)]
struct Together {
    by_place: FxHashMap<(FindingKind, Vec<Place>), usize>,
    all: Vec<Finding>,
    proven: Proven,
    unknown: Vec<String>,
}

impl Together {
    fn add(
        &mut self,
        name: &'static str,
        outcome: Outcome,
        refused: u64,
        time: Option<Duration>,
        engines: &mut Vec<EngineStats>,
    ) {
        // Two engines may follow the same property.
        for why in outcome.unknown {
            if !self.unknown.contains(&why) {
                self.unknown.push(why);
            }
        }
        let mut new = 0;
        for finding in outcome.findings {
            // A race that may not be real after an earlier one is observed, but not yet shown: others may show it.
            if finding.certainty() != Certainty::Candidate && finding.schedulable {
                self.proven.add(&finding);
            }
            let key = (finding.kind, finding.places.clone());
            match self.by_place.get(&key) {
                Some(&at) => self.all[at].absorb(finding),
                None => {
                    new += 1;
                    self.by_place.insert(key, self.all.len());
                    self.all.push(finding);
                }
            }
        }
        let undecided = outcome.undecided;
        match engines.iter_mut().find(|stats| stats.name == name) {
            Some(stats) => {
                stats.findings += new;
                stats.undecided += undecided;
                stats.refused += refused;
                stats.time = time.or(stats.time);
            }
            None => {
                let out_of_time = false;
                engines.push(EngineStats { name, findings: new, undecided, out_of_time, refused, time });
            }
        }
    }

    fn findings(mut self) -> Vec<Finding> {
        self.all.sort_by(|a, b| (a.kind, &a.events, &a.places).cmp(&(b.kind, &b.events, &b.places)));
        self.all
    }
}
