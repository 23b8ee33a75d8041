//! Annotations for ThreadSanitizer that programs already have: custom mutexes, happens-before, what to ignore.
//!
//! * `__tsan_mutex_*`: a mutex of the program's own is a lock; what it does inside, between `pre_` and `post_`, is not
//!   recorded, except for calls out of there (`divert`).
//! * `AnnotateHappensBefore`/`After` and `AnnotateRWLock*`: edges and locks.
//! * `AnnotateIgnore{Reads,Writes}*`, `__tsan_ignore_thread_*`: accesses of the thread are not recorded (both kinds, as in TSan).
//!   `AnnotateIgnoreSync*`: its synchronisation is not recorded. Calls, threads and the life of memory always are.
//! * `AnnotateBenignRace*` does nothing: C and C++ know no benign data race. A suppression hides a known finding.
//! * `__tsan_external_*`: reads and writes of an object, as one byte at its address.
//!
//! The `Annotate…` functions are weak: a program may bring its own, which do nothing.

use foresee_format::{EXCLUSIVE, SHARED, Tag};
use libc::{c_char, c_int, c_void};

use super::accesses::{read, write};
use crate::entry_points::{entries, weak_entries};
use crate::recorder::edges::{acquire_edge, release_edge};
use crate::recorder::locks::{released, requested, tried};
use crate::recorder::thread::{Ignored, always, begin_ignoring, end_ignoring};
use crate::recorder::{held_locks, thread_handles};

const READ_LOCK: u32 = 1 << 3;
const TRY_LOCK: u32 = 1 << 4;
const TRY_LOCK_FAILED: u32 = 1 << 5;
const RECURSIVE_LOCK: u32 = 1 << 6;
const RECURSIVE_UNLOCK: u32 = 1 << 7;

fn mode(flags: u32) -> u8 {
    if flags & READ_LOCK != 0 { SHARED } else { EXCLUSIVE }
}

fn ignore_all() {
    begin_ignoring(Ignored::Accesses);
    begin_ignoring(Ignored::Synchronisation);
}

fn ignore_no_more() {
    end_ignoring(Ignored::Accesses);
    end_ignoring(Ignored::Synchronisation);
}

extern "C-unwind" fn nothing(_pc: u64) {}

extern "C-unwind" fn pre_lock(mutex: *mut c_void, flags: u32, pc: u64) {
    if flags & TRY_LOCK == 0 {
        requested(mutex, mode(flags), pc);
    }
    ignore_all();
}

extern "C-unwind" fn post_lock(mutex: *mut c_void, flags: u32, recursion: c_int, pc: u64) {
    ignore_no_more();
    if flags & TRY_LOCK_FAILED != 0 {
        return;
    }
    let times = if flags & RECURSIVE_LOCK != 0 { recursion.clamp(1, held_locks::MOST as c_int) } else { 1 };
    for _ in 0..times {
        tried(0, mutex, mode(flags), pc);
    }
}

/// Returns how often the mutex was held, for the lock that takes it again.
extern "C-unwind" fn pre_unlock(mutex: *mut c_void, flags: u32, pc: u64) -> c_int {
    let times = if flags & RECURSIVE_UNLOCK != 0 { held_locks::times(mutex as u64).max(1) } else { 1 };
    for _ in 0..times {
        released(mutex, mode(flags), pc);
    }
    ignore_all();
    if flags & RECURSIVE_UNLOCK != 0 { times as c_int } else { 0 }
}

extern "C-unwind" fn begin_inside(_mutex: *mut c_void, _flags: u32, _pc: u64) {
    ignore_all();
}

extern "C-unwind" fn end_inside(_mutex: *mut c_void, _flags: u32, _pc: u64) {
    ignore_no_more();
}

extern "C-unwind" fn ignore_accesses(_pc: u64) {
    begin_ignoring(Ignored::Accesses);
}

extern "C-unwind" fn notice_accesses(_pc: u64) {
    end_ignoring(Ignored::Accesses);
}

extern "C-unwind" fn ignore_synchronisation(_pc: u64) {
    begin_ignoring(Ignored::Synchronisation);
}

extern "C-unwind" fn notice_synchronisation(_pc: u64) {
    end_ignoring(Ignored::Synchronisation);
}

type File = *const c_char;

extern "C-unwind" fn happens_before(_file: File, _line: c_int, object: u64, pc: u64) {
    release_edge(object, pc);
}

