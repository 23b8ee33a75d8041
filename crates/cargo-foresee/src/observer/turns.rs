//! The processors of an observer, shared by the programs that it observes.
//!
//! A program is worked on in turns, no more of them at once than there are processors, and whoever has waited longest is next. A
//! [turn](Turn) should be short: what is left is done in the next one. So no program keeps others waiting for long, however
//! much there is to do about it, and it is looked at often whether there still is anybody who wants it done.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Who works, and who waits.
pub(super) struct Turns {
    line: Mutex<Line>,
    moved: Condvar,
}

struct Line {
    free: usize,
    waiting: VecDeque<u64>,
    next: u64,
}

impl Turns {
    /// So many at once.
    pub(super) fn new(at_once: usize) -> Turns {
        let line = Line { free: at_once.max(1), waiting: VecDeque::new(), next: 0 };
        Turns { line: Mutex::new(line), moved: Condvar::new() }
    }

    /// Waits for a turn.
    pub(super) fn take(&self) -> Turn<'_> {
        let mut line = self.line();
        let ticket = line.next;
        line.next += 1;
        line.waiting.push_back(ticket);
        while line.free == 0 || line.waiting.front() != Some(&ticket) {
            line = self.moved.wait(line).unwrap_or_else(PoisonError::into_inner);
        }
        line.free -= 1;
        line.waiting.pop_front();
        // There may be room for the next one, too.
        self.moved.notify_all();
        Turn(self)
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A turn, until it is dropped.
pub(super) struct Turn<'a>(&'a Turns);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.line().free += 1;
        self.0.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn few_work_at_once_and_all_get_their_turn() {
        let (turns, working, most) = (Turns::new(2), AtomicUsize::new(0), AtomicUsize::new(0));
        let done = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let turn = turns.take();
                        most.fetch_max(working.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        std::thread::yield_now();
                        working.fetch_sub(1, Ordering::SeqCst);
                        drop(turn);
                        done.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert!((1..=2).contains(&most.into_inner()));
        assert_eq!(done.into_inner(), 400);
        assert!(turns.line().waiting.is_empty() && turns.line().free == 2);
    }
}
