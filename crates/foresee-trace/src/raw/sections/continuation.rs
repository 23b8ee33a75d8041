//! Sections of a trace that begins within the run: see [`beginning`](super::super::beginning).

use super::{Sections, Word};
use crate::event::Mode;
use crate::ids::StrId;
use crate::raw::beginning::Beginning;
use crate::raw::roles::Role;

/// What a thread is doing at some moment.
pub(in crate::raw) struct State {
    /// The functions it is in that have been told, and where their calls are.
    pub(in crate::raw) calls: Vec<(StrId, u64)>,
    /// The locks it holds, and how.
    pub(in crate::raw) held: Vec<(u64, Mode)>,
    /// The lock it waits for.
    pub(in crate::raw) waits_for: Option<(u64, Mode)>,
}

impl Sections {
    /// Sections that find out what threads must have held at the beginning.
    pub(in crate::raw) fn surveying() -> Sections {
        Sections { beginning: Some(Beginning::default()), is_continuation: true, ..Sections::default() }
    }

    /// Sections that begin with what was found out, and the key from which on all is known.
    pub(in crate::raw) fn surveyed(self) -> (Sections, u64) {
        let mut next = Sections { is_continuation: true, ..Sections::default() };
        let Some(beginning) = self.beginning else { return (next, 0) };
        for &lock in self.words.keys() {
            next.words.insert(lock, Word { is_new: true, ..Word::default() });
        }
        for (thread, lock, before) in beginning.held() {
            for _ in 0..before.times {
                next.thread(thread).hold(lock, before.mode);
            }
            if before.is_word {
                let is_shared = before.mode == Mode::Shared;
                let word = next.words.entry(lock).or_default();
                *word = Word { holders: word.holders + before.times, is_shared, ..Word::default() };
            }
        }
        (next, beginning.clear())
    }

    /// What a thread is doing.
    pub(in crate::raw) fn state(&mut self, thread: u64) -> State {
        let thread = self.thread(thread);
        let told = thread.calls.iter().filter(|call| !call.silent);
        let held = thread
            .held
            .iter()
            .flat_map(|(&lock, &(mode, times))| std::iter::repeat_n((lock, mode), times as usize));
        let mut held: Vec<_> = held.collect();
        held.sort_unstable_by_key(|&(lock, _)| lock);
        let waits_for = thread.operations.iter().find_map(|operation| match operation.role {
            Role::Lock(mode) => operation.lock.map(|lock| (lock, mode)),
            _ => None,
        });
        State { calls: told.map(|call| (call.function, call.call)).collect(), held, waits_for }
    }
}
