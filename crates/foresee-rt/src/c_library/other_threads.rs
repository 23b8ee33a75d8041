//! Whether the other threads of the process still have something to do, as far as the kernel knows.
//!
//! A thread *sleeps for good* if it is in a system call that has no end in time: only another thread or the world outside can wake it.
//! The kernel says in which call a thread is, and with which arguments (`/proc/self/task/…/syscall`). All is done by system calls, as what
//! programs call is recorded, and nothing is allocated.

use libc::{c_int, c_long, c_void};

/// What the others do, all together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Others {
    /// There are none.
    None,
    /// All sleep for good.
    Asleep,
    /// Some may go on.
    Busy,
}

/// An open file, for the time of a look.
struct Opened(c_int);

impl Opened {
    /// A path of bytes, of which the last is zero.
    fn new(path: &[u8]) -> Option<Opened> {
        debug_assert_eq!(path.last(), Some(&0));
        // SAFETY: the path ends in a zero byte.
        let fd = unsafe {
            libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC)
        };
        (fd >= 0).then_some(Opened(fd as c_int))
    }

    /// Has a call fill the buffer; what it filled.
    fn fill<'a>(&self, call: c_long, buffer: &'a mut [u8]) -> &'a [u8] {
        // SAFETY: both calls that this is used for, `read` and `getdents64`, write so many bytes at most.
        let len = unsafe { libc::syscall(call, self.0, buffer.as_mut_ptr().cast::<c_void>(), buffer.len()) };
        buffer.get(..usize::try_from(len).unwrap_or(0)).unwrap_or(&[])
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        // SAFETY: it was opened here, and nobody else knows of it.
        unsafe { libc::syscall(libc::SYS_close, self.0) };
    }
}

const TASKS: &[u8] = b"/proc/self/task/";

/// What all threads but this one do now.
pub(super) fn look() -> Others {
    let mut path = [0; TASKS.len() + 1];
    path[..TASKS.len()].copy_from_slice(TASKS);
    let Some(tasks) = Opened::new(&path) else { return Others::Busy };
    // SAFETY: has no preconditions.
    let own = unsafe { libc::syscall(libc::SYS_gettid) };
    let mut all = Others::None;
    loop {
        let mut buffer = [0; 4096];
        let entries = tasks.fill(libc::SYS_getdents64, &mut buffer);
        if entries.is_empty() {
            return all;
        }
        for name in names(entries).filter(|name| number(name).is_some_and(|thread| thread != own)) {
            if !sleeps_for_good(name) {
                return Others::Busy;
            }
            all = Others::Asleep;
        }
    }
}

/// The names in what the kernel says of a folder: records of a number, a place, their length, a kind, a name up to a zero byte.
fn names(mut entries: &[u8]) -> impl Iterator<Item = &[u8]> {
    const LENGTH: usize = 16;
    const NAME: usize = 19;
    std::iter::from_fn(move || {
        let length = u16::from_le_bytes([*entries.get(LENGTH)?, *entries.get(LENGTH + 1)?]);
        let (entry, rest) = entries.split_at_checked(length.into())?;
        entries = rest;
        entry.get(NAME..)?.split(|&byte| byte == 0).next()
    })
}

fn number(text: &[u8]) -> Option<c_long> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Whether the thread of this number is in a system call that only others end. One that has ended meanwhile is not, but will not be
/// there at the next look.
fn sleeps_for_good(thread: &[u8]) -> bool {
    const CALL: &[u8] = b"/syscall\0";
    let mut path = [0; 64];
    let len = TASKS.len() + thread.len() + CALL.len();
    let Some(used) = path.get_mut(..len) else { return false };
    used[..TASKS.len()].copy_from_slice(TASKS);
    used[TASKS.len()..][..thread.len()].copy_from_slice(thread);
    used[TASKS.len() + thread.len()..].copy_from_slice(CALL);
    let Some(file) = Opened::new(used) else { return false };
    let mut buffer = [0; 256];
    std::str::from_utf8(file.fill(libc::SYS_read, &mut buffer)).is_ok_and(is_for_good)
}

/// Whether a call, given as its number and its arguments, waits for others and for no time.
fn is_for_good(call: &str) -> bool {
    let mut words = call.split_ascii_whitespace();
    let Some(number) = words.next().and_then(|word| word.parse::<c_long>().ok()) else { return false };
    let mut arguments = [0; 6];
    for (argument, word) in arguments.iter_mut().zip(words) {
        *argument = u64::from_str_radix(word.trim_start_matches("0x"), 16).unwrap_or(0);
    }
    let is_null = |at: usize| arguments[at] == 0;
    let is_negative = |at: usize| (arguments[at] as i32) < 0;
    match number {
        libc::SYS_futex => {
            let operation = arguments[1] as c_int & !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME);
            let waits =
                [libc::FUTEX_WAIT, libc::FUTEX_WAIT_BITSET, libc::FUTEX_LOCK_PI, libc::FUTEX_WAIT_REQUEUE_PI];
            waits.contains(&operation) && is_null(3)
        }
        libc::SYS_poll => is_negative(2),
        libc::SYS_epoll_wait | libc::SYS_epoll_pwait => is_negative(3),
        libc::SYS_ppoll | libc::SYS_rt_sigtimedwait => is_null(2),
        libc::SYS_select | libc::SYS_pselect6 => is_null(4),
        libc::SYS_read
        | libc::SYS_readv
        | libc::SYS_recvfrom
        | libc::SYS_recvmsg
        | libc::SYS_accept
        | libc::SYS_accept4
        | libc::SYS_pause
        | libc::SYS_rt_sigsuspend
        | libc::SYS_wait4
        | libc::SYS_waitid => true,
        _ => false,
    }
}
