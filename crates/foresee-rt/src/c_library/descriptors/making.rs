//! Functions that make descriptors, and other names of descriptors.

use libc::{c_char, c_int, c_uint, sockaddr, socklen_t};

use super::closing::no_descriptor;
use crate::c_library::channels::{
    OF_FILE_CHANGES, OF_OPENED_FIFOS, OF_SIGNALS, OF_SOCKETS, ask_for_signals, changes_files, channel,
    closes, failed_by_others, gives, learns, made, made_as, may_signal, new_channel, new_counter, opened,
    watch_files,
};
use crate::c_library::descriptor_lives::uses;
use crate::c_library::given;
use crate::c_library::ipc::around_file_lock;
use crate::c_library::names;
use crate::entry_points::weak_entries;
use crate::real_functions::{Real, call_real};
use crate::recorder::accesses::{counts, write_range};
use crate::recorder::edges::{acquire_edge, release_edge};
use crate::recorder::thread::are_many;
use crate::recorder::{descriptor, status};

/// Functions that make a descriptor from these arguments; the expression after them is the channel that it gets.
macro_rules! makers {
    ($($real:ident $function:ident of $name:literal ($($arg:ident: $ty:ty),*), $channel:expr;)*) => {
        $(static $real: Real = Real::new($name);
        extern "C-unwind" fn $function($($arg: $ty,)* pc: u64) -> c_int {
            $(given::Argument::before($arg, pc);)*
            // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
            let fd = unsafe { call_real!($real, ($($ty),*) -> c_int, $($arg),*) };
            let channel: fn(c_int, u64) -> u64 = $channel;
            if fd >= 0 || failed_by_others() {
                let channel = channel(made_from!($($arg)*), pc);
                if fd >= 0 {
                    made(fd, channel);
                    $(given::Argument::after($arg, pc);)*
                }
            }
            fd
        })*
    };
}
macro_rules! made_from {
    ($first:ident $($rest:ident)*) => {
        $first as c_int
    };
}

/// A connection is accepted: whoever made it has released before.
fn accepted(_listener: c_int, pc: u64) -> u64 {
    acquire_edge(OF_SOCKETS, pc);
    OF_SOCKETS
}

/// A descriptor is made that reports changes of files.
fn file_watcher(_flags: c_int, _pc: u64) -> u64 {
    watch_files();
    OF_FILE_CHANGES
}

/// What a new descriptor is, is asked for when it is used first. Whatever had its number before may have been closed without a
/// call of ours, by a system call or inside of the C library.
fn unknown(_from: c_int, _pc: u64) -> u64 {
    0
}

makers! {
    EVENTFD make_event of c"eventfd" (initial: c_uint, flags: c_int), |_, _| new_counter();
    EPOLL_CREATE make_epoll of c"epoll_create" (size: c_int), |_, _| new_channel();
    EPOLL_CREATE1 make_epoll_with of c"epoll_create1" (flags: c_int), |_, _| new_channel();
    ACCEPT accept_one of c"accept" (fd: c_int, address: *mut sockaddr, len: *mut socklen_t), accepted;
    ACCEPT4 accept_one_with of c"accept4" (
        fd: c_int, address: *mut sockaddr, len: *mut socklen_t, flags: c_int
    ), accepted;
    SOCKET make_socket of c"socket" (domain: c_int, kind: c_int, protocol: c_int), unknown;
    MEMFD make_memory_file of c"memfd_create" (name: *const c_char, flags: c_uint), unknown;
    TIMERFD make_timer of c"timerfd_create" (clock: c_int, flags: c_int), unknown;
    SIGNALFD make_signal_reader of c"signalfd" (fd: c_int, set: *const libc::sigset_t, flags: c_int), |_, _| OF_SIGNALS;
    INOTIFY_INIT1 make_file_watcher_with of c"inotify_init1" (flags: c_int), file_watcher;
    FANOTIFY_INIT make_mount_watcher of c"fanotify_init" (flags: c_uint, of_files: c_uint), file_watcher;
}

extern "C-unwind" fn make_file_watcher(pc: u64) -> c_int {
    make_file_watcher_with(0, pc)
}

