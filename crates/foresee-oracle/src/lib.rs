//! The oracle: all correct reorderings of a tiny execution, for tests.
//!
//! Engines are clever; the oracle is not. It transcribes the rules of the soundness contract, twice and without sharing
//! code with any engine or with the witness checker: as a definition on whole schedules ([`Oracle::is_correct`]) and as
//! the steps of a search through all of them (everything else). An engine is run against it on very many random tiny
//! executions ([`random_execution`], [`for_each_seed`]): a sound engine reports nothing the oracle denies, a complete one all
//! that it confirms.
//!
//! | module | holds |
//! |---|---|
//! | `facts` | what the rules need to know of the observed run |
//! | `definition` | is this schedule a correct reordering? |
//! | `search` | one step of the program, and all states it can reach |
//! | `oracle` | races, deadlocks, all maximal schedules |
//! | `atomicity` | atomic blocks that can be interleaved unserialisably |
//! | `models` | the runs that causality models allow |
//! | `generate`, `config` | random tiny executions |
//! | `seeds` | runs a test for many seeds and names the one that failed |
//!
//! **The rules, where the contract leaves room.**
//! * A wait has returned when its thread does its next event. Only then does rule (d) ask for the notifies that came
//!   between the two in the observed run: each must be in the schedule, after the wait and before that event.
//! * Rule (e) exempts a read that is its thread's last event in the schedule, as nothing depends on its value. A join of
//!   that thread in the schedule would depend on it, so such a read is not exempt. Nor is the last read of a thread that
//!   a deadlock shows blocked at its next event.
//! * An exempt read-modify-write that reads another write than observed wrote something unknown or nothing: a later read
//!   that is not exempt must not read it, and in races and conflicts it counts as an atomic load.
//!
//! * Rule (f) is about the outermost acquire of a section and the event that gives the lock up; blind code counts as a branch.
//!
//! * With [`Oracle::by_branches`], a changed read does not stop its thread before the next branch that depends on it; what the
//!   thread writes from there on, if it depends on the read, is unknown, but for freed memory, and its read-modify-writes count as
//!   atomic loads. What depends on what is said in the trace ([`Op::From`](foresee_trace::Op::From)), or it is all reads before.
//!
//! **Cost.** Exponential. Up to 64 events, but meant for about 14.

mod atomicity;
mod config;
mod definition;
mod facts;
mod generate;
mod models;
mod oracle;
mod search;
mod seeds;

pub use atomicity::Interleaving;
pub use config::Config;
pub use generate::{arbitrary_execution, random_execution};
pub use models::Causality;
pub use oracle::{Deadlock, Oracle};
pub use seeds::{Random, for_each_seed};
