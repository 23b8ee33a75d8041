//! concurrent-queue: one slot, some slots, no limit; pushed and popped by several threads until it is closed.

use std::thread;

use concurrent_queue::{ConcurrentQueue, PopError, PushError};

const MESSAGES: usize = 100;

fn drained(queue: ConcurrentQueue<Box<usize>>) {
    let queue = &queue;
    let sum: usize = thread::scope(|scope| {
        let takers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(move || {
                    let mut sum = 0;
                    loop {
                        match queue.pop() {
                            Ok(message) => sum += *message,
                            Err(PopError::Empty) => thread::yield_now(),
                            Err(PopError::Closed) => return sum,
                        }
                    }
                })
            })
            .collect();
        let makers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(move || {
                    for message in 0..MESSAGES {
                        let mut message = Box::new(message);
                        while let Err(PushError::Full(back)) = queue.push(message) {
                            message = back;
                            thread::yield_now();
                        }
                    }
                })
            })
            .collect();
        makers.into_iter().for_each(|maker| maker.join().unwrap());
        queue.close();
        takers.into_iter().map(|taker| taker.join().unwrap()).sum()
    });
    assert_eq!(sum, MESSAGES * (MESSAGES - 1));
}

fn main() {
    drained(ConcurrentQueue::bounded(1));
    drained(ConcurrentQueue::bounded(7));
    drained(ConcurrentQueue::unbounded());
    println!("done");
}
