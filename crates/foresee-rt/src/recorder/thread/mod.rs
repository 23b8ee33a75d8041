//! What each thread records, and where: its own chunk of the trace, which nobody else writes to.
//!
//! | module | holds |
//! |---|---|
//! | `local` | what a thread knows of itself: where its next record goes, and whether it is inside of the runtime |
//! | `ignoring` | what a thread was asked not to record |
//! | `deferred` | signals that interrupted the runtime, until it is left |
//! | `numbers` | the numbers of threads |
//! | `chunks` | room for more records |
//! | `place_tables` | memory for the places that a thread knows |
//! | `records` | records in full, and who may write them when |
//! | `shortcut` | where the first of these is, without a call |
//! | `near_records` | the usual records, in a byte or a few each: the fast path |
//! | `freshness` | how old the keys of the usual records may be |
//! | `suspended` | fibers: threads of the trace that do not run at the moment |
//!
//! **Entering.** Whoever records something *enters* the runtime for that time, and a thread that is inside does not enter again: a
//! signal that interrupts it is *deferred* until it has left. So no record is ever written in the middle of another. Handlers that cannot
//! wait, as those of a fault of the runtime's own thread, run at once and unrecorded.

mod chunks;
mod deferred;
mod freshness;
mod ignoring;
mod local;
mod near_records;
mod numbers;
mod place_tables;
mod records;
mod shortcut;
mod suspended;

pub(crate) use chunks::{chunks_stay, start, start_over};
pub(crate) use deferred::{DeferredSignal, SignalSet, defer, unrecorded};
pub(crate) use freshness::expire;
pub(crate) use ignoring::{Ignored, begin_ignoring, end_ignoring, unignored};
pub(crate) use local::{Local, abandon, depth, identity, is_inside, position, silence};
pub(crate) use near_records::{
    AccessKind, AtomicEffect, access_at_once, alike_access_at_once, block_begins_at_once, entered_at_once,
    exited_at_once, further_access_at_once, known_access_at_once, leave_to, load_at_once, seen_at_once,
};
pub(crate) use numbers::{are_many, new_thread};
pub(crate) use records::{accessing, always, calling, inside, plain, stamped};
pub(crate) use suspended::Suspended;
