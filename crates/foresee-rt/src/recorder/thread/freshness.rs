//! How old the keys of accesses and calls may be, where keys are times (`recorder::order`).
//!
//! Taking the time costs more than recording an access. So accesses and calls have the key of the last record whose time was taken, for a
//! number of words at most ([`fresh_words`]): a *page*. What synchronises, and whatever else is not an access or a call, takes the time and begins a page.
//!
//! For what happens-before orders that is enough: between two accesses that it orders, the first one's thread takes the time after the first, and
//! the second one's thread after that and before the second.
//!
//! **Orders that are seen late.** Who has looked at a lock of Rust's library and found it taken waits for it in code of the library, which records nothing: whoever reads the trace
//! knows by the next record that the thread has the lock. So what follows a load of an atomic, or an exchange that was not done, takes the time. And so does what
//! follows a sleep, as programs that should not do that wait for others by sleeping.
//!
//! **Whoever reads along** must know that no record will have a smaller key than some. A thread may have been asleep since its last page began. So the
//! reader *requests* fresh keys, by a number in the file's header: a thread that sees another number than before takes the time anew.

use foresee_format::{Tag, first_word};

use super::local::{Local, with_local};
use crate::recorder::order::{self, Clock, fresh_words};
use crate::recorder::trace_file;

/// Time has passed: this thread's next record takes it anew.
pub(crate) fn expire() {
    with_local(Local::expire);
}

impl Local {
    /// Whether a near record may have the key of the record before it.
    #[inline(always)]
    pub(super) fn is_fresh(&self) -> bool {
        self.next.get() < self.near.fresh_until.get() && self.request.get() == trace_file::request()
    }

    /// A record has just been written whose key was taken for it.
    #[inline(always)]
    pub(crate) fn note_fresh(&self) {
        self.near.fresh_until.set(self.next.get().wrapping_add(fresh_words()));
    }

    /// Takes the time for the next record, if keys are times and the last one is too old.
    #[inline(always)]
    pub(super) fn freshen(&self) {
        if order::clock() == Clock::Time && !self.is_fresh() {
            self.take_time();
        }
    }

    #[cold]
    #[inline(never)]
    fn take_time(&self) {
        // First the request, then the time: what is requested in between will be seen next time.
        self.request.set(trace_file::request());
        let key = order::plain_key(self.last.get());
        // Without room for two records, the next one takes its own time.
        if self.room() < 16 {
            return;
        }
        if self.near.key() != key {
            self.store_keyed(first_word(Tag::Now, 0, key), []);
        }
        self.near.fresh_until.set(self.next.get().wrapping_add(fresh_words().max(1)));
    }

    /// A key for what synchronises, taken now, and larger than this one.
    #[inline(always)]
    pub(crate) fn key_after(&self, other: u64) -> u64 {
        order::stamped_key(self.last.get().max(other))
    }

    /// A key for what does not change what others see, taken now.
    #[inline(always)]
    pub(crate) fn key_now(&self) -> u64 {
        order::plain_key(self.last.get())
    }

    /// The next record takes the time anew.
    #[inline(always)]
    pub(crate) fn expire(&self) {
        self.near.fresh_until.set(std::ptr::null_mut());
    }

    /// The key of an access: that of its page, if there is one.
    #[inline(always)]
    pub(super) fn access_key(&self) -> u64 {
        if order::clock() == Clock::Time && self.is_fresh() {
            self.near.key()
        } else {
            order::plain_key(self.last.get())
        }
    }
}
