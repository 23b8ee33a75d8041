//! Every operation as a few integers: the one encoding behind the trace file and the in-memory execution.
//!
//! [`Flat`] is what is the same each time a place in the program runs (kind, modifier, size) plus the target; the
//! [`Payload`] is what comes with it (values, arguments). A new operation is a row of the table of kinds, and a line in each
//! direction of the encoding.

use crate::event::{Arg, Mem, Mode, Op, Order};
use crate::ids::{LockId, StrId, ThreadId};

/// Defines the kinds of operations once: their numbers, and all that follows from the kind alone.
macro_rules! kinds {
    ($($kind:ident: $name:literal, $word:literal, $target:ident, $modifier:ident, $payload:ident;)*) => {
        /// The operations, numbered. Numbers are part of the file format: never reuse or renumber.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub(crate) enum OpKind {
            $($kind,)*
        }

        impl OpKind {
            /// All kinds, by number.
            pub(crate) const ALL: &[OpKind] = &[$(OpKind::$kind,)*];

            /// The name that outputs use.
            pub(crate) fn name(self) -> &'static str {
                match self {
                    $(OpKind::$kind => $name,)*
                }
            }

            /// The word that text traces use.
            pub(crate) fn word(self) -> &'static str {
                match self {
                    $(OpKind::$kind => $word,)*
                }
            }

            /// What the target of this kind is.
            pub(crate) fn target(self) -> Target {
                match self {
                    $(OpKind::$kind => Target::$target,)*
                }
            }

            /// What its modifier says.
            pub(crate) fn modifier(self) -> Modifier {
                match self {
                    $(OpKind::$kind => Modifier::$modifier,)*
                }
            }

            /// Whether an operation of this kind always, sometimes or never has a payload, and of which shape.
            pub(crate) fn payload(self) -> PayloadShape {
                match self {
                    $(OpKind::$kind => PayloadShape::$payload,)*
                }
            }
        }
    };
}

// The name in outputs, the word in text traces, the target, the modifier, the payload.
kinds! {
    Read: "read", "r", Memory, Nothing, MaybeOne;
    Write: "write", "w", Memory, Nothing, MaybeOne;
    Load: "load", "load", Memory, Order, MaybeOne;
    Store: "store", "store", Memory, Order, MaybeOne;
    Rmw: "rmw", "rmw", Memory, Order, MaybeTwo;
    Fence: "fence", "fence", Nothing, Order, Nothing;
    Request: "request", "req", Lock, Mode, Nothing;
    Acquire: "acquire", "acq", Lock, ModeAndTried, Nothing;
    Release: "release", "rel", Lock, Mode, Nothing;
    Fork: "fork", "fork", Thread, Nothing, Nothing;
    Join: "join", "join", Thread, Nothing, Nothing;
    ThreadBegin: "thread-begin", "thread_begin", Nothing, Nothing, Nothing;
    ThreadEnd: "thread-end", "thread_end", Nothing, Nothing, Nothing;
    Wait: "wait", "wait", Lock, Timed, Nothing;
    Notify: "notify", "notify", Lock, All, Nothing;
    Branch: "branch", "branch", Nothing, Nothing, Nothing;
    Enter: "enter", "enter", String, Nothing, Nothing;
    Exit: "exit", "exit", String, Nothing, Nothing;
    BlockBegin: "block-begin", "begin", String, Nothing, Nothing;
    BlockEnd: "block-end", "end", String, Nothing, Nothing;
    Call: "call", "call", String, Nothing, Args;
    Return: "return", "return", String, Nothing, Args;
    Commit: "commit", "commit", String, Nothing, Nothing;
    CommitBegin: "commit-begin", "commit_begin", String, Nothing, Nothing;
    CommitEnd: "commit-end", "commit_end", String, Nothing, Nothing;
    Named: "named", "event", String, Nothing, Args;
    Local: "local", "local", String, Nothing, One;
    Alloc: "alloc", "alloc", Memory, Nothing, Nothing;
    Free: "free", "free", Memory, Nothing, Nothing;
    From: "from", "from", Memory, Nothing, Nothing;
    Constant: "constant", "constant", Nothing, Nothing, Nothing;
    Blind: "blind", "blind", String, Orders, Nothing;
    Arguments: "arguments", "arguments", String, Nothing, Args;
    Result: "result", "result", String, Nothing, Args;
    Await: "await", "await", Thread, Nothing, Nothing;
    Blocked: "blocked", "blocked", Memory, Nothing, Nothing;
}

impl OpKind {
    /// The kind with this number, if there is one.
    pub(crate) fn from_number(n: u8) -> Option<OpKind> {
        OpKind::ALL.get(usize::from(n)).copied()
    }
}

/// What the modifier of a kind says.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Modifier {
    Nothing,
    /// A memory order.
    Order,
    /// How a lock is held.
    Mode,
    /// The same, and whether the lock was only tried for.
    ModeAndTried,
    /// Whether all are woken.
    All,
    /// Whether a wait may end by itself.
    Timed,
    /// Whether it may have synchronised.
    Orders,
}

