//! A raw trace without its beginning continues a run: what its threads were doing when it begins.
//!
//! With `--keep-last` the runtime reuses the oldest chunks. What has a key below the header's cut is then no part of the trace,
//! of any thread; from the cut on everything is there. So the trace is a real continuation of a real state, the one at the
//! cut, and whatever correct reordering of the continuation is a run of the program, as the run up to the cut
//! is one. Reads of what was written before read initial values, threads that were there begin there.
//!
//! What has to be known of that state is who holds which lock, and who is in which function. The records of a thread begin at
//! or before the cut, mostly before. So a reader goes through those before the cut, too, and delivers nothing of them: what
//! threads do there changes what is known as it always does. What is left open is the state in which each thread's
//! records begin:
//!
//! * **Calls.** Each chunk begins with them.
//! * **Locks.** A thread that gives back a lock that it has not taken held it from the beginning; that is seen by reading the
//!   trace once before it is delivered (the interpreter's survey). A lock that is not given back until the end of the trace makes no
//!   difference: nobody else takes it (or all only share it), so it excludes and orders nothing in the continuation.
//!   For locks made of atomics only the first thing that the thread does to the lock counts: later, it has taken it
//!   in a way that is not seen, as in any trace.
//! * **How it is held,** shared or not, is seen if others hold it at the same time. If not, it counts as exclusive, which
//!   lets prediction reorder less.
//! * **Operations on locks** that a thread may be in the midst of: what they did before is
//!   not known. So the cut is moved to where all such threads have left them, which is mostly a few records later.
//! * **Words of locks** that are touched by code that is not known to be about locks, before anything else is known of them:
//!   no locks, but the atomics that they are.
//! * **Values** of memory are unknown, **blocks** that began before the cut do not end, texts are complete as they follow
//!   each other without anything between.
//!
//! At the cut each thread then enters the functions that it is in and takes the locks that it holds; it asks for those that it
//! waits for.

/// Where a trace begins.
pub(crate) struct Continuation {
    /// Records before this key only say what threads are doing then; 0 if all are there.
    cut: u64,
    has_begun: bool,
}

impl Continuation {
    /// A trace that has its beginning.
    pub(crate) const NONE: Continuation = Continuation { cut: 0, has_begun: true };

    /// A trace that begins at this key.
    pub(crate) fn from(cut: u64) -> Continuation {
        Continuation { cut, has_begun: false }
    }

    /// Whether the beginning is reached, so that records are events.
    #[inline]
    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// A record with this key is next: whether the trace begins with it.
    pub(crate) fn begins_at(&mut self, key: u64) -> bool {
        key >= self.cut && !std::mem::replace(&mut self.has_begun, true)
    }
}
