//! The file's header: what the whole file is, and how its recording ended.

/// The first bytes of a raw trace.
pub const MAGIC: [u8; 8] = *b"\x89FORraw\n";
/// The version this code writes; it reads earlier ones, too. Since 2 there are near records and homes, since 3 branches,
/// since 4 the flags (facts before), since 5 failed attempts on locks and operations of structures, since 6 side files,
/// since 7 keys may be times, since 9 compact records, and calls with their arguments, since 10 compact loads, and loads that
/// have the key of near records, what threads wait for, and semaphores, since 11 which threads are detached,
/// since 12 accesses that are recorded along with others, and calls with their values in one record, since 13 distances between accesses are counted in
/// their sizes.
pub const VERSION: u64 = 13;
/// Where chunks begin.
pub const HEADER_LEN: u64 = 1 << 16;
/// The file grows by multiples of this, unless it is read while it is written.
pub const UNIT: u64 = 1 << 16;
/// A file that is read while it is written grows by multiples of this: what can be mapped.
pub const PAGE: u64 = 1 << 12;
/// The longest chunk.
pub const MAX_CHUNK: u64 = 1 << 20;
/// Where in the header, in bytes, the table of thread names begins.
pub const NAMES: u64 = 4096;
/// The length of a thread's name in that table: the kernel's limit.
pub const NAME_LEN: u64 = 16;
/// How many threads one trace can have, one after the other or at a time: recording stops at the next one ([`Stop::Threads`]), and that is said.
///
/// A number is never used again within a trace: properties speak of threads by number, and a thread that gets the number of one that has ended would be taken for it. So there have to be enough
/// of them. With a thousand new threads in every second these last for 24 days, and whatever goes by them is a word of 32 bits: what readers keep is by number for threads that are there, and for
/// no others.
pub const MAX_THREADS: u64 = 1 << 31;

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

/// The header's word that holds the [`RunFlags`](crate::RunFlags).
pub const FLAGS_WORD: usize = 6;

/// The header's word that a reader changes to have all threads take fresh keys, if keys are times and the trace is read while it is written.
pub const REQUEST_WORD: usize = 7;

/// The header's word that is 1 once the process has ended by itself, behind all that it does then: no signal, `exec` or `_exit` has ended it. Nothing follows from 0 without
/// [`TELLS_END`](crate::RunFlags::TELLS_END).
pub const END_WORD: usize = 8;

/// How many side files a trace can have.
pub const SIDE_FILES: usize = 15;
/// What comes between the name of a trace and the number of a side file, from 1 on.
pub const SIDE_MARK: &str = "+";
/// The header's first word of those that hold how long each side file was when the last copy was added: 0 if there is none.
pub const SIDE_LENGTHS_WORD: usize = 16;

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
    /// The file's descriptor is the program's by now.
    Taken,
    /// The kernel does not let the file grow.
    Refused,
    /// There are no larger keys.
    TooLong,
    /// The disk does not take what is written.
    Failed,
    /// There is no memory for what has to be kept until functions return.
    NoMemory,
}

impl Stop {
    /// All reasons, by their number less one.
    pub const ALL: [Stop; 9] = [
        Stop::NoRoom,
        Stop::MaxSize,
        Stop::LittleRoom,
        Stop::Threads,
        Stop::Taken,
        Stop::Refused,
        Stop::TooLong,
        Stop::Failed,
        Stop::NoMemory,
    ];

    /// For people.
    pub const fn why(self) -> &'static str {
        match self {
            Stop::NoRoom => "the disk is full, or the file as large as it may be",
            Stop::MaxSize => "the recording is as large as --max-size allows (16G if it is not given)",
            Stop::LittleRoom => "little of the disk is left",
            Stop::Threads => "the program has more threads than a trace can hold",
            Stop::Taken => "the program has closed or taken the recording's file descriptor",
            Stop::TooLong => "the program runs for longer than a recording can (some thirty hours)",
            Stop::Failed => "the disk fails (Input/output error)",
            Stop::NoMemory => "there is no memory to keep the arguments of calls in until they return",
            Stop::Refused => "the kernel forbids what recording needs (a seccomp filter of the program's?)",
        }
    }
}
