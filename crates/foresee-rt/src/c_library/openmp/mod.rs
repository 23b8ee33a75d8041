//! OpenMP: what the runtime libraries of gcc (libgomp) and of LLVM (libomp) order.
//!
//! Compilers turn directives into calls of such a library, whose threads meet by means of its own that nobody records. Ours stand in
//! front of those calls and record what the OpenMP specification guarantees, as locks and as edges (`recorder::edges`):
//!
//! | construct | recorded as |
//! |---|---|
//! | parallel region | what was before it comes before what its threads do; that comes before what follows the region |
//! | barrier, also the one at the end of a worksharing construct | what was before it comes before what is after it, in all threads of the team |
//! | critical section, lock, `atomic` that the library does, reduction in turns | a lock |
//! | explicit task | its making comes before it; it comes before the end of the `taskwait`, `taskgroup` or barrier that waits for it, and before tasks that depend on it |
//! | `ordered` | each section comes before the next one; with dependences, what an iteration did before others need not wait comes before what they do then |
//! | cancellation | asking for it comes before seeing that somebody has asked |
//! | `copyprivate`, reduction in a tree | what the threads hand over to each other within the call |
//!
//! How iterations are shared out orders nothing: the functions that do so are in the table of effects of `foresee-symbols`, as functions
//! that do nothing another thread could notice. What is neither here nor there (devices, interfaces that compilers no longer use) stays
//! unknown code that may order threads.
//!
//! Who runs a region is seen by giving the library a function of ours to run instead of the program's: it does the same between two edges.
//! Each thread knows the task that it is in (`teams::Task`), which knows its team. Objects of edges are addresses inside of these.
//!
//! | module | holds |
//! |---|---|
//! | `teams` | parallel regions, barriers, `ordered`: what both libraries have |
//! | `tasks` | explicit tasks, what they depend on and who waits for them |
//! | `locks` | locks and critical sections of both libraries |
//! | `gomp`, `gomp_tasks` | entry points of libgomp |
//! | `kmpc`, `kmpc_reductions`, `kmpc_tasks`, `kmpc_task_reductions` | entry points of libomp |
//!
//! Everything is weak and looked up when it is called: programs without OpenMP have none of it, and those that are linked with such a
//! library statically use the library's own.

mod gomp;
mod gomp_tasks;
mod kmpc;
mod kmpc_reductions;
mod kmpc_task_reductions;
mod kmpc_tasks;
mod locks;
mod tasks;
mod teams;

use std::ffi::CStr;

/// The libraries, for programs whose linker found them not needed, as ours has all functions that they call.
const LIBGOMP: &CStr = c"libgomp.so.1";
const LIBOMP: &CStr = c"libomp.so.5";

/// A list of variable arguments, as the System V ABI has it and entry points make it.
#[repr(C)]
struct VaList {
    /// Where the next argument is among the saved registers.
    registers_used: u32,
    vectors_used: u32,
    stacked: *const u64,
    saved_registers: *const u64,
}
