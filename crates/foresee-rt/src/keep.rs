//! The flight recorder (`FORESEE_KEEP_LAST`): the file stays as long as it is told, and holds the end of the run.
//!
//! All chunks of threads then have one length and stay mapped. A chunk that its thread has done with is *retired*; when the file
//! has its length, a thread that needs a chunk gets the one that was retired first. What was in it is lost, and with it the
//! meaning of everything older: so the file's header has the *cut*, and what has a smaller key than that is no part of the
//! trace, of any thread.
//!
//! **The cut is a moment of the run.** A thread that retires a chunk takes a stamp `s`: everything in the chunk has a key up to `2s`,
//! what the thread does later (but for a record whose key was taken before) has a larger one. Reusing the chunk first
//! raises the cut to `2s + 1`. Since keys give the order of the run (see the crate's documentation), what is kept is
//! all that happened from some moment on: a real continuation of a real state.
//!
//! **The state at the cut** is not recorded, but follows. Every chunk begins with the calls that its thread is in
//! (`Tag::Frame`), so a reader that begins there knows the functions; which locks are held it sees by their being given
//! back. `foresee_trace::raw`'s `beginning` has the argument. A thread's first chunk in the file begins at or before the
//! cut: its predecessor has been reused.
//!
//! **Whatever kills the process**, the file is valid: the cut is raised before anything is lost, a chunk that is being cleared
//! belongs to nobody, and its new owner is written last.
//!
//! The file is longer than it was told if there are so many threads that each has its chunk and none is retired. Cost: two
//! stores per call of a function, and a look at all chunks (about a thousand) per new chunk; no system call once the
//! file has its length.

use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};

use foresee_format::{CHUNK_HEADER_WORDS, FREE_OWNER, KEY_WORD, MAX_CHUNK, OWNER_WORD, Stop, UNIT};

use crate::buffer::stamp;
use crate::rawfile;

/// How many chunks there can be.
const MOST: usize = 1 << 16;
/// How many chunks the file is divided into, if they are not too long or too short then.
const PARTS: u64 = 1024;

/// How many calls of a thread are known.
const DEEPEST: usize = 1 << 16;
/// How many of them, the innermost, are told at the beginning of a chunk.
const TOLD: usize = 256;

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

/// Keeps only the last `bytes` from now on.
pub(crate) fn last(bytes: u64) {
    LIMIT.store(bytes, SeqCst);
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
    let begins = 2 * stamp() + 1;
    let is_long_enough = (slots().len() as u64 + 1) * len > LIMIT.load(Relaxed);
    if is_long_enough && let Some(chunk) = take_retired() {
        // SAFETY: the chunk is mapped, and nobody else's now.
        unsafe { clear(chunk, owner, len, begins) };
        return Some((chunk, len));
    }
    let slot = COUNT.fetch_add(1, SeqCst);
    if slot >= MOST {
        rawfile::stop(key, Stop::Threads);
        return None;
    }
    let chunk = rawfile::chunk(owner, len, begins, key)?;
    SLOTS[slot].chunk.store(chunk, SeqCst);
    Some((chunk, len))
}

/// The chunk that was retired first; the cut is raised to that.
fn take_retired() -> Option<*mut u64> {
    loop {
        let retired = slots().iter().map(|slot| (slot.state.load(SeqCst), slot));
        let (key, slot) = retired.filter(|&(key, _)| key != TAKEN).min_by_key(|&(key, _)| key)?;
        if slot.state.compare_exchange(key, TAKEN, SeqCst, SeqCst).is_ok() {
            rawfile::raise_cut(key);
            return Some(slot.chunk.load(SeqCst));
        }
    }
}

/// Makes a chunk one of this owner, with nothing in it.
///
/// SAFETY of the uses: the chunk is mapped, and nobody else's.
unsafe fn clear(chunk: *mut u64, owner: u64, len: u64, begins: u64) {
    // SAFETY: the first words are the chunk's header, the rest is its body.
    unsafe {
        AtomicU64::from_ptr(chunk.add(OWNER_WORD)).store(FREE_OWNER, SeqCst);
        let body = chunk.add(CHUNK_HEADER_WORDS);
        body.write_bytes(0, len as usize / 8 - CHUNK_HEADER_WORDS);
        chunk.add(KEY_WORD).write(begins);
        AtomicU64::from_ptr(chunk.add(OWNER_WORD)).store(owner, SeqCst);
    }
}

/// A thread has done with its chunk.
pub(crate) fn retire(chunk: *mut u64) {
    let key = 2 * stamp() + 1;
    if let Some(slot) = slots().iter().find(|slot| slot.chunk.load(SeqCst) == chunk) {
        slot.state.store(key, SeqCst);
    }
}

/// Gives up all chunks: they are of the trace of another process.
pub(crate) fn forget() {
    let len = chunk_len() as usize;
    for slot in slots() {
        let chunk = slot.chunk.swap(std::ptr::null_mut(), SeqCst);
        slot.state.store(TAKEN, SeqCst);
        if !chunk.is_null() {
            // SAFETY: nobody uses it in this process.
            unsafe { libc::munmap(chunk.cast(), len) };
        }
    }
    COUNT.store(0, SeqCst);
}

/// The calls that a thread is in, where they are known: call and callee by depth. Null until the first one.
#[derive(Clone, Copy)]
pub(crate) struct Frames(*mut [u64; 2]);

impl Frames {
    pub(crate) const NONE: Frames = Frames(std::ptr::null_mut());

    /// Notes the call at this depth; the calls with it.
    #[inline(always)]
    pub(crate) fn note(self, depth: u32, frame: [u64; 2]) -> Frames {
        let frames = if self.0.is_null() { Frames::new() } else { self };
        if !frames.0.is_null() && (depth as usize) < DEEPEST {
            // SAFETY: there is room for that many, and only this thread uses it.
            unsafe { frames.0.add(depth as usize).write(frame) };
        }
        frames
    }

    #[cold]
    #[inline(never)]
    fn new() -> Frames {
        // SAFETY: memory of its own; what is not used takes no room.
        let at = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            let errno = *libc::__errno_location();
            let len = DEEPEST * size_of::<[u64; 2]>();
            let at = libc::mmap(std::ptr::null_mut(), len, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            *libc::__errno_location() = errno;
            at
        };
        if at == libc::MAP_FAILED { Frames::NONE } else { Frames(at.cast()) }
    }

    /// The innermost calls of those at smaller depths, outermost first; `None` if they are not known.
    pub(crate) fn innermost(self, depth: u32) -> Option<&'static [[u64; 2]]> {
        let depth = depth as usize;
        if depth == 0 {
            return Some(&[]);
        }
        if self.0.is_null() || depth > DEEPEST {
            return None;
        }
        // SAFETY: all calls up to this depth were noted, and are not changed while the thread is in the runtime.
        Some(unsafe { &std::slice::from_raw_parts(self.0, depth)[depth.saturating_sub(TOLD)..] })
    }

    /// Gives the memory back: the thread has ended.
    pub(crate) fn drop(self) {
        if !self.0.is_null() {
            // SAFETY: this is how it was mapped, and nobody uses it any more.
            unsafe { libc::munmap(self.0.cast(), DEEPEST * size_of::<[u64; 2]>()) };
        }
    }
}
