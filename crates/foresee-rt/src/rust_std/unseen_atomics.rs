//! Records of atomic operations that the library does itself, before or after the record: their values are not known.

use foresee_format::{Tag, UNKNOWN_VALUE};

use crate::recorder::atomics::unseen_change;
use crate::recorder::thread::stamped;

/// The orders, as the trace counts them.
pub(super) const ACQUIRE: u8 = 2;
pub(super) const RELEASE: u8 = 3;

/// The size of an atomic.
#[derive(Clone, Copy)]
pub(super) enum Width {
    U32 = 2,
    U64 = 3,
}

pub(super) fn load(addr: u64, width: Width, pc: u64) {
    stamped(Tag::Load, ACQUIRE | (width as u8) << 4 | UNKNOWN_VALUE, [pc, addr, 0]);
}

pub(super) fn store(addr: u64, width: Width, pc: u64) {
    unseen_change(Tag::Store, RELEASE | (width as u8) << 4 | UNKNOWN_VALUE, addr, [pc, addr, 0]);
}

pub(super) fn update(addr: u64, width: Width, order: u8, pc: u64) {
    unseen_change(Tag::Rmw, order | (width as u8) << 4 | UNKNOWN_VALUE, addr, [pc, addr, 0, 0]);
}
