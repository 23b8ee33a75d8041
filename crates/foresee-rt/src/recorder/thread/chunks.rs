//! Room for the records of a thread.
//!
//! A thread has one chunk mapped, its *home*, for as long as it lives. A full home is copied to the end of the file or of another, cleared and
//! filled again; `foresee_format` says how a reader knows which copies are complete, whatever ends the process in between. There is
//! no fault and no mapping per chunk: writing a page costs a fifth of having it mapped, and what the process has in
//! memory does not grow with what it records.
//!
//! There are no homes if another process reads along (`FORESEE_FOLLOWED`), as what it reads must not move: then a thread maps one
//! chunk after another, the first a page, each longer than the one before. Nor are there homes if only the end of the run is kept (`ring`).
//! Of very many threads, each of which does little, some begin in what is left of another's chunk (`leftovers`), unless what it has must not change.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

use foresee_format::{
    CHUNK_HEADER_WORDS, FRAMES_UNKNOWN, MAX_CHUNK, PAGE, Stop, TURN, TURN_WORD, Tag, UNIT, first_word,
};

use super::local::{Local, NOBODY, with_local};
use super::numbers::{self, new_thread};
use super::place_tables;
use super::shortcut;
use crate::environment;
use crate::recorder::leftovers::{self, MappedChunk};
use crate::recorder::{ring, status, trace_file};

/// A record's first word has 48 bits for its key. Threads that have room go on for a while.
const LARGEST_KEY: u64 = 3 << 46;

/// From this number of a thread on, its chunk is cut when it ends: before, a whole one for each costs little.
const SHARED_FROM: u32 = 1 << 10;

/// Whether another process reads what is recorded at once.
static IS_READ_ALONG: AtomicBool = AtomicBool::new(false);

/// Reads how chunks are to be used.
pub(crate) fn start() {
    IS_READ_ALONG.store(environment::number(c"FORESEE_FOLLOWED").is_some(), SeqCst);
}

/// Whether chunks stay as they are, for whoever reads along.
pub(crate) fn chunks_stay() -> bool {
    IS_READ_ALONG.load(Relaxed) && !ring::is_on()
}

/// Forgets all threads: this is the child of a fork, whose one thread begins a trace of its own.
pub(crate) fn start_over() {
    numbers::start_over();
    leftovers::forget();
    with_local(|local| {
        local.drop_chunk();
        ring::forget();
        local.len.set(0);
        local.thread.set(NOBODY);
        local.last.set(0);
        local.unsettled.set(None);
    });
}

impl Local {
    /// The thread's last record is written: what is left of its chunk is for another.
    pub(super) fn end_chunk(&self) {
        let (chunk, next) = (self.chunk.get(), self.next.get());
        self.near.forget();
        let places = self.near.places.replace(std::ptr::null());
        // SAFETY: this thread has just forgotten it, and nobody else knows of it.
        unsafe { place_tables::give_back(places) };
        if chunk.is_null() {
            return;
        }
        // What is left begins with a word.
        let next = (next as usize).next_multiple_of(size_of::<u64>()) as *mut u64;
        let used = next as u64 - chunk as u64;
        let rest = MappedChunk { mapping: self.mapping.get(), chunk: next, len: self.len.get() - used };
        let may_share = self.thread.get() >= SHARED_FROM && !ring::is_on() && !chunks_stay();
        // SAFETY: the chunk is this thread's, which writes no more to it, and `rest` is what it has not used of it.
        if may_share && unsafe { leftovers::leave(chunk, used, rest) } {
            self.chunk.set(std::ptr::null_mut());
        }
        self.drop_chunk();
    }

    /// Makes room for the next record, whose first word is `first`.
    #[cold]
    #[inline(never)]
    pub(super) fn make_room(&self, first: u64) -> bool {
        if status::only_monitored() {
            return false;
        }
        // SAFETY: `errno` is this thread's own. It belongs to the program, which may look at it after an operation that must not
        // change it: so it is put back.
        let errno = unsafe { *libc::__errno_location() };
        let has_home = !self.chunk.get().is_null() && self.turn.get() != 0;
        let done = if self.last.get() > LARGEST_KEY {
            trace_file::stop(self.last.get(), Stop::TooLong);
            false
        } else if has_home {
            self.copy_home(first)
        } else {
            self.new_chunk(first)
        };
        // SAFETY: `errno` is this thread's own.
        unsafe { *libc::__errno_location() = errno };
        done
    }

