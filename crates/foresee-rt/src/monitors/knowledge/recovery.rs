//! What is done when a formula has ceased to hold: on the thread that found it, outside of the runtime.

use super::news;
use super::spec::Todo;
use super::world::world;
use crate::monitors::functions::one_at_a_time;

/// The program says what is to be called for `recover` and `call` actions of this name.
pub(crate) fn register(name: &[u8], function: usize, argument: usize) {
    let Some(world) = world() else { return };
    for action in world.spec.formulas.iter().flat_map(|formula| &formula.actions) {
        if let Todo::Call(registered) = action {
            registered.register(name, function, argument);
        }
    }
}

/// Whether this thread has found violations about which nothing was done yet.
#[inline]
pub(crate) fn has_to_recover() -> bool {
    news::is_any()
}

/// Does what is to be done about them. What is violated meanwhile is handled after it.
#[cold]
#[inline(never)]
pub(crate) fn recover(depth: u32) {
    one_at_a_time(depth, || {
        while let Some(formula) = news::take() {
            handle(formula);
        }
    });
}

fn handle(formula: u32) {
    let Some(formula) = world().and_then(|world| world.spec.formulas.get(formula as usize)) else { return };
    for action in &formula.actions {
        match action {
            Todo::Call(function) => function.call(&formula.property, &formula.property),
            // SAFETY: has no preconditions.
            Todo::Abort => unsafe { libc::abort() },
        }
    }
}
