//! From the words of a trace to a log.

use foresee_trace::{Arg, EventId, Execution, Names, Op};

use crate::log::{Action, Event, Log};
use crate::value::Value;

/// The named event that logs a write: the variable, and its new value.
const LOG_WRITE: &str = "log_write";

/// The log of a schedule.
#[derive(Clone, Debug, Default)]
pub struct OperationLog {
    /// The log.
    pub log: Log,
    /// The event of the trace behind each event of the log.
    pub events: Vec<EventId>,
}

impl OperationLog {
    /// The log of these events, in this order. Threads have the numbers that they have in the trace.
    pub fn of(execution: &Execution, schedule: impl IntoIterator<Item = EventId>) -> OperationLog {
        let names = execution.names();
        let mut made = OperationLog::default();
        for thread in 0..execution.thread_count() {
            let name = names.thread_name(foresee_trace::ThreadId(thread as u32));
            made.log.threads.push(crate::log::Thread { name: name.into(), is_internal: false });
        }
        for id in schedule {
            let thread = execution.thread(id);
            if let Some(action) = action(names, execution.op(id)) {
                made.log.events.push(Event { thread: thread.0, action });
                made.events.push(id);
            }
        }
        made
    }

    /// Whether the event is a word of such a log.
    pub(super) fn has(execution: &Execution, id: EventId) -> bool {
        match execution.op(id) {
            Op::Call { .. }
            | Op::Return { .. }
            | Op::Commit { .. }
            | Op::CommitBegin { .. }
            | Op::CommitEnd { .. } => true,
            Op::Named { name, .. } => execution.names().str(name) == LOG_WRITE,
            _ => false,
        }
    }
}

fn action(names: &Names, op: Op<'_>) -> Option<Action> {
    let value = |arg: &Arg| value(names, arg);
    Some(match op {
        Op::Call { name, args } => {
            Action::Call { method: names.str(name).into(), args: args.iter().map(value).collect() }
        }
        Op::Return { name, args } => Action::Return {
            method: names.str(name).into(),
            ret: args.first().map(value).unwrap_or_default(),
        },
        Op::Commit { .. } => Action::Commit,
        Op::CommitBegin { .. } => Action::BlockBegin,
        Op::CommitEnd { .. } => Action::BlockEnd,
        Op::Named { name, args: [Arg::Str(target), new] } if names.str(name) == LOG_WRITE => {
            Action::Write { target: names.str(*target).into(), value: value(new) }
        }
        _ => return None,
    })
}

/// What an argument is: programs in C have no truth values and no nothing, so these are texts in a trace.
fn value(names: &Names, arg: &Arg) -> Value {
    match arg {
        Arg::Int(number) => Value::Int(*number),
        Arg::Object(object) => Value::from(*object),
        Arg::Str(text) => match names.str(*text) {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "nil" => Value::Null,
            text => Value::from(text),
        },
    }
}
