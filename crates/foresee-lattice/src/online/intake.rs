//! Messages of one property, put in order again.
//!
//! A message waits until all that came before it are there. What it claims is compared with what is known: numbers and counts that do not fit are
//! [lies](Lie), and there is no going on after one. An event that is taken becomes a [`Record`]; a promise is kept with its thread.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};

use foresee_monitor::property::Property;
use rustc_hash::FxHashMap;

use super::limits::Limits;
use super::message::{Act, Relevant, Silent};
use super::records::Record;
use crate::binding::Binding;

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
    #[error("message {0}: thread {1} has the place of one that has not ended")]
    Taken(u32, u32),
    #[error("more than {0} messages wait for others")]
    Buffered(usize),
    #[error("its {0} threads and their messages take more memory than it may have (see --memory)")]
    Memory(usize),
}

/// What was heard of a program, in order.
pub(super) struct Intake<'a> {
    property: &'a Property,
    /// What one event may be to the property.
    acts: usize,
    /// Messages that may wait for others.
    buffered: usize,
    /// Places in the order in which they became known. Whatever is done in one is in order, so it is taken for one thread, whoever has it.
    pub(super) threads: Vec<Thread>,
    by_number: FxHashMap<u32, u32>,
    /// How many messages are taken.
    taken: u32,
    /// How many of them were events.
    count: u32,
    /// Messages that came too early, and about how many bytes they take.
    ahead: BTreeMap<u32, Said>,
    ahead_weight: usize,
    /// How many messages there will be.
    end: Option<u32>,
    places: RandomState,
}

/// A message with a number.
enum Said {
    Relevant(Relevant),
    Silent(Silent),
}

impl Said {
    fn weight(&self) -> usize {
        match self {
            Said::Relevant(event) => {
                let acts = event.acts.iter().map(|act| match act {
                    Act::Event(_, args) => 32 + args.len() * 8,
                    Act::Assign(..) => 32,
                });
                let called = event.called.iter().map(|(.., name)| 40 + name.len());
                let strings = event.name.len() + event.place.len();
                160 + event.clock.len() * 8 + acts.chain(called).sum::<usize>() + strings
            }
            Said::Silent(promise) => 80 + promise.clock.len() * 8,
        }
    }
}

/// What is known of a thread.
#[derive(Default)]
pub(super) struct Thread {
    /// What its next event comes after.
    pub(super) clock: Vec<u32>,
    pub(super) has_ended: bool,
    /// Grows whenever something becomes known.
    pub(super) version: u32,
    /// What the program calls it: the first that had its place.
    pub(super) number: u32,
    /// The one that has it now.
    pub(super) holder: u32,
    /// How many relevant events were done there.
    done: u32,
}

