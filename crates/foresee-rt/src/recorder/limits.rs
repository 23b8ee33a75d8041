//! How large a recording may become.
//!
//! * `FORESEE_MAX_SIZE` gives a number of bytes; recording stops when its files would have more. (`FORESEE_KEEP_LAST` goes on
//!   instead, see `ring`.)
//! * Whatever it says, no recording fills the disk. It stops when less would be left than [`LEFT_FREE`] or a twentieth of the disk,
//!   for everybody else, and a quarter of the recording, for the trace that it is packed into.
//! * The kernel's limit for files of this process (`ulimit -f`) is respected, as exceeding it raises a signal.
//!
//! A program that runs for hours thus ends with a message and a valid trace of its beginning, and the disk stays usable.
//! The cost is two system calls per chunk of the file, or per piece of the disk (`disk_space`).

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use foresee_format::Stop;

use super::descriptor;
use crate::environment;

/// What is left of a large disk at least.
const LEFT_FREE: u64 = 1 << 30;

static MAX_SIZE: AtomicU64 = AtomicU64::new(u64::MAX);

/// Reads the user's limit.
pub(crate) fn start() {
    MAX_SIZE.store(environment::number(c"FORESEE_MAX_SIZE").unwrap_or(u64::MAX), Relaxed);
}

/// Why a trace must not grow by `more` bytes of this file, to `all` bytes, if so.
pub(crate) fn reached(fd: i32, more: u64, all: u64) -> Option<Stop> {
    if all > MAX_SIZE.load(Relaxed) {
        return Some(Stop::MaxSize);
    }
    // SAFETY: both are C structures of numbers, for which zeroes are valid, and which the calls fill.
    let (disk, file) = unsafe {
        let mut disk: libc::statvfs = std::mem::zeroed();
        let mut file: libc::stat = std::mem::zeroed();
        if libc::fstatvfs(fd, &mut disk) != 0 || libc::fstat(fd, &mut file) != 0 {
            return None;
        }
        (disk, file)
    };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let whole = disk.f_blocks.saturating_mul(disk.f_frsize);
    // A process that reads along may have given back a part of the file, if it is the only one.
    let taken = if descriptor::are_several() { all } else { 512 * file.st_blocks as u64 + more };
    // A file system that does not say how large it is has no such limit.
    (whole > 0 && free.saturating_sub(more) < (whole / 20).min(LEFT_FREE) + taken / 4)
        .then_some(Stop::LittleRoom)
}

/// Whether the kernel allows a file of this length; otherwise growing it would raise a signal that ends the program.
pub(crate) fn kernel_allows(length: u64) -> bool {
    // SAFETY: `limit` is a C structure of numbers, for which zeroes are valid, and which the call fills.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) != 0 || length <= limit.rlim_cur
    }
}

/// Why the file did not grow, by what the kernel says.
pub(crate) fn why(error: i32) -> Stop {
    match error {
        libc::EPERM | libc::EACCES | libc::ENOSYS => Stop::Refused,
        libc::EBADF => Stop::Taken,
        libc::EIO => Stop::Failed,
        _ => Stop::NoRoom,
    }
}
