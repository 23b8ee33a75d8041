//! `mpsc`.

use std::sync::mpsc::{RecvTimeoutError, TryRecvError, TrySendError, channel, sync_channel};
use std::thread;
use std::time::Duration;

use crate::{Plain, Program};

pub(crate) const ALL: &[Program] = &[
    ("unbounded", unbounded),
    ("many_senders", many_senders),
    ("bounded", bounded),
    ("rendezvous", rendezvous),
    ("tried", tried),
    ("timed", timed),
    ("receiver_gone", receiver_gone),
    ("ping_pong", ping_pong),
    ("many_blocks", many_blocks),
    ("senders_gone", senders_gone),
];

fn unbounded() {
    let (sender, receiver) = channel::<Box<u64>>();
    let sums = thread::spawn(move || receiver.iter().map(|item| *item).sum::<u64>());
    for i in 0..40 {
        sender.send(Box::new(i)).unwrap();
    }
    drop(sender);
    assert_eq!(sums.join().unwrap(), 780);
}

fn many_senders() {
    let (sender, receiver) = channel::<Vec<u64>>();
    for i in 0..6 {
        let sender = sender.clone();
        thread::spawn(move || {
            for k in 0..6 {
                sender.send(vec![i, k]).unwrap();
            }
        });
    }
    drop(sender);
    assert_eq!(receiver.into_iter().map(|item| item[0]).sum::<u64>(), 90);
}

fn bounded() {
    let (sender, receiver) = sync_channel::<Box<u64>>(3);
    thread::scope(|scope| {
        for _ in 0..3 {
            let sender = sender.clone();
            scope.spawn(move || (0..10).for_each(|i| sender.send(Box::new(i)).unwrap()));
        }
        drop(sender);
        assert_eq!(receiver.iter().map(|item| *item).sum::<u64>(), 135);
    });
}

fn rendezvous() {
    let (sender, receiver) = sync_channel::<String>(0);
    thread::scope(|scope| {
        for i in 0..3 {
            let sender = sender.clone();
            scope.spawn(move || {
                for _ in 0..4 {
                    sender.send(format!("from {i}")).unwrap();
                }
            });
        }
        drop(sender);
        assert_eq!(receiver.iter().filter(|text| text.len() == 6).count(), 12);
    });
}

fn tried() {
    let (sender, receiver) = sync_channel::<Box<u64>>(1);
    let sums = thread::spawn(move || {
        let mut sum = 0;
        loop {
            match receiver.try_recv() {
                Ok(item) => sum += *item,
                Err(TryRecvError::Empty) => thread::yield_now(),
                Err(TryRecvError::Disconnected) => return sum,
            }
        }
    });
    for i in 0..10 {
        let mut item = Box::new(i);
        while let Err(TrySendError::Full(back)) = sender.try_send(item) {
            item = back;
            thread::yield_now();
        }
    }
    drop(sender);
    assert_eq!(sums.join().unwrap(), 45);
}

fn timed() {
    let (sender, receiver) = channel::<Box<u64>>();
    let sums = thread::spawn(move || {
        let mut sum = 0;
        loop {
            match receiver.recv_timeout(Duration::from_micros(200)) {
                Ok(item) => sum += *item,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return sum,
            }
        }
    });
    for i in 0..5 {
        thread::sleep(Duration::from_micros(150));
        sender.send(Box::new(i)).unwrap();
    }
    drop(sender);
    assert_eq!(sums.join().unwrap(), 10);
}

/// What was not received is dropped by whoever comes last.
fn receiver_gone() {
    for bound in [None, Some(2)] {
        let mut threads = Vec::new();
        match bound {
            None => {
                let (sender, receiver) = channel::<Box<u64>>();
                threads.push(thread::spawn(move || {
                    while sender.send(Box::new(1)).is_ok() {
                        thread::yield_now()
                    }
                }));
                threads.push(thread::spawn(move || drop(receiver.recv())));
            }
            Some(bound) => {
                let (sender, receiver) = sync_channel::<Box<u64>>(bound);
                threads.push(thread::spawn(move || {
                    while sender.send(Box::new(1)).is_ok() {
                        thread::yield_now()
                    }
                }));
                threads.push(thread::spawn(move || drop(receiver.recv())));
            }
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
}

fn ping_pong() {
    let (to, from_first) = channel::<Box<u64>>();
    let (back, from_second) = channel::<Box<u64>>();
    let other = thread::spawn(move || {
        for mut ball in from_first {
            *ball += 1;
            back.send(ball).unwrap();
        }
    });
    let mut ball = Box::new(0);
    for _ in 0..10 {
        *ball += 1;
        to.send(ball).unwrap();
        ball = from_second.recv().unwrap();
    }
    assert_eq!(*ball, 20);
    drop(to);
    other.join().unwrap();
}

/// More than fits in one block of the channel's list.
fn many_blocks() {
    let (sender, receiver) = channel::<u64>();
    thread::scope(|scope| {
        for _ in 0..2 {
            let sender = sender.clone();
            scope.spawn(move || (0..100).for_each(|i| sender.send(i).unwrap()));
        }
        drop(sender);
        assert_eq!(receiver.iter().sum::<u64>(), 9900);
    });
}

/// Nothing is ever sent: that there is no sender any more is what is waited for.
fn senders_gone() {
    for i in 0..20 {
        let value = Plain::new(0_u64);
        thread::scope(|scope| {
            let value = &value;
            let write = move || value.set(i);
            let pause = || thread::sleep(Duration::from_millis(i % 4 / 2));
            let read = || value.set(value.get() + 1);
            // The receiver lives on: that the channel is given up by both orders them as well.
            if i % 2 == 0 {
                let (sender, receiver) = channel::<u64>();
                scope.spawn(move || (write(), drop(sender)));
                pause();
                assert!(receiver.recv().is_err());
                read();
            } else {
                let (sender, receiver) = sync_channel::<u64>(3);
                scope.spawn(move || (write(), drop(sender)));
                pause();
                assert!(receiver.recv().is_err());
                read();
            }
        });
        assert_eq!(value.get(), i + 1);
    }
}
