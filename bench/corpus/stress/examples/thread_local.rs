//! thread_local: one value per thread, handed to the next thread with the number of the last, collected at the end.

use std::cell::RefCell;
use std::sync::Arc;
use std::thread;

use thread_local::ThreadLocal;

fn main() {
    let local = Arc::new(ThreadLocal::<RefCell<Vec<usize>>>::new());
    for round in 0..5 {
        let threads: Vec<_> = (0..4)
            .map(|task| {
                let local = local.clone();
                thread::spawn(move || {
                    for _ in 0..10 {
                        local.get_or_default().borrow_mut().push(round * 4 + task);
                    }
                    assert!(local.get().is_some());
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
    let mut local = Arc::into_inner(local).unwrap();
    assert_eq!(local.iter_mut().map(|list| list.get_mut().len()).sum::<usize>(), 200);

    let counters = ThreadLocal::<std::sync::Mutex<usize>>::new();
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..30 {
                    *counters.get_or_default().lock().unwrap() += 1;
                }
            });
        }
        for _ in 0..5 {
            let seen: usize = counters.iter().map(|counter| *counter.lock().unwrap()).sum();
            assert!(seen <= 90);
        }
    });
    assert_eq!(counters.iter().map(|counter| *counter.lock().unwrap()).sum::<usize>(), 90);
    println!("done");
}
