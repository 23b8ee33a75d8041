//! The event model: what one thread did at one instant.
//!
//! [`Event`] is what streaming readers hand out and writers take. It is plain data and `Copy`; an operation with a
//! list of arguments borrows that list from whoever produced the event, so that no event allocates.
//!
//! Memory is bytes. An access names an address and a size, and two accesses touch the same variable when their byte
//! ranges overlap; text traces, which know only names, get addresses from [`Names::symbol`](crate::Names::symbol).

use foresee_format::number;

use crate::ids::{LocId, LockId, StrId, ThreadId};

/// What one thread did at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// Who did it.
    pub thread: ThreadId,
    /// Where in the source.
    pub loc: LocId,
    /// What it was.
    pub op: Op<'a>,
}

/// A byte range of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mem {
    /// The first byte.
    pub addr: u64,
    /// How many bytes; never 0 in a valid trace.
    pub size: u32,
}

impl Mem {
    /// The first address after the range, as a wider integer: the range may end at the top of the address space.
    #[inline]
    pub fn end(self) -> u128 {
        u128::from(self.addr) + u128::from(self.size)
    }

    /// Whether the two ranges share a byte.
    #[inline]
    pub fn overlaps(self, other: Mem) -> bool {
        u128::from(self.addr) < other.end() && u128::from(other.addr) < self.end()
    }
}

/// Memory order of an atomic operation, as in C11 and Rust.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Order {
    Relaxed,
    /// Treated as `Acquire` by every engine, as compilers do.
    Consume,
    Acquire,
    Release,
    AcqRel,
    #[default]
    SeqCst,
}

impl Order {
    /// All orders, in the order of their encoding.
    pub const ALL: [Order; 6] =
        [Order::Relaxed, Order::Consume, Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst];

    /// Whether an operation with this order can acquire what a release published.
    #[inline]
    pub fn acquires(self) -> bool {
        matches!(self, Order::Consume | Order::Acquire | Order::AcqRel | Order::SeqCst)
    }

    /// Whether an operation with this order publishes what happened before it.
    #[inline]
    pub fn releases(self) -> bool {
        matches!(self, Order::Release | Order::AcqRel | Order::SeqCst)
    }

    /// The name used in the text form.
    pub fn name(self) -> &'static str {
        match self {
            Order::Relaxed => "relaxed",
            Order::Consume => "consume",
            Order::Acquire => "acquire",
            Order::Release => "release",
            Order::AcqRel => "acqrel",
            Order::SeqCst => "seqcst",
        }
    }
}

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum Mode {
    /// By one thread: a mutex, or the writer of a reader-writer lock.
    #[default]
    Exclusive,
    /// By any number of threads: a reader of a reader-writer lock.
    Shared,
}

/// One argument of a call, a return or a named event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arg {
    /// A number.
    Int(i64),
    /// A string.
    Str(StrId),
    /// An object, known by its identity alone.
    Object(u64),
}

