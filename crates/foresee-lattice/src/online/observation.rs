//! The observer's side: one property and one program.
//!
//! Each event, once its message is in order, becomes a step of the explorations it concerns. Verdicts of the observed run come from the
//! property's own monitor, which watches it from the beginning; those that the explorations predict are [checked](super::witness) first.

use std::sync::{Arc, PoisonError};
use std::time::Instant;

use foresee_monitor::formalism::Categories;
use foresee_monitor::watch::Watch;
use rustc_hash::FxHashSet;

use super::exploration::PredictedVerdict;
use super::explorations::Explorations;
use super::finding::{OnlineFinding, RunToVerdict};
use super::intake::{Intake, Lie};
use super::limits::Limits;
use super::message::{Relevant, Silent};
use super::recent_steps::RecentSteps;
use super::records::Record;
use super::stage::Stage;
use super::witness::{Checked, feed};
use crate::binding::Binding;

/// A property that watches a program.
pub struct Observation<'a> {
    stage: &'a Stage<'a>,
    limits: Limits,
    intake: Intake<'a>,
    /// Watches the observed run; `None` once that takes too much.
    watch: Option<Watch<'a>>,
    explorations: Explorations<'a>,
    /// What was reported, by body and place, of the observed run and of others.
    known: [FxHashSet<(usize, u64, Categories)>; 2],
    found: Vec<OnlineFinding>,
    reported: usize,
    refused: u64,
    /// Something could not be checked, as it began too long ago.
    unchecked: bool,
    paused: bool,
    /// About how many bytes what is kept took at the last look.
    weight: usize,
}

/// About how many bytes an instance of a monitor takes.
const INSTANCE: usize = 512;

