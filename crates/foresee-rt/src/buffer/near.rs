//! Accesses and calls, which are most of what a thread records, in one word each, and atomics in two.
//!
//! Where a *near* record says how far it is from those before it, and what key it has, is part of the layout (`format`). Here is the
//! other half: knowing what has been said in this chunk. Nothing is near at the beginning of a chunk, so each can be read alone.

use std::cell::Cell;
use std::sync::atomic::{Ordering::Relaxed, Ordering::SeqCst, compiler_fence};

use foresee_format::near::{NearAccess, near_enter, near_key};
use foresee_format::{Tag, first_word};

use super::{COUNTER, INSIDE, Local, with_local};
use crate::atomics::Did;
use crate::{keep, rawfile};

/// What an access does.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Read,
    Write,
}

impl Kind {
    #[inline(always)]
    const fn tag(self) -> Tag {
        match self {
            Kind::Read => Tag::Read,
            Kind::Write => Tag::Write,
        }
    }

    #[inline(always)]
    const fn near(self) -> Tag {
        match self {
            Kind::Read => Tag::NearRead,
            Kind::Write => Tag::NearWrite,
        }
    }
}

/// What the next record may be near to, in the current chunk.
pub(super) struct Near {
    access: NearAccess,
    /// The key of a near record, if it is the next.
    key: Cell<u64>,
}

/// No key.
const NEVER: u64 = u64::MAX;

impl Near {
    pub(super) const fn nowhere() -> Near {
        Near { access: NearAccess::nowhere(), key: Cell::new(NEVER) }
    }

    /// Nothing is near to what comes next.
    pub(super) fn forget(&self) {
        self.access.forget();
        self.key.set(NEVER);
    }

    /// A record with this key is written.
    #[inline(always)]
    pub(super) fn keyed(&self, key: u64) {
        self.key.set(near_key(key));
    }
}

impl Local {
    /// Records a plain access in one word, if that can be done at once.
    #[inline(always)]
    fn near_access(&self, kind: Kind, addr: u64, size: u8, pc: u64) -> bool {
        let record = self.near.access.encode(kind.near(), pc, addr, size);
        let done = record.is_some_and(|record| self.write_near(record));
        if done {
            self.near.access.set(pc, addr);
        }
        done
    }

    /// Records a plain access.
    #[inline(always)]
    pub(crate) fn access(&self, kind: Kind, addr: u64, size: u8, pc: u64) {
        if !self.near_access(kind, addr, size, pc) {
            self.plain(kind.tag(), size, [pc, addr]);
        }
    }

    #[inline(always)]
    fn near_entered(&self, call: u64, callee: u64) -> bool {
        let record = near_enter(self.near.access.pc(), call, callee);
        record.is_some_and(|record| self.write_near(record))
    }

    /// Records that a function is entered.
    pub(crate) fn entered(&self, call: u64, callee: u64) {
        // First, as a chunk that begins with it tells the calls without it.
        if !self.near_entered(call, callee) {
            self.plain(Tag::Enter, 0, [call, callee]);
        }
        let depth = self.depth.get();
        if keep::is_on() {
            self.frames.set(self.frames.get().note(depth, [call, callee]));
        }
        self.depth.set(depth + 1);
    }

    /// Records that a function is left.
    #[inline(always)]
    pub(crate) fn exited(&self) {
        if !self.write_near(Tag::NearExit as u64) {
            self.plain(Tag::Exit, 0, []);
        }
        self.depth.set(self.depth.get().saturating_sub(1));
    }

    fn near_branched(&self) -> bool {
        let done = self.write_near(Tag::NearBranch as u64);
        if done {
            self.branched.set(self.next.get());
        }
        done
    }

    /// Records that a block begins.
    pub(crate) fn branched(&self) {
        if !self.near_branched() {
            self.plain(Tag::Branch, 0, []);
            self.branched.set(self.next.get());
        }
    }

    /// Records an atomic operation whose place in the order was taken before, by `stamp`.
    #[inline(always)]
    pub(crate) fn atomic(&self, stamp: u64, did: Did, detail: u8, pc: u64, addr: u64) {
        let (near, values) = match did {
            Did::Load(value) => (Tag::NearLoad, [value, value]),
            Did::Store(value) => (Tag::NearStore, [value, value]),
            Did::Rmw(old, new) => (Tag::NearRmw, [old, new]),
        };
        match (self.near.access.atomic(pc, addr, values), did) {
            (Some(word), _) if self.room() >= 16 => {
                self.write(first_word(near, detail, 2 * stamp + 1), [word]);
                self.near.access.set(pc, addr);
            }
            (_, Did::Load(value)) => self.stamped_at(stamp, Tag::Load, detail, [pc, addr, value]),
            (_, Did::Store(value)) => self.stamped_at(stamp, Tag::Store, detail, [pc, addr, value]),
            (_, Did::Rmw(old, new)) => self.stamped_at(stamp, Tag::Rmw, detail, [pc, addr, old, new]),
        }
    }

    /// What a record in full tells those after it.
    #[inline(always)]
    pub(super) fn told<const N: usize>(&self, tag: Tag, words: [u64; N]) {
        if let (Tag::Read | Tag::Write | Tag::Load | Tag::Store | Tag::Rmw, [pc, addr, ..]) =
            (tag, &words[..])
        {
            self.near.access.set(*pc, *addr);
        }
    }

    /// Writes a near record, and before it its key, if that is not the one it would have. If the chunk has no room for both, a
    /// record in full begins the next.
    #[inline(always)]
    fn write_near(&self, record: u64) -> bool {
        if self.room() < 16 {
            return false;
        }
        let key = 2 * COUNTER.load(Relaxed);
        if self.near.key.get() != key {
            self.store(first_word(Tag::Now, 0, key), []);
            self.near.keyed(key);
        }
        self.store(record, []);
        true
    }
}

/// Does `record` in the one case that has to be fast: the thread is in no state of any kind, and nothing needs care. Whether it
/// was done; if not, nothing was.
///
/// What is left out, and what uses more registers than a call may, is the business of other functions: so this one needs no stack.
#[inline(always)]
fn at_once(record: impl FnOnce(&Local) -> bool) -> bool {
    if !rawfile::recording_plainly() {
        return false;
    }
    with_local(|local| {
        if local.state.load(Relaxed) != 0 {
            return false;
        }
        local.state.store(INSIDE, Relaxed);
        compiler_fence(SeqCst);
        let done = record(local);
        compiler_fence(SeqCst);
        local.state.store(0, Relaxed);
        done
    })
}

/// Records a plain access, if that can be done at once.
#[inline(always)]
pub(crate) fn access_at_once(kind: Kind, addr: u64, size: u8, pc: u64) -> bool {
    at_once(|local| local.near_access(kind, addr, size, pc))
}

/// Records that a function is entered, if that can be done at once.
#[inline(always)]
pub(crate) fn entered_at_once(call: u64, callee: u64) -> bool {
    at_once(|local| {
        let done = !keep::is_on() && local.near_entered(call, callee);
        local.depth.set(local.depth.get() + u32::from(done));
        done
    })
}

/// Records that a function is left, if that can be done at once.
#[inline(always)]
pub(crate) fn exited_at_once() -> bool {
    at_once(|local| {
        let done = local.write_near(Tag::NearExit as u64);
        local.depth.set(local.depth.get().saturating_sub(u32::from(done)));
        done
    })
}

/// Records that a block begins, if that can be done at once. Nothing is to be done if nothing was recorded since the last one.
#[inline(always)]
pub(crate) fn branched_at_once() -> bool {
    at_once(|local| local.branched.get() == local.next.get() || local.near_branched())
}
