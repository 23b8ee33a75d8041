//! Rests of chunks, from threads that ended to threads that begin.
//!
//! A chunk is much longer than what a short-lived thread records, and taking one is three system calls. So a thread that ends
//! cuts its chunk where its records end, and leaves the rest, mapped as it is, to the next thread that begins. It is too short
//! to be that thread's home, and must come before it in the file: it is, being older.
//!
//! While a rest waits, its first word is zero, as if nobody had ever wanted it; the words after that, which a reader passes over,
//! say how long it is and where its mapping begins. Waiting rests are found in a few slots, each taken and filled by one atomic
//! operation; with all slots full, a rest is given up.

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering::SeqCst};

use foresee_format::{CHUNK_HEADER_WORDS, LEN_WORD, OWNER_WORD};

use crate::rawfile;

/// A shorter rest is of no use to anybody.
const SHORTEST: u64 = 512;
const SLOTS: usize = 64;

static WAITING: [AtomicPtr<u64>; SLOTS] = [const { AtomicPtr::new(std::ptr::null_mut()) }; SLOTS];

/// A chunk, which ends where its mapping does.
pub(crate) struct Rest {
    pub(crate) mapping: *mut u64,
    pub(crate) chunk: *mut u64,
    pub(crate) len: u64,
}

impl Rest {
    /// Gives the memory back.
    ///
    /// SAFETY of the uses: nobody uses the chunk, nor what is before it in the mapping.
    pub(crate) unsafe fn unmap(self) {
        let len = self.chunk as usize - self.mapping as usize + self.len as usize;
        // SAFETY: this is how it was mapped.
        unsafe { libc::munmap(self.mapping.cast(), len) };
    }

    /// Takes what waits in a slot.
    fn waiting(slot: &AtomicPtr<u64>) -> Option<Rest> {
        let chunk = slot.swap(std::ptr::null_mut(), SeqCst);
        // SAFETY: a rest that waits is mapped, and now nobody else's. Its first words were written by `leave`.
        unsafe {
            let mapping = chunk.as_ref().map(|_| chunk.add(OWNER_WORD).read() as *mut u64)?;
            Some(Rest { mapping, chunk, len: chunk.add(LEN_WORD).read() })
        }
    }
}

/// Cuts `chunk` to the bytes that are used, and has the rest wait for another thread; whether there is a place to wait.
///
/// SAFETY of the uses: the chunk is mapped, nobody else's, and `rest` is what follows its first `used` bytes.
pub(crate) unsafe fn leave(chunk: *mut u64, used: u64, rest: Rest) -> bool {
    if rest.len < SHORTEST {
        return false;
    }
    // SAFETY: a rest of that length has these words. The chunk is cut first: until then they are its own, and zero for it.
    unsafe {
        AtomicU64::from_ptr(chunk.add(LEN_WORD)).store(used, SeqCst);
        rest.chunk.add(OWNER_WORD).write(rest.mapping as u64);
        rest.chunk.add(LEN_WORD).write(rest.len);
    }
    let free = std::ptr::null_mut();
    WAITING.iter().any(|slot| slot.compare_exchange(free, rest.chunk, SeqCst, SeqCst).is_ok())
}

/// A rest for a thread that has no chunk yet.
pub(crate) fn take(owner: u64) -> Option<Rest> {
    let rest = WAITING.iter().find_map(Rest::waiting)?;
    // SAFETY: the rest is mapped, and nobody else's.
    unsafe { rawfile::give(rest.chunk, owner, rest.len) };
    Some(rest)
}

/// Gives up all rests: they are of the trace of another process.
pub(crate) fn forget() {
    for rest in WAITING.iter().filter_map(Rest::waiting) {
        // SAFETY: nobody uses it in this process.
        unsafe { rest.unmap() };
    }
}

const _: () = assert!(SHORTEST > 8 * CHUNK_HEADER_WORDS as u64);
