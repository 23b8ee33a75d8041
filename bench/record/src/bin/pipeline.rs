//! Batches through a pipeline of bounded channels: one thread makes them, two change them, one adds them up.

use std::thread;

use crossbeam_channel::bounded;
use workload::{next, seed, share};

const BATCHES: u64 = 300_000;
const BATCH: usize = 64;

fn main() {
    let (make, made) = bounded::<Vec<u64>>(64);
    let (change, changed) = bounded::<Vec<u64>>(64);
    let batches = share(BATCHES);
    let total = thread::scope(|scope| {
        scope.spawn(move || {
            let mut random = seed(0);
            for _ in 0..batches {
                make.send((0..BATCH).map(|_| next(&mut random) % 1000).collect()).unwrap();
            }
        });
        for _ in 0..2 {
            let (made, change) = (made.clone(), change.clone());
            scope.spawn(move || {
                for mut batch in made {
                    batch.sort_unstable();
                    batch.iter_mut().for_each(|number| *number = *number * *number + 1);
                    change.send(batch).unwrap();
                }
            });
        }
        drop((made, change));
        scope
            .spawn(move || changed.iter().map(|batch| batch.iter().sum::<u64>()).sum::<u64>())
            .join()
            .unwrap()
    });
    assert!(total > batches);
}
