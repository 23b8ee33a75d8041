//! A monitor from its first event on: where its instances are kept, and who may step them.
//!
//! - By default all threads share them, behind one lock per property.
//! - With `perthread` each thread has instances of its own, in thread-local memory: no lock.
//! - With `unsynchronized` the program promises that events do not come from several threads at once, and there is no lock either. The
//!   instances belong to the thread that did the first event, and when it ends, to the next that does one. An event of another
//!   thread in the meantime breaks the promise: it is not monitored, which is reported once.
//!
//! Threads with instances of their own learn of a release by another thread through their [`Inbox`].

use std::cell::RefCell;
use std::panic::Location;
use std::prelude::rust_2024::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{format, thread_local};

use foresee_monitor::property::Property;
use foresee_monitor::watch::Watch;

use super::declaration::{Declaration, Reporter, Sharing};
use super::handlers::{Handlers, Pending};
use super::idle::Idle;
use super::inbox::Inbox;
use super::instances::{Input, Instances};
use super::key::Key;
use super::message::say;
use super::number::Number;
use super::resident::Resident;
use super::tables;
use super::thread::{thread_name, thread_number};
use crate::aside::aside;

/// What a monitor has from its first event on.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) declaration: &'static Declaration,
    pub(super) number: Number,
    pub(super) handlers: Handlers,
    property: &'static Property,
    shared: Shared,
    idle: Idle,
    /// How instances are stepped that are in their objects, if they can be.
    resident: Option<Resident>,
    /// Whether the end of a thread is an event of the property.
    awaits_threads: bool,
    /// Whether the end of an object is.
    awaits_objects: bool,
}

