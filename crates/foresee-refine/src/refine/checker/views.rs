//! Writes, commit blocks, and the comparison of views.

use super::super::replica::Replica;
use super::super::violation::{Difference, Kind, RefineError, Violation};
use super::super::worlds::Death;
use super::threads::Before;
use super::{Checker, Mode};
use crate::log::{Action, ThreadId};
use crate::spec::Viewed;
use crate::value::Value;

impl<S: Viewed, R: Replica> Checker<'_, S, R> {
    /// From here on the contents of parts are kept: a thread of the structure has appeared, which must not change them.
    pub(super) fn keep_contents(&mut self) {
        let replica = &self.replica;
        self.contents.get_or_insert_with(|| {
            let parts = replica.parts().into_iter();
            parts.filter_map(|part| Some((part.clone(), replica.part(&part)?))).collect()
        });
    }

    /// Drops the worlds whose view is another; what the last one died of, if none is left.
    pub(super) fn compare_views(&mut self) -> Option<Death> {
        if self.replica.broken().is_some() {
            return Some(Death::of(Kind::Invariant));
        }
        self.worlds.drop_differing(self.spec, &self.replica)
    }

    /// A commit of the structure's own thread: the specification stays as it is, and the view is compared with it.
    pub(super) fn commit_internal(&mut self, index: usize, thread: ThreadId) -> Result<(), RefineError> {
        self.publish_block(thread)?;
        if let Some(death) = self.compare_views() {
            self.report_death(index, None, None, death);
        }
        Ok(())
    }

    /// After something that a thread did: compares views, if that is done only where no operation and no block is under way, and none is.
    pub(super) fn at_rest(&mut self, index: usize, thread: ThreadId, call: Option<usize>) {
        let state = self.state(thread);
        if state.execution.is_none() && state.block.is_none() {
            self.busy.remove(&thread);
        }
        if self.mode != Mode::Quiescent || self.violation.is_some() || !self.busy.is_empty() {
            return;
        }
        if let Some(death) = self.compare_views() {
            self.report_death(index, call, None, death);
        }
    }

    /// The open block of a thread has its commit: its writes are there for all.
    /// Which parts may be others now, in order.
    pub(super) fn publish_block(&mut self, thread: ThreadId) -> Result<Vec<Value>, RefineError> {
        let Some(block) = &mut self.state(thread).block else { return Ok(Vec::new()) };
        block.has_committed = true;
        let mut before = std::mem::take(&mut block.before);
        let writes = std::mem::take(&mut block.writes);
        let changed = self.publish(writes, &mut before)?;
        if let Some(block) = &mut self.state(thread).block {
            block.before = before;
        }
        Ok(changed)
    }

    pub(super) fn write(&mut self, index: usize, thread: ThreadId, write: Action) -> Result<(), RefineError> {
        let state = self.state(thread);
        let is_internal = state.is_internal;
        match &mut state.block {
            Some(block) if !block.has_committed => block.writes.push((index, write)),
            Some(block) => {
                let mut before = std::mem::take(&mut block.before);
                self.publish([(index, write)], &mut before)?;
                if let Some(block) = &mut self.state(thread).block {
                    block.before = before;
                }
            }
            None => {
                let mut before = Before::default();
                self.publish([(index, write)], &mut before)?;
                if is_internal && self.mode == Mode::View {
                    self.expect_unchanged(index, before);
                }
                self.at_rest(index, thread, None);
            }
        }
        Ok(())
    }

    pub(super) fn end_block(&mut self, index: usize, thread: ThreadId) -> Result<(), RefineError> {
        let state = self.state(thread);
        let is_internal = state.is_internal;
        let Some(block) = state.block.take() else {
            self.report(index, thread, Kind::Malformed);
            return Ok(());
        };
        let mut before = block.before;
        self.publish(block.writes, &mut before)?;
        if is_internal && self.mode == Mode::View {
            self.expect_unchanged(index, before);
        }
        self.at_rest(index, thread, None);
        Ok(())
    }

    /// Work of the structure's own thread must leave parts as they were.
    fn expect_unchanged(&mut self, index: usize, before: Before) {
        let changed = before.into_iter().filter_map(|(part, specification)| {
            let implementation = self.replica.part(&part);
            (implementation != specification).then_some(Difference { part, implementation, specification })
        });
        let mut differences: Vec<Difference> = changed.collect();
        differences.sort_unstable_by(|a, b| a.part.cmp(&b.part));
        if !differences.is_empty() {
            self.violation = Some(Violation { differences, ..self.blank(index, Kind::InternalView) });
        } else if let Some(broken) = self.replica.broken() {
            self.violation =
                Some(Violation { invariant: Some(broken), ..self.blank(index, Kind::Invariant) });
        }
    }

    /// Makes writes known, and notes what the parts that they changed had before, where a thread of the structure might have to answer for it. Of
    /// a variable that was written later, the later value stays. Which parts may be others now, in order.
    fn publish(
        &mut self,
        writes: impl IntoIterator<Item = (usize, Action)>,
        before: &mut Before,
    ) -> Result<Vec<Value>, RefineError> {
        for (event, write) in writes {
            let done = match write {
                Action::Write { target, value } => match self.written.get_mut(&target) {
                    Some(last) if *last > event => continue,
                    Some(last) => {
                        *last = event;
                        self.replica.write(&target, &value)
                    }
                    None => {
                        let done = self.replica.write(&target, &value);
                        self.written.insert(target, event);
                        done
                    }
                },
                Action::Replay { entry, value } => self.replica.replay(&entry, &value),
                _ => Ok(()),
            };
            done.map_err(|why| RefineError::Write { event, why })?;
        }
        let mut changed = self.replica.take_changed();
        changed.sort_unstable();
        changed.dedup();
        for part in &changed {
            let now = self.replica.part(part);
            self.worlds.compare_part(self.spec, part, now.as_ref());
            if let Some(contents) = &mut self.contents {
                let was = match now {
                    Some(now) => contents.insert(part.clone(), now),
                    None => contents.remove(part),
                };
                before.entry(part.clone()).or_insert(was);
            }
        }
        Ok(changed)
    }
}
