//! moka: a synchronous cache that is too small, with computed entries, eviction, expiry and listeners.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use moka::sync::{Cache, SegmentedCache};

fn main() {
    let evicted = Arc::new(AtomicUsize::new(0));
    let cache: Cache<usize, Arc<Vec<usize>>> = {
        let evicted = evicted.clone();
        Cache::builder()
            .max_capacity(32)
            .time_to_live(Duration::from_millis(40))
            .eviction_listener(move |key: Arc<usize>, value: Arc<Vec<usize>>, _| {
                assert_eq!(value.len(), *key % 5 + 1);
                evicted.fetch_add(1, Ordering::Relaxed);
            })
            .build()
    };
    let segmented: SegmentedCache<String, String> = SegmentedCache::new(64, 4);
    thread::scope(|scope| {
        for task in 0..3usize {
            let (cache, segmented) = (cache.clone(), segmented.clone());
            scope.spawn(move || {
                for round in 0..80usize {
                    let key = (round * 7 + task * 3) % 50;
                    let value = cache.get_with(key, || Arc::new(vec![key; key % 5 + 1]));
                    assert!(value.iter().all(|item| *item == key));
                    match round % 8 {
                        0 => cache.invalidate(&key),
                        1 => cache.insert(key, Arc::new(vec![key; key % 5 + 1])),
                        2 => assert!(cache.get(&(key + 100)).is_none()),
                        3 => {
                            cache.entry(key).or_insert_with(|| Arc::new(vec![key; key % 5 + 1]));
                        }
                        4 => segmented.insert(format!("{key}"), format!("value of {key}")),
                        5 => {
                            if let Some(text) = segmented.get(&format!("{key}")) {
                                assert_eq!(text, format!("value of {key}"));
                            }
                        }
                        6 => cache.run_pending_tasks(),
                        _ => assert!(cache.iter().all(|(key, value)| value.len() == *key % 5 + 1)),
                    }
                }
            });
        }
    });
    cache.invalidate_all();
    cache.run_pending_tasks();
    assert!(evicted.load(Ordering::Relaxed) > 0);
    println!("done");
}
