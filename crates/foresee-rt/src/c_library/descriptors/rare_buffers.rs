//! The bytes that go through descriptors by functions that few programs call: queues of messages, many messages at once, pages, timers.

use foresee_format::Unseen;
use libc::{c_char, c_int, c_uint, iovec, itimerspec, mmsghdr, off_t, size_t, ssize_t, timespec};

use super::buffers::{described, emptied_parts, filled_parts, parts};
use super::transfer::{
    give_pages, read_parts_at_with, receive_from_queue, receive_from_queue_until, receive_messages,
    send_messages, send_to_queue, send_to_queue_until, set_timer, write_parts_at_with,
};
use crate::c_library::given;
use crate::entry_points::weak_entries;

/// A message came, with its priority.
fn received(to: *const c_char, priority: *const c_uint, size: ssize_t, pc: u64) -> ssize_t {
    if let Ok(size) = usize::try_from(size) {
        given::writes_bytes(to, size, pc);
        given::writes(priority, pc);
    }
    size
}

extern "C-unwind" fn receive(
    queue: c_int,
    to: *mut c_char,
    size: size_t,
    priority: *mut c_uint,
    pc: u64,
) -> ssize_t {
    received(to, priority, receive_from_queue(queue, to, size, priority, pc), pc)
}

extern "C-unwind" fn receive_until(
    queue: c_int,
    to: *mut c_char,
    size: size_t,
    priority: *mut c_uint,
    until: *const timespec,
    pc: u64,
) -> ssize_t {
    given::reads(until, pc);
    received(to, priority, receive_from_queue_until(queue, to, size, priority, until, pc), pc)
}

extern "C-unwind" fn send(
    queue: c_int,
    from: *const c_char,
    size: size_t,
    priority: c_uint,
    pc: u64,
) -> c_int {
    given::reads_bytes(from, size, pc);
    send_to_queue(queue, from, size, priority, pc)
}

extern "C-unwind" fn send_until(
    queue: c_int,
    from: *const c_char,
    size: size_t,
    priority: c_uint,
    until: *const timespec,
    pc: u64,
) -> c_int {
    given::reads(until, pc);
    given::reads_bytes(from, size, pc);
    send_to_queue_until(queue, from, size, priority, until, pc)
}

extern "C-unwind" fn read_with(
    fd: c_int,
    to: *const iovec,
    count: c_int,
    at: off_t,
    flags: c_int,
    pc: u64,
) -> ssize_t {
    let buffer = parts(to, usize::try_from(count).unwrap_or(0));
    described(buffer, pc);
    filled_parts(buffer, read_parts_at_with(fd, to, count, at, flags, pc), pc)
}

extern "C-unwind" fn write_with(
    fd: c_int,
    from: *const iovec,
    count: c_int,
    at: off_t,
    flags: c_int,
    pc: u64,
) -> ssize_t {
    emptied_parts(parts(from, usize::try_from(count).unwrap_or(0)), pc);
    write_parts_at_with(fd, from, count, at, flags, pc)
}

extern "C-unwind" fn give_pages_from(
    fd: c_int,
    from: *const iovec,
    count: size_t,
    flags: c_uint,
    pc: u64,
) -> ssize_t {
    emptied_parts(parts(from, count), pc);
    give_pages(fd, from, count, flags, pc)
}

/// What many messages consist of is not followed.
extern "C-unwind" fn receive_many(
    fd: c_int,
    messages: *mut mmsghdr,
    count: c_uint,
    flags: c_int,
    timeout: *mut timespec,
    pc: u64,
) -> c_int {
    given::reads(timeout, pc);
    let result = receive_messages(fd, messages, count, flags, timeout, pc);
    given::unseen(Unseen::Messages, pc);
    result
}

extern "C-unwind" fn send_many(
    fd: c_int,
    messages: *mut mmsghdr,
    count: c_uint,
    flags: c_int,
    pc: u64,
) -> c_int {
    let result = send_messages(fd, messages, count, flags, pc);
    given::unseen(Unseen::Messages, pc);
    result
}

extern "C-unwind" fn set_timer_to(
    fd: c_int,
    flags: c_int,
    new: *const itimerspec,
    old: *mut itimerspec,
    pc: u64,
) -> c_int {
    given::reads(new, pc);
    let result = set_timer(fd, flags, new, old, pc);
    if result == 0 {
        given::writes(old, pc);
    }
    result
}

// A program may have functions of its own by these names.
weak_entries! {
    "mq_send" => send, "r8";
    "mq_timedsend" => send_until, "r9";
    "mq_receive" => receive, "r8";
    "mq_timedreceive" => receive_until, "r9";
    "preadv2" => read_with, "r9";
    "preadv64v2" => read_with, "r9";
    "pwritev2" => write_with, "r9";
    "pwritev64v2" => write_with, "r9";
    "vmsplice" => give_pages_from, "r8";
    "recvmmsg" => receive_many, "r9";
    "sendmmsg" => send_many, "r8";
    "timerfd_settime" => set_timer_to, "r8";
}
