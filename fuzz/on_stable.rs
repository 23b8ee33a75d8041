//! Running a fuzz target on stable, in the test suite: over its corpus, and over many random changes of it.

use std::path::Path;

use foresee_oracle::Random;

pub(crate) fn run(target: fn(&[u8]), corpus: &str, rounds: usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(corpus);
    let mut inputs: Vec<Vec<u8>> = Vec::new();
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        inputs.push(std::fs::read(path).unwrap());
    }
    assert!(inputs.len() >= 3, "the corpus is there");
    inputs.iter().for_each(|input| target(input));
    let mut random = Random::new(0xf0e5_ee00);
    for _ in 0..rounds {
        let mut input = inputs[random.below(inputs.len())].clone();
        for _ in 0..1 + random.below(4) {
            let at = random.below(input.len() + 1);
            let len = random.below(9);
            let end = (at + len).min(input.len());
            match random.below(5) {
                0 => drop(input.drain(at..end)),
                1 => input[at..end].iter_mut().for_each(|b| *b = random.bits() as u8),
                2 => drop(input.splice(at..at, (0..len).map(|_| b"|()#\\[]=.\n\"@-,0x"[random.below(16)]))),
                3 => {
                    let copy = input[at..end].to_vec();
                    let to = random.below(input.len() + 1);
                    drop(input.splice(to..to, copy));
                }
                _ => input.truncate(at),
            }
        }
        target(&input);
    }
}
