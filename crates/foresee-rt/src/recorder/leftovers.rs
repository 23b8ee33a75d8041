//! Leftover ends of chunks, from threads that ended to threads that begin.
//!
//! A chunk is much longer than what a short-lived thread records, and taking one is three system calls. So a thread that ends
//! cuts its chunk where its records end, and leaves the rest, mapped as it is, to the next thread that begins. A leftover is too
//! short to be that thread's home, and must come before it in the file: it does, being older.
//!
//! While a leftover waits, its first word is zero, as if it had never been wanted; the words after that, which a reader passes
//! over, say how long it is and where its mapping begins. A few slots hold those that wait, each taken and filled by one atomic
//! operation; when all slots are full, a leftover is given up.

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering::SeqCst};

use foresee_format::{CHUNK_HEADER_WORDS, LEN_WORD, OWNER_WORD};

use super::trace_file;

/// Shorter ones are of no use to anybody.
const SHORTEST: u64 = 512;
const SLOTS: usize = 64;

static WAITING: [AtomicPtr<u64>; SLOTS] = [const { AtomicPtr::new(std::ptr::null_mut()) }; SLOTS];

/// A chunk, which ends where its mapping does.
pub(crate) struct MappedChunk {
    pub(crate) mapping: *mut u64,
    pub(crate) chunk: *mut u64,
    pub(crate) len: u64,
}

impl MappedChunk {
    /// Gives the memory back.
    ///
    /// # Safety
    /// Nobody uses the chunk, nor what is before it in the mapping.
    pub(crate) unsafe fn unmap(self) {
        let len = self.chunk as usize - self.mapping as usize + self.len as usize;
        // SAFETY: the range is the whole mapping, from its start to the end of the chunk, and the caller vouches that nobody uses it.
        unsafe { libc::munmap(self.mapping.cast(), len) };
    }

    /// Takes what waits in a slot.
    fn waiting(slot: &AtomicPtr<u64>) -> Option<MappedChunk> {
        let chunk = slot.swap(std::ptr::null_mut(), SeqCst);
        // SAFETY: the slot held null or a mapped chunk, which belongs to this thread now that it is taken out. Its first words
        // were written by `leave`.
        unsafe {
            let mapping = chunk.as_ref().map(|_| chunk.add(OWNER_WORD).read() as *mut u64)?;
            Some(MappedChunk { mapping, chunk, len: chunk.add(LEN_WORD).read() })
        }
    }
}

/// Cuts `chunk` to the bytes that are used, and has the rest wait for another thread; whether there is a slot for it.
///
/// # Safety
/// The chunk is mapped, belongs to the caller alone, and `rest` is what follows its first `used` bytes.
pub(crate) unsafe fn leave(chunk: *mut u64, used: u64, rest: MappedChunk) -> bool {
    if rest.len < SHORTEST {
        return false;
    }
    // SAFETY: the chunk and its rest are the caller's; a rest of this length has these words. The chunk is cut first: until then
    // they are part of it, and must be zero.
    unsafe {
        AtomicU64::from_ptr(chunk.add(LEN_WORD)).store(used, SeqCst);
        rest.chunk.add(OWNER_WORD).write(rest.mapping as u64);
        rest.chunk.add(LEN_WORD).write(rest.len);
    }
    let free = std::ptr::null_mut();
    WAITING.iter().any(|slot| slot.compare_exchange(free, rest.chunk, SeqCst, SeqCst).is_ok())
}

/// A leftover for a thread that has no chunk yet.
pub(crate) fn take(owner: u64) -> Option<MappedChunk> {
    let rest = WAITING.iter().find_map(MappedChunk::waiting)?;
    // SAFETY: it was taken out of its slot, so it is mapped and belongs to this thread alone.
    unsafe { trace_file::give(rest.chunk, owner, rest.len) };
    Some(rest)
}

/// Gives up all leftovers: they belong to the trace of another process.
pub(crate) fn forget() {
    for leftover in WAITING.iter().filter_map(MappedChunk::waiting) {
        // SAFETY: in this process nobody has used it since it was left, and it is in no slot any more.
        unsafe { leftover.unmap() };
    }
}

const _: () = assert!(SHORTEST > 8 * CHUNK_HEADER_WORDS as u64);
