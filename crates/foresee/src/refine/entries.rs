//! Entries of many threads in the order of their numbers.

use std::collections::VecDeque;

use foresee_refine::log::Event;

/// Puts numbered entries in order, from 0 on without a gap.
#[derive(Default)]
pub(super) struct Entries {
    /// The number of the first entry that is waited for.
    next: u64,
    waiting: VecDeque<Option<Event>>,
}

impl Entries {
    pub(super) fn add(&mut self, number: u64, event: Event) {
        let place = (number - self.next) as usize;
        if self.waiting.len() <= place {
            self.waiting.resize(place + 1, None);
        }
        self.waiting[place] = Some(event);
    }

    /// The next entry, if it has come.
    pub(super) fn take(&mut self) -> Option<Event> {
        let event = self.waiting.front_mut()?.take()?;
        self.waiting.pop_front();
        self.next += 1;
        Some(event)
    }
}
