//! Other ways in which the kernel or the C library hands over from thread to thread: semaphores and messages of System V, message
//! queues, locks on files, timers.
//!
//! As with descriptors (`channels`), each is an object with edges: whoever gives releases before the call, whoever gets
//! acquires after a call that succeeded. One object stands for all timers; a lock on a file belongs to the file. Edges that are not
//! there hide races, they never invent one.

use libc::{c_int, c_long, c_void, size_t, ssize_t, timespec};

use super::channels::{
    OF_SIGNALS, OF_TIMERS, ask_for_signals, channel, failed_by_others, gives, lock_files, of_ipc,
};
use super::given;
use super::room::room_of_ipc;
use crate::entry_points::weak_entries;
use crate::real_functions::{Real, call_real};
use crate::recorder::edges::{acquire_edge, release_edge, take_edge};

/// A message is sent once there is room for it: whoever has received one made some. It fails if the queue is removed.
extern "C-unwind" fn send_message(
    queue: c_int,
    message: *const c_void,
    size: size_t,
    flags: c_int,
    pc: u64,
) -> c_int {
    static REAL: Real = Real::new(c"msgsnd");
    given::reads_bytes(message, size_of::<c_long>() + size, pc);
    release_edge(of_ipc(queue), pc);
    let result = {
        // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
        unsafe {
            call_real!(
                REAL,
                (c_int, *const c_void, size_t, c_int) -> c_int,
                queue, message, size, flags
            )
        }
    };
    acquire_edge(room_of_ipc(queue), pc);
    if result != 0 && failed_by_others() {
        acquire_edge(of_ipc(queue), pc);
    }
    result
}

extern "C-unwind" fn receive_message(
    queue: c_int,
    message: *mut c_void,
    size: size_t,
    kind: c_long,
    flags: c_int,
    pc: u64,
) -> ssize_t {
    static REAL: Real = Real::new(c"msgrcv");
    release_edge(room_of_ipc(queue), pc);
    let result = {
        // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
        unsafe {
            call_real!(
                REAL,
                (c_int, *mut c_void, size_t, c_long, c_int) -> ssize_t,
                queue, message, size, kind, flags
            )
        }
    };
    if let Ok(received) = usize::try_from(result) {
        given::writes_bytes(message, size_of::<c_long>() + received, pc);
    }
    if result >= 0 || failed_by_others() {
        acquire_edge(of_ipc(queue), pc);
    }
    result
}

/// What one of the operations of a `semop` does to its semaphore.
fn any(operations: *const libc::sembuf, count: size_t, what: fn(i16) -> bool) -> bool {
    // SAFETY: the program passes so many operations to `semop`.
    (0..count).any(|i| what(unsafe { (*operations.add(i)).sem_op }))
}

extern "C-unwind" fn operate(set: c_int, operations: *mut libc::sembuf, count: size_t, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"semop");
    around_semaphores(set, operations, count, pc, || {
        // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
        unsafe { call_real!(REAL, (c_int, *mut libc::sembuf, size_t) -> c_int, set, operations, count) }
    })
}

extern "C-unwind" fn operate_until(
    set: c_int,
    operations: *mut libc::sembuf,
    count: size_t,
    timeout: *const timespec,
    pc: u64,
) -> c_int {
    static REAL: Real = Real::new(c"semtimedop");
    given::reads(timeout, pc);
    around_semaphores(set, operations, count, pc, || {
        // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
        unsafe {
            call_real!(
                REAL,
                (c_int, *mut libc::sembuf, size_t, *const timespec) -> c_int,
                set, operations, count, timeout
            )
        }
    })
}

/// Who raises a semaphore gives; who lowers it, or waits until it is 0, gets. A lowered semaphore that was 0 gives, too.
fn around_semaphores(
    set: c_int,
    operations: *const libc::sembuf,
    count: size_t,
    pc: u64,
    operate: impl FnOnce() -> c_int,
) -> c_int {
    given::reads_bytes(operations, size_of::<libc::sembuf>() * count, pc);
    let gets = any(operations, count, |change| change <= 0);
    if any(operations, count, |change| change != 0) {
        release_edge(of_ipc(set), pc);
    }
    let result = operate();
    if gets && (result == 0 || failed_by_others()) {
        take_edge(of_ipc(set), pc);
    }
    result
}

/// `semctl` has a fourth argument with some commands; it is passed on whether it is there or not.
extern "C-unwind" fn control_semaphores(
    set: c_int,
    index: c_int,
    command: c_int,
    argument: u64,
    pc: u64,
) -> c_int {
    static REAL: Real = Real::new(c"semctl");
    release_edge(of_ipc(set), pc);
    // SAFETY: forwards the caller's own arguments, in the registers in which a variadic function expects them.
    let result =
        unsafe { call_real!(REAL, (c_int, c_int, c_int, u64) -> c_int, set, index, command, argument) };
    acquire_edge(of_ipc(set), pc);
    result
}

/// A queue of messages is asked about, or removed, which wakes who waits for it.
extern "C-unwind" fn control_queue(queue: c_int, command: c_int, about: *mut c_void, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"msgctl");
    release_edge(of_ipc(queue), pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    let result = unsafe { call_real!(REAL, (c_int, c_int, *mut c_void) -> c_int, queue, command, about) };
    acquire_edge(of_ipc(queue), pc);
    result
}

