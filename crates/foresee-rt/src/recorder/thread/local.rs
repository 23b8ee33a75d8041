//! What a thread knows of itself.

use std::cell::Cell;
use std::sync::atomic::{
    AtomicU8, AtomicU64, Ordering::Relaxed, Ordering::Release, Ordering::SeqCst, compiler_fence,
};

use foresee_format::near::{NearAccess, near_key};
use foresee_format::places::{Compact, FILLER, WrittenPlaces, now, what};
use foresee_format::{Tag, first_word};

use crate::monitors;
use crate::recorder::frames::Frames;
use crate::recorder::order;
use crate::recorder::status;
use crate::recorder::watched::Unsettled;
use crate::spinning::LastSeen;

/// The thread is inside of the runtime: what happens now is the runtime's own doing, or that of a signal handler that cannot wait.
pub(super) const INSIDE: u8 = 1;
/// The thread is in the program, and its last record waits for a value.
pub(super) const UNSETTLED: u8 = 8;
/// The thread has written its last record.
const ENDED: u8 = 16;

/// A thread that has no number yet.
pub(super) const NOBODY: u32 = u32::MAX;

/// What a thread knows of itself. It has no destructor and is constant at first, so that using it never allocates or registers
/// anything.
pub(crate) struct Local {
    /// Where the next record goes, and where the chunk ends; null without a chunk.
    pub(super) next: Cell<*mut u64>,
    pub(super) end: Cell<*mut u64>,
    pub(super) chunk: Cell<*mut u64>,
    /// Where the memory begins that the chunk is the end of: at the chunk, unless it is a leftover of another.
    pub(super) mapping: Cell<*mut u64>,
    /// The length of the last chunk.
    pub(super) len: Cell<u64>,
    /// The turn of the thread's home, or 0.
    pub(super) turn: Cell<u64>,
    pub(super) thread: Cell<u32>,
    /// What the thread does not record now and why: a union of the states, and of what it was asked to ignore.
    pub(super) state: AtomicU8,
    /// How often it was asked to ignore accesses, synchronisation and calls (`ignoring`).
    pub(super) ignored: [Cell<u32>; 3],
    /// How many functions it is in: what `Enter` and `Exit` records say.
    pub(super) depth: Cell<u32>,
    /// Which ones, if chunks begin with them.
    pub(super) frames: Cell<Frames>,
    pub(super) near: Near,
    /// The largest key that it has given to a record.
    pub(super) last: Cell<u64>,
    /// Where the last branch record ends.
    pub(super) branch_end: Cell<*mut u64>,
    /// The access whose value is not known yet, in the state `UNSETTLED`.
    pub(super) unsettled: Cell<Option<Unsettled>>,
    /// The same of the access that a handler comes before.
    aside: Cell<Option<Unsettled>>,
    /// How many signals wait until the runtime is left.
    pub(super) deferred: AtomicU8,
    /// By which it is known that it spins.
    pub(crate) last_seen: LastSeen,
}

thread_local! {
    static LOCAL: Local = const {
        Local {
            next: Cell::new(std::ptr::null_mut()),
            end: Cell::new(std::ptr::null_mut()),
            chunk: Cell::new(std::ptr::null_mut()),
            mapping: Cell::new(std::ptr::null_mut()),
            len: Cell::new(0),
            turn: Cell::new(0),
            thread: Cell::new(NOBODY),
            state: AtomicU8::new(0),
            ignored: [const { Cell::new(0) }; 3],
            depth: Cell::new(0),
            frames: Cell::new(Frames::NONE),
            near: Near::nowhere(),
            last: Cell::new(0),
            branch_end: Cell::new(std::ptr::null_mut()),
            unsettled: Cell::new(None),
            aside: Cell::new(None),
            deferred: AtomicU8::new(0),
            last_seen: LastSeen::nothing(),
        }
    };
}

/// Does something with what this thread knows of itself, inlined here: `LOCAL.with` of any size would be a call.
#[inline(always)]
pub(super) fn with_local<R>(act: impl FnOnce(&Local) -> R) -> R {
    let local = LOCAL.with(std::ptr::from_ref);
    // SAFETY: a thread-local without destructor lives as long as its thread, which is the one that is here. It is changed
    // through cells and atomics only.
    act(unsafe { &*local })
}

/// Whether this thread is inside of the runtime: then it is a signal handler that asks.
pub(crate) fn is_inside() -> bool {
    LOCAL.with(|local| local.state.load(Relaxed) & INSIDE != 0)
}

/// What no other living thread has.
#[inline(always)]
pub(crate) fn identity(local: &Local) -> usize {
    std::ptr::from_ref(local) as usize
}

