//! What changes the process as a whole: forks, children that end, and libraries that are loaded and unloaded.
//!
//! The end of the process needs nothing: the file is valid at every moment. What `posix_spawn` starts is another program at once, and
//! is not recorded. But whatever a child is, it may hand over what it is given by one thread to another (`channels`), and whoever
//! waits for its end comes after what made it end: its fork, what it was given, the signals that it was sent.

use std::cell::Cell;

use foresee_format::{Tag, Unseen};
use libc::{c_char, c_int, c_void, pid_t};

use super::blocked_signals::{ALL_THAT_CAN_WAIT, block};
use super::channels::{OF_PROCESSES, OF_SIGNALS, forks};
use super::threads;
use crate::entry_points::{weak_entries, weak_entries_of_six};
use crate::real_functions::{Real, call_real};
use crate::recorder::accesses::unseen;
use crate::recorder::edges::{acquire_edge, release_edge};
use crate::recorder::thread::SignalSet;
use crate::recorder::{atomics, held_locks, order, session, status, thread, thread_handles};

type Handler = Option<unsafe extern "C" fn()>;

/// What `pthread_atfork` calls, which itself is in the static part of the C library, where not every linker looks.
static REGISTER: Real = Real::new(c"__register_atfork");

fn register(prepare: Handler, parent: Handler, child: Handler, library: *mut c_void) -> c_int {
    // SAFETY: the signature of the C library's function. Handlers are functions that are there as long as the library.
    unsafe {
        call_real!(
            REGISTER,
            (Handler, Handler, Handler, *mut c_void) -> c_int,
            prepare, parent, child, library
        )
    }
}

/// Stands for the handlers that are called when the process forks: whoever forks knows what those did who have registered them.
static HANDLERS: u8 = 0;

fn handlers() -> u64 {
    (&raw const HANDLERS) as u64
}

extern "C-unwind" fn register_handlers(
    prepare: Handler,
    parent: Handler,
    child: Handler,
    library: *mut c_void,
    pc: u64,
) -> c_int {
    release_edge(handlers(), pc);
    register(prepare, parent, child, library)
}

/// The handlers of the program run within the call; what else there is to do is done by our own (`start`).
extern "C-unwind" fn fork_now(pc: u64) -> pid_t {
    static REAL: Real = Real::new(c"fork");
    acquire_edge(handlers(), pc);
    // SAFETY: has no preconditions.
    unsafe { call_real!(REAL, () -> pid_t,) }
}

/// Has [`forked`] run in the child of every fork, those of the C library included (`daemon`, `forkpty`).
pub(crate) fn start() {
    if status::recording() {
        // Without the last one, a child would write to the parent's trace.
        register(Some(about_to_fork), Some(has_forked), Some(forked), std::ptr::null_mut());
    }
}

thread_local! {
    /// What this thread blocks, while it forks.
    static BLOCKED: Cell<SignalSet> = const { Cell::new(0) };
    /// Whether it was recorded then: the child does not find out (`status`).
    static WAS_RECORDING: Cell<bool> = const { Cell::new(false) };
}

/// Until the child has a trace of its own, no handler may run in it.
unsafe extern "C" fn about_to_fork() {
    forks(about_to_fork as *const () as u64);
    BLOCKED.set(block(ALL_THAT_CAN_WAIT));
    WAS_RECORDING.set(status::recording());
}

unsafe extern "C" fn has_forked() {
    block(BLOCKED.get());
}

unsafe extern "C" fn forked() {
    begin_child();
    block(BLOCKED.get());
}

