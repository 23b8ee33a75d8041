//! What LLVM's library (libc++) counts inside of itself: the owners of a block that `shared_ptr` and `weak_ptr` share, and who has come to
//! a `barrier`.
//!
//! Most of both is in headers. The last weak owner to go frees the block, after all that the others did to it; so the
//! counting is done here, as for [locales](super::locales). The last thread to come to a barrier runs its completion after what all threads did
//! before they came, and then stores the next phase by an atomic that is the header's.

use std::sync::atomic::{AtomicI64, Ordering::AcqRel, Ordering::Acquire};

use libc::c_void;

use crate::entry_points::weak_entries;
use crate::real_functions::{Real, call_real};
use crate::recorder::edges::{acquire_edge, release_edge};

/// What owners share begins so.
#[repr(C)]
struct Owners {
    functions: *const c_void,
    /// One less than there are.
    shared: AtomicI64,
    /// The same; all shared owners are one of these.
    weak: AtomicI64,
}

extern "C-unwind" fn release_weak(owners: *mut Owners, pc: u64) {
    static REAL: Real = Real::new(c"_ZNSt3__119__shared_weak_count14__release_weakEv");
    release_edge(owners as u64, pc);
    // SAFETY: it lives, as the caller is one of its owners.
    let weak = unsafe { &(*owners).weak };
    let count_down = |count: i64| (count > 0).then(|| count - 1);
    if weak.fetch_update(AcqRel, Acquire, count_down).is_ok() {
        return;
    }
    acquire_edge(owners as u64, pc);
    // SAFETY: forwards the caller's own argument, with the signature of the library's function.
    unsafe { call_real!(REAL, (*mut Owners) -> (), owners) }
}

/// Whether the caller is the last.
extern "C-unwind" fn arrive(barrier: *mut c_void, phase: u8, pc: u64) -> bool {
    static REAL: Real =
        Real::new(c"_ZNSt3__131__arrive_barrier_algorithm_baseEPNS_24__barrier_algorithm_baseEh");
    release_edge(barrier as u64, pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
    let is_last = unsafe { call_real!(REAL, (*mut c_void, u8) -> bool, barrier, phase) };
    if is_last {
        acquire_edge(barrier as u64, pc);
    }
    is_last
}

weak_entries! {
    "_ZNSt3__119__shared_weak_count14__release_weakEv" => release_weak, "rsi";
    "_ZNSt3__131__arrive_barrier_algorithm_baseEPNS_24__barrier_algorithm_baseEh" => arrive, "rdx";
}
