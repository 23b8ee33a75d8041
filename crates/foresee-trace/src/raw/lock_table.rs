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

use crate::event::Mode;
use crate::name_matching::FunctionPattern;

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// Beside others that share it.
    Shared,
    /// Beside others that share it, but beside no other that may become the only one.
    Upgradable,
    /// By one alone.
    Exclusive,
}

impl Hold {
    /// What events say.
    pub(crate) fn mode(self) -> Mode {
        match self {
            Hold::Shared | Hold::Upgradable => Mode::Shared,
            Hold::Exclusive => Mode::Exclusive,
        }
    }
}

/// Which change of a lock's word says that an attempt had success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Success {
    /// Any: an attempt that fails changes nothing.
    AnyChange,
    /// The last that changes the bits of `grows`, if their value grows by it, and if the bits of `free` were 0 before.
    Growth {
        /// Bits that say that others have the lock.
        free: u64,
        /// Bits that say that this thread has it.
        grows: u64,
    },
}

/// What a function does to a lock or condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Takes it, waiting as long as need be.
    Lock(Hold),
    /// Takes it if that is possible now.
    TryLock(Hold, Success),
    /// Takes it if that is possible within some time: then the value of these bits of the word grows.
    TimedLock(Hold, u64),
    /// Gives it back.
    Unlock,
    /// Holds it like this from now on, without having given it back.
    Change(Hold),
    /// Holds it like this from now on, if that is possible now or within some time.
    TryChange(Hold, Success),
    /// Holds it like this, gives it to those who wait for it, and has it again at the end.
    GiveWay(Hold),
    /// Is made of operations on another lock, which count; all else that it does is its own affair.
    Around,
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
        ("lock", LOCK),
        ("try-lock", TRY_LOCK),
        ("unlock", Role::Unlock),
        ("lock-shared", SHARE),
        ("try-lock-shared", TRY_SHARE),
        ("unlock-shared", Role::Unlock),
    ];
}

const LOCK: Role = Role::Lock(Hold::Exclusive);
const SHARE: Role = Role::Lock(Hold::Shared);
const SHARE_UPGRADABLE: Role = Role::Lock(Hold::Upgradable);
const TRY_LOCK: Role = Role::TryLock(Hold::Exclusive, Success::AnyChange);
const TRY_SHARE: Role = Role::TryLock(Hold::Shared, Success::AnyChange);
const TRY_SHARE_UPGRADABLE: Role = Role::TryLock(Hold::Upgradable, Success::AnyChange);
const UPGRADE: Role = Role::Change(Hold::Exclusive);
const TRY_UPGRADE: Role = Role::TryChange(Hold::Exclusive, Success::AnyChange);
const TO_SHARED: Role = Role::Change(Hold::Shared);
const TO_UPGRADABLE: Role = Role::Change(Hold::Upgradable);
// Bits of `parking_lot`'s words; the lower ones of a reader-writer lock are about waiting and upgrading.
const TIMED_LOCK: Role = Role::TimedLock(Hold::Exclusive, 1);
const TIMED_WRITE: Role = Role::TimedLock(Hold::Exclusive, 8);
const TIMED_READ: Role = Role::TimedLock(Hold::Shared, !15);
const TIMED_UPGRADABLE: Role = Role::TimedLock(Hold::Upgradable, !15);
// The bit of a writer is set at once, and cleared again when the time is over.
const TIMED_UPGRADE: Role = Role::TryChange(Hold::Exclusive, Success::Growth { free: 0, grows: 8 });
// Bits of `spin`'s reader-writer lock: 1 for a writer, 2 for who may become one, readers are counted above. Attempts set theirs
// and then look at what was there before.
const SPIN_READ: Role = Role::TryLock(Hold::Shared, Success::Growth { free: 3, grows: !3 });
const SPIN_UPGRADABLE: Role = Role::TryLock(Hold::Upgradable, Success::Growth { free: 3, grows: 2 });

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
            ("downgrade", TO_SHARED),
        ],
    ),
    ("std::sys::sync::thread_parking::futex::Parker", &[("unpark", Role::Foreign)]),
    (
        "std::sync::reentrant_lock::ReentrantLock",
        &[("lock", Role::Around), ("try_lock", Role::Around), ("increment_lock_count", Role::Around)],
    ),
    ("std::sync::reentrant_lock::ReentrantLockGuard", &[("drop", Role::Around)]),
    (
        "lock_api::remutex::RawReentrantMutex",
        &[
            ("lock_internal", Role::Around),
            ("unlock", Role::Around),
            ("unlock_fair", Role::Around),
            ("bump", Role::Around),
        ],
    ),
    (
        "parking_lot::raw_mutex::RawMutex",
        &[
            ("lock", LOCK),
            ("try_lock", TRY_LOCK),
            ("try_lock_for", TIMED_LOCK),
            ("try_lock_until", TIMED_LOCK),
            ("unlock", Role::Unlock),
            // What a wait calls, since 0.13.
            ("unlock_inner", Role::Unlock),
            ("unlock_fair", Role::Unlock),
            ("bump", Role::GiveWay(Hold::Exclusive)),
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
            ("try_lock_shared_recursive_for", TIMED_READ),
            ("try_lock_shared_recursive_until", TIMED_READ),
            ("unlock_shared", Role::Unlock),
            ("unlock_shared_fair", Role::Unlock),
            ("downgrade", TO_SHARED),
            ("lock_upgradable", SHARE_UPGRADABLE),
            ("try_lock_upgradable", TRY_SHARE_UPGRADABLE),
            ("try_lock_upgradable_for", TIMED_UPGRADABLE),
            ("try_lock_upgradable_until", TIMED_UPGRADABLE),
            ("unlock_upgradable", Role::Unlock),
            ("unlock_upgradable_fair", Role::Unlock),
            ("bump_exclusive", Role::GiveWay(Hold::Exclusive)),
            ("bump_shared", Role::GiveWay(Hold::Shared)),
            ("bump_upgradable", Role::GiveWay(Hold::Upgradable)),
            ("upgrade", UPGRADE),
            ("try_upgrade", TRY_UPGRADE),
            ("try_upgrade_for", TIMED_UPGRADE),
            ("try_upgrade_until", TIMED_UPGRADE),
            ("downgrade_upgradable", TO_SHARED),
            ("downgrade_to_upgradable", TO_UPGRADABLE),
        ],
    ),
    ("parking_lot::condvar::Condvar", PARKING_LOT_CONDITION),
    // Its place since 0.13.
    ("parking_lot::raw_condvar::RawCondvar", PARKING_LOT_CONDITION),
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
            ("try_read", SPIN_READ),
            ("write", LOCK),
            ("try_write", TRY_LOCK),
            ("try_write_weak", TRY_LOCK),
            ("upgradeable_read", SHARE_UPGRADABLE),
            ("try_upgradeable_read", SPIN_UPGRADABLE),
            ("force_read_decrement", Role::Unlock),
            ("force_write_unlock", Role::Unlock),
        ],
    ),
    ("spin::rwlock::RwLockReadGuard", &[("drop", Role::Unlock)]),
    (
        "spin::rwlock::RwLockWriteGuard",
        &[("drop", Role::Unlock), ("downgrade", TO_SHARED), ("downgrade_to_upgradeable", TO_UPGRADABLE)],
    ),
    (
        "spin::rwlock::RwLockUpgradableGuard",
        &[
            ("drop", Role::Unlock),
            ("upgrade", UPGRADE),
            ("try_upgrade", TRY_UPGRADE),
            ("try_upgrade_weak", TRY_UPGRADE),
            ("downgrade", TO_SHARED),
        ],
    ),
];

