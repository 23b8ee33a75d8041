//! Accepts or refuses the runs that an observer reports. Knows the messages, the property, and nothing of the lattice.
//!
//! A run is a sequence of the events that happen to one binding of the property. It is accepted if
//! 1. it keeps each thread's order and takes a prefix of each thread: the next event of a thread is the first one after those done;
//! 2. it does what comes before an event before it: nothing that the event's clock counts is still to be done;
//! 3. the property's monitor, run over it, says at its last event what is claimed.
//!
//! If the clocks are those of [`hb`](crate::hb), then by its theorem 1 and 2 mean that the run is the relevant part of a linearisation
//! of the causality: a correct reordering. So what is trusted is the messages and the monitor.
//!
//! **Where a run begins.** A program may run for days, and neither its messages nor all of a run can be kept. Runs that an observer reports
//! need not share a beginning either: what all of them have behind them, they may have done in different orders, in between
//! of what only some have done. So each run is checked piece by piece. A [`Checked`] is a point of a run: how far each thread is, and the
//! state of the monitor. It can be made in two ways only, at the beginning of the program, and by [`Checked::follow`] from
//! another one, along a piece that was accepted. By induction there is a run from the beginning to each. A piece has to be
//! checked while the messages of its events are known; they are [forgotten](Log::forget) only when all points that pieces begin
//! at have them behind them, and what would need one that is forgotten is refused.
//!
//! **Cost.** For each event of a piece, a binary search for each thread that its clock counts, and a step of the monitor.

use std::collections::VecDeque;
use std::sync::Arc;

use foresee_monitor::formalism::Categories;
use foresee_monitor::instance::{Instance, State};
use foresee_monitor::property::Property;
use foresee_monitor::watch::{Verdict, Watch};

use super::message::Act;
use super::records::Record;
use crate::binding::Binding;

/// A body of a property.
pub(super) struct Script<'p> {
    pub(super) property: &'p Property,
    pub(super) body: usize,
    pub(super) instance: Instance<'p>,
    /// The verdicts that are reported to the user.
    wanted: Categories,
}

impl<'p> Script<'p> {
    pub(super) fn new(property: &'p Property, body: usize) -> Script<'p> {
        let handlers = property.bodies[body].handlers.iter().enumerate();
        let wanted = handlers.filter(|(_, handler)| handler.is_finding());
        let wanted = wanted.fold(Categories::NONE, |all, (nth, _)| all.union(Categories::only(nth)));
        Script { property, body, instance: Instance::new(property, body), wanted }
    }

    /// The verdicts that are reported to the user.
    pub(super) fn wanted(&self, reported: Categories) -> Categories {
        Categories(reported.0 & self.wanted.0)
    }

    /// The state after what an event is to a binding, and what is reported there.
    pub(super) fn step(&self, binding: &Binding, state: &State, record: &Record) -> (State, Categories) {
        let (mut next, mut reported) = (state.clone(), Categories::NONE);
        for (_, act) in record.acts.iter().filter(|(part, _)| part.is_part_of(binding)) {
            reported = reported.union(match act {
                Act::Event(event, args) => self.instance.event(&mut next, *event, record.number.into(), args),
                Act::Assign(var, value) => self.instance.assign(&mut next, *var as usize, *value),
            });
        }
        (next, self.wanted(reported))
    }

    /// What the property, watching a run from the beginning of the program, reports at its last event, whatever the binding.
    pub(super) fn reported_by_property(&self, binding: &Binding, run: &[Arc<Record>]) -> Categories {
        let mut watch = Watch::new(self.property, |_| None);
        let mut reported = Categories::NONE;
        for record in run {
            reported = Categories::NONE;
            let thread = u64::from(record.number);
            for (_, act) in record.acts.iter().filter(|(part, _)| part.is_part_of(binding)) {
                feed(&mut watch, act, thread, &mut |verdict| {
                    if verdict.body == self.body {
                        reported = reported.union(verdict.categories);
                    }
                });
            }
        }
        reported
    }
}

/// Lets a property watch what an event is to it.
pub(super) fn feed(watch: &mut Watch<'_>, act: &Act, thread: u64, tell: &mut dyn FnMut(Verdict<'_>)) {
    match act {
        // Messages that carry too much or too little were refused.
        Act::Event(event, args) => _ = watch.event(*event, thread, args, tell),
        Act::Assign(var, value) => watch.assign(*var as usize, *value, thread, tell),
    }
}

/// The events of a binding, as they were heard: by thread, their positions among the thread's relevant events.
#[derive(Debug, Default)]
pub(super) struct Log {
    threads: Vec<Heard>,
}

