//! The checker: takes events in the order of the log, and says when the first one is wrong.
//!
//! An event that needs a result which is still to come waits, with all that follow it. So the checker can run beside the program.

mod threads;
mod views;

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use threads::{Ahead, Block, Execution, ThreadState, result_ahead};

use super::replica::Replica;
use super::violation::{Difference, Kind, RefineError, Violation};
use super::world::World;
use crate::log::{Action, Event, ThreadId};
use crate::spec::{Outcome, Touched, Viewed};
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
    worlds: Vec<World<S>>,
    threads: FxHashMap<ThreadId, ThreadState<S::Op>>,
    waiting: VecDeque<Event>,
    /// The index of the first waiting event.
    next: usize,
    order: Vec<usize>,
    is_finished: bool,
    violation: Option<Violation>,
}

/// What happened to the worlds at an event: what the last one died of.
struct Death {
    kind: Kind,
    expected: Vec<Value>,
    differences: Vec<Difference>,
}

impl<'s, S: Viewed, R: Replica> Checker<'s, S, R> {
    /// A checker at the beginning of a log.
    pub fn new(spec: &'s S, replica: R, mode: Mode) -> Self {
        let mode = if R::HAS_VIEW { mode } else { Mode::Io };
        let mut world = World::new(spec.initial());
        if mode.has_views() {
            world.compare(spec, &replica, &Touched::All);
        }
        Checker {
            spec,
            mode,
            contents: None,
            replica,
            written: FxHashMap::default(),
            worlds: vec![world],
            threads: FxHashMap::default(),
            waiting: VecDeque::new(),
            next: 0,
            order: Vec::new(),
            is_finished: false,
            violation: None,
        }
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
        match &event.action {
            Action::Call { .. } => thread.ahead.push_back(Ahead::Call),
            Action::Return { method, ret } => {
                thread.ahead.push_back(Ahead::Return { method: method.clone(), ret: ret.clone() });
            }
            _ => {}
        }
        self.waiting.push_back(event.clone());
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
            && let Some(event) = self.waiting.front()
            && !self.must_wait(event)
            && let Some(event) = self.waiting.pop_front()
        {
            self.next += 1;
            self.process(self.next - 1, event)?;
        }
        Ok(())
    }

    /// Whether an event needs what has not been logged yet.
    fn must_wait(&self, event: &Event) -> bool {
        let Some(thread) = self.threads.get(&event.thread).filter(|_| !self.is_finished) else {
            return false;
        };
        match &event.action {
            Action::Commit => thread.execution.is_some() && thread.ahead.is_empty(),
            // The call itself is the first thing ahead.
            Action::Call { method, args } => {
                thread.ahead.len() < 2
                    && self.spec.decode(method, args).is_ok_and(|op| self.spec.is_observer(&op))
            }
            _ => false,
        }
    }

    fn process(&mut self, index: usize, event: Event) -> Result<(), RefineError> {
        let thread = event.thread;
        if let Action::Write { .. } | Action::Replay { .. } = event.action
            && let Some(execution) = &mut self.state(thread).execution
        {
            execution.last_write = Some(index);
        }
        match event.action {
            Action::Call { method, args } => self.call(index, thread, method, &args)?,
            Action::Return { method, ret } => self.returns(index, thread, &method, ret),
            Action::Commit => self.commit(index, thread)?,
            _ if self.mode == Mode::Io => {}
            Action::BlockBegin => match &mut self.state(thread).block {
                Some(_) => self.report(index, thread, Kind::Malformed),
                block => *block = Some(Block::default()),
            },
            Action::BlockEnd => self.end_block(index, thread)?,
            write => self.write(index, thread, write)?,
        }
        Ok(())
    }

    fn state(&mut self, thread: ThreadId) -> &mut ThreadState<S::Op> {
        self.threads.entry(thread).or_insert_with(|| ThreadState::new(false))
    }