impl Modifier {
    /// How many different modifiers there are.
    fn count(self) -> u8 {
        match self {
            Modifier::Nothing => 1,
            Modifier::Order => Order::ALL.len() as u8,
            Modifier::Mode | Modifier::All | Modifier::Timed | Modifier::Orders => 2,
            Modifier::ModeAndTried => 4,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Nothing,
    Memory,
    Lock,
    Thread,
    String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PayloadShape {
    Nothing,
    MaybeOne,
    One,
    MaybeTwo,
    Args,
}

impl Op<'_> {
    /// What kind of operation it is, as every output names it: `read`, `acquire`, `thread-begin`.
    pub fn name(&self) -> &'static str {
        Flat::of(self).0.kind.name()
    }
}

/// An operation without its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Flat {
    pub(crate) kind: OpKind,
    /// The memory order, lock mode or flag.
    pub(crate) modifier: u8,
    /// Bytes, for operations on memory; 0 otherwise.
    pub(crate) size: u32,
    pub(crate) target: u64,
}

/// What comes with an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Payload<'a> {
    Nothing,
    One(u64),
    Two(u64, u64),
    Args(&'a [Arg]),
}

impl Flat {
    /// Whether kind, modifier and size go together: what comes from a file may not.
    pub(crate) fn is_valid(kind: OpKind, modifier: u8, size: u32) -> bool {
        modifier < kind.modifier().count() && (kind.target() == Target::Memory) == (size != 0)
    }

    /// Entering or leaving a function.
    #[inline]
    pub(crate) fn of_function(kind: OpKind, function: StrId) -> Flat {
        Flat { kind, modifier: 0, size: 0, target: u64::from(function.0) }
    }

