//! What the crates claim to be atomic is: every history has an order.

use foresee::refine::Harness;
use foresee_crates::{SUBJECTS, Which};

#[test]
fn claimed_operations_are_linearizable() {
    for subject in SUBJECTS {
        for seed in 0..30 {
            let keys = [2, 4, 16][seed as usize % 3];
            let harness = Harness { threads: 4, operations: 100, keys, seed, ..Harness::default() };
            let report = (subject.test)(&harness, Which::Claimed).unwrap();
            assert!(!report.is_wrong(), "{}, seed {seed}: {report}", subject.name);
        }
    }
}
