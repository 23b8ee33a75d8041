//! The observer's side: one property and one program.
//!
//! Each event, once its message is in order, becomes a step of the slices it concerns. What the observed run itself has is told by the property's own monitor, which watches it from the beginning; what the slices tell is
//! [checked](super::witness) first.

use std::sync::{Arc, PoisonError};

use foresee_monitor::formalism::Categories;
use foresee_monitor::watch::Watch;
use rustc_hash::FxHashSet;

use super::found::{Found, Run};
use super::intake::{Intake, Lie};
use super::message::{Relevant, Silent};
use super::records::Record;
use super::slice::Told;
use super::slices::Slices;
use super::stage::Stage;
use super::way::Way;
use super::witness::{Checked, feed};
use crate::binding::Binding;
use crate::explorer::Breadth;

/// What one program may ask of the observer.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many cuts of a level go on.
    pub breadth: Breadth,
    /// About so many bytes for each property.
    pub memory: usize,
    /// Bindings of its parameters that are looked at.
    pub slices: usize,
    /// Messages that wait for others.
    pub buffered: usize,
    /// What one event may be to the property.
    pub acts: usize,
    /// So many steps may wait for a thread that says nothing.
    pub patience: usize,
    /// So many findings are told.
    pub findings: usize,
    /// After so many events memory is looked at.
    pub weigh_after: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            breadth: Breadth::All,
            memory: 256 << 20,
            slices: 1 << 14,
            buffered: 1 << 16,
            acts: 64,
            patience: 1 << 10,
            findings: 1000,
            weigh_after: 256,
        }
    }
}

