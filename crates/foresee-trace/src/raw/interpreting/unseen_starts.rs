//! Threads that nobody was seen to start.
//!
//! The C library starts threads by means of its own: to report the end of an `aio_write`, a message (`mq_notify`), or a name that was
//! looked up. Somebody has called for that before, and the thread does what it does after it; but who and when, is not
//! recorded. So such a thread is taken to begin after everything that all others have done until then: one atomic, which each
//! of them changes in turn, and the new thread last. That orders more than need be. It may hide a race, and never makes one up.
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
}

impl UnseenStarts {
    /// Takes notice of a record. If a thread begins with it that nobody was seen to start, the others that it begins after.
    pub(crate) fn record(&mut self, thread: u64, record: &Record, next: Option<&Record>) -> Option<Vec<u64>> {
        match record.tag {
            Tag::Fork => {
                self.forked.insert(record.words[1]);
            }
            Tag::End => {
                self.present.remove(&thread);
            }
            Tag::Begin => {
                let is_first = self.present.is_empty();
                let takes_over = next.is_some_and(|next| matches!(next.tag, Tag::Load | Tag::Rmw));
                let is_known = self.forked.remove(&thread) || is_first || takes_over;
                let others = (!is_known).then(|| self.present.iter().copied().collect());
                self.present.insert(thread);
                return others;
            }
            _ => {}
        }
        None
    }
}

/// What everybody does before such a thread begins, and the thread itself.
pub(crate) fn hand_over_to(thread: u64) -> Op<'static> {
    // No program has an object to synchronise by there.
    let addr = SYNC_SPACE + (SYNC_SPACE >> 1) + 8 * thread;
    Op::Rmw { mem: Mem { addr, size: 8 }, order: Order::AcqRel, values: None }
}
