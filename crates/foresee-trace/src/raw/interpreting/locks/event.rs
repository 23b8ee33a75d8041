//! What the recogniser says: lock events, and what a record is beside them.

use crate::event::{Mem, Mode};
use crate::ids::{LocId, StrId};
use crate::raw::interpreting::attempts::Holder;
use crate::raw::lock_table::Hold;

/// What a record means beside the lock events that it gives rise to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// It is an event.
    Event,
    /// It is an event on memory of its own.
    EventApart,
    /// Nothing that the lock events do not say.
    Nothing,
}

/// What a thread did to a lock or a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LockEvent {
    /// The number of the thread: mostly the one whose record is looked at.
    pub(crate) thread: u64,
    pub(crate) action: LockAction,
    pub(crate) addr: u64,
    /// It is not about the lock itself, but about waiting to have it alone ([`gate`](super::holding::Context::gate)).
    pub(crate) is_gate: bool,
    pub(crate) loc: LocId,
    pub(crate) lock_type: Option<StrId>,
}

/// Where an operation on a lock is called from, and the type of the lock.
#[derive(Clone, Copy)]
pub(super) struct CalledFrom {
    pub(super) loc: LocId,
    pub(super) lock_type: Option<StrId>,
}

/// The kinds of lock events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LockAction {
    Request(Mode),
    Acquire {
        mode: Mode,
        tried: bool,
    },
    Release(Mode),
    Wait,
    Notify {
        all: bool,
    },
    /// The word of what is no lock any more gets all that the thread has done, and the thread sees all that it has got.
    Synchronise(Mem),
    /// The thread may have got a lock, or seen what others did, in an operation that it began before the trace: it is not known on which.
    Unknown,
    /// The thread did not get the lock like this, because of this other one if it is known.
    Fail {
        wanted: Hold,
        held_by: Option<Holder>,
    },
}
