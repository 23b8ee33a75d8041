//! Records in full, and who may write them when.

use std::sync::atomic::{Ordering::Relaxed, Ordering::SeqCst, compiler_fence};

use foresee_format::{self as format, Tag, first_word};

use super::ignoring::Ignored;
use super::local::{INSIDE, Local, UNSETTLED, with_local};
use crate::knowledge;
use crate::recorder::frames::Frames;
use crate::recorder::order::{plain_key, stamped_key};
use crate::recorder::status;
use crate::recorder::watched::{Access, Unsettled};

/// Does `record` as this thread, if events are recorded and the thread is in none of the states of `unless`.
#[inline(always)]
fn unless<R>(unless: u8, record: impl FnOnce(&Local) -> R) -> Option<R> {
    if !status::recording() {
        return None;
    }
    with_local(|local| {
        if !local.enter(unless) {
            return None;
        }
        let result = record(local);
        local.leave();
        if status::monitored() {
            knowledge::recover();
        }
        Some(result)
    })
}

/// Does `record` as this thread, if events are recorded, the thread is not inside of the runtime already, and it was not asked
/// to ignore synchronisation.
#[inline(always)]
pub(crate) fn inside<R>(record: impl FnOnce(&Local) -> R) -> Option<R> {
    unless(INSIDE | Ignored::Synchronisation.bit(), record)
}

/// As [`inside`], for an access to memory: it may be ignored, too.
#[inline(always)]
pub(crate) fn accessing<R>(record: impl FnOnce(&Local) -> R) -> Option<R> {
    unless(INSIDE | Ignored::Accesses.bit(), record)
}

/// As [`inside`], for calls, which only the work of monitors has none of.
#[inline(always)]
pub(crate) fn calling<R>(record: impl FnOnce(&Local) -> R) -> Option<R> {
    unless(INSIDE | Ignored::Calls.bit(), record)
}

/// As [`inside`], for what has to be recorded whatever is ignored: threads, the life of memory.
#[inline(always)]
pub(crate) fn always<R>(record: impl FnOnce(&Local) -> R) -> Option<R> {
    unless(INSIDE, record)
}

/// Records something that synchronises nothing.
#[inline(always)]
pub(crate) fn plain<const N: usize>(tag: Tag, detail: u8, words: [u64; N]) {
    inside(|local| local.plain(tag, detail, words));
}

/// Records something whose place in the order matters, at this moment.
#[inline(always)]
pub(crate) fn stamped<const N: usize>(tag: Tag, detail: u8, words: [u64; N]) {
    inside(|local| local.stamped(tag, detail, words));
}

impl Local {
    #[inline(always)]
    pub(crate) fn plain<const N: usize>(&self, tag: Tag, detail: u8, words: [u64; N]) {
        if status::monitored() {
            knowledge::record(self.thread.get(), tag, detail, &words);
        }
        self.unmonitored(tag, detail, words);
    }

    /// Records something that is no step of its own.
    #[inline(always)]
    pub(super) fn unmonitored<const N: usize>(&self, tag: Tag, detail: u8, words: [u64; N]) {
        self.write(first_word(tag, detail, plain_key(self.last.get())), words);
        self.note_fresh();
        self.near.note(tag, detail, words);
    }

    #[inline(always)]
    pub(crate) fn stamped<const N: usize>(&self, tag: Tag, detail: u8, words: [u64; N]) {
        let key = stamped_key(self.last.get());
        if status::monitored() {
            knowledge::record(self.thread.get(), tag, detail, &words);
        }
        self.unmonitored_at(key, tag, detail, words);
        self.note_fresh();
    }

    /// Records something that is no step of its own, and whose key was taken before.
    #[inline(always)]
    pub(super) fn unmonitored_at<const N: usize>(&self, key: u64, tag: Tag, detail: u8, words: [u64; N]) {
        self.write(first_word(tag, detail, key), words);
        self.near.note(tag, detail, words);
    }

    /// Records an access with its value, which is filled in when the thread enters the runtime again: the last record
    /// before it leaves.
    pub(crate) fn with_value(&self, tag: Tag, access: Access, pc: u64) {
        // A step that needs the value waits for it, too.
        if !(status::monitored() && knowledge::waits_for_value(access.writes())) {
            self.monitor_access(access.writes(), access.addr, access.size.into());
        }
        let first = first_word(tag, access.size | format::UNSETTLED, plain_key(self.last.get()));
        match self.write(first, [pc, access.addr, 0]) {
            Some(record) => {
                self.unsettled.set(Some(Unsettled::new(access, record)));
                compiler_fence(SeqCst);
                self.state.store(self.state.load(Relaxed) | UNSETTLED, Relaxed);
            }
            None => access.abandon(),
        }
    }

    /// A plain access is a step of this thread's monitor, if it has one.
    #[inline(always)]
    pub(crate) fn monitor_access(&self, is_write: bool, addr: u64, size: u64) {
        if status::monitored() {
            knowledge::access(self.thread.get(), is_write, addr, size);
        }
    }

    /// This thread assigns a variable of its own.
    pub(crate) fn monitor_assignment(&self, name: &[u8], value: u64) {
        if status::monitored() {
            knowledge::assign(self.thread.get(), name, value);
        }
    }

    /// The thread's number, given to it before its first record. If a signal handler was earlier, what it did stays with the number it
    /// got.
    pub(crate) fn set_thread(&self, thread: u32) {
        self.drop_chunk();
        self.thread.set(thread);
    }

    /// The thread's last record is written.
    pub(crate) fn end(&self) {
        self.set_ended();
        self.frames.replace(Frames::NONE).drop();
        self.end_chunk();
    }

    /// Writes a record with a key; where it is, if there was room for it.
    #[inline(always)]
    pub(super) fn write<const N: usize>(&self, first: u64, words: [u64; N]) -> Option<*mut u64> {
        // With fillers before it.
        if self.room() < 8 * (N + 2) && !self.make_room(first) {
            return None;
        }
        Some(self.store_keyed(first, words))
    }
}