/// What all threads see of a property's instances.
#[derive(Debug, Default)]
struct Shared {
    /// The instances; of a `perthread` property always nothing, of an `unsynchronized` one while no thread has them.
    instances: Mutex<Option<Instances>>,
    /// The thread that has the instances of an `unsynchronized` property, or 0.
    owner: AtomicU64,
    reported_second: AtomicBool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Option<Instances>> {
        self.instances.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The verdicts, if there are any.
fn reached(verdicts: Vec<Pending>) -> Option<Vec<Pending>> {
    if verdicts.is_empty() { None } else { Some(verdicts) }
}

impl Running {
    pub(super) fn new(declaration: &'static Declaration) -> Running {
        let sharing = declaration.sharing;
        let property = (declaration.make)();
        let property = match sharing {
            Sharing::PerThread => tables::of_one_thread(property),
            Sharing::Locked | Sharing::OneThread => property,
        };
        // Once for each property of the program: monitors live as long as it.
        let property: &'static Property = Box::leak(Box::new(property));
        let watch = Watch::new(property, |_| None);
        let need_known = (0..property.events.len().min(64) as u32)
            .filter(|event| watch.needs_known_values(*event))
            .fold(0, |events, event| events | 1 << event);
        let number = Number::next();
        let awaits_objects = declaration.has_events_by(Reporter::EndObject);
        Running {
            declaration,
            number,
            handlers: Handlers::new(declaration.property, property),
            property,
            shared: Shared::default(),
            idle: Idle::new(number, sharing, need_known),
            resident: Resident::of(property, &watch, number, sharing, awaits_objects),
            awaits_threads: declaration.has_events_by(Reporter::EndThread),
            awaits_objects,
        }
    }

    #[inline]
    pub(super) fn event(&'static self, event: u32, keys: &[Key<'_>], at: &'static Location<'static>) {
        let reached = aside(|| {
            let mut verdicts = Vec::new();
            let done = self
                .resident
                .as_ref()
                .is_some_and(|resident| resident.step(event, keys, |verdict| verdicts.push(verdict)));
            if !done && !self.idle.is_idle(event, keys) {
                self.step_all(Input::Event(event, keys), &mut verdicts);
            }
            reached(verdicts)
        });
        self.handle(reached, at);
    }

    /// All events that `reporter` reports.
    pub(super) fn events_by(
        &'static self,
        reporter: Reporter,
        keys: &[Key<'_>],
        at: &'static Location<'static>,
    ) {
        self.declaration.events_by(reporter).for_each(|event| self.event(event, keys, at));
    }

    /// Something other than an event.
    pub(super) fn react(&'static self, input: Input<'_>, at: &'static Location<'static>) {
        let reached = aside(|| {
            let mut verdicts = Vec::new();
            self.step_all(input, &mut verdicts);
            reached(verdicts)
        });
        self.handle(reached, at);
    }

    /// The one way to the instances.
    fn step_all(&'static self, input: Input<'_>, verdicts: &mut Vec<Pending>) {
        self.with(|instances| self.step(instances, input, verdicts));
    }

    /// Handlers run when the instances have been released, so that they can do events themselves; what they do is the program's.
    #[inline]
    fn handle(&'static self, reached: Option<Vec<Pending>>, at: &'static Location<'static>) {
        if let Some(verdicts) = reached {
            self.handlers.handle(verdicts, at);
        }
    }

    /// How many instances this thread sees.
    pub(super) fn instances(&'static self) -> usize {
        self.with(|instances| instances.count()).unwrap_or(0)
    }

    /// Has the instances react, and keeps in mind what that says about later events.
    fn step(&self, instances: &mut Instances, input: Input<'_>, verdicts: &mut Vec<Pending>) {
        let before = instances.changes();
        instances.react(input, verdicts);
        let after = instances.changes();
        if let Input::Event(event, keys) = input {
            if before == after {
                self.idle.remember(event, keys, after);
            }
            if before != after || self.awaits_objects {
                let lives = keys.iter().filter_map(|key| key.life());
                lives.for_each(|life| life.make_known_to(self.number.bit()));
            }
        }
        if before != after {
            self.idle.publish(after);
        }
    }

    /// Works on the instances, if this thread may.
    #[inline]
    fn with<R>(&'static self, work: impl FnOnce(&mut Instances) -> R) -> Option<R> {
        if self.declaration.sharing == Sharing::Locked {
            if self.awaits_threads {
                self.await_end_of_thread();
            }
            let mut instances = self.shared.lock();
            return Some(work(instances.get_or_insert_with(|| Instances::new(self.property))));
        }
        // Thread-local memory is gone near the end of a thread; its instances are, too.
        let found = LOCALS.try_with(|locals| {
            let mut locals = locals.try_borrow_mut().ok()?;
            if locals.inbox.as_ref().is_some_and(|inbox| inbox.has_mail()) {
                locals.read_mail();
            }
            let own = locals.own.iter().position(|(running, _)| std::ptr::eq(*running, self));
            let own = match own {
                Some(own) => own,
                None => locals.take_up(self)?,
            };
            Some(work(&mut locals.own[own].1))
        });
        found.ok().flatten()
    }

    fn await_end_of_thread(&'static self) {
        let _ = LOCALS.try_with(|locals| {
            let Ok(mut locals) = locals.try_borrow_mut() else { return };
            if !locals.awaiting_end.iter().any(|running| std::ptr::eq(*running, self)) {
                locals.awaiting_end.push(self);
            }
        });
    }
}

/// What a thread has of its own.
#[derive(Default)]
struct Locals {
    own: Vec<(&'static Running, Instances)>,
    inbox: Option<Arc<Inbox>>,
    /// The shared monitors to which this thread's end is an event.
    awaiting_end: Vec<&'static Running>,
}

thread_local! {
    static LOCALS: RefCell<Locals> = RefCell::default();
}

impl Locals {
    /// Instances of this monitor for this thread, or nothing if another thread has them.
    #[cold]
    fn take_up(&mut self, running: &'static Running) -> Option<usize> {
        let shared = &running.shared;
        let mut instances = None;
        if running.declaration.sharing == Sharing::OneThread {
            let me = thread_number();
            if shared.owner.compare_exchange(0, me, Ordering::Acquire, Ordering::Relaxed).is_err() {
                if !shared.reported_second.swap(true, Ordering::Relaxed) {
                    let property = running.declaration.property;
                    say(&format!(
                        "{property} is `unsynchronized`, but {} does events while another thread does, too: they are not monitored. \
                         Remove `unsynchronized`",
                        thread_name()
                    ));
                }
                return None;
            }
            instances = shared.lock().take();
        }
        self.inbox.get_or_insert_with(Inbox::open);
        let instances = instances.unwrap_or_else(|| Instances::new(running.property));
        running.idle.publish(instances.changes());
        self.own.push((running, instances));
        Some(self.own.len() - 1)
    }

    #[cold]
    fn read_mail(&mut self) {
        let Some(inbox) = &self.inbox else { return };
        for object in inbox.take() {
            self.own.iter_mut().for_each(|(_, instances)| instances.forget(object));
        }
        self.own.iter().for_each(|(running, instances)| running.idle.publish(instances.changes()));
    }
}

/// The thread ends: this is reported to monitors that wait for it, and instances that may go on in another thread are left to it.
impl Drop for Locals {
    fn drop(&mut self) {
        let at = Location::caller();
        for running in std::mem::take(&mut self.awaiting_end) {
            running.events_by(Reporter::EndThread, &[], at);
        }
        for (running, mut instances) in std::mem::take(&mut self.own) {
            let reached = aside(|| {
                let mut verdicts = Vec::new();
                for event in running.declaration.events_by(Reporter::EndThread) {
                    running.step(&mut instances, Input::Event(event, &[]), &mut verdicts);
                }
                if running.declaration.sharing == Sharing::OneThread {
                    let shared = &running.shared;
                    *shared.lock() = Some(instances);
                    shared.owner.store(0, Ordering::Release);
                }
                reached(verdicts)
            });
            running.handle(reached, at);
        }
    }
}
