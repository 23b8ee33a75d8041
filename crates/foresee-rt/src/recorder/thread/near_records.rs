//! Accesses and calls, which are most of what a thread records, mostly in one byte each, and atomics in two words.
//!
//! How a *compact* record says what is done where the thread has been before, how a *near* one says how far it is from those before it, and
//! which key they have, is part of the layout (`foresee_format::places`, `foresee_format::near`). Here is the other half: knowing what is in this chunk already.
//! Nothing is known at the beginning of a chunk, so each can be read alone.
//!
//! The functions named `…_at_once` are the fast path of the whole runtime. They succeed if nothing special is to be done, and
//! otherwise do nothing; the caller then takes the long way (`Local::access` and the like). They are inlined into the compilers'
//! entry points and need no stack, which is why the long way is a function of its own.

use std::sync::atomic::{Ordering::Relaxed, Ordering::SeqCst, compiler_fence};

use foresee_format::near::with_digest;
use foresee_format::places::{BRANCH, EXIT, WrittenPlaces, what};
use foresee_format::{DIGEST_SHIFT, Tag, first_word};

use super::local::{INSIDE, Local, ROOM_FOR_COMPACT};
use super::records::always;
use super::shortcut;
use crate::monitors;
use crate::recorder::order::plain_key;
use crate::recorder::{ring, seen_values, status, watched};

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

    /// What an access of so many bytes here is, at its place.
    #[inline(always)]
    const fn at(self, size: u8, pc: u64) -> u64 {
        let tag = match self {
            AccessKind::Read => Tag::ReadAt,
            AccessKind::Write => Tag::WriteAt,
        };
        what(tag, size, pc)
    }

    /// The tags of an access to a range of bytes, in full and at its place.
    const fn range_tags(self) -> [Tag; 2] {
        match self {
            AccessKind::Read => [Tag::ReadRange, Tag::ReadRangeAt],
            AccessKind::Write => [Tag::WriteRange, Tag::WriteRangeAt],
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
    /// Records what is done at a place in one byte, if that can be done at once.
    #[inline(always)]
    fn usual(&self, what: u64, addr: u64) -> bool {
        let Some(places) = self.fresh_places() else { return false };
        let Some(record) = places.usual(what, addr) else { return false };
        self.store_at(places, record, addr);
        true
    }

    /// Records what is done at a place in a few bytes, if that can be done at once.
    #[inline(always)]
    fn further(&self, what: u64, addr: u64) -> bool {
        let Some(places) = self.fresh_places() else { return false };
        let Some(record) = places.further(what, addr) else { return false };
        self.store_at(places, record, addr);
        true
    }

    /// The places, if a record may have the key of the one before it.
    #[inline(always)]
    fn fresh_places(&self) -> Option<&WrittenPlaces> {
        // SAFETY: nothing is fresh without a table of places (`let_near`).
        self.is_fresh().then(|| unsafe { self.near.places().unwrap_unchecked() })
    }

    /// Records a load that has the key of the accesses before, which is fresh, in a few bytes, if that can be done at once.
    #[inline(always)]
    fn usual_load(&self, what: u64, addr: u64, value: u64) -> bool {
        let Some(places) = self.near.places() else { return false };
        let Some(record) = places.load(what, addr, value) else { return false };
        self.store_at(places, record, addr);
        true
    }

    /// Records what is done at a place without a key, if that can be done at once.
    #[inline]
    fn at_place(&self, what: u64, addr: u64) -> bool {
        let Some(places) = self.near.places().filter(|_| self.is_fresh()) else { return false };
        if let Some(record) = places.known(what, addr) {
            self.store_at(places, record, addr);
            return true;
        }
        let Some(second) = places.full(what, addr) else { return false };
        self.store(what, [second]);
        places.note_full(what, second);
        true
    }

    /// Records a plain access.
    #[inline(always)]
    pub(crate) fn access(&self, kind: AccessKind, addr: u64, size: u8, pc: u64) {
        self.monitor_access(matches!(kind, AccessKind::Write), addr, size.into(), pc);
        self.unmonitored_access(kind, addr, size, pc);
    }

    #[inline(always)]
    fn unmonitored_access(&self, kind: AccessKind, addr: u64, size: u8, pc: u64) {
        if status::only_monitored() {
            return;
        }
        self.freshen();
        if !self.at_place(kind.at(size, pc), addr) {
            self.write(first_word(kind.tag(), size, self.access_key()), [pc, addr]);
            self.near.access.set(pc, addr);
        }
    }

    /// Records an access to a range of bytes.
    pub(crate) fn range(&self, kind: AccessKind, addr: u64, size: u64, pc: u64) {
        let [tag, at] = kind.range_tags();
        if let (Ok(size), false) = (u8::try_from(size), status::monitored()) {
            self.freshen();
            if self.at_place(what(at, size, pc), addr) {
                return;
            }
        }
        self.plain(tag, 0, [pc, addr, size]);
    }

    /// Records a plain read, with what it sees if that is asked for.
    #[inline(always)]
    pub(crate) fn read(&self, addr: u64, size: u8, pc: u64) {
        self.monitor_access(false, addr, size.into(), pc);
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

    /// Records a plain read shortly, with what it sees, if that can be done at once.
    #[inline(always)]
    fn near_read(&self, addr: u64, size: u8, pc: u64) -> bool {
        if seen_values::is_own(addr) {
            self.usual(AccessKind::Read.at(size, pc), addr)
        } else {
            self.near_seen(addr, size, pc)
        }
    }

    /// Records that a function is entered.
    pub(crate) fn entered(&self, call: u64, callee: u64) {
        if status::only_monitored() {
            return;
        }
        self.freshen();
        // First, as a chunk that begins with this record lists the calls without it.
        if !self.at_place(what(Tag::EnterAt, 0, callee), call) {
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
        if status::only_monitored() {
            return;
        }
        self.freshen();
        if !self.write_byte(EXIT) {
            self.plain(Tag::Exit, 0, []);
        }
        self.depth.set(self.depth.get().saturating_sub(1));
    }

    fn near_block(&self) -> bool {
        let done = self.write_byte(BRANCH);
        if done {
            self.branch_end.set(self.next.get());
        }
        done
    }

    /// Records that a block begins.
    pub(crate) fn block_begins(&self) {
        if status::only_monitored() {
            return;
        }
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
            let size = 1 << (detail >> 4 & 7);
            if watched::is_being_written(addr, size) {
                monitors::raced(addr, size);
            }
            monitors::atomic(self.monitored_thread(), reads, written, addr, size, pc);
            if status::only_monitored() {
                return;
            }
        }
        let (near, values) = match effect {
            AtomicEffect::Load(value) => (Tag::NearLoad, [value, value]),
            AtomicEffect::Store(value) => (Tag::NearStore, [value, value]),
            AtomicEffect::Rmw(old, new) => (Tag::NearRmw, [old, new]),
        };
        let at = what(near, detail, pc);
        let is_written = match effect {
            AtomicEffect::Load(value) if key.is_multiple_of(2) => self.compact_load(key, at, addr, value),
            _ => self.compact_atomic(key, at, addr, values),
        };
        if is_written {
            return;
        }
        match (self.near.access.atomic(pc, addr, values), effect) {
            (Some(word), _) if self.room() >= ROOM_FOR_COMPACT => {
                self.write(first_word(near, detail, key), [word]);
                self.near.access.set(pc, addr);
                if let Some(places) = self.near.places() {
                    places.note_atomic(at, addr, values[0]);
                }
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

    /// Records an atomic operation in one word, if that is possible.
    #[inline(always)]
    fn compact_atomic(&self, key: u64, at: u64, addr: u64, values: [u64; 2]) -> bool {
        let steps = key.wrapping_sub(self.near.key());
        let Some(places) = self.near.places().filter(|_| steps % 2 == 1) else { return false };
        let Some(record) = places.atomic(at, addr, values, steps / 2) else { return false };
        if self.room() < ROOM_FOR_COMPACT {
            return false;
        }
        self.store_at(places, record, addr);
        self.note_key(key);
        true
    }

    /// Records a load, whose key is even, in a few bytes, if that is possible.
    #[inline(always)]
    fn compact_load(&self, key: u64, at: u64, addr: u64, value: u64) -> bool {
        let Some(places) = self.near.places().filter(|_| self.room() >= 2 * ROOM_FOR_COMPACT) else {
            return false;
        };
        let Some(record) = places.load(at, addr, value) else { return false };
        if self.near.key() != key {
            self.store_now(key);
        }
        self.store_at(places, record, addr);
        true
    }

    /// Writes a compact record of one byte, if it may have the key of the one before it ([`freshen`](Local::freshen)).
    #[inline(always)]
    fn write_byte(&self, record: u8) -> bool {
        let is_fresh = self.is_fresh();
        if is_fresh {
            self.store_compact(record.into(), 1);
        }
        is_fresh
    }
}

/// Enters in the one case that has to be fast: all such events are `alike`, and the thread is in no state of any kind.
#[inline(always)]
fn enter_at_once<'a>(alike: bool) -> Option<&'a Local> {
    if alike { enter_if_stateless() } else { None }
}

/// As [`enter_at_once`], where that is known.
#[inline(always)]
fn enter_if_stateless<'a>() -> Option<&'a Local> {
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

/// Whether accesses of this kind are all recorded just as they come.
#[inline(always)]
fn are_alike(kind: AccessKind) -> bool {
    match kind {
        AccessKind::Read => status::recording_reads_alike(),
        AccessKind::Write => status::recording_all_alike(),
    }
}

/// Records a plain access, if that can be done at once, in one byte. All such events are alike.
#[inline(always)]
pub(crate) fn alike_access_at_once(kind: AccessKind, addr: u64, size: u8, pc: u64) -> bool {
    let Some(local) = enter_if_stateless() else { return false };
    local.leave_at_once(local.usual(kind.at(size, pc), addr))
}

/// The same, where they may be others.
#[inline(always)]
pub(crate) fn access_at_once(kind: AccessKind, addr: u64, size: u8, pc: u64) -> bool {
    are_alike(kind) && alike_access_at_once(kind, addr, size, pc)
}

/// Records a plain access, if that can be done at once, in a few bytes.
#[inline(always)]
pub(crate) fn further_access_at_once(kind: AccessKind, addr: u64, size: u8, pc: u64) -> bool {
    let Some(local) = enter_at_once(are_alike(kind)) else { return false };
    local.leave_at_once(local.further(kind.at(size, pc), addr))
}

/// Records a plain access, if that can be done at once, in as many bytes as it takes.
#[inline(always)]
pub(crate) fn known_access_at_once(kind: AccessKind, addr: u64, size: u8, pc: u64) -> bool {
    let Some(local) = enter_at_once(are_alike(kind)) else { return false };
    local.freshen();
    local.leave_at_once(local.at_place(kind.at(size, pc), addr))
}

/// Records a plain read with what it sees, if that can be done at once.
#[inline(always)]
pub(crate) fn seen_at_once<const SIZE: u8>(addr: u64, pc: u64) -> bool {
    let Some(local) = enter_at_once(status::recording_all_alike()) else { return false };
    local.leave_at_once(local.near_read(addr, SIZE, pc))
}

/// Does and records a relaxed load of an atomic, if that can be done at once. `load` says what was loaded, if the key that an access
/// has now is that of the record before, and is one that the load can have.
#[inline(always)]
pub(crate) fn load_at_once<R: Copy + Into<u64>>(
    addr: u64,
    detail: u8,
    pc: u64,
    load: impl FnOnce(&Local) -> Option<R>,
) -> Option<R> {
    let local = enter_at_once(status::recording_all_alike())?;
    let loaded =
        load(local).filter(|&loaded| local.usual_load(what(Tag::NearLoad, detail, pc), addr, loaded.into()));
    local.leave_at_once(loaded.is_some());
    loaded
}

/// Records that a function is entered, if that can be done at once.
#[inline(always)]
pub(crate) fn entered_at_once(call: u64, callee: u64) -> bool {
    let Some(local) = enter_at_once(status::recording_all_alike()) else { return false };
    let done = !ring::is_on() && local.usual(what(Tag::EnterAt, 0, callee), call);
    local.depth.set(local.depth.get() + u32::from(done));
    local.leave_at_once(done)
}

/// Records that a function is left, if that can be done at once.
#[inline(always)]
pub(crate) fn exited_at_once() -> bool {
    let Some(local) = enter_at_once(status::recording_all_alike()) else { return false };
    let done = local.write_byte(EXIT);
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
