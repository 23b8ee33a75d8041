//! How a walk through the lattice chooses its cuts.

use rustc_hash::FxHashSet;

use super::causality::Causality;
use super::level::Group;
use super::machine::Machine;
use super::options::Options;

/// How a walk chooses its cuts.
pub(super) struct Guide<'a, M: Machine> {
    pub(super) causality: &'a Causality,
    pub(super) machine: &'a M,
    pub(super) options: &'a Options<'a>,
    pub(super) known: &'a FxHashSet<Group>,
    pub(super) within: Option<&'a [u32]>,
}

/// A level is there, the next one is made in pieces and put together, and what grows has some room to spare.
const COPIES: usize = 4;

impl<M: Machine> Guide<'_, M> {
    /// How many entries a level may have, if a cut takes so many bytes.
    pub(super) fn entries(&self, cut: usize, threads: usize) -> usize {
        self.options.memory / (COPIES * (cut + self.machine.bytes(threads)))
    }
}
