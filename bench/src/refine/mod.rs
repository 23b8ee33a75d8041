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

/// The keys that bugs of a subject are looked for with. The paper does not tell the sizes of its pools. Those of the two multisets were chosen after
/// trying several, so that looking at results takes about as long as in the paper; their ratios depend on that choice. Their bugs need two threads at one
/// slot or node, whatever the keys are: views see them as soon with any number of keys, but a result depends on one only when somebody asks for a key
/// that was lost. With `r` lost keys for each operation, of which every second asks for one, that takes about `sqrt(4 * keys / r)` operations, so
/// the ratio grows with the root of the pool. The other subjects have few keys, as their bugs need two threads at one key, and are not fitted to the paper.
fn keys(subject: &str) -> usize {
    match subject {
        "multiset-vector" => 65_536,
        "multiset-tree" => 8_192,
        "blink-tree" => 64,
        _ => 32,
    }
}

fn harness(subject: &str, threads: usize, operations: usize, seed: u64) -> Harness {
    Harness { threads, operations, keys: keys(subject), seed, ..Harness::default() }
}
