//! What happens on a verdict: the actions of its handler, one after the other, in the thread that did the event.
//!
//! Handlers run when the monitor has been released, so they may do events of their own; a verdict reached by these is handled when the
//! current handler is through. A closure that panics does not take the program down. It may have left its own data half changed, so it
//! is not called again, which is reported once.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::prelude::rust_2024::*;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::{format, thread_local};

use foresee_monitor::formalism::Categories;
use foresee_monitor::property::{Action, Body, Property};
use foresee_monitor::slice::params::ParamSet;
use foresee_monitor::watch;

use super::message::say;
use super::thread::thread_name;
use crate::life::Shown;

/// What a closure that handles a verdict gets to know about it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Verdict<'a> {
    /// The property.
    pub property: &'a str,
    /// The body of the property, if it has a name.
    pub body: Option<&'a str>,
    /// What it says: `match`, `violation`, …
    pub category: &'a str,
    /// The thread that did the event.
    pub thread: &'a str,
    /// Where the event was done; where the closure was registered, if the recorder of a recorded program calls it, which does not know that.
    pub location: &'static Location<'static>,
    /// The parameters that have values, with these: addresses, numbers, or what an [`ObjectId`](crate::ObjectId) stands for.
    pub bindings: Vec<(&'a str, u64)>,
}

impl Verdict<'_> {
    /// The value of this parameter, if it has one.
    pub fn value(&self, parameter: &str) -> Option<u64> {
        self.bindings.iter().find(|(name, _)| *name == parameter).map(|(_, value)| *value)
    }
}

/// How often a verdict came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Count {
    /// The property.
    pub property: &'static str,
    /// The body of the property, if it has a name.
    pub body: Option<&'static str>,
    /// The category: `match`, `violation`, …
    pub category: &'static str,
    /// How often.
    pub count: u64,
}

