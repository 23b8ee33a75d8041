//! Threads that wait for a condition.

use crate::vector::Vector;

/// Who waits for a condition, and what was known at the notifies since each began to.
///
/// Which of those who wait is woken is not known: a notify is for all of them.
#[derive(Debug)]
pub struct Waiters<V>(Vec<(u64, Option<V>)>);

impl<V> Default for Waiters<V> {
    fn default() -> Self {
        Waiters::new()
    }
}

impl<V> Waiters<V> {
    /// Nobody waits.
    pub const fn new() -> Waiters<V> {
        Waiters(Vec::new())
    }

    /// One more waits, under a number that no other has.
    pub fn enlist(&mut self, waiter: u64) {
        self.0.push((waiter, None));
    }

    /// One waits no more: what was known at the notifies meanwhile, if there were any.
    pub fn leave(&mut self, waiter: u64) -> Option<V> {
        let at = self.0.iter().position(|(number, _)| *number == waiter)?;
        self.0.swap_remove(at).1
    }
}

impl<V: Vector + Clone> Waiters<V> {
    /// A thread that knows this notifies.
    pub fn notify(&mut self, known: &V) {
        for (_, notified) in &mut self.0 {
            match notified {
                Some(before) => {
                    before.change().learn(known.get(), |_, _| ());
                }
                None => *notified = Some(known.clone()),
            }
        }
    }
}
