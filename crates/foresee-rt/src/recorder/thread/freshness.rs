//! Whether a record may have the key of the one before it: most have, and then need no word for it.
//!
//! **Each at its own moment** (`recorder::order`): by the counter, a record may if the counter is still where it was: it is news for all threads whenever one counts. By time, none may.
//!
//! **In pages.** Taking the time costs more than recording an access, and so does looking at a counter that another processor has counted. So accesses and calls have the key of the last record that looked at the clock, for a
//! number of bytes at most: a *page*. Whatever else there is to record looks at the clock.
//!
//! For what happens-before orders that is enough: between two accesses that it orders, the first one's thread takes a key after the first, and
//! the second one's thread a larger one before the second.
//!
//! **Relaxed loads of atomics** have the key of their page, too, if that is larger than the key of the last change of what they load; all others look at the clock. The next change takes its key later, and that
//! is larger: no thread has a key that the clock has not come to (`recorder::atomics`).
//!
//! **Orders that are seen late.** Who has looked at a lock of Rust's library and found it taken waits for it in code of the library, which records nothing: whoever reads the trace
//! knows by the next record that the thread has the lock. So what follows that looks at the clock (`rust_std::locks`), as does what follows an exchange that was not done. And so does what
//! follows a sleep, as programs that should not do that wait for others by sleeping.
//!
//! **Whoever reads along** must know that no record will have a smaller key than some. A thread may have been asleep since its last page began. So the
//! reader *requests* fresh keys, by a number in the file's header: that is news, too, and a thread that hears of it looks at the clock anew.
//!
//! **Cost.** So the fast path compares two addresses and two words, whichever the clock; in pages, none of them is another processor's.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use foresee_format::near::near_key;

use super::local::{Local, ROOM_FOR_COMPACT, with_local};
use crate::recorder::order::{self, Clock};
use crate::recorder::trace_file;

/// Time has passed: this thread's next record looks at the clock anew.
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
            Clock::Time => self.let_near(trace_file::request(), order::page()),
            // As long as its page, or as there is room in the chunk: both are known already.
            Clock::Counter if !self.near.until.get().is_null() => {}
            Clock::Counter if order::moments_are_shared() => self.let_near(order::counter(), usize::MAX),
            Clock::Counter => self.let_near(trace_file::request(), order::page()),
        }
    }

    /// As many bytes may be of records without a key as the chunk has room for, but not more than so many.
    #[inline(always)]
    fn let_near(&self, news: &'static AtomicU64, most: usize) {
        let room = self.room().saturating_sub(ROOM_FOR_COMPACT);
        self.near.news.set(news);
        if self.near.is_exact() {
            self.near.seen.set(self.near.key());
        }
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
        if !order::moments_are_shared() {
            // First the request, then the clock: what is requested in between will be seen next time.
            self.near.seen.set(trace_file::request().load(Relaxed));
        }
        let key = order::plain_key(self.last.get());
        if self.near.key() != key {
            self.store_now(key);
        }
        if order::moments_are_shared() {
            self.note_fresh();
        } else {
            self.let_near(trace_file::request(), order::page().max(1));
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
        let last = self.last.get();
        if order::moments_are_shared() {
            return if is_relaxed { order::plain_key(last) } else { self.key_after(changed) };
        }
        let page = near_key(last);
        let has_page = is_relaxed && page > changed && self.is_fresh();
        if has_page { page } else { order::plain_key(last).max(near_key(changed)) }
    }

    /// The largest key that a record of the thread has.
    pub(crate) fn last_key(&self) -> u64 {
        self.last.get()
    }

    /// The key that an access has now, if it is fresh.
    #[inline(always)]
    pub(crate) fn page_key(&self) -> u64 {
        self.near.key()
    }

    /// The next record looks at the clock anew.
    #[inline(always)]
    pub(crate) fn expire(&self) {
        if order::moments_are_shared() {
            self.note_fresh();
        } else {
            self.near.until.set(std::ptr::null_mut());
        }
    }

    /// The key of an access: that of its page, if there is one.
    #[inline(always)]
    pub(super) fn access_key(&self) -> u64 {
        if !order::moments_are_shared() && self.is_fresh() {
            self.near.key()
        } else {
            order::plain_key(self.last.get())
        }
    }
}
