//! What random executions look like: tests of an engine switch off what it does not handle, or turn up what it is about.

use std::ops::RangeInclusive;

/// What random executions look like. A weight of 0 switches a feature off.
#[derive(Clone, Debug)]
pub struct Config {
    /// How many threads.
    pub threads: RangeInclusive<usize>,
    /// How many events; fewer if no thread can go on.
    pub events: RangeInclusive<usize>,
    /// At most so many variables.
    pub variables: usize,
    /// At most so many locks.
    pub locks: usize,
    /// Weight of plain reads and writes.
    pub plain: u32,
    /// Weight of atomic loads, stores and read-modify-writes.
    pub atomics: u32,
    /// Weight of acquires and releases.
    pub locking: u32,
    /// Weight of waits and notifies.
    pub waiting: u32,
    /// Weight of atomic blocks.
    pub blocks: u32,
    /// Weight of allocation and freeing.
    pub allocation: u32,
    /// Weight of events that only thread order matters for.
    pub local: u32,
    /// Weight of branches.
    pub branches: u32,
    /// Percentage of executions with blind code.
    pub blind: u32,
    /// Percentage of writes, branches and other events with a value before which it is said where the value comes from.
    pub dependences: u32,
    /// Percentage of executions whose first thread forks, and maybe joins, the others.
    pub forked: u32,
    /// Percentage of executions that are mostly about locks: as few threads as may be, which nest two locks.
    pub lock_heavy: u32,
    /// Percentage of executions that record values.
    pub values: u32,
    /// Percentage of acquires that share the lock.
    pub shared: u32,
    /// Percentage of acquires of a held lock that are tried.
    pub reentry: u32,
    /// Percentage of acquires without a request that would not have waited.
    pub tried: u32,
    /// Percentage of acquires with a request before them.
    pub requests: u32,
    /// Percentage of accesses to a part of a variable that overlaps other parts.
    pub overlap: u32,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            threads: 2..=4,
            events: 7..=14,
            variables: 3,
            locks: 3,
            plain: 40,
            atomics: 8,
            locking: 36,
            waiting: 5,
            blocks: 5,
            allocation: 1,
            local: 2,
            branches: 0,
            blind: 40,
            dependences: 0,
            forked: 50,
            lock_heavy: 25,
            values: 50,
            shared: 15,
            reentry: 30,
            tried: 5,
            requests: 25,
            overlap: 15,
        }
    }
}
