//! The values of atomics, as far as the recorded operations explain them.
//!
//! Code without instrumentation, the kernel, and signal handlers that interrupt the runtime, change atomics unseen. A value read that
//! no recorded operation explains is left out: an unknown value is true, a value out of nowhere would be a run that
//! cannot be. Whoever reads it may rely on what the writer did before.
//!
//! What an atomic was before its first recorded write is known by the first load, if its memory is never used for something
//! else: then it is [`Lasting`](Memory::Lasting).

use rustc_hash::FxHashMap;

use crate::event::{Mem, Op};

/// What kind of memory an atomic is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    /// It may have been something else before: a heap, a stack.
    Reused,
    /// A static.
    Lasting,
    /// Others write it, too: the kernel, other processes, whoever writes to the file that it is.
    Foreign,
}

/// What is known of an atomic.
#[derive(Clone, Copy, Debug)]
enum Last {
    /// The trace has this value.
    Told(u64),
    /// It has this one, and the trace has another.
    Unseen(u64),
}

/// The last value of every atomic.
#[derive(Default)]
pub(crate) struct AtomicValues {
    last: FxHashMap<Mem, Last>,
    /// How many operations read a value that came from nowhere.
    pub(crate) unexplained: u64,
}

impl AtomicValues {
    /// Whether a load finds what the trace has there.
    #[inline]
    pub(crate) fn is_told(&self, op: &Op<'_>) -> bool {
        let Op::Load { mem, value: Some(value), .. } = op else { return false };
        matches!(self.last.get(mem), Some(Last::Told(last)) if last == value)
    }

    /// The operation on memory of this kind, without values that are not explained.
    pub(crate) fn explained<'a>(&mut self, op: Op<'a>, memory: impl FnOnce(Mem) -> Memory) -> Op<'a> {
        match op {
            Op::Load { mem, order, value: Some(value) } => {
                let is_told = match self.last.get(&mem) {
                    Some(&Last::Told(last)) => last == value,
                    Some(&Last::Unseen(last)) => {
                        self.unexplained += u64::from(last != value);
                        self.last.insert(mem, Last::Unseen(value));
                        return Op::Load { mem, order, value: None };
                    }
                    None => match memory(mem) {
                        Memory::Reused => return op,
                        Memory::Lasting => true,
                        // As it is at first.
                        Memory::Foreign => value == 0,
                    },
                };
                self.unexplained += u64::from(!is_told);
                self.last.insert(mem, if is_told { Last::Told(value) } else { Last::Unseen(value) });
                Op::Load { mem, order, value: is_told.then_some(value) }
            }
            Op::Store { mem, value: Some(value), .. } => {
                self.last.insert(mem, Last::Told(value));
                op
            }
            Op::Rmw { mem, order, values: Some((old, new)) } => {
                match self.last.insert(mem, Last::Told(new)) {
                    None => op,
                    Some(Last::Told(last)) if last == old => op,
                    // What it wrote is unknown with what it read.
                    Some(Last::Told(last) | Last::Unseen(last)) => {
                        self.last.remove(&mem);
                        self.unexplained += u64::from(last != old);
                        Op::Rmw { mem, order, values: None }
                    }
                }
            }
            Op::Store { mem, .. } | Op::Rmw { mem, .. } | Op::Write { mem, .. } => {
                self.last.remove(&mem);
                op
            }
            _ => op,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Order;

    const FLAG: Mem = Mem { addr: 16, size: 4 };

    fn load(values: &mut AtomicValues, value: u64, memory: Memory) -> (Option<u64>, u64) {
        let op = Op::Load { mem: FLAG, order: Order::Acquire, value: Some(value) };
        match values.explained(op, |_| memory) {
            Op::Load { value, .. } => (value, values.unexplained),
            _ => (None, 0),
        }
    }

    #[test]
    fn a_static_that_changes_is_written_by_somebody() {
        let mut values = AtomicValues::default();
        assert_eq!(load(&mut values, 0, Memory::Lasting), (Some(0), 0));
        assert_eq!(load(&mut values, 7, Memory::Lasting), (None, 1));
        // It is the same unseen write, and the trace does not have it.
        assert_eq!(load(&mut values, 7, Memory::Lasting), (None, 1));
        assert_eq!(load(&mut values, 8, Memory::Lasting), (None, 2));
        values.explained(Op::Store { mem: FLAG, order: Order::Release, value: Some(9) }, |_| Memory::Lasting);
        assert_eq!(load(&mut values, 9, Memory::Lasting), (Some(9), 2));
    }

    #[test]
    fn memory_that_was_used_otherwise_says_nothing_at_first() {
        let mut values = AtomicValues::default();
        assert_eq!(load(&mut values, 0, Memory::Reused), (Some(0), 0));
        assert_eq!(load(&mut values, 7, Memory::Reused), (Some(7), 0));
    }

    #[test]
    fn what_the_kernel_writes_is_never_explained() {
        let mut values = AtomicValues::default();
        assert_eq!(load(&mut values, 1, Memory::Foreign), (None, 1));
        assert_eq!(load(&mut values, 1, Memory::Foreign), (None, 1));
        assert_eq!(load(&mut values, 2, Memory::Foreign), (None, 2));
        let mut values = AtomicValues::default();
        assert_eq!(load(&mut values, 0, Memory::Foreign), (Some(0), 0));
        assert_eq!(load(&mut values, 1, Memory::Foreign), (None, 1));
    }
}
