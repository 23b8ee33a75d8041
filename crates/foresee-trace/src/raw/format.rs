//! The layout of a raw trace: what the runtime inside the program writes, and the reader reads.
//!
//! This file is compiled into both, so it uses nothing of either. All numbers are little-endian `u64` words.
//!
//! ```text
//! file    = header (HEADER_LEN bytes), then chunks that follow each other; between chunks there may be zeroes up to a multiple of UNIT
//! header  = MAGIC, version, state words, at NAMES a table of thread names: NAME_LEN bytes each, zero-padded, by thread number
//! chunk   = CHUNK_MAGIC, owner, length in bytes, key, then records (owner: a thread) or a text (owner: TEXT_OWNER); the key is
//!           that from which on the text holds, or the thread has the chunk, or a turn, or 0
//! text    = kind, length in bytes, the bytes, padded to a word
//! record  = tag | detail << 8 | key << 16, then `words(tag) - 1` words
//! ```
//!
//! **A reader knows where the records of a chunk end**: chunks begin as zeroes, and the first word of a record, which
//! is never 0, is stored after its other words. So whatever kills the process, what is found up to the first zero word is
//! whole. A chunk whose owner died before it wrote the chunk's header begins with zeroes, and is passed over.
//!
//! **Most records are one word**: a *near* access or call says how far it is from what the same chunk has said before ([`near`](super::near)),
//! and has the key of [`Tag::Now`] or of the record before it, rounded up to an even one. A near atomic has a second word for
//! that, and a key of its own.
//!
//! **Chunks of a thread** follow each other in the file in the thread's order, but for its *home*, the one that it has mapped: the
//! first of those with its largest turn. The turn is odd while the home is filled. When it is full, the thread writes a copy of
//! it behind everything else, makes the turn even, clears the home, and makes the turn odd again. So whatever kills the process:
//!
//! * a copy is whole if the home's turn is larger than its own; otherwise the home still has what the copy was to have;
//! * what is in the home comes after all copies, if its turn is odd; otherwise it is in the last copy, too.
//!
//! (A signal handler that leaves by a jump may have the thread write a copy again: of two with the same turn the last counts.)
//! Writing copies costs a fraction of mapping more and more of the file, as each page of a mapping is a fault of its own. Where
//! a trace is read while it is written, and where chunks are used again, there are no homes.
//!
//! Space is taken from the file in multiples of UNIT. A thread that ends cuts its last chunk where its records end, and the rest
//! becomes the first chunk of a thread that begins later: so 100,000 threads that do little need little room.
//!
//! **If only the end of the run is kept**, chunks are used again: then those of a thread follow each other by their keys. The
//! header has the key of the moment from which on everything is there ([`CUT_WORD`]); records with smaller keys say only
//! in which state their threads are then. Each chunk begins with the calls that its thread is in.
//!
//! **Names that the program gives** (an event's, a lock's) travel in the thread's own records: pieces of text, the arguments of
//! an event, and then the record that they are for, which takes all that came before it. There is no table of names to
//! keep whole: whatever ends the process, a text without the record after it is a text that nobody asks for.
//!
//! **Values of plain accesses** are known only when the access is done, which is after its record is written: the record has
//! `UNSETTLED` in its detail until the thread's next entry into the runtime puts the value in place and then takes the mark away.
//! A record that keeps the mark has no value.

/// The first bytes of a raw trace.
pub const MAGIC: [u8; 8] = *b"\x89FORraw\n";
/// The version this code writes; it reads earlier ones, too. Since 2 there are near records and homes, since 3 branches.
pub const VERSION: u64 = 3;
/// Where chunks begin.
pub const HEADER_LEN: u64 = 1 << 16;
/// The file grows by multiples of this.
pub const UNIT: u64 = 1 << 16;
/// The longest chunk.
pub const MAX_CHUNK: u64 = 1 << 20;
/// Where in the header, in bytes, the table of thread names begins.
pub const NAMES: u64 = 4096;
/// The length of a thread's name in that table: the kernel's limit.
pub const NAME_LEN: u64 = 16;
/// How many threads one trace can have.
pub const MAX_THREADS: u64 = 1 << 20;
/// From this number of a thread on, its chunk may be cut when it ends: before, a whole one for each costs little.
pub const SHARED_FROM: u64 = 1 << 10;

