//! Functions of the library that call each other: what is recorded as a whole is not recorded again in its parts.

use std::cell::Cell;

thread_local! {
    static WITHIN: Cell<bool> = const { Cell::new(false) };
}

/// Calls a function whose parts are not to be recorded; the second value says whether it is a part itself.
pub(super) fn within<R>(real: impl FnOnce() -> R) -> (R, bool) {
    let outer = WITHIN.replace(true);
    let result = real();
    WITHIN.set(outer);
    (result, outer)
}

/// Whether the thread is in a function that is recorded as a whole.
pub(super) fn is_part() -> bool {
    WITHIN.get()
}