    /// The operation in this form. Most are accesses, which need no jump that may be mispredicted; and where all of it stays in registers, nobody waits for what was just stored.
    #[inline(always)]
    pub(crate) fn of<'a>(op: &Op<'a>) -> (Flat, Payload<'a>) {
        let (kind, mem, value) = match *op {
            Op::Read { mem, value } => (OpKind::Read, mem, value),
            Op::Write { mem, value } => (OpKind::Write, mem, value),
            _ => return Flat::of_any(op),
        };
        let flat = Flat { kind, modifier: 0, size: mem.size, target: mem.addr };
        (flat, value.map_or(Payload::Nothing, Payload::One))
    }

    fn of_any<'a>(op: &Op<'a>) -> (Flat, Payload<'a>) {
        use OpKind as K;
        let memory = |kind, mem: Mem, modifier| Flat { kind, modifier, size: mem.size, target: mem.addr };
        let other = |kind, target: u32, modifier| Flat { kind, modifier, size: 0, target: u64::from(target) };
        let one = |v: Option<u64>| v.map_or(Payload::Nothing, Payload::One);
        match *op {
            Op::Read { mem, value } => (memory(K::Read, mem, 0), one(value)),
            Op::Write { mem, value } => (memory(K::Write, mem, 0), one(value)),
            Op::Load { mem, order, value } => (memory(K::Load, mem, order as u8), one(value)),
            Op::Store { mem, order, value } => (memory(K::Store, mem, order as u8), one(value)),
            Op::Rmw { mem, order, values } => (
                memory(K::Rmw, mem, order as u8),
                values.map_or(Payload::Nothing, |(read, written)| Payload::Two(read, written)),
            ),
            Op::Fence { order } => (other(K::Fence, 0, order as u8), Payload::Nothing),
            Op::Request { lock, mode } => (other(K::Request, lock.0, mode as u8), Payload::Nothing),
            Op::Acquire { lock, mode, tried } => {
                (other(K::Acquire, lock.0, mode as u8 | u8::from(tried) << 1), Payload::Nothing)
            }
            Op::Release { lock, mode } => (other(K::Release, lock.0, mode as u8), Payload::Nothing),
            Op::Fork { child } => (other(K::Fork, child.0, 0), Payload::Nothing),
            Op::Join { child } => (other(K::Join, child.0, 0), Payload::Nothing),
            Op::Await { child } => (other(K::Await, child.0, 0), Payload::Nothing),
            Op::Blocked { mem } => (memory(K::Blocked, mem, 0), Payload::Nothing),
            Op::ThreadBegin => (other(K::ThreadBegin, 0, 0), Payload::Nothing),
            Op::ThreadEnd => (other(K::ThreadEnd, 0, 0), Payload::Nothing),
            Op::Wait { cond, timed } => (other(K::Wait, cond.0, u8::from(timed)), Payload::Nothing),
            Op::Notify { cond, all } => (other(K::Notify, cond.0, u8::from(all)), Payload::Nothing),
            Op::Branch => (other(K::Branch, 0, 0), Payload::Nothing),
            Op::Enter { function } => (other(K::Enter, function.0, 0), Payload::Nothing),
            Op::Exit { function } => (other(K::Exit, function.0, 0), Payload::Nothing),
            Op::BlockBegin { name } => (other(K::BlockBegin, name.0, 0), Payload::Nothing),
            Op::BlockEnd { name } => (other(K::BlockEnd, name.0, 0), Payload::Nothing),
            Op::Call { name, args } => (other(K::Call, name.0, 0), Payload::Args(args)),
            Op::Return { name, args } => (other(K::Return, name.0, 0), Payload::Args(args)),
            Op::Commit { name } => (other(K::Commit, name.0, 0), Payload::Nothing),
            Op::CommitBegin { name } => (other(K::CommitBegin, name.0, 0), Payload::Nothing),
            Op::CommitEnd { name } => (other(K::CommitEnd, name.0, 0), Payload::Nothing),
            Op::Named { name, args } => (other(K::Named, name.0, 0), Payload::Args(args)),
            Op::Arguments { function, args } => (other(K::Arguments, function.0, 0), Payload::Args(args)),
            Op::Result { function, args } => (other(K::Result, function.0, 0), Payload::Args(args)),
            Op::Local { name, value } => (other(K::Local, name.0, 0), Payload::One(value)),
            Op::Alloc { mem } => (memory(K::Alloc, mem, 0), Payload::Nothing),
            Op::Free { mem } => (memory(K::Free, mem, 0), Payload::Nothing),
            Op::From { mem } => (memory(K::From, mem, 0), Payload::Nothing),
            Op::Constant => (other(K::Constant, 0, 0), Payload::Nothing),
            Op::Blind { code, orders } => (other(K::Blind, code.0, u8::from(orders)), Payload::Nothing),
        }
    }

    /// The operation again. `self` must be valid ([`Flat::is_valid`]) and the payload of the kind's shape; a payload of
    /// another shape counts as none.
    #[inline(always)]
    pub(crate) fn op(self, payload: Payload<'_>) -> Op<'_> {
        // Reads and writes differ only in their name: no jump to mispredict.
        if self.kind as u8 <= OpKind::Write as u8 {
            let mem = Mem { addr: self.target, size: self.size };
            let value = if let Payload::One(v) = payload { Some(v) } else { None };
            return if self.kind == OpKind::Read {
                Op::Read { mem, value }
            } else {
                Op::Write { mem, value }
            };
        }
        use OpKind as K;
        let mem = Mem { addr: self.target, size: self.size };
        let target = self.target as u32;
        let (lock, cond, name, child) = (LockId(target), LockId(target), StrId(target), ThreadId(target));
        // Worked out only where it is needed: most operations have no order.
        let order = || Order::ALL[usize::from(self.modifier) % Order::ALL.len()];
        let mode = if self.modifier & 1 == 0 { Mode::Exclusive } else { Mode::Shared };
        let value = if let Payload::One(v) = payload { Some(v) } else { None };
        let args = if let Payload::Args(args) = payload { args } else { &[] };
        match self.kind {
            K::Read => Op::Read { mem, value },
            K::Write => Op::Write { mem, value },
            K::Load => Op::Load { mem, order: order(), value },
            K::Store => Op::Store { mem, order: order(), value },
            K::Rmw => {
                let values =
                    if let Payload::Two(read, written) = payload { Some((read, written)) } else { None };
                Op::Rmw { mem, order: order(), values }
            }
            K::Fence => Op::Fence { order: order() },
            K::Request => Op::Request { lock, mode },
            K::Acquire => Op::Acquire { lock, mode, tried: self.modifier & 2 != 0 },
            K::Release => Op::Release { lock, mode },
            K::Fork => Op::Fork { child },
            K::Join => Op::Join { child },
            K::Await => Op::Await { child },
            K::Blocked => Op::Blocked { mem },
            K::ThreadBegin => Op::ThreadBegin,
            K::ThreadEnd => Op::ThreadEnd,
            K::Wait => Op::Wait { cond, timed: self.modifier != 0 },
            K::Notify => Op::Notify { cond, all: self.modifier != 0 },
            K::Branch => Op::Branch,
            K::Enter => Op::Enter { function: name },
            K::Exit => Op::Exit { function: name },
            K::BlockBegin => Op::BlockBegin { name },
            K::BlockEnd => Op::BlockEnd { name },
            K::Call => Op::Call { name, args },
            K::Return => Op::Return { name, args },
            K::Commit => Op::Commit { name },
            K::CommitBegin => Op::CommitBegin { name },
            K::CommitEnd => Op::CommitEnd { name },
            K::Named => Op::Named { name, args },
            K::Arguments => Op::Arguments { function: name, args },
            K::Result => Op::Result { function: name, args },
            K::Local => Op::Local { name, value: value.unwrap_or(0) },
            K::Alloc => Op::Alloc { mem },
            K::Free => Op::Free { mem },
            K::From => Op::From { mem },
            K::Constant => Op::Constant,
            K::Blind => Op::Blind { code: name, orders: self.modifier != 0 },
        }
    }
}
