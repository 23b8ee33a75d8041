//! Accesses that are recorded along with others: the calls for them are taken out of the program, and the reader puts them back.
//!
//! Where a piece of code is done from its beginning to its end, accesses whose addresses are a constant apart need one record: that of the first tells the addresses of all. The driver has worked out from the
//! program's file which these are, and made a table: words of 8 bytes, little-endian. A header ([`JOINED_HEADER_WORDS`]): [`JOINED_MAGIC`], device, number and length of the program's file, and when it was changed (seconds, nanoseconds). Then
//! each access that needs no record ([`JOINED_WORDS`]), in the order in which they are done:
//!
//! ```text
//! after which recorded access it is done
//! which recorded access has its address
//! itself
//! distance from that address (32 bits, with a sign) | bytes << 32 | 1 << 40 if it writes | length of its call << 48 | slot << 56
//! ```
//!
//! Whoever reads keeps the addresses that others are counted from in [`JOINED_SLOTS`] slots, the slot of each being that of those which are counted from it. No recorded access has more than [`MOST_JOINED`] behind it.
//!
//! An access is told by where its call returns to, as in records. The raw trace has the same words as a text ([`TEXT_JOINED`](crate::TEXT_JOINED)), without the header, and with addresses of the run instead of the file.

/// The first word of the table. It changes with what the table says: a program may have another version of the runtime.
pub const JOINED_MAGIC: u64 = u64::from_le_bytes(*b"FORjoin1");
/// How many words the header has.
pub const JOINED_HEADER_WORDS: usize = 6;
/// How many words an access has.
pub const JOINED_WORDS: usize = 4;

/// How many addresses are kept.
pub const JOINED_SLOTS: usize = 16;
/// How many accesses without a record follow one with a record, at most.
pub const MOST_JOINED: usize = 32;

/// An access that is recorded along with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinedAccess {
    /// The recorded access that it comes after.
    pub after: u64,
    /// The recorded access that has its address.
    pub base: u64,
    /// Where its own call returns to.
    pub pc: u64,
    /// How far it is from that address.
    pub distance: i32,
    /// How many bytes it accesses.
    pub size: u8,
    /// Whether it writes.
    pub writes: bool,
    /// How many bytes its call has.
    pub call_len: u8,
    /// Where the address is kept that it is counted from.
    pub slot: u8,
}

impl JoinedAccess {
    /// As the table has it.
    pub const fn words(self) -> [u64; JOINED_WORDS] {
        let about = self.distance as u32 as u64
            | (self.size as u64) << 32
            | (self.writes as u64) << 40
            | (self.call_len as u64) << 48
            | (self.slot as u64) << 56;
        [self.after, self.base, self.pc, about]
    }

    /// From the table.
    pub const fn from_words([after, base, pc, about]: [u64; JOINED_WORDS]) -> JoinedAccess {
        JoinedAccess {
            after,
            base,
            pc,
            distance: about as u32 as i32,
            size: (about >> 32) as u8,
            writes: about >> 40 & 1 != 0,
            call_len: (about >> 48) as u8,
            slot: (about >> 56) as u8,
        }
    }

    /// The same where the file is loaded so far from where it says.
    #[must_use]
    pub const fn moved_by(self, bias: u64) -> JoinedAccess {
        JoinedAccess {
            after: self.after.wrapping_add(bias),
            base: self.base.wrapping_add(bias),
            pc: self.pc.wrapping_add(bias),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_say_all() {
        for (distance, size, writes) in [(0, 1, false), (-8, 16, true), (i32::MIN, 2, true)] {
            let access =
                JoinedAccess { after: 7, base: 5, pc: 9, distance, size, writes, call_len: 6, slot: 15 };
            assert_eq!(JoinedAccess::from_words(access.words()), access);
        }
    }
}
