//! Atomicity: blocks of code that others can interleave so that no serial run does the same.
//!
//! **Transactions.** The outermost atomic blocks of each thread ([`blocks`]); every event outside of them is a transaction
//! of its own. A schedule orders transaction A before B where an event of A comes before an event of B that conflicts
//! with it (a common byte and one writes, whether atomic or plain; a release before an acquire of the same lock, unless
//! both share it; a fork and the child's events; a thread's events and its join) or that is of the same thread. The schedule
//! is *conflict serialisable* if that order has no cycle. A cycle goes through at least one block, and that block is
//! not atomic.
//!
//! | module | holds |
//! |---|---|
//! | [`blocks`] | what begins and ends a block: annotations, and functions named in the configuration |
//! | [`observed`] | the cycles of the observed run, in one pass |
//! | [`predicted`] | the cycles of other schedules of the same program, each with a witness |

pub mod blocks;
#[cfg(test)]
mod examples;
pub mod observed;
pub mod predicted;
#[cfg(test)]
mod tests;

pub use observed::ObservedAtomicity;
pub use predicted::PredictedAtomicity;

/// The engine's name in findings.
pub(crate) const ENGINE: &str = "atomicity";
