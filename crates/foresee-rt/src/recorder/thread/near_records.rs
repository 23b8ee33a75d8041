//! Accesses and calls, which are most of what a thread records, in one word each, and atomics in two.
//!
//! How a *near* record says how far it is from those before it, and which key it has, is part of the layout (`foresee_format::near`).
//! Here is the other half: knowing what is in this chunk already. Nothing is near at the beginning of a chunk, so each can be
//! read alone.
//!
//! The functions named `…_at_once` are the fast path of the whole runtime. They succeed if nothing special is to be done, and
//! otherwise do nothing; the caller then takes the long way (`Local::access` and the like). They are inlined into the compilers'
//! entry points and need no stack, which is why the long way is a function of its own.

use std::sync::atomic::{Ordering::Relaxed, Ordering::SeqCst, compiler_fence};

use foresee_format::near::{near_enter, with_digest};
use foresee_format::{DIGEST_SHIFT, Tag, first_word};

use super::local::{INSIDE, Local};
use super::records::always;
use super::shortcut;
use crate::knowledge;
use crate::recorder::order::plain_key;
use crate::recorder::{ring, seen_values, status};

/// What an access does.
#[derive(Clone, Copy)]
pub(crate) enum AccessKind {
    Read,
    Write,
}

impl AccessKind {
    #[inline(always)]
    const fn tag(self) -> Tag {
        match self {
            AccessKind::Read => Tag::Read,
            AccessKind::Write => Tag::Write,
        }
    }

    #[inline(always)]
    const fn near(self) -> Tag {
        match self {
            AccessKind::Read => Tag::NearRead,
            AccessKind::Write => Tag::NearWrite,
        }
    }
}

/// What an atomic operation did.
#[derive(Clone, Copy)]
pub(crate) enum AtomicEffect {
    /// It read this.
    Load(u64),
    /// It wrote this.
    Store(u64),
    /// It read the first and wrote the second.
    Rmw(u64, u64),
}

/// Records that all functions but the outermost `depth` are left: a jump, not a return.
pub(crate) fn leave_to(depth: u32) {
    always(|local| {
        while local.depth.get() > depth {
            local.exited();
        }
    });
}

impl Local {
    /// Records a plain access in one word, if that can be done at once.
    #[inline(always)]
    fn near_access(&self, kind: AccessKind, addr: u64, size: u8, pc: u64) -> bool {
        let Some(record) = self.near.access.encode(kind.near(), pc, addr, size) else { return false };
        let done = self.write_near(record);
        if done {
            self.near.access.set(pc, addr);
        }
        done
    }

    /// Records a plain access.
    #[inline(always)]
    pub(crate) fn access(&self, kind: AccessKind, addr: u64, size: u8, pc: u64) {
        self.monitor_access(matches!(kind, AccessKind::Write), addr, size.into());
        self.unmonitored_access(kind, addr, size, pc);
    }

    #[inline(always)]
    fn unmonitored_access(&self, kind: AccessKind, addr: u64, size: u8, pc: u64) {
        self.freshen();
        if !self.near_access(kind, addr, size, pc) {
            self.write(first_word(kind.tag(), size, self.access_key()), [pc, addr]);
            self.near.access.set(pc, addr);
        }
    }

    /// Records a plain read, with what it sees if that is asked for.
    #[inline(always)]
    pub(crate) fn read(&self, addr: u64, size: u8, pc: u64) {
        self.monitor_access(false, addr, size.into());
        if !seen_values::are_recorded() || seen_values::is_own(addr) {
            self.unmonitored_access(AccessKind::Read, addr, size, pc);
            return;
        }
        self.freshen();
        if !self.near_seen(addr, size, pc) {
            let first = first_word(Tag::ReadSeen, size, plain_key(self.last.get()));
            compiler_fence(SeqCst);
            let digest = u64::from(seen_values::digest(addr, size));
            self.write(first, [pc | digest << DIGEST_SHIFT, addr]);
            self.near.access.set(pc, addr);
        }
    }

    /// Records a read with what it sees in one word, if that can be done at once.
    #[inline(always)]
    fn near_seen(&self, addr: u64, size: u8, pc: u64) -> bool {
        let Some(record) = self.near.access.encode_seen(pc, addr, size) else { return false };
        // First the key, then what is seen.
        let is_fresh = self.is_fresh();
        if is_fresh {
            compiler_fence(SeqCst);
            self.store(with_digest(record, seen_values::digest(addr, size)), []);
            self.near.access.set(pc, addr);
        }
        is_fresh
    }

    /// Records a plain read in one word, with what it sees, if that can be done at once.
    #[inline(always)]
    fn near_read(&self, addr: u64, size: u8, pc: u64) -> bool {
        if seen_values::is_own(addr) {
            self.near_access(AccessKind::Read, addr, size, pc)
        } else {
            self.near_seen(addr, size, pc)
        }
    }

    #[inline(always)]
    fn near_entered(&self, call: u64, callee: u64) -> bool {
        match near_enter(self.near.access.pc(), call, callee) {
            Some(record) => self.write_near(record),
            None => false,
        }
    }

    /// Records that a function is entered.
    pub(crate) fn entered(&self, call: u64, callee: u64) {
        self.freshen();
        // First, as a chunk that begins with this record lists the calls without it.
        if !self.near_entered(call, callee) {
            self.plain(Tag::Enter, 0, [call, callee]);
        }
        let depth = self.depth.get();
        if ring::is_on() {
            self.frames.set(self.frames.get().note(depth, [call, callee]));
        }
        self.depth.set(depth + 1);
    }

