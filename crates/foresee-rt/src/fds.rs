//! The functions of the C library that read, write, make and close descriptors. What they mean is in [`crate::channels`].

use libc::{
    c_char, c_int, c_long, c_uint, c_void, iovec, mmsghdr, msghdr, off_t, size_t, sockaddr, socklen_t,
    ssize_t,
};

use crate::atomics::acquire_edge;
use crate::channels::{OF_SIGNALS, OF_SOCKETS, channel, closes, closes_all, gives, new_channel, set_channel};
use crate::entry::{entries, entries_of_six, weak_entries};
use crate::ipc::around_file_lock;
use crate::memory::counts;
use crate::rawfile;
use crate::real::{Real, call_real};
use crate::tsan::{read_range, write_range};

/// Functions `C name (arguments after the descriptor)`, after which the calling thread knows what was given.
macro_rules! takers {
    ($($real:ident $function:ident of $name:literal ($($arg:ident: $ty:ty),*) -> $result:ty, if $success:expr;)*) => {
        $(static $real: Real = Real::new($name);
        extern "C-unwind" fn $function(fd: c_int, $($arg: $ty,)* pc: u64) -> $result {
            // Before the call: during it, the descriptor may be closed and its number be another's.
            let channel = channel(fd);
            // SAFETY: the arguments are the caller's own.
            let result = unsafe { call_real!($real, (c_int $(, $ty)*) -> $result, fd $(, $arg)*) };
            let success: fn($result) -> bool = $success;
            if let Some(channel) = channel && success(result) {
                acquire_edge(channel, pc);
            }
            result
        })*
    };
}

/// Functions that give to a descriptor.
macro_rules! givers {
    ($($real:ident $function:ident of $name:literal ($($arg:ident: $ty:ty),*) -> $result:ty;)*) => {
        $(static $real: Real = Real::new($name);
        extern "C-unwind" fn $function(fd: c_int, $($arg: $ty,)* pc: u64) -> $result {
            gives(fd, pc);
            // SAFETY: the arguments are the caller's own.
            unsafe { call_real!($real, (c_int $(, $ty)*) -> $result, fd $(, $arg)*) }
        })*
    };
}

takers! {
    READ read_bytes of c"read" (to: *mut c_void, size: size_t) -> ssize_t, if |n| n >= 0;
    PREAD read_bytes_at of c"pread" (to: *mut c_void, size: size_t, at: off_t) -> ssize_t, if |n| n >= 0;
    READV read_parts of c"readv" (parts: *const iovec, count: c_int) -> ssize_t, if |n| n >= 0;
    RECV receive_bytes of c"recv" (to: *mut c_void, size: size_t, flags: c_int) -> ssize_t, if |n| n >= 0;
    RECVFROM receive_from of c"recvfrom" (
        to: *mut c_void, size: size_t, flags: c_int, address: *mut sockaddr, len: *mut socklen_t
    ) -> ssize_t, if |n| n >= 0;
    RECVMSG receive_message of c"recvmsg" (message: *mut msghdr, flags: c_int) -> ssize_t, if |n| n >= 0;
    RECVMMSG receive_messages of c"recvmmsg" (
        messages: *mut mmsghdr, count: c_uint, flags: c_int, timeout: *mut libc::timespec
    ) -> c_int, if |n| n > 0;
    EVENTFD_READ read_event of c"eventfd_read" (value: *mut u64) -> c_int, if |failed| failed == 0;
    MQ_RECEIVE receive_from_queue of c"mq_receive" (
        to: *mut c_char, size: size_t, priority: *mut c_uint
    ) -> ssize_t, if |n| n >= 0;
    MQ_TIMEDRECEIVE receive_from_queue_until of c"mq_timedreceive" (
        to: *mut c_char, size: size_t, priority: *mut c_uint, until: *const libc::timespec
    ) -> ssize_t, if |n| n >= 0;
    EPOLL_WAIT wait_for_events of c"epoll_wait" (
        events: *mut c_void, count: c_int, timeout: c_int
    ) -> c_int, if |n| n > 0;
    EPOLL_PWAIT wait_for_events_masked of c"epoll_pwait" (
        events: *mut c_void, count: c_int, timeout: c_int, mask: *const c_void
    ) -> c_int, if |n| n > 0;
}

