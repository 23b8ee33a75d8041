//! How much one program may ask of the observer.

use crate::options::Breadth;

/// What one program may ask of the observer.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many cuts of a level go on.
    pub breadth: Breadth,
    /// About so many bytes for each property.
    pub memory: usize,
    /// Bindings of its parameters that are looked at.
    pub slices: usize,
    /// Messages that wait for others.
    pub buffered: usize,
    /// What one event may be to the property.
    pub acts: usize,
    /// So many steps may wait for a thread that says nothing.
    pub patience: usize,
    /// So many findings are reported.
    pub findings: usize,
    /// After so many events memory is looked at.
    pub weigh_after: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            breadth: Breadth::All,
            memory: 256 << 20,
            slices: 1 << 14,
            buffered: 1 << 16,
            acts: 64,
            patience: 1 << 10,
            findings: 1000,
            weigh_after: 256,
        }
    }
}