impl<'a> Observation<'a> {
    /// Before any message.
    pub fn new(stage: &'a Stage<'a>, limits: Limits) -> Observation<'a> {
        Observation {
            stage,
            limits,
            intake: Intake::new(stage.property, &limits),
            watch: Some(Watch::new(stage.property, |_| None)),
            explorations: Explorations::new(stage, limits),
            known: Default::default(),
            found: Vec::new(),
            reported: 0,
            refused: 0,
            unchecked: false,
            paused: false,
            weight: 0,
        }
    }

    /// An event, in any order.
    pub fn relevant(&mut self, event: Relevant) -> Result<(), Lie> {
        let mut steps = Vec::new();
        let heard = self.intake.relevant(event, &mut steps);
        self.take(steps)?;
        heard
    }

    /// A promise, in any order.
    pub fn silent(&mut self, promise: Silent) -> Result<(), Lie> {
        let mut steps = Vec::new();
        let heard = self.intake.silent(promise, &mut steps);
        self.take(steps)?;
        heard
    }

    /// There will be so many messages.
    pub fn end(&mut self, messages: u32) -> Result<(), Lie> {
        self.intake.end(messages)
    }

    /// Whether all that will come is here.
    pub fn is_over(&self) -> bool {
        self.intake.is_over()
    }

    /// From now on, about so many bytes.
    pub fn limit(&mut self, memory: usize) -> Result<(), Lie> {
        self.limits.memory = memory;
        self.explorations.limit(memory);
        self.weigh()
    }

    /// Whether the last look ended before all that is known was explored.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Whether so much is kept that exploring should come before hearing more.
    pub fn is_crowded(&self) -> bool {
        self.weight > self.limits.memory / 2
    }

    /// Explores as far as is known, but no longer than to a moment, if there is one. What was found since the last call.
    pub fn advance(&mut self, until: Option<Instant>) -> Vec<OnlineFinding> {
        let (threads, is_over) = (&self.intake.threads, self.is_over());
        let paused = &mut self.paused;
        *paused = false;
        let reported = self.explorations.all().flat_map(|exploration| {
            exploration.pause_at(until);
            let reported = exploration.advance(threads, is_over).into_iter();
            *paused |= exploration.is_paused();
            reported.map(|reported| (Arc::clone(&exploration.binding), reported)).collect::<Vec<_>>()
        });
        let reported: Vec<(Arc<Binding>, PredictedVerdict)> = reported.collect();
        reported.into_iter().for_each(|(binding, reported)| self.predicted(&binding, reported));
        if self.is_crowded() {
            self.let_go();
        }
        std::mem::take(&mut self.found)
    }

    /// What is found if no more messages come. Those that come are waited for all the same.
    pub fn look_ahead(&mut self, until: Option<Instant>) -> Vec<OnlineFinding> {
        let mut found = self.advance(until);
        let reported = self.explorations.all().flat_map(|exploration| {
            let reported = exploration.look_ahead().into_iter();
            reported.map(|reported| (Arc::clone(&exploration.binding), reported)).collect::<Vec<_>>()
        });
        let reported: Vec<(Arc<Binding>, PredictedVerdict)> = reported.collect();
        reported.into_iter().for_each(|(binding, reported)| self.predicted(&binding, reported));
        found.append(&mut self.found);
        found
    }

    /// Whether every run that `hb` allows was looked at, as far as events are known.
    pub fn is_exhaustive(&self) -> bool {
        let all_heard = self.waiting() == 0 && self.watch.is_some();
        all_heard && !self.unchecked && self.explorations.is_exhaustive()
    }

    /// How many relevant events there were.
    pub fn events(&self) -> u32 {
        self.intake.count()
    }

    /// How many messages wait for others.
    pub fn waiting(&self) -> usize {
        self.intake.waiting()
    }

    /// How many cuts there were.
    pub fn cuts(&self) -> u64 {
        self.explorations.cuts()
    }

    /// How many bindings of the property's parameters were not looked at, or not to the end.
    pub fn left_out(&self) -> u64 {
        self.explorations.left_out()
    }

    /// How many runs were refused: bugs of the explorer.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Makes steps of events.
    fn take(&mut self, steps: Vec<Record>) -> Result<(), Lie> {
        for record in steps {
            let record = Arc::new(record);
            self.stage.records.insert(Arc::clone(&record));
            self.explorations.prepare(&record);
            self.observed(&record);
            self.explorations.step(&record);
            if (record.step + 1).is_multiple_of(self.limits.weigh_after) {
                self.weigh()?;
            }
        }
        self.fits(0)
    }

    /// Lets the property watch an event of the observed run, and reports its verdicts.
    fn observed(&mut self, record: &Arc<Record>) {
        let Some(watch) = &mut self.watch else { return };
        let mut heard = Vec::new();
        for (_, act) in &record.acts {
            feed(watch, act, record.number.into(), &mut |verdict| {
                let binding = Binding::of(verdict.domain, verdict.values);
                heard.push((verdict.body, binding, verdict.categories));
            });
        }
        for (body, binding, categories) in heard {
            let script = &self.stage.scripts[body];
            let reported = script.wanted(categories);
            if reported.is_empty() || !self.is_new(0, body, record, reported) {
                continue;
            }
            let exploration = self.explorations.get(&binding);
            let recent = exploration
                .and_then(|exploration| exploration.observed(body))
                .map(|observed| &observed.recent);
            let nothing = || (Arc::new(Checked::start(script)), Vec::new());
            let (from, mut steps) = recent.and_then(RecentSteps::run).unwrap_or_else(nothing);
            steps.push(Arc::clone(record));
            let whole = recent.is_some_and(RecentSteps::is_whole);
            let run = RunToVerdict { script, binding: &binding, from: &from, steps: &steps, whole };
            let found = run.found(reported, None);
            self.report(found);
        }
    }

    /// A verdict of another run: if it can be checked, it is found.
    fn predicted(&mut self, binding: &Binding, reported: PredictedVerdict) {
        let PredictedVerdict { body, before, step, categories } = reported;
        let Some(last) = self.stage.records.get(step) else { return };
        if !self.is_unknown(body, &last, categories) {
            return;
        }
        let script = &self.stage.scripts[body];
        let whole = before.recent.is_whole();
        let has_params = !self.stage.property.params.is_empty();
        if !whole && has_params && script.instance.leaves_out_bindings() {
            self.unchecked = true;
            return;
        }
        let checked = before.recent.run().zip(self.explorations.get(binding)).and_then(
            |((from, mut steps), exploration)| {
                steps.push(Arc::clone(&last));
                let log = exploration.log().read().unwrap_or_else(PoisonError::into_inner);
                let number = |thread: usize| self.intake.threads[thread].number;
                let shown = from.shows(script, binding, &log, &steps, categories, number);
                shown.ok().map(|(witness, reported)| (from, steps, witness, reported))
            },
        );
        let Some((from, steps, witness, mut reported)) = checked else {
            self.refused += 1;
            return;
        };
        if whole {
            // The property may look at fewer bindings than there are explorations.
            reported = Categories(reported.0 & script.reported_by_property(binding, &steps).0);
        }
        if reported.is_empty() || !self.is_new(1, body, &last, categories) {
            return;
        }
        let run = RunToVerdict { script, binding, from: &from, steps: &steps, whole };
        let found = run.found(reported, Some(&witness));
        self.report(found);
    }

    /// Whether this was not reported before, of any run.
    fn is_unknown(&self, body: usize, record: &Record, reported: Categories) -> bool {
        self.known.iter().all(|known| !known.contains(&(body, record.place_key, reported)))
    }

    /// Whether this was not reported before, of the observed run or of others; from now on it was.
    fn is_new(&mut self, of: usize, body: usize, record: &Record, reported: Categories) -> bool {
        self.reported < self.limits.findings && self.known[of].insert((body, record.place_key, reported))
    }

    fn report(&mut self, found: Vec<OnlineFinding>) {
        let left = self.limits.findings - self.reported;
        let before = self.found.len();
        self.found.extend(found.into_iter().take(left));
        self.reported += self.found.len() - before;
    }

    /// Lets go what takes too much; refuses to go on if that is not enough.
    fn weigh(&mut self) -> Result<(), Lie> {
        self.let_go();
        self.fits(self.weight)
    }

    /// Lets go what takes too much.
    fn let_go(&mut self) {
        let records = self.stage.records.sweep(self.limits.memory / 4);
        let explorations = self.explorations.fit(records);
        let instances: usize =
            self.watch.iter().flat_map(Watch::sizes).map(|size| size.instances + size.nodes).sum();
        if instances * INSTANCE > self.limits.memory / 4 {
            self.watch = None;
        }
        self.weight = records + explorations;
    }

    /// Refuses to go on if what cannot be left out takes too much.
    fn fits(&self, weight: usize) -> Result<(), Lie> {
        match weight + self.intake.weight() > self.limits.memory {
            true => Err(Lie::Memory(self.intake.threads.len())),
            false => Ok(()),
        }
    }
}
