//! What changes the process as a whole: forks, and libraries that are loaded and unloaded.
//!
//! The end of the process needs nothing: the file is valid at every moment. `posix_spawn` and `system` do not come here, and need
//! not: what they start is another program at once.

use foresee_format::Tag;
use libc::{c_char, c_int, c_void, pid_t};

use super::threads;
use crate::entry_points::entries;
use crate::real_functions::{Real, call_real};
use crate::recorder::edges::{acquire_edge, release_edge};
use crate::recorder::{atomics, held_locks, order, session, status, thread, thread_handles};

type Handler = Option<unsafe extern "C" fn()>;

unsafe extern "C" {
    /// What `pthread_atfork` calls, which itself is in the static part of the C library, where not every linker looks.
    fn __register_atfork(prepare: Handler, parent: Handler, child: Handler, library: *mut c_void) -> c_int;
}

/// Has [`forked`] run in the child of every fork, those of the C library included (`daemon`, `forkpty`).
pub(crate) fn start() {
    if status::recording() {
        // SAFETY: the handler has the signature that is asked for, and is there as long as the process. Without it, a child would
        // write to the parent's trace.
        unsafe { __register_atfork(None, None, Some(forked), std::ptr::null_mut()) };
    }
}

/// The child of a fork is a run of its own, with a trace of its own. It begins with the thread that forked, which holds the
/// locks that it held; the other threads are not there.
unsafe extern "C" fn forked() {
    if !status::recording() {
        return;
    }
    session::suspend();
    if thread::is_inside() {
        // A signal handler forked, and the runtime it interrupted goes on with what it has.
        return;
    }
    atomics::unlock_all();
    thread_handles::forget();
    thread::start_over();
    session::start_in_child();
    threads::begin_first();
    held_locks::each(|lock, mode| thread::stamped(Tag::Acquire, mode, [0, lock]));
}

/// The child of `vfork` would write to its parent's memory, and so to its trace.
extern "C-unwind" fn fork_instead(_pc: u64) -> pid_t {
    // SAFETY: has no preconditions. It differs from `vfork` in that memory is not shared, on which a program must not rely.
    unsafe { libc::fork() }
}

/// Stands for the lock of the loader, by which it orders those who load and unload: memory of a library that is gone may be
/// another's at once.
static LOADER: u8 = 0;

fn loader() -> u64 {
    (&raw const LOADER) as u64
}

/// A library that is loaded later: what it maps has to be known to name what it does, from its initialisers on.
extern "C-unwind" fn load_library(path: *const c_char, flags: c_int, pc: u64) -> *mut c_void {
    static REAL: Real = Real::new(c"dlopen");
    acquire_edge(loader(), pc);
    let key = order::now();
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    let library = unsafe { call_real!(REAL, (*const c_char, c_int) -> *mut c_void, path, flags) };
    if !library.is_null() {
        thread::always(|_| session::write_maps(key));
        acquire_edge(loader(), pc);
    }
    library
}

/// A library may be unloaded. Its finalisers run within the call: what they do is ordered by what follows here only in
/// this thread.
extern "C-unwind" fn unload_library(library: *mut c_void, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"dlclose");
    release_edge(loader(), pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    unsafe { call_real!(REAL, (*mut c_void) -> c_int, library) }
}

entries! {
    vfork => fork_instead, "rdi";
    dlopen => load_library, "rdx";
    dlclose => unload_library, "rsi";
}