impl<'a> Intake<'a> {
    /// Before any message.
    pub(super) fn new(property: &'a Property, limits: &Limits) -> Intake<'a> {
        Intake {
            property,
            acts: limits.acts,
            buffered: limits.buffered,
            threads: Vec::new(),
            by_number: FxHashMap::default(),
            taken: 0,
            count: 0,
            ahead: BTreeMap::new(),
            ahead_weight: 0,
            end: None,
            places: RandomState::new(),
        }
    }

    /// An event, in any order. What can be taken now goes to `steps`.
    pub(super) fn relevant(&mut self, event: Relevant, steps: &mut Vec<Record>) -> Result<(), Lie> {
        self.is_in_range(&event)?;
        self.hear(event.number, Said::Relevant(event), steps)
    }

    /// A promise, in any order. What can be taken now goes to `steps`.
    pub(super) fn silent(&mut self, promise: Silent, steps: &mut Vec<Record>) -> Result<(), Lie> {
        self.hear(promise.number, Said::Silent(promise), steps)
    }

    /// There will be so many messages.
    pub(super) fn end(&mut self, messages: u32) -> Result<(), Lie> {
        let last = self.ahead.last_key_value().map_or(self.taken, |(last, _)| last + 1);
        if last > messages || self.end.is_some_and(|end| end != messages) {
            return Err(Lie::AfterEnd(messages));
        }
        self.end = Some(messages);
        Ok(())
    }

    /// Whether all that will come is here.
    pub(super) fn is_over(&self) -> bool {
        self.end == Some(self.taken)
    }

    /// How many relevant events were taken.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// How many messages wait for others.
    pub(super) fn waiting(&self) -> usize {
        self.ahead.len()
    }

    /// About how many bytes what is known takes, records aside.
    pub(super) fn weight(&self) -> usize {
        self.ahead_weight + self.threads.len() * self.threads.len() * 4
    }

    fn is_in_range(&self, event: &Relevant) -> Result<(), Lie> {
        let property = self.property;
        let fits = |act: &Act| match act {
            Act::Event(nth, args) => {
                property.events.get(*nth as usize).is_some_and(|event| event.arity == args.len())
            }
            Act::Assign(var, _) => (*var as usize) < property.vars.len(),
        };
        let few = !event.acts.is_empty() && event.acts.len() <= self.acts;
        if few && event.acts.iter().all(fits) {
            return Ok(());
        }
        Err(Lie::OutOfRange(event.number))
    }

    /// Takes the message, and those that waited for it.
    fn hear(&mut self, number: u32, said: Said, steps: &mut Vec<Record>) -> Result<(), Lie> {
        // The last number stands for silent steps.
        if number == u32::MAX || self.end.is_some_and(|end| number >= end) {
            return Err(Lie::AfterEnd(number));
        }
        self.ahead_weight += said.weight();
        if number < self.taken || self.ahead.insert(number, said).is_some() {
            return Err(Lie::Twice(number));
        }
        while let Some(said) = self.ahead.remove(&self.taken) {
            self.ahead_weight -= said.weight();
            match said {
                Said::Relevant(event) => steps.push(self.step(event)?),
                Said::Silent(promise) => self.promise(&promise)?,
            }
            self.taken += 1;
        }
        match self.ahead.len() > self.buffered {
            true => Err(Lie::Buffered(self.buffered)),
            false => Ok(()),
        }
    }

    /// The place of the thread that this message is of, which may have it from now on.
    fn thread(&mut self, at: u32, holder: u32, after: Option<u32>) -> Result<u32, Lie> {
        let number = after.unwrap_or(holder);
        let Some(&known) = self.by_number.get(&number) else {
            // The first one gives the name.
            if after.is_some() {
                return Err(Lie::Future(at));
            }
            let thread = self.threads.len() as u32;
            self.threads.push(Thread { number, holder, version: 1, ..Thread::default() });
            self.by_number.insert(number, thread);
            return Ok(thread);
        };
        let thread = &mut self.threads[known as usize];
        if thread.holder != holder {
            if !std::mem::take(&mut thread.has_ended) {
                return Err(Lie::Taken(at, holder));
            }
            thread.holder = holder;
            thread.version += 1;
            // It comes after what was done in the place, and not after all that who had it knew in the end.
            thread.clock.fill(0);
        }
        Ok(known)
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

    fn step(&mut self, event: Relevant) -> Result<Record, Lie> {
        let at = event.number;
        let thread = self.thread(at, event.thread, event.after)?;
        let clock = self.clock(at, &event.clock)?;
        let own = thread as usize;
        let before = &self.threads[own];
        let last = |of: usize| before.clock.get(of).copied().unwrap_or(0);
        if before.has_ended {
            return Err(Lie::Ended(at, event.thread));
        }
        if clock[own] != before.done + 1 || (0..clock.len()).any(|of| clock[of] < last(of)) {
            return Err(Lie::GoesBack(at, event.thread));
        }
        if (0..clock.len()).any(|of| of != own && clock[of] > self.threads[of].done) {
            return Err(Lie::Future(at));
        }
        let this = &mut self.threads[own];
        (this.done, this.version) = (clock[own], this.version + 1);
        this.clock.clone_from(&clock);
        let record = self.record(thread, clock, event).ok_or(Lie::OutOfRange(at))?;
        self.count += 1;
        Ok(record)
    }

    fn record(&self, thread: u32, clock: Vec<u32>, event: Relevant) -> Option<Record> {
        let property = self.property;
        let by = u64::from(event.thread);
        let bound = |act: Act| {
            let binding = match &act {
                Act::Event(event, args) => Binding::of_event(property, by, *event, args),
                Act::Assign(..) => Binding::of_assignment(property, by),
            };
            Some((binding?, act))
        };
        Some(Record {
            step: self.count,
            thread,
            number: event.thread,
            clock: clock.into(),
            acts: event.acts.into_iter().map(bound).collect::<Option<_>>()?,
            place_key: self.places.hash_one(&event.place),
            name: event.name,
            place: event.place,
            called: event.called,
        })
    }

    fn promise(&mut self, promise: &Silent) -> Result<(), Lie> {
        let at = promise.number;
        let thread = self.thread(at, promise.thread, promise.after)?;
        let clock = self.clock(at, &promise.clock)?;
        if clock.iter().zip(&self.threads).any(|(&count, thread)| count > thread.done) {
            return Err(Lie::Future(at));
        }
        let own = thread as usize;
        let this = &mut self.threads[own];
        if clock[own] < this.done {
            return Err(Lie::GoesBack(at, promise.thread));
        }
        this.version += 1;
        this.has_ended |= promise.ended;
        this.clock.resize(clock.len(), 0);
        this.clock.iter_mut().zip(clock).for_each(|(known, count)| *known = count.max(*known));
        Ok(())
    }
}
