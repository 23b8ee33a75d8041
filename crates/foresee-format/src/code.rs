//! The table of code: a file of its own, by which the driver says which functions' accesses are recorded.

/// The first word of a table of code, which tells the runtime whose accesses are recorded. It is followed by the device and number
/// of the program's file, the first address of code there, how many bytes of code follow, and whether accesses elsewhere are
/// recorded. Then comes one bit for each byte.
pub const CODE_MAGIC: u64 = u64::from_le_bytes(*b"FORcode\0");
/// The length of its header in words.
pub const CODE_HEADER_WORDS: usize = 6;
