//! What is to be done about verdicts that a thread has reached, until it leaves the runtime.

use std::cell::Cell;

/// A verdict whose handler has something done.
pub(super) struct Pending {
    pub(super) property: usize,
    pub(super) body: usize,
    pub(super) handler: usize,
    pub(super) says: String,
    next: *mut Pending,
}

thread_local! {
    /// The first of a list, or null. (A list without a destructor: threads use it until their very end.)
    static FIRST: Cell<*mut Pending> = const { Cell::new(std::ptr::null_mut()) };
}

/// Whether there is any.
#[inline]
pub(super) fn is_any() -> bool {
    !FIRST.get().is_null()
}

/// Adds one to the end.
pub(super) fn push(property: usize, body: usize, handler: usize, says: String) {
    let new = Box::into_raw(Box::new(Pending { property, body, handler, says, next: std::ptr::null_mut() }));
    let mut last = FIRST.get();
    if last.is_null() {
        return FIRST.set(new);
    }
    // SAFETY: the list is this thread's alone, and consists of what `push` has made and `take` has not taken.
    unsafe {
        while !(*last).next.is_null() {
            last = (*last).next;
        }
        (*last).next = new;
    }
}

/// Takes the first.
pub(super) fn take() -> Option<Pending> {
    let first = FIRST.get();
    if first.is_null() {
        return None;
    }
    // SAFETY: it was made by `push`, and is not in the list any more.
    let first = unsafe { Box::from_raw(first) };
    FIRST.set(first.next);
    Some(*first)
}