givers! {
    WRITE write_bytes of c"write" (from: *const c_void, size: size_t) -> ssize_t;
    PWRITE write_bytes_at of c"pwrite" (from: *const c_void, size: size_t, at: off_t) -> ssize_t;
    WRITEV write_parts of c"writev" (parts: *const iovec, count: c_int) -> ssize_t;
    SEND send_bytes of c"send" (from: *const c_void, size: size_t, flags: c_int) -> ssize_t;
    SENDTO send_to of c"sendto" (
        from: *const c_void, size: size_t, flags: c_int, address: *const sockaddr, len: socklen_t
    ) -> ssize_t;
    SENDMSG send_message of c"sendmsg" (message: *const msghdr, flags: c_int) -> ssize_t;
    SENDMMSG send_messages of c"sendmmsg" (messages: *mut mmsghdr, count: c_uint, flags: c_int) -> c_int;
    SHUTDOWN shut_down of c"shutdown" (how: c_int) -> c_int;
    EVENTFD_WRITE write_event of c"eventfd_write" (value: u64) -> c_int;
    EPOLL_CTL change_interest of c"epoll_ctl" (operation: c_int, of: c_int, event: *mut c_void) -> c_int;
    CONNECT connect_to of c"connect" (address: *const sockaddr, len: socklen_t) -> c_int;
    MQ_SEND send_to_queue of c"mq_send" (from: *const c_char, size: size_t, priority: c_uint) -> c_int;
    MQ_TIMEDSEND send_to_queue_until of c"mq_timedsend" (
        from: *const c_char, size: size_t, priority: c_uint, until: *const libc::timespec
    ) -> c_int;
}

/// The bytes themselves are accesses, too.
extern "C-unwind" fn read_into(fd: c_int, to: *mut c_void, size: size_t, pc: u64) -> ssize_t {
    let result = read_bytes(fd, to, size, pc);
    if result > 0 && counts(pc) {
        write_range(to as u64, result as u64, pc);
    }
    result
}

extern "C-unwind" fn receive_into(
    fd: c_int,
    to: *mut c_void,
    size: size_t,
    flags: c_int,
    pc: u64,
) -> ssize_t {
    let result = receive_bytes(fd, to, size, flags, pc);
    if result > 0 && counts(pc) {
        write_range(to as u64, (result as u64).min(size as u64), pc);
    }
    result
}

extern "C-unwind" fn write_from(fd: c_int, from: *const c_void, size: size_t, pc: u64) -> ssize_t {
    if counts(pc) {
        read_range(from as u64, size as u64, pc);
    }
    write_bytes(fd, from, size, pc)
}

extern "C-unwind" fn send_from(
    fd: c_int,
    from: *const c_void,
    size: size_t,
    flags: c_int,
    pc: u64,
) -> ssize_t {
    if counts(pc) {
        read_range(from as u64, size as u64, pc);
    }
    send_bytes(fd, from, size, flags, pc)
}

