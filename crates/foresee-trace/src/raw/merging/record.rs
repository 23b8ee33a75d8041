//! A record, as whoever merges threads knows it.

use foresee_format::Tag;

/// So many words a record has at most.
pub(super) const LONGEST: usize = 5;

/// In the third word of a read: the bits below are a digest of what it saw.
pub(crate) const SAW: u64 = 1 << 8;

/// One record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    /// Never smaller than that of the record before.
    pub(crate) key: u64,
    pub(crate) words: [u64; LONGEST - 1],
    pub(crate) tag: Tag,
    pub(crate) detail: u8,
    /// How many bytes it takes in the file.
    pub(super) length: u8,
}
