//! What events mean for synchronisation: who holds which lock, and which event comes after which events of other threads.
//!
//! Engines go through a run event by event and ask at each one. The answers follow the soundness contract, whose letters are kept here:
//!
//! * (b) A lock has one exclusive holder or any number of shared ones. Acquiring a lock that the thread already holds, in any mode, is
//!   re-entry; only the outermost acquire and release matter. Releasing a lock that is not held does nothing. A wait for a condition
//!   that is a lock held by the thread gives the lock up, however often it was entered. Getting it back is an acquire of its own.
//!   A *critical section* lasts from the outermost acquire to the event that gives the lock up.
//! * (d) A thread's first event comes after its fork; a join comes after the joined thread's last event. A wait returns when its
//!   thread does its next event, and that event comes after the notifies of the condition since the wait. Each of these notifies
//!   comes after the wait. A wait without them (a timeout, a spurious wake-up) has no constraint.
//! * (f) Blind code ([`Op::Blind`](crate::Op::Blind)) may have read and written what the locks protect that its thread holds. So it comes
//!   after all sections of these locks, by other threads, that came before and that exclude its own section; and all sections that come
//!   later and exclude its own come after that. Two sections that share the lock are not ordered. Blind code that may have synchronised
//!   keeps its order, in all threads.
//!
//! [`LockWalk`] is rule (b), [`ThreadWalk`] is rules (b), (d) and (f); an engine takes what it needs. Neither looks ahead, so both also work while
//! the run is still going on. In a run that is not possible (a lock with two holders, a thread that acts before its fork) the answers are
//! some that do not panic.
//!
//! The witness checker, the oracle and the engine `hb` do not use this module: they judge what is built on it.
//!
//! **Cost.** Nothing but a look at the thread's state for an event that does not synchronise. A lock operation costs a search among the
//! locks that its thread holds, latest first. A wait costs one step for each thread that waits for the same condition, and one for each
//! notify meanwhile. Memory: what is held, who waits, and the notifies since the longest wait for their condition began; and for each
//! lock and thread the end of its last section of each mode, as blind code may come later. Blind code costs one step for each thread whose sections
//! it comes after, once in a section.

mod blind;
mod locks;
#[cfg(test)]
mod tests;
mod threads;

pub use locks::{Handover, LockWalk, Section};
pub use threads::{After, ThreadWalk};