/// If the runtime on this thread was interrupted, it will not go on: `give_up` gives up what it holds.
pub(crate) fn abandon(give_up: impl FnOnce(&Local)) {
    LOCAL.with(|local| {
        if local.state.load(Relaxed) & INSIDE != 0 {
            give_up(local);
        }
        // A record may be written, and not yet noted as what the next one is near to.
        local.near.forget();
        local.abandon_aside();
        local.leave();
    });
}

/// From here on, this thread is the runtime's own.
pub(crate) fn silence() {
    LOCAL.with(|local| local.enter(INSIDE));
}

/// Where this thread's next record goes, and in which turn: it is another position after each record.
pub(crate) fn position() -> (usize, u64) {
    LOCAL.with(|local| (local.next.get() as usize, local.turn.get()))
}

/// How many functions this thread is in.
pub(crate) fn depth() -> u32 {
    LOCAL.with(|local| local.depth.get())
}

impl Local {
    /// Enters the runtime, unless the thread is in one of these states, or has ended.
    #[inline(always)]
    pub(super) fn enter(&self, unless: u8) -> bool {
        let state = self.state.load(Relaxed);
        if state & (unless | ENDED) != 0 {
            return false;
        }
        self.state.store((state | INSIDE) & !UNSETTLED, Relaxed);
        compiler_fence(SeqCst);
        if state & UNSETTLED != 0 {
            self.settle();
        }
        true
    }

    /// The thread's last access is done by now, and nothing that orders it before another thread's: its value can be read.
    #[cold]
    #[inline(never)]
    fn settle(&self) {
        if let Some(unsettled) = self.unsettled.take() {
            let (access, value) = (unsettled.access(), unsettled.settle());
            if status::monitored() && monitors::waits_for_value(access.writes()) {
                monitors::written(
                    self.monitored_thread(),
                    access.addr,
                    access.size.into(),
                    value,
                    unsettled.pc(),
                );
            }
        }
    }

    /// Runs a handler of the program between the record of the thread's last access and the access, which is next when it returns. Its value is not what the handler finds in memory, and
    /// its record is not the last one afterwards, and so stays without a value. A handler that is left by a jump or an exception is not gone back from: there is no access then.
    pub(super) fn before_its_access<R>(&self, handler: impl FnOnce() -> R) -> R {
        /// Also where the handler is unwound.
        struct Left<'l>(&'l Local, Option<Unsettled>);
        impl Drop for Left<'_> {
            fn drop(&mut self) {
                self.0.abandon_aside();
                self.0.aside.set(self.1);
            }
        }

        self.state.fetch_and(!UNSETTLED, Relaxed);
        compiler_fence(SeqCst);
        let outer = self.aside.replace(self.unsettled.take());
        let left = Left(self, outer);
        let result = handler();
        if self.enter(INSIDE) {
            // Its own last access is settled now.
            self.leave();
        }
        if let Some(unsettled) = self.aside.take() {
            self.unsettled.set(Some(unsettled.without_value()));
            compiler_fence(SeqCst);
            self.state.fetch_or(UNSETTLED, Relaxed);
        }
        drop(left);
        result
    }

    /// The access that a handler has interrupted will not be done.
    fn abandon_aside(&self) {
        if let Some(unsettled) = self.aside.take() {
            unsettled.access().abandon();
        }
    }

    #[inline(always)]
    pub(super) fn leave(&self) {
        self.leave_for(self.state.load(Relaxed) & !INSIDE);
    }

    /// The thread never enters again.
    pub(super) fn set_ended(&self) {
        self.state.store(self.state.load(Relaxed) | ENDED, Relaxed);
    }

    /// How many bytes the chunk has left.
    #[inline(always)]
    pub(super) fn room(&self) -> usize {
        (self.end.get() as usize).wrapping_sub(self.next.get() as usize)
    }

    /// Writes a record with a key, for which there is room; where it is.
    #[inline(always)]
    pub(super) fn store_keyed<const N: usize>(&self, first: u64, words: [u64; N]) -> *mut u64 {
        self.note_key(first >> 16);
        self.store(first, words)
    }

    /// A record has this key.
    #[inline(always)]
    pub(super) fn note_key(&self, key: u64) {
        self.near.set_key(key);
        self.last.set(self.last.get().max(key));
    }

    /// Writes a record for which there is room; where it is.
    #[inline(always)]
    pub(super) fn store<const N: usize>(&self, first: u64, words: [u64; N]) -> *mut u64 {
        self.fill_up();
        let next = self.next.get();
        // SAFETY: the callers have seen that the chunk, which is mapped, has room for N + 1 words and fillers before them, and only this
        // thread writes to it. Each is a store of one word: the first, which makes the record valid for a reader, comes last, and the
        // compiler may not move it.
        unsafe {
            for (i, &word) in words.iter().enumerate() {
                next.add(1 + i).write_volatile(word);
            }
            AtomicU64::from_ptr(next).store(first, Release);
            self.next.set(next.add(N + 1));
        }
        next
    }

    /// Writes fillers up to the next word.
    #[inline(always)]
    fn fill_up(&self) {
        const FILLERS: u64 = u64::from_ne_bytes([FILLER; 8]);
        let next = self.next.get();
        let beyond = next as usize % size_of::<u64>();
        if beyond != 0 {
            // SAFETY: as in `store`, whose record follows. The bytes of this store that are in the next word are zeroes, as they were.
            unsafe { next.write_unaligned(FILLERS >> (8 * beyond)) };
            self.next.set(next.wrapping_byte_add(size_of::<u64>() - beyond));
        }
    }

    /// Writes a compact record, for which there is room.
    #[inline(always)]
    pub(super) fn store_compact(&self, word: u64, len: usize) {
        let next = self.next.get();
        compiler_fence(SeqCst);
        // SAFETY: the callers have seen that the chunk, which is mapped, has room for a word, and only this thread writes to it. The bytes of this store behind the record are zeroes, as they were.
        unsafe { next.write_unaligned(word) };
        compiler_fence(SeqCst);
        self.next.set(next.wrapping_byte_add(len));
    }

    /// Has this key, which is even, be that of the near records that follow, by a record for which there is room.
    #[inline(always)]
    pub(super) fn store_now(&self, key: u64) {
        match now(key.wrapping_sub(self.near.key())) {
            Some((word, len)) => {
                self.store_compact(word, len);
                self.note_key(key);
            }
            None => {
                self.store_keyed(first_word(Tag::Now, 0, key), []);
            }
        }
    }

    /// Writes a compact record of something at a place that this thread knows.
    #[inline(always)]
    pub(super) fn store_at(&self, places: &WrittenPlaces, record: Compact, addr: u64) {
        self.store_compact(record.word, record.len);
        places.note(record, addr);
    }
}

