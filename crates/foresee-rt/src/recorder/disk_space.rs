//! Room on the disk, reserved in large pieces.
//!
//! A chunk that is written behind the end of a file makes the file system look for blocks, which costs twice as much as writing
//! to blocks that are already there. And it takes three system calls to know whether a file may grow at all. So both are
//! done at once for as much as the file has already, up to [`MOST`]. What is reserved lies behind the end of the file,
//! so it only shows in how much of the disk the file takes. Where so much cannot be had, each chunk is asked for by itself.
//!
//! Files in memory (tmpfs) are left alone: there, reserving is the same work done twice.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use super::descriptor::FILES;
use super::limits;

/// How much is reserved at once.
const MOST: u64 = 64 << 20;
/// Smaller files take what they need.
const LEAST: u64 = 4 << 20;

/// How many bytes each file may have, for which there is room.
static RESERVED: [AtomicU64; FILES] = [const { AtomicU64::new(0) }; FILES];
static CANNOT: AtomicBool = AtomicBool::new(false);

/// The trace is a new one.
pub(crate) fn start(fd: i32) {
    RESERVED.iter().for_each(|reserved| reserved.store(0, Relaxed));
    // SAFETY: `about` is a C structure of numbers, for which zeroes are valid, and which the call fills.
    let is_on_disk = unsafe {
        let mut about: libc::statfs = std::mem::zeroed();
        libc::fstatfs(fd, &mut about) == 0 && about.f_type != libc::TMPFS_MAGIC
    };
    CANNOT.store(!is_on_disk, Relaxed);
}

/// Whether there is certainly room for `len` bytes in this file, in a trace of `all` bytes.
pub(crate) fn has_room(file: usize, fd: i32, len: u64, all: u64) -> bool {
    let reserved = RESERVED[file].load(Relaxed);
    len <= reserved || (len >= LEAST && !CANNOT.load(Relaxed) && reserve(file, fd, len, all))
}

#[cold]
fn reserve(file: usize, fd: i32, len: u64, all: u64) -> bool {
    let reserved = RESERVED[file].load(Relaxed);
    let more = len.min(MOST);
    let to = len + more;
    if limits::reached(fd, more, all + more).is_some() || !limits::kernel_allows(to) {
        return false;
    }
    let from = reserved.max(len.saturating_sub(MOST));
    // SAFETY: touches no memory. It takes blocks for a part of the file, whose contents and length stay as they are.
    let done =
        unsafe { libc::fallocate(fd, libc::FALLOC_FL_KEEP_SIZE, from as i64, (to - from) as i64) == 0 };
    if !done {
        CANNOT.store(true, Relaxed);
        return false;
    }
    let _ = RESERVED[file].fetch_update(Relaxed, Relaxed, |before| (before < to).then_some(to));
    true
}
