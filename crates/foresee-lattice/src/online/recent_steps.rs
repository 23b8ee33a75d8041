//! The last steps that led to a state.
//!
//! A program may run for days, so not all steps from its beginning can be kept. Each entry of a level carries the last steps of one run
//! to it, at most twice [`PART`], from a point that was [checked](super::witness). Entries share the steps they have in common. The steps are no
//! part of the state: entries with equal states are one, with the steps of the first.

use std::sync::Arc;

use super::records::Record;
use super::witness::Checked;

/// So many steps are kept, and up to as many before them.
const PART: u32 = 32;

/// There are never more steps than this.
pub(super) const LONGEST: usize = 2 * PART as usize;

/// The last steps of a run through the lattice.
#[derive(Clone, Debug)]
pub(super) struct RecentSteps {
    part: Part,
    before: Option<Part>,
    /// Whether it has all steps.
    whole: bool,
    /// Whether a part of it was refused.
    refused: bool,
}

/// Steps from a point on.
#[derive(Clone, Debug)]
struct Part {
    from: Arc<Checked>,
    last: Option<Arc<Link>>,
    length: u32,
}

/// A step, and the one before it.
#[derive(Debug)]
struct Link {
    record: Arc<Record>,
    before: Option<Arc<Link>>,
}

impl Part {
    fn new(from: Arc<Checked>) -> Part {
        Part { from, last: None, length: 0 }
    }

    /// Its steps, in order.
    fn steps(&self) -> Vec<Arc<Record>> {
        let links = std::iter::successors(self.last.as_ref(), |link| link.before.as_ref());
        let mut steps: Vec<_> = links.map(|link| Arc::clone(&link.record)).collect();
        steps.reverse();
        steps
    }
}

impl RecentSteps {
    /// No steps yet.
    pub(super) fn new(from: Checked) -> RecentSteps {
        RecentSteps { part: Part::new(Arc::new(from)), before: None, whole: true, refused: false }
    }

    /// With one more step. `check` leads from a point to the one after some steps, if they are accepted.
    pub(super) fn and(
        &self,
        record: Arc<Record>,
        check: impl FnOnce(&Checked, &[Arc<Record>]) -> Option<Checked>,
    ) -> RecentSteps {
        let mut recent = self.clone();
        if recent.part.length == PART {
            let reached = check(&recent.part.from, &recent.part.steps());
            recent.refused |= reached.is_none();
            let from = reached.map_or_else(|| Arc::clone(&recent.part.from), Arc::new);
            let full = std::mem::replace(&mut recent.part, Part::new(from));
            recent.whole &= recent.before.replace(full).is_none();
        }
        let before = recent.part.last.take();
        recent.part.last = Some(Arc::new(Link { record, before }));
        recent.part.length += 1;
        recent
    }

    /// The point at which what is kept begins, and the steps from there on; `None` if some of them were refused.
    pub(super) fn run(&self) -> Option<(Arc<Checked>, Vec<Arc<Record>>)> {
        let first = self.before.as_ref().unwrap_or(&self.part);
        let mut steps = self.before.as_ref().map_or_else(Vec::new, Part::steps);
        steps.extend(self.part.steps());
        (!self.refused).then(|| (Arc::clone(&first.from), steps))
    }

    /// Whether the steps are all since the beginning.
    pub(super) fn is_whole(&self) -> bool {
        self.whole
    }
}
