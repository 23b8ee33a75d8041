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
//! If its thread holds the lock and it releases, it is the release; if it takes a lock that is only ever taken by one, it
//! is an acquire. Whatever else changes such a word is counted as not recognised, and nothing found in the run is proven.
//!
//! Order between threads stays right because the runtime takes the stamp of an atomic before it is done: whoever gets a
//! lock in unseen code after such a release has later keys.
//!
//! **Known limits.** Changing the mode of a held lock (downgrade, upgrade) is a release and an acquire with nothing between;
//! upgradable locks count as shared.

mod event;
mod holding;
mod operation;
mod recogniser;
mod survey;
mod thread;

pub(crate) use self::event::{LockAction, LockEvent, Meaning};
pub(crate) use self::recogniser::{LockRecogniser, ThreadState};
