//! What compilers insert calls to, in instrumented code.
//!
//! | module | holds |
//! |---|---|
//! | `accesses` | the ABI of ThreadSanitizer: reads and writes, functions entered and left |
//! | `atomics`, `atomics128` | its atomic operations and fences |
//! | `atomics_of_any_size` | atomic operations that are left to `libatomic` |
//! | `coverage` | the coverage callback at the beginning of each basic block |
//! | `annotations`, `fibers` | what programs say to ThreadSanitizer by calls of their own |
//!
//! Copies (`__tsan_memcpy`) are with the C library's own.

mod accesses;
mod annotations;
mod atomics;
mod atomics128;
mod atomics_of_any_size;
mod coverage;
mod fibers;
