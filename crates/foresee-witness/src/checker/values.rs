//! Reading something else than the same write: rules that go by values and by control flow.
//!
//! **By values (c′).** A read may also read another write than observed if that write is of the same bytes and has the
//! value that the read saw. *Argument:* a thread is deterministic in what it reads, so as long as each of its reads
//! gives the observed value it does the observed events, with the observed values; and the other write did write its
//! observed value, because its thread, by the same argument on a shorter schedule, did as observed. A read-modify-write
//! that reads the same value writes the same one. So the schedule is a run of the program, though not one that rule
//! (c) knows. Values that were not recorded are unknown, and so is what was there initially. If the execution has blind code
//! ([`Op::Blind`]), atomic reads are excepted: a spin lock made of atomics is a critical section that nobody knows, and the rule that keeps those
//! with blind code in place would be lost with the write that was read.
//!
//! **By control flow (c″)** (Huang, Meredith, Roşu, "Maximal sound predictive race detection with control flow
//! abstraction", 2014). A branch (blind code counts as one that depends on all reads of its thread before it), and the value of a write, *depend* on all reads of their thread before them, or where the trace
//! says which ([`Op::From`]), on those alone. If the execution has [branch](Op::Branch) events, a read that no branch of the
//! schedule depends on may read anything: it is *changed* then. The value of a write that depends on a changed read is unknown: a
//! read that a branch depends on must not read it, and one that reads it all the same is changed, too. *Argument,* by induction on
//! the schedule: the contract of branches says that which events a thread does, and on what addresses, locks and
//! threads, depends on its reads only through its branches. The reads that a branch depends on gave the observed
//! values: each read the observed write (or one of the same value, (c′)), and that had its observed value, because the reads it depends
//! on are not changed, hence, by the same argument on a shorter schedule, gave the observed values as well. So branches go as
//! observed, and each thread does the events of the schedule; only values that depend on changed reads may differ. That the
//! thread had changed reads before a branch, or before a write that others read, does not matter if neither depends on them. A race
//! does not depend on values, with one exception: whether a read-modify-write writes depends on what its value does and
//! on its own read, so if one of these is changed it counts as an atomic load. A thread that is joined ends where it did, because
//! no branch says otherwise. Freeing memory writes no value. Without branch events nothing is known of control flow,
//! and every read matters.
//!
//! Races are claimed by (c″), and properties that ask for it ([`Claim::Property`](super::Claim::Property)): what a property
//! looks at may be values, so what the property looks at must not depend on a changed read: by default on none of its thread before it.
//! For deadlocks and blocks it has not been needed.

use foresee_trace::{EventId, Execution, Op, VarId};

/// What a read must read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Reads {
    /// The write it read in the execution: rule (c).
    #[default]
    SameWrite,
    /// That, or another write of the same value to the same bytes (rule (c′)); and anything at all in a race's schedule
    /// that no branch depends on, if the execution has branch events (rule (c″)).
    Relaxed,
}

/// Whether the execution tells where control flow depends on reads.
pub(super) fn has_branches(execution: &Execution) -> bool {
    execution.ids().any(|id| execution.op(id) == Op::Branch)
}

/// Whether the event is an atomic access.
pub(super) fn is_atomic(execution: &Execution, id: EventId) -> bool {
    execution.access(id).is_some_and(|(_, access)| access.atomic)
}

/// Whether what the event writes, if it writes, may depend on what its thread has read.
pub(super) fn writes_a_value(execution: &Execution, id: EventId) -> bool {
    !matches!(execution.op(id), Op::Free { .. })
}

/// The bytes and the value that an event writes, if it writes and the value is known.
pub(super) fn written(execution: &Execution, id: EventId) -> Option<(VarId, u64)> {
    let value = match execution.op(id) {
        Op::Write { value, .. } | Op::Store { value, .. } => value?,
        Op::Rmw { values, .. } => values?.1,
        _ => return None,
    };
    execution.access(id).map(|(var, _)| (var, value))
}

/// The bytes that an event reads and the value it saw there, from its own record or from that of the only write it read.
pub(super) fn seen(execution: &Execution, id: EventId, write: Option<EventId>) -> Option<(VarId, u64)> {
    let value = match execution.op(id) {
        Op::Read { value, .. } | Op::Load { value, .. } => value,
        Op::Rmw { values, .. } => values.map(|(read, _)| read),
        _ => return None,
    };
    let (var, _) = execution.access(id)?;
    let value = match value {
        Some(value) => value,
        None => written(execution, write?).filter(|&(written, _)| written == var)?.1,
    };
    Some((var, value))
}