#[derive(Debug, Default)]
struct Heard {
    /// Positions up to this one are not known any more.
    forgotten: u32,
    positions: VecDeque<u32>,
}

impl Log {
    /// One more event.
    pub(super) fn hear(&mut self, record: &Record) {
        let threads = self.threads.len().max(record.thread as usize + 1);
        self.threads.resize_with(threads, Heard::default);
        self.threads[record.thread as usize].positions.push_back(record.position());
    }

    /// Forgets those of a thread up to a position.
    pub(super) fn forget(&mut self, thread: usize, position: u32) {
        if let Some(heard) = self.threads.get_mut(thread) {
            let dead = heard.positions.partition_point(|&known| known <= position);
            heard.positions.drain(..dead);
            heard.forgotten = heard.forgotten.max(position);
        }
    }

    /// The position of a thread's first event after another position.
    fn next(&self, thread: usize, after: u32) -> Result<Option<u32>, Refusal> {
        let Some(heard) = self.threads.get(thread) else { return Ok(None) };
        if after < heard.forgotten {
            return Err(Refusal::Forgotten);
        }
        let first = heard.positions.partition_point(|&position| position <= after);
        Ok(heard.positions.get(first).copied())
    }
}

/// Why a run is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// A thread does not do its next event.
    Order,
    /// An event comes before one that comes before it.
    TooEarly,
    /// What would show it is not known any more.
    Forgotten,
    /// The property does not state what is claimed.
    NotShown,
}

/// A run that was accepted: only the checker of this module makes one. Threads are the program's, by number; those that come one after the other may be taken for one, which has the number
/// of the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    after: Vec<(u32, u32)>,
    events: Vec<(u32, u32)>,
}

impl Witness {
    /// How many relevant events of each thread come before it; in some order that was accepted when they were.
    pub fn after(&self) -> &[(u32, u32)] {
        &self.after
    }

    /// The run: each thread, and the position among its relevant events, from 1.
    pub fn events(&self) -> &[(u32, u32)] {
        &self.events
    }
}

/// A point of a run: see the [module](self).
#[derive(Debug)]
pub(super) struct Checked {
    /// By thread, the position of the last event that was done; of later threads none was.
    done: Vec<u32>,
    state: State,
}

impl Checked {
    /// The beginning of the program.
    pub(super) fn start(script: &Script<'_>) -> Checked {
        Checked { done: Vec::new(), state: script.instance.start() }
    }

    pub(super) fn state(&self) -> &State {
        &self.state
    }

    /// The point after some more events, if they are accepted, and what is reported at the last of them.
    pub(super) fn follow(
        &self,
        script: &Script<'_>,
        binding: &Binding,
        log: &Log,
        events: &[Arc<Record>],
    ) -> Result<(Checked, Categories), Refusal> {
        let mut done = self.done.clone();
        let (mut state, mut reported) = (self.state.clone(), Categories::NONE);
        for record in events {
            if done.len() < record.clock.len() {
                done.resize(record.clock.len(), 0);
            }
            let own = record.thread as usize;
            if log.next(own, done[own])? != Some(record.position()) {
                return Err(Refusal::Order);
            }
            for (thread, &count) in record.clock.iter().enumerate() {
                let counts_more = thread != own && count > done[thread];
                if counts_more && log.next(thread, done[thread])?.is_some_and(|next| next <= count) {
                    return Err(Refusal::TooEarly);
                }
            }
            done[own] = record.position();
            (state, reported) = script.step(binding, &state, record);
        }
        Ok((Checked { done, state }, reported))
    }

    /// The run that goes on from here with these events, if it is accepted, and those of the claimed verdicts that it shows.
    /// `number` gives the program's number of a thread.
    pub(super) fn shows(
        &self,
        script: &Script<'_>,
        binding: &Binding,
        log: &Log,
        events: &[Arc<Record>],
        claimed: Categories,
        number: impl Fn(usize) -> u32,
    ) -> Result<(Witness, Categories), Refusal> {
        let (_, reported) = self.follow(script, binding, log, events)?;
        let shown = Categories(reported.0 & claimed.0);
        if shown.is_empty() {
            return Err(Refusal::NotShown);
        }
        let done = self.done.iter().enumerate();
        let witness = Witness {
            after: done.map(|(thread, &done)| (number(thread), done)).collect(),
            events: (events.iter())
                .map(|record| (number(record.thread as usize), record.position()))
                .collect(),
        };
        Ok((witness, shown))
    }
}

#[cfg(test)]
mod tests;