extern "C-unwind" fn happens_after(_file: File, _line: c_int, object: u64, pc: u64) {
    acquire_edge(object, pc);
}

fn lock_mode(exclusive: isize) -> u8 {
    if exclusive != 0 { EXCLUSIVE } else { SHARED }
}

extern "C-unwind" fn lock_acquired(_file: File, _line: c_int, lock: *mut c_void, exclusive: isize, pc: u64) {
    tried(0, lock, lock_mode(exclusive), pc);
}

extern "C-unwind" fn lock_released(_file: File, _line: c_int, lock: *mut c_void, exclusive: isize, pc: u64) {
    released(lock, lock_mode(exclusive), pc);
}

/// Memory that a program's own allocator gives out begins a new life.
extern "C-unwind" fn new_memory(_file: File, _line: c_int, at: u64, size: usize, pc: u64) {
    always(|local| local.plain(Tag::Alloc, 0, [pc, at, size as u64]));
}

extern "C-unwind" fn thread_name(_file: File, _line: c_int, name: *const c_char, _pc: u64) {
    // SAFETY: the annotation takes a C string: null, or a text that ends in a zero byte.
    unsafe { thread_handles::name_own(name) };
}

/// Tags of external objects are not looked at: any value but null will do.
extern "C-unwind" fn external_tag(_object_type: *const c_char, _pc: u64) -> *mut c_void {
    std::ptr::without_provenance_mut(1)
}

extern "C-unwind" fn external_read(object: u64, caller: u64, _tag: u64, _pc: u64) {
    read::<1>(object, caller);
}

extern "C-unwind" fn external_write(object: u64, caller: u64, _tag: u64, _pc: u64) {
    write::<1>(object, caller);
}

entries! {
    __tsan_mutex_create => nothing, "rdi";
    __tsan_mutex_destroy => nothing, "rdi";
    __tsan_mutex_pre_lock => pre_lock, "rdx";
    __tsan_mutex_post_lock => post_lock, "rcx";
    __tsan_mutex_pre_unlock => pre_unlock, "rdx";
    __tsan_mutex_post_unlock => end_inside, "rdx";
    __tsan_mutex_pre_signal => begin_inside, "rdx";
    __tsan_mutex_post_signal => end_inside, "rdx";
    __tsan_mutex_pre_divert => end_inside, "rdx";
    __tsan_mutex_post_divert => begin_inside, "rdx";
    __tsan_ignore_thread_begin => ignore_accesses, "rdi";
    __tsan_ignore_thread_end => notice_accesses, "rdi";
    __tsan_external_register_tag => external_tag, "rsi";
    __tsan_external_register_header => nothing, "rdi";
    __tsan_external_assign_tag => nothing, "rdi";
    __tsan_external_read => external_read, "rcx";
    __tsan_external_write => external_write, "rcx";
}

weak_entries! {
    "AnnotateHappensBefore" => happens_before, "rcx";
    "AnnotateHappensAfter" => happens_after, "rcx";
    "WTFAnnotateHappensBefore" => happens_before, "rcx";
    "WTFAnnotateHappensAfter" => happens_after, "rcx";
    "AnnotateRWLockCreate" => nothing, "rdi";
    "AnnotateRWLockCreateStatic" => nothing, "rdi";
    "AnnotateRWLockDestroy" => nothing, "rdi";
    "AnnotateRWLockAcquired" => lock_acquired, "r8";
    "AnnotateRWLockReleased" => lock_released, "r8";
    "AnnotateIgnoreReadsBegin" => ignore_accesses, "rdi";
    "AnnotateIgnoreReadsEnd" => notice_accesses, "rdi";
    "AnnotateIgnoreWritesBegin" => ignore_accesses, "rdi";
    "AnnotateIgnoreWritesEnd" => notice_accesses, "rdi";
    "AnnotateIgnoreSyncBegin" => ignore_synchronisation, "rdi";
    "AnnotateIgnoreSyncEnd" => notice_synchronisation, "rdi";
    "AnnotateNewMemory" => new_memory, "r8";
    "AnnotateThreadName" => thread_name, "rcx";
    "AnnotateBenignRace" => nothing, "rdi";
    "AnnotateBenignRaceSized" => nothing, "rdi";
    "WTFAnnotateBenignRaceSized" => nothing, "rdi";
    "AnnotateEnableRaceDetection" => nothing, "rdi";
    "AnnotateFlushState" => nothing, "rdi";
    "AnnotateNoOp" => nothing, "rdi";
}
