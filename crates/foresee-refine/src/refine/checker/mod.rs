//! The checker: takes events in the order of the log, and says when the first one is wrong.
//!
//! An event that needs a result which is still to come waits, with all that follow it. So the checker can run beside the program.

mod threads;
mod views;

use std::collections::VecDeque;
use std::time::Instant;

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use threads::{Ahead, Block, Execution, Step, ThreadState, result_ahead};

use super::replica::Replica;
use super::violation::{Kind, RefineError, Violation};
use super::worlds::{Death, Worlds};
use crate::linear::Limits;
use crate::log::{Action, Event, ThreadId};
use crate::spec::{Touched, Viewed};
use crate::value::Value;

/// What is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Results.
    Io,
    /// Results, and views at each commit.
    View,
    /// Results, and views where no operation is under way.
    Quiescent,
}

impl Mode {
    /// Whether views are compared.
    pub fn has_views(self) -> bool {
        self != Mode::Io
    }
}

/// Checks a log, event by event.
pub struct Checker<'s, S: Viewed, R: Replica> {
    spec: &'s S,
    mode: Mode,
    replica: R,
    /// What each part of the implementation's view has, once a thread of the structure has appeared.
    contents: Option<FxHashMap<Value, Value>>,
    /// The event of the last write of each variable.
    written: FxHashMap<SmolStr, usize>,
    worlds: Worlds<S>,
    /// Whether worlds that were not kept may have explained what is wrong.
    is_partial: bool,
    threads: FxHashMap<ThreadId, ThreadState<S::Op>>,
    /// Those with an operation or a block under way.
    busy: FxHashSet<ThreadId>,
    waiting: VecDeque<(ThreadId, Step<S::Op>)>,
    /// The index of the first waiting event.
    next: usize,
    order: Vec<usize>,
    is_finished: bool,
    violation: Option<Violation>,
    /// When to give up.
    limits: Limits,
}

impl<'s, S: Viewed, R: Replica> Checker<'s, S, R> {
    /// A checker at the beginning of a log.
    pub fn new(spec: &'s S, replica: R, mode: Mode) -> Self {
        let mode = if R::HAS_VIEW { mode } else { Mode::Io };
        let limits = Limits::default();
        let mut worlds = Worlds::new(spec, limits.memory);
        if mode.has_views() {
            worlds.compare(spec, &replica, &Touched::All);
        }
        Checker {
            spec,
            mode,
            contents: None,
            replica,
            written: FxHashMap::default(),
            worlds,
            is_partial: false,
            threads: FxHashMap::default(),
            busy: FxHashSet::default(),
            waiting: VecDeque::new(),
            next: 0,
            order: Vec::new(),
            is_finished: false,
            violation: None,
            limits,
        }
    }

    /// Gives up where these are reached ([`RefineError::OutOfTime`], [`RefineError::OutOfMemory`]).
    #[must_use]
    pub fn within(mut self, limits: Limits) -> Self {
        self.worlds.give(limits.memory);
        Checker { limits, ..self }
    }

    /// The violation, if there was one.
    pub fn violation(&self) -> Option<&Violation> {
        self.violation.as_ref()
    }

    /// How many events wait for a result.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Takes the next event of the log.
    pub fn push(&mut self, event: &Event, is_internal: bool) -> Result<(), RefineError> {
        if self.violation.is_some() {
            return Ok(());
        }
        if is_internal && self.mode == Mode::View {
            self.keep_contents();
        }
        let thread = self.threads.entry(event.thread).or_insert_with(|| ThreadState::new(is_internal));
        let step = match &event.action {
            Action::Call { method, args } => {
                thread.ahead.push_back(Ahead::Call);
                let op = self.spec.decode(method, args);
                let is_observer = op.as_ref().is_ok_and(|op| self.spec.is_observer(op));
                Step::Call { method: method.clone(), op, is_observer }
            }
            Action::Return { method, ret } => {
                thread.ahead.push_back(Ahead::Return { method: method.clone(), ret: ret.clone() });
                Step::Return
            }
            Action::Panic => {
                thread.ahead.push_back(Ahead::Panic);
                Step::Panic
            }
            Action::Commit => Step::Commit,
            Action::BlockBegin => Step::BlockBegin,
            Action::BlockEnd => Step::BlockEnd,
            write @ (Action::Write { .. } | Action::Replay { .. }) => Step::Write(write.clone()),
        };
        self.waiting.push_back((event.thread, step));
        self.advance()
    }

