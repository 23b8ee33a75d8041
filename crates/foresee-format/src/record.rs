//! The records of a thread: what each says, how long it is, and what its detail means.

/// Makes [`Tag`] from the table of records: `name = number, length in words`. A new record is one entry.
macro_rules! records {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $words:literal;)*) => {
        /// What a record says; the doc of each is its words after the first, and its detail.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Tag {
            $($(#[$doc])* $name = $number,)*
        }

        impl Tag {
            /// All tags.
            pub const ALL: &'static [Tag] = &[$(Tag::$name,)*];

            /// The tag with this number.
            #[inline]
            pub const fn from_number(number: u8) -> Option<Tag> {
                match number {
                    $($number => Some(Tag::$name),)*
                    _ => None,
                }
            }

            /// The length of a record with this tag, in words.
            #[inline]
            pub const fn words(self) -> usize {
                match self {
                    $(Tag::$name => $words,)*
                }
            }
        }
    };
}

records! {
    /// pc, address; detail: size.
    Read = 1, 3;
    /// As `Read`.
    Write = 2, 3;
    /// pc, address, size; detail: [`ON_BEHALF`], or 0.
    ReadRange = 3, 4;
    /// As `ReadRange`.
    WriteRange = 4, 4;
    /// pc, address, value; detail: order | log2(size) << 4, or also `UNKNOWN_VALUE`.
    Load = 5, 4;
    /// As `Load`.
    Store = 6, 4;
    /// pc, address, value read, value written; detail as `Load`.
    Rmw = 7, 5;
    /// pc; detail: order.
    Fence = 8, 2;
    /// pc, address of the lock; detail: `EXCLUSIVE`, `SHARED` or `OF_STREAM`.
    Request = 9, 3;
    /// As `Request`.
    Acquire = 10, 3;
    /// As `Request`, or detail `AS_HELD`.
    Release = 11, 3;
    /// pc, number of the thread.
    Fork = 12, 3;
    /// As `Fork`.
    Join = 13, 3;
    /// Nothing.
    Begin = 14, 1;
    /// Nothing.
    End = 15, 1;
    /// pc, address of the condition; detail: [`TIMED`], or 0.
    Wait = 16, 3;
    /// As `Wait`; detail: 1 if all are woken.
    Notify = 17, 3;
    /// Where the call is, an address within the function that was entered.
    Enter = 18, 3;
    /// Nothing.
    Exit = 19, 1;
    /// pc, address, size; detail: `SHARED_MEMORY` or 0.
    Alloc = 20, 4;
    /// pc, address, size.
    Free = 21, 4;
    /// A piece of text of up to 32 bytes; detail: its length, and `TEXT_ENDS` in the last piece of a text.
    Text = 22, 5;
    /// An argument of the event that follows; detail: `ARG_INT`, `ARG_OBJECT`, or `ARG_STR` for the text just before it.
    Arg = 23, 2;
    /// pc; takes its arguments and, the last text, its name.
    Named = 24, 2;
    /// pc, value; takes a name.
    Local = 25, 3;
    /// pc; takes a name.
    BlockBegin = 26, 2;
    /// pc.
    BlockEnd = 27, 2;
    /// pc, address, size of an object that has or is a lock; takes a name.
    NameLock = 28, 4;
    /// pc, address, size of a variable; takes a name.
    NameVariable = 29, 4;
    /// pc, address, value; detail: size, and `UNSETTLED`.
    ReadValue = 30, 4;
    /// As `ReadValue`.
    WriteValue = 31, 4;
    /// As `Enter`: a call that the thread is in as the chunk begins, or with detail `FRAMES_UNKNOWN` none of them.
    Frame = 32, 3;
    /// A near `Read`.
    NearRead = 33, 1;
    /// A near `Write`.
    NearWrite = 34, 1;
    /// A near `Enter`.
    NearEnter = 35, 1;
    /// A near `Exit`: nothing.
    NearExit = 36, 1;
    /// A near `Load` of a small value; detail as `Load`.
    NearLoad = 37, 2;
    /// As `NearLoad`.
    NearStore = 38, 2;
    /// As `NearLoad`.
    NearRmw = 39, 2;
    /// Nothing; its key is that of the near records after it.
    Now = 40, 1;
    /// Nothing: a basic block begins, in a program that records this
    /// ([`RunFlags::HAS_BRANCHES`](crate::RunFlags::HAS_BRANCHES)).
    Branch = 41, 1;
    /// A near `Branch`.
    NearBranch = 42, 1;
    /// pc, address of memory that the program has at another address, too.
    Alias = 43, 3;
    /// A `Read` with a digest of what it saw: pc | digest << `DIGEST_SHIFT`, address; detail: size.
    ReadSeen = 44, 3;
    /// A near `ReadSeen`.
    NearReadSeen = 45, 1;
    /// pc, address, size of memory that has other contents now, by something that is no access of the program.
    Changed = 46, 4;
    /// pc: a call that accesses memory of the program in a way that is not recorded; detail: an [`Unseen`].
    Unseen = 47, 2;
    /// pc, address of a lock that the thread tried to take and did not get; detail as `Request`, and `AGAIN`.
    Failed = 48, 3;
    /// pc; detail: an [`OperationStep`]. A call or return takes its arguments and its name.
    Operation = 49, 2;
    /// A `Read` that says where it is instead of when, and has the key of a near record: its first word has the pc; address.
    ReadAt = 50, 2;
    /// As `ReadAt`.
    WriteAt = 51, 2;
    /// A `ReadRange` of this kind, of less than 256 bytes; detail: how many.
    ReadRangeAt = 52, 2;
    /// As `ReadRangeAt`.
    WriteRangeAt = 53, 2;
    /// An `Enter` of this kind: its first word has an address within the function; where the call is.
    EnterAt = 54, 2;
    /// pc behind the call, number of the hook: a function that a property names is called, or with detail [`RETURNED`] returns. Takes its arguments, or its result and
    /// then arguments. Which these are, and what the function is called, is in a text ([`TEXT_CALLS`](crate::TEXT_CALLS)).
    Call = 55, 3;
    /// pc, number of the thread whose end is waited for.
    Await = 56, 3;
    /// pc, address of a semaphore, how many it begins with; detail: a [`SemaphoreStep`], for one that failed with [`AGAIN`] or without.
    Semaphore = 57, 4;
    /// pc, address of the atomic that stands for what the thread waits for another to act on, for as long as it takes.
    Blocked = 58, 3;
    /// pc, number of a thread that nobody will join.
    Detach = 59, 3;
    /// A [`ShortCall`](crate::ShortCall): pc behind the call | number of the hook << 48; the detail says the rest.
    CallAlone = 60, 2;
    /// The same with one word of values.
    CallWith1 = 61, 3;
    /// The same with two.
    CallWith2 = 62, 4;
    /// The same with three.
    CallWith3 = 63, 5;
}

