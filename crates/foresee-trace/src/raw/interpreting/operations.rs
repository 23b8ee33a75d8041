//! From a record to the operation that it says was done, where the record alone says that.

use foresee_format::{AGAIN, SHARED, SYNC_SPACE, Tag, UNKNOWN_VALUE};

use crate::event::{Mem, Mode, Op, Order};
use crate::raw::merging::Record;

/// A plain access, or memory given out or back: of the bytes at this address.
#[inline]
pub(super) fn of_memory(record: &Record, addr: u64) -> Option<Op<'static>> {
    let mem = |size: u64| Mem { addr, size: size.min(u64::from(u32::MAX)) as u32 };
    let (small, wide) = (mem(record.detail.into()), mem(record.words[2]));
    Some(match record.tag {
        Tag::Read => Op::Read { mem: small, value: None },
        Tag::Write => Op::Write { mem: small, value: None },
        Tag::ReadRange => Op::Read { mem: wide, value: None },
        Tag::WriteRange => Op::Write { mem: wide, value: None },
        Tag::Alloc => Op::Alloc { mem: wide },
        Tag::Free => Op::Free { mem: wide },
        _ => return None,
    })
}

/// The bytes of an atomic at this address.
#[inline]
pub(super) fn atomic_mem(record: &Record, addr: u64) -> Mem {
    Mem { addr, size: 1 << (record.detail >> 4 & 7).min(4) }
}

/// An atomic operation on the bytes at this address, or a fence.
#[inline]
pub(super) fn of_atomic(record: &Record, addr: u64) -> Option<Op<'static>> {
    let [_, _, third, fourth] = record.words;
    let mem = atomic_mem(record, addr);
    let order = Order::ALL.get(usize::from(record.detail & 15)).copied().unwrap_or(Order::SeqCst);
    let is_known = mem.size <= 8 && addr < SYNC_SPACE && record.detail & UNKNOWN_VALUE == 0;
    Some(match record.tag {
        Tag::Load => Op::Load { mem, order, value: is_known.then_some(third) },
        Tag::Store => Op::Store { mem, order, value: is_known.then_some(third) },
        Tag::Rmw => Op::Rmw { mem, order, values: is_known.then_some((third, fourth)) },
        Tag::Fence => Op::Fence { order },
        _ => return None,
    })
}

/// How a record says that a lock is held.
pub(super) fn mode(record: &Record) -> Mode {
    if record.detail & !AGAIN == SHARED { Mode::Shared } else { Mode::Exclusive }
}