    /// Ends the log: operations under way never return.
    pub fn finish(mut self) -> Result<Option<Violation>, RefineError> {
        self.is_finished = true;
        self.advance()?;
        Ok(self.violation)
    }

    fn advance(&mut self) -> Result<(), RefineError> {
        while self.violation.is_none()
            && let Some((thread, step)) = self.waiting.front()
            && !self.must_wait(*thread, step)
            && let Some((thread, step)) = self.waiting.pop_front()
        {
            self.next += 1;
            if self.limits.deadline.is_some_and(|deadline| Instant::now() > deadline) {
                return Err(RefineError::OutOfTime { event: self.next - 1 });
            }
            self.process(self.next - 1, thread, step)?;
        }
        match &self.violation {
            Some(found) if self.is_partial && found.kind.is_about_worlds() => {
                Err(RefineError::TooManyResults { event: found.first })
            }
            _ => Ok(()),
        }
    }

    /// Whether a step needs what has not been logged yet.
    fn must_wait(&self, thread: ThreadId, step: &Step<S::Op>) -> bool {
        let Some(thread) = self.threads.get(&thread).filter(|_| !self.is_finished) else {
            return false;
        };
        match step {
            Step::Commit => thread.execution.is_some() && thread.ahead.is_empty(),
            // The call itself is the first thing ahead.
            Step::Call { is_observer, .. } => *is_observer && thread.ahead.len() < 2,
            _ => false,
        }
    }

    fn process(&mut self, index: usize, thread: ThreadId, step: Step<S::Op>) -> Result<(), RefineError> {
        match step {
            Step::Call { method, op, is_observer } => {
                let op = op.map_err(|why| RefineError::Call { event: index, why })?;
                self.call(index, thread, method, op, is_observer);
            }
            Step::Return => self.returns(index, thread),
            Step::Panic => self.panics(index, thread),
            Step::Commit => self.commit(index, thread)?,
            Step::Write(write) => {
                if let Some(execution) = &mut self.state(thread).execution {
                    execution.last_write = Some(index);
                }
                if self.mode.has_views() {
                    self.write(index, thread, write)?;
                }
            }
            Step::BlockBegin | Step::BlockEnd if !self.mode.has_views() => {}
            Step::BlockBegin => {
                self.busy.insert(thread);
                match &mut self.state(thread).block {
                    Some(_) => self.report(index, thread, Kind::Malformed),
                    block => *block = Some(Block::default()),
                }
            }
            Step::BlockEnd => self.end_block(index, thread)?,
        }
        Ok(())
    }

    fn state(&mut self, thread: ThreadId) -> &mut ThreadState<S::Op> {
        self.threads.entry(thread).or_insert_with(|| ThreadState::new(false))
    }

    fn call(&mut self, index: usize, thread: ThreadId, method: SmolStr, op: S::Op, is_observer: bool) {
        self.busy.insert(thread);
        let state = self.state(thread);
        state.ahead.pop_front();
        if state.execution.is_some() || state.is_internal {
            self.report_event(index);
            return;
        }
        let ret = result_ahead(&state.ahead, &method);
        let execution =
            Execution { call: index, method, op, is_observer, has_committed: false, last_write: None, ret };
        if is_observer && let Some(ret) = &execution.ret {
            let part = self.worlds.of(self.spec, &execution.op);
            self.worlds.look(self.spec, part, thread, &execution.op, ret);
        }
        self.state(thread).execution = Some(execution);
    }