impl Tag {
    /// Whether it is that of a [`ShortCall`](crate::ShortCall).
    #[inline(always)]
    pub const fn is_short_call(self) -> bool {
        matches!(self, Tag::CallAlone | Tag::CallWith1 | Tag::CallWith2 | Tag::CallWith3)
    }

    /// The near record of an atomic operation, if it is one.
    #[inline(always)]
    pub const fn near_atomic(self) -> Option<Tag> {
        match self {
            Tag::Load | Tag::NearLoad => Some(Tag::NearLoad),
            Tag::Store | Tag::NearStore => Some(Tag::NearStore),
            Tag::Rmw | Tag::NearRmw => Some(Tag::NearRmw),
            _ => None,
        }
    }
}

/// The first word of a record.
#[inline(always)]
pub const fn first_word(tag: Tag, detail: u8, key: u64) -> u64 {
    tag as u64 | (detail as u64) << 8 | key << 16
}

/// What an operation of a concurrent structure says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum OperationStep {
    /// It is called.
    Call = 0,
    /// It returns.
    Return = 1,
    /// It takes effect.
    Commit = 2,
    /// A commit block begins.
    CommitBegin = 3,
    /// The commit block ends.
    CommitEnd = 4,
}

impl OperationStep {
    /// All, in the order of their numbers.
    pub const ALL: [OperationStep; 5] = [
        OperationStep::Call,
        OperationStep::Return,
        OperationStep::Commit,
        OperationStep::CommitBegin,
        OperationStep::CommitEnd,
    ];
}

