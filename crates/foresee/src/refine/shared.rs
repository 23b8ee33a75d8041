//! What all threads of a recording share.

use std::string::String;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::SyncSender;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::vec::Vec;

use foresee_refine::log::{Event, Thread};

/// Entries with their numbers.
pub(super) type Batch = Vec<(u64, Event)>;

pub(super) struct Shared {
    /// The number of the next entry.
    pub(super) next: AtomicU64,
    pub(super) queue: SyncSender<Batch>,
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

impl Shared {
    pub(super) fn mistake(&self, what: String) {
        let mut mistakes = lock(&self.mistakes);
        if mistakes.len() < 100 && !mistakes.contains(&what) {
            mistakes.push(what);
        }
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
