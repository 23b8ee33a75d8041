//! Logs of runs: calls and returns, commit actions, and the writes that make up the structure, in the order in which they happened.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use smol_str::{SmolStr, format_smolstr};

use crate::history::{History, HistoryError, Operation};
use crate::value::Value;

/// A thread of a log, by its place in [`Log::threads`].
pub type ThreadId = u32;

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its name.
    pub name: SmolStr,
    /// Whether it belongs to the structure (compression, eviction): it calls no methods, and its work must leave the view as it is.
    pub is_internal: bool,
}

/// What a thread did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Who.
    pub thread: ThreadId,
    /// What.
    pub action: Action,
}

/// The arguments of a call; most have no more than two.
pub type Arguments = SmallVec<[Value; 2]>;

/// What can be in a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A method is called.
    Call {
        /// The method.
        method: SmolStr,
        /// Its arguments.
        args: Arguments,
    },
    /// A method returns.
    Return {
        /// The method.
        method: SmolStr,
        /// What it gives back.
        ret: Value,
    },
    /// The operation under way ends without a result: it panicked, or threw. If it has committed it may have had any result.
    Panic,
    /// The operation under way takes effect.
    Commit,
    /// A variable is written that the view depends on.
    Write {
        /// The variable.
        target: SmolStr,
        /// Its new value.
        value: Value,
    },
    /// Several writes at once, which the structure's replica knows how to repeat.
    Replay {
        /// What to repeat.
        entry: SmolStr,
        /// With what.
        value: Value,
    },
    /// A commit block begins: other threads see all of its writes or none.
    BlockBegin,
    /// The commit block ends.
    BlockEnd,
}

/// The log of a run.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// The threads.
    pub threads: Vec<Thread>,
    /// What they did, in order.
    pub events: Vec<Event>,
}

/// A log that is put together from events that name their threads.
#[derive(Debug, Default)]
pub(crate) struct LogBuilder {
    pub(crate) log: Log,
    ids: FxHashMap<SmolStr, ThreadId>,
}

impl LogBuilder {
    /// The thread of this name, which is made if it is not there.
    pub(crate) fn thread(&mut self, name: &SmolStr, is_internal: bool) -> ThreadId {
        if let Some(known) = self.ids.get(name) {
            return *known;
        }
        let id = self.log.threads.len() as ThreadId;
        self.log.threads.push(Thread { name: name.clone(), is_internal });
        self.ids.insert(name.clone(), id);
        id
    }
}

impl Log {
    /// Whether it has writes, without which there is no view to compare.
    pub fn has_writes(&self) -> bool {
        self.events.iter().any(|event| matches!(event.action, Action::Write { .. } | Action::Replay { .. }))
    }

    /// The first event at which calls and returns do not match: a call within another operation of its thread, or a return of one that is not under way.
    pub fn mismatch(&self) -> Option<usize> {
        let mut open: FxHashMap<ThreadId, &SmolStr> = FxHashMap::default();
        self.events.iter().position(|event| match &event.action {
            Action::Call { method, .. } => open.insert(event.thread, method).is_some(),
            Action::Return { method, .. } => open.remove(&event.thread) != Some(method),
            Action::Panic => {
                open.remove(&event.thread);
                false
            }
            _ => false,
        })
    }

    /// Its calls and returns alone, with the event of each call, up to the first that does not match: what it means is not known. What a thread does after
    /// an operation that never returns is done by another client: that one may still take effect.
    pub fn history(&self) -> Result<(History, Vec<usize>), HistoryError> {
        let mut ops: Vec<Operation> = Vec::new();
        let mut calls = Vec::new();
        let mut open: FxHashMap<ThreadId, usize> = FxHashMap::default();
        let mut panics: FxHashMap<ThreadId, usize> = FxHashMap::default();
        let end = self.mismatch().unwrap_or(self.events.len());
        for (index, event) in self.events[..end].iter().enumerate() {
            match &event.action {
                Action::Call { method, args } => {
                    open.insert(event.thread, ops.len());
                    calls.push(index);
                    let name = &self.threads[event.thread as usize].name;
                    let client = match panics.get(&event.thread) {
                        Some(panics) => format_smolstr!("{name}+{panics}"),
                        None => name.clone(),
                    };
                    ops.push(Operation {
                        client,
                        method: method.clone(),
                        args: args.to_vec(),
                        call: index as i64,
                        returned: None,
                    });
                }
                Action::Return { ret, .. } => {
                    if let Some(own) = open.remove(&event.thread) {
                        ops[own].returned = Some((index as i64, ret.clone()));
                    }
                }
                Action::Panic if open.remove(&event.thread).is_some() => {
                    *panics.entry(event.thread).or_default() += 1;
                }
                _ => {}
            }
        }
        Ok((History::new(ops)?, calls))
    }
}
