//! What is known of each thread.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use crate::log::Action;
use crate::spec::WrongCall;
use crate::value::Value;

/// What parts had before they were changed.
pub(super) type Before = FxHashMap<Value, Option<Value>>;

/// An operation under way.
pub(super) struct Execution<Op> {
    pub(super) call: usize,
    pub(super) method: SmolStr,
    pub(super) op: Op,
    pub(super) is_observer: bool,
    pub(super) has_committed: bool,
    /// Its last write so far.
    pub(super) last_write: Option<usize>,
    /// What an observer will give back; `None` if it never returns.
    pub(super) ret: Option<Value>,
}

/// A commit block that is open.
#[derive(Default)]
pub(super) struct Block {
    pub(super) has_committed: bool,
    /// Writes that nobody else has seen, with their events.
    pub(super) writes: Vec<(usize, Action)>,
    /// What parts had before the first write that was made known at the block's commit.
    pub(super) before: Before,
}

/// An event, as far as it was understood when it came.
pub(super) enum Step<Op> {
    Call {
        method: SmolStr,
        op: Result<Op, WrongCall>,
        is_observer: bool,
    },
    /// What returns is the first thing ahead.
    Return,
    Panic,
    Commit,
    Write(Action),
    BlockBegin,
    BlockEnd,
}

/// What a thread does next, as far as it concerns the operation under way.
pub(super) enum Ahead {
    Call,
    Return { method: SmolStr, ret: Value },
    Panic,
}

pub(super) struct ThreadState<Op> {
    pub(super) is_internal: bool,
    pub(super) execution: Option<Execution<Op>>,
    pub(super) block: Option<Block>,
    pub(super) ahead: VecDeque<Ahead>,
}

impl<Op> ThreadState<Op> {
    pub(super) fn new(is_internal: bool) -> Self {
        ThreadState { is_internal, execution: None, block: None, ahead: VecDeque::new() }
    }
}

/// What the operation under way will give back, if it returns before the thread calls anything else.
pub(super) fn result_ahead(ahead: &VecDeque<Ahead>, method: &str) -> Option<Value> {
    match ahead.front() {
        Some(Ahead::Return { method: own, ret }) if **own == *method => Some(ret.clone()),
        Some(Ahead::Return { .. } | Ahead::Call | Ahead::Panic) | None => None,
    }
}
