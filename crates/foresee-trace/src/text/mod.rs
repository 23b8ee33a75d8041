//! The text form of a trace: the STD format of the field, extended to every event.
//!
//! One event per line, in the observed order; STD traces of the field are read as they are:
//!
//! ```text
//! T1|w(V12.34[0])|345          thread | operation | location
//! T1|fork(T2)|src/main.rs:12   the location is a line, `file:line`, `file:line:column`, each with ` in function`, or any text
//! T2|acq(L)                    … or missing
//! ```
//!
//! Trailing blanks, `\r\n`, empty lines and a missing last newline are accepted.
//!
//! # Grammar
//!
//! ```text
//! line      = thread "|" operation [ "|" location ] | directive | comment | nothing
//! operation = word [ "." modifier ] [ "(" argument ")" ]          the argument ends at the last ")" of the field
//! directive = "#meta" key value                                   a fact about the run
//!           | "#gap" code                                         something that is missing ([`Gap::code`](crate::Gap::code))
//!           | "#var" name ( "-" | address ) size                  a variable, before its first use; "-": no known address
//!           | "#time" seconds                                     when what follows happened: `12.345` since any moment, never back
//! comment   = "#" anything without "|"
//! ```
//!
//! | operations | argument |
//! |---|---|
//! | `r` `w` | `memory` or `memory=value` |
//! | `load` `store`, with a memory order | the same |
//! | `rmw`, with a memory order | `memory` or `memory=read->written` |
//! | `alloc` `free`, `from` | `memory` |
//! | `fence`, with a memory order; `thread_begin` `thread_end` `branch` `constant` | none |
//! | `req` `acq` `rel`, each also `.shared`; `acq.try` `acq.try_shared` (would not have waited) | a lock |
//! | `wait`, `wait.timed` (may end by itself), `notify`, `notify.all` | a lock or condition |
//! | `blind`, `blind.orders` (may have synchronised) | the code that ran, or none |
//! | `fork` `join`, `await` (before a join that waits) | a thread; the field also writes `T7\|fork(9)` for T9 |
//! | `begin` `end` (atomic blocks), `enter` `exit`, `commit` `commit_begin` `commit_end` | a name, or none |
//! | `call` `return` `event`, `arguments` `result` (calls with values) | `name, argument, …`: numbers, `"strings"`, objects `@12` |
//! | `local` | `name=value` |
//!
//! Memory orders are `.relaxed .consume .acquire .release .acqrel .seqcst`, the last where none is written. Memory is
//! `name` (all of the variable), `name[4..8]` (some of its bytes) or `[0x7ffe10..0x7ffe14]` (bytes without a name).
//! Numbers are decimal or `0x…`; values are signed by the size of their memory. What only looks similar is part of the
//! name: `V[0]` and `a=b` are names.
//!
//! A trace that has any `branch` has one wherever what a thread does next depends on what it has read
//! ([`Op::Branch`](crate::Op::Branch) has the contract). Which reads the value of a write, the outcome of a branch or the arguments
//! of an event come from can be said in the lines before it ([`Op::From`](crate::Op::From)):
//!
//! ```text
//! T1|r(x=1)
//! T1|r(y=2)
//! T1|from(y)                   the value of the next write comes from the last read of y …
//! T1|w(z=2)                    … and so not from that of x
//! T1|constant                  that of this one from no read
//! T1|w(done=1)
//! ```
//!
//! **One escape**, `\u{…}` with the hexadecimal number of a character (or with none: no character, which is how an empty
//! name is written). The writer uses it where a name would not read back: for `|`, control characters, and whatever
//! would mean something else in its place. Every other backslash is just a backslash, so names of the field (`C:\new`)
//! stay what they are.
//!
//! Made-up addresses (of variables without a known one) are given anew by each reader. Everything else comes back as it
//! was; threads, locks or variables of equal names become `name`, `name#2`, ….
//!
//! # Cost
//!
//! The reader takes 256 KiB at a time, checks their UTF-8 at once, and hashes each name of a line once; it allocates
//! only for names it has not seen. A line longer than 1 MiB is refused, so memory is bounded by the distinct names.

mod directive;
mod escape;
mod fault;
mod keyword;
mod labels;
mod lines;
mod memory;
mod number;
mod parser;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use reader::TextReader;
pub use writer::TextWriter;
