//! From a path through the lattice to a schedule of the execution's events.
//!
//! A path names steps; between them belong the events that are no steps. Each is put in when it is needed: before a step that comes
//! after it, and before a step that takes a turn which it ends. All steps that it comes after are in the path by then,
//! so nothing else is dragged in, and what nobody needs is left out.

use foresee_trace::{EventId, Execution};
use rustc_hash::FxHashMap;

use super::causality::Causality;
use super::model::{Edges, INITIAL};

/// Makes schedules of one execution under one model.
pub struct Scheduler<'a> {
    execution: &'a Execution,
    causality: &'a Causality,
    edges: &'a Edges,
    by_thread: Vec<Vec<u32>>,
}

impl<'a> Scheduler<'a> {
    /// From what the model has read.
    pub fn new(execution: &'a Execution, causality: &'a Causality, edges: &'a Edges) -> Self {
        let mut by_thread = vec![Vec::new(); execution.thread_count()];
        for id in execution.ids() {
            by_thread[execution.thread(id).index()].push(id.0);
        }
        Scheduler { execution, causality, edges, by_thread }
    }

    /// The schedule of a path, given by the threads whose steps it takes. `None` if it is not a path.
    pub fn schedule(&self, path: &[u32]) -> Option<Vec<EventId>> {
        let mut run = Run { of: self, done: vec![0; self.by_thread.len()], schedule: Vec::new() };
        let mut steps = vec![0; self.by_thread.len()];
        // The turns that are going on, or have gone on last, and whether others may share them.
        let mut turns: FxHashMap<u32, Vec<(u32, bool)>> = FxHashMap::default();
        for &thread in path {
            let number = steps.get_mut(thread as usize)?;
            let step = self.causality.step(thread, *number)?;
            *number += 1;
            for take in &step.takes {
                let turns = turns.entry(take.object).or_insert_with(|| vec![(INITIAL, false)]);
                for &(beginning, shared) in turns.iter() {
                    if !(shared && take.shared) {
                        for &member in self.edges.members(take.object, beginning) {
                            if member != step.event {
                                run.require(member)?;
                            }
                        }
                    }
                }
                turns.retain(|&(_, shared)| shared && take.shared);
                turns.push((step.event, take.shared));
            }
            run.require(step.event)?;
        }
        Some(run.schedule)
    }
}

struct Run<'a> {
    of: &'a Scheduler<'a>,
    /// How many events of each thread.
    done: Vec<usize>,
    schedule: Vec<EventId>,
}

impl Run<'_> {
    /// Does an event, and first all that comes before it.
    fn require(&mut self, event: u32) -> Option<()> {
        let mut wanted = vec![event];
        while let Some(&want) = wanted.last() {
            if self.is_done(want) {
                wanted.pop();
                continue;
            }
            let thread = self.of.execution.thread(EventId(want)).index();
            let next = *self.of.by_thread[thread].get(self.done[thread])?;
            match self.of.edges.before(next).find(|&before| !self.is_done(before)) {
                // More than there are events: they wait for each other.
                Some(_) if wanted.len() > self.of.execution.len() => return None,
                Some(before) => wanted.push(before),
                None => {
                    self.done[thread] += 1;
                    self.schedule.push(EventId(next));
                }
            }
        }
        Some(())
    }

    fn is_done(&self, event: u32) -> bool {
        let thread = self.of.execution.thread(EventId(event)).index();
        self.of.by_thread[thread].get(self.done[thread]).is_none_or(|&next| next > event)
    }
}