/// What is done to a semaphore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum SemaphoreStep {
    /// It is initialised, for this process alone.
    Begins = 0,
    /// It is about to be raised.
    Raised = 1,
    /// It was lowered.
    Lowered = 2,
    /// A thread is about to lower it, and will wait for as long as that takes.
    Requested = 3,
    /// A thread did not lower it, as it was 0.
    Failed = 4,
    /// It is initialised, and other processes may use it; or it is no more.
    Unknown = 5,
}

impl SemaphoreStep {
    /// The step with this number, if there is one.
    pub const fn from_number(number: u8) -> Option<SemaphoreStep> {
        Some(match number {
            0 => SemaphoreStep::Begins,
            1 => SemaphoreStep::Raised,
            2 => SemaphoreStep::Lowered,
            3 => SemaphoreStep::Requested,
            4 => SemaphoreStep::Failed,
            5 => SemaphoreStep::Unknown,
            _ => return None,
        })
    }
}

/// What a call accesses that nobody records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Unseen {
    /// Memory that the program gave to the C library as the buffer of a stream.
    StreamBuffer = 0,
    /// A file that is also mapped.
    MappedFile = 1,
    /// What a stream of the C library is in, or what comes out of it.
    StreamState = 2,
    /// The loader's lock, and what libraries do when they are loaded and unloaded.
    Loader = 3,
    /// What is formatted while a thread panics, by the program or by Rust's library for itself.
    Panic = 4,
    /// The environment of the process.
    Environment = 5,
    /// Arguments of a format that is not understood: numbered ones, or wide characters.
    Format = 6,
    /// Addresses that messages come from, or the contents of many messages at once.
    Messages = 7,
    /// Memory that is read or written beside the program, by `aio_read` and the like.
    Background = 8,
}

impl Unseen {
    /// All, in the order of their numbers.
    pub const ALL: [Unseen; 9] = [
        Unseen::StreamBuffer,
        Unseen::MappedFile,
        Unseen::StreamState,
        Unseen::Loader,
        Unseen::Panic,
        Unseen::Environment,
        Unseen::Format,
        Unseen::Messages,
        Unseen::Background,
    ];

    /// Whether it may order threads: whoever has a file mapped may see there what is written to it, and the loader has a lock.
    pub const fn orders(self) -> bool {
        matches!(self, Unseen::MappedFile | Unseen::Loader)
    }

    /// What to call it.
    pub const fn name(self) -> &'static str {
        match self {
            Unseen::StreamBuffer => "a stream with a buffer of the program's own",
            Unseen::MappedFile => "a file that is also mapped",
            Unseen::StreamState => "the state of a stream",
            Unseen::Loader => "the loader of libraries",
            Unseen::Panic => "what a panic says",
            Unseen::Environment => "the environment of the process",
            Unseen::Format => "arguments of a format that is not understood",
            Unseen::Messages => "addresses or contents of messages",
            Unseen::Background => "what was read or written beside the program",
        }
    }
}

/// In the detail of an access to a range: a function of Rust's library does it for who called it, not for itself.
pub const ON_BEHALF: u8 = 1;

/// In the detail of an atomic operation: its values are not known. An uninstrumented library did it, before or after the record.
pub const UNKNOWN_VALUE: u8 = 0x80;

