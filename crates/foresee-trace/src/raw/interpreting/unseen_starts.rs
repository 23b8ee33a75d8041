//! Threads that nobody was seen to start.
//!
//! The C library starts threads by means of its own: to report the end of an `aio_write`, a message (`mq_notify`), or a name that was
//! looked up. Somebody has called for that before, and the thread does what it does after it; but who and when, is not
//! recorded. So such a thread is taken to begin after everything that all others have done until then: one atomic, which each
//! of them changes in turn, and the new thread last; those that have ended, and nobody has joined, it joins. That orders more than need be. It may hide a
//! race, and never makes one up. Who was joined so is not joined again: later threads of this kind learn it by one more atomic, which all of them change.
//!
//! Where threads are forgotten when they have gone, those that nobody can join are among them. A thread of this kind that begins later is not known to come after them: that is
//! a gap ([`Gap::ForgottenThreads`](crate::Gap::ForgottenThreads)).
//!
//! A thread whose first act is to take over from somebody (the runtime does that for those of timers) is none of these.

use std::collections::BTreeSet;

use foresee_format::{SYNC_SPACE, Tag};
use rustc_hash::FxHashSet;

use crate::event::{Mem, Op, Order};
use crate::raw::merging::Record;

/// The threads that are there.
#[derive(Debug, Default)]
pub(crate) struct UnseenStarts {
    /// Those that were started and have not begun.
    forked: FxHashSet<u64>,
    present: BTreeSet<u64>,
    /// Those that have ended, and that nobody was seen to join.
    ended: BTreeSet<u64>,
    /// If threads are forgotten, those that nobody will join and that have not ended.
    detached: Option<FxHashSet<u64>>,
    /// One that has ended, and was joined or is detached.
    gone: Option<u64>,
    /// Whether some have gone that nobody has joined, and whether a thread began that comes after them.
    forgotten: bool,
    begins_after_forgotten: bool,
}

/// What a thread begins after that nobody was seen to start.
pub(crate) struct Beginning {
    /// The threads that are there.
    pub(crate) present: Vec<u64>,
    /// Threads that have ended.
    pub(crate) ended: Vec<u64>,
}

impl UnseenStarts {
    /// Takes notice of a record. If a thread begins with it that nobody was seen to start, the others that it begins after.
    pub(crate) fn record(
        &mut self,
        thread: u64,
        record: &Record,
        next: Option<&Record>,
    ) -> Option<Beginning> {
        match record.tag {
            Tag::Fork => {
                self.forked.insert(record.words[1]);
            }
            Tag::End => {
                self.present.remove(&thread);
                self.ended.insert(thread);
                if self.detached.as_mut().is_some_and(|detached| detached.remove(&thread)) {
                    self.forget(thread);
                }
            }
            Tag::Detach => {
                let child = record.words[1];
                match &mut self.detached {
                    Some(_) if self.ended.contains(&child) => self.forget(child),
                    Some(detached) => drop(detached.insert(child)),
                    None => {}
                }
            }
            Tag::Join => {
                let child = record.words[1];
                self.gone = self.ended.remove(&child).then_some(child);
            }
            Tag::Begin => {
                let is_first = self.present.is_empty();
                let takes_over = next.is_some_and(|next| matches!(next.tag, Tag::Load | Tag::Rmw));
                let is_known = self.forked.remove(&thread) || is_first || takes_over;
                self.begins_after_forgotten |= !is_known && self.forgotten;
                let beginning = (!is_known).then(|| Beginning {
                    present: self.present.iter().copied().collect(),
                    ended: std::mem::take(&mut self.ended).into_iter().collect(),
                });
                self.present.insert(thread);
                return beginning;
            }
            _ => {}
        }
        None
    }

    /// From now on, threads that have gone are forgotten.
    pub(crate) fn forget_threads(&mut self) {
        self.detached = Some(FxHashSet::default());
    }

    /// A thread that nobody can join has ended.
    fn forget(&mut self, thread: u64) {
        self.ended.remove(&thread);
        self.gone = Some(thread);
        self.forgotten = true;
    }

    /// Whether a thread that nobody was seen to start comes after others that are forgotten.
    pub(crate) fn begins_after_forgotten(&self) -> bool {
        self.begins_after_forgotten
    }

    /// A thread of which nobody can speak any more, since the last record.
    pub(crate) fn take_gone(&mut self) -> Option<u64> {
        self.gone.take()
    }
}

/// What everybody does before such a thread begins, and the thread itself.
pub(crate) fn hand_over_to(thread: u64) -> Op<'static> {
    change(1 + thread)
}

/// What all such threads do.
pub(crate) fn hand_over_among() -> Op<'static> {
    change(0)
}

fn change(object: u64) -> Op<'static> {
    // No program has an object to synchronise by there.
    let addr = SYNC_SPACE + (SYNC_SPACE >> 1) + 8 * object;
    Op::Rmw { mem: Mem { addr, size: 8 }, order: Order::AcqRel, values: None }
}
