//! Where control flow has depended on what a thread has read: the branch events of a program that records its branches.
//!
//! Such a program has a call at the beginning of every *basic block*, a piece of code without jumps (the compilers'
//! `trace-pc` coverage). What a thread does next depends on what it has read in four ways, and [`Op::Branch`]
//! promises an event before each:
//!
//! * **Control.** The block that it is in was chosen by a jump: the record at the block's beginning. Every block has one, also those
//!   that no jump chooses: more branches than needed, which is sound.
//! * **Targets.** Which address is accessed, which lock taken, which thread forked. No record says that. So there is a branch before every
//!   event but those with a *fixed* target: the call that records it is always given the same address ([`Call::argument`](crate::raw::Call::argument), from the
//!   program's code), and that is the one.
//! * **Waiting.** Semaphores, barriers, pipes and the like are recorded as atomics, and a thread that waits goes on because of what it
//!   reads there. There is a branch after every atomic read but those that the program's code itself asks for ([`Call::is_atomic`](crate::raw::Call::is_atomic)).
//! * **Control in code without such calls**: libraries, and what was compiled without the option. There is a branch before every
//!   event of such code, and before every entry and end of a function in it.
//!
//! A branch without a read since the last one says nothing new, and is left out. So a trace has at most one per read.

use super::naming::Naming;
use crate::event::Op;
use crate::ids::LocId;
use crate::raw::merging::Record;
use crate::thread_table::ThreadTable;
use foresee_format::Tag;

/// What is known of the branches of all threads.
#[derive(Debug, Default)]
pub(crate) struct Branches {
    /// Whether the program records them.
    pub(crate) are_recorded: bool,
    threads: ThreadTable<u64, ThreadBranches>,
}

#[derive(Debug, Default)]
struct ThreadBranches {
    /// The place of the last read since the last branch.
    has_read: Option<LocId>,
    /// Of each function that it has entered, whether it records its branches.
    calls: Vec<bool>,
}

impl Branches {
    /// The place of the branch that goes before what this record says, if one does. `locks`: what the record makes known of
    /// locks, by their addresses.
    pub(crate) fn before(
        &mut self,
        thread: u64,
        record: &Record,
        locks: impl Iterator<Item = u64>,
        naming: &mut Naming,
    ) -> Option<LocId> {
        let [pc, addr, ..] = record.words;
        let thread = self.threads.entry(thread);
        let is_sure = match record.tag {
            Tag::Enter => {
                thread.calls.push(naming.call(addr).records_branches);
                false
            }
            Tag::Exit => thread.calls.pop() == Some(true),
            Tag::Read
            | Tag::Write
            | Tag::ReadValue
            | Tag::WriteValue
            | Tag::Load
            | Tag::Store
            | Tag::Rmw
            | Tag::Request
            | Tag::Acquire
            | Tag::Release => {
                let call = naming.call(pc);
                call.records_branches && call.argument == Some(addr)
            }
            _ => false,
        };
        let mut locks = locks.map(|lock| is_sure && lock == addr && record.tag != Tag::Exit);
        let is_branch = thread.has_read.is_some() && !(is_sure && locks.all(|is_sure| is_sure));
        is_branch.then(|| thread.has_read.take()).flatten()
    }

    /// An event of the thread, recorded by the call that returns to `pc`. Whether a branch comes right after it.
    pub(crate) fn after(
        &mut self,
        thread: u64,
        loc: LocId,
        op: &Op<'_>,
        pc: u64,
        naming: &mut Naming,
    ) -> bool {
        let waits = match op {
            Op::Read { .. } => false,
            Op::Load { .. } | Op::Rmw { .. } => !naming.call(pc).is_atomic,
            _ => return false,
        };
        self.threads.entry(thread).has_read = (!waits).then_some(loc);
        waits
    }

    /// A thread has ended.
    pub(crate) fn end(&mut self, thread: u64) {
        self.threads.remove(thread);
    }
}
