//! What orders threads inside of Rust's own library, which is not instrumented.
//!
//! The driver redirects calls of these functions to `foresee_std_…` here, and connects `foresee_real_…` with the library's
//! own (`cargo-foresee`, `compiler/std_wraps`). Where nothing is connected, as in a C program, nobody calls the functions here.
//!
//! The functions have Rust's calling convention, which for integers, pointers, `bool` and pairs of integers is C's.
//! All arguments are passed on; each module says what else it relies on.
//!
//! The library's functions call each other, and some linkers redirect these calls, too: while a function is
//! `within` one that is recorded as a whole, the parts are not.
//!
//! | module | holds |
//! |---|---|
//! | `accesses` | numbers and texts that are formatted, vectors that grow |
//! | `allocator` | `__rust_alloc` and the like: sizes and callers of the memory that Rust code asks for |
//! | `hooks` | what is called when a thread panics |
//! | `locks` | locks that are taken already, for which threads wait in the library |
//! | `once` | `Once`, and so `OnceLock` and `LazyLock` |
//! | `park` | `thread::park` |
//! | `scope` | the end of scoped threads |
//! | `streams` | the locks of the standard streams |
//! | `waiting` | `Condvar` and `Barrier` |
//! | `parts` | functions of the library that are parts of others |
//! | `unseen_atomics` | records of atomic operations that the library does itself |

mod accesses;
mod allocator;
mod hooks;
mod locks;
mod once;
mod park;
mod parts;
mod scope;
mod streams;
mod unseen_atomics;
mod waiting;