/// The child of a fork is a run of its own, with a trace of its own. It begins with the thread that forked, which holds the
/// locks that it held; the other threads are not there.
fn begin_child() {
    if !WAS_RECORDING.get() {
        return;
    }
    session::suspend();
    if thread::is_inside() {
        // A signal handler forked, and the runtime it interrupted goes on with what it has.
        return;
    }
    atomics::start_over();
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

/// Functions that start another program.
macro_rules! spawners {
    ($($function:ident of $name:literal;)*) => {
        $(extern "C-unwind" fn $function(
            child: *mut pid_t,
            path: *const c_char,
            actions: *const c_void,
            attributes: *const c_void,
            arguments: *const c_void,
            environment: *const c_void,
            pc: u64,
        ) -> c_int {
            static REAL: Real = Real::new($name);
            forks(pc);
            // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
            unsafe {
                call_real!(
                    REAL,
                    (*mut pid_t, *const c_char, *const c_void, *const c_void, *const c_void, *const c_void) -> c_int,
                    child, path, actions, attributes, arguments, environment
                )
            }
        })*
    };
}

spawners! {
    spawn of c"posix_spawn";
    spawn_by_name of c"posix_spawnp";
}

/// A child has ended, or stopped, or goes on.
pub(super) fn child_changed(pc: u64) {
    acquire_edge(OF_PROCESSES, pc);
    acquire_edge(OF_SIGNALS, pc);
}

/// Functions that wait for a child, and whether a result says that one has changed.
macro_rules! waiters {
    ($($real:ident $function:ident of $name:literal ($($arg:ident: $ty:ty),*) -> $result:ty, if $success:expr;)*) => {
        $(static $real: Real = Real::new($name);
        extern "C-unwind" fn $function($($arg: $ty,)* pc: u64) -> $result {
            // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
            let result = unsafe { call_real!($real, ($($ty),*) -> $result, $($arg),*) };
            let success: fn($result) -> bool = $success;
            if success(result) {
                child_changed(pc);
            }
            result
        })*
    };
}

waiters! {
    WAIT wait_for_any of c"wait" (status: *mut c_int) -> pid_t, if |child| child > 0;
    WAITPID wait_for of c"waitpid" (
        child: pid_t, status: *mut c_int, options: c_int
    ) -> pid_t, if |child| child > 0;
    WAIT3 wait_for_any_with_usage of c"wait3" (
        status: *mut c_int, options: c_int, usage: *mut c_void
    ) -> pid_t, if |child| child > 0;
    WAIT4 wait_for_with_usage of c"wait4" (
        child: pid_t, status: *mut c_int, options: c_int, usage: *mut c_void
    ) -> pid_t, if |child| child > 0;
    WAITID wait_for_change of c"waitid" (
        kind: c_int, id: c_int, info: *mut c_void, options: c_int
    ) -> c_int, if |failed| failed == 0;
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
    unseen(Unseen::Loader, pc);
    let key = order::now();
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    let library = unsafe { call_real!(REAL, (*const c_char, c_int) -> *mut c_void, path, flags) };
    if !library.is_null() {
        thread::always(|_| session::write_maps(key));
        session::look_at_libraries();
        acquire_edge(loader(), pc);
    }
    unseen(Unseen::Loader, pc);
    library
}

/// A library may be unloaded. Its finalisers run within the call, under the loader's lock, and so do initialisers: whoever loads and unloads it at the
/// same time is ordered in a way that is not seen.
extern "C-unwind" fn unload_library(library: *mut c_void, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"dlclose");
    release_edge(loader(), pc);
    unseen(Unseen::Loader, pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    let result = unsafe { call_real!(REAL, (*mut c_void) -> c_int, library) };
    unseen(Unseen::Loader, pc);
    result
}

weak_entries! {
    "vfork" => fork_instead, "rdi";
    "dlopen" => load_library, "rdx";
    "dlclose" => unload_library, "rsi";
}

// A program may have functions of its own by these names.
weak_entries! {
    "fork" => fork_now, "rdi";
    "__register_atfork" => register_handlers, "r8";
    "wait" => wait_for_any, "rsi";
    "waitpid" => wait_for, "rcx";
    "wait3" => wait_for_any_with_usage, "rcx";
    "wait4" => wait_for_with_usage, "r8";
    "waitid" => wait_for_change, "r8";
}

weak_entries_of_six! {
    "posix_spawn" => spawn;
    "posix_spawnp" => spawn_by_name;
}
