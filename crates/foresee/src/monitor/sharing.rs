//! Where instances are kept, and who may step them.
//!
//! - By default all threads share them, behind one lock per property.
//! - With `perthread` each thread has instances of its own, in thread-local memory: no lock.
//! - With `unsynchronized` the program promises that events do not come from several threads at once, and there is no lock either. The
//!   instances belong to the thread that did the first event, and when it ends, to the next that does one. An event of another
//!   thread in the meantime breaks the promise: it is not monitored, and that is told once.
//!
//! An address is an identity only until its object is released; what comes to lie there then is another object. While
//! instances still hold the old one, the new one goes by another number ([`Kept::identity`]). Threads with instances of their own hear
//! of a release by another thread through their [`Inbox`].

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::panic::Location;
use std::prelude::rust_2024::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::{format, thread_local};

use foresee_monitor::property::Property;
use foresee_monitor::watch::Watch;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::objects::{Key, is_id, next_id, thread_number};
use super::{Heard, Kind, Monitor, Sharing, Step, handlers, idle};

/// The instances of a property.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) watch: Watch<'static>,
    /// Addresses whose former objects are gone but held, and the numbers their objects go by now.
    reborn: FxHashMap<u64, u64>,
}

impl Kept {
    fn new(property: &'static Property) -> Kept {
        Kept { watch: Watch::new(property, |_| None), reborn: FxHashMap::default() }
    }

    /// Makes a step of this monitor.
    pub(super) fn step(&mut self, monitor: &'static Monitor, step: Step<'_>, heard: &mut Vec<Heard>) {
        let before = self.watch.changes();
        let thread = thread_number();
        let mut hear = |verdict: foresee_monitor::watch::Verdict<'_>| heard.push(Heard::of(verdict));
        match step {
            Step::Event(event, keys) => {
                let identity = |key: &Key<'_>| self.identity(key.value);
                let values: SmallVec<[u64; 4]> = keys.iter().map(identity).collect();
                // What the macros expand to has the right number of values.
                let _ = self.watch.event(event, thread, &values, &mut hear);
            }
            Step::Assign(var, value) => self.watch.assign(var, value, thread, &mut hear),
            Step::Gone(object) => self.gone(object),
        }
        let after = self.watch.changes();
        if let Step::Event(event, keys) = step {
            let running = monitor.running();
            if before == after {
                idle::know(monitor, event, keys, after);
            }
            if before != after || running.awaits_objects {
                keys.iter().filter_map(|key| key.life()).for_each(|life| life.make_known_to(running.bit()));
            }
        }
        if before != after {
            monitor.has_changed(after);
        }
    }

    fn gone(&mut self, object: u64) {
        let held = self.watch.object_gone(self.identity(object));
        if held && !is_id(object) {
            self.reborn.insert(object, next_id());
        } else {
            self.reborn.remove(&object);
        }
    }

    /// What the instances know this value by.
    fn identity(&self, value: u64) -> u64 {
        if self.reborn.is_empty() { value } else { self.reborn.get(&value).copied().unwrap_or(value) }
    }
}

/// What all threads see of a property's instances.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// The instances; of a `perthread` property always nothing, of an `unsynchronized` one while no thread has them.
    kept: Mutex<Option<Kept>>,
    /// The thread that has the instances of an `unsynchronized` property, or 0.
    owner: AtomicU64,
    told_of_second: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a thread has of its own.
#[derive(Default)]
struct Locals {
    slots: Vec<(&'static Monitor, Kept)>,
    inbox: Option<Arc<Inbox>>,
    /// The shared monitors that want to know of this thread's end.
    ending: Vec<&'static Monitor>,
}

thread_local! {
    static LOCALS: RefCell<Locals> = RefCell::default();
}

impl Monitor {
    /// Works on the instances, if this thread may.
    #[inline]
    pub(super) fn with<R>(&'static self, work: impl FnOnce(&mut Kept) -> R) -> Option<R> {
        let running = self.running();
        if self.declaration.sharing == Sharing::Locked {
            if running.awaits_threads {
                self.await_end_of_thread();
            }
            let mut kept = lock(&running.shared.kept);
            return Some(work(kept.get_or_insert_with(|| Kept::new(running.property))));
        }
        // Thread-local memory is gone near the end of a thread; its instances are, too.
        let found = LOCALS.try_with(|locals| {
            let mut locals = locals.try_borrow_mut().ok()?;
            if locals.inbox.as_ref().is_some_and(|inbox| inbox.has_mail.load(Ordering::Acquire)) {
                locals.read_mail();
            }
            let own = locals.slots.iter().position(|(monitor, _)| std::ptr::eq(*monitor, self));
            let own = match own {
                Some(own) => own,
                None => locals.take_up(self)?,
            };
            Some(work(&mut locals.slots[own].1))
        });
        found.ok().flatten()
    }

