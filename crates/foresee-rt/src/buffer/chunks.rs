//! Getting room for the records of a thread.
//!
//! A thread has one chunk mapped, its *home*, for as long as it lives. A full home is copied to the end of the file, cleared and
//! filled again; `format` says how a reader knows which copies are whole, whatever ends the process in between. There is
//! no fault and no mapping per chunk: writing a page costs a fifth of having it mapped, and what the process has in
//! memory does not grow with what it records.
//!
//! There are no homes if another process reads along (`FORESEE_FOLLOWED`), as what it reads must not move: then a thread has one
//! chunk after another mapped, each longer than the one before. Nor if only the end of the run is kept (`keep`).
//! Of very many threads, each of which does little, some begin in the rest of another's chunk (`rests`).

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

use foresee_format::{
    CHUNK_HEADER_WORDS, FRAMES_UNKNOWN, MAX_CHUNK, SHARED_FROM, TURN, TURN_WORD, Tag, UNIT, first_word,
};

use super::{Local, NOBODY, new_thread};
use crate::keep::{self, Frames};
use crate::rawfile;
use crate::rests::{self, Rest};

static IS_READ_ALONG: AtomicBool = AtomicBool::new(false);

/// Whether another process reads what is recorded at once.
pub(crate) fn set_read_along(along: bool) {
    IS_READ_ALONG.store(along, SeqCst);
}

/// Where a thread of the trace writes, while it does not run: a fiber.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    next: *mut u64,
    end: *mut u64,
    chunk: *mut u64,
    mapping: *mut u64,
    len: u64,
    turn: u64,
    thread: u32,
    depth: u32,
    frames: Frames,
}

impl Place {
    /// That of a thread without number.
    pub(crate) const NEW: Place = Place {
        next: std::ptr::null_mut(),
        end: std::ptr::null_mut(),
        chunk: std::ptr::null_mut(),
        mapping: std::ptr::null_mut(),
        len: 0,
        turn: 0,
        thread: NOBODY,
        depth: 0,
        frames: Frames::NONE,
    };

    /// The thread has ended.
    pub(crate) fn forget_frames(self) {
        self.frames.drop();
    }

    /// That of a thread that has not begun.
    pub(crate) fn of_thread(thread: u32) -> Place {
        Place { thread, ..Place::NEW }
    }
}

impl Local {
    /// The thread's last record is written: what is left of its chunk is for another.
    pub(super) fn end_chunk(&self) {
        let (chunk, next) = (self.chunk.get(), self.next.get());
        if chunk.is_null() {
            return;
        }
        let used = next as u64 - chunk as u64;
        let rest = Rest { mapping: self.mapping.get(), chunk: next, len: self.len.get() - used };
        // SAFETY: the chunk is this thread's, and nobody writes to it any more.
        let may_share = u64::from(self.thread.get()) >= SHARED_FROM && !keep::is_on();
        if may_share && unsafe { rests::leave(chunk, used, rest) } {
            self.chunk.set(std::ptr::null_mut());
        }
        self.drop_chunk();
    }

    /// Makes room for the next record, whose first word is `first`.
    #[cold]
    #[inline(never)]
    pub(super) fn make_room(&self, first: u64) -> bool {
        // SAFETY: `errno` belongs to the program, which may look at it after an operation that has no business with it.
        let errno = unsafe { *libc::__errno_location() };
        let has_home = !self.chunk.get().is_null() && self.turn.get() != 0;
        let done = if has_home { self.copy_home(first) } else { self.new_chunk(first) };
        // SAFETY: as above.
        unsafe { *libc::__errno_location() = errno };
        done
    }

