//! flume: bounded, unbounded and rendezvous channels, selection, time limits, and both sides asynchronous.

use std::thread;
use std::time::Duration;

use futures_lite::future::block_on;

const THREADS: usize = 3;
const MESSAGES: usize = 60;

fn pumped(sender: flume::Sender<Box<usize>>, receiver: flume::Receiver<Box<usize>>) {
    let sum: usize = thread::scope(|scope| {
        for _ in 0..THREADS {
            let sender = sender.clone();
            scope.spawn(move || (0..MESSAGES).for_each(|message| sender.send(Box::new(message)).unwrap()));
        }
        drop(sender);
        let takers: Vec<_> = (0..2)
            .map(|_| {
                let receiver = receiver.clone();
                scope.spawn(move || receiver.iter().map(|message| *message).sum::<usize>())
            })
            .collect();
        takers.into_iter().map(|taker| taker.join().unwrap()).sum()
    });
    assert_eq!(sum, THREADS * MESSAGES * (MESSAGES - 1) / 2);
}

fn selected() {
    let (left, take_left) = flume::bounded::<Vec<u8>>(2);
    let (right, take_right) = flume::unbounded::<Vec<u8>>();
    thread::scope(|scope| {
        scope.spawn(move || (0..MESSAGES).for_each(|_| left.send(vec![1; 8]).unwrap()));
        scope.spawn(move || (0..MESSAGES).for_each(|_| right.send(vec![2; 8]).unwrap()));
        let (mut bytes, mut open) = (0, 2);
        while open > 0 {
            let message = flume::Selector::new()
                .recv(&take_left, |message| message)
                .recv(&take_right, |message| message)
                .wait_timeout(Duration::from_millis(200));
            match message {
                Ok(Ok(list)) => bytes += list.len(),
                Ok(Err(_)) => {
                    open = 0;
                    bytes +=
                        take_left.drain().chain(take_right.drain()).map(|list| list.len()).sum::<usize>();
                    bytes += take_left.iter().chain(take_right.iter()).map(|list| list.len()).sum::<usize>();
                }
                Err(_) => {}
            }
        }
        assert_eq!(bytes, 2 * 8 * MESSAGES);
    });
}

fn asynchronous() {
    let (sender, receiver) = flume::bounded::<String>(1);
    thread::scope(|scope| {
        for _ in 0..2 {
            let sender = sender.clone();
            scope.spawn(move || {
                block_on(async {
                    for message in 0..MESSAGES {
                        sender.send_async(format!("{message}")).await.unwrap();
                    }
                })
            });
        }
        drop(sender);
        let mut length = 0;
        block_on(async {
            while let Ok(message) = receiver.recv_async().await {
                length += message.len();
            }
        });
        assert_eq!(length, 2 * (10 + (MESSAGES - 10) * 2));
    });
}

fn timed() {
    let (sender, receiver) = flume::bounded::<Box<u32>>(1);
    thread::scope(|scope| {
        scope.spawn(move || {
            thread::sleep(Duration::from_millis(2));
            sender.send_timeout(Box::new(7), Duration::from_secs(5)).unwrap();
        });
        assert!(receiver.recv_timeout(Duration::from_micros(1)).is_err());
        assert_eq!(*receiver.recv_timeout(Duration::from_secs(5)).unwrap(), 7);
    });
}

fn main() {
    let (sender, receiver) = flume::unbounded();
    pumped(sender, receiver);
    let (sender, receiver) = flume::bounded(2);
    pumped(sender, receiver);
    let (sender, receiver) = flume::bounded(0);
    pumped(sender, receiver);
    selected();
    asynchronous();
    timed();
    println!("done");
}
