//! Threads that nobody was seen to start.
//!
//! The C library starts threads by means of its own: to report the end of an `aio_write`, a message (`mq_notify`), or a name that was
//! looked up. Somebody has called for that before, and the thread does what it does after it; but who and when, is not
//! recorded. So such a thread is taken to begin after everything that all others have done until then: one atomic, which each
//! of them changes in turn, and the new thread last; those that have ended, and nobody has joined, it joins. That orders more than need be. It may hide a
//! race, and never makes one up. Who was joined so is not joined again: later threads of this kind learn it by one more atomic, which all of them change.
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
    forked: FxHashSet<u64>,
    present: BTreeSet<u64>,
    /// Those that have ended, and that nobody was seen to join.
    ended: BTreeSet<u64>,
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
            }
            Tag::Join => {
                self.ended.remove(&record.words[1]);
            }
            Tag::Begin => {
                let is_first = self.present.is_empty();
                let takes_over = next.is_some_and(|next| matches!(next.tag, Tag::Load | Tag::Rmw));
                let is_known = self.forked.remove(&thread) || is_first || takes_over;
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
