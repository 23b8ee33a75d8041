//! What happens on a violation: the handlers of the property, in the thread that found it.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::panic::Location;
use std::prelude::rust_2024::*;
use std::{format, thread_local};

use foresee_monitor::mttl::Who;
use foresee_monitor::property::{Action, MttlBody, Property};

use super::me::{IsViolated, Violation, take_violations};
use super::world::{World, world};
use crate::monitor::handlers::{Verdict, act, on};
use crate::monitor::thread::thread_name;

type Waiting = (Violation, &'static Location<'static>);

thread_local! {
    static WAITING: RefCell<VecDeque<Waiting>> = const { RefCell::new(VecDeque::new()) };
    static IS_HANDLING: Cell<bool> = const { Cell::new(false) };
}

/// Registers what `recover "name"` does: on the thread that finds the violation, before its next step. It may release resources, roll back, end the thread or
/// the program. One that panics harms nobody, and is not called again; events that it does itself are handled when it is through.
///
/// The same as [`on`](crate::on). In a program that foresee records, properties of `foresee run --spec` call it, too.
#[track_caller]
pub fn on_violation(name: impl Into<String>, recover: impl Fn(&Verdict<'_>) + Send + Sync + 'static) {
    on(name, recover);
}

/// Handles violations, after those that this thread is about to handle.
#[inline]
pub(super) fn handle(violated: IsViolated, at: &'static Location<'static>) {
    if violated.0 {
        handle_all(at);
    }
}

#[cold]
fn handle_all(at: &'static Location<'static>) {
    let Some(world) = world() else { return };
    let mut violated = Some(take_violations().into_iter().map(|one| (one, at)));
    let queued =
        WAITING.try_with(|waiting| waiting.borrow_mut().extend(violated.take().into_iter().flatten()));
    if queued.is_err() {
        // The thread is at its very end.
        return violated.into_iter().flatten().for_each(|one| handle_one(world, one));
    }
    if IS_HANDLING.replace(true) {
        return;
    }
    while let Some(next) = WAITING.try_with(|waiting| waiting.borrow_mut().pop_front()).ok().flatten() {
        handle_one(world, next);
    }
    IS_HANDLING.set(false);
}

fn handle_one(world: &World, (violation, location): Waiting) {
    let (monitor, property, body) = world.formula(violation.formula);
    monitor.count();
    let thread = thread_name();
    let others: Vec<String> = violation.others.iter().map(|slot| world.name(*slot)).collect();
    let others = if others.is_empty() { "?".to_owned() } else { others.join(", ") };
    for handler in &body.handlers {
        let verdict = Verdict {
            property: &property.name,
            body: body.name.as_deref(),
            category: &handler.category,
            thread: &thread,
            location,
            bindings: Vec::new(),
        };
        for action in &handler.actions {
            match action {
                Action::Report(text) => {
                    let text = named(text, property, body, &thread, &others);
                    act(&Action::Report(text), &verdict, &[]);
                }
                other => act(other, &verdict, &[]),
            }
        }
    }
}

/// The text with the names of threads in place of those that the property has for them.
fn named(text: &str, property: &Property, body: &MttlBody, thread: &str, others: &str) -> String {
    let mut text = text.to_owned();
    for (number, declared) in (0..).zip(&property.threads) {
        let name = match &declared.who {
            _ if number == body.mttl.owner => thread,
            Who::Named(name) => name,
            Who::Any | Who::Like(_) => others,
        };
        text = text.replace(&format!("{{{}}}", declared.name), name);
    }
    text
}
