//! Monitors that live in the threads themselves: no central observer, no lock that all share, a verdict at the very event.
//!
//! From Sen, Vardhan, Agha and Roşu, *Decentralized Runtime Analysis of Multithreaded Applications*. A formula of
//! [MTTL](foresee_monitor::mttl) speaks of what a thread can be sure of, its *predicted state*: all that happened before its last event in the
//! causality of the run, and nothing else. `@j F` is F at the *latest known state* of thread j. Because a thread is sure of the same things in every
//! run with this causality, a violation is one of all these runs, also where the observed one hid it.
//!
//! What is known travels as *information*, which is a [`Knowledge`] vector here, with the program's own accesses: every thread has one (KV_i), every
//! shared variable two. The *write vector* is public: a reader gets what was known at the last write. The *access vector* is private
//! until the next write, which gets what all readers knew. [`ThreadMonitor`] is the algorithm with its three cases: an internal event, a read, a write.
//!
//! | file | what is there |
//! |---|---|
//! | [`program`] | formulas as tables to be filled in at each event: what a thread remembers, what it publishes; `table`: what it consists of |
//! | [`threads`] | who there is |
//! | [`knowledge`] | vectors: sequence numbers, values, the entry-wise maximum |
//! | `values` | the values of an entry |
//! | [`vector`] | vectors in place, or shared until they differ |
//! | [`thread`] | a thread's monitor and the three cases; `filling`: its tables; `mine`: which those are |
//! | [`variable`] | the vectors of a variable |
//! | [`trail`] | the events that carried knowledge from thread to thread |
//! | [`reason`] | what a violated formula rests on |
//! | [`memory`] | memory as shared variables |
//! | `layout`, `evaluate` | tables with an entry for each choice of threads, and their rules; `code`: what stands between tables, as closures |
//! | `changes`, `plans` | which tables an event leaves as they are; what follows from an assignment |
//!
//! The crate knows neither traces nor the runtime: whoever drives it says what a thread does (an access and its variable, a lock, a fork), in an
//! order in which each access and the update of its vectors are one step. That is so over a trace, and in a process under a variable's own lock.
//!
//! # Decisions
//!
//! - A thread has one state before its first event, with what its parent knew at the fork. Temporal operators see it; nobody else does.
//! - `@j` of a thread of which no event is known: everything has its initial value there, shared variables and what it knows of others included.
//! - Quantifiers range over the threads that are known to exist: those nobody forked, those whose fork is known, oneself.
//! - A lock is a variable that is written when it is taken and given back; shared holders of a reader-writer lock read it.
//! - A sequence number counts the states that differ in what is published, not the events: equal states are the same knowledge. So a step
//!   that changes nothing costs nothing, and variables that are used meanwhile can share one vector.

mod changes;
mod code;
mod evaluate;
mod filling;
pub mod knowledge;
mod layout;
pub mod memory;
mod mine;
mod plans;
pub mod program;
pub mod reason;
mod table;
pub mod thread;
pub mod threads;
pub mod trail;
mod values;
pub mod variable;
pub mod vector;
pub mod waiters;

pub use knowledge::Knowledge;
pub use memory::{Bytes, Memory, Place};
pub use program::{MOST_FORMULAS_INSIDE, Program, ProgramError};
pub use thread::ThreadMonitor;
pub use threads::{Slot, Threads};
pub use trail::{NoTrail, Trail, Way};
pub use variable::{Accessed, Variable};
pub use waiters::Waiters;

/// A number or a truth value (0, 1) in a state; nothing where something was divided by zero, which makes every comparison false.
pub type Value = Option<i64>;
