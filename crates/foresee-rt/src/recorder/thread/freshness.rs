//! Whether a record may have the key of the one before it: most have, and then need no word for it.
//!
//! **By the counter** (`recorder::order`) it may if the counter is still where it was: it is news for all threads whenever one counts.
//!
//! **By time.** Taking the time costs more than recording an access. So accesses and calls have the key of the last record whose time was taken, for a
//! number of bytes at most ([`fresh_bytes`]): a *page*. What synchronises, and whatever else is not an access or a call, takes the time and begins a page.
//!
//! For what happens-before orders that is enough: between two accesses that it orders, the first one's thread takes the time after the first, and
//! the second one's thread after that and before the second.
//!
//! **Orders that are seen late.** Who has looked at a lock of Rust's library and found it taken waits for it in code of the library, which records nothing: whoever reads the trace
//! knows by the next record that the thread has the lock. So what follows that takes the time (`rust_std::locks`), as does what follows a load of an atomic, or an exchange that was not done. And so does what
//! follows a sleep, as programs that should not do that wait for others by sleeping.
//!
//! **Whoever reads along** must know that no record will have a smaller key than some. A thread may have been asleep since its last page began. So the
//! reader *requests* fresh keys, by a number in the file's header: that is news, too, and a thread that hears of it takes the time anew.
//!
//! **Cost.** So the fast path compares two addresses and two words, whichever the clock.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::local::{Local, ROOM_FOR_COMPACT, with_local};
use crate::recorder::order::{self, Clock, fresh_bytes};
use crate::recorder::trace_file;

/// Time has passed: this thread's next record takes it anew.
pub(crate) fn expire() {
    with_local(Local::expire);
}

impl Local {
    /// Whether a near record may have the key of the record before it, and there is room for one.
    #[inline(always)]
    pub(crate) fn is_fresh(&self) -> bool {
        let near = &self.near;
        self.next.get() < near.until.get() && near.news.get().load(Relaxed) == near.seen.get()
    }

    /// A record has just been written whose key was taken for it.
    #[inline(always)]
    pub(crate) fn note_fresh(&self) {
        match order::clock() {
            // For as long as there is room in the chunk, which is known already.
            Clock::Counter if !self.near.until.get().is_null() => {}
            Clock::Counter => self.let_near(order::counter(), usize::MAX),
            Clock::Time => self.let_near(trace_file::request(), fresh_bytes()),
        }
    }

    /// As many bytes may be of records without a key as the chunk has room for, but not more than so many.
    #[inline(always)]
    fn let_near(&self, news: &'static AtomicU64, most: usize) {
        let room = self.room().saturating_sub(ROOM_FOR_COMPACT);
        self.near.news.set(news);
        let is_possible = self.near.places().is_some();
        let until = if is_possible {
            self.next.get().wrapping_byte_add(room.min(most))
        } else {
            std::ptr::null_mut()
        };
        self.near.until.set(until);
    }

    /// Takes a key for the next record, if the last one is too old.
    #[inline(always)]
    pub(super) fn freshen(&self) {
        if !self.is_fresh() {
            self.take_key();
        }
    }

    #[cold]
    #[inline(never)]
    fn take_key(&self) {
        // Without room for two records, the next one takes its own.
        if self.room() < 2 * ROOM_FOR_COMPACT {
            return;
        }
        let is_time = order::clock() == Clock::Time;
        if is_time {
            // First the request, then the time: what is requested in between will be seen next time.
            self.near.seen.set(trace_file::request().load(Relaxed));
        }
        let key = order::plain_key(self.last.get());
        if self.near.key() != key {
            self.store_now(key);
        }
        if is_time {
            self.let_near(trace_file::request(), fresh_bytes().max(1));
        } else {
            self.note_fresh();
        }
    }

    /// A key for what synchronises, taken now, and larger than this one.
    #[inline(always)]
    pub(crate) fn key_after(&self, other: u64) -> u64 {
        order::stamped_key(self.last.get().max(other))
    }

    /// A key for a load of an atomic that was changed last by what has this one. Whatever changes it next takes a key later.
    #[inline(always)]
    pub(crate) fn key_of_load(&self, changed: u64, is_relaxed: bool) -> u64 {
        match order::clock() {
            Clock::Time => order::plain_key(self.last.get()).max(changed + 1),
            Clock::Counter if is_relaxed => order::plain_key(self.last.get()),
            Clock::Counter => self.key_after(changed),
        }
    }

    /// The next record takes the time anew, if keys are times.
    #[inline(always)]
    pub(crate) fn expire(&self) {
        match order::clock() {
            Clock::Time => self.near.until.set(std::ptr::null_mut()),
            Clock::Counter => self.note_fresh(),
        }
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
