//! The short way of most records.
//!
//! A read or a write is just that, if its thread is in no operation on a lock, its site is known and has nothing to do with locks, and its memory is plain:
//! then none of the tables has anything to say. So is an atomic load of such memory, or of what the trace has there. So is a call, or a return, where nothing of that begins or ends. What has to be known of the thread stays as it is until it does something
//! else, so it is looked up once for many records.
//! Whatever is not known to be usual goes the long way ([`record`](super::Interpreter::record)), which makes it known.

use foresee_format::{SYNC_SPACE, Tag};

use super::atomic_values::AtomicValues;
use super::blind;
use super::locks::Thread;
use super::naming::{CallSite, Naming};
use super::operations::{of_atomic, of_memory};
use crate::event::{Event, Mem, Op};
use crate::flat::{Flat, OpKind};
use crate::ids::{LocId, ThreadId};
use crate::raw::merging::Record;
use crate::raw::symbols::Origin;

/// A thread whose next records may be usual.
pub(crate) struct Usual<'a> {
    pub(super) thread: ThreadId,
    pub(super) state: &'a mut Thread,
    pub(super) walk: &'a mut blind::Thread,
    pub(super) naming: &'a Naming,
    pub(super) atomics: &'a AtomicValues,
}

impl Usual<'_> {
    /// The event of the thread's next record, if that is usual.
    #[inline]
    pub(crate) fn event(&mut self, record: &Record) -> Option<Event<'static>> {
        let [pc, addr, ..] = record.words;
        let op = match record.tag {
            Tag::Read | Tag::Write => of_memory(record, addr)?,
            Tag::Load => of_atomic(record, addr)?,
            _ => return None,
        };
        let site = self.naming.known_site(pc)?;
        let (mem, is_load) = (op.mem()?, record.tag == Tag::Load);
        let is_usual = if is_load { self.is_usual_load(&op, mem, site) } else { self.is_plain(mem) };
        let loc = if is_usual { self.loc(pc, site)? } else { return None };
        match record.tag {
            Tag::Load => self.walk.synchronised(),
            Tag::Read => self.walk.read(pc, mem),
            _ => {}
        }
        Some(Event { thread: self.thread, loc, op })
    }

    /// The same of an access, a call or a return, as integers.
    #[inline]
    pub(crate) fn flat(&mut self, record: &Record) -> Option<(ThreadId, LocId, Flat)> {
        let [pc, addr, ..] = record.words;
        let kind = match record.tag {
            Tag::Read => OpKind::Read,
            Tag::Write => OpKind::Write,
            Tag::Enter => return self.enter(pc, addr),
            Tag::Exit => return self.exit(),
            _ => return None,
        };
        let size = u32::from(record.detail);
        let mem = Mem { addr, size };
        let is_plain = self.is_plain(mem);
        let loc = if is_plain { self.loc(pc, self.naming.known_site(pc)?)? } else { return None };
        if kind == OpKind::Read {
            self.walk.read(pc, mem);
        }
        Some((self.thread, loc, Flat { kind, modifier: 0, size, target: addr }))
    }

    #[inline]
    fn enter(&mut self, pc: u64, callee: u64) -> Option<(ThreadId, LocId, Flat)> {
        let (site, function) = (self.naming.known_site(pc)?, self.naming.known_site(callee)?);
        // No operation on a lock begins.
        let is_apart = site.inlined.is_empty() && function.entry.is_none();
        let enters = is_apart && self.walk.enter([pc, callee], site, function);
        enters.then(|| {
            self.state.call(pc, site, function, false);
            (self.thread, site.loc, Flat::of_function(OpKind::Enter, function.function))
        })
    }

    #[inline]
    fn exit(&mut self) -> Option<(ThreadId, LocId, Flat)> {
        let function = self.state.exit_apart()?;
        let naming = self.naming;
        self.walk.leave(|pc| naming.known_site(pc)).then(|| {
            self.state.pop();
            (self.thread, LocId::UNKNOWN, Flat::of_function(OpKind::Exit, function))
        })
    }

    #[inline]
    fn is_plain(&self, mem: Mem) -> bool {
        mem.size > 0 && self.naming.plain_memory.is_surely_plain(mem)
    }

    /// Whether an atomic load at this site is no more than that. It may be a channel's; and what the first load of a static finds says what that was.
    fn is_usual_load(&self, op: &Op<'_>, mem: Mem, site: &CallSite) -> bool {
        let may_be_channel = site.is_channel || site.krate.is_none();
        let says_nothing =
            || self.atomics.is_told(op) || self.is_plain(mem) && !self.naming.plain_memory.is_mapped(mem);
        // One of the system is known by what calls it.
        site.instrumented != 0
            && !may_be_channel
            && mem.addr < SYNC_SPACE
            && !self.naming.has_shared_memory()
            && says_nothing()
    }

    /// Where the thread makes an access, if that is usual; then it is there now.
    #[inline]
    fn loc(&self, pc: u64, site: &CallSite) -> Option<LocId> {
        let loc = self.state.place(site)?;
        let is_usual = site.is_counted.get()
            && site.origin == Origin::Program
            && site.quirk.is_none()
            && self.walk.pass(pc, site);
        is_usual.then_some(loc)
    }
}
