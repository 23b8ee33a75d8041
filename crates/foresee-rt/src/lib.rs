//! The runtime inside the recorded program.
//!
//! Compilers instrument for ThreadSanitizer: they call `__tsan_read4` before a read of four bytes, and so on. This crate
//! is linked instead of TSan's runtime. It implements those calls, and functions of the C library that order threads
//! (`pthread_mutex_lock`) or give memory a new life (`malloc`), and writes what happens to a raw trace
//! (`foresee_format` describes the file). With `FORESEE_RAW` unset it only forwards.
//!
//! # Where things are
//!
//! | module | holds |
//! |---|---|
//! | `start`, `observer` | what happens before the program's own code |
//! | `compiler` | what compilers insert calls to |
//! | `c_library` | functions of the C library that ours stand in front of |
//! | `rust_std` | functions of Rust's library that ours stand in front of |
//! | `sdk` | annotations: what programs say by foresee's own functions |
//! | `calls` | functions that properties name: hooks at their beginnings and ends |
//! | `recorder` | from operations to records in the trace |
//! | `knowledge` | properties about what threads know, monitored in the process |
//! | `entry_points`, `real_functions` | how we are called, and how we call what we stand in front of |
//! | `program`, `variables`, `environment`, `message` | the program's image, those of its variables that properties speak of, the driver's variables, messages to the user |
//!
//! Modules import each other in one direction: those who notice an operation use the recorder, never the other way round.
//!
//! # Order
//!
//! Every record has a key, and a reader sorts by key (ties: by thread). Keys come from one of two clocks (`recorder::order`). What
//! synchronises takes its key at a moment when the real order is fixed: an acquire after it got the lock, a release before it gives it back, an
//! atomic while it holds a spin lock chosen by its address, a fork before the thread exists, a join after it is gone. So whenever such an operation
//! can see the effect of another, its key is larger.
//!
//! **Time.** The key of what synchronises is `2 * time + 1`, larger than any that its thread had before. Nothing is shared by
//! all threads: what synchronises writes to the cache lines of its object (an atomic's spin lock), everything else to the thread's own.
//!
//! **The counter** counts in twos. The key of what synchronises is `counter + 1`, and counts. All threads that change something to synchronise by share its cache line.
//!
//! **Pages.** With either, accesses, calls and relaxed loads have the
//! last key of their thread, rounded up to an even one; the thread looks at the clock anew every so often (`recorder::thread::freshness`). That is what the driver asks for on many processors (`FORESEE_CLOCK=time`; `pages` is the same by the counter) where a program has no code that may order
//! threads unseen. Otherwise, with unknown libraries, and where the moment of each access is needed, everything looks at the counter (`counter`). With `FORESEE_CLOCK=moments`, every record takes the time anew: then accesses that race are in the order in which they happened, too, as far as anybody can tell.
//!
//! With either, the order by keys is one in which
//!
//! * each thread's order is kept, as its keys never fall;
//! * locks exclude, and an atomic's modification order is the order of its records, since their keys are so ordered. A load comes after the
//!   write that it read, and before the next one, and writes nothing to the cache lines of the atomic (`recorder::atomics`);
//! * what happens-before orders is in that order: if a plain access `a` precedes a release (key `s`) whose acquire (key `t > s`)
//!   precedes `b`, then key(a) ≤ s < t < key(b).
//!
//! So it is a possible run, and every read that is in no race reads the write that it read. It is the observed run up to the order of what nothing orders: for accesses that
//! race, keys are a good guess.
//!
//! A free takes a key too, before memory goes back, and whoever gets that memory next takes a larger one.
//! Records are written before the operation can have an effect on others (release, atomic: within the spin lock), so a process
//! killed at any moment leaves a trace in which everything that an event depends on is there.
//!
//! # Rules for code in this crate
//!
//! * It is built without instrumentation, and calls nothing that is instrumented.
//! * It shares no lock with the program and holds none of its own while it calls out.
//! * Hot paths do not allocate and do no system call but for a new chunk of the file.
//! * It may run in a signal handler: a thread that is already inside the runtime (`recorder::thread`) does not
//!   enter again; the operation is done, not recorded.
//! * It never panics where outside conditions can make it: no panic may cross into C.
//! * `errno` is left alone where the interposed function does not set it.
//! * No value with a destructor lives across a call that may be unwound (cancellation, C++ exceptions), but for one that has
//!   to see it (`c_library::once`).
//!
//! # Rust's library
//!
//! It is linked into Rust programs as it comes, without instrumentation. Calls of what orders threads in it are redirected
//! (`rust_std`); nothing else that it does is recorded.
//!
//! # Known limits
//!
//! What a signal handler accesses that interrupts the runtime is not recorded; nor are the threads of a process that forks
//! by `clone` itself. Cleanup handlers of a thread that may be cancelled anywhere are not ordered after its cancellation, nor is what
//! reads a stream's last bytes after what the program did before it ended (`c_library::cancellation`, `streams`). Code of clang makes
//! no call when an exception passes a function that catches others: that function stays among the thread's calls.

#[cfg(not(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu")))]
compile_error!("foresee records programs on x86_64 Linux with the GNU C library only");

mod c_library;
mod calls;
mod clock;
mod compiler;
mod cxx_library;
mod entry_points;
mod environment;
mod linked;
mod message;
mod monitors;
mod observer;
mod program;
mod readable;
mod real_functions;
mod recorder;
mod rust_std;
mod sdk;
mod spinning;
mod start;
mod variables;
