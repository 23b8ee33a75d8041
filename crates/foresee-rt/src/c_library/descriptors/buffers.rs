//! The bytes that go through descriptors: what is written from is read, and what is read into is written, as far as the result says.

use libc::{c_int, c_void, iovec, msghdr, off_t, size_t, sockaddr, socklen_t, ssize_t};

use super::transfer::{
    read_bytes, read_bytes_at, read_event, read_parts, read_parts_at, receive_bytes, receive_from,
    receive_message, send_bytes, send_message, send_to, write_bytes, write_bytes_at, write_event,
    write_parts, write_parts_at,
};
use crate::c_library::given::reads_bytes;
use crate::c_library::room::{counts_up, counts_up_by};
use crate::entry_points::{weak_entries, weak_entries_of_six};
use crate::readable;
use crate::recorder::accesses::{counts, write_range};
use crate::recorder::status;

/// So many bytes came into a buffer; a message may have been longer than it.
fn filled(to: *mut c_void, size: size_t, result: ssize_t, pc: u64) -> ssize_t {
    if result > 0 && counts(pc) {
        write_range(to as u64, (result as u64).min(size as u64), pc);
    }
    result
}

/// The parts of a buffer that the program describes; none if the description makes no sense, or nothing is recorded.
pub(super) fn parts<'a>(parts: *const iovec, count: usize) -> &'a [iovec] {
    /// As many as the kernel takes.
    const MOST: usize = 1024;
    let is_there = || readable::is_there(parts, count * size_of::<iovec>());
    if parts.is_null() || !parts.is_aligned() || count > MOST || !status::recording() || !is_there() {
        return &[];
    }
    // SAFETY: the program passes so many descriptions to a function that reads them, and does not change them meanwhile.
    unsafe { std::slice::from_raw_parts(parts, count) }
}

/// So many bytes came into the parts of a buffer, one after the other.
pub(super) fn filled_parts(to: &[iovec], result: ssize_t, pc: u64) -> ssize_t {
    let mut left = result.max(0) as usize;
    for part in to {
        let size = part.iov_len.min(left);
        filled(part.iov_base, size, size as ssize_t, pc);
        left -= size;
    }
    result
}

/// The descriptions of the parts are read in any case.
pub(super) fn described(of: &[iovec], pc: u64) {
    reads_bytes(of.as_ptr(), size_of_val(of), pc);
}

pub(super) fn emptied_parts(from: &[iovec], pc: u64) {
    described(from, pc);
    from.iter().for_each(|part| reads_bytes(part.iov_base, part.iov_len, pc));
}

/// The parts that a message describes.
fn parts_of<'a>(message: *const msghdr) -> &'a [iovec] {
    let is_there = || message.is_aligned() && readable::is_there(message, size_of::<msghdr>());
    if message.is_null() || !status::recording() || !is_there() {
        return &[];
    }
    // SAFETY: the program passes a description of a message to a function that reads it, and it is there.
    let message = unsafe { &*message };
    parts(message.msg_iov, message.msg_iovlen)
}

fn described_message(message: *const msghdr, pc: u64) {
    if !message.is_null() {
        reads_bytes(message, size_of::<msghdr>(), pc);
        described(parts_of(message), pc);
    }
}

extern "C-unwind" fn read_into(fd: c_int, to: *mut c_void, size: size_t, pc: u64) -> ssize_t {
    filled(to, size, read_bytes(fd, to, size, pc), pc)
}

extern "C-unwind" fn read_into_at(fd: c_int, to: *mut c_void, size: size_t, at: off_t, pc: u64) -> ssize_t {
    filled(to, size, read_bytes_at(fd, to, size, at, pc), pc)
}

extern "C-unwind" fn receive_into(
    fd: c_int,
    to: *mut c_void,
    size: size_t,
    flags: c_int,
    pc: u64,
) -> ssize_t {
    filled(to, size, receive_bytes(fd, to, size, flags, pc), pc)
}

