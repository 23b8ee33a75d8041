//! Which thread of the trace has which handle (`pthread_t`).

use std::ffi::CStr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};

use foresee_format::{MAX_THREADS, NAME_LEN};
use libc::{c_char, pthread_t};

use super::thread::always;
use super::{status, trace_file};
use crate::knowledge;

/// The handle of each thread, by the thread's number. A handle may be used again: the last thread that has it counts.
static HANDLES: [AtomicU64; MAX_THREADS as usize] = [const { AtomicU64::new(0) }; MAX_THREADS as usize];
static NEWEST: AtomicU32 = AtomicU32::new(0);

/// Notes the handle of a thread.
pub(crate) fn note(thread: u32, handle: pthread_t) {
    if let Some(slot) = HANDLES.get(thread as usize) {
        slot.store(handle, SeqCst);
        raise(&NEWEST, thread);
    }
}

/// Notes the handle of the calling thread.
pub(crate) fn note_own(thread: u32) {
    note(thread, own());
}

fn own() -> pthread_t {
    // SAFETY: has no preconditions.
    unsafe { libc::pthread_self() }
}

/// Not by `fetch_max`: a program in which that is found is doubted, as compilers do not instrument it.
fn raise(number: &AtomicU32, to: u32) {
    let mut known = number.load(SeqCst);
    while known < to
        && let Err(now) = number.compare_exchange_weak(known, to, SeqCst, SeqCst)
    {
        known = now;
    }
}

/// The thread with this handle.
pub(crate) fn thread_of(handle: pthread_t) -> Option<u32> {
    let newest = NEWEST.load(SeqCst);
    (0..=newest)
        .rev()
        .find(|&thread| HANDLES.get(thread as usize).is_some_and(|slot| slot.load(SeqCst) == handle))
}

/// Forgets all handles: in the child of a fork there are no other threads.
pub(crate) fn forget() {
    for slot in HANDLES.iter().take(NEWEST.swap(0, SeqCst) as usize + 1) {
        slot.store(0, SeqCst);
    }
}

/// Names a thread in the trace.
///
/// # Safety
/// The name is null, or ends in a zero byte.
pub(crate) unsafe fn name(handle: pthread_t, name: *const c_char) {
    if let Some(thread) = thread_of(handle)
        && !name.is_null()
    {
        // SAFETY: it is not null, so it ends in a zero byte, as the caller vouches.
        let name = unsafe { CStr::from_ptr(name) }.to_bytes();
        trace_file::name_thread(thread, name);
        if status::monitored() {
            always(|_| knowledge::name(thread, &name[..name.len().min(NAME_LEN as usize)]));
        }
    }
}

/// Names the calling thread in the trace.
///
/// # Safety
/// The name is null, or ends in a zero byte.
pub(crate) unsafe fn name_own(text: *const c_char) {
    // SAFETY: the caller vouches for the name.
    unsafe { name(own(), text) };
}
