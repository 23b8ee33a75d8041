//! Most of what a map can do, from four threads.

use std::sync::Arc;
use std::thread;

use dashmap::{DashMap, DashSet};

const THREADS: usize = 4;
const STEPS: usize = 60;

fn in_threads(work: impl Fn(usize) + Send + Sync + 'static) {
    let work = Arc::new(work);
    let threads: Vec<_> = (0..THREADS)
        .map(|number| {
            let work = Arc::clone(&work);
            thread::spawn(move || work(number))
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn inserted_changed_and_removed() {
    let map: Arc<DashMap<usize, Vec<usize>>> = Arc::new(DashMap::new());
    let shared = Arc::clone(&map);
    in_threads(move |number| {
        for step in 0..STEPS {
            let key = step % 7;
            shared.entry(key).or_default().push(number);
            if let Some(mut value) = shared.get_mut(&key) {
                value.push(step);
            }
            let _ = shared.get(&key).map(|value| value.len());
            shared.insert(100 + number * STEPS + step, vec![step]);
            shared.remove_if(&(100 + number * STEPS + step / 2), |_, value| value.len() == 1);
            shared.alter(&key, |_, value| value);
        }
    });
    assert_eq!((0..7).map(|key| map.get(&key).unwrap().len()).sum::<usize>(), 2 * THREADS * STEPS);
}

#[test]
fn iterated_while_it_changes() {
    let map: Arc<DashMap<usize, Box<usize>>> = Arc::new((0..20).map(|key| (key, Box::new(key))).collect());
    let shared = Arc::clone(&map);
    in_threads(move |number| match number {
        0 => (0..STEPS).for_each(|step| drop(shared.insert(step % 40, Box::new(step)))),
        1 => (0..STEPS / 4).for_each(|_| shared.iter_mut().for_each(|mut one| **one += 1)),
        2 => (0..STEPS / 4).for_each(|step| shared.retain(|key, _| *key != step)),
        _ => (0..STEPS / 4).for_each(|_| assert!(shared.iter().all(|one| *one.key() < 40))),
    });
    assert!(map.len() <= 40);
}

#[test]
fn tried_and_cleared() {
    let map: Arc<DashMap<usize, String>> = Arc::new(DashMap::with_shard_amount(2));
    let shared = Arc::clone(&map);
    in_threads(move |number| {
        for step in 0..STEPS {
            drop(shared.try_get(&step).try_unwrap().map(|value| value.len()));
            drop(shared.try_get_mut(&step).try_unwrap().map(|mut value| value.push('x')));
            shared.insert(step, number.to_string());
            if step == STEPS / 2 && number == 0 {
                shared.clear();
                shared.shrink_to_fit();
            }
        }
    });
    assert!(!map.is_empty());
}

#[test]
fn each_element_of_a_set_is_inserted_once() {
    let set: Arc<DashSet<usize>> = Arc::new(DashSet::new());
    let won = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let (shared, count) = (Arc::clone(&set), Arc::clone(&won));
    in_threads(move |_| {
        for step in 0..STEPS {
            if shared.insert(step) {
                count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
        }
    });
    assert_eq!((set.len(), won.load(std::sync::atomic::Ordering::Relaxed)), (STEPS, STEPS));
}
