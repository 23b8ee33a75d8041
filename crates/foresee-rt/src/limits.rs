//! How large a recording may become.
//!
//! `FORESEE_MAX_SIZE` gives the number of bytes; recording stops when the file would have more. (`FORESEE_KEEP_LAST` goes on
//! instead, see [`keep`].) And whatever it says, no
//! recording fills the disk: it stops when less would be left than [`RESERVE`] or a twentieth of the disk, for everybody
//! else, and a quarter of the recording, for the trace that it is packed into. A program that runs for hours thus ends with a
//! message and a valid trace of its beginning, and the disk goes on to be of use.
//!
//! Asked once per chunk of the file: two system calls beside those that map it.

use std::ffi::CStr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use foresee_format::Stop;

use crate::{buffer, keep};

/// What is left of a large disk at least.
const RESERVE: u64 = 1 << 30;

static MAX_SIZE: AtomicU64 = AtomicU64::new(u64::MAX);

/// Reads the limits that are set.
pub(crate) fn start() {
    MAX_SIZE.store(number(c"FORESEE_MAX_SIZE").unwrap_or(u64::MAX), Relaxed);
    keep::last(number(c"FORESEE_KEEP_LAST").unwrap_or(0));
    buffer::set_read_along(number(c"FORESEE_FOLLOWED").is_some());
}

/// The number in a variable of the environment.
fn number(variable: &CStr) -> Option<u64> {
    // SAFETY: the name ends in a zero byte; the value is used before the program can change its environment.
    unsafe {
        let value = libc::getenv(variable.as_ptr());
        if value.is_null() { None } else { CStr::from_ptr(value).to_str().ok()?.parse().ok() }
    }
}

/// Why the file must not grow by `more` bytes to `len`, if so.
pub(crate) fn reached(fd: i32, more: u64, len: u64) -> Option<Stop> {
    if len > MAX_SIZE.load(Relaxed) {
        return Some(Stop::MaxSize);
    }
    // SAFETY: both are plain data that the calls fill.
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
    // Who reads along may have given back a part of the file.
    let taken = 512 * file.st_blocks as u64 + more;
    // A file system that does not say how large it is has no such limit.
    (whole > 0 && free.saturating_sub(more) < (whole / 20).min(RESERVE) + taken / 4)
        .then_some(Stop::LittleRoom)
}
