//! Time, names of the system, random bytes, sockets' properties, sorting: `time.h`, `sys/time.h`, `unistd.h`, `sys/socket.h`, `stdlib.h`.

use libc::{
    c_char, c_int, c_long, c_uint, c_void, size_t, sockaddr, socklen_t, ssize_t, time_t, timespec, timeval,
    tm,
};

use super::orders::{AskingEnvironment, Binding, ChangingEnvironment, Giving, Learning, RunningChild};
use super::table::*;
use super::time_zone::Converting;
use crate::c_library::sleeping::Sleeping;
use crate::real_functions::{Real, call_real};

/// Whether a sleep was interrupted, so that the time that was left is written.
fn was_interrupted(result: c_int) -> bool {
    // SAFETY: `errno` is this thread's own.
    result == -1 && unsafe { *libc::__errno_location() } == libc::EINTR
}

/// A number that the program passes by its address: how much room there is.
fn length_at(len: *const socklen_t) -> usize {
    // SAFETY: the program passes the address of a number, which the real function reads as well.
    if len.is_null() { 0 } else { unsafe { *len as usize } }
}

effects! {
    time(to: *mut time_t) -> time_t, before [], after |time| [writes_object(to, time != -1)];
    clock_gettime(clock: c_int, to: *mut timespec) -> c_int,
        before [], after |failed| [writes_object(to, failed == 0)];
    clock_getres(clock: c_int, to: *mut timespec) -> c_int,
        before [], after |failed| [writes_object(to, failed == 0)];
    clock_settime(clock: c_int, time: *const timespec) -> c_int, before [reads_object(time)], after |_| [];
    timespec_get(to: *mut timespec, base: c_int) -> c_int,
        before [], after |base| [writes_object(to, base != 0)];
    timespec_getres(to: *mut timespec, base: c_int) -> c_int,
        before [], after |base| [writes_object(to, base != 0)];
    gettimeofday(to: *mut timeval, zone: *mut c_void) -> c_int,
        before [], after |failed| [writes_object(to, failed == 0), writes(zone, if failed == 0 { 8 } else { 0 })];
    nanosleep(time: *const timespec, left: *mut timespec) -> c_int, within Sleeping,
        before [reads_object(time)], after |result| [writes_object(left, was_interrupted(result))];
    clock_nanosleep(clock: c_int, flags: c_int, time: *const timespec, left: *mut timespec) -> c_int, within Sleeping,
        before [reads_object(time)],
        after |error| [writes_object(left, error == libc::EINTR && flags & libc::TIMER_ABSTIME == 0)];
    thrd_sleep(time: *const timespec, left: *mut timespec) -> c_int, within Sleeping,
        before [reads_object(time)], after |result| [writes_object(left, result == -1)];
    sleep(seconds: c_uint) -> c_uint, within Sleeping, before [], after |_| [];
    usleep(microseconds: c_uint) -> c_int, within Sleeping, before [], after |_| [];
    pthread_testcancel() -> (), before [], after |_| [];
    pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int,
        before [], after |failed| [writes_object(old, failed == 0)];
    pthread_setcanceltype(kind: c_int, old: *mut c_int) -> c_int,
        before [], after |failed| [writes_object(old, failed == 0)];
    fsync(fd: c_int) -> c_int, before [], after |_| [];
    fdatasync(fd: c_int) -> c_int, before [], after |_| [];
    getitimer(which: c_int, to: *mut libc::itimerval) -> c_int,
        before [], after |failed| [writes_object(to, failed == 0)];
    timer_gettime(timer: *mut c_void, to: *mut libc::itimerspec) -> c_int,
        before [], after |failed| [writes_object(to, failed == 0)];
    localtime_r(time: *const time_t, to: *mut tm) -> *mut tm, within Converting,
        before [reads_object(time)], after |done| [writes_object(done, true)];
    gmtime_r(time: *const time_t, to: *mut tm) -> *mut tm,
        before [reads_object(time)], after |done| [writes_object(done, true)];
    localtime(time: *const time_t) -> *mut tm, within Converting,
        before [reads_object(time)], after |done| [writes_object(done, true)];
    gmtime(time: *const time_t) -> *mut tm,
        before [reads_object(time)], after |done| [writes_object(done, true)];
    mktime(time: *mut tm) -> time_t, within Converting, before [reads_object(time)], after |done| [writes_object(time, done != -1)];
    timelocal(time: *mut tm) -> time_t, within Converting, before [reads_object(time)], after |done| [writes_object(time, done != -1)];
    timegm(time: *mut tm) -> time_t, before [reads_object(time)], after |done| [writes_object(time, done != -1)];
    strftime(to: *mut c_char, size: size_t, format: Text, time: *const tm) -> size_t, within Converting,
        before [reads_text(format), reads_object(time)],
        after |len| [writes(to, if len > 0 { len + 1 } else { 0 })];
    asctime_r(time: *const tm, to: *mut c_char) -> *mut c_char,
        before [reads_object(time)], after |text| [writes_text(text, true)];
    asctime(time: *const tm) -> *mut c_char, before [reads_object(time)], after |text| [writes_text(text, true)];
    ctime_r(time: *const time_t, to: *mut c_char) -> *mut c_char, within Converting,
        before [reads_object(time)], after |text| [writes_text(text, true)];
    ctime(time: *const time_t) -> *mut c_char, within Converting, before [reads_object(time)], after |text| [writes_text(text, true)];

    gethostname(to: *mut c_char, size: size_t) -> c_int,
        before [], after |failed| [writes(to, if failed == 0 { size_within(to, size) } else { 0 })];
    uname(to: *mut libc::utsname) -> c_int, before [], after |failed| [writes_object(to, failed >= 0)];
    ttyname_r(fd: c_int, to: *mut c_char, size: size_t) -> c_int,
        before [], after |failed| [writes_text(to, failed == 0)];
    ptsname_r(fd: c_int, to: *mut c_char, size: size_t) -> c_int,
        before [], after |failed| [writes_text(to, failed == 0)];
    getrandom(to: *mut c_void, size: size_t, flags: c_uint) -> ssize_t,
        before [], after |n| [writes(to, n.max(0) as usize)];
    getentropy(to: *mut c_void, size: size_t) -> c_int,
        before [], after |failed| [writes(to, if failed == 0 { size } else { 0 })];
    getgroups(room: c_int, to: *mut libc::gid_t) -> c_int,
        before [], after |n| [writes(to, if room > 0 { 4 * n.max(0) as usize } else { 0 })];
    rand_r(seed: *mut c_uint) -> c_int, before [reads_object(seed)], after |_| [writes_object(seed, true)];
    getloadavg(to: *mut f64, count: c_int) -> c_int, before [], after |n| [writes(to, 8 * n.max(0) as usize)];

    getsockname(fd: c_int, to: *mut sockaddr, len: *mut socklen_t) -> c_int,
        before [reads_object(len)], after |failed| [writes_object(len, failed == 0)];
    getpeername(fd: c_int, to: *mut sockaddr, len: *mut socklen_t) -> c_int,
        before [reads_object(len)], after |failed| [writes_object(len, failed == 0)];
    getsockopt(fd: c_int, level: c_int, name: c_int, to: *mut c_void, len: *mut socklen_t) -> c_int, within Learning(fd),
        before [reads_object(len)],
        after |failed| [
            writes_object(len, failed == 0),
            writes(to, if failed == 0 { length_at(len) } else { 0 })
        ];
    setsockopt(fd: c_int, level: c_int, name: c_int, from: Bytes, len: socklen_t) -> c_int, within Giving(fd),
        before [reads(from, len as usize)], after |_| [];
    bind(fd: c_int, address: *const sockaddr, len: socklen_t) -> c_int, within Binding(fd),
        before [reads(address, len as usize)], after |_| [];

    qsort(array: *mut c_void, count: size_t, size: size_t, compare: Bytes) -> (),
        before [reads(array, count.saturating_mul(size))], after |_| [writes(array, count.saturating_mul(size))];
    qsort_r(array: *mut c_void, count: size_t, size: size_t, compare: Bytes, more: *mut c_void) -> (),
        before [reads(array, count.saturating_mul(size))], after |_| [writes(array, count.saturating_mul(size))];
    a64l(text: Text) -> c_long, before [reads(text, size_within(text, 6))], after |_| [];
    mblen(text: Text, most: size_t) -> c_int, before [], after |len| [reads(text, if len > 0 { len as usize } else { 0 })];
    getenv(name: Text) -> *mut c_char, within AskingEnvironment, before [reads_text(name)], after |_| [];
    secure_getenv(name: Text) -> *mut c_char, within AskingEnvironment, before [reads_text(name)], after |_| [];
    setenv(name: Text, value: Text, replaces: c_int) -> c_int, within ChangingEnvironment,
        before [reads_text(name), reads_text(value)], after |_| [];
    unsetenv(name: Text) -> c_int, within ChangingEnvironment, before [reads_text(name)], after |_| [];
    putenv(text: *mut c_char) -> c_int, within ChangingEnvironment, before [reads_text(text)], after |_| [];
    clearenv() -> c_int, within ChangingEnvironment, before [], after |_| [];
    inotify_rm_watch(fd: c_int, watch: c_int) -> c_int, within Giving(fd), before [], after |_| [];
    backtrace_symbols_fd(addresses: Bytes, count: c_int, fd: c_int) -> (), within Giving(fd),
        before [reads(addresses, 8 * count.max(0) as usize)], after |_| [];
    system(command: Text) -> c_int, within RunningChild, before [reads_text(command)], after |_| [];
}
