//! async-channel: the same queue from threads that block and from tasks of a small executor.

use std::thread;

use futures_lite::future::block_on;

const MESSAGES: usize = 60;

fn exchange(sender: async_channel::Sender<Vec<usize>>, receiver: async_channel::Receiver<Vec<usize>>) {
    let total: usize = thread::scope(|scope| {
        for producer in 0..3 {
            let sender = sender.clone();
            scope.spawn(move || {
                for message in 0..MESSAGES {
                    if producer == 0 {
                        sender.send_blocking(vec![message; 2]).unwrap();
                    } else {
                        block_on(sender.send(vec![message; 2])).unwrap();
                    }
                }
            });
        }
        drop(sender);
        let takers: Vec<_> = (0..3)
            .map(|taker| {
                let receiver = receiver.clone();
                scope.spawn(move || {
                    let mut sum = 0;
                    loop {
                        let message = match taker {
                            0 => receiver.recv_blocking(),
                            1 => block_on(receiver.recv()),
                            _ => match receiver.try_recv() {
                                Ok(message) => Ok(message),
                                Err(_) => block_on(receiver.recv()),
                            },
                        };
                        match message {
                            Ok(list) => sum += list.iter().sum::<usize>(),
                            Err(_) => return sum,
                        }
                    }
                })
            })
            .collect();
        takers.into_iter().map(|taker| taker.join().unwrap()).sum()
    });
    assert_eq!(total, 3 * MESSAGES * (MESSAGES - 1));
}

fn main() {
    let (sender, receiver) = async_channel::unbounded();
    exchange(sender, receiver);
    let (sender, receiver) = async_channel::bounded(1);
    exchange(sender, receiver);
    let (sender, receiver) = async_channel::bounded(5);
    exchange(sender, receiver);
    println!("done");
}
