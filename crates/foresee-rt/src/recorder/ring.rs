//! The flight recorder (`FORESEE_KEEP_LAST`): the file keeps the length it is given, and holds the end of the run.
//!
//! All chunks of threads then have one length and stay mapped. A chunk that its thread has finished is *retired*. When the file
//! has its full length, a thread that needs a chunk gets the one that was retired first. What was in it is lost, and with it the
//! meaning of everything older. So the file's header has the *cut*: what has a smaller key is no part of the trace, of any thread.
//!
//! **The cut is a moment of the run.** A thread that retires a chunk takes a stamp `s`: everything in the chunk has a key up to `2s`,
//! what the thread does later (but for a record whose key was taken before) has a larger one. Reusing the chunk first
//! raises the cut to `2s + 1`. Since keys give the order of the run (see the crate's documentation), what is kept is
//! all that happened from some moment on: a real continuation of a real state.
//!
//! **The state at the cut** is not recorded, but follows. Every chunk begins with the calls that its thread is in
//! (`Tag::Frame`), so a reader that begins there knows the functions; it knows which locks are held from their being
//! released. The reader of raw traces has the argument (`foresee_trace`, `raw/beginning.rs`). A thread's first chunk in the
//! file begins at or before the cut: its predecessor has been reused.
//!
//! **Whatever kills the process**, the file is valid: the cut is raised before anything is lost, a chunk that is being cleared
//! belongs to nobody, and its new owner is written last.
//!
//! The file becomes longer than it should if there are so many threads that each has its chunk and none is retired. The cost is two
//! stores per call of a function, and a look at all chunks (about a thousand) per new chunk; there is no system call once the
//! file has its length.

use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};

use foresee_format::{CHUNK_HEADER_WORDS, FREE_OWNER, KEY_WORD, MAX_CHUNK, OWNER_WORD, Stop, UNIT};

use super::order::stamped_key;
use super::trace_file;
use crate::environment;

/// How many chunks there can be.
const MOST: usize = 1 << 16;
/// How many chunks the file is divided into, if they are not too long or too short then.
const PARTS: u64 = 1024;

/// A chunk and what it is: taken by a thread, or retired at this key.
struct Slot {
    chunk: AtomicPtr<u64>,
    state: AtomicU64,
}

const TAKEN: u64 = 0;

static SLOTS: [Slot; MOST] =
    [const { Slot { chunk: AtomicPtr::new(std::ptr::null_mut()), state: AtomicU64::new(TAKEN) } }; MOST];
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// How long the file becomes; 0 if everything is kept.
static LIMIT: AtomicU64 = AtomicU64::new(0);

/// Reads how long the file is to become.
pub(crate) fn start() {
    LIMIT.store(environment::number(c"FORESEE_KEEP_LAST").unwrap_or(0), SeqCst);
}

/// Whether only the end of the run is kept.
#[inline(always)]
pub(crate) fn is_on() -> bool {
    LIMIT.load(Relaxed) != 0
}

/// How long each chunk is.
fn chunk_len() -> u64 {
    (LIMIT.load(Relaxed) / PARTS).next_multiple_of(UNIT).clamp(UNIT, MAX_CHUNK)
}

fn slots() -> &'static [Slot] {
    &SLOTS[..COUNT.load(SeqCst).min(MOST)]
}

/// A chunk for this thread, which needs it for a record of this key, and its length; `None` if there is none to be had, which
/// ends the recording.
pub(crate) fn chunk(owner: u64, key: u64) -> Option<(*mut u64, u64)> {
    let len = chunk_len();
    let begins = stamped_key(0);
    let is_long_enough = (slots().len() as u64 + 1) * len > LIMIT.load(Relaxed);
    if is_long_enough && let Some(chunk) = take_retired() {
        // SAFETY: chunks of the ring stay mapped and have this length; `take_retired` gave this one to this thread alone.
        unsafe { clear(chunk, owner, len, begins) };
        return Some((chunk, len));
    }
    let slot = COUNT.fetch_add(1, SeqCst);
    if slot >= MOST {
        trace_file::stop(key, Stop::Threads);
        return None;
    }
    let chunk = trace_file::chunk(owner, len, begins, key)?;
    SLOTS[slot].chunk.store(chunk, SeqCst);
    Some((chunk, len))
}

/// The chunk that was retired first; the cut is raised to that.
fn take_retired() -> Option<*mut u64> {
    loop {
        let retired = slots().iter().map(|slot| (slot.state.load(SeqCst), slot));
        let (key, slot) = retired.filter(|&(key, _)| key != TAKEN).min_by_key(|&(key, _)| key)?;
        if slot.state.compare_exchange(key, TAKEN, SeqCst, SeqCst).is_ok() {
            trace_file::raise_cut(key);
            return Some(slot.chunk.load(SeqCst));
        }
    }
}

/// Makes a chunk one of this owner, with nothing in it.
///
/// # Safety
/// The chunk has `len` mapped bytes, and belongs to the caller alone.
unsafe fn clear(chunk: *mut u64, owner: u64, len: u64, begins: u64) {
    // SAFETY: the caller's chunk consists of its header and then its body, and `len` covers both.
    unsafe {
        AtomicU64::from_ptr(chunk.add(OWNER_WORD)).store(FREE_OWNER, SeqCst);
        let body = chunk.add(CHUNK_HEADER_WORDS);
        body.write_bytes(0, len as usize / 8 - CHUNK_HEADER_WORDS);
        chunk.add(KEY_WORD).write(begins);
        AtomicU64::from_ptr(chunk.add(OWNER_WORD)).store(owner, SeqCst);
    }
}

/// A thread has finished its chunk.
pub(crate) fn retire(chunk: *mut u64) {
    let key = stamped_key(0);
    if let Some(slot) = slots().iter().find(|slot| slot.chunk.load(SeqCst) == chunk) {
        slot.state.store(key, SeqCst);
    }
}

/// Gives up all chunks: they belong to the trace of another process.
pub(crate) fn forget() {
    let len = chunk_len() as usize;
    for slot in slots() {
        let chunk = slot.chunk.swap(std::ptr::null_mut(), SeqCst);
        slot.state.store(TAKEN, SeqCst);
        if !chunk.is_null() {
            // SAFETY: this is how long it was mapped; the threads that used it are not in this process, and its one thread has
            // dropped its own.
            unsafe { libc::munmap(chunk.cast(), len) };
        }
    }
    COUNT.store(0, SeqCst);
}