    fn await_end_of_thread(&'static self) {
        let _ = LOCALS.try_with(|locals| {
            let Ok(mut locals) = locals.try_borrow_mut() else { return };
            if !locals.ending.iter().any(|monitor| std::ptr::eq(*monitor, self)) {
                locals.ending.push(self);
            }
        });
    }
}

impl Locals {
    /// Instances of this monitor for this thread, or nothing if another thread has them.
    #[cold]
    fn take_up(&mut self, monitor: &'static Monitor) -> Option<usize> {
        let running = monitor.running();
        let shared = &running.shared;
        let mut kept = None;
        if monitor.declaration.sharing == Sharing::OneThread {
            let me = thread_number();
            if shared.owner.compare_exchange(0, me, Ordering::Acquire, Ordering::Relaxed).is_err() {
                if !shared.told_of_second.swap(true, Ordering::Relaxed) {
                    let property = monitor.property();
                    handlers::say(&format!(
                        "{property} is `unsynchronized`, but {} does events while another thread does, too: they are not monitored. \
                         Remove `unsynchronized`",
                        handlers::thread_name()
                    ));
                }
                return None;
            }
            kept = lock(&shared.kept).take();
        }
        self.inbox.get_or_insert_with(Inbox::opened);
        let kept = kept.unwrap_or_else(|| Kept::new(running.property));
        monitor.has_changed(kept.watch.changes());
        self.slots.push((monitor, kept));
        Some(self.slots.len() - 1)
    }

    #[cold]
    fn read_mail(&mut self) {
        let Some(inbox) = &self.inbox else { return };
        let objects = {
            let mut objects = lock(&inbox.objects);
            inbox.has_mail.store(false, Ordering::Relaxed);
            std::mem::take(&mut *objects)
        };
        for object in objects {
            self.slots.iter_mut().for_each(|(_, kept)| kept.gone(object));
        }
        self.slots.iter().for_each(|(monitor, kept)| monitor.has_changed(kept.watch.changes()));
    }
}

/// The thread ends: monitors that wait for that are told, and instances that may go on in another thread are left to it.
impl Drop for Locals {
    fn drop(&mut self) {
        let at = Location::caller();
        for monitor in std::mem::take(&mut self.ending) {
            monitor.events_of(Kind::EndThread).for_each(|(event, _)| monitor.event_at(event, &[], at));
        }
        for (monitor, mut kept) in std::mem::take(&mut self.slots) {
            let mut heard = Vec::new();
            for (event, _) in monitor.events_of(Kind::EndThread) {
                kept.step(monitor, Step::Event(event, &[]), &mut heard);
            }
            if monitor.declaration.sharing == Sharing::OneThread {
                let shared = &monitor.running().shared;
                *lock(&shared.kept) = Some(kept);
                shared.owner.store(0, Ordering::Release);
            }
            if !heard.is_empty() {
                handlers::handle(monitor, heard, at);
            }
        }
    }
}

/// Addresses that other threads have released, for a thread with instances of its own.
#[derive(Debug, Default)]
struct Inbox {
    has_mail: AtomicBool,
    objects: Mutex<BTreeSet<u64>>,
}

static INBOXES: Mutex<Vec<(u64, Weak<Inbox>)>> = Mutex::new(Vec::new());

impl Inbox {
    fn opened() -> Arc<Inbox> {
        let inbox = Arc::new(Inbox::default());
        let mut all = lock(&INBOXES);
        all.retain(|(_, inbox)| inbox.strong_count() > 0);
        all.push((thread_number(), Arc::downgrade(&inbox)));
        inbox
    }
}

/// Tells the other threads that this address is free.
pub(super) fn tell_other_threads(address: u64) {
    let me = thread_number();
    for (thread, inbox) in lock(&INBOXES).iter() {
        if let Some(inbox) = inbox.upgrade().filter(|_| *thread != me) {
            lock(&inbox.objects).insert(address);
            inbox.has_mail.store(true, Ordering::Release);
        }
    }
}
