//! Each thread's own chunk of the trace, and the counter that orders threads.

mod chunks;
mod near;

use std::cell::Cell;
use std::sync::atomic::{
    AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::Release, Ordering::SeqCst, compiler_fence,
};

use foresee_format::{self as format, MAX_THREADS, Stop, Tag, first_word};

pub(crate) use self::chunks::{Place, set_read_along};
use self::near::Near;
pub(crate) use self::near::{Kind, access_at_once, branched_at_once, entered_at_once, exited_at_once};
use crate::keep::{self, Frames};
use crate::rawfile;
use crate::rests;
use crate::watched::{Access, Unsettled};

/// Counts what synchronises; see the crate's documentation for how keys come from it.
pub(crate) static COUNTER: AtomicU64 = AtomicU64::new(0);

static NEXT_THREAD: AtomicU32 = AtomicU32::new(0);

/// The thread is inside of the runtime: what happens now is the runtime's own doing, or a signal handler's.
const INSIDE: u8 = 1;
/// The thread is in the program, and its last record waits for a value.
const UNSETTLED: u8 = 8;
/// The thread has written its last record.
const ENDED: u8 = 16;

/// What an annotation asks not to record.
#[derive(Clone, Copy)]
pub(crate) enum Ignored {
    Accesses,
    Synchronisation,
}

impl Ignored {
    const fn bit(self) -> u8 {
        match self {
            Ignored::Accesses => 2,
            Ignored::Synchronisation => 4,
        }
    }
}

/// A thread that has no number yet.
const NOBODY: u32 = u32::MAX;

/// What a thread knows of itself. Without destructor and constant at first, so that using it never allocates or registers
/// anything.
pub(crate) struct Local {
    /// Where the next record goes, and where the chunk ends; null without a chunk.
    next: Cell<*mut u64>,
    end: Cell<*mut u64>,
    chunk: Cell<*mut u64>,
    /// Where the memory begins that the chunk is the end of: at the chunk, if it is not the rest of another.
    mapping: Cell<*mut u64>,
    /// The length of the last chunk.
    len: Cell<u64>,
    /// The turn of the thread's home, or 0.
    turn: Cell<u64>,
    thread: Cell<u32>,
    /// What the thread does not record now and why: a union of the states, and of what it was asked to ignore.
    state: AtomicU8,
    /// How often it was asked to ignore accesses, and synchronisation.
    ignored: [Cell<u32>; 2],
    /// How many functions it is in: what `Enter` and `Exit` records say.
    depth: Cell<u32>,
    /// Which ones, if chunks begin with them.
    frames: Cell<Frames>,
    near: Near,
    /// Where the last branch ends.
    branched: Cell<*mut u64>,
    /// The access whose value is not known yet, in the state `UNSETTLED`.
    unsettled: Cell<Option<Unsettled>>,
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
            ignored: [Cell::new(0), Cell::new(0)],
            depth: Cell::new(0),
            frames: Cell::new(Frames::NONE),
            near: Near::nowhere(),
            branched: Cell::new(std::ptr::null_mut()),
            unsettled: Cell::new(None),
        }
    };
}

/// Does something with what this thread knows of itself, here: a `with` of any size would be a call.
#[inline(always)]
fn with_local<R>(act: impl FnOnce(&Local) -> R) -> R {
    let local = LOCAL.with(std::ptr::from_ref);
    // SAFETY: it is there for as long as the thread, which is here, and is not changed but through cells.
    act(unsafe { &*local })
}

/// Forgets all threads but this one, of which the trace knows nothing either: this is the child of a fork.
pub(crate) fn start_over() {
    NEXT_THREAD.store(0, SeqCst);
    rests::forget();
    LOCAL.with(|local| {
        local.drop_chunk();
        keep::forget();
        local.len.set(0);
        local.thread.set(NOBODY);
        local.unsettled.set(None);
    });
}

/// Whether this thread is in the runtime: then a signal handler asks.
pub(crate) fn is_inside() -> bool {
    LOCAL.with(|local| local.state.load(Relaxed) & INSIDE != 0)
}

/// The runtime on this thread was interrupted and will not go on.
pub(crate) fn abandon() {
    LOCAL.with(|local| {
        // A record may be written, and what it tells those after it not be noted.
        local.near.forget();
        local.leave();
    });
}

/// A number for a thread that is about to exist; `None` if there are too many, which ends the recording.
pub(crate) fn new_thread() -> Option<u32> {
    let thread = NEXT_THREAD.fetch_add(1, SeqCst);
    if u64::from(thread) < MAX_THREADS {
        return Some(thread);
    }
    rawfile::stop(rawfile::now(), Stop::Threads);
    None
}

/// Does `record` as this thread, if events are recorded and the thread is in none of the states of `unless`.
#[inline(always)]
fn unless<R>(unless: u8, record: impl FnOnce(&Local) -> R) -> Option<R> {
    if !rawfile::recording() {
        return None;
    }
    with_local(|local| {
        if !local.enter(unless) {
            return None;
        }
        let result = record(local);
        local.leave();
        Some(result)
    })
}

/// Takes a place in the order of what synchronises.
#[inline(always)]
pub(crate) fn stamp() -> u64 {
    COUNTER.fetch_add(1, SeqCst)
}

/// Does `record` as this thread, if events are recorded, the thread is not in the runtime already, and it was not asked
/// to ignore synchronisation.
#[inline(always)]
pub(crate) fn inside<R>(record: impl FnOnce(&Local) -> R) -> Option<R> {
    unless(INSIDE | Ignored::Synchronisation.bit(), record)
}

