//! Disjoint sets, which are made one where two of them have something in common.

/// Disjoint sets of things that are numbered.
#[derive(Default)]
pub(crate) struct Groups {
    leader: Vec<usize>,
}

impl Groups {
    /// Each alone.
    pub(crate) fn of(count: usize) -> Groups {
        Groups { leader: (0..count).collect() }
    }

    /// One more, alone; its number.
    pub(crate) fn add(&mut self) -> usize {
        self.leader.push(self.leader.len());
        self.leader.len() - 1
    }

    /// One of the set, the same for all in it.
    pub(crate) fn leader(&mut self, of: usize) -> usize {
        let mut at = of;
        while self.leader[at] != at {
            self.leader[at] = self.leader[self.leader[at]];
            at = self.leader[at];
        }
        at
    }

    /// Makes one set of two; who leads it.
    pub(crate) fn join(&mut self, a: usize, b: usize) -> usize {
        let (a, b) = (self.leader(a), self.leader(b));
        self.leader[a.max(b)] = a.min(b);
        a.min(b)
    }
}
