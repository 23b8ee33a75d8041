//! Functions that say which descriptors are ready, and how much there is to read.
//!
//! Who learns that there is something to read learns as much as who reads it. `poll` and `select` name the descriptors; of an epoll
//! only the program knows what its events mean, so it gets what any of its descriptors is given (`channels::relay`).

use libc::{c_int, c_ulong, c_void, fd_set, nfds_t, pollfd, sigset_t, timespec, timeval};

use crate::c_library::channels::{channel, gives, learns, relay, takes};
use crate::c_library::room::{learns_of_room, room_of};
use crate::entry_points::{weak_entries, weak_entries_of_six};
use crate::real_functions::{Real, call_real};
use crate::recorder::accesses::{counts, write_range};
use crate::recorder::status;

static POLL: Real = Real::new(c"poll");
static PPOLL: Real = Real::new(c"ppoll");
static SELECT: Real = Real::new(c"select");
static PSELECT: Real = Real::new(c"pselect");
static IOCTL: Real = Real::new(c"ioctl");

/// The thread knows of these descriptors what `poll` has written to them.
fn learn_polled(result: c_int, descriptors: *const pollfd, count: nfds_t, pc: u64) -> c_int {
    if result > 0 && status::recording() {
        for i in 0..count as usize {
            // SAFETY: the caller passes so many of them, and the real function has accepted them.
            let polled = unsafe { &*descriptors.add(i) };
            if polled.revents != 0 {
                learns(polled.fd, pc);
            }
            if polled.revents & libc::POLLOUT != 0 {
                learns_of_room(polled.fd, pc);
            }
        }
    }
    result
}

extern "C-unwind" fn poll_descriptors(
    descriptors: *mut pollfd,
    count: nfds_t,
    timeout: c_int,
    pc: u64,
) -> c_int {
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    let result =
        unsafe { call_real!(POLL, (*mut pollfd, nfds_t, c_int) -> c_int, descriptors, count, timeout) };
    learn_polled(result, descriptors, count, pc)
}

extern "C-unwind" fn poll_descriptors_masked(
    descriptors: *mut pollfd,
    count: nfds_t,
    timeout: *const timespec,
    mask: *const sigset_t,
    pc: u64,
) -> c_int {
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    let result = unsafe {
        call_real!(
            PPOLL,
            (*mut pollfd, nfds_t, *const timespec, *const sigset_t) -> c_int,
            descriptors, count, timeout, mask
        )
    };
    learn_polled(result, descriptors, count, pc)
}

/// Which of the sets of `select` is about room.
const WRITABLE: usize = 1;

/// The thread knows of the descriptors that are in the sets by now.
fn learn_selected(result: c_int, count: c_int, sets: [*const fd_set; 3], pc: u64) -> c_int {
    if result > 0 && status::recording() {
        for (nth, set) in sets.into_iter().enumerate().filter(|(_, set)| !set.is_null()) {
            let words = set.cast::<u64>();
            for fd in 0..count {
                // SAFETY: the caller passes sets of so many bits, which may be more than an `fd_set` has, and the real function has
                // written them.
                let word = unsafe { *words.add(fd as usize / 64) };
                if word >> (fd % 64) & 1 != 0 {
                    learns(fd, pc);
                    if nth == WRITABLE {
                        learns_of_room(fd, pc);
                    }
                }
            }
        }
    }
    result
}

extern "C-unwind" fn select_descriptors(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    except: *mut fd_set,
    timeout: *mut timeval,
    pc: u64,
) -> c_int {
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    let result = unsafe {
        call_real!(
            SELECT,
            (c_int, *mut fd_set, *mut fd_set, *mut fd_set, *mut timeval) -> c_int,
            count, read, write, except, timeout
        )
    };
    learn_selected(result, count, [read, write, except], pc)
}

extern "C-unwind" fn select_descriptors_masked(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    except: *mut fd_set,
    timeout: *const timespec,
    mask: *const sigset_t,
    pc: u64,
) -> c_int {
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    let result = unsafe {
        call_real!(
            PSELECT,
            (c_int, *mut fd_set, *mut fd_set, *mut fd_set, *const timespec, *const sigset_t) -> c_int,
            count, read, write, except, timeout, mask
        )
    };
    learn_selected(result, count, [read, write, except], pc)
}

/// Functions that wait for events of an epoll.
macro_rules! epoll_waiters {
    ($($function:ident of $name:literal ($($arg:ident: $ty:ty),*);)*) => {
        $(extern "C-unwind" fn $function(epoll: c_int, $($arg: $ty,)* pc: u64) -> c_int {
            static REAL: Real = Real::new($name);
            // Before the call: during it, the descriptor may be closed and its number be another's.
            let channel = channel(epoll);
            // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
            let result = unsafe { call_real!(REAL, (c_int $(, $ty)*) -> c_int, epoll $(, $arg)*) };
            if let Some(channel) = channel && result > 0 {
                takes(epoll, channel, pc);
            }
            result
        })*
    };
}

epoll_waiters! {
    wait_for_events of c"epoll_wait" (events: *mut c_void, count: c_int, timeout: c_int);
    wait_for_events_masked of c"epoll_pwait" (
        events: *mut c_void, count: c_int, timeout: c_int, mask: *const c_void
    );
    wait_for_events_until of c"epoll_pwait2" (
        events: *mut c_void, count: c_int, timeout: *const timespec, mask: *const c_void
    );
}

/// Events of the descriptor `of` are added, changed or removed.
extern "C-unwind" fn change_interest(
    epoll: c_int,
    operation: c_int,
    of: c_int,
    event: *mut c_void,
    pc: u64,
) -> c_int {
    static REAL: Real = Real::new(c"epoll_ctl");
    gives(epoll, pc);
    if operation != libc::EPOLL_CTL_DEL
        && let (Some(from), Some(to)) = (channel(of), channel(epoll))
    {
        relay(from, to, pc);
        // Whoever takes from the descriptor makes room, of which the epoll tells.
        relay(room_of(from), to, pc);
    }
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    unsafe { call_real!(REAL, (c_int, c_int, c_int, *mut c_void) -> c_int, epoll, operation, of, event) }
}

/// `ioctl` takes a third argument with most requests, a number or a pointer; it is passed on whether it is there or not.
extern "C-unwind" fn control_device(fd: c_int, request: c_ulong, argument: u64, pc: u64) -> c_int {
    // SAFETY: forwards the caller's own arguments, in the registers in which a variadic function expects them.
    let result = unsafe { call_real!(IOCTL, (c_int, c_ulong, u64) -> c_int, fd, request, argument) };
    if request == libc::FIONREAD && result == 0 && status::recording() {
        // SAFETY: the request takes the address of an `int`, to which the kernel has written.
        if unsafe { *(argument as *const c_int) } > 0 {
            learns(fd, pc);
        }
        if counts(pc) {
            write_range(argument, size_of::<c_int>() as u64, pc);
        }
    }
    result
}

weak_entries! {
    "epoll_wait" => wait_for_events, "r8";
    "epoll_pwait" => wait_for_events_masked, "r9";
    "epoll_ctl" => change_interest, "r8";
}

// A program may have functions of its own by these names.
weak_entries_of_six! {
    "pselect" => select_descriptors_masked;
}

weak_entries! {
    "epoll_pwait2" => wait_for_events_until, "r9";
    "poll" => poll_descriptors, "rcx";
    "ppoll" => poll_descriptors_masked, "r8";
    "select" => select_descriptors, "r9";
    "ioctl" => control_device, "rcx";
}
