//! Creating the files of a trace, under names that nobody else uses.
//!
//! Not by the C library's functions, which ours stand in front of, and at which a thread can be cancelled.

use std::ffi::CStr;

const FLAGS: i32 = libc::O_RDWR | libc::O_CREAT | libc::O_CLOEXEC;

/// Nobody else's business: traces hold command lines and memory layouts.
const MODE: libc::c_uint = 0o600;

/// A name that ends in a zero byte.
pub(crate) type Name = [u8; libc::PATH_MAX as usize];

/// A new file of this name. If it has content, it is another process's (a program may start itself again), and this process's
/// file gets another name. Its name, and its descriptor: a negative number if there is none to be had.
pub(crate) fn create(path: &CStr) -> (Name, i32) {
    // SAFETY: `stat` is a C structure of numbers, for which zeroes are valid, and which `fstat` fills.
    unsafe {
        let fd = open(path, FLAGS);
        let mut stat: libc::stat = std::mem::zeroed();
        if fd < 0 || (libc::fstat(fd, &mut stat) == 0 && stat.st_size == 0) {
            let mut name = [0; libc::PATH_MAX as usize];
            name.iter_mut().zip(path.to_bytes()).for_each(|(slot, &byte)| *slot = byte);
            return (name, with_high_number(fd));
        }
        close(fd);
    }
    create_for_this_process(path)
}

/// The same under this name and the process id; with a number if the process has had a trace already, before it became
/// another program.
pub(crate) fn create_for_this_process(path: &CStr) -> (Name, i32) {
    let mut name = [0; libc::PATH_MAX as usize];
    for attempt in 1..100 as libc::c_int {
        // SAFETY: `snprintf` writes no more than the buffer's length and ends the name in a zero byte; the format's directives
        // are those of its arguments (a third, unused one is allowed).
        let called = unsafe {
            let form = if attempt == 1 { c"%s.%d" } else { c"%s.%d.%d" };
            let id: libc::c_int = libc::getpid();
            libc::snprintf(name.as_mut_ptr().cast(), name.len(), form.as_ptr(), path.as_ptr(), id, attempt);
            CStr::from_ptr(name.as_ptr().cast())
        };
        let fd = create_named(called);
        // SAFETY: `errno` is this thread's own.
        if fd >= 0 || unsafe { *libc::__errno_location() } != libc::EEXIST {
            return (name, fd);
        }
    }
    (name, -1)
}

/// A new file of just this name, which nobody has. A negative number if there is none to be had.
pub(crate) fn create_named(name: &CStr) -> i32 {
    with_high_number(open(name, FLAGS | libc::O_EXCL))
}

fn open(name: &CStr, flags: i32) -> i32 {
    // SAFETY: `name` ends in a zero byte.
    unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, name.as_ptr(), flags, MODE) as i32 }
}

fn close(fd: i32) {
    // SAFETY: touches no memory; the descriptor was just opened here, so nobody else can rely on it.
    unsafe { libc::syscall(libc::SYS_close, fd) };
}

/// Moves a file descriptor to a high number: programs expect the low ones to be theirs.
fn with_high_number(fd: i32) -> i32 {
    if fd < 0 {
        return fd;
    }
    // SAFETY: touches no memory; the descriptor was just opened here, so nobody else can rely on it.
    unsafe {
        let high = libc::syscall(libc::SYS_fcntl, fd, libc::F_DUPFD_CLOEXEC, 512) as i32;
        if high < 0 {
            return fd;
        }
        close(fd);
        high
    }
}
