//! Who holds which lock.
//!
//! Acquiring a lock one already holds, in any mode, is re-entry: it counts once, and the mode of the outermost
//! acquire is the mode of the hold.

use rustc_hash::FxHashMap;

use super::report::Report;
use crate::event::Mode;
use crate::ids::{LockId, ThreadId};
use crate::names::Names;

#[derive(Clone, Copy)]
struct Owner {
    thread: ThreadId,
    depth: u64,
}

#[derive(Clone, Copy, Default)]
struct Lock {
    owner: Option<Owner>,
    /// How many threads hold it shared.
    readers: u32,
}

#[derive(Default)]
pub(super) struct Locks {
    locks: Vec<Lock>,
    /// How deep each reader of each lock is in it.
    shared: FxHashMap<(LockId, ThreadId), u64>,
}

impl Locks {
    fn lock(&mut self, names: &Names, lock: LockId) -> Option<&mut Lock> {
        if self.locks.len() < names.locks().len() {
            self.locks.resize(names.locks().len(), Lock::default());
        }
        self.locks.get_mut(lock.index())
    }

    pub(super) fn acquire(&mut self, names: &Names, id: LockId, mode: Mode, report: &mut Report<'_>) {
        let me = report.event.thread;
        let Some(&mut lock) = self.lock(names, id) else { return unknown(report) };
        let name = || names.lock_name(id);
        match lock.owner {
            Some(owner) if owner.thread == me => {
                self.locks[id.index()].owner =
                    Some(Owner { thread: me, depth: owner.depth.saturating_add(1) });
                return;
            }
            Some(owner) => {
                let holder = names.thread_name(owner.thread);
                report.problem(|| format!("acquires `{}`, which `{holder}` holds", name()));
            }
            None => {}
        }
        if lock.readers > 0 {
            if let Some(depth) = self.shared.get_mut(&(id, me)) {
                *depth = depth.saturating_add(1);
                return;
            }
            if mode == Mode::Exclusive {
                report.problem(|| format!("acquires `{}`, which is held shared", name()));
            }
        }
        // After a problem the newcomer counts as holder: later events are judged as if this one had been possible.
        match mode {
            Mode::Exclusive => self.locks[id.index()].owner = Some(Owner { thread: me, depth: 1 }),
            Mode::Shared => {
                self.shared.insert((id, me), 1);
                self.locks[id.index()] = Lock { owner: None, readers: lock.readers.saturating_add(1) };
            }
        }
    }

    pub(super) fn release(&mut self, names: &Names, id: LockId, mode: Mode, report: &mut Report<'_>) {
        let me = report.event.thread;
        let Some(&mut Lock { owner, .. }) = self.lock(names, id) else { return unknown(report) };
        let name = || names.lock_name(id);
        let (held, depth) = match owner {
            Some(owner) if owner.thread == me => (Mode::Exclusive, owner.depth),
            _ => match self.shared.get(&(id, me)) {
                Some(&depth) => (Mode::Shared, depth),
                None => {
                    return report.problem(|| match owner {
                        Some(owner) => {
                            let holder = names.thread_name(owner.thread);
                            format!("releases `{}`, which `{holder}` holds", name())
                        }
                        None => format!("releases `{}`, which the thread does not hold", name()),
                    });
                }
            },
        };
        if depth > 1 {
            match held {
                Mode::Exclusive => {
                    self.locks[id.index()].owner = Some(Owner { thread: me, depth: depth - 1 });
                }
                Mode::Shared => {
                    self.shared.insert((id, me), depth - 1);
                }
            }
            return;
        }
        if held != mode {
            report
                .problem(|| format!("releases `{}` {}, but holds it {}", name(), adverb(mode), adverb(held)));
        }
        self.give_up(id, me);
    }

    /// A wait gives its lock up entirely.
    pub(super) fn wait(&mut self, names: &Names, id: LockId, me: ThreadId) {
        if self.lock(names, id).is_some() {
            self.give_up(id, me);
        }
    }

    fn give_up(&mut self, id: LockId, me: ThreadId) {
        let lock = &mut self.locks[id.index()];
        if lock.owner.is_some_and(|owner| owner.thread == me) {
            lock.owner = None;
        } else if self.shared.remove(&(id, me)).is_some() {
            lock.readers = lock.readers.saturating_sub(1);
        }
    }
}

fn unknown(report: &mut Report<'_>) {
    report.problem(|| "uses a lock that the trace does not name".to_owned());
}

fn adverb(mode: Mode) -> &'static str {
    match mode {
        Mode::Exclusive => "exclusively",
        Mode::Shared => "shared",
    }
}
