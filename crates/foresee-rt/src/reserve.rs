//! Room on the disk, asked for in large pieces.
//!
//! A chunk that is written behind the end of a file makes the file system look for blocks, and costs twice what writing to blocks
//! does that are there. And whether a file may grow at all takes three system calls to know. So both are asked once for
//! as much as the file has already, up to [`MOST`]; what is reserved lies behind the end of the file, which only shows
//! in how much of the disk it takes. Where that much is not to be had, each chunk is asked for by itself.
//!
//! Files in memory are left alone: there, reserving is the same work done twice.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use crate::{limits, rawfile};

/// How much is reserved at once.
const MOST: u64 = 64 << 20;
/// Smaller files take what they need.
const LEAST: u64 = 4 << 20;

/// The file may have this many bytes, and there is room for them.
static RESERVED: AtomicU64 = AtomicU64::new(0);
static CANNOT: AtomicBool = AtomicBool::new(false);

/// The file is a new one.
pub(crate) fn start(fd: i32) {
    RESERVED.store(0, Relaxed);
    // SAFETY: `about` is plain data that the call fills.
    let is_on_disk = unsafe {
        let mut about: libc::statfs = std::mem::zeroed();
        libc::fstatfs(fd, &mut about) == 0 && about.f_type != libc::TMPFS_MAGIC
    };
    CANNOT.store(!is_on_disk, Relaxed);
}

/// Whether there is room for a file of `len` bytes for sure.
pub(crate) fn has_room(fd: i32, len: u64) -> bool {
    let reserved = RESERVED.load(Relaxed);
    len <= reserved || (len >= LEAST && !CANNOT.load(Relaxed) && reserve(fd, reserved, len))
}

#[cold]
fn reserve(fd: i32, reserved: u64, len: u64) -> bool {
    let more = len.min(MOST);
    let to = len + more;
    if limits::reached(fd, more, to).is_some() || !rawfile::may_grow_to(to) {
        return false;
    }
    let from = reserved.max(len.saturating_sub(MOST));
    // SAFETY: takes blocks for a part of the file; what is there stays, and so does its length.
    let done =
        unsafe { libc::fallocate(fd, libc::FALLOC_FL_KEEP_SIZE, from as i64, (to - from) as i64) == 0 };
    if !done {
        CANNOT.store(true, Relaxed);
        return false;
    }
    let _ = RESERVED.fetch_update(Relaxed, Relaxed, |before| (before < to).then_some(to));
    true
}
