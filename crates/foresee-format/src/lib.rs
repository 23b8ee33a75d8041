//! The layout of a raw trace: what the runtime inside the program writes, and the reader reads.
//!
//! Both depend on this crate and on nothing of each other; it uses neither the standard library nor any other crate, as it becomes
//! part of every recorded program. All numbers are little-endian `u64` words.
//!
//! ```text
//! file    = header (HEADER_LEN bytes), then chunks that follow each other; between chunks there may be zeroes up to a multiple of PAGE
//! header  = MAGIC, version, state words, flags, at NAMES a table of thread names: NAME_LEN bytes each, zero-padded, by thread number
//! chunk   = CHUNK_MAGIC, owner, length in bytes, key, then records (owner: a thread) or a text (owner: TEXT_OWNER); the key is
//!           that from which on the text holds, or the thread has the chunk, or a turn, or 0
//! text    = kind, length in bytes, the bytes, padded to a word
//! record  = tag | detail << 8 | key << 16, then `words(tag) - 1` words; or compact, which begins with a byte that is no tag
//! ```
//!
//! **A reader knows where the records of a chunk end**: chunks begin as zeroes, and the first word of a record, whose first
//! byte is never 0, is stored after its other words. So whatever kills the process, what is found up to the first zero byte is
//! complete. A chunk whose owner died before it wrote the chunk's header begins with zeroes, and is passed over.
//!
//! **Most records are a few bytes**: a *compact* one says what is done where the thread has been before ([`places`]), and has the key of
//! [`Tag::Now`] or of the record before it, rounded up to an even one; compact atomics have keys of their own, but for relaxed loads. The others, which all begin with an aligned word, are
//! *full*, or *near*: these say how far they are from what the same chunk has said before ([`near`]). Accesses and calls were near before version 9; reads with a digest, and
//! atomics whose place is not known, still are.
//!
//! **Not every access has a record**: some are recorded along with others, which a text says ([`JoinedAccess`]).
//!
//! **Chunks of a thread** follow each other in the file in the thread's order, but for its *home*, the one that it has mapped: the
//! first of those with its largest turn. The turn is odd while the home is filled. When it is full, the thread writes a copy of
//! it behind everything else, makes the turn even, clears the home, and makes the turn odd again. So whatever kills the process:
//!
//! * a copy is complete if the home's turn is larger than its own; otherwise the home still has what the copy was to have;
//! * what is in the home comes after all copies, if its turn is odd; otherwise it is in the last copy, too.
//!
//! (A signal handler that leaves by a jump may have the thread write a copy again: of two with the same turn the last counts.)
//! Writing copies costs a fraction of mapping more and more of the file, as each page of a mapping is a fault of its own. Where
//! a trace is read while it is written, and where chunks are used again, there are no homes.
//!
//! **Side files.** The kernel lets one thread at a time write to a file. So copies of homes may also go to other files: `NAME+1`, `NAME+2` and so on, if
//! the trace is `NAME`, which consist of chunks and nothing else. The header says how long each is ([`SIDE_LENGTHS_WORD`]). They count as if
//! they were behind the trace itself, in the order of their numbers, each from a multiple of UNIT on.
//!
//! Space is taken from the file in multiples of UNIT. A thread that ends cuts its last chunk where its records end, and the rest
//! becomes the first chunk of a thread that begins later: so 100,000 threads that do little need little room. Where a trace is read while it is
//! written, chunks stay as they are ([`RunFlags::CHUNKS_STAY`]): there a thread's first chunk is a page, and the reader gives back what it has read.
//!
//! **If only the end of the run is kept**, chunks are used again: then those of a thread follow each other by their keys. The
//! header has the key of the moment from which on everything is there ([`CUT_WORD`]); records with smaller keys say only
//! in which state their threads are then. Each chunk begins with the calls that its thread is in.
//!
//! **Names that the program gives** (an event's, a lock's) travel in the thread's own records: pieces of text, the arguments of
//! an event, and then the record that they are for, which takes all that came before it. There is no table of names to
//! keep consistent: whatever ends the process, a text without the record after it is a text that nobody asks for.
//!
//! **Values of plain accesses** are known only when the access is done, which is after its record is written: the record has
//! `UNSETTLED` in its detail until the thread's next entry into the runtime puts the value in place and then takes the mark away.
//! A record that keeps the mark has no value.
//!
//! **Digests of what reads saw** (`HAS_SEEN_VALUES`) are of the memory just before the read, loaded after the record's key: so that
//! moment is after everything with a smaller stamp, and before the thread's next record.

#![no_std]

mod calls;
mod chunk;
mod code;
pub mod digest;
mod flags;
mod header;
mod joined;
mod letters;
pub mod near;
mod number;
pub mod places;
mod record;
mod short_calls;

pub use calls::*;
pub use chunk::*;
pub use code::*;
pub use flags::RunFlags;
pub use header::*;
pub use joined::*;
pub use letters::letters;
pub use number::number;
pub use record::*;
pub use short_calls::*;
