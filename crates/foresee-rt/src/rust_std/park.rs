//! `thread::park`.
//!
//! `unpark` is compiled into the user's crate: a release exchange of the state word of the other thread's parker. The
//! acquire at the other end is in `park`, unseen; it is recorded when that returns. Both are recorded at the word's address
//! plus [`SYNC_SPACE`] (the reader moves the exchange there): the library owns that memory, and counts its references unseen.
//!
//! **Where the word is.** It lies somewhere in what a thread's handle (`thread::current()`) points to: an `Arc` with the
//! thread's name, number and parker. How far in, a thread of our own finds out: it knows that nobody else unparks
//! it, so for one word after the other that is 0, empty, it writes 1, a token, and parks for a moment: if the word is
//! 0 again the token was taken from there. The program's own tokens are left alone.
//!
//! Each thread that parks keeps one reference to its handle for good: so the address stays its own.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};

use foresee_format::{SYNC_SPACE, Tag};
use libc::{c_int, c_void, pthread_t, sigset_t};

use super::parts::{is_part, within};
use super::unseen_atomics::{ACQUIRE, Width, update};
use crate::entry_points::entries;
use crate::real_functions::{Real, call_real, is_connected, std_functions};
use crate::recorder::atomics::tell_monitors_of_update;
use crate::recorder::locks::Until;
use crate::recorder::status;
use crate::recorder::thread::{plain, silence};

std_functions! {
    foresee_real_park();
    foresee_real_park_timeout(seconds: u64, nanos: u32);
    foresee_real_park_timeout_ms(milliseconds: u32);
    foresee_real_thread_park(thread: *mut c_void);
    foresee_real_thread_park_timeout(thread: *mut c_void, seconds: u64, nanos: u32);
    foresee_real_thread_current() -> u64;
}

/// How far into what a handle points to the parker's word is; 0 before anybody has looked.
static OFFSET: AtomicU64 = AtomicU64::new(0);
/// Nobody knows, and nobody will.
const NOWHERE: u64 = u64::MAX;

thread_local! {
    /// The address of this thread's word, once it is needed.
    static WORD: Cell<u64> = const { Cell::new(0) };
}

/// Parks by `real`, and records that this thread has seen what was done before it was unparked; before, that it waits for that, if nothing else can end it.
fn parks(pc: u64, until: Until, real: impl FnOnce()) {
    if until == Until::Notified
        && status::recording()
        && !is_part()
        && let (Some(word), _) = within(word)
    {
        plain(Tag::Blocked, 0, [pc, word | SYNC_SPACE]);
    }
    let ((), part) = within(real);
    if part || !status::recording() {
        return;
    }
    // What looks for the word parks, too.
    let (word, _) = within(word);
    if let Some(word) = word {
        update(word | SYNC_SPACE, Width::U32, ACQUIRE, pc);
        // Monitors know the exchange of `unpark` at the word itself.
        tell_monitors_of_update(word, Width::U32 as u8, pc);
    }
}

fn word() -> Option<u64> {
    if WORD.get() == 0 {
        let offset = match OFFSET.load(SeqCst) {
            0 => {
                let found = look().unwrap_or(NOWHERE);
                OFFSET.store(found, SeqCst);
                found
            }
            known => known,
        };
        let word = if offset == NOWHERE {
            NOWHERE
        } else {
            // SAFETY: `look` has seen that the function is connected; the thread has just parked, so it has a handle.
            unsafe { foresee_real_thread_current() + offset }
        };
        WORD.set(word);
    }
    Some(WORD.get()).filter(|&word| word != NOWHERE)
}

