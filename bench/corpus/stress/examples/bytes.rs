//! bytes: buffers that are shared, split, frozen and given back across threads; the last owner may write again.

use std::sync::mpsc;
use std::thread;

use bytes::{Buf, BufMut, Bytes, BytesMut};

fn main() {
    let whole = Bytes::from((0..=255u8).collect::<Vec<_>>());
    thread::scope(|scope| {
        for task in 0..4 {
            let whole = whole.clone();
            scope.spawn(move || {
                for round in 0..30 {
                    let mut part = whole.slice(task * 60..task * 60 + 16);
                    let tail = part.split_off(8);
                    assert_eq!(usize::from(part.get_u8()), task * 60);
                    assert_eq!(usize::from(tail[0]), task * 60 + 8);
                    drop(if round % 2 == 0 { part } else { tail });
                }
            });
        }
    });

    let (sender, receiver) = mpsc::channel::<BytesMut>();
    let (back, returned) = mpsc::channel::<BytesMut>();
    thread::scope(|scope| {
        scope.spawn(move || {
            for mut part in receiver {
                part.put_u8(9);
                back.send(part).unwrap();
            }
        });
        let sender = sender;
        let mut buffer = BytesMut::with_capacity(64);
        for round in 0..50u8 {
            buffer.reserve(16);
            buffer.put_slice(&[round; 8]);
            sender.send(buffer.split()).unwrap();
            if round % 3 == 0 {
                let part = returned.recv().unwrap();
                assert_eq!(part.last(), Some(&9));
                match part.freeze().try_into_mut() {
                    Ok(mut alone) => alone.clear(),
                    Err(shared) => assert!(!shared.is_unique()),
                }
            }
        }
    });

    let promoted = Bytes::from(vec![1u8; 32].into_boxed_slice());
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| (0..20).for_each(|_| assert_eq!(promoted.clone().len(), 32)));
        }
    });
    assert_eq!(Vec::from(promoted).len(), 32);
    println!("done");
}
