//! Properties about what threads know (`mttl`), monitored in the process: a verdict at the very event, and recovery on the thread that violates.
//!
//! `FORESEE_KNOWLEDGE` names specs. Then everything that is recorded is also a step of its thread's monitor (`foresee-mttl`, which has the algorithm), in the order in
//! which things happen: an access to memory before it is done, as compilers call before it; a lock when it was got and before it is given back; an atomic while it is done.
//! The program needs no change. If a formula ceases to hold, the functions that the program has registered for its `recover` and `call` actions are
//! called as soon as the runtime is left: before the access itself, with the lock that was taken, before the one that is given back is free.
//!
//! | module | holds |
//! |---|---|
//! | `spec` | the properties, and which of them can be monitored here |
//! | `world` | the monitors of all threads, memory, locks |
//! | `steps` | what each record is for a monitor |
//! | `news`, `recovery` | what has ceased to hold; functions of the program, and calling them |
//! | `telling` | what the driver is told where there is no trace |
//! | `unknown` | variables whose values are not known |
//! | `own` | what is one thread's at a time |
//!
//! **Cost.** Nothing but a bit of the recorder's status while no spec is named. Otherwise accesses take the long way; each locks a 64th of memory by its address, and has its thread's monitor without a
//! lock: there is no lock or counter that all threads use. An access that its thread has done before is not even looked up as long as neither what the thread knows nor that part of memory has changed; otherwise the
//! thread remembers where its variable is. The vectors of memory are shared until they differ, so a variable is two pointers and an entry of a table; what that takes
//! is allocated as the program's own memory is, unrecorded. An access whose thread's state has changed needs one atomic operation, as its variable must be this thread's alone while it learns and publishes; recording needs none.
//! A violation is reported here only without a trace (`verdicts`): the trace of the same run has it, with all that the thread knew.
//!
//! **Values.** Compilers call before an access, when the value that will be written is not known. Where formulas ask for values, a write of a watched variable is a step when its thread enters the runtime
//! next, which is before anything that could order it before another thread's access. So it is also then that recovery is called: before the thread's next event, and after the write. A write whose value
//! cannot be told from that of another thread, in a race, or in a copy of many bytes, leaves the known value as it was, as over the trace. Atomic operations have their values at once.
//!
//! **Names.** Threads get their names when they run already, so a formula about threads by name counts a thread among them from the moment that it has the name; over the trace it is one of them from the beginning. What differs is
//! what others say of it in between, when it has done nothing yet, or next to nothing.
//!
//! **Forks.** The child of a fork is a run of its own, as it has a trace of its own: its only thread is a first one, nobody knows anything, and variables are at first what the parent had made of them.

mod news;
mod own;
mod recovery;
mod spec;
mod steps;
mod telling;
mod unknown;
mod world;

pub(super) use recovery::{has_to_recover, recover, register};
pub(super) use steps::{access, assign, atomic, name, raced, record, waits_for_value, written};
pub(super) use world::{end, start, start_in_child};
