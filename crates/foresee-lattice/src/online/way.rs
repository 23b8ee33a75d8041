//! The way that led to a state.
//!
//! A program may run for days, so the whole way from its beginning cannot be kept. Each entry of a level carries the last steps of one way
//! to it, at most twice [`PART`], from a point that was [checked](super::witness). Ways share what they have in common. A way is no part of
//! the state: entries with equal states are one, with the way of the first.

use std::sync::Arc;

use super::records::Record;
use super::witness::Checked;

/// So many steps of a way are kept, and up to as many before them.
const PART: u32 = 32;

/// A way is never longer than this.
pub(super) const LONGEST: usize = 2 * PART as usize;

/// The last steps of a way through the lattice.
#[derive(Clone, Debug)]
pub(super) struct Way {
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

impl Way {
    /// No steps yet.
    pub(super) fn new(from: Checked) -> Way {
        Way { part: Part::new(Arc::new(from)), before: None, whole: true, refused: false }
    }

    /// With one more step. `check` leads from a point to the one after some steps, if they are accepted.
    pub(super) fn and(
        &self,
        record: Arc<Record>,
        check: impl FnOnce(&Checked, &[Arc<Record>]) -> Option<Checked>,
    ) -> Way {
        let mut way = self.clone();
        if way.part.length == PART {
            let reached = check(&way.part.from, &way.part.steps());
            way.refused |= reached.is_none();
            let from = reached.map_or_else(|| Arc::clone(&way.part.from), Arc::new);
            let full = std::mem::replace(&mut way.part, Part::new(from));
            way.whole &= way.before.replace(full).is_none();
        }
        let before = way.part.last.take();
        way.part.last = Some(Arc::new(Link { record, before }));
        way.part.length += 1;
        way
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
