//! Records in full, and who may write them when.

use std::sync::atomic::{Ordering::Relaxed, Ordering::SeqCst, compiler_fence};

use foresee_format::{self as format, ShortCall, Tag, first_word};

use super::ignoring::Ignored;
use super::local::{INSIDE, Local, NOBODY, UNSETTLED, with_local};
use super::numbers::new_thread;
use crate::monitors;
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
        if status::monitored() && monitors::has_to_recover() {
            local.before_its_access(|| monitors::recover(local.depth.get()));
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
            monitors::record(self.monitored_thread(), tag, detail, &words);
            if status::only_monitored() {
                return;
            }
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
        if status::only_monitored() {
            return monitors::record(self.monitored_thread(), tag, detail, &words);
        }
        let key = stamped_key(self.last.get());
        if status::monitored() {
            monitors::record(self.monitored_thread(), tag, detail, &words);
        }
        self.unmonitored_at(key, tag, detail, words);
        self.note_fresh();
    }

    /// Records a call in one record, at this moment, where nothing is monitored; false if it does not fit into one.
    #[inline(always)]
    pub(crate) fn short_call(&self, call: &ShortCall) -> bool {
        let Some((tag, detail, [place, first, second, third])) = call.record() else { return false };
        let head = first_word(tag, detail, stamped_key(self.last.get()));
        match tag {
            Tag::CallAlone => self.write(head, [place]),
            Tag::CallWith1 => self.write(head, [place, first]),
            Tag::CallWith2 => self.write(head, [place, first, second]),
            _ => self.write(head, [place, first, second, third]),
        };
        self.note_fresh();
        true
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
        if access.is_raced() && status::monitored() {
            monitors::raced(access.addr, access.size.into());
        }
        // A step that needs the value waits for it, too.
        if !(status::monitored() && monitors::waits_for_value(access.writes())) {
            self.monitor_access(access.writes(), access.addr, access.size.into(), pc);
        }
        if status::only_monitored() {
            return self.is_unsettled(Unsettled::unrecorded(access, pc));
        }
        let first = first_word(tag, access.size | format::UNSETTLED, plain_key(self.last.get()));
        match self.write(first, [pc, access.addr, 0]) {
            Some(record) => self.is_unsettled(Unsettled::new(access, record, pc)),
            None => access.abandon(),
        }
    }

    fn is_unsettled(&self, unsettled: Unsettled) {
        self.unsettled.set(Some(unsettled));
        compiler_fence(SeqCst);
        self.state.store(self.state.load(Relaxed) | UNSETTLED, Relaxed);
    }

    /// A plain access is a step of this thread's monitor, if it has one.
    #[inline(always)]
    pub(crate) fn monitor_access(&self, is_write: bool, addr: u64, size: u64, pc: u64) {
        if status::monitored() {
            monitors::access(self.monitored_thread(), is_write, addr, size, pc);
        }
    }

    /// This thread assigns a variable of its own.
    pub(crate) fn monitor_assignment(&self, name: &[u8], value: u64, pc: u64) {
        if status::monitored() {
            monitors::assign(self.monitored_thread(), name, value, pc);
        }
    }

    /// A named event happens in this thread.
    pub(crate) fn monitor_event(&self, name: &[u8], pc: u64) {
        if status::monitored() {
            monitors::named(self.monitored_thread(), name, pc);
        }
    }

    /// This thread's number. Without a trace, nobody else gives one to a thread that was not made by `pthread_create`.
    #[inline(always)]
    pub(crate) fn monitored_thread(&self) -> u32 {
        if self.thread.get() == NOBODY && status::only_monitored() {
            self.thread.set(new_thread().unwrap_or(NOBODY));
        }
        self.thread.get()
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