/// A property that watches a program.
pub struct Observation<'a> {
    stage: &'a Stage<'a>,
    limits: Limits,
    intake: Intake<'a>,
    /// Watches the observed run; `None` once that takes too much.
    watch: Option<Watch<'a>>,
    slices: Slices<'a>,
    /// What was told, by body and place, of the observed run and of others.
    known: [FxHashSet<(usize, u64, Categories)>; 2],
    found: Vec<Found>,
    told: usize,
    refused: u64,
    /// Something could not be checked, as it began too long ago.
    unchecked: bool,
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
            slices: Slices::new(stage, limits),
            known: Default::default(),
            found: Vec::new(),
            told: 0,
            refused: 0,
            unchecked: false,
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

    /// Explores as far as is known. What was found since the last call.
    pub fn advance(&mut self) -> Vec<Found> {
        let (threads, is_over) = (&self.intake.threads, self.is_over());
        let told = self.slices.all().flat_map(|slice| {
            let told = slice.advance(threads, is_over).into_iter();
            told.map(|told| (Arc::clone(&slice.binding), told)).collect::<Vec<_>>()
        });
        let told: Vec<(Arc<Binding>, Told)> = told.collect();
        told.into_iter().for_each(|(binding, told)| self.predicted(&binding, told));
        std::mem::take(&mut self.found)
    }

    /// What is found if no more messages come. Those that come are waited for all the same.
    pub fn look_ahead(&mut self) -> Vec<Found> {
        let mut found = self.advance();
        let told = self.slices.all().flat_map(|slice| {
            let told = slice.look_ahead().into_iter();
            told.map(|told| (Arc::clone(&slice.binding), told)).collect::<Vec<_>>()
        });
        let told: Vec<(Arc<Binding>, Told)> = told.collect();
        told.into_iter().for_each(|(binding, told)| self.predicted(&binding, told));
        found.append(&mut self.found);
        found
    }

    /// Whether every run that `hb` allows was looked at, as far as events are known.
    pub fn is_exhaustive(&self) -> bool {
        let all_heard = self.waiting() == 0 && self.watch.is_some();
        all_heard && !self.unchecked && self.slices.is_exhaustive()
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
        self.slices.cuts()
    }

    /// How many bindings of the property's parameters were not looked at, or not to the end.
    pub fn left_out(&self) -> u64 {
        self.slices.left_out()
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
            self.slices.prepare(&record);
            self.observed(&record);
            self.slices.step(&record);
            if (record.step + 1).is_multiple_of(self.limits.weigh_after) {
                self.weigh()?;
            }
        }
        self.fits(0)
    }

    /// Lets the property watch an event of the observed run, and tells what it says.
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
            let told = script.wanted(categories);
            if told.is_empty() || !self.is_new(0, body, record, told) {
                continue;
            }
            let slice = self.slices.get(&binding);
            let way = slice.and_then(|slice| slice.observed(body)).map(|observed| &observed.way);
            let nothing = || (Arc::new(Checked::start(script)), Vec::new());
            let (from, mut steps) = way.and_then(Way::run).unwrap_or_else(nothing);
            steps.push(Arc::clone(record));
            let whole = way.is_some_and(Way::is_whole);
            let run = Run { script, binding: &binding, from: &from, steps: &steps, whole };
            let found = run.found(told, None);
            self.tell(found);
        }
    }

    /// Something is told in another run: if that can be checked, it is found.
    fn predicted(&mut self, binding: &Binding, told: Told) {
        let Told { body, before, step, categories } = told;
        let Some(last) = self.stage.records.get(step) else { return };
        if !self.is_unknown(body, &last, categories) {
            return;
        }
        let script = &self.stage.scripts[body];
        let whole = before.way.is_whole();
        let has_params = !self.stage.property.params.is_empty();
        if !whole && has_params && script.instance.leaves_out_bindings() {
            self.unchecked = true;
            return;
        }
        let checked =
            before.way.run().zip(self.slices.get(binding)).and_then(|((from, mut steps), slice)| {
                steps.push(Arc::clone(&last));
                let log = slice.log().read().unwrap_or_else(PoisonError::into_inner);
                let number = |thread: usize| self.intake.threads[thread].number;
                let shown = from.shows(script, binding, &log, &steps, categories, number);
                shown.ok().map(|(witness, told)| (from, steps, witness, told))
            });
        let Some((from, steps, witness, mut told)) = checked else {
            self.refused += 1;
            return;
        };
        if whole {
            // The property may look at fewer bindings than there are slices.
            told = Categories(told.0 & script.told_by_property(binding, &steps).0);
        }
        if told.is_empty() || !self.is_new(1, body, &last, categories) {
            return;
        }
        let run = Run { script, binding, from: &from, steps: &steps, whole };
        let found = run.found(told, Some(&witness));
        self.tell(found);
    }

    /// Whether this was not told before, of any run.
    fn is_unknown(&self, body: usize, record: &Record, told: Categories) -> bool {
        self.known.iter().all(|known| !known.contains(&(body, record.place_key, told)))
    }

    /// Whether this was not told before, of the observed run or of others; from now on it was.
    fn is_new(&mut self, of: usize, body: usize, record: &Record, told: Categories) -> bool {
        self.told < self.limits.findings && self.known[of].insert((body, record.place_key, told))
    }

    fn tell(&mut self, found: Vec<Found>) {
        let left = self.limits.findings - self.told;
        let before = self.found.len();
        self.found.extend(found.into_iter().take(left));
        self.told += self.found.len() - before;
    }

    /// Lets go what takes too much; refuses to go on if that is not enough.
    fn weigh(&mut self) -> Result<(), Lie> {
        let records = self.stage.records.sweep(self.limits.memory / 4);
        let slices = self.slices.fit(records);
        let instances: usize =
            self.watch.iter().flat_map(Watch::sizes).map(|size| size.instances + size.nodes).sum();
        if instances * INSTANCE > self.limits.memory / 4 {
            self.watch = None;
        }
        self.fits(records + slices)
    }

    /// Refuses to go on if what cannot be left out takes too much.
    fn fits(&self, weight: usize) -> Result<(), Lie> {
        match weight + self.intake.weight() > self.limits.memory {
            true => Err(Lie::Memory(self.intake.threads.len())),
            false => Ok(()),
        }
    }
}
