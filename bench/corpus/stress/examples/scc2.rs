//! scc 2: hash map, index, set, cache, tree, queue, stack and bag, changed by several threads while others look.

use std::thread;

use scc2::ebr::Guard;
use scc2::{Bag, HashCache, HashIndex, HashMap, HashSet, Queue, Stack, TreeIndex};

const THREADS: usize = 3;
const KEYS: usize = 60;

fn hashed() {
    let map: HashMap<usize, Vec<usize>> = HashMap::new();
    let index: HashIndex<usize, String> = HashIndex::new();
    let (set, cache) = (HashSet::<usize>::new(), HashCache::<usize, usize>::with_capacity(8, 16));
    thread::scope(|scope| {
        for task in 0..THREADS {
            let (map, index, set, cache) = (&map, &index, &set, &cache);
            scope.spawn(move || {
                for key in 0..KEYS {
                    map.entry(key).or_default().get_mut().push(task);
                    let _ = index.insert(key * THREADS + task, format!("{key}"));
                    let _ = set.insert(key);
                    let _ = cache.put(key, key * 2);
                    assert!(map.read(&key, |_, list| list.len()).unwrap() <= THREADS);
                    assert!(cache.get(&(key / 2)).is_none_or(|entry| *entry.get() == key / 2 * 2));
                    let guard = Guard::new();
                    assert!(index
                        .peek(&(key * THREADS), &guard)
                        .is_none_or(|text| *text == format!("{key}")));
                    if key % 4 == task {
                        index.remove(&(key * THREADS + task));
                        set.remove(&key);
                    }
                }
            });
        }
    });
    let mut pushed = 0;
    map.scan(|_, list| pushed += list.len());
    assert_eq!(pushed, THREADS * KEYS);
}

fn linked() {
    let (tree, queue) = (TreeIndex::<usize, String>::new(), Queue::<Vec<usize>>::default());
    let (stack, bag) = (Stack::<String>::default(), Bag::<Box<usize>>::default());
    thread::scope(|scope| {
        for task in 0..THREADS {
            let (tree, queue, stack, bag) = (&tree, &queue, &stack, &bag);
            scope.spawn(move || {
                for key in 0..KEYS {
                    tree.insert(key * THREADS + task, format!("{key}")).unwrap();
                    queue.push(vec![key; 3]);
                    stack.push(format!("{task}"));
                    bag.push(Box::new(key));
                    let guard = Guard::new();
                    assert!(tree.peek(&(key * THREADS), &guard).is_none_or(|text| *text == format!("{key}")));
                    assert!(tree.range(key..key + 5, &guard).count() <= 5);
                    if key % 2 == 0 {
                        queue.pop().map(|entry| assert_eq!(entry.len(), 3));
                        stack.pop();
                        bag.pop();
                        tree.remove(&(key * THREADS + task));
                    }
                }
            });
        }
    });
    assert_eq!(tree.len(), THREADS * KEYS / 2);
}

fn main() {
    hashed();
    linked();
    println!("done");
}