extern "C-unwind" fn receive_into_from(
    fd: c_int,
    to: *mut c_void,
    size: size_t,
    flags: c_int,
    address: *mut sockaddr,
    len: *mut socklen_t,
    pc: u64,
) -> ssize_t {
    // SAFETY: the program passes the address of a number, or null; the real function reads it as well.
    let room = if len.is_null() || address.is_null() { None } else { Some(unsafe { *len }) };
    let result = filled(to, size, receive_from(fd, to, size, flags, address, len, pc), pc);
    if let Some(room) = room
        && result >= 0
        && counts(pc)
    {
        // SAFETY: as above; the call has written how long the address is.
        write_range(address as u64, unsafe { *len }.min(room).into(), pc);
        write_range(len as u64, size_of::<socklen_t>() as u64, pc);
    }
    result
}

extern "C-unwind" fn read_into_parts(fd: c_int, to: *const iovec, count: c_int, pc: u64) -> ssize_t {
    let buffer = parts(to, usize::try_from(count).unwrap_or(0));
    described(buffer, pc);
    filled_parts(buffer, read_parts(fd, to, count, pc), pc)
}

extern "C-unwind" fn read_into_parts_at(
    fd: c_int,
    to: *const iovec,
    count: c_int,
    at: off_t,
    pc: u64,
) -> ssize_t {
    let buffer = parts(to, usize::try_from(count).unwrap_or(0));
    described(buffer, pc);
    filled_parts(buffer, read_parts_at(fd, to, count, at, pc), pc)
}

extern "C-unwind" fn receive_into_parts(fd: c_int, message: *mut msghdr, flags: c_int, pc: u64) -> ssize_t {
    described_message(message, pc);
    let result = filled_parts(parts_of(message), receive_message(fd, message, flags, pc), pc);
    if result >= 0 && !message.is_null() && counts(pc) {
        // SAFETY: the call has succeeded, so there is a description, which it has updated.
        let updated = unsafe { &*message };
        write_range(
            updated.msg_name as u64,
            if updated.msg_name.is_null() { 0 } else { updated.msg_namelen.into() },
            pc,
        );
        write_range(updated.msg_control as u64, updated.msg_controllen as u64, pc);
        let fields = [
            (&raw const updated.msg_namelen as u64, size_of_val(&updated.msg_namelen)),
            (&raw const updated.msg_controllen as u64, size_of_val(&updated.msg_controllen)),
            (&raw const updated.msg_flags as u64, size_of_val(&updated.msg_flags)),
        ];
        fields.into_iter().for_each(|(at, size)| write_range(at, size as u64, pc));
    }
    result
}

extern "C-unwind" fn read_event_into(fd: c_int, value: *mut u64, pc: u64) -> c_int {
    let failed = read_event(fd, value, pc);
    if failed == 0 {
        filled(value.cast(), size_of::<u64>(), size_of::<u64>() as ssize_t, pc);
    }
    failed
}

extern "C-unwind" fn write_from(fd: c_int, from: *const c_void, size: size_t, pc: u64) -> ssize_t {
    reads_bytes(from, size, pc);
    counts_up_by(fd, from, size);
    write_bytes(fd, from, size, pc)
}

extern "C-unwind" fn write_event_from(fd: c_int, value: u64, pc: u64) -> c_int {
    counts_up(fd, value);
    write_event(fd, value, pc)
}

extern "C-unwind" fn write_from_at(
    fd: c_int,
    from: *const c_void,
    size: size_t,
    at: off_t,
    pc: u64,
) -> ssize_t {
    reads_bytes(from, size, pc);
    write_bytes_at(fd, from, size, at, pc)
}

extern "C-unwind" fn send_from(
    fd: c_int,
    from: *const c_void,
    size: size_t,
    flags: c_int,
    pc: u64,
) -> ssize_t {
    reads_bytes(from, size, pc);
    send_bytes(fd, from, size, flags, pc)
}

extern "C-unwind" fn send_from_to(
    fd: c_int,
    from: *const c_void,
    size: size_t,
    flags: c_int,
    address: *const sockaddr,
    len: socklen_t,
    pc: u64,
) -> ssize_t {
    reads_bytes(from, size, pc);
    reads_bytes(address, len as usize, pc);
    send_to(fd, from, size, flags, address, len, pc)
}

extern "C-unwind" fn write_from_parts(fd: c_int, from: *const iovec, count: c_int, pc: u64) -> ssize_t {
    emptied_parts(parts(from, usize::try_from(count).unwrap_or(0)), pc);
    write_parts(fd, from, count, pc)
}