    /// The thread's first chunk, or its home after a first one that was a leftover.
    fn new_chunk(&self, first: u64) -> bool {
        let unknown = self.thread.get() == NOBODY;
        if unknown {
            let Some(thread) = new_thread() else { return false };
            self.thread.set(thread);
        }
        let owner = u64::from(self.thread.get());
        let is_first = self.chunk.get().is_null() && self.turn.get() == 0;
        let rest = if is_first { leftovers::take(owner) } else { None };
        // Each attempt at a home has a larger turn: the jump of a signal handler may have ended the one before.
        let has_home = rest.is_none() && !ring::is_on() && !chunks_stay();
        let turn = if has_home { (self.turn.get() + 1) | 1 } else { 0 };
        self.drop_chunk();
        self.turn.set(turn);
        let Some(MappedChunk { mapping, chunk, len }) = rest.or_else(|| {
            let whole = |(chunk, len)| MappedChunk { mapping: chunk, chunk, len };
            if ring::is_on() {
                return ring::chunk(owner, first >> 16).map(whole);
            }
            let (len, word) = if has_home {
                (UNIT, turn | TURN)
            } else {
                ((2 * self.len.get()).next_multiple_of(PAGE).clamp(PAGE, MAX_CHUNK), 0)
            };
            trace_file::chunk(owner, len, word, first >> 16).map(|chunk| whole((chunk, len)))
        }) else {
            return false;
        };
        self.mapping.set(mapping);
        self.chunk.set(chunk);
        self.len.set(len);
        if self.near.places.get().is_null() {
            self.near.places.set(place_tables::take());
        }
        self.begin_chunk();
        if unknown {
            // The main thread, or one that was not made by `pthread_create`. It begins with the key of its first record.
            self.store_keyed(first_word(Tag::Begin, 0, first >> 16), []);
        } else if ring::is_on() {
            self.write_frames(first >> 16);
        }
        true
    }

    /// Writes at the beginning of a chunk which functions the thread is in: the records of its calls may be lost. A new chunk has
    /// room for all that `Frames` gives.
    fn write_frames(&self, key: u64) {
        match self.frames.get().innermost(self.depth.get()) {
            Some(frames) => frames.iter().for_each(|&frame| {
                self.store_keyed(first_word(Tag::Frame, 0, key), frame);
            }),
            None => {
                self.store_keyed(first_word(Tag::Frame, FRAMES_UNKNOWN, key), [0, 0]);
            }
        }
    }

    /// Writes what is in the home behind everything else, and clears the home. The jump of a signal handler may have ended an
    /// earlier attempt, anywhere.
    fn copy_home(&self, first: u64) -> bool {
        let (home, len) = (self.chunk.get(), self.len.get());
        // SAFETY: the home consists of its header and `len` bytes in all; it stays mapped while the thread lives, and only this
        // thread writes to it.
        unsafe {
            // The header's turn counts, not the thread's: the thread may have been interrupted before it noted it.
            let turn = AtomicU64::from_ptr(home.add(TURN_WORD));
            if turn.load(SeqCst) % 2 == 1 {
                if !trace_file::copy(self.thread.get(), home, len, first >> 16) {
                    return false;
                }
                turn.fetch_add(1, SeqCst);
            }
            home.add(CHUNK_HEADER_WORDS).write_bytes(0, len as usize / 8 - CHUNK_HEADER_WORDS);
            self.turn.set((turn.fetch_add(1, SeqCst) + 1) & !TURN);
        }
        self.begin_chunk();
        true
    }

    /// Goes on behind the header of the chunk.
    fn begin_chunk(&self) {
        shortcut::note(self);
        let chunk = self.chunk.get();
        self.near.forget();
        self.branch_end.set(std::ptr::null_mut());
        // SAFETY: a chunk is `len` bytes, more than its header: both pointers are within it or at its end.
        unsafe {
            self.next.set(chunk.add(CHUNK_HEADER_WORDS));
            self.end.set(chunk.add(self.len.get() as usize / 8));
        }
    }

    /// Gives up the chunk: the thread writes no more to it.
    pub(crate) fn drop_chunk(&self) {
        let chunk = self.chunk.replace(std::ptr::null_mut());
        // Nothing is written at once without a chunk.
        self.near.forget();
        self.next.set(std::ptr::null_mut());
        self.end.set(std::ptr::null_mut());
        self.turn.set(0);
        if !chunk.is_null() && ring::is_on() {
            ring::retire(chunk);
        } else if !chunk.is_null() {
            // SAFETY: this thread used it alone, and has just forgotten it.
            unsafe { MappedChunk { mapping: self.mapping.get(), chunk, len: self.len.get() }.unmap() };
        }
    }
}