/// Memory orders, as the ABI of ThreadSanitizer and records of atomics count them.
pub const ORDER_RELAXED: i32 = 0;
/// As above.
pub const ORDER_ACQUIRE: i32 = 2;
/// As above.
pub const ORDER_RELEASE: i32 = 3;
/// As above; the next is sequentially consistent.
pub const ORDER_ACQ_REL: i32 = 4;

/// The lock is held by one.
pub const EXCLUSIVE: u8 = 0;
/// The lock is held by any number.
pub const SHARED: u8 = 1;
/// The lock is released as it was acquired.
pub const AS_HELD: u8 = 2;
/// The lock of a standard stream of Rust's library, held by one. What the library itself takes it gives back unseen.
pub const OF_STREAM: u8 = 3;

/// In the detail of a wait: time may end it.
pub const TIMED: u8 = 1;

/// In the detail of a failed attempt: the thread has recorded nothing since one on the same lock.
pub const AGAIN: u8 = 1 << 7;

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
/// In the detail of a call: the function returns.
pub const RETURNED: u8 = 1;
/// In the detail of a frame that stands for calls that are not known.
pub const FRAMES_UNKNOWN: u8 = 1;
/// In the detail of an access whose value is not known, or not yet.
pub const UNSETTLED: u8 = 1 << 7;

/// In the detail of memory that is given out: other processes have it, too.
pub const SHARED_MEMORY: u8 = 1;

/// Where the digest of a [`Tag::ReadSeen`] is in a word: above all addresses of programs.
pub const DIGEST_SHIFT: u32 = 56;

/// Added to the address of a barrier, semaphore or once control to get the address of the atomic that stands for it:
/// no program has memory there, so it conflicts with nothing, not even with freeing the object.
pub const SYNC_SPACE: u64 = 1 << 58;

/// So many descriptors of a process are known, each with a cell per life in the space for what synchronises.
pub const DESCRIPTORS: usize = 1 << 14;
const DESCRIPTOR_SPACE: u64 = SYNC_SPACE | 1 << 57 | 1 << 55;
const LIFE_SHIFT: u32 = 14 + 3;

/// The byte that stands for a descriptor, from when its number is given out until it is closed; lives are counted by the runtime.
pub const fn descriptor_cell(descriptor: u32, life: u32) -> u64 {
    DESCRIPTOR_SPACE | (life as u64) << LIFE_SHIFT | (descriptor as u64 % DESCRIPTORS as u64) << 3
}

/// The descriptor that an address stands for, if it does.
pub const fn descriptor_at(addr: u64) -> Option<u32> {
    let is_it = addr & !((1 << (32 + LIFE_SHIFT)) - 1) == DESCRIPTOR_SPACE;
    if is_it { Some((addr >> 3) as u32 % DESCRIPTORS as u32) } else { None }
}

#[cfg(test)]
mod tests {
    use super::{DESCRIPTORS, SYNC_SPACE, Tag, descriptor_at, descriptor_cell};

    #[test]
    fn descriptors_have_cells_of_their_own() {
        let last = DESCRIPTORS as u32 - 1;
        for (descriptor, life) in [(0, 0), (7, 3), (last, u32::MAX)] {
            assert_eq!(descriptor_at(descriptor_cell(descriptor, life)), Some(descriptor));
        }
        assert_ne!(descriptor_cell(0, 1), descriptor_cell(last, 0));
        assert_eq!(descriptor_at(SYNC_SPACE | 0x1000), None);
    }

    #[test]
    fn tags_are_numbered_from_1_without_gaps() {
        for (i, &tag) in Tag::ALL.iter().enumerate() {
            assert_eq!(tag as usize, i + 1);
            assert_eq!(Tag::from_number(tag as u8), Some(tag));
        }
        assert_eq!(Tag::from_number(0), None);
        assert_eq!(Tag::from_number(Tag::ALL.len() as u8 + 1), None);
    }

    #[test]
    fn records_have_one_to_five_words() {
        assert!(Tag::ALL.iter().all(|tag| (1..=5).contains(&tag.words())));
    }
}
