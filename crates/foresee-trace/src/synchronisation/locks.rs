//! Rule (b): who holds which lock, and where critical sections begin and end.

use crate::event::{Mode, Op};
use crate::ids::{LockId, ThreadId};

/// Follows who holds which lock through a run.
#[derive(Clone, Debug, Default)]
pub struct LockWalk {
    /// The locks that each thread holds.
    held: Vec<Vec<HeldLock>>,
    /// How many sections have begun.
    sections: u64,
}

#[derive(Clone, Copy, Debug)]
struct HeldLock {
    section: Section,
    /// How often the lock was acquired and not yet released.
    depth: u32,
}

/// A critical section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// How many sections of any lock and thread had begun before this one.
    pub number: u64,
    /// The lock.
    pub lock: LockId,
    /// How the outermost acquire took it.
    pub mode: Mode,
}

/// A lock passes from thread to thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handover {
    /// The outermost acquire: the section begins.
    Takes(Section),
    /// The outermost release, or a wait that gives the lock up: the section ends.
    Gives(Section),
}

impl Handover {
    /// The section that begins or ends.
    #[inline]
    pub fn section(self) -> Section {
        match self {
            Handover::Takes(section) | Handover::Gives(section) => section,
        }
    }
}

impl LockWalk {
    /// No lock is held.
    pub fn new() -> LockWalk {
        LockWalk::default()
    }

    /// The thread does this; whether it takes or gives a lock thereby.
    #[inline]
    pub fn event(&mut self, thread: ThreadId, op: &Op<'_>) -> Option<Handover> {
        match *op {
            Op::Acquire { lock, mode, .. } => self.acquire(thread, lock, mode).map(Handover::Takes),
            Op::Release { lock, .. } => self.release(thread, lock, false).map(Handover::Gives),
            Op::Wait { cond, .. } => self.release(thread, cond, true).map(Handover::Gives),
            Op::ThreadEnd => {
                // In a long run most threads have ended.
                self.held.get_mut(thread.index())?.shrink_to_fit();
                None
            }
            _ => None,
        }
    }

    /// The sections that a thread is in, in no particular order.
    pub fn held(&self, thread: ThreadId) -> impl Iterator<Item = Section> + '_ {
        self.held.get(thread.index()).into_iter().flatten().map(|held| held.section)
    }

    /// A thread has gone, and another may have its id from now on.
    pub(super) fn forget(&mut self, thread: ThreadId) {
        self.held.get_mut(thread.index()).into_iter().for_each(|held| *held = Vec::new());
    }

    fn acquire(&mut self, thread: ThreadId, lock: LockId, mode: Mode) -> Option<Section> {
        if self.held.len() <= thread.index() {
            self.held.resize_with(thread.index() + 1, Vec::new);
        }
        let held = &mut self.held[thread.index()];
        if let Some(again) = held.iter_mut().rfind(|held| held.section.lock == lock) {
            again.depth += 1;
            return None;
        }
        let section = Section { number: self.sections, lock, mode };
        self.sections += 1;
        held.push(HeldLock { section, depth: 1 });
        Some(section)
    }

    fn release(&mut self, thread: ThreadId, lock: LockId, entirely: bool) -> Option<Section> {
        let held = self.held.get_mut(thread.index())?;
        let at = held.iter().rposition(|held| held.section.lock == lock)?;
        if held[at].depth > 1 && !entirely {
            held[at].depth -= 1;
            return None;
        }
        Some(held.swap_remove(at).section)
    }
}
