//! Whether a test gets anywhere: a structure that deadlocks would otherwise hang it without a word.
//!
//! Each thread counts its operations for itself, so that nobody waits for anybody by being watched.

use std::format;
use std::string::String;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;
use std::vec::Vec;

use super::shared::lock;

/// If no operation ends for so long, something is said.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// How far each thread of a test is.
pub(super) struct Progress {
    /// How many operations each thread has ended.
    ended: Vec<AtomicUsize>,
    is_over: Mutex<bool>,
    changed: Condvar,
}

impl Progress {
    pub(super) fn of(threads: usize) -> Progress {
        let ended = (0..threads).map(|_| AtomicUsize::new(0)).collect();
        Progress { ended, is_over: Mutex::new(false), changed: Condvar::new() }
    }

    /// A thread has ended one operation more.
    pub(super) fn step(&self, thread: usize) {
        self.ended[thread].fetch_add(1, Ordering::Relaxed);
    }

    /// All threads are done.
    pub(super) fn end(&self) {
        *lock(&self.is_over) = true;
        self.changed.notify_all();
    }

    fn counts(&self) -> Vec<usize> {
        self.ended.iter().map(|ended| ended.load(Ordering::Relaxed)).collect()
    }

    /// Waits for the end, and tells, once, if nobody gets anywhere.
    pub(super) fn watch(&self, patience: Duration, tell: impl FnOnce(String)) {
        let mut before = self.counts();
        let mut tell = Some(tell);
        let mut is_over = lock(&self.is_over);
        while !*is_over {
            let waited = self.changed.wait_timeout(is_over, patience);
            let timeout;
            (is_over, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            let now = self.counts();
            if timeout.timed_out()
                && !*is_over
                && now == before
                && let Some(tell) = tell.take()
            {
                tell(stuck(&now, patience));
            }
            before = now;
        }
    }
}

/// What to say of threads that get nowhere.
fn stuck(ended: &[usize], patience: Duration) -> String {
    let each: Vec<String> =
        ended.iter().enumerate().map(|(nth, ended)| format!("T{} has ended {ended}", nth + 1)).collect();
    format!(
        "no operation has ended for {} s: do methods wait for each other? {}",
        patience.as_secs(),
        each.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn who_gets_nowhere_is_told_of_once() {
        let progress = Progress::of(2);
        progress.step(1);
        std::thread::scope(|scope| {
            let (say, said) = channel();
            scope.spawn(|| progress.watch(Duration::from_millis(1), move |what| say.send(what).unwrap()));
            let what = said.recv().unwrap();
            assert!(what.contains("T1 has ended 0, T2 has ended 1"), "{what}");
            progress.end();
            // The watch has ended, and said nothing more.
            assert!(said.recv().is_err());
        });
    }

    #[test]
    fn who_is_done_is_not() {
        let progress = Progress::of(1);
        progress.end();
        progress.watch(Duration::ZERO, |what| panic!("{what}"));
    }
}
