//! quick_cache: a cache that is too small, with placeholders that other threads wait for.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use quick_cache::sync::{Cache, GuardResult};

fn main() {
    let cache: Cache<usize, Arc<Vec<usize>>> = Cache::new(40);
    thread::scope(|scope| {
        for task in 0..4usize {
            let cache = &cache;
            scope.spawn(move || {
                for round in 0..100usize {
                    let key = (round * 5 + task) % 60;
                    match round % 4 {
                        0 => cache.insert(key, Arc::new(vec![key; 4])),
                        1 => {
                            let value =
                                cache.get_or_insert_with(&key, || Ok::<_, ()>(Arc::new(vec![key; 4])));
                            assert_eq!(value.unwrap()[3], key);
                        }
                        2 => match cache.get_value_or_guard(&key, Some(Duration::from_millis(50))) {
                            GuardResult::Value(value) => assert_eq!(value[0], key),
                            GuardResult::Guard(guard) => drop(guard.insert(Arc::new(vec![key; 4]))),
                            GuardResult::Timeout => {}
                        },
                        _ => {
                            cache.remove(&key);
                            assert!(cache.get(&key).is_none_or(|value| value.len() == 4));
                        }
                    }
                }
            });
        }
    });
    println!("done");
}