/// So many bytes are left where compact records may be: the store of one, or a full record in its place with fillers before it, fits there.
pub(super) const ROOM_FOR_COMPACT: usize = 3 * size_of::<u64>();

/// What the next record may be near to, in the current chunk.
pub(super) struct Near {
    pub(super) access: NearAccess,
    /// The places that the thread knows; null without a chunk.
    pub(super) places: Cell<*const WrittenPlaces>,
    /// The key that a near record would have, if it is the next.
    key: Cell<u64>,
    /// Near records before this address may have it, unless there is news (`freshness`); null if none may.
    pub(super) until: Cell<*mut u64>,
    /// What tells of news, and what it told last.
    pub(super) news: Cell<&'static AtomicU64>,
    pub(super) seen: Cell<u64>,
}

/// Where there never is any.
static NO_NEWS: AtomicU64 = AtomicU64::new(0);

/// No key.
const NEVER: u64 = u64::MAX;

impl Near {
    const fn nowhere() -> Near {
        Near {
            access: NearAccess::nowhere(),
            places: Cell::new(std::ptr::null()),
            key: Cell::new(NEVER),
            until: Cell::new(std::ptr::null_mut()),
            news: Cell::new(&NO_NEWS),
            seen: Cell::new(0),
        }
    }

    /// Nothing is near to what comes next.
    pub(super) fn forget(&self) {
        self.access.forget();
        if let Some(places) = self.places() {
            places.forget();
        }
        self.key.set(NEVER);
        self.until.set(std::ptr::null_mut());
    }

    /// The places that the thread knows, if it has a table of them.
    #[inline(always)]
    pub(super) fn places(&self) -> Option<&WrittenPlaces> {
        // SAFETY: null, or a table that is this thread's alone until it puts null here (`place_tables`).
        unsafe { self.places.get().as_ref() }
    }

    /// The key that a near record would have.
    #[inline(always)]
    pub(super) fn key(&self) -> u64 {
        self.key.get()
    }

    /// A record with this key is written.
    #[inline(always)]
    pub(super) fn set_key(&self, key: u64) {
        self.key.set(near_key(key));
        if self.is_exact() {
            self.seen.set(near_key(key));
        }
    }

    /// Whether it is news if another thread counts: then each record has the key of its own moment.
    #[inline(always)]
    pub(super) fn is_exact(&self) -> bool {
        std::ptr::eq(self.news.get(), order::counter())
    }

    /// Notes a record in full: what comes next may be near to it.
    #[inline(always)]
    pub(super) fn note<const N: usize>(&self, tag: Tag, detail: u8, words: [u64; N]) {
        if let (Tag::Read | Tag::Write | Tag::Load | Tag::Store | Tag::Rmw, &[pc, addr, ..]) =
            (tag, &words[..])
        {
            self.access.set(pc, addr);
            if let (Some(near), Some(places), Some(&value)) = (tag.near_atomic(), self.places(), words.get(2))
            {
                places.note_atomic(what(near, detail, pc), addr, value);
            }
        }
    }
}
