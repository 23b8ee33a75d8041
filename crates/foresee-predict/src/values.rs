//! Values that events read and wrote, as far as they were recorded.
//!
//! The checker has helpers of the same kind; they are not shared, so that a mistake here cannot make it accept anything.

use foresee_trace::{EventId, Execution, Op, VarId};

/// Whether control flow depends on reads here. Blind code counts as a branch.
pub(crate) fn is_branch(execution: &Execution, id: EventId) -> bool {
    matches!(execution.op(id), Op::Branch | Op::Blind { .. })
}

/// Whether the event is an atomic access.
pub(crate) fn is_atomic(execution: &Execution, id: EventId) -> bool {
    execution.access(id).is_some_and(|(_, access)| access.atomic)
}

/// Whether what the event writes, if it writes, may depend on what its thread has read.
pub(crate) fn writes_a_value(execution: &Execution, id: EventId) -> bool {
    !matches!(execution.op(id), Op::Free { .. })
}

/// The bytes and the value that an event writes, if it writes and the value is known.
pub(crate) fn written(execution: &Execution, id: EventId) -> Option<(VarId, u64)> {
    let value = match execution.op(id) {
        Op::Write { value, .. } | Op::Store { value, .. } => value?,
        Op::Rmw { values, .. } => values?.1,
        _ => return None,
    };
    execution.access(id).map(|(var, _)| (var, value))
}

/// The bytes that an event reads and the value it saw there, from its own record or from that of the only write it read.
pub(crate) fn seen(execution: &Execution, id: EventId, write: Option<EventId>) -> Option<(VarId, u64)> {
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
