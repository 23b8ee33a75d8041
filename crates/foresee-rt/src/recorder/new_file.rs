//! Creating the file of a trace, under a name that nobody else uses.

use std::ffi::CStr;

const FLAGS: i32 = libc::O_RDWR | libc::O_CREAT | libc::O_CLOEXEC;

/// Nobody else's business: traces hold command lines and memory layouts.
const MODE: libc::c_uint = 0o600;

/// A new file of this name. If it has content, it is another process's (a program may start itself again), and this process's
/// file gets another name. A negative number if there is none to be had.
pub(crate) fn create(path: &CStr) -> i32 {
    // SAFETY: `path` ends in a zero byte; `stat` is a C structure of numbers, for which zeroes are valid, and which `fstat` fills.
    unsafe {
        let fd = libc::open(path.as_ptr(), FLAGS, MODE);
        let mut stat: libc::stat = std::mem::zeroed();
        if fd < 0 || (libc::fstat(fd, &mut stat) == 0 && stat.st_size == 0) {
            return with_high_number(fd);
        }
        libc::close(fd);
    }
    create_for_this_process(path)
}

/// A new file of this name and the process id; with a number if the process has had a trace already, before it became
/// another program.
pub(crate) fn create_for_this_process(path: &CStr) -> i32 {
    let mut name = [0u8; libc::PATH_MAX as usize];
    for attempt in 1..100 as libc::c_int {
        // SAFETY: `snprintf` writes no more than the buffer's length and ends the name in a zero byte; the format's directives
        // are those of its arguments (a third, unused one is allowed). `errno` is this thread's own.
        unsafe {
            let form = if attempt == 1 { c"%s.%d" } else { c"%s.%d.%d" };
            let id: libc::c_int = libc::getpid();
            libc::snprintf(name.as_mut_ptr().cast(), name.len(), form.as_ptr(), path.as_ptr(), id, attempt);
            let fd = libc::open(name.as_ptr().cast(), FLAGS | libc::O_EXCL, MODE);
            if fd >= 0 || *libc::__errno_location() != libc::EEXIST {
                return with_high_number(fd);
            }
        }
    }
    -1
}

/// Moves a file descriptor to a high number: programs expect the low ones to be theirs.
fn with_high_number(fd: i32) -> i32 {
    if fd < 0 {
        return fd;
    }
    // SAFETY: touches no memory; the descriptor was just opened here, so nobody else can rely on it.
    unsafe {
        let high = libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 512);
        if high < 0 {
            return fd;
        }
        libc::close(fd);
        high
    }
}
