//! The descriptors of the trace's files, and whether they still are.
//!
//! A program that closes and duplicates descriptors by system calls of its own (`syscall(SYS_dup2, …)`, `SYS_close_range`) is seen by
//! nobody: our number may by then be a file of the program's, and writing to it would destroy the program's data. So the file is
//! known by its device and inode, and looked at before every use. One system call for each chunk is nothing beside the others.
//!
//! A program that asks the C library for this very number (`dup2(fd, 512)`) gets it: the trace moves to another one.

use std::sync::atomic::{AtomicI32, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

use foresee_format::SIDE_FILES;

/// How many files a trace has at most.
pub(crate) const FILES: usize = 1 + SIDE_FILES;

/// A file that is known by its device and inode.
struct Known {
    number: AtomicI32,
    device: AtomicU64,
    inode: AtomicU64,
}

/// The trace itself, and its side files.
static KNOWN: [Known; FILES] =
    [const { Known { number: AtomicI32::new(-1), device: AtomicU64::new(0), inode: AtomicU64::new(0) } };
        FILES];

/// A file of the trace is behind this descriptor from now on.
pub(super) fn set(file: usize, fd: i32) {
    let (device, inode) = identity(fd).unwrap_or_default();
    KNOWN[file].device.store(device, SeqCst);
    KNOWN[file].inode.store(inode, SeqCst);
    KNOWN[file].number.store(fd, SeqCst);
}

/// The descriptor of a file of the trace, if it has one and that is still the trace's.
pub(crate) fn current(file: usize) -> Option<i32> {
    let known = &KNOWN[file];
    let fd = known.number.load(Relaxed);
    let is_same = || identity(fd) == Some((known.device.load(Relaxed), known.inode.load(Relaxed)));
    (fd >= 0 && is_same()).then_some(fd)
}

/// The file of the trace that is behind this descriptor.
fn file_of(fd: i32) -> Option<usize> {
    let is_this = |file: &usize| KNOWN[*file].number.load(Relaxed) == fd && current(*file) == Some(fd);
    (0..FILES).find(|file| fd >= 0 && is_this(file))
}

/// Whether this descriptor is the trace's.
pub(crate) fn is_ours(fd: i32) -> bool {
    file_of(fd).is_some()
}

/// Whether the trace has side files.
pub(crate) fn are_several() -> bool {
    KNOWN[1..].iter().any(|known| known.number.load(Relaxed) >= 0)
}

/// The smallest descriptor of the trace from this one on.
pub(crate) fn first_of_ours(from: u32) -> Option<u32> {
    (0..FILES).filter_map(current).map(|fd| fd as u32).filter(|&fd| fd >= from).min()
}

/// Gives this number to the program: the trace gets another one. The old descriptor stays open, for the program to replace. Whether
/// that could be done.
pub(crate) fn make_way(fd: i32) -> bool {
    let Some(file) = file_of(fd) else { return true };
    // SAFETY: touches no memory; a new descriptor is nobody else's.
    let other = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, fd.saturating_add(1)) };
    if other >= 0 {
        KNOWN[file].number.store(other, SeqCst);
    }
    other >= 0
}

/// The trace has no such file any more; its descriptor, if it is still the trace's.
pub(super) fn take(file: usize) -> Option<i32> {
    let fd = current(file);
    KNOWN[file].number.store(-1, SeqCst);
    fd
}

fn identity(fd: i32) -> Option<(u64, u64)> {
    // SAFETY: `stat` is a C structure of numbers, for which zeroes are valid, and which `fstat` fills.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        (libc::fstat(fd, &mut stat) == 0).then_some((stat.st_dev, stat.st_ino))
    }
}
