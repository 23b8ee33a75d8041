//! The subjects of the paper on refinement checking (VYRD, PLDI 2005), each as it should be and with its bug.
//!
//! `cargo run --example refine --features refine` tests all of them; `-- multiset-vector bug 8` one, with its bug, with 8 threads. A
//! violation comes with the number of operations until then, what the structure and the specification have, and who is to blame.

#[path = "subjects/mod.rs"]
mod subjects;

use foresee::refine::Harness;
use subjects::SUBJECTS;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let name = arguments.first();
    let has_bug = arguments.iter().any(|word| word == "bug");
    let threads = arguments.iter().find_map(|word| word.parse().ok()).unwrap_or(8);
    for subject in SUBJECTS.iter().filter(|subject| name.is_none_or(|name| name == subject.name)) {
        for bug in [false, true].into_iter().filter(|bug| name.is_none() || *bug == has_bug) {
            let harness = Harness { threads, ..Harness::default() };
            let title = if bug { subject.bug } else { "as it should be" };
            match (subject.test)(&harness, bug) {
                Ok(report) => println!("{}, {title}: {report}\n", subject.name),
                Err(why) => println!("{}, {title}: the log cannot be checked: {why}\n", subject.name),
            }
        }
    }
}
