//! Properties that are monitored in the process: a verdict at the very event, and what is to be done about it on the thread that it is about.
//!
//! | module | holds | from |
//! |---|---|---|
//! | `knowledge` | formulas about what threads know (`mttl`) | `FORESEE_KNOWLEDGE`: specs |
//! | `properties` | all other properties, over calls, named events, locks, threads and variables | `FORESEE_MONITOR`: a plan of the driver's |
//! | `verdicts` | a file that the driver reads, for what is found without a trace | `FORESEE_VERDICTS` |
//! | `functions` | functions of the program that handlers call | |
//! | `doing`, `spin` | who does what; locks of the runtime's own | |
//!
//! Both are told what is recorded, in the order in which it happens, whether it is also written to a trace or not (`recorder::status`). The functions of this module are what the recorder tells.
//! What handlers want to be called is called as soon as the runtime is left.

mod doing;
mod functions;
mod knowledge;
mod properties;
mod spin;
mod verdicts;

use foresee_format::Tag;

pub(crate) use properties::{named, text_argument};

/// Whether there is something to monitor. To be called once, before the program's own code.
pub(crate) fn start() -> bool {
    verdicts::start();
    // Both are to begin.
    let is_any = knowledge::start() | properties::start();
    if is_any {
        verdicts::tell_begin();
    }
    is_any
}

/// The child of a fork is a run of its own, with a trace of its own: whether there is something to monitor.
pub(crate) fn start_in_child() -> bool {
    knowledge::start_in_child()
}

/// The child of a fork has no trace, and so is not monitored: what its parent has done is not its own.
pub(crate) fn leave_child_alone() {
    verdicts::tell_child();
}

/// A thread is about to read or write memory.
#[inline]
pub(crate) fn access(thread: u32, is_write: bool, addr: u64, size: u64, pc: u64) {
    knowledge::access(thread, is_write, addr, size, pc);
    if is_write {
        properties::written(thread, addr, size, None, pc);
    }
}

/// Whether an access of a watched variable is a step only when its value is known, which is when the thread enters the runtime next.
pub(crate) fn waits_for_value(is_write: bool) -> bool {
    knowledge::waits_for_value(is_write) || is_write && properties::ask_for_values()
}

/// A thread accesses memory while another one writes it, in an order that nobody knows: its write becomes a step only later.
pub(crate) fn raced(addr: u64, size: u64) {
    knowledge::raced(addr, size);
}

/// A thread has written a watched variable, with this value if it is known.
pub(crate) fn written(thread: u32, addr: u64, size: u64, value: Option<u64>, pc: u64) {
    knowledge::written(thread, addr, size, value, pc);
    properties::written(thread, addr, size, value, pc);
}

/// A thread has done an atomic operation, which nobody else can have come between.
pub(crate) fn atomic(thread: u32, reads: bool, value: Option<u64>, addr: u64, size: u64, pc: u64) {
    knowledge::atomic(thread, reads, value, addr, size, pc);
    if value.is_some() {
        properties::written(thread, addr, size, value, pc);
    }
}

/// A thread assigns a variable of its own.
pub(crate) fn assign(thread: u32, name: &[u8], value: u64, pc: u64) {
    knowledge::assign(thread, name, value, pc);
}

/// A thread is called this from now on.
pub(crate) fn name(thread: u32, name: &[u8]) {
    knowledge::name(thread, name);
}

/// Something else was recorded.
pub(crate) fn record(thread: u32, tag: Tag, detail: u8, words: &[u64]) {
    knowledge::record(thread, tag, detail, words);
    properties::record(thread, tag, detail, words);
}

/// The program says what is to be called for `recover` and `call` actions of this name.
pub(crate) fn register(name: &[u8], function: usize, argument: usize) {
    knowledge::register(name, function, argument);
    properties::register(name, function, argument);
}

/// The process ends by itself, which this thread sees.
pub(crate) fn end(thread: u32) {
    knowledge::end();
    properties::end(thread);
}

/// The thread jumps to where it was so deep in functions of the program.
pub(crate) fn jumped_to(depth: u32) {
    functions::jumped_to(depth);
}

/// Whether there is something to do about what this thread has found.
#[inline]
pub(crate) fn has_to_recover() -> bool {
    knowledge::has_to_recover() || properties::has_to_recover()
}

/// Does it; the thread is so deep in functions of the program.
pub(crate) fn recover(depth: u32) {
    knowledge::recover(depth);
    properties::recover(depth);
}
