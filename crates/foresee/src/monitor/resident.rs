//! The state of an instance inside its object.
//!
//! Most properties have one parameter: a file is opened before it is read, an iterator is asked before it steps. If all events of
//! such a property bind it, an instance is an object, and its state is a number that can be kept in the object's [`Life`](crate::Life):
//! nothing to look up, no lock, nothing to forget when the object ends. An event is a step in a static table, and a change of the state one
//! compare-and-swap, so of several threads each makes its step on what the one before it left.
//!
//! Of a `perthread` property the thread that begins an instance has it in the object; other threads have theirs in their tables.
//!
//! A `Life` has room for two properties. Instances of a third, and of objects that go by their addresses, are in the tables of the slicer.
//! A property that has a place keeps it as long as the object lives, so an instance is never in both.

use std::prelude::rust_2024::*;
use std::sync::atomic::Ordering;
use std::vec;

use foresee_monitor::formalism::{Categories, Monitor as _};
use foresee_monitor::predicate::{Expr, Values};
use foresee_monitor::property::{Carried, Letters, Machine, Property};
use foresee_monitor::slice::params::ParamSet;
use foresee_monitor::watch::Watch;

use super::declaration::Sharing;
use super::handlers::Pending;
use super::key::Key;
use super::number::Number;
use super::thread::thread_number;

/// How instances of a property step inside their objects.
#[derive(Debug)]
pub(super) struct Resident {
    number: Number,
    sharing: Sharing,
    /// Whether the ends of objects are to be reported to the monitor.
    awaits_objects: bool,
    /// The successor of each state for each event.
    next: Vec<u32>,
    /// The verdicts of each state.
    verdicts: Vec<Categories>,
    events: Vec<Event>,
    resets: Categories,
}

#[derive(Debug)]
struct Event {
    /// Which of its values is the object.
    position: usize,
    /// Whether it can begin an instance.
    creates: bool,
    guard: Option<Expr>,
}

impl Resident {
    /// If the property is of the kind whose instances can be in their objects.
    pub(super) fn of(
        property: &Property,
        watch: &Watch<'_>,
        number: Number,
        sharing: Sharing,
        awaits_objects: bool,
    ) -> Option<Resident> {
        let [body] = &property.bodies[..] else { return None };
        let Machine::Automaton(automaton) = &body.machine else { return None };
        let is_plain = property.vars.is_empty()
            && body.letters == Letters::Events
            && !property.modifiers.suffix
            && !property.remembers();
        if property.params.len() != 1 || !is_plain || automaton.start() != 0 {
            return None;
        }
        let event = |(index, event): (u32, &foresee_monitor::property::Event)| match event.carried[..] {
            [Carried::Arg(position)] => {
                let (position, creates) = (position as usize, watch.creates(index));
                Some(Event { position, creates, guard: event.guard.clone() })
            }
            _ => None,
        };
        let events: Option<Vec<Event>> = (0..).zip(&property.events).map(event).collect();
        let (states, letters) = (automaton.states() as u32, automaton.letters());
        let next =
            (0..states).flat_map(|state| (0..letters).map(move |letter| automaton.next(state, letter)));
        let verdicts = (0..states).map(|state| automaton.verdicts_of(state)).collect();
        let (next, events, resets) = (next.collect(), events?, body.resets());
        Some(Resident { number, sharing, awaits_objects, next, verdicts, events, resets })
    }

    /// Makes the step, if the instance is in its object, and hands a verdict on.
    #[inline]
    pub(super) fn step(&self, index: u32, keys: &[Key<'_>], report: impl FnOnce(Pending)) -> bool {
        let event = &self.events[index as usize];
        let Some(life) = keys[event.position].life() else { return false };
        let Some(tag) = self.tag() else { return false };
        let place = &life.states[self.number.index() % 2];
        let mut now = place.load(Ordering::Relaxed);
        loop {
            let state = match now {
                0 if !event.creates => return true,
                0 => 0,
                _ if now & !u64::from(u32::MAX) != tag => return false,
                _ => now as u32,
            };
            if event.guard.as_ref().is_some_and(|guard| !holds(guard, keys)) {
                return true;
            }
            let next = self.next[state as usize * self.events.len() + index as usize];
            let verdicts = self.verdicts[next as usize];
            let after = tag | u64::from(if verdicts.meets(self.resets) { 0 } else { next });
            if after != now {
                // Nobody else writes here, once it is this thread's.
                if now != 0 && self.sharing != Sharing::Locked {
                    place.store(after, Ordering::Relaxed);
                } else if let Err(other) =
                    place.compare_exchange_weak(now, after, Ordering::Relaxed, Ordering::Relaxed)
                {
                    now = other;
                    continue;
                }
            }
            if now == 0 && self.awaits_objects {
                life.make_known_to(self.number.bit());
            }
            if !verdicts.is_empty() {
                report(pending(verdicts, keys[event.position].value));
            }
            return true;
        }
    }

    /// Whose state it is: the monitor's, and if each thread has its own, this thread's. Nothing if that does not fit.
    #[inline]
    fn tag(&self) -> Option<u64> {
        let thread = match self.sharing {
            Sharing::PerThread => thread_number(),
            Sharing::Locked | Sharing::OneThread => 0,
        };
        let number = u64::from(self.number.counted_from_one());
        (number < 1 << 12 && thread < 1 << 20).then_some(number << 52 | thread << 32)
    }
}

#[cold]
fn pending(categories: Categories, value: u64) -> Pending {
    Pending { body: 0, categories, domain: ParamSet::first(1), values: vec![value] }
}

#[cold]
fn holds(guard: &Expr, keys: &[Key<'_>]) -> bool {
    let args: Vec<u64> = keys.iter().map(|key| key.value).collect();
    guard.holds(Values { args: &args, thread: thread_number(), ..Values::default() })
}
