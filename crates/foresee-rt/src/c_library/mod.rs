//! Functions of the C library that ours stand in front of: those that order threads, give memory a new life, or access memory
//! on behalf of the program.
//!
//! Each does what the real one does, with or without recording, and is recorded at the moment at which the real order is fixed (see
//! the crate's documentation).
//!
//! | modules | hold |
//! |---|---|
//! | `threads`, `cancellation`, `process`, `lookup` | threads that begin, end and are joined; `fork`, `wait`, libraries that are loaded, and what is looked up in them |
//! | `ending`, `other_threads` | the end of the process, which waits a little for its threads |
//! | `locks`, `conditions`, `semaphores`, `once`, `lives` | what programs synchronise by, and how it begins and ends |
//! | `channels`, `room`, `descriptors`, `descriptor_lives`, `streams`, `aio`, `io_uring` | what threads hand over through descriptors: pipes, sockets, files |
//! | `names` | what they hand over by names of files alone |
//! | `ipc`, `signals`, `deferred_handlers`, `blocked_signals`, `handing_over` | what they hand over through the kernel otherwise: messages, signals, timers |
//! | `allocation`, `new_delete`, `mappings` | memory that begins and ends |
//! | `copies`, `strings`, `effects` | functions that access the program's memory |
//! | `jumps`, `sleeping` | `longjmp`; functions that let time pass |
//! | `openmp` | the libraries behind OpenMP's directives |

mod aio;
mod allocation;
mod blocked_signals;
mod cancellation;
mod channels;
mod conditions;
mod copies;
mod deferred_handlers;
mod descriptor_lives;
mod descriptors;
mod effects;
pub(crate) mod ending;
mod given;
mod handing_over;
mod io_uring;
mod ipc;
mod jumps;
mod lives;
mod locks;
mod lookup;
mod mappings;
mod names;
mod new_delete;
mod once;
mod openmp;
mod other_threads;
pub(crate) mod process;
mod room;
mod semaphores;
mod shared_mappings;
mod signals;
mod sleeping;
mod streams;
mod strings;
pub(crate) mod threads;
