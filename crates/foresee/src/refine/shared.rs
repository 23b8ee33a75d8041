//! What all threads of a recording share: a buffer for each, of bounded length, and the numbers of entries.
//!
//! A thread numbers an entry and puts it into its buffer while it holds the buffer's lock. So whoever reads how many numbers there are, and then empties all
//! buffers one after the other, has all entries with smaller numbers, also those of threads that do nothing now: none is waited for, and
//! none is lost. A thread whose buffer is full waits until it has been emptied.

use std::string::String;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Thread as Handle;
use std::time::Duration;
use std::vec::Vec;

use foresee_refine::log::{Action, Event, Thread, ThreadId};

use super::entries::Entries;

/// At so many entries in its buffer a thread wakes the one that empties it.
const MANY: usize = 128;
/// At so many it waits.
const FULL: usize = 4_096;
/// Buffers are emptied at least this often.
const SOON: Duration = Duration::from_millis(10);

pub(super) struct Shared {
    /// The number of the next entry.
    next: AtomicU64,
    buffers: Mutex<Vec<Arc<Buffer>>>,
    /// The thread that empties buffers.
    worker: OnceLock<Handle>,
    /// Whether what is in the buffers now is all.
    is_ending: AtomicBool,
    /// Whether nobody empties buffers any more.
    is_over: AtomicBool,
    pub(super) threads: Mutex<Vec<Thread>>,
    /// Operations that did not commit exactly once.
    pub(super) mistakes: Mutex<Vec<String>>,
    /// Whether the checker found something.
    pub(super) has_violation: AtomicBool,
    /// Whether writes and commit blocks are logged: without views nobody needs them.
    pub(super) has_views: bool,
    /// Of a hundred entries, after how many the thread lets others run.
    pub(super) yields: u8,
}

/// The entries of one thread, with their numbers.
#[derive(Default)]
pub(super) struct Buffer {
    entries: Mutex<Vec<(u64, Event)>>,
    has_room: Condvar,
}

impl Shared {
    pub(super) fn new(has_views: bool, yields: u8) -> Shared {
        Shared {
            next: AtomicU64::new(0),
            buffers: Mutex::default(),
            worker: OnceLock::new(),
            is_ending: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            threads: Mutex::default(),
            mistakes: Mutex::default(),
            has_violation: AtomicBool::new(false),
            has_views,
            yields,
        }
    }

    /// A thread that will log.
    pub(super) fn add_thread(&self, thread: Thread) -> ThreadId {
        let mut threads = lock(&self.threads);
        threads.push(thread);
        (threads.len() - 1) as ThreadId
    }

    /// A buffer for a thread.
    pub(super) fn add_buffer(&self) -> Arc<Buffer> {
        let buffer = Arc::<Buffer>::default();
        lock(&self.buffers).push(buffer.clone());
        buffer
    }

    /// Adds an entry to a thread's buffer, which only that thread does.
    pub(super) fn push(&self, buffer: &Buffer, thread: ThreadId, action: Action) {
        let mut entries = lock(&buffer.entries);
        while entries.len() >= FULL && !self.is_over.load(Ordering::SeqCst) {
            self.wake();
            let waited = buffer.has_room.wait_timeout(entries, SOON);
            entries = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        if self.is_over.load(Ordering::SeqCst) {
            return;
        }
        // All entries of all threads are in one order, which is that of this counter.
        let number = self.next.fetch_add(1, Ordering::SeqCst);
        entries.push((number, Event { thread, action }));
        let is_many = entries.len().is_multiple_of(MANY);
        drop(entries);
        if is_many {
            self.wake();
        }
    }

    fn wake(&self) {
        if let Some(worker) = self.worker.get() {
            worker.unpark();
        }
    }

    /// What is logged from here on is not part of the recording.
    pub(super) fn end(&self) {
        self.is_ending.store(true, Ordering::SeqCst);
        self.wake();
    }

    /// Takes all entries in order, until the end.
    pub(super) fn in_order<E>(&self, mut take: impl FnMut(Event) -> Result<(), E>) -> Result<(), E> {
        let _over = Over(self);
        let _ = self.worker.set(std::thread::current());
        let mut entries = Entries::default();
        let mut taken = Vec::new();
        let mut result = Ok(());
        loop {
            let is_ending = self.is_ending.load(Ordering::SeqCst);
            let is_idle = !self.empty_buffers(&mut taken, &mut entries);
            // Even after an error buffers are emptied, so that nobody waits for room.
            while let Some(event) = entries.take() {
                if result.is_ok() {
                    result = take(event);
                }
            }
            if is_ending {
                return result;
            }
            if is_idle {
                std::thread::park_timeout(SOON);
            }
        }
    }

    /// Whether there was something in some buffer.
    fn empty_buffers(&self, taken: &mut Vec<(u64, Event)>, entries: &mut Entries) -> bool {
        let mut buffers = lock(&self.buffers);
        let mut some = false;
        buffers.retain(|buffer| {
            // A thread that has gone adds nothing after this.
            let is_used = Arc::strong_count(buffer) > 1;
            std::mem::swap(&mut *lock(&buffer.entries), taken);
            buffer.has_room.notify_one();
            some |= !taken.is_empty();
            taken.drain(..).for_each(|(number, event)| entries.add(number, event));
            is_used
        });
        some
    }

    pub(super) fn mistake(&self, what: String) {
        let mut mistakes = lock(&self.mistakes);
        if mistakes.len() < 100 && !mistakes.contains(&what) {
            mistakes.push(what);
        }
    }
}

/// When the worker is gone, also by a panic of the specification, nobody waits for it.
struct Over<'a>(&'a Shared);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::SeqCst);
        lock(&self.0.buffers).iter().for_each(|buffer| buffer.has_room.notify_one());
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
