//! Refinement and linearizability: the tables of the paper (VYRD, PLDI 2005) beside ours, and histories that others have measured.
//!
//! | file | what is measured |
//! |---|---|
//! | `linearizability` | histories of etcd and of a key-value store; long ones with distinct values; hard ones within a limit of memory |
//! | `detection` | Table 1: how many operations until a bug is found, by results and by views |
//! | `cost` | Tables 2 and 3: what logging and checking cost |

mod cost;
mod detection;
mod linearizability;
#[path = "../../../examples/refine/subjects/mod.rs"]
mod subjects;

use foresee::refine::Harness;

/// How long it takes.
pub(crate) struct Effort {
    /// Operations of each long history.
    pub(crate) operations: usize,
    /// Runs of each subject until its bug is found.
    pub(crate) runs: u64,
    /// Operations of each subject whose time is taken.
    pub(crate) timed: usize,
}

pub(crate) fn run(effort: &Effort) {
    linearizability::run(effort.operations);
    detection::run(effort.runs);
    cost::run(effort.timed);
}

/// The keys that tests of a subject draw from. A bug that needs two threads at one slot or node, whatever the keys are, shows as soon with many
/// keys, and it takes longer until a result depends on what it broke.
fn keys(subject: &str) -> usize {
    match subject {
        "multiset-vector" => 3072,
        "multiset-tree" => 4096,
        "blink-tree" => 64,
        _ => 32,
    }
}

fn harness(subject: &str, threads: usize, operations: usize, seed: u64) -> Harness {
    Harness { threads, operations, keys: keys(subject), seed, ..Harness::default() }
}
