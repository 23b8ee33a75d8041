//! Does every read see the value that was written last?
//!
//! Only accesses that carry values are followed, byte by byte (little-endian, so that a read of half of what was written
//! is checked too). A write of unknown value makes its bytes unknown. The table has a fixed limit; when it
//! is full, or a very large piece of memory changes at once, everything is forgotten.

use rustc_hash::FxHashMap;

use super::report::Report;
use crate::event::{Mem, Op, signed};
use crate::names::Names;

/// How many words have known values at most: some 30 MB.
const WORDS_KEPT: usize = 1 << 20;

/// Larger pieces of memory are not forgotten word by word, but with everything else.
const LARGE: u32 = 4096;

/// The known bytes of eight bytes of memory.
#[derive(Clone, Copy, Default)]
struct Word {
    bytes: u64,
    /// All ones in every byte that is known.
    known: u64,
}

#[derive(Default)]
pub(super) struct Values {
    words: FxHashMap<u64, Word>,
}

impl Values {
    pub(super) fn event(&mut self, names: &Names, op: &Op<'_>, report: &mut Report<'_>) {
        let Some(mem) = op.mem() else { return };
        if mem.size == 0 {
            return report.problem(|| "touches 0 bytes of memory".to_owned());
        }
        if mem.end() > 1 << 64 {
            return report.problem(|| format!("touches memory beyond the address space at {:#x}", mem.addr));
        }
        let (read, written) = match *op {
            Op::Read { value, .. } | Op::Load { value, .. } => (value, None),
            Op::Write { value, .. } | Op::Store { value, .. } => (None, value),
            Op::Rmw { values, .. } => (values.map(|v| v.0), values.map(|v| v.1)),
            _ => (None, None),
        };
        if let Some(found) = read {
            self.check(names, mem, found, report);
        }
        let changes = !matches!(op, Op::Read { .. } | Op::Load { .. });
        match written {
            Some(value) if mem.size <= 8 => self.learn(mem, value),
            _ if changes => self.forget(mem),
            _ => {}
        }
    }

    /// The word with the first byte, the word after it, and the bytes of the range as masks in both.
    fn place(mem: Mem) -> (u64, u32, u128) {
        let shift = (mem.addr % 8) as u32 * 8;
        let mask = (u128::MAX >> (128 - 8 * mem.size.min(8))) << shift;
        (mem.addr / 8, shift, mask)
    }

    fn check(&self, names: &Names, mem: Mem, found: u64, report: &mut Report<'_>) {
        if mem.size > 8 || self.words.is_empty() {
            return;
        }
        let (word, shift, mask) = Values::place(mem);
        let part = |at: u64| self.words.get(&at).copied().unwrap_or_default();
        let (low, high) = (part(word), if mask >> 64 == 0 { Word::default() } else { part(word + 1) });
        let join = |low: u64, high: u64| u128::from(low) | u128::from(high) << 64;
        let known = join(low.known, high.known) & mask;
        let expected = join(low.bytes, high.bytes) & known;
        let seen = (u128::from(found) << shift) & known;
        if seen != expected {
            report.problem(|| {
                let variable = names.mem_text(mem);
                let found = signed(found, mem.size);
                if known == mask {
                    let expected = signed((expected >> shift) as u64, mem.size);
                    format!("reads {found} from `{variable}`, but {expected} was written last")
                } else {
                    format!(
                        "reads {found} from `{variable}`, part of which was written last with another value"
                    )
                }
            });
        }
    }

    fn learn(&mut self, mem: Mem, value: u64) {
        if self.words.len() >= WORDS_KEPT {
            self.words.clear();
        }
        let (at, shift, mask) = Values::place(mem);
        let bytes = (u128::from(value) << shift) & mask;
        for (at, mask, bytes) in
            [(at, mask as u64, bytes as u64), (at + 1, (mask >> 64) as u64, (bytes >> 64) as u64)]
        {
            if mask != 0 {
                let word = self.words.entry(at).or_default();
                word.bytes = word.bytes & !mask | bytes;
                word.known |= mask;
            }
        }
    }

    fn forget(&mut self, mem: Mem) {
        if self.words.is_empty() {
            return;
        }
        if mem.size > LARGE {
            return self.words.clear();
        }
        let last = mem.addr + u64::from(mem.size - 1);
        for at in mem.addr / 8..=last / 8 {
            if let Some(word) = self.words.get_mut(&at) {
                let first_byte = mem.addr.saturating_sub(at * 8).min(8) as u32;
                let last_byte = (last - at * 8).min(7) as u32;
                let mask = (u64::MAX << (8 * first_byte)) & (u64::MAX >> (56 - 8 * last_byte));
                word.known &= !mask;
                if word.known == 0 {
                    self.words.remove(&at);
                }
            }
        }
    }
}
