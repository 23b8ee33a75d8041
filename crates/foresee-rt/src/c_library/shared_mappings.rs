//! Memory that a program has at two addresses: a file that it maps twice, a segment of System V attached twice.
//!
//! The trace knows memory by its address, so such memory is two variables in it: writes to the one are unseen reads of the other. That
//! is recorded, and whatever is found in such a trace is doubted. What is mapped is kept in a table without a lock, as mappings of
//! files that are shared are few; what does not fit is taken to be mapped twice.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use foresee_format::{SHARED_MEMORY, Tag};
use libc::{c_int, c_void, off_t, size_t};

use crate::entry_points::weak_entries;
use crate::real_functions::{Real, call_real};
use crate::recorder::thread::always;

/// How many mappings are known at a time.
const MOST: usize = 256;

/// A mapping: where it is (0: none), what it is of, and which bytes of that.
struct Mapping {
    at: AtomicU64,
    of: AtomicU64,
    from: AtomicU64,
    to: AtomicU64,
}

static MAPPINGS: [Mapping; MOST] = [const {
    Mapping { at: AtomicU64::new(0), of: AtomicU64::new(0), from: AtomicU64::new(0), to: AtomicU64::new(0) }
}; MOST];

/// A number for a file.
fn of_file(fd: c_int) -> Option<u64> {
    // SAFETY: all zeroes is a state of this structure, which the call fills in.
    let (status, failed) = unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        let failed = libc::fstat(fd, &raw mut status) != 0;
        (status, failed)
    };
    (!failed).then(|| status.st_ino ^ status.st_dev.rotate_left(48))
}

/// The program has mapped a part of a file, to be shared.
pub(super) fn mapped(at: *mut c_void, size: size_t, fd: c_int, offset: off_t, pc: u64) {
    if let Some(of) = of_file(fd) {
        let from = offset.cast_unsigned();
        begins(at as u64, of, from..from.saturating_add(size as u64), pc);
    }
}

/// Something is shared at this address from now on.
fn begins(at: u64, of: u64, bytes: std::ops::Range<u64>, pc: u64) {
    let is_known = MAPPINGS.iter().any(|known| {
        known.at.load(Relaxed) != 0
            && known.of.load(Relaxed) == of
            && known.from.load(Relaxed) < bytes.end
            && bytes.start < known.to.load(Relaxed)
    });
    let free = MAPPINGS.iter().find(|free| free.at.compare_exchange(0, at, Relaxed, Relaxed).is_ok());
    if let Some(free) = free {
        free.of.store(of, Relaxed);
        free.from.store(bytes.start, Relaxed);
        free.to.store(bytes.end, Relaxed);
    }
    if is_known || free.is_none() {
        twice(at, pc);
    }
}

/// The memory at this address is at another, too.
pub(super) fn twice(at: u64, pc: u64) {
    always(|local| local.plain(Tag::Alias, 0, [pc, at]));
}

/// What begins at these addresses is unmapped.
pub(super) fn ends(at: *mut c_void, size: size_t) {
    let gone = at as u64..(at as u64).saturating_add(size as u64);
    for known in MAPPINGS.iter().filter(|known| gone.contains(&known.at.load(Relaxed))) {
        known.at.store(0, Relaxed);
    }
}

extern "C-unwind" fn attach(segment: c_int, at: *const c_void, flags: c_int, pc: u64) -> *mut c_void {
    static REAL: Real = Real::new(c"shmat");
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    let attached =
        unsafe { call_real!(REAL, (c_int, *const c_void, c_int) -> *mut c_void, segment, at, flags) };
    if attached != libc::MAP_FAILED {
        let size = size_of_segment(segment);
        always(|local| local.plain(Tag::Alloc, SHARED_MEMORY, [pc, attached as u64, size]));
        // No file has such a number.
        begins(attached as u64, u64::MAX - u64::from(segment.cast_unsigned()), 0..size, pc);
    }
    attached
}

/// How large a segment of System V is; at least one byte, as it is somewhere.
fn size_of_segment(segment: c_int) -> u64 {
    // SAFETY: the description is a C structure of numbers, for which zeroes are valid, and which the call fills. `errno` is this
    // thread's own; it is put back, as it belongs to the program.
    unsafe {
        let errno = *libc::__errno_location();
        let mut about: libc::shmid_ds = std::mem::zeroed();
        libc::shmctl(segment, libc::IPC_STAT, &mut about);
        *libc::__errno_location() = errno;
        (about.shm_segsz as u64).max(1)
    }
}

extern "C-unwind" fn detach(at: *const c_void, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"shmdt");
    if let Some(known) = MAPPINGS.iter().find(|known| !at.is_null() && known.at.load(Relaxed) == at as u64) {
        let size = known.to.load(Relaxed) - known.from.load(Relaxed);
        always(|local| local.stamped(Tag::Free, 0, [pc, at as u64, size]));
    }
    ends(at.cast_mut(), 1);
    // SAFETY: forwards the caller's own argument, with the signature of the C library's function.
    unsafe { call_real!(REAL, (*const c_void) -> c_int, at) }
}

weak_entries! {
    "shmat" => attach, "rcx";
    "shmdt" => detach, "rsi";
}