    /// The thread's first chunk, or its home after a first one that was a rest.
    fn new_chunk(&self, first: u64) -> bool {
        let unknown = self.thread.get() == NOBODY;
        if unknown {
            let Some(thread) = new_thread() else { return false };
            self.thread.set(thread);
        }
        let owner = u64::from(self.thread.get());
        let is_first = self.chunk.get().is_null() && self.turn.get() == 0;
        let rest = if is_first { rests::take(owner) } else { None };
        // Each attempt at a home has a larger turn: the jump of a signal handler may have ended the one before.
        let has_home = rest.is_none() && !keep::is_on() && !IS_READ_ALONG.load(Relaxed);
        let turn = if has_home { (self.turn.get() + 1) | 1 } else { 0 };
        self.drop_chunk();
        self.turn.set(turn);
        let Some(Rest { mapping, chunk, len }) = rest.or_else(|| {
            let whole = |(chunk, len)| Rest { mapping: chunk, chunk, len };
            if keep::is_on() {
                return keep::chunk(owner, first >> 16).map(whole);
            }
            let (len, word) = if has_home {
                (UNIT, turn | TURN)
            } else {
                ((2 * self.len.get()).next_multiple_of(UNIT).clamp(UNIT, MAX_CHUNK), 0)
            };
            rawfile::chunk(owner, len, word, first >> 16).map(|chunk| whole((chunk, len)))
        }) else {
            return false;
        };
        self.mapping.set(mapping);
        self.chunk.set(chunk);
        self.len.set(len);
        self.begin_chunk();
        if unknown {
            // The main thread, or one that was not made by `pthread_create`. It begins with the key of its first record.
            self.write(first_word(Tag::Begin, 0, first >> 16), []);
        } else if keep::is_on() {
            self.write_frames(first >> 16);
        }
        true
    }

    /// Tells at the beginning of a chunk which functions the thread is in: what told it before may be lost.
    fn write_frames(&self, key: u64) {
        match self.frames.get().innermost(self.depth.get()) {
            Some(frames) => frames.iter().for_each(|&frame| {
                self.write(first_word(Tag::Frame, 0, key), frame);
            }),
            None => {
                self.write(first_word(Tag::Frame, FRAMES_UNKNOWN, key), [0, 0]);
            }
        }
    }

    /// Writes what is in the home behind everything else, and clears the home. The jump of a signal handler may have ended an
    /// earlier attempt, anywhere.
    fn copy_home(&self, first: u64) -> bool {
        let (home, len) = (self.chunk.get(), self.len.get());
        // SAFETY: the home is mapped, with its header, and only this thread writes to it.
        unsafe {
            // What the header says is what counts.
            let turn = AtomicU64::from_ptr(home.add(TURN_WORD));
            if turn.load(SeqCst) % 2 == 1 {
                if !rawfile::copy(home, len, first >> 16) {
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
        let chunk = self.chunk.get();
        self.near.forget();
        self.branched.set(std::ptr::null_mut());
        // SAFETY: both are within the chunk, or at its end.
        unsafe {
            self.next.set(chunk.add(CHUNK_HEADER_WORDS));
            self.end.set(chunk.add(self.len.get() as usize / 8));
        }
    }

    /// Goes on at another place of the trace; returns where it was.
    pub(crate) fn go_to(&self, place: Place) -> Place {
        self.near.forget();
        Place {
            next: self.next.replace(place.next),
            end: self.end.replace(place.end),
            chunk: self.chunk.replace(place.chunk),
            mapping: self.mapping.replace(place.mapping),
            len: self.len.replace(place.len),
            turn: self.turn.replace(place.turn),
            thread: self.thread.replace(place.thread),
            depth: self.depth.replace(place.depth),
            frames: self.frames.replace(place.frames),
        }
    }

    pub(crate) fn drop_chunk(&self) {
        let chunk = self.chunk.replace(std::ptr::null_mut());
        self.next.set(std::ptr::null_mut());
        self.end.set(std::ptr::null_mut());
        self.turn.set(0);
        if !chunk.is_null() && keep::is_on() {
            keep::retire(chunk);
        } else if !chunk.is_null() {
            // SAFETY: nothing points into the chunk any more.
            unsafe { Rest { mapping: self.mapping.get(), chunk, len: self.len.get() }.unmap() };
        }
    }
}
