//! Whether commit blocks are what they say: one step.
//!
//! The checker takes the writes of a commit block as if they happened at once. That is right only if the program makes sure of it: by a lock, say. Where the
//! writes of two threads come between each other such that no order of whole blocks has the same outcome, the block is not atomic, and what
//! views say rests on something that is not so.
//!
//! The criterion is conflict serialisability, over logged writes: two writes of the same variable by different threads must keep their order. Each
//! block, and each write outside of blocks, is a *unit*; a unit comes after those that wrote before it what it writes. A block that comes after
//! itself is not atomic. Reads are not logged: what a block has read and another changed meanwhile is not seen here. Neither is what a coarse
//! entry writes, if only its replica knows. (In a recorded program all accesses
//! are known, and the engine for atomic blocks looks at them.)
//!
//! Cost: for each write the last unit that wrote the variable, and a walk over units that overlap.

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

use super::replica::writes_of;
use crate::log::{Action, Event, Log, ThreadId};

/// A commit block that is not one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenBlock {
    /// Where it begins.
    pub begin: usize,
    /// The write in it that comes too late.
    pub write: usize,
    /// The write of another thread that came in between: after a part of the block, and before that write.
    pub between: usize,
    /// What both of them wrote.
    pub target: SmolStr,
}

type Unit = usize;

/// Looks at a log, event by event, for a commit block that is not one step.
#[derive(Debug, Default)]
pub struct Blocks {
    next: usize,
    /// The open block of each thread, which has the number of its first event.
    open: FxHashMap<ThreadId, Unit>,
    /// The units that each comes after, as far as they may still matter: those that overlap an open block.
    after: FxHashMap<Unit, FxHashSet<Unit>>,
    /// Units that some other comes after.
    before: FxHashSet<Unit>,
    /// When there are so many units, it is looked for those that do not matter any more.
    many: usize,
    /// The last unit that wrote a variable while a block was open, and the event.
    last: FxHashMap<SmolStr, (Unit, usize)>,
    broken: Option<BrokenBlock>,
}

impl Blocks {
    /// Takes the next event.
    pub fn push(&mut self, event: &Event) {
        let index = self.next;
        self.next += 1;
        match &event.action {
            Action::BlockBegin => {
                self.open.insert(event.thread, index);
                self.after.insert(index, FxHashSet::default());
            }
            Action::BlockEnd => {
                self.open.remove(&event.thread);
                self.forget();
            }
            _ if self.open.is_empty() || self.broken.is_some() => {}
            Action::Write { target, .. } => self.write(index, event.thread, target),
            Action::Replay { value, .. } => {
                for (target, _) in writes_of(value).into_iter().flatten() {
                    self.write(index, event.thread, target);
                }
            }
            _ => {}
        }
    }

    /// The first block that is not one step, if there was one.
    pub fn broken(&self) -> Option<&BrokenBlock> {
        self.broken.as_ref()
    }

    fn write(&mut self, index: usize, thread: ThreadId, target: &SmolStr) {
        let block = self.open.get(&thread).copied();
        let own = block.unwrap_or(index);
        if let Some((other, between)) = self.last.insert(target.clone(), (own, index))
            && other != own
        {
            if block.is_some() && self.before.contains(&own) && self.comes_after(other, own) {
                self.broken = Some(BrokenBlock { begin: own, write: index, between, target: target.clone() });
            }
            self.after.entry(own).or_default().insert(other);
            self.before.insert(other);
        }
    }

    /// Whether a unit comes after another one.
    fn comes_after(&self, unit: Unit, before: Unit) -> bool {
        let mut seen = FxHashSet::from_iter([unit]);
        let mut open = vec![unit];
        while let Some(unit) = open.pop() {
            for &next in self.after.get(&unit).into_iter().flatten() {
                if next == before {
                    return true;
                }
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
        false
    }

    /// What comes after no open block never will: nothing is put before a unit that has ended.
    fn forget(&mut self) {
        if self.open.is_empty() {
            self.after.clear();
            self.before.clear();
            self.last.clear();
        } else if self.after.len() > self.many {
            let matter = self.after_open_blocks();
            self.after.retain(|unit, _| matter.contains(unit));
            self.after.values_mut().for_each(|others| others.retain(|other| matter.contains(other)));
            self.before.retain(|unit| matter.contains(unit));
            self.last.retain(|_, (unit, _)| matter.contains(unit));
            self.many = 2 * self.after.len() + 64;
        }
    }

    /// The open blocks, and all units that come after one.
    fn after_open_blocks(&self) -> FxHashSet<Unit> {
        let mut followers: FxHashMap<Unit, Vec<Unit>> = FxHashMap::default();
        for (unit, others) in &self.after {
            others.iter().for_each(|other| followers.entry(*other).or_default().push(*unit));
        }
        let mut found: FxHashSet<Unit> = self.open.values().copied().collect();
        let mut left: Vec<Unit> = found.iter().copied().collect();
        while let Some(unit) = left.pop() {
            let next = followers.get(&unit).into_iter().flatten();
            left.extend(next.filter(|unit| found.insert(**unit)));
        }
        found
    }
}

/// The first commit block of a log that is not one step.
pub fn broken_block(log: &Log) -> Option<BrokenBlock> {
    let mut blocks = Blocks::default();
    for event in &log.events {
        blocks.push(event);
        if blocks.broken.is_some() {
            break;
        }
    }
    blocks.broken
}