/// The header's word that holds the version.
pub const VERSION_WORD: usize = 1;
/// The header's word that holds the first key that was not recorded by all threads, or 0 if recording never stopped.
pub const STOP_WORD: usize = 2;
/// The header's word that holds how long the file was when the last chunk was added: a shorter one has lost its end.
pub const LENGTH_WORD: usize = 3;

/// The header's word that says why recording stopped: a [`Stop`] as a number, or 0.
pub const WHY_WORD: usize = 4;

/// The header's word that holds the first key from which on all records are there, or 0 if they all are.
pub const CUT_WORD: usize = 5;

/// Why recording stopped before the program did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Stop {
    /// The file cannot grow.
    NoRoom = 1,
    /// The file must not grow: the user's limit.
    MaxSize,
    /// The file must not grow: others need the disk, too.
    LittleRoom,
    /// There are too many threads.
    Threads,
}

impl Stop {
    /// All reasons, by their number less one.
    pub const ALL: [Stop; 4] = [Stop::NoRoom, Stop::MaxSize, Stop::LittleRoom, Stop::Threads];

    /// For people.
    pub const fn why(self) -> &'static str {
        match self {
            Stop::NoRoom => "the disk is full, or the file as large as it may be",
            Stop::MaxSize => "the recording is as large as --max-size allows",
            Stop::LittleRoom => "little of the disk is left",
            Stop::Threads => "the program has more threads than a trace can hold",
        }
    }
}

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
/// A text that is a copy of `/proc/self/maps`. Where it contradicts an earlier one, a library has taken the place of another.
pub const TEXT_MAPS: u64 = 2;

/// Added to the address of a barrier, semaphore or once control to get the address of the atomic that stands for it:
/// no program has memory there, so it conflicts with nothing, not even with freeing the object.
pub const SYNC_SPACE: u64 = 1 << 58;

/// In the detail of an atomic operation: its values are not known. An uninstrumented library did it, before or after the record.
pub const UNKNOWN_VALUE: u8 = 0x80;

/// The fact that says which accesses were left out, if any: then no prediction is proven. What synchronises is all there.
pub const LEFT_OUT: &str = "left out";

/// The fact that says that the program tells where its control flow goes.
pub const BRANCHES: &str = "branches";

/// The first word of a table of code, which tells the runtime whose accesses are recorded. It is followed by the device and number
/// of the program's file, the first address of code there, how many bytes of code follow, and whether accesses elsewhere are
/// recorded. Then comes one bit for each byte.
pub const CODE_MAGIC: u64 = u64::from_le_bytes(*b"FORcode\0");
/// The length of its header in words.
pub const CODE_HEADER_WORDS: usize = 6;

/// What a record says; the doc of each is its words after the first, and its detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Tag {
    /// pc, address; detail: size.
    Read = 1,
    /// As `Read`.
    Write,
    /// pc, address, size.
    ReadRange,
    /// As `ReadRange`.
    WriteRange,
    /// pc, address, value; detail: order | log2(size) << 4, or also `UNKNOWN_VALUE`.
    Load,
    /// As `Load`.
    Store,
    /// pc, address, value read, value written; detail as `Load`.
    Rmw,
    /// pc; detail: order.
    Fence,
    /// pc, address of the lock; detail: `EXCLUSIVE` or `SHARED`.
    Request,
    /// As `Request`.
    Acquire,
    /// As `Request`, or detail `AS_HELD`.
    Release,
    /// pc, number of the thread.
    Fork,
    /// As `Fork`.
    Join,
    /// Nothing.
    Begin,
    /// Nothing.
    End,
    /// pc, address of the condition.
    Wait,
    /// As `Wait`; detail: 1 if all are woken.
    Notify,
    /// Where the call is, an address within the function that was entered.
    Enter,
    /// Nothing.
    Exit,
    /// pc, address, size.
    Alloc,
    /// As `Alloc`.
    Free,
    /// A piece of text of up to 32 bytes; detail: its length, and `TEXT_ENDS` in the last piece of a text.
    Text,
    /// An argument of the event that follows; detail: `ARG_INT`, `ARG_OBJECT`, or `ARG_STR` for the text just before it.
    Arg,
    /// pc; takes its arguments and, the last text, its name.
    Named,
    /// pc, value; takes a name.
    Local,
    /// pc; takes a name.
    BlockBegin,
    /// pc.
    BlockEnd,
    /// pc, address, size of an object that has or is a lock; takes a name.
    NameLock,
    /// pc, address, size of a variable; takes a name.
    NameVariable,
    /// pc, address, value; detail: size, and `UNSETTLED`.
    ReadValue,
    /// As `ReadValue`.
    WriteValue,
    /// As `Enter`: a call that the thread is in as the chunk begins, or with detail `FRAMES_UNKNOWN` none of them.
    Frame,
    /// A near `Read`.
    NearRead,
    /// A near `Write`.
    NearWrite,
    /// A near `Enter`.
    NearEnter,
    /// A near `Exit`: nothing.
    NearExit,
    /// A near `Load` of a small value; detail as `Load`.
    NearLoad,
    /// As `NearLoad`.
    NearStore,
    /// As `NearLoad`.
    NearRmw,
    /// Nothing; its key is that of the near records after it.
    Now,
    /// Nothing: a piece of code without jumps begins, in a program that tells this ([`BRANCHES`]).
    Branch,
    /// A near `Branch`.
    NearBranch,
}

