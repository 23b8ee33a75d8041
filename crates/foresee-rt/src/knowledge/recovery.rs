//! Calling the program's own functions when a formula has ceased to hold: on the thread that found it, outside of the runtime.

use std::cell::Cell;
use std::ffi::{c_char, c_void};

use super::news;
use super::spec::Todo;
use super::world::world;

/// What is called: with the name of the property, and what the program wants to be given.
type Recovery = extern "C-unwind" fn(*const c_char, *mut c_void);

thread_local! {
    /// Where on its stack this thread calls a function from here, or 0. A function may also be left by a jump or an exception: what is not below that place any more is not in it.
    static RECOVERING_AT: Cell<usize> = const { Cell::new(0) };
}

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
    let here = Cell::new(0_u8);
    let place = std::ptr::from_ref(std::hint::black_box(&here)) as usize;
    if place < RECOVERING_AT.get() {
        return;
    }
    RECOVERING_AT.set(place);
    while let Some(formula) = news::take() {
        handle(formula);
    }
    RECOVERING_AT.set(0);
}

fn handle(formula: u32) {
    let Some(formula) = world().and_then(|world| world.spec.formulas.get(formula as usize)) else { return };
    for action in &formula.actions {
        match action {
            Todo::Call(registered) => {
                let (function, argument) = registered.get();
                if function != 0 {
                    // SAFETY: the program registered it by `foresee_on_violation`, whose declaration in `foresee.h` asks for a function of this
                    // signature; it stays as long as the program.
                    let function = unsafe { std::mem::transmute::<usize, Recovery>(function) };
                    function(formula.property.as_ptr(), argument as *mut c_void);
                }
            }
            // SAFETY: has no preconditions.
            Todo::Abort => unsafe { libc::abort() },
        }
    }
}
