//! Memory for the places that a thread knows ([`WrittenPlaces`]).
//!
//! A table is taken with a thread's first chunk and given back when the thread ends. A few wait for the next thread, each in a slot that is
//! emptied and filled by one atomic operation: so threads that come and go need no system call for them. They are not thread-locals, which would take
//! their room from each thread's stack, recorded or not.

use std::sync::atomic::{AtomicPtr, Ordering::SeqCst};

use foresee_format::places::WrittenPlaces;

const SLOTS: usize = 64;

static WAITING: [AtomicPtr<WrittenPlaces>; SLOTS] = [const { AtomicPtr::new(std::ptr::null_mut()) }; SLOTS];

/// A table that knows no places, and is the caller's alone; null if there is no memory.
pub(super) fn take() -> *const WrittenPlaces {
    let waiting =
        WAITING.iter().map(|slot| slot.swap(std::ptr::null_mut(), SeqCst)).find(|table| !table.is_null());
    waiting.unwrap_or_else(map)
}

fn map() -> *mut WrittenPlaces {
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing that exists. It is zeroes, which is a table without places.
    let at =
        unsafe { libc::mmap(std::ptr::null_mut(), size_of::<WrittenPlaces>(), protection, flags, -1, 0) };
    if at == libc::MAP_FAILED { std::ptr::null_mut() } else { at.cast() }
}

/// Gives back a table from `take`, which knows no places any more.
///
/// # Safety
/// Nobody uses it from now on.
pub(super) unsafe fn give_back(table: *const WrittenPlaces) {
    let table = table.cast_mut();
    let free = std::ptr::null_mut();
    let waits = |slot: &AtomicPtr<WrittenPlaces>| slot.compare_exchange(free, table, SeqCst, SeqCst).is_ok();
    if !table.is_null() && !WAITING.iter().any(waits) {
        // SAFETY: `map` has mapped so much there, and the caller vouches that nobody uses it.
        unsafe { libc::munmap(table.cast(), size_of::<WrittenPlaces>()) };
    }
}
