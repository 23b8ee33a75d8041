//! Entry points of LLVM's libomp: reductions.
//!
//! The library decides how the threads of a team put their parts together, and says so by what it returns: in turns, under a lock (1);
//! each by atomic operations (2); or in a tree, in which threads put together the parts of others within the call, the last
//! step being done by the thread that gets a 1 and the others getting a 0. A thread that is alone in its team gets a 1, too, and no lock:
//! as nobody knows whether there is one, turns are recorded as edges by the lock's address.

use std::cell::Cell;

use libc::{c_int, c_void, size_t};

use super::LIBOMP;
use super::kmpc::Place;
use super::teams::{arrives, barrier, left, reductions};
use crate::entry_points::{weak_entries, weak_entries_of_six};
use crate::real_functions::{Real, call_real};
use crate::recorder::edges::{acquire_edge, release_edge};

/// Puts the second part into the first.
type Combine = extern "C-unwind" fn(*mut c_void, *mut c_void);

/// The thread's part is in the result, by another one.
const BY_ANOTHER: c_int = 0;
/// The thread has to put its part into the result, alone.
const ALONE: c_int = 1;

thread_local! {
    /// How the program puts parts together in the reduction that this thread is in, and where that is.
    static COMBINE: Cell<Option<(Combine, u64)>> = const { Cell::new(None) };
}

/// A step in the tree: the other part's thread is done with it.
extern "C-unwind" fn combine(into: *mut c_void, part: *mut c_void) {
    if let Some((combine, pc)) = COMBINE.get() {
        acquire_edge(reductions(), pc);
        combine(into, part);
        release_edge(reductions(), pc);
    }
}

/// Has `real` begin a reduction, given what puts parts together.
fn begins(
    own: Option<Combine>,
    lock: *mut c_void,
    pc: u64,
    real: impl FnOnce(Option<Combine>) -> c_int,
) -> c_int {
    release_edge(reductions(), pc);
    let outer = COMBINE.replace(own.map(|own| (own, pc)));
    let result = real(own.map(|_| combine as Combine));
    COMBINE.set(outer);
    match result {
        ALONE => acquire_edge(lock as u64, pc),
        // Another one has read this thread's part, which the program may use for something else now.
        BY_ANOTHER => acquire_edge(reductions(), pc),
        _ => {}
    }
    result
}

/// Functions that begin a reduction: `function of "C name", whether there is a barrier at its end`.
macro_rules! reductions {
    ($($function:ident of $name:literal, $waits:literal;)*) => {
        $(extern "C-unwind" fn $function(
            place: Place,
            thread: c_int,
            count: c_int,
            size: size_t,
            data: *mut c_void,
            own: Option<Combine>,
            pc: u64,
            _return: u64,
            lock: *mut c_void,
        ) -> c_int {
            static REAL: Real = Real::of_library($name, LIBOMP);
            if $waits {
                arrives(0, pc);
            }
            // SAFETY: forwards the caller's own arguments, with the signature of the library's function, or `combine`, which this
            // thread calls within the call.
            let result = begins(own, lock, pc, |combine| unsafe {
                call_real!(
                    REAL,
                    (Place, c_int, c_int, size_t, *mut c_void, Option<Combine>, *mut c_void) -> c_int,
                    place, thread, count, size, data, combine, lock
                )
            });
            if $waits && result == BY_ANOTHER {
                left(pc);
            }
            result
        })*
    };
}

reductions! {
    reduce of c"__kmpc_reduce", true;
    reduce_nowait of c"__kmpc_reduce_nowait", false;
}

extern "C-unwind" fn end_reduce(place: Place, thread: c_int, lock: *mut c_void, pc: u64) {
    static REAL: Real = Real::of_library(c"__kmpc_end_reduce", LIBOMP);
    release_edge(lock as u64, pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
    barrier(pc, || unsafe { call_real!(REAL, (Place, c_int, *mut c_void) -> (), place, thread, lock) });
}

extern "C-unwind" fn end_reduce_nowait(place: Place, thread: c_int, lock: *mut c_void, pc: u64) {
    static REAL: Real = Real::of_library(c"__kmpc_end_reduce_nowait", LIBOMP);
    release_edge(lock as u64, pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
    unsafe { call_real!(REAL, (Place, c_int, *mut c_void) -> (), place, thread, lock) }
}

weak_entries! {
    "__kmpc_end_reduce" => end_reduce, "rcx";
    "__kmpc_end_reduce_nowait" => end_reduce_nowait, "rcx";
}

weak_entries_of_six! {
    "__kmpc_reduce" => reduce;
    "__kmpc_reduce_nowait" => reduce_nowait;
}
