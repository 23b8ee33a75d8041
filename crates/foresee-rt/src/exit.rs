//! What changes the process as a whole. Its end needs nothing: the file is valid at every moment. `posix_spawn` and `system` do
//! not come here, and need not: what they start is another program at once.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use foresee_format::Tag;
use libc::{c_char, c_int, c_void, pid_t};

use crate::atomics::{acquire_edge, release_edge, unlock_all};
use crate::buffer;
use crate::entry::entries;
use crate::held;
use crate::rawfile;
use crate::real::{Real, call_real};
use crate::threads;

type Handler = Option<unsafe extern "C" fn()>;

unsafe extern "C" {
    /// What `pthread_atfork` calls, which itself is in the static part of the C library, where not every linker looks.
    fn __register_atfork(prepare: Handler, parent: Handler, child: Handler, library: *mut c_void) -> c_int;
}

/// Has [`forked`] run in the child of every fork, those of the C library included (`daemon`, `forkpty`).
pub(crate) fn start() {
    static STARTED: AtomicBool = AtomicBool::new(false);
    if rawfile::recording() && !STARTED.swap(true, SeqCst) {
        // SAFETY: the handler has the signature that is asked for. Without it, a child would write to the parent's trace.
        unsafe { __register_atfork(None, None, Some(forked), std::ptr::null_mut()) };
    }
}

/// The child of a fork is a run of its own, with a trace of its own. It begins with the thread that forked, which holds the
/// locks that it held; the other threads are not there.
unsafe extern "C" fn forked() {
    if !rawfile::recording() {
        return;
    }
    rawfile::forsake();
    if buffer::is_inside() {
        // A signal handler forked, and the runtime it interrupted goes on with what it has.
        return;
    }
    unlock_all();
    threads::forget();
    buffer::start_over();
    rawfile::start_again();
    threads::begin_first();
    held::each(|lock, mode| buffer::stamped(Tag::Acquire, mode, [0, lock]));
}

/// The child of `vfork` would write to its parent's memory, and so to its trace.
extern "C-unwind" fn fork_instead(_pc: u64) -> pid_t {
    // SAFETY: as the caller wants it, but for the memory: a program must not rely on that.
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
    let key = rawfile::now();
    // SAFETY: the arguments are the caller's own.
    let library = unsafe { call_real!(REAL, (*const c_char, c_int) -> *mut c_void, path, flags) };
    if !library.is_null() {
        buffer::always(|_| rawfile::write_maps(key));
        acquire_edge(loader(), pc);
    }
    library
}

/// A library may be unloaded. Its finalisers run within the call: what they do is ordered by what follows here only in
/// this thread.
extern "C-unwind" fn unload_library(library: *mut c_void, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"dlclose");
    release_edge(loader(), pc);
    // SAFETY: the arguments are the caller's own.
    unsafe { call_real!(REAL, (*mut c_void) -> c_int, library) }
}

entries! {
    vfork => fork_instead, "rdi";
    dlopen => load_library, "rdx";
    dlclose => unload_library, "rsi";
}
