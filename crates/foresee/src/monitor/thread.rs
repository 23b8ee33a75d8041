//! The thread that calls.

use std::cell::Cell;
use std::prelude::rust_2024::*;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{format, thread_local};

/// Its number, from 1, in the order in which threads first asked.
#[inline]
pub(super) fn thread_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static NUMBER: Cell<u64> = const { Cell::new(0) };
    }
    NUMBER.with(|number| {
        if number.get() == 0 {
            number.set(NEXT.fetch_add(1, Ordering::Relaxed));
        }
        number.get()
    })
}

/// Its name, or its number.
pub(crate) fn thread_name() -> String {
    let current = std::thread::current();
    current.name().map_or_else(|| format!("thread {}", thread_number()), ToOwned::to_owned)
}