/// All tags, by their number less one.
pub const TAGS: [Tag; 42] = [
    Tag::Read,
    Tag::Write,
    Tag::ReadRange,
    Tag::WriteRange,
    Tag::Load,
    Tag::Store,
    Tag::Rmw,
    Tag::Fence,
    Tag::Request,
    Tag::Acquire,
    Tag::Release,
    Tag::Fork,
    Tag::Join,
    Tag::Begin,
    Tag::End,
    Tag::Wait,
    Tag::Notify,
    Tag::Enter,
    Tag::Exit,
    Tag::Alloc,
    Tag::Free,
    Tag::Text,
    Tag::Arg,
    Tag::Named,
    Tag::Local,
    Tag::BlockBegin,
    Tag::BlockEnd,
    Tag::NameLock,
    Tag::NameVariable,
    Tag::ReadValue,
    Tag::WriteValue,
    Tag::Frame,
    Tag::NearRead,
    Tag::NearWrite,
    Tag::NearEnter,
    Tag::NearExit,
    Tag::NearLoad,
    Tag::NearStore,
    Tag::NearRmw,
    Tag::Now,
    Tag::Branch,
    Tag::NearBranch,
];

/// The lock is held by one.
pub const EXCLUSIVE: u8 = 0;
/// The lock is held by any number.
pub const SHARED: u8 = 1;
/// The lock is released as it was acquired.
pub const AS_HELD: u8 = 2;

/// In the detail of the last piece of a text.
pub const TEXT_ENDS: u8 = 1 << 7;
/// How many bytes a piece of text has at most.
pub const TEXT_PIECE: usize = 32;
/// The argument is a number.
pub const ARG_INT: u8 = 0;
/// The argument is an object, known by its address.
pub const ARG_OBJECT: u8 = 1;
/// The argument is a text.
pub const ARG_STR: u8 = 2;
/// In the detail of a frame that stands for calls that are not known.
pub const FRAMES_UNKNOWN: u8 = 1;
/// In the detail of an access whose value is not known, or not yet.
pub const UNSETTLED: u8 = 1 << 7;

impl Tag {
    /// The length of a record with this tag.
    pub const fn words(self) -> usize {
        match self {
            Tag::Begin
            | Tag::End
            | Tag::Exit
            | Tag::NearRead
            | Tag::NearWrite
            | Tag::NearEnter
            | Tag::NearExit
            | Tag::Now
            | Tag::Branch
            | Tag::NearBranch => 1,
            Tag::Fence
            | Tag::Arg
            | Tag::Named
            | Tag::BlockBegin
            | Tag::BlockEnd
            | Tag::NearLoad
            | Tag::NearStore
            | Tag::NearRmw => 2,
            Tag::Read
            | Tag::Write
            | Tag::Request
            | Tag::Acquire
            | Tag::Release
            | Tag::Fork
            | Tag::Join
            | Tag::Wait
            | Tag::Notify
            | Tag::Enter
            | Tag::Frame
            | Tag::Local => 3,
            Tag::ReadRange
            | Tag::WriteRange
            | Tag::Load
            | Tag::Store
            | Tag::Alloc
            | Tag::Free
            | Tag::NameLock
            | Tag::NameVariable
            | Tag::ReadValue
            | Tag::WriteValue => 4,
            Tag::Rmw | Tag::Text => 5,
        }
    }
}

/// The first word of a record.
#[inline]
pub const fn first_word(tag: Tag, detail: u8, key: u64) -> u64 {
    tag as u64 | (detail as u64) << 8 | key << 16
}