/// A signal is asked for when a message comes.
extern "C-unwind" fn notify_of_message(queue: c_int, how: *const c_void, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"mq_notify");
    ask_for_signals();
    gives(queue, pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    unsafe { call_real!(REAL, (c_int, *const c_void) -> c_int, queue, how) }
}

extern "C-unwind" fn lock_file(fd: c_int, operation: c_int, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"flock");
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    around_file_lock(fd, pc, || unsafe { call_real!(REAL, (c_int, c_int) -> c_int, fd, operation) })
}

extern "C-unwind" fn lock_part(fd: c_int, operation: c_int, len: i64, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"lockf");
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    around_file_lock(fd, pc, || unsafe { call_real!(REAL, (c_int, c_int, i64) -> c_int, fd, operation, len) })
}

/// A lock may be given back, changed or taken: what was done under the old one is known to whoever gets it. Who does not get it knows
/// that it is taken.
pub(crate) fn around_file_lock(fd: c_int, pc: u64, operation: impl FnOnce() -> c_int) -> c_int {
    lock_files();
    gives(fd, pc);
    let result = operation();
    if let Some(channel) = channel(fd) {
        if result >= 0 {
            take_edge(channel, pc);
        } else {
            acquire_edge(channel, pc);
        }
    }
    result
}

/// `struct sigevent` as far as it matters here; the rest of its 64 bytes follows.
#[repr(C)]
#[derive(Clone, Copy)]
struct Notification {
    value: *mut c_void,
    signal: c_int,
    how: c_int,
    function: Option<extern "C-unwind" fn(*mut c_void)>,
    rest: [u64; 5],
}

/// What a timer calls in a thread that the C library makes.
struct Callback {
    function: extern "C-unwind" fn(*mut c_void),
    value: *mut c_void,
}

/// Begins such a thread.
extern "C-unwind" fn timer_thread(callback: *mut c_void) {
    // SAFETY: `make_timer` passes a callback that it has written and that is never freed.
    let Callback { function, value } = unsafe { &*callback.cast::<Callback>() };
    acquire_edge(OF_TIMERS, timer_thread as *const () as u64);
    function(*value);
}

/// The callback of a timer is kept for ever: a thread may still begin when the timer is deleted. Programs have few timers.
extern "C-unwind" fn make_timer(clock: c_int, event: *const c_void, timer: *mut c_void, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"timer_create");
    given::reads(event.cast::<Notification>(), pc);
    let real = |event: *const c_void| {
        // SAFETY: forwards the caller's own arguments, or for its event a changed copy, which outlives the call.
        let result =
            unsafe { call_real!(REAL, (c_int, *const c_void, *mut c_void) -> c_int, clock, event, timer) };
        if result == 0 {
            given::writes_bytes(timer, size_of::<libc::timer_t>(), pc);
        }
        result
    };
    // SAFETY: the caller passes a `struct sigevent`, or null.
    let Some(mut event_of_thread) = (unsafe { event.cast::<Notification>().as_ref() }).copied() else {
        return real(event);
    };
    let Some(function) = event_of_thread.function.filter(|_| event_of_thread.how == libc::SIGEV_THREAD)
    else {
        return real(event);
    };
    // SAFETY: `malloc` takes any size.
    let callback: *mut Callback = unsafe { libc::malloc(size_of::<Callback>()) }.cast();
    if callback.is_null() {
        return real(event);
    }
    // SAFETY: the block is new, large enough, and aligned for any type.
    unsafe { callback.write(Callback { function, value: event_of_thread.value }) };
    event_of_thread.value = callback.cast();
    event_of_thread.function = Some(timer_thread);
    real((&raw const event_of_thread).cast())
}

static TIMER_SETTIME: Real = Real::new(c"timer_settime");

/// A timer begins a thread, or sends a signal.
extern "C-unwind" fn set_timer(
    timer: *mut c_void,
    flags: c_int,
    new: *const libc::itimerspec,
    old: *mut libc::itimerspec,
    pc: u64,
) -> c_int {
    given::reads(new, pc);
    release_edge(OF_TIMERS, pc);
    release_edge(OF_SIGNALS, pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    let result = unsafe {
        call_real!(
            TIMER_SETTIME,
            (*mut c_void, c_int, *const libc::itimerspec, *mut libc::itimerspec) -> c_int,
            timer, flags, new, old
        )
    };
    if result == 0 {
        given::writes(old, pc);
    }
    result
}

// A program may have functions of its own by these names.
weak_entries! {
    "msgsnd" => send_message, "r8";
    "msgrcv" => receive_message, "r9";
    "semop" => operate, "rcx";
    "semtimedop" => operate_until, "r8";
    "semctl" => control_semaphores, "r8";
    "msgctl" => control_queue, "rcx";
    "mq_notify" => notify_of_message, "rdx";
    "flock" => lock_file, "rdx";
    "lockf" => lock_part, "rcx";
    "lockf64" => lock_part, "rcx";
    "timer_create" => make_timer, "rcx";
    "timer_settime" => set_timer, "r8";
}
