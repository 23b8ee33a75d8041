//! Attempts to take a lock that fail, on which what follows depends.

use std::sync::{Mutex, RwLock};
use std::thread;
use std::time::Duration;

use newest_parking_lot as parking_lot;

use crate::{Plain, Program};

pub(crate) const ALL: &[Program] = &[
    ("mutex", mutex),
    ("reader", reader),
    ("writer", writer),
    ("parking_mutex", parking_mutex),
    ("parking_timed", parking_timed),
    ("parking_upgrade", parking_upgrade),
    ("spin_mutex", spin_mutex),
    ("spin_reader", spin_reader),
];

/// While the gate is closed, which the worker finds out under a lock, the value is the worker's. It is opened under the lock, once; from
/// then on the value belongs to who has done so.
fn behind<G>(close: impl FnOnce() -> G, is_closed: impl Fn() -> bool + Send) {
    let (lock, value) = (Mutex::new(()), Plain::new(0_u64));
    let gate = close();
    thread::scope(|scope| {
        let (lock, value) = (&lock, &value);
        scope.spawn(move || {
            for _ in 0..3 {
                let _held = lock.lock().unwrap();
                if is_closed() {
                    value.set(value.get() + 1);
                }
            }
        });
        thread::sleep(Duration::from_millis(10));
        {
            let _held = lock.lock().unwrap();
            drop(gate);
        }
        value.set(value.get() + 1);
    });
}

fn mutex() {
    let gate = Mutex::new(());
    behind(|| gate.lock(), || gate.try_lock().is_err());
}

fn reader() {
    let gate = RwLock::new(());
    behind(|| gate.write(), || gate.try_read().is_err());
}

fn writer() {
    let gate = RwLock::new(());
    behind(|| gate.read(), || gate.try_write().is_err());
}

fn parking_mutex() {
    let gate = parking_lot::Mutex::new(());
    behind(|| gate.lock(), || gate.try_lock().is_none());
}

fn parking_timed() {
    let gate = parking_lot::RwLock::new(());
    behind(|| gate.read(), || gate.try_write_for(Duration::from_micros(20)).is_none());
}

fn parking_upgrade() {
    let gate = parking_lot::RwLock::new(());
    behind(
        || gate.read(),
        || parking_lot::RwLockUpgradableReadGuard::try_upgrade(gate.upgradable_read()).is_err(),
    );
}

fn spin_mutex() {
    let gate = spin::Mutex::new(());
    behind(|| gate.lock(), || gate.try_lock().is_none());
}

fn spin_reader() {
    let gate = spin::RwLock::new(());
    behind(|| gate.write(), || gate.try_read().is_none());
}
