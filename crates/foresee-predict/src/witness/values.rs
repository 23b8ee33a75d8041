//! Reading the same value instead of the same write.
//!
//! **The relaxed rule (c′).** A read may also read another write than observed if that write is of the same bytes and has the
//! value that the read saw. *Argument:* a thread is deterministic in what it reads, so as long as each of its reads
//! gives the observed value it does the observed events, with the observed values; and the other write did write its
//! observed value, because its thread, by the same argument on a shorter schedule, did as observed. A read-modify-write
//! that reads the same value writes the same one. So the schedule is a run of the program, though not one that rule
//! (c) knows. Values that were not recorded are unknown, and so is what was there initially.

use foresee_trace::{EventId, Execution, Op, VarId};

/// What a read must read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Reads {
    /// The write it read in the execution: rule (c).
    #[default]
    SameWrite,
    /// That, or another write of the same value to the same bytes: rule (c′).
    SameValue,
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
