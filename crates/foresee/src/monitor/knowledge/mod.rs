//! What threads know of each other, monitored in the threads themselves: no observer, no lock that all share.
//!
//! A property with an `mttl` body is checked at every event of a thread: an access to a [`Shared`] cell, taking and giving back a [`Lock`] or a [`RwLock`], waiting for a [`Condition`] and notifying, an assignment by
//! [`local!`](crate::local!), a [`spawn`], a join, a thread's end. These carry knowledge from thread to thread as they carry the program's own data: nothing else of
//! the program is seen. A violation is handled in the thread that finds it, before it goes on, and outside of the cell: `recover "name"` calls what
//! [`on_violation`] has registered.
//!
//! **Cost.** The monitor of a thread belongs to the thread, the vectors of a cell to the cell, under its own small lock. What all threads look at is written only when a
//! thread is started: who there is ([`world`]). So from two threads to any number of them nothing is added but what a cell's own threads do to each other. Without any such property in the
//! program, cells and locks are what the standard library has, and one load.
//!
//! [`world`]: the properties and threads of the program. [`me`]: the monitor of the calling thread. [`shared`], [`lock`], [`rw_lock`], [`condition`], [`spawned`], [`local`]: what
//! programs use. [`declared`]: what the macros make. [`violation`]: what happens on one.

mod condition;
mod declared;
mod local;
mod lock;
mod me;
mod rw_lock;
mod shared;
mod spawned;
mod violation;
mod world;

pub use condition::Condition;
pub use declared::{KnowledgeMonitor, RegisteredKnowledge};
pub use local::LocalSite;
pub use lock::{Lock, LockGuard};
pub use rw_lock::{ReadGuard, RwLock, WriteGuard};
pub use shared::Shared;
pub use spawned::{JoinHandle, spawn, spawn_named};
pub use violation::on_violation;
