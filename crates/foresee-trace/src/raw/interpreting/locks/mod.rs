//! From what happens inside of lock functions to lock events.
//!
//! A thread is within an *operation* while one of the functions of the [`LockTable`](crate::raw::LockTable) is among its
//! calls: entered as a function of its own (debug builds: the runtime records entry and exit), or inlined into another (then
//! every record's program counter says so). What the operation does to memory is its own affair and dropped; instead,
//!
//! * taking a lock is a request at the operation's first atomic and an acquire **just before the thread's next event after
//!   the operation**. Part of the operation may be code that is not instrumented (the standard library's contended paths), or
//!   hand the lock over without an atomic of this thread (`parking_lot`'s fair unlock), so the moment of success is not seen. But
//!   the thread holds the lock from some moment inside of the operation until its release: nobody else can hold it between that
//!   moment and the acquire written here, so moving the acquire later changes neither who held the lock when, nor what the
//!   thread did while holding it;
//! * giving a lock back is a release at the operation's first atomic: likewise, it is held until some later
//!   moment, and the thread does nothing else in between;
//! * whether waiting for some time got the lock is seen by a change of its word, or else (it may be handed over) by what the
//!   thread does to the word next: if that is giving it back, it had it;
//! * giving way to others (`parking_lot`'s `bump`) is both, whether others waited or not;
//! * the lock is known by the address of the first atomic that the lock's own crate touches in the operation.
//!
//! Optimisers merge equal code of different calls, and then an atomic on the word of a lock may be in no function that is known.
//! If its thread holds the lock and the word has less in it afterwards, it is the release; if the word has more in it, and is of a lock
//! that is only ever taken by one and is free, it is an acquire.
//!
//! **What is no lock after all.** Whatever else changes such a word, who gives back what another thread has taken (a guard that was
//! sent, `force_unlock`), and who gets what another holds, shows that the lock is none, or none of one thread: it is *demoted*
//! from there on, until its memory is used for something else. Each operation on it is then one atomic on its word, at the beginning of
//! those that give it back and at the end of those that take it, or try to: so all of them keep their order, and none excludes others. What
//! they are made of stays hidden, as it was before: half of it would not explain the other half. Atomics that are in no known function are
//! the events that they are. What was found before by its having been a lock is doubted
//! ([`Gap::DemotedLock`](crate::Gap::DemotedLock)), and nothing else is.
//!
//! **Upgradable locks.** Who holds one to become a writer excludes others that do so, and writers, but no readers. That is two locks:
//! the one that all share, and one for upgrading, which writers take as well, from when the first was seen to hold it so. So
//! becoming a writer, which is a release and an acquire with nothing between, lets no other writer in.
//!
//! Order between threads stays right because the runtime takes the stamp of an atomic before it is done: whoever gets a
//! lock in unseen code after such a release has later keys.
//!
//! **Known limits.** Becoming a reader from a writer is a release and an acquire with nothing between. Writers before the first
//! upgradable hold of a lock do not have the lock for upgrading.

mod event;
mod holding;
mod operation;
mod recogniser;
mod survey;
mod thread;

pub(crate) use self::event::{LockAction, LockEvent, Meaning};
pub(crate) use self::recogniser::{LockRecogniser, ThreadState};
pub(crate) use self::thread::Thread;
