//! Which thread of the trace has which handle (`pthread_t`).
//!
//! A table from handles to threads: as handles are used again, it does not grow with the threads that come and go. It is a hash table without locks, from which
//! nothing is taken out; a program that fills it has had stacks at so many addresses, and recording stops. A handle is an address in the thread's stack, and neighbours' handles are close to each other in it: a program with few threads touches few pages of
//! the table.

use std::ffi::CStr;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use foresee_format::{NAME_LEN, Stop};
use libc::{c_char, pthread_t};

use super::thread::always;
use super::{order, status, trace_file};
use crate::monitors;

/// A handle, 0 if none is here, and the last thread that has had it.
struct Slot {
    handle: AtomicU64,
    thread: AtomicU64,
}

/// Far more than there can be threads at a time.
const SLOTS: usize = 1 << 21;
static TABLE: [Slot; SLOTS] =
    [const { Slot { handle: AtomicU64::new(0), thread: AtomicU64::new(NOBODY) } }; SLOTS];

/// The thread of a slot that was just taken.
const NOBODY: u64 = 0;
/// Of a thread in the table: in the upper half the process, counted by forks, and in the lower half its number and one.
static PROCESS: AtomicU64 = AtomicU64::new(0);
const PROCESS_SHIFT: u32 = 32;

/// The smallest stacks are about so far apart.
const STACK_SHIFT: u32 = 16;

/// Where a handle is, if it is anywhere, or would be next: its slots in the order in which they are tried.
fn slots(handle: pthread_t) -> impl Iterator<Item = &'static Slot> {
    let first = (handle >> STACK_SHIFT) as usize;
    (0..SLOTS).map(move |step| &TABLE[first.wrapping_add(step) % SLOTS])
}

/// Notes the handle of a thread. Of two threads that have had it the later one counts, whoever notes it last.
pub(crate) fn note(thread: u32, handle: pthread_t) {
    let is_its = |slot: &&Slot| match slot.handle.compare_exchange(0, handle, SeqCst, SeqCst) {
        Ok(_) => true,
        Err(there) => there == handle,
    };
    match slots(handle).find(is_its) {
        Some(slot) => raise(&slot.thread, PROCESS.load(SeqCst) << PROCESS_SHIFT | (u64::from(thread) + 1)),
        None => trace_file::stop(order::now(), Stop::Threads),
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
fn raise(number: &AtomicU64, to: u64) {
    let mut known = number.load(SeqCst);
    while known < to
        && let Err(now) = number.compare_exchange_weak(known, to, SeqCst, SeqCst)
    {
        known = now;
    }
}

/// The thread with this handle.
pub(crate) fn thread_of(handle: pthread_t) -> Option<u32> {
    let used =
        slots(handle).map(|slot| (slot.handle.load(SeqCst), slot)).take_while(|&(there, _)| there != 0);
    let known =
        used.filter(|&(there, _)| there == handle).map(|(_, slot)| slot.thread.load(SeqCst)).next()?;
    let is_of_this_process = known != NOBODY && known >> PROCESS_SHIFT == PROCESS.load(SeqCst);
    is_of_this_process.then(|| known as u32 - 1)
}

/// Forgets all threads: in the child of a fork there are no others.
pub(crate) fn forget() {
    PROCESS.fetch_add(1, SeqCst);
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
            always(|_| monitors::name(thread, &name[..name.len().min(NAME_LEN as usize)]));
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
