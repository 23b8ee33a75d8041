//! A hash map behind a reader-writer lock: many lookups of several keys, some insertions.

use std::collections::HashMap;
use std::sync::RwLock;
use std::thread;

use workload::{THREADS, next, seed, share};

const KEYS: u64 = 10_000;
const ROUNDS: u64 = 1_200_000;
const LOOKUPS: u64 = 16;

fn main() {
    let map: RwLock<HashMap<u64, u64>> = RwLock::new((0..KEYS).map(|key| (key, key)).collect());
    let found: u64 = thread::scope(|scope| {
        let map = &map;
        let work = |thread: u64| {
            move || {
                let mut random = seed(thread);
                let mut found = 0;
                for round in 0..share(ROUNDS) / THREADS {
                    if round % 32 == 0 {
                        let key = next(&mut random) % (2 * KEYS);
                        map.write().unwrap().insert(key, round);
                        continue;
                    }
                    let map = map.read().unwrap();
                    for _ in 0..LOOKUPS {
                        found += u64::from(map.contains_key(&(next(&mut random) % (2 * KEYS))));
                    }
                }
                found
            }
        };
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(work(thread))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert!(found > 0);
}
