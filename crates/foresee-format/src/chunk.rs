//! The headers of chunks, and the texts in some of them.

/// The first word of a chunk.
pub const CHUNK_MAGIC: u64 = u64::from_le_bytes(*b"FORchunk");
/// The length of a chunk's header in words.
pub const CHUNK_HEADER_WORDS: usize = 4;
/// The word of a chunk's header that holds its owner.
pub const OWNER_WORD: usize = 1;
/// The word of a chunk's header that holds its length.
pub const LEN_WORD: usize = 2;
/// The word of a chunk's header that holds the key from which on it holds, or its thread has it.
pub const KEY_WORD: usize = 3;
/// The word of a chunk's header that holds its turn and `TURN`, if it is a home or a copy of one.
pub const TURN_WORD: usize = KEY_WORD;
/// Tells turns from keys.
pub const TURN: u64 = 1 << 63;
/// The owner of a chunk of texts.
pub const TEXT_OWNER: u64 = u64::MAX;

/// The owner of a chunk that is about to be used again.
pub const FREE_OWNER: u64 = u64::MAX - 1;

/// A text of facts: name and value in turn, each ended by a zero byte.
pub const TEXT_FACTS: u64 = 1;
/// The name of the fact that has the number of the recorded process.
pub const PROCESS: &str = "pid";
/// How the name of a fact begins that has what a variable was at first; the variable's name follows.
pub const INITIAL_VALUE_OF: &str = "initial value of ";
/// What follows that value if the variable is never negative.
pub const UNSIGNED: &str = " (unsigned)";
/// How the name of a fact begins that says where a part of a variable is, as `address:size`; what the part is called follows.
pub const PLACE_OF: &str = "place of ";
/// How the name of a fact begins that says which calls of functions have a record of their own, `enter`, `exit` or both; the functions follow as properties name them.
pub const CALLS_OF: &str = "recorded calls of ";
/// How it begins for functions of which only those calls are known that instrumented code tells by itself; its value is why.
pub const SOME_CALLS_OF: &str = "some calls of ";
/// A text that is a copy of `/proc/self/maps`. Where it contradicts an earlier one, a library has taken the place of another.
pub const TEXT_MAPS: u64 = 2;
/// A text that has what the program's data is before anything is recorded: address and length, and each piece of it that is not zero,
/// as its offset and its `IMAGE_PIECE` bytes.
pub const TEXT_IMAGE: u64 = 3;
/// A text about the hooks of the run (`CALLS_MAGIC`), by their numbers: the names of the parameters that a hook records, and the name of its function, each ended by a zero byte.
pub const TEXT_CALLS: u64 = 4;
/// A text that has the accesses of the run which are recorded along with others ([`JoinedAccess`](crate::JoinedAccess)).
pub const TEXT_JOINED: u64 = 5;
/// How many bytes a piece of an image has.
pub const IMAGE_PIECE: usize = 1 << 9;