/// What an event did.
///
/// Values are the bits in memory, zero-extended to 64; see [`signed`] for how people read them. A value is `None` where
/// it is not known or does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Op<'a> {
    /// A plain read.
    Read { mem: Mem, value: Option<u64> },
    /// A plain write.
    Write { mem: Mem, value: Option<u64> },
    /// An atomic load; a failed compare-exchange is one too.
    Load { mem: Mem, order: Order, value: Option<u64> },
    /// An atomic store.
    Store { mem: Mem, order: Order, value: Option<u64> },
    /// An atomic read-modify-write that wrote; the values read and written.
    Rmw { mem: Mem, order: Order, values: Option<(u64, u64)> },
    /// A memory fence.
    Fence { order: Order },
    /// The thread wants the lock, and may block. Not every acquire has one (a try-lock, an old trace).
    Request { lock: LockId, mode: Mode },
    /// The thread got the lock. Acquiring a lock one already holds is re-entry, and counts once. A lock that was only
    /// `tried` for would not have been waited for: it is held like any other, but cannot block its thread.
    Acquire { lock: LockId, mode: Mode, tried: bool },
    /// The thread gave the lock back (or left one level of re-entry).
    Release { lock: LockId, mode: Mode },
    /// Created the thread `child`.
    Fork { child: ThreadId },
    /// Saw the end of the thread `child`.
    Join { child: ThreadId },
    /// Starts to wait for the end of the thread `child`: a join may follow, and nothing else of the thread until then. Not every join has one.
    Await { child: ThreadId },
    /// Starts to wait until another thread acts on what this memory stands for (raises a semaphore, unparks the thread), for as long as that takes. Not every such wait
    /// has one.
    Blocked { mem: Mem },
    /// The thread's first event, where the trace marks it.
    ThreadBegin,
    /// The thread's last event, where the trace marks it.
    ThreadEnd,
    /// Starts to wait for a notification; a lock of this name that the thread holds is given up. The wait has returned
    /// when the thread does its next event. One that is `timed` may also end by itself.
    Wait { cond: LockId, timed: bool },
    /// Wakes one waiting thread, or all.
    Notify { cond: LockId, all: bool },
    /// Control flow of the thread depended here on what it has read so far.
    ///
    /// A trace that has any branch has one wherever which event a thread does next, or on which address, lock or thread,
    /// depends on what the thread has read so far: before that event. The same holds where a thread hands on what it
    /// has read other than through recorded memory, such as arguments at a fork or a result at its end. Analyses may
    /// then conclude that nothing but the values a thread writes depends on reads without a later branch. In a trace
    /// without branches everything may depend on every read.
    ///
    /// A branch depends on all reads of its thread before it, unless [`From`](Op::From) or [`Constant`](Op::Constant) comes
    /// directly before it and says on which.
    Branch,
    /// The value of what the thread does next comes from what it last read of these bytes.
    ///
    /// Several of them add up. They come directly before what they are about, in their thread: a write, a store, a
    /// read-modify-write, a branch (its value is its outcome), or an event with arguments or a value
    /// ([`Op::takes_value`]). Its value then depends on no other read of the thread, neither directly nor through what the thread
    /// has computed; without them it may depend on all reads before. Two things are shown by branches as ever: whether it is done
    /// at all, and where. A read-modify-write depends on its own read in any case; and what comes from its read
    /// comes from all that it depends on, as whether it wrote may be part of its result.
    ///
    /// Of each byte the last read counts, also if it read more. Bytes that the thread has not read make no sense here: such a
    /// trace is not valid, and analyses take the value to depend on all reads.
    From { mem: Mem },
    /// The same where the value comes from nothing that the thread has read: a constant. Together with [`From`](Op::From) it adds
    /// nothing.
    Constant,
    /// The thread ran, since its last event, code whose accesses to memory are not in the trace: *blind* code.
    ///
    /// What it read and wrote is not known. It may have been anything that the locks held here protect, so a critical section with such
    /// an event keeps its place among the sections of its lock; and all that the thread has read before counts as used. If the code
    /// also `orders`, it may have synchronised with other threads in ways that are not in the trace either (atomics of its own, a
    /// system call): such events keep their order.
    Blind {
        /// What ran: the name of a function.
        code: StrId,
        orders: bool,
    },
    /// Entered a function.
    Enter { function: StrId },
    /// Left a function.
    Exit { function: StrId },
    /// A function that a property names is called with these arguments (monitoring). The first is a string, the names of its parameters
    /// with a blank between them, and `_` for those that are not recorded; the others are the values of those that are. A receiver that
    /// the source does not declare is called `this`.
    Arguments { function: StrId, args: &'a [Arg] },
    /// The function returns this one value; not if it is left by a panic or an exception.
    Result { function: StrId, args: &'a [Arg] },
    /// An atomic block begins: the program means what follows to be serialisable.
    BlockBegin { name: StrId },
    /// The innermost atomic block ends.
    BlockEnd { name: StrId },
    /// An operation of a data structure is called (refinement).
    Call { name: StrId, args: &'a [Arg] },
    /// The operation returns.
    Return { name: StrId, args: &'a [Arg] },
    /// The operation takes effect here.
    Commit { name: StrId },
    /// The effects of the operation from here to the end of the block count as one commit.
    CommitBegin { name: StrId },
    /// End of the commit block.
    CommitEnd { name: StrId },
    /// An event with parameters that the program reports by name (monitoring).
    Named { name: StrId, args: &'a [Arg] },
    /// Assigned a thread-local variable of a property (MTTL).
    Local { name: StrId, value: u64 },
    /// Memory begins a new life.
    Alloc { mem: Mem },
    /// Memory's life ends.
    Free { mem: Mem },
}

impl Op<'_> {
    /// The bytes this operation touches or names, if it is about memory.
    #[inline]
    pub fn mem(&self) -> Option<Mem> {
        match *self {
            Op::Read { mem, .. }
            | Op::Write { mem, .. }
            | Op::Load { mem, .. }
            | Op::Store { mem, .. }
            | Op::Rmw { mem, .. }
            | Op::Alloc { mem }
            | Op::Free { mem }
            | Op::From { mem } => Some(mem),
            _ => None,
        }
    }

    /// Whether the thread puts a value into this operation, which may come from what it has read.
    pub fn takes_value(&self) -> bool {
        matches!(
            self,
            Op::Write { .. }
                | Op::Store { .. }
                | Op::Rmw { .. }
                | Op::Branch
                | Op::Call { .. }
                | Op::Return { .. }
                | Op::Named { .. }
                | Op::Arguments { .. }
                | Op::Result { .. }
                | Op::Local { .. }
        )
    }

    /// How this operation accesses its memory; `None` for what is no access (an allocation is none: it begins a life).
    #[inline]
    pub fn access(&self) -> Option<Access> {
        let (reads, writes, atomic) = match self {
            Op::Read { .. } => (true, false, false),
            Op::Write { .. } | Op::Free { .. } => (false, true, false),
            Op::Load { .. } => (true, false, true),
            Op::Store { .. } => (false, true, true),
            Op::Rmw { .. } => (true, true, true),
            _ => return None,
        };
        Some(Access { reads, writes, atomic })
    }
}

/// How an operation accesses memory. Freeing memory counts as a plain write to all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// Takes a value from memory.
    pub reads: bool,
    /// Puts a value there.
    pub writes: bool,
    /// Is an atomic operation.
    pub atomic: bool,
}

impl Access {
    /// Whether two accesses of the same byte conflict: at least one writes.
    #[inline]
    pub fn conflicts(self, other: Access) -> bool {
        self.writes || other.writes
    }

    /// Whether two accesses of the same byte by different threads race when nothing orders them: they conflict and
    /// are not both atomic.
    #[inline]
    pub fn races(self, other: Access) -> bool {
        self.conflicts(other) && !(self.atomic && other.atomic)
    }
}

/// The bits of a value of `size` bytes as a signed number, the way people write it.
pub fn signed(bits: u64, size: u32) -> i64 {
    number(bits, size.into(), false)
}

/// The bits of a value of `size` bytes as a number that is never negative; what is beyond all numbers of people here is the largest of them.
pub fn unsigned(bits: u64, size: u32) -> i64 {
    number(bits, size.into(), true)
}

/// The bits of `value` in `size` bytes of memory: the inverse of [`signed`].
pub fn bits(value: i64, size: u32) -> u64 {
    let unused = 64 - 8 * size.clamp(1, 8);
    ((value as u64) << unused) >> unused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_overlap_by_bytes() {
        let at = |addr, size| Mem { addr, size };
        assert!(at(8, 4).overlaps(at(11, 1)));
        assert!(!at(8, 4).overlaps(at(12, 4)));
        assert!(at(u64::MAX, 1).overlaps(at(u64::MAX - 3, 8)));
    }

    #[test]
    fn values_are_signed_by_their_size() {
        assert_eq!(signed(0xffff_ffff, 4), -1);
        assert_eq!(signed(0xffff_ffff, 8), 0xffff_ffff);
        assert_eq!((unsigned(u64::MAX, 1), unsigned(u64::MAX, 4)), (0xff, 0xffff_ffff));
        assert_eq!(unsigned(u64::MAX, 8), i64::MAX);
        assert_eq!(bits(-1, 4), 0xffff_ffff);
        assert_eq!(bits(-1, 8), u64::MAX);
    }
}
