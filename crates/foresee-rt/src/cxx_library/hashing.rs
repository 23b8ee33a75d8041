//! Hash tables: `std::unordered_map` and its kin. Their nodes are linked by headers; the library says when a table grows, and hashes texts.

use libc::{c_void, size_t};

use super::accesses::{Caller, LIBRARY};
use crate::entry_points::weak_entries;
use crate::real_functions::{Real, call_real};

/// What a table knows of its growth.
#[repr(C)]
struct Policy {
    max_load_factor: f32,
    next_resize: size_t,
}

/// Whether to grow, and to how many buckets.
#[repr(C)]
struct Growth {
    grows: bool,
    buckets: size_t,
}

/// Calls a function that reads the policy, and may change when to grow next.
///
/// # Safety
/// There is a policy.
unsafe fn changing<R>(policy: *mut Policy, pc: u64, change: impl FnOnce() -> R) -> R {
    let caller = Caller::at(pc);
    caller.reads(policy as u64, size_of::<Policy>());
    let at = policy.wrapping_byte_add(std::mem::offset_of!(Policy, next_resize)).cast::<size_t>();
    // SAFETY: by the caller.
    let before = unsafe { at.read() };
    let result = change();
    // SAFETY: by the caller.
    if unsafe { at.read() } != before {
        caller.writes(at as u64, size_of::<size_t>());
    }
    result
}

extern "C-unwind" fn growth(
    policy: *mut Policy,
    buckets: size_t,
    elements: size_t,
    more: size_t,
    pc: u64,
) -> Growth {
    static REAL: Real =
        Real::of_library(c"_ZNKSt8__detail20_Prime_rehash_policy14_M_need_rehashEmmm", LIBRARY);
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
    unsafe {
        changing(policy, pc, || {
            call_real!(
                REAL,
                (*mut Policy, size_t, size_t, size_t) -> Growth,
                policy, buckets, elements, more
            )
        })
    }
}

extern "C-unwind" fn next_size(policy: *mut Policy, buckets: size_t, pc: u64) -> size_t {
    static REAL: Real = Real::of_library(c"_ZNKSt8__detail20_Prime_rehash_policy11_M_next_bktEm", LIBRARY);
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
    unsafe { changing(policy, pc, || call_real!(REAL, (*mut Policy, size_t) -> size_t, policy, buckets)) }
}

extern "C-unwind" fn hash(bytes: *const c_void, size: size_t, seed: size_t, pc: u64) -> size_t {
    static REAL: Real = Real::of_library(c"_ZSt11_Hash_bytesPKvmm", LIBRARY);
    Caller::at(pc).reads(bytes as u64, size);
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
    unsafe { call_real!(REAL, (*const c_void, size_t, size_t) -> size_t, bytes, size, seed) }
}

weak_entries! {
    "_ZNKSt8__detail20_Prime_rehash_policy14_M_need_rehashEmmm" => growth, "r8";
    "_ZNKSt8__detail20_Prime_rehash_policy11_M_next_bktEm" => next_size, "rdx";
    "_ZSt11_Hash_bytesPKvmm" => hash, "rcx";
}
