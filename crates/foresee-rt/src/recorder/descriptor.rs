//! The descriptor of the trace, and whether it still is.
//!
//! A program that closes and duplicates descriptors by system calls of its own (`syscall(SYS_dup2, …)`, `SYS_close_range`) is seen by
//! nobody: our number may by then be a file of the program's, and writing to it would destroy the program's data. So the file is
//! known by its device and inode, and looked at before every use. One system call for each chunk is nothing beside the others.
//!
//! A program that asks the C library for this very number (`dup2(fd, 512)`) gets it: the trace moves to another one.

use std::sync::atomic::{AtomicI32, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

static NUMBER: AtomicI32 = AtomicI32::new(-1);
static DEVICE: AtomicU64 = AtomicU64::new(0);
static INODE: AtomicU64 = AtomicU64::new(0);

/// The trace is behind this descriptor from now on.
pub(super) fn set(fd: i32) {
    let (device, inode) = file(fd).unwrap_or_default();
    DEVICE.store(device, SeqCst);
    INODE.store(inode, SeqCst);
    NUMBER.store(fd, SeqCst);
}

/// The descriptor of the trace, if there is one and it is still the trace's.
pub(crate) fn current() -> Option<i32> {
    let fd = NUMBER.load(Relaxed);
    (fd >= 0 && file(fd) == Some((DEVICE.load(Relaxed), INODE.load(Relaxed)))).then_some(fd)
}

/// Whether this descriptor is the trace's.
pub(crate) fn is_ours(fd: i32) -> bool {
    fd >= 0 && fd == NUMBER.load(Relaxed) && current() == Some(fd)
}

/// Gives this number to the program: the trace gets another one. The old descriptor stays open, for the program to replace. Whether
/// that could be done.
pub(crate) fn make_way(fd: i32) -> bool {
    // SAFETY: touches no memory; a new descriptor is nobody else's.
    let other = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, fd.saturating_add(1)) };
    if other >= 0 {
        NUMBER.store(other, SeqCst);
    }
    other >= 0
}

/// There is no trace any more; its descriptor, if it is still the trace's.
pub(super) fn take() -> Option<i32> {
    let fd = current();
    NUMBER.store(-1, SeqCst);
    fd
}

fn file(fd: i32) -> Option<(u64, u64)> {
    // SAFETY: `stat` is a C structure of numbers, for which zeroes are valid, and which `fstat` fills.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        (libc::fstat(fd, &mut stat) == 0).then_some((stat.st_dev, stat.st_ino))
    }
}
