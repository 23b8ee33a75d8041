//! What a synthetic execution looks like.

use std::fmt;
use std::ops::Range;

/// How many of the sections that can hold a nested one do.
pub(super) const NESTED_SHARE: f64 = 0.25;

/// Who creates whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Forks {
    /// The main thread forks all others at its start and joins them at the end.
    #[default]
    Star,
    /// Every thread forks two others.
    Tree,
    /// Every thread forks the next.
    Chain,
    /// Nobody: all threads are there from the start, and nobody is joined.
    None,
}

/// What to generate.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// How many events. The run has exactly that many, or one fewer where the last event could only be an
    /// acquire without a release (no forks, no unprotected accesses).
    pub events: u64,
    /// How many threads, at least 1; fewer where there are not enough events to fork and join them.
    pub threads: u32,
    /// How many variables, at least 1.
    pub variables: u32,
    /// How many locks; without any, no access is protected.
    pub locks: u32,
    /// How unevenly variables are accessed: 0 is uniform, otherwise the exponent of a Zipf distribution, `x0` first.
    pub skew: f64,
    /// How many accesses a critical section has on average, at least 1, not counting those of sections inside it.
    pub section: u32,
    /// How many locks a thread holds at most, at least 1. Inner locks have higher numbers than outer ones.
    pub nesting: u32,
    /// The share of nested sections whose inner locks have lower numbers instead: what deadlocks are made of.
    pub inversions: f64,
    /// Who creates whom.
    pub forks: Forks,
    /// The share of accesses that write.
    pub writes: f64,
    /// The share of accesses outside of critical sections.
    pub unprotected: f64,
    /// Different seeds give different executions.
    pub seed: u64,
}

impl Default for Shape {
    fn default() -> Self {
        Shape {
            events: 1_000_000,
            threads: 8,
            variables: 1000,
            locks: 20,
            skew: 0.0,
            section: 4,
            nesting: 2,
            inversions: 0.0,
            forks: Forks::Star,
            writes: 0.3,
            unprotected: 0.1,
            seed: 0,
        }
    }
}

impl fmt::Display for Forks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Forks::Star => "star",
            Forks::Tree => "tree",
            Forks::Chain => "chain",
            Forks::None => "none",
        })
    }
}

/// As the options of `foresee trace gen`.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shape { events, threads, variables, locks, skew, section, nesting, .. } = self;
        let Shape { inversions, forks, writes, unprotected, seed, .. } = self;
        write!(
            f,
            "--events {events} --threads {threads} --variables {variables} --locks {locks} --skew {skew} "
        )?;
        write!(f, "--section {section} --nesting {nesting} --inversions {inversions} --forks {forks} ")?;
        write!(f, "--writes {writes} --unprotected {unprotected} --seed {seed}")
    }
}

impl Shape {
    /// The threads that this one forks.
    pub(super) fn children(&self, thread: u32) -> Range<u32> {
        let range = match self.forks {
            Forks::Star if thread == 0 => 1..self.threads,
            Forks::Tree => {
                thread.saturating_mul(2).saturating_add(1)..thread.saturating_mul(2).saturating_add(3)
            }
            Forks::Chain => thread + 1..thread + 2,
            Forks::Star | Forks::None => 0..0,
        };
        range.start.min(self.threads)..range.end.min(self.threads)
    }

    /// How likely a thread outside of sections accesses a variable instead of starting a section, so that
    /// the share of unprotected accesses comes out right.
    pub(super) fn chance_of_unprotected(&self) -> f64 {
        if self.locks == 0 {
            return 1.0;
        }
        let levels = self.nesting.min(self.locks).min(16);
        let sections: f64 = (0..levels).map(|level| (0..level).map(|_| NESTED_SHARE).product::<f64>()).sum();
        let protected = f64::from(self.section) * sections;
        let share = self.unprotected.clamp(0.0, 1.0);
        share * protected / (1.0 - share + share * protected)
    }
}
