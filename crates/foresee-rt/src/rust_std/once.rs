//! `Once`, and so `OnceLock` and `LazyLock`.
//!
//! Whoever finds a `Once` completed finds it out by an acquire load of its state word, compiled into the user's crate. What
//! makes this load see the initialisation is a release store to that word, deep in `Once::call`, after the closure. To
//! have a record of it in time, before the word changes, the library is given a closure of ours, which calls the program's
//! and then writes the record.
//!
//! Relied on: the state word is the first of `Once`; a closure is passed as data and table, the table of a `dyn FnMut` is
//! drop, size, align, `call_once`, `call_mut`. A table that does not look like this is left alone.
//! An initialisation that panics leaves the word in another state, by a release store, too; whoever goes on in spite of that
//! (`call_once_force`) begins by an acquire of it.

use libc::c_void;

use super::unseen_atomics::{Width, load, store};
use crate::entry_points::entries;
use crate::real_functions::std_functions;
use crate::recorder::status;

std_functions! {
    foresee_real_once_call(
        once: *mut c_void,
        ignore_poisoning: u64,
        closure: *mut c_void,
        table: *const Table,
        caller: u64
    );
    foresee_real_once_wait(once: *mut c_void);
    foresee_real_once_wait_force(once: *mut c_void);
}

type Call = extern "C-unwind" fn(*mut c_void, *mut c_void);

#[derive(Clone, Copy)]
#[repr(C)]
struct Table {
    drop: usize,
    size: usize,
    align: usize,
    call_once: usize,
    call_mut: Call,
}

/// The program's closure, the `Once` that it is called for, and by whom.
struct Initialiser {
    closure: *mut c_void,
    call_mut: Call,
    once: u64,
    pc: u64,
}

/// The library calls this as it would call the program's closure.
extern "C-unwind" fn initialise(initialiser: *mut c_void, state: *mut c_void) {
    // SAFETY: `call` passes this as the library's closure: it is on the stack of `call`, which has not returned.
    let Initialiser { closure, call_mut, once, pc } = unsafe { initialiser.cast::<Initialiser>().read() };
    load(once, Width::U32, pc);
    let _published = Published { once, pc };
    call_mut(closure, state);
}

/// Records that what was done so far can be seen, whether the closure returns or unwinds.
struct Published {
    once: u64,
    pc: u64,
}

impl Drop for Published {
    fn drop(&mut self) {
        store(self.once, Width::U32, self.pc);
    }
}

extern "C-unwind" fn call(
    once: *mut c_void,
    ignore_poisoning: u64,
    closure: *mut c_void,
    table: *const Table,
    caller: u64,
    pc: u64,
) {
    /// No closure is larger.
    const LARGEST: usize = 1 << 40;
    // SAFETY: every table of a `dyn` begins with these three words; the others are read only if these have the values that such a
    // table has. Closure and table that the library is given instead live until it returns.
    unsafe {
        let shape = table.cast::<[usize; 3]>().read();
        let known = shape[1] < LARGEST && shape[2].is_power_of_two();
        if !status::recording() || !known {
            return foresee_real_once_call(once, ignore_poisoning, closure, table, caller);
        }
        let theirs = table.read();
        let ours = Table { call_mut: initialise, ..theirs };
        let mut initialiser = Initialiser { closure, call_mut: theirs.call_mut, once: once as u64, pc };
        foresee_real_once_call(
            once,
            ignore_poisoning,
            (&raw mut initialiser).cast(),
            &raw const ours,
            caller,
        );
    }
    load(once as u64, Width::U32, pc);
}

extern "C-unwind" fn wait(once: *mut c_void, pc: u64) {
    // SAFETY: calls the library's function with its caller's own arguments, and its signature.
    unsafe { foresee_real_once_wait(once) };
    load(once as u64, Width::U32, pc);
}

extern "C-unwind" fn wait_force(once: *mut c_void, pc: u64) {
    // SAFETY: calls the library's function with its caller's own arguments, and its signature.
    unsafe { foresee_real_once_wait_force(once) };
    load(once as u64, Width::U32, pc);
}

entries! {
    foresee_std_once_call => call, "r9";
    foresee_std_once_wait => wait, "rsi";
    foresee_std_once_wait_force => wait_force, "rsi";
}
