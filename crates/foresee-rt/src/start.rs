//! The start of the runtime, before the program's own code.

use std::ffi::{c_char, c_int};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use crate::c_library::{ending, process, threads};
use crate::entry_points::entries;
use crate::recorder::{
    branches, code_filter, joined, limits, ring, seen_values, session, status, thread, watched,
};
use crate::{calls, observer, program, real_functions, variables};

/// Starts recording if it is asked for. Runs before the program's own constructors where the linker allows it, and at
/// the latest when the first instrumented object is initialised.
extern "C" fn start(_count: c_int, args: *const *const c_char) {
    // What is recorded already, as an object of the program was initialised before, does not make way any more; and what is done for that would be taken for the program's doing.
    if !status::recording() {
        // SAFETY: the C library passes the program's arguments to functions of `.init_array`, as it passes them to `main`.
        unsafe { observer::start(args) };
    }
    record();
}

/// The same for callers that do not know the program's arguments. Only the first call counts.
fn record() {
    static STARTED: AtomicBool = AtomicBool::new(false);
    if STARTED.swap(true, SeqCst) {
        return;
    }
    real_functions::find_all();
    // What reads strings and memory comes before the recording, which would take it for the program's doing.
    watched::start();
    variables::start();
    code_filter::start();
    branches::start();
    calls::start();
    seen_values::start();
    limits::start();
    ending::start();
    ring::start();
    joined::start();
    thread::start();
    session::start();
    threads::start();
    process::start();
}

// SAFETY: `.init_array` holds pointers to functions that the C library calls with the arguments of `main`.
#[used]
#[unsafe(link_section = ".init_array.00101")]
static START: extern "C" fn(c_int, *const *const c_char) = start;

/// Every instrumented object calls this before its constructors.
extern "C" fn init(_pc: u64) {
    program::find_instrumented_libraries();
    record();
}

entries! {
    __tsan_init => init, "rdi";
}