extern "C-unwind" fn write_from_parts_at(
    fd: c_int,
    from: *const iovec,
    count: c_int,
    at: off_t,
    pc: u64,
) -> ssize_t {
    emptied_parts(parts(from, usize::try_from(count).unwrap_or(0)), pc);
    write_parts_at(fd, from, count, at, pc)
}

extern "C-unwind" fn send_from_parts(fd: c_int, message: *const msghdr, flags: c_int, pc: u64) -> ssize_t {
    described_message(message, pc);
    emptied_parts(parts_of(message), pc);
    send_message(fd, message, flags, pc)
}

unsafe extern "C" {
    /// Ends a program that was built with `_FORTIFY_SOURCE` and would write behind the end of a buffer.
    fn __chk_fail() -> !;
}

/// What the functions of `_FORTIFY_SOURCE` check.
fn check(size: size_t, room: size_t) {
    if size > room {
        // SAFETY: has no preconditions; the C library's functions do this here.
        unsafe { __chk_fail() }
    }
}

extern "C-unwind" fn read_into_checked(
    fd: c_int,
    to: *mut c_void,
    size: size_t,
    room: size_t,
    pc: u64,
) -> ssize_t {
    check(size, room);
    read_into(fd, to, size, pc)
}

extern "C-unwind" fn read_into_at_checked(
    fd: c_int,
    to: *mut c_void,
    size: size_t,
    at: off_t,
    room: size_t,
    pc: u64,
) -> ssize_t {
    check(size, room);
    read_into_at(fd, to, size, at, pc)
}

/// Here the room comes before the flags.
extern "C-unwind" fn receive_into_checked(
    fd: c_int,
    to: *mut c_void,
    size: size_t,
    room: size_t,
    flags: c_int,
    pc: u64,
) -> ssize_t {
    check(size, room);
    receive_into(fd, to, size, flags, pc)
}

/// Has seven arguments, the last of which is on the stack, and the return address after it.
extern "C-unwind" fn receive_into_from_checked(
    fd: c_int,
    to: *mut c_void,
    size: size_t,
    room: size_t,
    flags: c_int,
    address: *mut sockaddr,
    len: *mut socklen_t,
    pc: u64,
) -> ssize_t {
    check(size, room);
    receive_into_from(fd, to, size, flags, address, len, pc)
}

// The seventh argument is passed on, and the return address behind it.
core::arch::global_asm!(
    ".pushsection .text",
    ".weak __recvfrom_chk",
    ".type __recvfrom_chk, @function",
    "__recvfrom_chk:",
    ".cfi_startproc",
    "mov rax, [rsp]",
    "mov r10, [rsp + 8]",
    "sub rsp, 24",
    ".cfi_adjust_cfa_offset 24",
    "mov [rsp], r10",
    "mov [rsp + 8], rax",
    "call {}",
    "add rsp, 24",
    ".cfi_adjust_cfa_offset -24",
    "ret",
    ".cfi_endproc",
    ".popsection",
    sym receive_into_from_checked
);

weak_entries! {
    "read" => read_into, "rcx";
    "pread" => read_into_at, "r8";
    "pread64" => read_into_at, "r8";
    "readv" => read_into_parts, "rcx";
    "preadv" => read_into_parts_at, "r8";
    "preadv64" => read_into_parts_at, "r8";
    "recv" => receive_into, "r8";
    "recvmsg" => receive_into_parts, "rcx";
    "__read_chk" => read_into_checked, "r8";
    "__pread_chk" => read_into_at_checked, "r9";
    "__pread64_chk" => read_into_at_checked, "r9";
    "__recv_chk" => receive_into_checked, "r9";
    "eventfd_read" => read_event_into, "rdx";
    "eventfd_write" => write_event_from, "rdx";
    "write" => write_from, "rcx";
    "pwrite" => write_from_at, "r8";
    "pwrite64" => write_from_at, "r8";
    "writev" => write_from_parts, "rcx";
    "pwritev" => write_from_parts_at, "r8";
    "pwritev64" => write_from_parts_at, "r8";
    "send" => send_from, "r8";
    "sendmsg" => send_from_parts, "rcx";
}

weak_entries_of_six! {
    "recvfrom" => receive_into_from;
    "sendto" => send_from_to;
}
