//! The values of plain accesses, as far as the recorded operations explain them.
//!
//! The runtime gives an access a value only if no recorded write of another thread was under way with it, but memory also
//! changes where nothing is recorded: in the C library, in code without instrumentation. As with atomics, a value read
//! that is not what was written or read last is left out, and with it all that was known of those bytes.

use rustc_hash::FxHashMap;

use crate::event::{Mem, Op};

/// The known bytes of variables that were accessed with values.
#[derive(Default)]
pub(crate) struct PlainValues {
    bytes: FxHashMap<u64, u8>,
}

fn bytes(mem: Mem, value: u64) -> impl Iterator<Item = (u64, u8)> {
    (0..u64::from(mem.size)).map(move |i| (mem.addr + i, (value >> (8 * i)) as u8))
}

impl PlainValues {
    /// The operation, without a value that is not explained.
    pub(crate) fn explained<'a>(&mut self, op: Op<'a>) -> Op<'a> {
        match op {
            Op::Read { mem, value: Some(value) } if mem.size <= 8 => {
                let known = bytes(mem, value)
                    .all(|(addr, byte)| self.bytes.get(&addr).is_none_or(|&last| last == byte));
                if known {
                    self.bytes.extend(bytes(mem, value));
                } else {
                    self.forget(mem);
                }
                Op::Read { mem, value: known.then_some(value) }
            }
            Op::Write { mem, value: Some(value) } if mem.size <= 8 => {
                self.bytes.extend(bytes(mem, value));
                op
            }
            Op::Write { mem, .. }
            | Op::Store { mem, .. }
            | Op::Rmw { mem, .. }
            | Op::Free { mem }
            | Op::Alloc { mem } => {
                self.forget(mem);
                op
            }
            _ => op,
        }
    }

    fn forget(&mut self, mem: Mem) {
        if u64::from(mem.size) > self.bytes.len() as u64 {
            self.bytes.retain(|&addr, _| !mem.overlaps(Mem { addr, size: 1 }));
        } else {
            (0..u64::from(mem.size)).for_each(|i| {
                self.bytes.remove(&(mem.addr + i));
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: &mut PlainValues, addr: u64, size: u32, value: u64) -> Option<u64> {
        match values.explained(Op::Read { mem: Mem { addr, size }, value: Some(value) }) {
            Op::Read { value, .. } => value,
            _ => None,
        }
    }

    #[test]
    fn a_value_read_is_the_one_written_byte_by_byte() {
        let mut values = PlainValues::default();
        values.explained(Op::Write { mem: Mem { addr: 16, size: 4 }, value: Some(0x0403_0201) });
        assert_eq!(read(&mut values, 16, 4, 0x0403_0201), Some(0x0403_0201));
        assert_eq!(read(&mut values, 18, 1, 3), Some(3));
        assert_eq!(read(&mut values, 18, 1, 7), None);
        // Nothing is known of that byte any more.
        assert_eq!(read(&mut values, 18, 1, 7), Some(7));
        values.explained(Op::Write { mem: Mem { addr: 0, size: 4096 }, value: None });
        assert_eq!(read(&mut values, 16, 4, 9), Some(9));
    }
}