/// Functions that open a file, which may be made or emptied by that.
macro_rules! openers {
    ($($real:ident $function:ident of $name:literal ($($arg:ident: $ty:ty),*), $names:expr;)*) => {
        $(static $real: Real = Real::new($name);
        extern "C-unwind" fn $function($($arg: $ty,)* pc: u64) -> c_int {
            changes_files(pc);
            let _names = $names.begin(pc);
            if status::recording() && are_many() {
                release_edge(OF_OPENED_FIFOS, pc);
                may_signal(pc);
            }
            // SAFETY: forwards the caller's own arguments, in the registers in which a variadic function expects them.
            let fd = unsafe { call_real!($real, ($($ty),*) -> c_int, $($arg),*) };
            if fd >= 0 {
                made(fd, 0);
            }
            opened(fd, pc);
            fd
        })*
    };
}

openers! {
    OPEN open_file of c"open" (path: *const c_char, flags: c_int, mode: c_uint), names::opening_with(path, flags);
    OPENAT open_file_at of c"openat" (at: c_int, path: *const c_char, flags: c_int, mode: c_uint),
        names::opening_with(path, flags);
    CREAT create_file of c"creat" (path: *const c_char, mode: c_uint), names::changing(path);
}

static DUP: Real = Real::new(c"dup");

