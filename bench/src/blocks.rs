//! Makes every outermost critical section of a trace an atomic block.

use std::collections::VecDeque;

use foresee_trace::{Event, EventSource, Facts, Names, Op, StrId, TraceError, Trust};

/// The events of another source, which has no blocks of its own and no operations with arguments, with a block around
/// each outermost critical section.
pub(crate) struct Blocks<S> {
    source: S,
    /// Locks held, per thread.
    depths: Vec<u32>,
    /// What comes before the source goes on; the front is the current event.
    pending: VecDeque<Event<'static>>,
}

impl<S: EventSource> Blocks<S> {
    pub(crate) fn new(source: S) -> Self {
        Blocks { source, depths: Vec::new(), pending: VecDeque::new() }
    }
}

impl<S: EventSource> EventSource for Blocks<S> {
    fn advance(&mut self) -> Result<bool, TraceError> {
        self.pending.pop_front();
        if !self.pending.is_empty() {
            return Ok(true);
        }
        if !self.source.advance()? {
            return Ok(false);
        }
        let Event { thread, loc, op } = self.source.event();
        let name = StrId::EMPTY;
        if self.depths.len() <= thread.index() {
            self.depths.resize(thread.index() + 1, 0);
        }
        let depth = &mut self.depths[thread.index()];
        let mut push = |op| self.pending.push_back(Event { thread, loc, op });
        match op {
            Op::Acquire { lock, mode, tried } => {
                if *depth == 0 {
                    push(Op::BlockBegin { name });
                }
                *depth += 1;
                push(Op::Acquire { lock, mode, tried });
            }
            Op::Release { lock, mode } => {
                push(Op::Release { lock, mode });
                *depth -= 1;
                if *depth == 0 {
                    push(Op::BlockEnd { name });
                }
            }
            Op::Request { lock, mode } => push(Op::Request { lock, mode }),
            Op::Read { mem, value } => push(Op::Read { mem, value }),
            Op::Write { mem, value } => push(Op::Write { mem, value }),
            Op::Fork { child } => push(Op::Fork { child }),
            Op::Join { child } => push(Op::Join { child }),
            other => unreachable!("generated traces have no {other:?}"),
        }
        Ok(true)
    }

    fn event(&self) -> Event<'_> {
        self.pending[0]
    }

    fn names(&self) -> &Names {
        self.source.names()
    }

    fn facts(&self) -> &Facts {
        self.source.facts()
    }

    fn trust(&self) -> Trust {
        self.source.trust()
    }

    fn progress(&self) -> (u64, Option<u64>) {
        self.source.progress()
    }
}
