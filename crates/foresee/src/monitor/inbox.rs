//! How a thread with instances of its own learns that another thread has released an address.

use std::collections::BTreeSet;
use std::prelude::rust_2024::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::thread::thread_number;

/// Addresses that other threads have released.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    has_mail: AtomicBool,
    released: Mutex<BTreeSet<u64>>,
}

static INBOXES: Mutex<Vec<(u64, Weak<Inbox>)>> = Mutex::new(Vec::new());

impl Inbox {
    /// A new one, of this thread.
    pub(super) fn open() -> Arc<Inbox> {
        let inbox = Arc::new(Inbox::default());
        let mut all = lock(&INBOXES);
        all.retain(|(_, inbox)| inbox.strong_count() > 0);
        all.push((thread_number(), Arc::downgrade(&inbox)));
        inbox
    }

    #[inline]
    pub(super) fn has_mail(&self) -> bool {
        self.has_mail.load(Ordering::Acquire)
    }

    /// Takes what is in it.
    pub(super) fn take(&self) -> BTreeSet<u64> {
        let mut released = lock(&self.released);
        self.has_mail.store(false, Ordering::Relaxed);
        std::mem::take(&mut *released)
    }
}

/// Lets the other threads know that this address is free.
pub(super) fn announce_release(address: u64) {
    let me = thread_number();
    for (thread, inbox) in lock(&INBOXES).iter() {
        if let Some(inbox) = inbox.upgrade().filter(|_| *thread != me) {
            lock(&inbox.released).insert(address);
            inbox.has_mail.store(true, Ordering::Release);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