extern "C-unwind" fn duplicate(fd: c_int, pc: u64) -> c_int {
    uses(fd, pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    let result = unsafe { call_real!(DUP, (c_int) -> c_int, fd) };
    if result >= 0 {
        made_as(result, fd, channel(fd).unwrap_or(0));
    }
    result
}

static PIPE: Real = Real::new(c"pipe");
static PIPE2: Real = Real::new(c"pipe2");

/// The two ends of something new are written to the program's memory.
fn ends_written(ends: *const [c_int; 2], pc: u64) {
    if counts(pc) {
        write_range(ends as u64, size_of::<[c_int; 2]>() as u64, pc);
    }
}

/// Both ends of a pipe are new.
fn pipe_made(result: c_int, ends: *const [c_int; 2], pc: u64) -> c_int {
    if result == 0 {
        ends_written(ends, pc);
        // SAFETY: the real function has succeeded, so it has written both ends there.
        unsafe { *ends }.into_iter().for_each(|end| made(end, 0));
    }
    result
}

extern "C-unwind" fn make_pipe(ends: *mut [c_int; 2], pc: u64) -> c_int {
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    pipe_made(unsafe { call_real!(PIPE, (*mut [c_int; 2]) -> c_int, ends) }, ends, pc)
}

extern "C-unwind" fn make_pipe_with(ends: *mut [c_int; 2], flags: c_int, pc: u64) -> c_int {
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    pipe_made(unsafe { call_real!(PIPE2, (*mut [c_int; 2], c_int) -> c_int, ends, flags) }, ends, pc)
}

static DUP2: Real = Real::new(c"dup2");
static DUP3: Real = Real::new(c"dup3");

/// The descriptor `to` is closed if it is open, and then another name of `fd`.
fn duplicate_as(fd: c_int, to: c_int, pc: u64, real: impl FnOnce() -> c_int) -> c_int {
    if descriptor::is_ours(fd) || (descriptor::is_ours(to) && !descriptor::make_way(to)) {
        return no_descriptor();
    }
    let channel = channel(fd);
    uses(fd, pc);
    if fd != to && to >= 0 && channel.is_some() {
        uses(to, pc);
        closes(to, pc);
    }
    // Whoever finds that the number is a descriptor knows of this.
    gives(fd, pc);
    let result = real();
    if result >= 0 {
        made_as(to, fd, channel.unwrap_or(0));
        uses(to, pc);
    }
    result
}

extern "C-unwind" fn duplicate_to(fd: c_int, to: c_int, pc: u64) -> c_int {
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    duplicate_as(fd, to, pc, || unsafe { call_real!(DUP2, (c_int, c_int) -> c_int, fd, to) })
}

extern "C-unwind" fn duplicate_to_with(fd: c_int, to: c_int, flags: c_int, pc: u64) -> c_int {
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    duplicate_as(fd, to, pc, || unsafe { call_real!(DUP3, (c_int, c_int, c_int) -> c_int, fd, to, flags) })
}

static FCNTL: Real = Real::new(c"fcntl");

/// Commands of `fcntl` that the `libc` crate does not have.
const F_SETOWN: c_int = 8;
const F_GETOWN: c_int = 9;
const F_SETSIG: c_int = 10;
const F_GETSIG: c_int = 11;

/// `fcntl` takes a third argument with most commands, a number or a pointer; it is passed on whether it is there or not.
extern "C-unwind" fn control(fd: c_int, command: c_int, argument: u64, pc: u64) -> c_int {
    // SAFETY: forwards the caller's own arguments, in the registers in which a variadic function expects them.
    let real = || unsafe { call_real!(FCNTL, (c_int, c_int, u64) -> c_int, fd, command, argument) };
    let result = match command {
        libc::F_SETLK | libc::F_SETLKW | libc::F_OFD_SETLK | libc::F_OFD_SETLKW => {
            given::reads(argument as *const libc::flock, pc);
            around_file_lock(fd, pc, real)
        }
        libc::F_SETFL | libc::F_SETFD | libc::F_ADD_SEALS | libc::F_SETPIPE_SZ => {
            gives(fd, pc);
            real()
        }
        F_SETOWN | F_SETSIG | libc::F_SETLEASE | libc::F_NOTIFY => {
            ask_for_signals();
            real()
        }
        _ => real(),
    };
    match command {
        libc::F_GETLK | libc::F_OFD_GETLK => {
            learns(fd, pc);
            given::reads(argument as *const libc::flock, pc);
            given::writes(argument as *const libc::flock, pc);
        }
        libc::F_GETFL
        | libc::F_GETFD
        | libc::F_GET_SEALS
        | libc::F_GETPIPE_SZ
        | libc::F_GETLEASE
        | F_GETOWN
        | F_GETSIG => learns(fd, pc),
        _ => {}
    }
    if result >= 0 && matches!(command, libc::F_DUPFD | libc::F_DUPFD_CLOEXEC) {
        made_as(result, fd, channel(fd).unwrap_or(0));
    }
    result
}

static SOCKETPAIR: Real = Real::new(c"socketpair");

extern "C-unwind" fn make_pair(
    domain: c_int,
    kind: c_int,
    protocol: c_int,
    ends: *mut [c_int; 2],
    pc: u64,
) -> c_int {
    // SAFETY: forwards the caller's own arguments; if the real function succeeds, it has written both ends.
    unsafe {
        let result = call_real!(
            SOCKETPAIR,
            (c_int, c_int, c_int, *mut [c_int; 2]) -> c_int,
            domain, kind, protocol, ends
        );
        if result == 0 {
            ends_written(ends, pc);
            let channel = new_channel();
            for end in *ends {
                made(end, channel);
            }
        }
        result
    }
}

weak_entries! {
    "eventfd" => make_event, "rdx";
    "epoll_create" => make_epoll, "rsi";
    "epoll_create1" => make_epoll_with, "rsi";
    "accept" => accept_one, "rcx";
    "accept4" => accept_one_with, "r8";
    "dup" => duplicate, "rsi";
    "dup2" => duplicate_to, "rdx";
    "dup3" => duplicate_to_with, "rcx";
    "fcntl" => control, "rcx";
    "fcntl64" => control, "rcx";
    "socketpair" => make_pair, "r8";
}

// A program may have functions of its own by these names.
weak_entries! {
    "open" => open_file, "rcx";
    "open64" => open_file, "rcx";
    "openat" => open_file_at, "r8";
    "openat64" => open_file_at, "r8";
    "creat" => create_file, "rdx";
    "creat64" => create_file, "rdx";
    "socket" => make_socket, "rcx";
    "memfd_create" => make_memory_file, "rdx";
    "timerfd_create" => make_timer, "rdx";
    "signalfd" => make_signal_reader, "rcx";
    "inotify_init" => make_file_watcher, "rdi";
    "inotify_init1" => make_file_watcher_with, "rsi";
    "fanotify_init" => make_mount_watcher, "rdx";
    "pipe" => make_pipe, "rsi";
    "pipe2" => make_pipe_with, "rdx";
}
