//! Functions that read from descriptors and write to them.

use libc::{
    c_char, c_int, c_uint, c_void, iovec, mmsghdr, msghdr, off_t, size_t, sockaddr, socklen_t, ssize_t,
};

use crate::c_library::channels::{channel, failed_by_others, gives, gives_by_stream, takes};
use crate::c_library::descriptor_lives::uses;
use crate::c_library::given;
use crate::c_library::room::{Giver, makes_room};
use crate::entry_points::weak_entries;
use crate::real_functions::{Real, call_real};

/// Functions `C name (arguments after the descriptor)`, after which the calling thread knows what was given.
macro_rules! takers {
    ($($real:ident $function:ident of $name:literal ($($arg:ident: $ty:ty),*) -> $result:ty, if $success:expr;)*) => {
        $(static $real: Real = Real::new($name);
        pub(super) extern "C-unwind" fn $function(fd: c_int, $($arg: $ty,)* pc: u64) -> $result {
            uses(fd, pc);
            // Before the call: during it, the descriptor may be closed and its number be another's.
            let channel = channel(fd);
            if let Some(channel) = channel {
                makes_room(channel, pc);
            }
            // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
            let result = unsafe { call_real!($real, (c_int $(, $ty)*) -> $result, fd $(, $arg)*) };
            let success: fn($result) -> bool = $success;
            if let Some(channel) = channel && (success(result) || failed_by_others()) {
                takes(fd, channel, pc);
            }
            result
        })*
    };
}

/// Functions that give to a descriptor.
macro_rules! givers {
    ($($real:ident $function:ident of $name:literal ($($arg:ident: $ty:ty),*) -> $result:ty;)*) => {
        $(static $real: Real = Real::new($name);
        pub(super) extern "C-unwind" fn $function(fd: c_int, $($arg: $ty,)* pc: u64) -> $result {
            uses(fd, pc);
            gives_by_stream(fd, pc);
            let channel = channel(fd);
            let giver = channel.and_then(|channel| Giver::of(fd, channel));
            // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
            let result = unsafe { call_real!($real, (c_int $(, $ty)*) -> $result, fd $(, $arg)*) };
            if let Some(giver) = giver && result >= 0 {
                giver.gave(result as u64, pc);
            }
            // It fails because the other end is closed, or not there yet.
            if let Some(channel) = channel && result < 0 && failed_by_others() {
                takes(fd, channel, pc);
            }
            result
        })*
    };
}

takers! {
    READ read_bytes of c"read" (to: *mut c_void, size: size_t) -> ssize_t, if |n| n >= 0;
    PREAD read_bytes_at of c"pread" (to: *mut c_void, size: size_t, at: off_t) -> ssize_t, if |n| n >= 0;
    READV read_parts of c"readv" (parts: *const iovec, count: c_int) -> ssize_t, if |n| n >= 0;
    PREADV read_parts_at of c"preadv" (parts: *const iovec, count: c_int, at: off_t) -> ssize_t, if |n| n >= 0;
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
    PREADV2 read_parts_at_with of c"preadv2" (
        parts: *const iovec, count: c_int, at: off_t, flags: c_int
    ) -> ssize_t, if |n| n >= 0;
}

givers! {
    WRITE write_bytes of c"write" (from: *const c_void, size: size_t) -> ssize_t;
    PWRITE write_bytes_at of c"pwrite" (from: *const c_void, size: size_t, at: off_t) -> ssize_t;
    WRITEV write_parts of c"writev" (parts: *const iovec, count: c_int) -> ssize_t;
    PWRITEV write_parts_at of c"pwritev" (parts: *const iovec, count: c_int, at: off_t) -> ssize_t;
    SEND send_bytes of c"send" (from: *const c_void, size: size_t, flags: c_int) -> ssize_t;
    SENDTO send_to of c"sendto" (
        from: *const c_void, size: size_t, flags: c_int, address: *const sockaddr, len: socklen_t
    ) -> ssize_t;
    SENDMSG send_message of c"sendmsg" (message: *const msghdr, flags: c_int) -> ssize_t;
    SENDMMSG send_messages of c"sendmmsg" (messages: *mut mmsghdr, count: c_uint, flags: c_int) -> c_int;
    SHUTDOWN shut_down of c"shutdown" (how: c_int) -> c_int;
    EVENTFD_WRITE write_event of c"eventfd_write" (value: u64) -> c_int;
    TIMERFD_SETTIME set_timer of c"timerfd_settime" (
        flags: c_int, new: *const libc::itimerspec, old: *mut libc::itimerspec
    ) -> c_int;
    VMSPLICE give_pages of c"vmsplice" (parts: *const iovec, count: size_t, flags: c_uint) -> ssize_t;
    PWRITEV2 write_parts_at_with of c"pwritev2" (
        parts: *const iovec, count: c_int, at: off_t, flags: c_int
    ) -> ssize_t;
    FTRUNCATE set_length of c"ftruncate" (len: off_t) -> c_int;
    LISTEN begin_to_listen of c"listen" (waiting: c_int) -> c_int;
    MQ_SEND send_to_queue of c"mq_send" (from: *const c_char, size: size_t, priority: c_uint) -> c_int;
    MQ_TIMEDSEND send_to_queue_until of c"mq_timedsend" (
        from: *const c_char, size: size_t, priority: c_uint, until: *const libc::timespec
    ) -> c_int;
}

/// Whoever is connected to has begun to listen, and is given a connection.
extern "C-unwind" fn connect_to(fd: c_int, address: *const sockaddr, len: socklen_t, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"connect");
    given::reads_bytes(address, len as usize, pc);
    uses(fd, pc);
    gives(fd, pc);
    let channel = channel(fd);
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    let result = unsafe { call_real!(REAL, (c_int, *const sockaddr, socklen_t) -> c_int, fd, address, len) };
    if let Some(channel) = channel {
        takes(fd, channel, pc);
    }
    result
}

weak_entries! {
    "shutdown" => shut_down, "rdx";
    "connect" => connect_to, "rcx";
}

// A program may have functions of its own by these names.
weak_entries! {
    "listen" => begin_to_listen, "rdx";
    "ftruncate" => set_length, "rdx";
    "ftruncate64" => set_length, "rdx";
}