    /// Records that a function is left.
    #[inline(always)]
    pub(crate) fn exited(&self) {
        self.freshen();
        if !self.write_near(Tag::NearExit as u64) {
            self.plain(Tag::Exit, 0, []);
        }
        self.depth.set(self.depth.get().saturating_sub(1));
    }

    fn near_block(&self) -> bool {
        let done = self.write_near(Tag::NearBranch as u64);
        if done {
            self.branch_end.set(self.next.get());
        }
        done
    }

    /// Records that a block begins.
    pub(crate) fn block_begins(&self) {
        self.freshen();
        if !self.near_block() {
            self.plain(Tag::Branch, 0, []);
            self.branch_end.set(self.next.get());
        }
    }

    /// Records an atomic operation whose key was taken before.
    #[inline(always)]
    pub(crate) fn atomic(&self, key: u64, effect: AtomicEffect, detail: u8, pc: u64, addr: u64) {
        if status::monitored() {
            let (reads, written) = match effect {
                AtomicEffect::Load(_) => (true, None),
                AtomicEffect::Store(value) => (false, Some(value)),
                AtomicEffect::Rmw(_, value) => (true, Some(value)),
            };
            knowledge::atomic(self.thread.get(), reads, written, addr, 1 << (detail >> 4 & 7));
        }
        let (near, values) = match effect {
            AtomicEffect::Load(value) => (Tag::NearLoad, [value, value]),
            AtomicEffect::Store(value) => (Tag::NearStore, [value, value]),
            AtomicEffect::Rmw(old, new) => (Tag::NearRmw, [old, new]),
        };
        match (self.near.access.atomic(pc, addr, values), effect) {
            (Some(word), _) if self.room() >= 16 => {
                self.write(first_word(near, detail, key), [word]);
                self.near.access.set(pc, addr);
            }
            (_, AtomicEffect::Load(value)) => self.unmonitored_at(key, Tag::Load, detail, [pc, addr, value]),
            (_, AtomicEffect::Store(value)) => {
                self.unmonitored_at(key, Tag::Store, detail, [pc, addr, value])
            }
            (_, AtomicEffect::Rmw(old, new)) => {
                self.unmonitored_at(key, Tag::Rmw, detail, [pc, addr, old, new])
            }
        }
    }

    /// Writes a near record, if it may have the key of the one before it ([`freshen`](Local::freshen)).
    #[inline(always)]
    fn write_near(&self, record: u64) -> bool {
        let is_fresh = self.is_fresh();
        if is_fresh {
            self.store(record, []);
        }
        is_fresh
    }
}

/// Enters in the one case that has to be fast: all such events are `alike`, and the thread is in no state of any kind.
#[inline(always)]
fn enter_at_once<'a>(alike: bool) -> Option<&'a Local> {
    if !alike {
        return None;
    }
    let local = shortcut::noted()?;
    if local.state.load(Relaxed) != 0 {
        return None;
    }
    local.state.store(INSIDE, Relaxed);
    compiler_fence(SeqCst);
    Some(local)
}

impl Local {
    /// Leaves after [`enter_at_once`]; whether something was done, which is passed on.
    #[inline(always)]
    fn leave_at_once(&self, done: bool) -> bool {
        if done {
            self.leave_for(0);
        } else {
            // The long way enters again, and delivers what is deferred.
            compiler_fence(SeqCst);
            self.state.store(0, Relaxed);
        }
        done
    }
}

/// Records a plain access, if that can be done at once.
#[inline(always)]
pub(crate) fn access_at_once(kind: AccessKind, addr: u64, size: u8, pc: u64) -> bool {
    let alike = match kind {
        AccessKind::Read => status::recording_reads_alike(),
        AccessKind::Write => status::recording_all_alike(),
    };
    let Some(local) = enter_at_once(alike) else { return false };
    local.leave_at_once(local.near_access(kind, addr, size, pc))
}

/// Records a plain read with what it sees, if that can be done at once.
#[inline(always)]
pub(crate) fn seen_at_once<const SIZE: u8>(addr: u64, pc: u64) -> bool {
    let Some(local) = enter_at_once(status::recording_all_alike()) else { return false };
    local.leave_at_once(local.near_read(addr, SIZE, pc))
}

/// Records that a function is entered, if that can be done at once.
#[inline(always)]
pub(crate) fn entered_at_once(call: u64, callee: u64) -> bool {
    let Some(local) = enter_at_once(status::recording_all_alike()) else { return false };
    let done = !ring::is_on() && local.near_entered(call, callee);
    local.depth.set(local.depth.get() + u32::from(done));
    local.leave_at_once(done)
}

/// Records that a function is left, if that can be done at once.
#[inline(always)]
pub(crate) fn exited_at_once() -> bool {
    let Some(local) = enter_at_once(status::recording_all_alike()) else { return false };
    let done = local.write_near(Tag::NearExit as u64);
    local.depth.set(local.depth.get().saturating_sub(u32::from(done)));
    local.leave_at_once(done)
}

/// Records that a block begins, if that can be done at once. Nothing is to be done if nothing was recorded since the last one.
#[inline(always)]
pub(crate) fn block_begins_at_once() -> bool {
    let Some(local) = enter_at_once(status::recording_all_alike()) else { return false };
    let is_done = local.branch_end.get() == local.next.get();
    local.leave_at_once(is_done || local.near_block())
}
