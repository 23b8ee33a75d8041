//! Wrong programs. What is to be found is marked in the source: `// name` at the end of each line that a finding is to
//! point at.

mod deadlocks;
mod races;

/// A program, by its name.
type Program = (&'static str, fn());

fn main() {
    let word = std::env::args().nth(1).unwrap();
    let mut all = races::ALL.iter().chain(deadlocks::ALL);
    all.find(|(name, _)| *name == word).unwrap().1();
}
