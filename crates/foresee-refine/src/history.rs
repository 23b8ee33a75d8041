//! Calls and returns of operations: what can be known of a run from outside.

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

use crate::value::Value;

/// One operation of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Who did it. A client has one operation at a time.
    pub client: SmolStr,
    /// The method.
    pub method: SmolStr,
    /// Its arguments.
    pub args: Vec<Value>,
    /// When it was called. Moments are compared, nothing else.
    pub call: i64,
    /// When it returned, and what; `None` for an operation whose outcome is not known: it may have taken effect or not, at any time after
    /// its call.
    pub returned: Option<(i64, Value)>,
}

impl std::fmt::Display for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let args: Vec<String> = self.args.iter().map(ToString::to_string).collect();
        write!(f, "{}({})", self.method, args.join(", "))?;
        match &self.returned {
            Some((_, ret)) => write!(f, " → {ret}"),
            None => f.write_str(" → ?"),
        }
    }
}

/// The operations of a run.
#[derive(Clone, Debug, Default)]
pub struct History {
    ops: Vec<Operation>,
    /// The event of each call, and of each return: their index among all, in the order of time.
    calls: Vec<u32>,
    returns: Vec<u32>,
    events: u32,
}

/// The return of an operation that has none.
pub const NEVER: u32 = u32::MAX;

/// Why operations are no history.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HistoryError {
    /// An operation ends before it begins.
    #[error("operation {0}: it returns before it is called")]
    Backwards(usize),
    /// Two events have the same time, so their order is not known.
    #[error("operation {0}: another event has the same time {1}; expected distinct times")]
    SameTime(usize, i64),
    /// A client has two operations at a time.
    #[error("operation {0}: client {1} has not returned from the one before; expected one at a time")]
    Overlap(usize, SmolStr),
    /// More than fit.
    #[error("{0} operations are too many; expected less than a thousand million")]
    TooMany(usize),
}

impl History {
    /// A history of these operations, in any order.
    pub fn new(ops: Vec<Operation>) -> Result<History, HistoryError> {
        if ops.len() >= 1_000_000_000 {
            return Err(HistoryError::TooMany(ops.len()));
        }
        let mut events: Vec<(i64, usize, bool)> = Vec::with_capacity(2 * ops.len());
        for (nth, op) in ops.iter().enumerate() {
            events.push((op.call, nth, false));
            if let Some((at, _)) = &op.returned {
                if *at <= op.call {
                    return Err(HistoryError::Backwards(nth));
                }
                events.push((*at, nth, true));
            }
        }
        events.sort_unstable();
        let (mut calls, mut returns) = (vec![0; ops.len()], vec![NEVER; ops.len()]);
        let mut busy: FxHashSet<&str> = FxHashSet::default();
        let mut last = None;
        for (index, &(time, nth, returns_now)) in events.iter().enumerate() {
            if last.replace(time) == Some(time) {
                return Err(HistoryError::SameTime(nth, time));
            }
            let index = index as u32;
            if returns_now {
                returns[nth] = index;
                busy.remove(&*ops[nth].client);
            } else {
                calls[nth] = index;
                if !busy.insert(&ops[nth].client) {
                    return Err(HistoryError::Overlap(nth, ops[nth].client.clone()));
                }
            }
        }
        let events = events.len() as u32;
        Ok(History { ops, calls, returns, events })
    }

    /// The operations, as they were given.
    pub fn ops(&self) -> &[Operation] {
        &self.ops
    }

    /// How many calls and returns there are.
    pub fn events(&self) -> u32 {
        self.events
    }

    /// The index of the call among all events.
    pub fn call(&self, op: usize) -> u32 {
        self.calls[op]
    }

    /// The index of the return among all events; [`NEVER`] if there is none.
    pub fn returned(&self, op: usize) -> u32 {
        self.returns[op]
    }

    /// Which operation an event is of, and whether it is its return; for each event, in order.
    pub fn timeline(&self) -> Vec<(usize, bool)> {
        let mut timeline = vec![(0, false); self.events as usize];
        for op in 0..self.ops.len() {
            timeline[self.calls[op] as usize] = (op, false);
            if self.returns[op] != NEVER {
                timeline[self.returns[op] as usize] = (op, true);
            }
        }
        timeline
    }

    /// The history up to this event, without it: what returns later has not returned.
    pub fn prefix(&self, end: u32) -> History {
        self.part((0..self.ops.len()).filter(|op| self.calls[*op] < end), |op| self.returns[op] < end)
    }

    /// The history of some of its operations.
    pub fn only(&self, keep: impl Fn(usize) -> bool) -> History {
        self.part((0..self.ops.len()).filter(|op| keep(*op)), |op| self.returns[op] != NEVER)
    }

    /// The history of these operations, of which some return.
    pub(crate) fn part(&self, ops: impl Iterator<Item = usize>, returns: impl Fn(usize) -> bool) -> History {
        let mut kept = History::default();
        let mut moments: Vec<(u32, usize, bool)> = Vec::new();
        for op in ops {
            let mut copy = self.ops[op].clone();
            moments.push((self.calls[op], kept.ops.len(), false));
            if returns(op) {
                moments.push((self.returns[op], kept.ops.len(), true));
            } else {
                copy.returned = None;
            }
            kept.ops.push(copy);
        }
        moments.sort_unstable();
        (kept.calls, kept.returns) = (vec![0; kept.ops.len()], vec![NEVER; kept.ops.len()]);
        for (index, &(_, op, returns)) in moments.iter().enumerate() {
            let list = if returns { &mut kept.returns } else { &mut kept.calls };
            list[op] = index as u32;
        }
        kept.events = moments.len() as u32;
        kept
    }

    /// Whether one operation returned before the other was called.
    pub fn precedes(&self, first: usize, second: usize) -> bool {
        self.returns[first] < self.calls[second]
    }

    /// The clients, each with its operations in order.
    pub fn by_client(&self) -> Vec<Vec<usize>> {
        let mut clients: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        for (nth, op) in self.ops.iter().enumerate() {
            clients.entry(&op.client).or_default().push(nth);
        }
        let mut clients: Vec<Vec<usize>> = clients.into_values().collect();
        for ops in &mut clients {
            ops.sort_unstable_by_key(|op| self.calls[*op]);
        }
        clients.sort_unstable_by_key(|ops| ops.first().map(|op| self.calls[*op]));
        clients
    }
}