type Closure = dyn Fn(&Verdict<'_>) + Send + Sync;

/// What a name in a spec stands for.
#[derive(Clone)]
enum Named {
    Closure(Arc<Closure>),
    /// It has panicked, or is missing, which has been reported.
    Nothing,
}

static NAMED: RwLock<BTreeMap<String, Named>> = RwLock::new(BTreeMap::new());

/// Registers what `call "name"` and `recover "name"` in handlers do. What was registered under the name before is replaced.
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// foresee::monitor! {
///     property CloseOnce(f) {
///         event file_close(f);
///         ere: file_close file_close
///         @match { call "closed twice"; }
///     }
/// }
///
/// static TWICE: AtomicU32 = AtomicU32::new(0);
/// foresee::on("closed twice", |verdict| {
///     assert_eq!((verdict.category, verdict.value("f")), ("match", Some(3)));
///     TWICE.fetch_add(1, Ordering::Relaxed);
/// });
/// close_once::file_close(3);
/// close_once::file_close(3);
/// assert_eq!(TWICE.load(Ordering::Relaxed), 1);
/// ```
#[track_caller]
pub fn on(name: impl Into<String>, closure: impl Fn(&Verdict<'_>) + Send + Sync + 'static) {
    let name = name.into();
    name_it(name.clone(), Named::Closure(Arc::new(closure)));
    inventory::iter::<Informed>.into_iter().for_each(|informed| (informed.0)(&name, Location::caller()));
}

/// Somebody who wants to know under which names closures are registered, and where.
pub(crate) struct Informed(pub(crate) fn(&str, &'static Location<'static>));

inventory::collect!(Informed);

fn name_it(name: String, named: Named) {
    NAMED.write().unwrap_or_else(PoisonError::into_inner).insert(name, named);
}

/// A verdict that has been reached and not handled yet.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) body: usize,
    pub(super) categories: Categories,
    pub(super) domain: ParamSet,
    pub(super) values: Vec<u64>,
}

impl Pending {
    pub(super) fn of(verdict: watch::Verdict<'_>) -> Pending {
        let watch::Verdict { body, categories, domain, values } = verdict;
        Pending { body, categories, domain, values: values.to_vec() }
    }
}

/// The handlers of a property, and how often each verdict came.
#[derive(Debug)]
pub(super) struct Handlers {
    name: &'static str,
    property: &'static Property,
    /// By body and handler.
    counts: Vec<Vec<AtomicU64>>,
}

type Waiting = (&'static Handlers, Pending, &'static Location<'static>);

thread_local! {
    static WAITING: RefCell<VecDeque<Waiting>> = const { RefCell::new(VecDeque::new()) };
    static IS_HANDLING: Cell<bool> = const { Cell::new(false) };
}

impl Handlers {
    pub(super) fn new(name: &'static str, property: &'static Property) -> Handlers {
        let counts = |handlers: usize| (0..handlers).map(|_| AtomicU64::new(0)).collect();
        let counts = property.bodies.iter().map(|body| counts(body.handlers.len())).collect();
        Handlers { name, property, counts }
    }

    /// How often each verdict came, by body and category.
    pub(super) fn counts(&self) -> Vec<Count> {
        let bodies = self.property.bodies.iter().zip(&self.counts);
        let of_body = bodies.flat_map(|(body, counts)| {
            body.handlers.iter().zip(counts).map(|(handler, count)| Count {
                property: self.name,
                body: body.name.as_deref(),
                category: &handler.category,
                count: count.load(Ordering::Relaxed),
            })
        });
        of_body.collect()
    }

    /// Handles verdicts, after those that this thread is about to handle.
    #[cold]
    pub(super) fn handle(&'static self, verdicts: Vec<Pending>, at: &'static Location<'static>) {
        let mut verdicts = Some(verdicts.into_iter().map(|verdict| (self, verdict, at)));
        let queued =
            WAITING.try_with(|waiting| waiting.borrow_mut().extend(verdicts.take().into_iter().flatten()));
        if queued.is_err() {
            // The thread is at its very end.
            return verdicts.into_iter().flatten().for_each(handle_one);
        }
        if IS_HANDLING.replace(true) {
            return;
        }
        while let Some(next) = WAITING.try_with(|waiting| waiting.borrow_mut().pop_front()).ok().flatten() {
            handle_one(next);
        }
        IS_HANDLING.set(false);
    }
}

fn handle_one((handlers, pending, location): Waiting) {
    let Handlers { name, property, counts } = handlers;
    let body: &'static Body = &property.bodies[pending.body];
    let thread = thread_name();
    let params = (0..).zip(&property.params).zip(&pending.values);
    let bound = params.filter(|((param, _), _)| pending.domain.contains(ParamSet::only(*param)));
    let mut verdict = Verdict {
        property: name,
        body: body.name.as_deref(),
        category: "",
        thread: &thread,
        location,
        bindings: bound.map(|((_, name), value)| (name.as_str(), *value)).collect(),
    };
    for index in pending.categories.indices() {
        let (Some(handler), Some(count)) = (body.handlers.get(index), counts[pending.body].get(index)) else {
            continue;
        };
        count.fetch_add(1, Ordering::Relaxed);
        verdict.category = &handler.category;
        for action in &handler.actions {
            act(action, &verdict, &property.params);
        }
    }
}

/// Does what a handler says on this verdict.
pub(super) fn act(action: &Action, verdict: &Verdict<'_>, params: &[String]) {
    let Verdict { property, category, location, .. } = verdict;
    match action {
        Action::Report(text) => {
            say(&format!("{property} ({category}) at {location}: {}", filled(text, verdict, params)));
        }
        // The slicer has reset the instance, and the verdict is counted.
        Action::Reset | Action::Count => {}
        Action::Abort => {
            say(&format!("{property} ({category}) at {location}: the property ends the program"));
            std::process::abort();
        }
        Action::Call(name) | Action::Recover(name) => call(name, verdict),
    }
}

/// The message with values in place of names.
fn filled(text: &str, verdict: &Verdict<'_>, params: &[String]) -> String {
    let mut message = text
        .replace("{loc}", &verdict.location.to_string())
        .replace("{thread}", verdict.thread)
        .replace("{trace}", "this run");
    for param in params {
        let value = verdict.value(param).map_or_else(|| "?".to_owned(), |value| Shown(value).to_string());
        message = message.replace(&format!("{{{param}}}"), &value);
    }
    message
}

/// Calls what is registered under this name.
pub(crate) fn call(name: &str, verdict: &Verdict<'_>) {
    let Verdict { property, category, .. } = verdict;
    // Not held while the closure runs: it may register others.
    let named = NAMED.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
    match named {
        Some(Named::Nothing) => {}
        Some(Named::Closure(closure)) => {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| closure(verdict))) {
                name_it(name.to_owned(), Named::Nothing);
                let text = panic.downcast_ref::<&str>().copied();
                let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
                let text = text.unwrap_or("with a value that is not a string");
                say(&format!(
                    "the handler `{name}` of {property} ({category}) panicked: {text}. The program goes on; the handler is not \
                     called again"
                ));
            }
        }
        None => {
            name_it(name.to_owned(), Named::Nothing);
            say(&format!(
                "{property} ({category}) calls `{name}`, which is not registered: foresee::on({name:?}, |verdict| …)"
            ));
        }
    }
}
