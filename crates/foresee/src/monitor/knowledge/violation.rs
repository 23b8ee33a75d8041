//! What happens on a violation: the handlers of the property, in the thread that found it.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::panic::Location;
use std::prelude::rust_2024::*;
use std::thread_local;

use super::me::Violated;
use super::world::{World, world};
use crate::monitor::handlers::{Verdict, act, on};
use crate::monitor::thread::thread_name;

type Waiting = (u32, &'static Location<'static>);

thread_local! {
    static WAITING: RefCell<VecDeque<Waiting>> = const { RefCell::new(VecDeque::new()) };
    static IS_HANDLING: Cell<bool> = const { Cell::new(false) };
}

/// Registers what `recover "name"` does: on the thread that finds the violation, before its next step. It may release resources, roll back, end the thread or
/// the program. One that panics harms nobody, and is not called again; events that it does itself are handled when it is through.
///
/// The same as [`on`](crate::on).
pub fn on_violation(name: impl Into<String>, recover: impl Fn(&Verdict<'_>) + Send + Sync + 'static) {
    on(name, recover);
}

/// Handles violations, after those that this thread is about to handle.
#[inline]
pub(super) fn handle(violated: Violated, at: &'static Location<'static>) {
    if let (false, Some(world)) = (violated.is_empty(), world()) {
        handle_all(world, violated, at);
    }
}

#[cold]
fn handle_all(world: &World, violated: Violated, at: &'static Location<'static>) {
    let queued =
        WAITING.try_with(|waiting| waiting.borrow_mut().extend(violated.iter().map(|&one| (one, at))));
    if queued.is_err() {
        // The thread is at its very end.
        return violated.iter().for_each(|&one| handle_one(world, (one, at)));
    }
    if IS_HANDLING.replace(true) {
        return;
    }
    while let Some(next) = WAITING.try_with(|waiting| waiting.borrow_mut().pop_front()).ok().flatten() {
        handle_one(world, next);
    }
    IS_HANDLING.set(false);
}

fn handle_one(world: &World, (formula, location): Waiting) {
    let (monitor, property, body) = world.formula(formula);
    monitor.count();
    let thread = thread_name();
    for handler in &body.handlers {
        let verdict = Verdict {
            property: &property.name,
            body: body.name.as_deref(),
            category: &handler.category,
            thread: &thread,
            location,
            bindings: Vec::new(),
        };
        handler.actions.iter().for_each(|action| act(action, &verdict, &[]));
    }
}
