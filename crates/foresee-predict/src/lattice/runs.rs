//! How many runs lead to a place in the lattice.

/// What is counted along the way.
pub trait Runs: Clone + Send + Sync {
    /// Of the one empty run.
    fn one() -> Self;

    /// After a step that had something told, or not.
    fn after(&self, told: bool) -> Self;

    /// And those that come another way.
    fn join(&mut self, other: &Self);

    /// The counts, if there are any.
    fn count(&self) -> Option<Count>;
}

/// Does not count.
impl Runs for () {
    fn one() -> Self {}
    fn after(&self, _: bool) -> Self {}
    fn join(&mut self, (): &Self) {}
    fn count(&self) -> Option<Count> {
        None
    }
}

/// How many runs there are, and on how many of them nothing was told; `u64::MAX` stands for that many or more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// All.
    pub all: u64,
    /// Those on which nothing was told.
    pub clean: u64,
}

impl Runs for Count {
    fn one() -> Self {
        Count { all: 1, clean: 1 }
    }

    fn after(&self, told: bool) -> Self {
        Count { all: self.all, clean: if told { 0 } else { self.clean } }
    }

    fn join(&mut self, other: &Self) {
        self.all = self.all.saturating_add(other.all);
        self.clean = self.clean.saturating_add(other.clean);
    }

    fn count(&self) -> Option<Count> {
        Some(*self)
    }
}
