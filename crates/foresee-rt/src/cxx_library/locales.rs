//! `std::locale`: copies share what they hold, and the last one to go destroys it, with the program's own facets in it.
//!
//! The library counts copies by atomics that nobody sees. So the counting is done here: who is not the last releases before it counts
//! down, and the last acquires before the library destroys what is held. The locale of C is never destroyed, and not counted.
//! The global locale is handed over from who sets it to who copies it, under a lock of the library.

use std::sync::atomic::{AtomicI32, Ordering::AcqRel, Ordering::Acquire};

use super::accesses::{Caller, LIBRARY};
use crate::entry_points::weak_entries;
use crate::real_functions::{Real, call_real};
use crate::recorder::edges::{acquire_edge, both_edges, release_edge};

/// What copies of a locale share begins with the number of copies.
#[repr(C)]
struct Shared {
    copies: AtomicI32,
}

/// A locale is a pointer to what it shares.
type Locale = *const Shared;

/// Stands for the global locale.
static GLOBAL: u8 = 0;

fn global() -> u64 {
    (&raw const GLOBAL) as u64
}

/// What the locale of C holds.
fn of_c() -> Locale {
    static REAL: Real = Real::of_library(c"_ZNSt6locale7classicEv", LIBRARY);
    // SAFETY: the library's function, which returns a locale that is there for ever.
    unsafe { *call_real!(REAL, () -> *const Locale,) }
}

/// Drops a locale.
///
/// # Safety
/// It is one, and not used again.
unsafe fn drop_locale(locale: *mut Locale, pc: u64) {
    static REAL: Real = Real::of_library(c"_ZNSt6localeD1Ev", LIBRARY);
    // SAFETY: by the caller.
    let held = unsafe { *locale };
    if held != of_c() {
        // SAFETY: it lives, as this locale is counted.
        let copies = unsafe { &(*held).copies };
        release_edge(held as u64, pc);
        let count_down = |count: i32| (count > 1).then(|| count - 1);
        if copies.fetch_update(AcqRel, Acquire, count_down).is_ok() {
            return;
        }
        acquire_edge(held as u64, pc);
    }
    // SAFETY: forwards the caller's own argument, with the signature of the library's function.
    unsafe { call_real!(REAL, (*mut Locale) -> (), locale) }
}

extern "C-unwind" fn destroy(locale: *mut Locale, pc: u64) {
    Caller::at(pc).reads(locale as u64, size_of::<Locale>());
    // SAFETY: the program destroys a locale.
    unsafe { drop_locale(locale, pc) }
}

extern "C-unwind" fn copy(to: *mut Locale, from: *const Locale, pc: u64) {
    static REAL: Real = Real::of_library(c"_ZNSt6localeC1ERKS_", LIBRARY);
    let caller = Caller::at(pc);
    caller.reads(from as u64, size_of::<Locale>());
    caller.writes(to as u64, size_of::<Locale>());
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
    unsafe { call_real!(REAL, (*mut Locale, *const Locale) -> (), to, from) }
}

extern "C-unwind" fn assign(to: *mut Locale, from: *const Locale, pc: u64) -> *mut Locale {
    Caller::at(pc).reads(to as u64, size_of::<Locale>());
    // SAFETY: the program assigns to a locale; what that held is dropped, as it holds a copy now.
    unsafe {
        let mut old = *to;
        copy(to, from, pc);
        drop_locale(&mut old, pc);
    }
    to
}

extern "C-unwind" fn copy_global(to: *mut Locale, pc: u64) {
    static REAL: Real = Real::of_library(c"_ZNSt6localeC1Ev", LIBRARY);
    Caller::at(pc).writes(to as u64, size_of::<Locale>());
    // SAFETY: forwards the caller's own argument, with the signature of the library's function.
    unsafe { call_real!(REAL, (*mut Locale) -> (), to) };
    acquire_edge(global(), pc);
}

/// Returns a locale, for which the caller has room.
extern "C-unwind" fn set_global(old: *mut Locale, new: *const Locale, pc: u64) -> *mut Locale {
    static REAL: Real = Real::of_library(c"_ZNSt6locale6globalERKS_", LIBRARY);
    let caller = Caller::at(pc);
    caller.reads(new as u64, size_of::<Locale>());
    caller.writes(old as u64, size_of::<Locale>());
    both_edges(global(), pc);
    // SAFETY: forwards the caller's own arguments; a class with a destructor is returned through a pointer.
    let result = unsafe { call_real!(REAL, (*mut Locale, *const Locale) -> *mut Locale, old, new) };
    acquire_edge(global(), pc);
    result
}

weak_entries! {
    "_ZNSt6localeD1Ev" => destroy, "rsi";
    "_ZNSt6localeD2Ev" => destroy, "rsi";
    "_ZNSt6localeC1ERKS_" => copy, "rdx";
    "_ZNSt6localeC2ERKS_" => copy, "rdx";
    "_ZNSt6localeaSERKS_" => assign, "rdx";
    "_ZNSt6localeC1Ev" => copy_global, "rsi";
    "_ZNSt6localeC2Ev" => copy_global, "rsi";
    "_ZNSt6locale6globalERKS_" => set_global, "rdx";
}
