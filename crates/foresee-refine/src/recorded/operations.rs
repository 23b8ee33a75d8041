//! From the words of a trace to a log.

use foresee_trace::{Arg, EventId, Execution, Mem, Names, Op, signed};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use crate::log::{Action, Event, Log};
use crate::named::Structure;
use crate::recorded_words::{LOG_INTERNAL, LOG_PANIC, LOG_REPLAY, LOG_WRITE};
use crate::value::Value;

/// Which events of a trace are words of a log: operations, what is said to be written, and writes that were recorded with their value, of variables
/// that have the name of one of the structure.
#[derive(Clone, Debug, Default)]
pub struct Words {
    support: FxHashMap<Mem, SmolStr>,
}

impl Words {
    /// The words of a trace, for a structure.
    pub fn of(execution: &Execution, structure: Structure) -> Words {
        let names = execution.names();
        let known = names.symbols().iter().map(|symbol| (symbol.mem, names.str(symbol.name)));
        let own = known.filter(|(_, name)| structure.has_variable(name));
        Words { support: own.map(|(mem, name)| (mem, name.into())).collect() }
    }

    /// Whether the event is one.
    pub(super) fn has(&self, execution: &Execution, id: EventId) -> bool {
        match execution.op(id) {
            Op::Call { .. }
            | Op::Return { .. }
            | Op::Commit { .. }
            | Op::CommitBegin { .. }
            | Op::CommitEnd { .. } => true,
            Op::Named { name, .. } => {
                [LOG_WRITE, LOG_REPLAY, LOG_PANIC].contains(&execution.names().str(name))
            }
            op => !self.support.is_empty() && self.write(op).is_some(),
        }
    }

    /// A write of one of the structure's variables, if its value is known.
    fn write(&self, op: Op<'_>) -> Option<Action> {
        let (mem, bits) = match op {
            Op::Write { mem, value } | Op::Store { mem, value, .. } => (mem, value?),
            Op::Rmw { mem, values, .. } => (mem, values?.1),
            _ => return None,
        };
        let target = self.support.get(&mem)?.clone();
        Some(Action::Write { target, value: Value::Int(signed(bits, mem.size)) })
    }

    fn action(&self, names: &Names, op: Op<'_>) -> Option<Action> {
        action(names, op).or_else(|| self.write(op))
    }
}

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
    pub fn of(
        execution: &Execution,
        words: &Words,
        schedule: impl IntoIterator<Item = EventId>,
    ) -> OperationLog {
        let names = execution.names();
        let mut made = OperationLog::default();
        for thread in 0..execution.thread_count() {
            let name = names.thread_name(foresee_trace::ThreadId(thread as u32));
            made.log.threads.push(crate::log::Thread { name: name.into(), is_internal: false });
        }
        for id in execution.ids() {
            if let Op::Named { name, .. } = execution.op(id)
                && names.str(name) == LOG_INTERNAL
            {
                made.log.threads[execution.thread(id).index()].is_internal = true;
            }
        }
        for id in schedule {
            let thread = execution.thread(id);
            if let Some(action) = words.action(names, execution.op(id)) {
                made.log.events.push(Event { thread: thread.0, action });
                made.events.push(id);
            }
        }
        made
    }

    /// Where the commit of an operation probably belongs that has none, from its call to its return: the first release of a lock after the last
    /// write that was logged, or if none was, after the last write to memory.
    pub fn commit_place(
        execution: &Execution,
        words: &Words,
        call: EventId,
        returned: EventId,
    ) -> Option<EventId> {
        let thread = execution.thread(call);
        let own = || execution.ids().skip(call.index()).take_while(|id| *id <= returned);
        let own = || own().filter(|id| execution.thread(*id) == thread);
        let is_logged = |id: &EventId| {
            let action = words.action(execution.names(), execution.op(*id));
            matches!(action, Some(Action::Write { .. } | Action::Replay { .. }))
        };
        let is_write = |id: &EventId| execution.access(*id).is_some_and(|(_, access)| access.writes);
        let last = own().filter(is_logged).last().or_else(|| own().filter(is_write).last())?;
        own().find(|id| *id > last && matches!(execution.op(*id), Op::Release { .. }))
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
        Op::Named { name, .. } if names.str(name) == LOG_PANIC => Action::Panic,
        Op::Named { name, args: [Arg::Str(entry), with] } if names.str(name) == LOG_REPLAY => {
            Action::Replay { entry: names.str(*entry).into(), value: value(with) }
        }
        _ => return None,
    })
}

/// What an argument is: a number, or what its text means.
fn value(names: &Names, arg: &Arg) -> Value {
    match arg {
        Arg::Int(number) => Value::Int(*number),
        Arg::Object(object) => Value::from(*object),
        Arg::Str(text) => Value::from_word(names.str(*text)),
    }
}
