//! Hand-over as in RCU: old versions are freed when no reader can have them, by crossbeam-epoch and by arc-swap. Nothing may be
//! reported. With any argument, the pointer is published and taken without order, and the race must be found.

use arc_swap::ArcSwap;
use crossbeam_epoch::{self as epoch, Atomic, Owned};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
fn main() {
    let broken = std::env::args().nth(1).is_some();
    let (publish, take) =
        if broken { (Ordering::Relaxed, Ordering::Relaxed) } else { (Ordering::AcqRel, Ordering::Acquire) };
    let head = Arc::new(Atomic::new(vec![0u64; 4]));
    let readers: Vec<_> = (0..2)
        .map(|_| {
            let head = head.clone();
            thread::spawn(move || {
                for _ in 0..40 {
                    let guard = epoch::pin();
                    let now = unsafe { head.load(take, &guard).deref() };
                    assert!(now.iter().all(|x| *x == now[0]));
                    thread::yield_now();
                }
            })
        })
        .collect();
    let writer = {
        let head = head.clone();
        thread::spawn(move || {
            for i in 1..40u64 {
                let guard = epoch::pin();
                let old = head.swap(Owned::new(vec![i; 4]), publish, &guard);
                unsafe { guard.defer_destroy(old) };
                thread::yield_now();
            }
        })
    };
    for r in readers {
        r.join().unwrap();
    }
    writer.join().unwrap();
    unsafe {
        drop(Arc::try_unwrap(head).unwrap_or_else(|_| panic!()).into_owned());
    }
    let shared = Arc::new(ArcSwap::from_pointee(vec![0u64; 4]));
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                for _ in 0..40 {
                    let now = shared.load();
                    assert!(now.iter().all(|x| *x == now[0]));
                    let full = shared.load_full();
                    assert!(full[0] >= now[0]);
                }
            });
        }
        s.spawn(|| {
            for i in 1..40u64 {
                shared.store(Arc::new(vec![i; 4]));
            }
        });
        s.spawn(|| {
            for _ in 0..10 {
                shared.rcu(|v| v.to_vec());
            }
        });
    });
    println!("done");
}
