//! What is done when a formula has ceased to hold: on the thread that found it, outside of the runtime.

use foresee_monitor::handler_text::says_with;

use super::news;
use super::spec::Todo;
use super::world::world;
use crate::monitors::functions::one_at_a_time;
use crate::monitors::spin::Spin;
use crate::monitors::verdicts::{self, Found};

/// So many places are told of.
const MOST_PLACES: usize = 1000;

/// The program says what is to be called for `recover` and `call` actions of this name.
pub(crate) fn register(name: &[u8], function: usize, argument: usize) {
    let Some(world) = world() else { return };
    for action in world.spec.formulas.iter().flat_map(|formula| &formula.actions) {
        if let Todo::Call(registered) = action {
            registered.register(name, function, argument);
        }
    }
}

/// Does what is to be done on violations that this thread has found, if any. What is violated meanwhile is handled after it.
#[inline]
pub(crate) fn recover() {
    if news::is_any() {
        recover_all();
    }
}

#[cold]
#[inline(never)]
fn recover_all() {
    one_at_a_time(|| {
        while let Some(formula) = news::take() {
            tell(formula);
            handle(formula);
        }
    });
}

/// Tells of what was violated at this place for the first time, if there is no trace that does.
fn tell(number: u32) {
    static TOLD: Spin<Vec<(u32, u64)>> = Spin::new(Vec::new());
    let Some(formula) = world().and_then(|world| world.spec.formulas.get(number as usize)) else { return };
    let place = (number, news::place());
    let mut told = TOLD.lock();
    if !verdicts::are_told() || told.contains(&place) || told.len() > MOST_PLACES {
        return;
    }
    told.push(place);
    drop(told);
    let thread = news::thread();
    let property = formula.property.to_string_lossy();
    for handler in &formula.handlers {
        let says = says_with(handler, |name| (name == "thread").then(|| verdicts::thread_name(thread)));
        verdicts::tell(&Found {
            property: &property,
            category: &handler.category,
            thread,
            pc: place.1,
            unknown: None,
            message: &says,
        });
    }
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
