//! `cargo run --release -- [NAME] [all] [RUNS]` drives the structures, or one of them, and shows the first history that no order explains. With
//! `all` it calls operations as well that do not claim to be atomic.

use foresee::refine::Harness;
use foresee_crates::{SUBJECTS, Which};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let which = if words.iter().any(|word| word == "all") { Which::All } else { Which::Claimed };
    let runs = words.iter().find_map(|word| word.parse().ok()).unwrap_or(100);
    let name = words.iter().find(|word| SUBJECTS.iter().any(|subject| subject.name == **word));
    for subject in SUBJECTS.iter().filter(|subject| name.is_none_or(|name| name == subject.name)) {
        let (mut operations, mut undecided, mut found) = (0, 0, None);
        for seed in 0..runs {
            let keys = [2, 4, 16][seed as usize % 3];
            let harness = Harness { threads: 4, operations: 400, keys, seed, ..Harness::default() };
            match (subject.test)(&harness, which) {
                Ok(report) => {
                    operations += report.operations;
                    undecided += usize::from(report.verdict.is_linearizable().is_none());
                    if report.is_wrong() {
                        found = Some(report);
                        break;
                    }
                }
                Err(why) => return println!("{}: {why}", subject.name),
            }
        }
        println!("{}: {operations} operations, {undecided} histories undecided", subject.name);
        if let Some(report) = found {
            println!("{report}\n{}", report.case(subject.model));
        }
    }
}