/// Functions that make a descriptor from these arguments; `what of it` tells which channel it gets.
macro_rules! makers {
    ($($real:ident $function:ident of $name:literal ($($arg:ident: $ty:ty),*), $channel:expr;)*) => {
        $(static $real: Real = Real::new($name);
        extern "C-unwind" fn $function($($arg: $ty,)* pc: u64) -> c_int {
            // SAFETY: the arguments are the caller's own.
            let fd = unsafe { call_real!($real, ($($ty),*) -> c_int, $($arg),*) };
            let channel: fn(c_int, u64) -> u64 = $channel;
            if fd >= 0 {
                set_channel(fd, channel(made_from!($($arg)*), pc));
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

/// What a new descriptor is, is asked for when it is used first. Whatever had its number before may have been closed behind our
/// back, by a system call or inside of the C library.
fn unknown(_from: c_int, _pc: u64) -> u64 {
    0
}

fn same(fd: c_int, _pc: u64) -> u64 {
    channel(fd).unwrap_or(0)
}

makers! {
    EVENTFD make_event of c"eventfd" (initial: c_uint, flags: c_int), |_, _| new_channel();
    EPOLL_CREATE make_epoll of c"epoll_create" (size: c_int), |_, _| new_channel();
    EPOLL_CREATE1 make_epoll_with of c"epoll_create1" (flags: c_int), |_, _| new_channel();
    ACCEPT accept_one of c"accept" (fd: c_int, address: *mut sockaddr, len: *mut socklen_t), accepted;
    ACCEPT4 accept_one_with of c"accept4" (
        fd: c_int, address: *mut sockaddr, len: *mut socklen_t, flags: c_int
    ), accepted;
    DUP duplicate of c"dup" (fd: c_int), same;
    OPEN open_file of c"open" (path: *const c_char, flags: c_int, mode: c_uint), unknown;
    OPENAT open_file_at of c"openat" (at: c_int, path: *const c_char, flags: c_int, mode: c_uint), unknown;
    CREAT create_file of c"creat" (path: *const c_char, mode: c_uint), unknown;
    SOCKET make_socket of c"socket" (domain: c_int, kind: c_int, protocol: c_int), unknown;
    MEMFD make_memory_file of c"memfd_create" (name: *const c_char, flags: c_uint), unknown;
    TIMERFD make_timer of c"timerfd_create" (clock: c_int, flags: c_int), unknown;
    SIGNALFD make_signal_reader of c"signalfd" (fd: c_int, set: *const c_void, flags: c_int), |_, _| OF_SIGNALS;
}

static PIPE: Real = Real::new(c"pipe");
static PIPE2: Real = Real::new(c"pipe2");

/// Both ends of a pipe are new.
fn pipe_made(result: c_int, ends: *const [c_int; 2]) -> c_int {
    if result == 0 {
        // SAFETY: with success, both ends are there.
        unsafe { *ends }.into_iter().for_each(|end| set_channel(end, 0));
    }
    result
}

extern "C-unwind" fn make_pipe(ends: *mut [c_int; 2], _pc: u64) -> c_int {
    // SAFETY: the arguments are the caller's own.
    pipe_made(unsafe { call_real!(PIPE, (*mut [c_int; 2]) -> c_int, ends) }, ends)
}

extern "C-unwind" fn make_pipe_with(ends: *mut [c_int; 2], flags: c_int, _pc: u64) -> c_int {
    // SAFETY: the arguments are the caller's own.
    pipe_made(unsafe { call_real!(PIPE2, (*mut [c_int; 2], c_int) -> c_int, ends, flags) }, ends)
}

static DUP2: Real = Real::new(c"dup2");
static DUP3: Real = Real::new(c"dup3");

/// The descriptor `to` is closed if it is open, and then another name of `fd`.
fn duplicate_as(fd: c_int, to: c_int, pc: u64, real: impl FnOnce() -> c_int) -> c_int {
    if to == rawfile::descriptor() && to >= 0 {
        return no_descriptor();
    }
    let channel = channel(fd);
    if fd != to && to >= 0 && channel.is_some() {
        closes(to, pc);
    }
    let result = real();
    if result >= 0 {
        set_channel(to, channel.unwrap_or(0));
    }
    result
}

extern "C-unwind" fn duplicate_to(fd: c_int, to: c_int, pc: u64) -> c_int {
    // SAFETY: the arguments are the caller's own.
    duplicate_as(fd, to, pc, || unsafe { call_real!(DUP2, (c_int, c_int) -> c_int, fd, to) })
}

extern "C-unwind" fn duplicate_to_with(fd: c_int, to: c_int, flags: c_int, pc: u64) -> c_int {
    // SAFETY: the arguments are the caller's own.
    duplicate_as(fd, to, pc, || unsafe { call_real!(DUP3, (c_int, c_int, c_int) -> c_int, fd, to, flags) })
}

static FCNTL: Real = Real::new(c"fcntl");

/// `fcntl` takes a third argument with most commands, a number or a pointer; it is passed on whether it is there or not.
extern "C-unwind" fn control(fd: c_int, command: c_int, argument: u64, pc: u64) -> c_int {
    // SAFETY: the arguments are the caller's own, in the registers in which a variadic function expects them.
    let real = || unsafe { call_real!(FCNTL, (c_int, c_int, u64) -> c_int, fd, command, argument) };
    let result = match command {
        libc::F_SETLK | libc::F_SETLKW | libc::F_OFD_SETLK | libc::F_OFD_SETLKW => {
            around_file_lock(fd, pc, real)
        }
        _ => real(),
    };
    if result >= 0 && matches!(command, libc::F_DUPFD | libc::F_DUPFD_CLOEXEC) {
        set_channel(result, same(fd, pc));
    }
    result
}

static SOCKETPAIR: Real = Real::new(c"socketpair");

extern "C-unwind" fn make_pair(
    domain: c_int,
    kind: c_int,
    protocol: c_int,
    ends: *mut [c_int; 2],
    _pc: u64,
) -> c_int {
    // SAFETY: the arguments are the caller's own; with success, both ends are there.
    unsafe {
        let result = call_real!(
            SOCKETPAIR,
            (c_int, c_int, c_int, *mut [c_int; 2]) -> c_int,
            domain, kind, protocol, ends
        );
        if result == 0 {
            let channel = new_channel();
            for end in *ends {
                set_channel(end, channel);
            }
        }
        result
    }
}

static CLOSE: Real = Real::new(c"close");
static FCLOSE: Real = Real::new(c"fclose");

/// The trace's own descriptor is not there for the program: one that closes whatever is open must not end the trace.
fn no_descriptor() -> c_int {
    // SAFETY: `errno` is this thread's own.
    unsafe { *libc::__errno_location() = libc::EBADF };
    -1
}

extern "C-unwind" fn close_descriptor(fd: c_int, pc: u64) -> c_int {
    if fd >= 0 && fd == rawfile::descriptor() {
        return no_descriptor();
    }
    closes(fd, pc);
    // SAFETY: the arguments are the caller's own.
    unsafe { call_real!(CLOSE, (c_int) -> c_int, fd) }
}

/// What programs that close by a system call of their own tell sanitizers (`sanitizer/linux_syscall_hooks.h`).
extern "C-unwind" fn before_system_call_close(fd: c_long, pc: u64) {
    closes(fd as c_int, pc);
}

extern "C-unwind" fn after_system_call_close(_result: c_long, _fd: c_long, _pc: u64) {}

/// Closes all from `first` to `last` but the trace's own.
extern "C-unwind" fn close_many(first: c_uint, last: c_uint, flags: c_int, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"close_range");
    if flags & libc::CLOSE_RANGE_CLOEXEC as c_int == 0 {
        closes_all(first, last, pc);
    }
    let ours = rawfile::descriptor() as c_uint;
    // SAFETY: the arguments are the caller's own, or parts of its range.
    let close =
        |first, last| unsafe { call_real!(REAL, (c_uint, c_uint, c_int) -> c_int, first, last, flags) };
    if rawfile::descriptor() < 0 || !(first..=last).contains(&ours) {
        return close(first, last);
    }
    let below = if first < ours { close(first, ours - 1) } else { 0 };
    let above = if last > ours { close(ours + 1, last) } else { 0 };
    below.min(above)
}

extern "C-unwind" fn close_from(first: c_int, pc: u64) {
    close_many(first.max(0) as c_uint, c_uint::MAX, 0, pc);
}

extern "C-unwind" fn close_stream(stream: *mut libc::FILE, pc: u64) -> c_int {
    // SAFETY: the stream is the caller's own.
    unsafe {
        if !stream.is_null() && rawfile::recording() {
            let errno = *libc::__errno_location();
            closes(libc::fileno(stream), pc);
            *libc::__errno_location() = errno;
        }
        call_real!(FCLOSE, (*mut libc::FILE) -> c_int, stream)
    }
}

/// Finds the functions that signal handlers and the children of forks may call: looking for them then is too late.
pub(crate) fn start() {
    for real in
        [&READ, &READV, &WRITE, &WRITEV, &SEND, &RECV, &CLOSE, &DUP, &DUP2, &FCNTL, &CONNECT, &SHUTDOWN]
            .into_iter()
            .chain([&OPEN, &OPENAT, &CREAT, &SOCKET, &PIPE, &PIPE2])
    {
        real.address();
    }
}

entries! {
    read => read_into, "rcx";
    pread => read_bytes_at, "r8";
    pread64 => read_bytes_at, "r8";
    readv => read_parts, "rcx";
    recv => receive_into, "r8";
    recvmsg => receive_message, "rcx";
    recvmmsg => receive_messages, "r9";
    eventfd_read => read_event, "rdx";
    epoll_wait => wait_for_events, "r8";
    epoll_pwait => wait_for_events_masked, "r9";
    write => write_from, "rcx";
    pwrite => write_bytes_at, "r8";
    pwrite64 => write_bytes_at, "r8";
    writev => write_parts, "rcx";
    send => send_from, "r8";
    sendmsg => send_message, "rcx";
    sendmmsg => send_messages, "r8";
    shutdown => shut_down, "rdx";
    eventfd_write => write_event, "rdx";
    epoll_ctl => change_interest, "r8";
    connect => connect_to, "rcx";
    eventfd => make_event, "rdx";
    epoll_create => make_epoll, "rsi";
    epoll_create1 => make_epoll_with, "rsi";
    accept => accept_one, "rcx";
    accept4 => accept_one_with, "r8";
    dup => duplicate, "rsi";
    dup2 => duplicate_to, "rdx";
    dup3 => duplicate_to_with, "rcx";
    fcntl => control, "rcx";
    fcntl64 => control, "rcx";
    socketpair => make_pair, "r8";
    close => close_descriptor, "rsi";
    close_range => close_many, "rcx";
    closefrom => close_from, "rsi";
    fclose => close_stream, "rsi";
}

entries_of_six! {
    recvfrom => receive_from;
    sendto => send_to;
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
    "mq_send" => send_to_queue, "r8";
    "mq_timedsend" => send_to_queue_until, "r9";
    "mq_receive" => receive_from_queue, "r8";
    "mq_timedreceive" => receive_from_queue_until, "r9";
    "pipe" => make_pipe, "rsi";
    "pipe2" => make_pipe_with, "rdx";
    "__sanitizer_syscall_pre_impl_close" => before_system_call_close, "rsi";
    "__sanitizer_syscall_post_impl_close" => after_system_call_close, "rdx";
}