    fn returns(&mut self, index: usize, thread: ThreadId) {
        let mode = self.mode;
        let state = self.state(thread);
        let Some(Ahead::Return { method, ret }) = state.ahead.pop_front() else {
            return self.report_event(index);
        };
        let has_block = mode.has_views() && state.block.is_some();
        let Some(execution) = state.execution.take() else {
            return self.report_event(index);
        };
        let kind = if execution.method != method {
            Some(Kind::Malformed)
        } else if !execution.is_observer && !execution.has_committed {
            Some(Kind::MissingCommit)
        } else if has_block {
            Some(Kind::Malformed)
        } else {
            None
        };
        if let Some(kind) = kind {
            self.state(thread).execution = Some(execution);
            return self.report(index, thread, kind);
        }
        let call = execution.call;
        if execution.is_observer {
            let part = self.worlds.of(self.spec, &execution.op);
            if let Some(death) = self.worlds.end_look(self.spec, part, thread, (&execution.op, &ret)) {
                return self.report_death(index, Some(call), Some(ret), death);
            }
        }
        self.at_rest(index, thread, Some(call));
    }

    /// The operation under way is over. What its commit did was found out when it was known that there is no result; an observer without one is not
    /// judged.
    fn panics(&mut self, index: usize, thread: ThreadId) {
        let state = self.state(thread);
        state.ahead.pop_front();
        match state.execution.take() {
            Some(execution) => self.at_rest(index, thread, Some(execution.call)),
            None => self.report_event(index),
        }
    }

    fn commit(&mut self, index: usize, thread: ThreadId) -> Result<(), RefineError> {
        let mode = self.mode;
        let state = self.state(thread);
        if state.is_internal {
            return match mode {
                Mode::Io => Ok(()),
                Mode::View => self.commit_internal(index, thread),
                Mode::Quiescent => self.publish_block(thread).map(drop),
            };
        }
        let ThreadState { execution, ahead, .. } = state;
        let Some(execution) = execution else {
            self.report(index, thread, Kind::CommitOutside);
            return Ok(());
        };
        if execution.is_observer {
            return Ok(());
        }
        if execution.has_committed {
            self.report(index, thread, Kind::SecondCommit);
            return Ok(());
        }
        execution.has_committed = true;
        let (call, op) = (execution.call, execution.op.clone());
        let ret = result_ahead(ahead, &execution.method);
        let part = self.worlds.of(self.spec, &op);
        if self.worlds.room(self.spec, part, &op) > self.limits.memory {
            return Err(RefineError::OutOfMemory { event: index });
        }
        self.order.push(call);
        let mut death = self.worlds.step(self.spec, part, &op, ret.as_ref());
        if mode.has_views() && death.is_none() {
            let changed = self.publish_block(thread)?;
            let mut touched = self.worlds.touched(self.spec, part, &op);
            if let Touched::Parts(parts) = &mut touched {
                // Those have been compared.
                parts.retain(|part| changed.binary_search(part).is_err());
            }
            self.worlds.compare(self.spec, &self.replica, &touched);
            if mode == Mode::View {
                death = self.compare_views();
            }
        }
        match death {
            Some(death) => self.report_death(index, Some(call), ret, death),
            None => self.worlds.look_again(self.spec, part),
        }
        Ok(())
    }

    /// No world is left.
    fn report_death(&mut self, index: usize, call: Option<usize>, actual: Option<Value>, death: Death) {
        let Death { kind, expected, differences, is_partial } = death;
        let invariant = self.replica.broken().filter(|_| kind == Kind::Invariant);
        self.is_partial = is_partial;
        let base = self.blank(index, kind);
        self.violation = Some(Violation { call, actual, expected, differences, invariant, ..base });
    }

    /// A violation with nothing but its place.
    fn blank(&self, first: usize, kind: Kind) -> Violation {
        Violation {
            first,
            call: None,
            kind,
            actual: None,
            expected: Vec::new(),
            differences: Vec::new(),
            invariant: None,
            last_write: None,
            order: self.order.clone(),
        }
    }

    /// A call or return that is none of an operation: it is what is wrong itself.
    fn report_event(&mut self, index: usize) {
        self.violation = Some(Violation { call: Some(index), ..self.blank(index, Kind::Malformed) });
    }

    fn report(&mut self, index: usize, thread: ThreadId, kind: Kind) {
        let execution = self.state(thread).execution.as_ref();
        let (call, last_write) = execution.map(|execution| (execution.call, execution.last_write)).unzip();
        let last_write = last_write.flatten();
        self.violation = Some(Violation { call, last_write, ..self.blank(index, kind) });
    }
}
