//! Which functions are operations on locks.
//!
//! Rust's locks are not library calls: `Mutex::lock` is generic, gets inlined, and what is left to see is a
//! compare-exchange on some word. But the debug information still says in which function that is. This table says which
//! functions take a lock, give it back, wait for a condition: those of the standard library, `parking_lot` and `spin`,
//! and those that a user adds ([`LockTable::add`]). The [recogniser](super::interpreting) turns what happens within them
//! into events.
//!
//! Not here, on purpose: asynchronous locks (`tokio::sync::Mutex`) belong to tasks, which move from thread to thread;
//! what they are made of is seen, and orders what it orders. The same goes for ticket locks and for all that is unknown: it is
//! recorded as the atomic operations it consists of, which is always true, and lets prediction reorder less.

use rustc_hash::FxHashMap;

use super::function_path::function_path;
use crate::event::Mode;

/// What a function does to a lock or condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Takes it, waiting as long as need be.
    Lock(Mode),
    /// Takes it if that is possible now: then the word of the lock changes.
    TryLock(Mode),
    /// Takes it if that is possible within some time: then the value of these bits of the word grows.
    TimedLock(Mode, u64),
    /// Gives it back.
    Unlock,
    /// Holds it in this mode from now on, without having given it back.
    Change(Mode),
    /// Holds it in this mode, gives it to those who wait for it, and has it again at the end.
    GiveWay(Mode),
    /// Waits for a condition: gives a lock back within, and has it again at the end.
    Wait,
    /// Wakes one that waits.
    NotifyOne,
    /// Wakes all that wait.
    NotifyAll,
    /// Works on memory that code without instrumentation owns: its atomics order threads, and conflict with nothing.
    Foreign,
}