/// As [`inside`], for an access to memory: it may be ignored, too.
#[inline(always)]
pub(crate) fn accessing<R>(record: impl FnOnce(&Local) -> R) -> Option<R> {
    unless(INSIDE | Ignored::Accesses.bit(), record)
}

/// As [`inside`], for what has to be recorded whatever is ignored: threads, calls, the life of memory.
#[inline(always)]
pub(crate) fn always<R>(record: impl FnOnce(&Local) -> R) -> Option<R> {
    unless(INSIDE, record)
}

/// Begins to ignore something; each is ended once.
pub(crate) fn begin_ignoring(what: Ignored) {
    LOCAL.with(|local| {
        let times = &local.ignored[what as usize];
        times.set(times.get().saturating_add(1));
        local.state.fetch_or(what.bit(), Relaxed);
    });
}

/// Ends what [`begin_ignoring`] began.
pub(crate) fn end_ignoring(what: Ignored) {
    LOCAL.with(|local| {
        let times = &local.ignored[what as usize];
        times.set(times.get().saturating_sub(1));
        if times.get() == 0 {
            local.state.fetch_and(!what.bit(), Relaxed);
        }
    });
}

/// Records something that synchronises nothing.
#[inline(always)]
pub(crate) fn plain<const N: usize>(tag: Tag, detail: u8, words: [u64; N]) {
    inside(|local| local.plain(tag, detail, words));
}

/// Records something whose place in the order matters, at this moment.
#[inline(always)]
pub(crate) fn stamped<const N: usize>(tag: Tag, detail: u8, words: [u64; N]) {
    inside(|local| local.stamped(tag, detail, words));
}

/// From here on, this thread is the runtime's own.
pub(crate) fn silence() {
    LOCAL.with(|local| local.enter(INSIDE));
}

/// Where this thread's next record goes, and in which turn: it is another place after each record.
pub(crate) fn position() -> (usize, u64) {
    LOCAL.with(|local| (local.next.get() as usize, local.turn.get()))
}

/// How many functions this thread is in.
pub(crate) fn depth() -> u32 {
    LOCAL.with(|local| local.depth.get())
}

/// Records that all functions but the outermost `depth` are left: a jump, not a return.
pub(crate) fn leave_to(depth: u32) {
    always(|local| {
        while local.depth.get() > depth {
            local.exited();
        }
    });
}

impl Local {
    /// Enters the runtime, unless the thread is in one of these states, or has ended.
    #[inline(always)]
    fn enter(&self, unless: u8) -> bool {
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
            unsettled.settle();
        }
    }

    #[inline(always)]
    fn leave(&self) {
        compiler_fence(SeqCst);
        self.state.store(self.state.load(Relaxed) & !INSIDE, Relaxed);
    }

    /// Records an access with its value, which is filled in when the thread enters the runtime again: the last record
    /// before it leaves.
    pub(crate) fn valued(&self, tag: Tag, access: Access, pc: u64) {
        let first = first_word(tag, access.size | format::UNSETTLED, 2 * COUNTER.load(Relaxed));
        match self.write(first, [pc, access.addr, 0]) {
            Some(record) => {
                self.unsettled.set(Some(Unsettled::new(access, record)));
                compiler_fence(SeqCst);
                self.state.store(self.state.load(Relaxed) | UNSETTLED, Relaxed);
            }
            None => access.abandon(),
        }
    }

    #[inline(always)]
    pub(crate) fn plain<const N: usize>(&self, tag: Tag, detail: u8, words: [u64; N]) {
        self.write(first_word(tag, detail, 2 * COUNTER.load(Relaxed)), words);
        self.told(tag, words);
    }

    #[inline(always)]
    pub(crate) fn stamped<const N: usize>(&self, tag: Tag, detail: u8, words: [u64; N]) {
        self.stamped_at(stamp(), tag, detail, words);
    }

    /// Records something whose place in the order was taken before, by [`stamp`].
    #[inline(always)]
    pub(crate) fn stamped_at<const N: usize>(&self, stamp: u64, tag: Tag, detail: u8, words: [u64; N]) {
        self.write(first_word(tag, detail, 2 * stamp + 1), words);
        self.told(tag, words);
    }

    /// The thread's number, given to it before its first record. A signal handler may have been earlier: what it did
    /// stays with the number it got.
    pub(crate) fn set_thread(&self, thread: u32) {
        self.drop_chunk();
        self.thread.set(thread);
    }

    /// The thread's last record is written.
    pub(crate) fn end(&self) {
        self.state.store(self.state.load(Relaxed) | ENDED, Relaxed);
        self.frames.replace(Frames::NONE).drop();
        self.end_chunk();
    }

    /// Writes a record with a key; where it is, if there was room for it.
    #[inline(always)]
    fn write<const N: usize>(&self, first: u64, words: [u64; N]) -> Option<*mut u64> {
        if self.room() < 8 * (N + 1) && !self.make_room(first) {
            return None;
        }
        self.near.keyed(first >> 16);
        Some(self.store(first, words))
    }

    /// How many bytes the chunk has left.
    #[inline(always)]
    fn room(&self) -> usize {
        (self.end.get() as usize).wrapping_sub(self.next.get() as usize)
    }

    /// Writes a record for which there is room; where it is.
    #[inline(always)]
    fn store<const N: usize>(&self, first: u64, words: [u64; N]) -> *mut u64 {
        let next = self.next.get();
        // SAFETY: the chunk is mapped and has room for N + 1 words, and only this thread writes to it. Each is a store
        // of one word: the first, which makes the record valid, comes last, and the compiler may not move it.
        unsafe {
            for (i, &word) in words.iter().enumerate() {
                next.add(1 + i).write_volatile(word);
            }
            AtomicU64::from_ptr(next).store(first, Release);
            self.next.set(next.add(N + 1));
        }
        next
    }
}