    fn call(
        &mut self,
        index: usize,
        thread: ThreadId,
        method: SmolStr,
        args: &[Value],
    ) -> Result<(), RefineError> {
        let spec = self.spec;
        let op = spec.decode(&method, args).map_err(|why| RefineError::Call { event: index, why })?;
        let is_observer = spec.is_observer(&op);
        let state = self.state(thread);
        state.ahead.pop_front();
        if state.execution.is_some() || state.is_internal {
            self.report_event(index);
            return Ok(());
        }
        let ret = result_ahead(&state.ahead, &method);
        let execution =
            Execution { call: index, method, op, is_observer, has_committed: false, last_write: None, ret };
        if is_observer && let Some(ret) = &execution.ret {
            for world in &mut self.worlds {
                world.satisfied.remove(&thread);
                if spec.permits(&world.state, &execution.op, ret) {
                    world.satisfied.insert(thread);
                }
            }
        }
        self.state(thread).execution = Some(execution);
        Ok(())
    }

    fn returns(&mut self, index: usize, thread: ThreadId, method: &str, ret: Value) {
        let mode = self.mode;
        let state = self.state(thread);
        state.ahead.pop_front();
        let has_block = mode.has_views() && state.block.is_some();
        let Some(execution) = state.execution.take() else {
            return self.report_event(index);
        };
        let kind = if *execution.method != *method {
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
            let spec = self.spec;
            let expected = self.worlds.last().map(|world| spec.returns(&world.state, &execution.op));
            self.worlds.retain(|world| world.satisfied.contains(&thread));
            self.worlds.iter_mut().for_each(|world| {
                world.satisfied.remove(&thread);
            });
            if self.worlds.is_empty() {
                self.violation = Some(Violation {
                    call: Some(execution.call),
                    actual: Some(ret),
                    expected: expected.unwrap_or_default(),
                    ..self.blank(index, Kind::Observer)
                });
                return;
            }
        }
        self.at_rest(index, Some(call));
    }

    fn commit(&mut self, index: usize, thread: ThreadId) -> Result<(), RefineError> {
        let mode = self.mode;
        let state = self.state(thread);
        if state.is_internal {
            return match mode {
                Mode::Io => Ok(()),
                Mode::View => self.commit_internal(index, thread),
                Mode::Quiescent => self.publish_block(thread),
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
        self.order.push(call);
        let mut death = self.step(&op, ret.as_ref());
        if mode.has_views() && !self.worlds.is_empty() {
            for world in &mut self.worlds {
                let touched = self.spec.touched(&world.state, &op);
                world.compare(self.spec, &self.replica, &touched);
            }
            self.publish_block(thread)?;
            if mode == Mode::View {
                death = self.compare_views(death);
            }
        }
        if self.worlds.is_empty() {
            let Death { kind, expected, differences } = death;
            let invariant = self.replica.broken().filter(|_| kind == Kind::Invariant);
            let call = Some(call);
            let base = self.blank(index, kind);
            self.violation = Some(Violation { call, actual: ret, expected, differences, invariant, ..base });
            return Ok(());
        }
        self.ask_observers();
        Ok(())
    }

    /// Lets the specification take the step of an operation, in all worlds. Where the result is not known, each is a world.
    fn step(&mut self, op: &S::Op, ret: Option<&Value>) -> Death {
        let spec = self.spec;
        let mut death = Death { kind: Kind::ReturnValue, expected: Vec::new(), differences: Vec::new() };
        let worlds = std::mem::take(&mut self.worlds);
        for mut world in worlds {
            let Some(ret) = ret else {
                for ret in spec.returns(&world.state, op) {
                    let mut other = world.clone();
                    if spec.apply(&mut other.state, op, &ret) != Outcome::Refused {
                        self.worlds.push(other);
                    }
                }
                continue;
            };
            if spec.apply(&mut world.state, op, ret) == Outcome::Refused {
                death.expected = spec.returns(&world.state, op);
            } else {
                self.worlds.push(world);
            }
        }
        death
    }

    /// All observers under way look at the new state.
    fn ask_observers(&mut self) {
        let spec = self.spec;
        for (thread, state) in &self.threads {
            let Some(Execution { op, is_observer: true, ret: Some(ret), .. }) = &state.execution else {
                continue;
            };
            for world in &mut self.worlds {
                if !world.satisfied.contains(thread) && spec.permits(&world.state, op, ret) {
                    world.satisfied.insert(*thread);
                }
            }
        }
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