impl Role {
    /// The words by which a user's table names the roles of functions.
    pub const WORDS: [(&'static str, Role); 6] = [
        ("lock", Role::Lock(Mode::Exclusive)),
        ("try-lock", Role::TryLock(Mode::Exclusive)),
        ("unlock", Role::Unlock),
        ("lock-shared", Role::Lock(Mode::Shared)),
        ("try-lock-shared", Role::TryLock(Mode::Shared)),
        ("unlock-shared", Role::Unlock),
    ];
}

const LOCK: Role = Role::Lock(Mode::Exclusive);
const SHARE: Role = Role::Lock(Mode::Shared);
const TRY_LOCK: Role = Role::TryLock(Mode::Exclusive);
const TRY_SHARE: Role = Role::TryLock(Mode::Shared);
// Bits of `parking_lot`'s words; the lower ones of a reader-writer lock are about waiting and upgrading.
const TIMED_LOCK: Role = Role::TimedLock(Mode::Exclusive, 1);
const TIMED_WRITE: Role = Role::TimedLock(Mode::Exclusive, 8);
const TIMED_READ: Role = Role::TimedLock(Mode::Shared, !15);

/// Types with the functions that have a role.
const KNOWN: &[(&str, &[(&str, Role)])] = &[
    (
        "std::sys::sync::mutex::futex::Mutex",
        &[("lock", LOCK), ("try_lock", TRY_LOCK), ("unlock", Role::Unlock)],
    ),
    (
        "std::sys::sync::rwlock::futex::RwLock",
        &[
            ("read", SHARE),
            ("try_read", TRY_SHARE),
            ("read_unlock", Role::Unlock),
            ("write", LOCK),
            ("try_write", TRY_LOCK),
            ("write_unlock", Role::Unlock),
            ("downgrade", Role::Change(Mode::Shared)),
        ],
    ),
    ("std::sys::sync::thread_parking::futex::Parker", &[("unpark", Role::Foreign)]),
    // The lock of `Stdout` is taken within the library.
    ("std::sync::reentrant_lock::ReentrantLockGuard", &[("drop", Role::Foreign)]),
    (
        "parking_lot::raw_mutex::RawMutex",
        &[
            ("lock", LOCK),
            ("try_lock", TRY_LOCK),
            ("try_lock_for", TIMED_LOCK),
            ("try_lock_until", TIMED_LOCK),
            ("unlock", Role::Unlock),
            ("unlock_fair", Role::Unlock),
            ("bump", Role::GiveWay(Mode::Exclusive)),
        ],
    ),
    (
        "parking_lot::raw_rwlock::RawRwLock",
        &[
            ("lock_exclusive", LOCK),
            ("try_lock_exclusive", TRY_LOCK),
            ("try_lock_exclusive_for", TIMED_WRITE),
            ("try_lock_exclusive_until", TIMED_WRITE),
            ("unlock_exclusive", Role::Unlock),
            ("unlock_exclusive_fair", Role::Unlock),
            ("lock_shared", SHARE),
            ("lock_shared_recursive", SHARE),
            ("try_lock_shared", TRY_SHARE),
            ("try_lock_shared_for", TIMED_READ),
            ("try_lock_shared_until", TIMED_READ),
            ("try_lock_shared_recursive", TRY_SHARE),
            ("unlock_shared", Role::Unlock),
            ("unlock_shared_fair", Role::Unlock),
            ("downgrade", Role::Change(Mode::Shared)),
            ("lock_upgradable", SHARE),
            ("try_lock_upgradable", TRY_SHARE),
            ("unlock_upgradable", Role::Unlock),
            ("unlock_upgradable_fair", Role::Unlock),
            ("bump_exclusive", Role::GiveWay(Mode::Exclusive)),
            ("bump_shared", Role::GiveWay(Mode::Shared)),
            ("bump_upgradable", Role::GiveWay(Mode::Shared)),
            ("upgrade", Role::Change(Mode::Exclusive)),
            ("downgrade_upgradable", Role::Change(Mode::Shared)),
            ("downgrade_to_upgradable", Role::Change(Mode::Shared)),
        ],
    ),
    (
        "parking_lot::condvar::Condvar",
        &[
            ("wait_until_internal", Role::Wait),
            ("notify_one", Role::NotifyOne),
            ("notify_one_slow", Role::NotifyOne),
            ("notify_all", Role::NotifyAll),
            ("notify_all_slow", Role::NotifyAll),
        ],
    ),
    (
        "spin::mutex::spin::SpinMutex",
        &[
            ("lock", LOCK),
            ("try_lock", TRY_LOCK),
            ("try_lock_weak", TRY_LOCK),
            ("force_unlock", Role::Unlock),
        ],
    ),
    ("spin::mutex::spin::SpinMutexGuard", &[("drop", Role::Unlock)]),
    (
        "spin::rwlock::RwLock",
        &[
            ("read", SHARE),
            ("try_read", TRY_SHARE),
            ("write", LOCK),
            ("try_write", TRY_LOCK),
            ("try_write_weak", TRY_LOCK),
            ("upgradeable_read", SHARE),
            ("try_upgradeable_read", TRY_SHARE),
        ],
    ),
    ("spin::rwlock::RwLockReadGuard", &[("drop", Role::Unlock)]),
    ("spin::rwlock::RwLockWriteGuard", &[("drop", Role::Unlock), ("downgrade", Role::Change(Mode::Shared))]),
    (
        "spin::rwlock::RwLockUpgradableGuard",
        &[("drop", Role::Unlock), ("upgrade", Role::Change(Mode::Exclusive))],
    ),
];

/// The functions that have a role, by their path without type arguments.
#[derive(Clone, Debug)]
pub struct LockTable {
    roles: FxHashMap<String, Role>,
}

impl Default for LockTable {
    fn default() -> Self {
        let mut roles = FxHashMap::default();
        for (of, functions) in KNOWN {
            roles.extend(functions.iter().map(|(name, role)| (format!("{of}::{name}"), *role)));
        }
        LockTable { roles }
    }
}

impl LockTable {
    /// Adds a function of the user's, such as `mylib::SpinLock::lock`.
    pub fn add(&mut self, function: &str, role: Role) {
        self.roles.insert(function_path(function), role);
    }

    /// The role of a function, by its [`function_path`].
    pub(crate) fn role(&self, path: &str) -> Option<Role> {
        self.roles.get(path).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_can_be_extended() {
        let mut table = LockTable::default();
        let lock = "<parking_lot::raw_mutex::RawMutex as lock_api::mutex::RawMutex>::lock";
        assert_eq!(table.role(&function_path(lock)), Some(Role::Lock(Mode::Exclusive)));
        assert_eq!(table.role("mine::Spin::acquire"), None);
        table.add("mine::Spin::acquire", Role::Lock(Mode::Exclusive));
        assert_eq!(table.role("mine::Spin::acquire"), Some(Role::Lock(Mode::Exclusive)));
    }
}