/// Functions of locks that let nobody in while a thread waits to have them alone, who holds them shared already included.
const WRITERS_FIRST: [&str; 10] = [
    "std::sys::sync::rwlock::futex::RwLock::read",
    "std::sys::sync::rwlock::futex::RwLock::write",
    "std::sys::sync::rwlock::futex::RwLock::try_write",
    "parking_lot::raw_rwlock::RawRwLock::lock_shared",
    "parking_lot::raw_rwlock::RawRwLock::lock_exclusive",
    "parking_lot::raw_rwlock::RawRwLock::try_lock_exclusive",
    "parking_lot::raw_rwlock::RawRwLock::try_lock_exclusive_for",
    "parking_lot::raw_rwlock::RawRwLock::try_lock_exclusive_until",
    "parking_lot::raw_rwlock::RawRwLock::bump_exclusive",
    "parking_lot::raw_rwlock::RawRwLock::bump_shared",
];

const PARKING_LOT_CONDITION: &[(&str, Role)] = &[
    ("wait_until_internal", Role::Wait),
    ("notify_one", Role::NotifyOne),
    ("notify_one_slow", Role::NotifyOne),
    ("notify_all", Role::NotifyAll),
    ("notify_all_slow", Role::NotifyAll),
];

/// The functions that have a role.
#[derive(Clone, Debug)]
pub struct LockTable {
    /// Those of known libraries, by their path without type arguments.
    roles: FxHashMap<String, Role>,
    /// The user's, by names as people write them; the last one counts.
    added: Vec<(FunctionPattern, Role)>,
}

impl Default for LockTable {
    fn default() -> Self {
        let mut roles = FxHashMap::default();
        for (of, functions) in KNOWN {
            roles.extend(functions.iter().map(|(name, role)| (format!("{of}::{name}"), *role)));
        }
        LockTable { roles, added: Vec::new() }
    }
}

impl LockTable {
    /// Adds functions of the user's, such as `mylib::SpinLock::lock` or `SpinLock::lock`; see [`FunctionPattern`].
    pub fn add(&mut self, function: &str, role: Role) {
        self.added.push((FunctionPattern::new(function), role));
    }

    /// Whether a function is of a lock that writers wait for before others, by its [`function_path`](crate::function_path).
    pub(crate) fn has_writers_first(&self, path: &str) -> bool {
        WRITERS_FIRST.contains(&path)
    }

    /// The role of a function, by its [`function_path`](crate::function_path) and its whole name.
    pub(crate) fn role(&self, path: &str, function: &str) -> Option<Role> {
        let by_user = || self.added.iter().rev().find(|(pattern, _)| pattern.matches(function));
        self.roles.get(path).copied().or_else(|| by_user().map(|&(_, role)| role))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name_matching::function_path;

    #[test]
    fn the_table_can_be_extended() {
        let mut table = LockTable::default();
        let lock = "<parking_lot::raw_mutex::RawMutex as lock_api::mutex::RawMutex>::lock";
        assert_eq!(table.role(&function_path(lock), lock), Some(LOCK));
        let role = |table: &LockTable, function: &str| table.role(&function_path(function), function);
        assert_eq!(role(&table, "mine::Spin::acquire"), None);
        table.add("Spin::acquire", LOCK);
        assert_eq!(role(&table, "mine::Spin::acquire"), Some(LOCK));
        assert_eq!(role(&table, "mine::MySpin::acquire"), None);
        table.add("Of<u8>::acquire", LOCK);
        assert_eq!(role(&table, "<mine::Of<u8>>::acquire"), Some(LOCK));
        assert_eq!(role(&table, "<mine::Of<u16>>::acquire"), None);
    }
}