/// Looks for the word in a thread of our own, which gets no signals.
fn look() -> Option<u64> {
    static CREATE: Real = Real::new(c"pthread_create");
    static JOIN: Real = Real::new(c"pthread_join");
    type Routine = extern "C" fn(*mut c_void) -> *mut c_void;
    let current = foresee_real_thread_current as *const u16;
    let park_timeout = foresee_real_park_timeout as *const u16;
    if !is_connected(current) || !is_connected(park_timeout) {
        return None;
    }
    // SAFETY: the signatures are those of the C library's functions; signal sets are C structures of numbers, for which zeroes are
    // valid, and all that is pointed to outlives the calls.
    unsafe {
        let (mut all, mut before): (sigset_t, sigset_t) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        let mut thread: pthread_t = 0;
        let made = call_real!(
            CREATE,
            (*mut pthread_t, *const c_void, Routine, *mut c_void) -> c_int,
            &mut thread, std::ptr::null(), looker, std::ptr::null_mut()
        );
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        let mut found = std::ptr::null_mut();
        if made != 0 {
            return None;
        }
        call_real!(JOIN, (pthread_t, *mut *mut c_void) -> c_int, thread, &mut found);
        Some(found as u64).filter(|&offset| offset != 0)
    }
}

extern "C" fn looker(_: *mut c_void) -> *mut c_void {
    /// The counts of references come before all else.
    const COUNTS: usize = 16;
    /// More than a handle can point to.
    const TOO_LARGE: usize = 256;
    const EMPTY: u32 = 0;
    const TOKEN: u32 = 1;
    silence();
    // SAFETY: `look` has seen that both functions are connected. The handle is never given back, so what it points to lives; it is a
    // block of the allocator, whose size is known. Nobody else knows this thread, so nobody else uses the words that are
    // changed for a moment.
    unsafe {
        let handle = foresee_real_thread_current() as usize;
        let size = libc::malloc_usable_size(handle as *mut c_void);
        if size >= TOO_LARGE {
            return std::ptr::null_mut();
        }
        let is_word = |&offset: &usize| {
            let word = AtomicU32::from_ptr((handle + offset) as *mut u32);
            if word.compare_exchange(EMPTY, TOKEN, SeqCst, SeqCst).is_err() {
                return false;
            }
            foresee_real_park_timeout(0, 1);
            word.swap(EMPTY, SeqCst) == EMPTY
        };
        let offsets = (COUNTS..size.saturating_sub(3)).step_by(4);
        offsets.clone().find(is_word).unwrap_or(0) as *mut c_void
    }
}

extern "C-unwind" fn park(pc: u64) {
    // SAFETY: calls the library's function with its caller's own arguments, and its signature.
    parks(pc, Until::Notified, || unsafe { foresee_real_park() });
}

extern "C-unwind" fn park_timeout(seconds: u64, nanos: u32, pc: u64) {
    // SAFETY: calls the library's function with its caller's own arguments, and its signature.
    parks(pc, Until::SomeTime, || unsafe { foresee_real_park_timeout(seconds, nanos) });
}

extern "C-unwind" fn park_timeout_ms(milliseconds: u32, pc: u64) {
    // SAFETY: calls the library's function with its caller's own arguments, and its signature.
    parks(pc, Until::SomeTime, || unsafe { foresee_real_park_timeout_ms(milliseconds) });
}

extern "C-unwind" fn thread_park(thread: *mut c_void, pc: u64) {
    // SAFETY: calls the library's function with its caller's own arguments, and its signature.
    parks(pc, Until::Notified, || unsafe { foresee_real_thread_park(thread) });
}

extern "C-unwind" fn thread_park_timeout(thread: *mut c_void, seconds: u64, nanos: u32, pc: u64) {
    // SAFETY: calls the library's function with its caller's own arguments, and its signature.
    parks(pc, Until::SomeTime, || unsafe { foresee_real_thread_park_timeout(thread, seconds, nanos) });
}

entries! {
    foresee_std_park => park, "rdi";
    foresee_std_park_timeout => park_timeout, "rdx";
    foresee_std_park_timeout_ms => park_timeout_ms, "rsi";
    foresee_std_thread_park => thread_park, "rsi";
    foresee_std_thread_park_timeout => thread_park_timeout, "rcx";
}
