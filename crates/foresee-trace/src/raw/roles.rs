//! Which functions are operations on locks.
//!
//! Rust's locks are not library calls: `Mutex::lock` is generic, gets inlined, and what is left to see is a
//! compare-exchange on some word. But the debug information still says in which function that is. This table says which
//! functions take a lock, give it back, wait for a condition: those of the standard library, `parking_lot` and `spin`,
//! and those that a user adds ([`LockTable::add`]). [`sections`](super::sections) turns what happens within them into
//! events.
//!
//! Not here, on purpose: asynchronous locks (`tokio::sync::Mutex`) belong to tasks, which move from thread to thread;
//! what they are made of is seen, and orders what it orders. The same goes for ticket locks and for all that is unknown: it is
//! recorded as the atomic operations it consists of, which is always true, and lets prediction reorder less.

use rustc_hash::FxHashMap;

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

/// Crates whose code is between the user's and the lock: not what a report should point at.
const BETWEEN: &[&str] = &["std", "core", "alloc", "lock_api", "parking_lot", "parking_lot_core", "spin"];

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
        self.roles.insert(plain_path(function), role);
    }

    /// The role of a function, by its [`plain_path`].
    pub(super) fn role(&self, path: &str) -> Option<Role> {
        self.roles.get(path).copied()
    }
}

/// Whether a function, by its plain path, is of a library that stands between the user and what happens.
pub(super) fn is_between(path: &str) -> bool {
    BETWEEN.contains(&crate_of(path))
}

/// The type of a lock, from a function of a lock library: `<std::sync::poison::mutex::Mutex<a::B>>::lock` is of `Mutex<B>`.
pub(super) fn lock_type(function: &str) -> Option<String> {
    let inner = function.strip_prefix('<')?;
    let of = before_as(&inner[..closing(inner)?]);
    let mut short = String::new();
    let mut word = 0;
    for (at, c) in of.char_indices() {
        if !c.is_alphanumeric() && c != '_' && c != ':' {
            short.push_str(of[word..at].rsplit("::").next().unwrap_or_default());
            short.push(c);
            word = at + c.len_utf8();
        }
    }
    short.push_str(of[word..].rsplit("::").next().unwrap_or_default());
    // The kind of lock is in the name already.
    Some(short.replace("<RawMutex, ", "<").replace("<RawRwLock, ", "<"))
}

/// Whether a function is of a library that stands between the user and what happens: Rust's own, or one of locks.
pub fn is_library_function(function: &str) -> bool {
    is_between(&plain_path(function))
}

/// The path of a function as patterns see it: without type arguments, with the type in place of `<Type as Trait>`.
pub fn function_path(function: &str) -> String {
    plain_path(function)
}

/// The crate of a function, by its plain path.
pub(super) fn crate_of(path: &str) -> &str {
    path.split("::").next().unwrap_or(path).trim_start_matches('&')
}

/// The path of a demangled function without type arguments, and with the type in place of `<Type as Trait>`:
/// `<spin::Guard<u8> as core::ops::Drop>::drop` becomes `spin::Guard::drop`.
pub(super) fn plain_path(function: &str) -> String {
    let mut path = String::with_capacity(function.len());
    push_plain(function, &mut path);
    path
}

fn push_plain(text: &str, path: &mut String) {
    let mut rest = text;
    if let Some(inner) = text.strip_prefix('<')
        && let Some(end) = closing(inner)
    {
        let (of, after) = inner.split_at(end);
        push_plain(before_as(of), path);
        rest = &after[1..];
    }
    while let Some(open) = rest.find(['<', '(']) {
        path.push_str(rest[..open].trim_end_matches("::"));
        if rest[open..].starts_with('(') {
            // The arguments of a C++ function.
            return;
        }
        let Some(end) = closing(&rest[open + 1..]) else { return };
        rest = &rest[open + 1 + end + 1..];
    }
    path.push_str(rest);
}

/// Where the bracket is that closes one before `text`.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    let mut last = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if last == '-' => {}
            '>' if depth == 0 => return Some(at),
            '>' => depth -= 1,
            _ => {}
        }
        last = c;
    }
    None
}

/// `Type` of `Type as Trait`.
fn before_as(text: &str) -> &str {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            ' ' if depth == 0 && text[at..].starts_with(" as ") => return &text[..at],
            _ => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lose_arguments_and_traits() {
        let cases = [
            ("<std::sys::sync::mutex::futex::Mutex>::lock", "std::sys::sync::mutex::futex::Mutex::lock"),
            ("std::sys::sync::mutex::futex::Mutex::lock", "std::sys::sync::mutex::futex::Mutex::lock"),
            ("<a::Guard<u8, b::C<d>> as core::ops::drop::Drop>::drop", "a::Guard::drop"),
            ("core::sync::atomic::atomic_add::<usize, usize>", "core::sync::atomic::atomic_add"),
            (
                "<<a::B<u8>>::c::{closure#0} as core::ops::FnOnce<()>>::call_once",
                "a::B::c::{closure#0}::call_once",
            ),
            ("a::b::<fn(u8) -> u8>::c", "a::b::c"),
            ("my::Lock::lock(int)", "my::Lock::lock"),
            ("main", "main"),
            ("<", ""),
            ("operator<", "operator"),
            ("<a as", ""),
            ("<é<ü", ""),
        ];
        for (function, path) in cases {
            assert_eq!(plain_path(function), path, "{function}");
        }
    }

    #[test]
    fn locks_have_types() {
        let of = |function| lock_type(function).unwrap_or_default();
        assert_eq!(of("<std::sync::poison::mutex::Mutex<alloc::vec::Vec<u8>>>::lock"), "Mutex<Vec<u8>>");
        let parking = "<lock_api::mutex::Mutex<parking_lot::raw_mutex::RawMutex, (a::B, [u8; 2])>>::lock";
        assert_eq!(of(parking), "Mutex<(B, [u8; 2])>");
        assert_eq!(of("main"), "");
        assert_eq!(of("<é<"), "");
    }

    #[test]
    fn the_table_can_be_extended() {
        let mut table = LockTable::default();
        let lock = "<parking_lot::raw_mutex::RawMutex as lock_api::mutex::RawMutex>::lock";
        assert_eq!(table.role(&plain_path(lock)), Some(Role::Lock(Mode::Exclusive)));
        assert_eq!(table.role("mine::Spin::acquire"), None);
        table.add("mine::Spin::acquire", Role::Lock(Mode::Exclusive));
        assert_eq!(table.role("mine::Spin::acquire"), Some(Role::Lock(Mode::Exclusive)));
    }
}
