//! Threads begin, get names, end, and are joined or detached: those of POSIX and those of C11.
//!
//! A thread ends when it can do nothing more of the program's: after the destructors of its thread-local variables.
//! C++'s run first; those of `pthread_key_create` run in rounds, and ours puts itself off to the last round.
//!
//! Signal handlers run between a thread's begin and its end, and nowhere else: before and after, signals are blocked. (The exception are
//! threads whose attributes say what is blocked: a handler that runs before the begin is a thread of its own in the trace.)

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use foresee_format::Tag;
use libc::{c_char, c_int, c_void, pthread_key_t, pthread_t, timespec};

use super::blocked_signals::{ALL_THAT_CAN_WAIT, block, blocked_now, is_inherited};
use super::cancellation;
use super::given;
use crate::entry_points::weak_entries;
use crate::real_functions::{Real, call_real, real_free, real_malloc};
use crate::recorder::accesses::{changed, counts, write_range};
use crate::recorder::thread::{Local, SignalSet, always, new_thread};
use crate::recorder::thread_handles::{self, thread_of};
use crate::recorder::{seen_values, status};

/// The key whose destructor sees threads end.
static END: AtomicU32 = AtomicU32::new(u32::MAX);

/// How often the C library runs destructors of keys that are set again.
const ROUNDS: usize = 4;

/// Begins to see threads end, and records that the first one has begun.
pub(crate) fn start() {
    if !status::recording() {
        return;
    }
    // Not as the program calls it: properties may name it, and this would be a call of the program's, before its first thread has begun.
    static CREATE_KEY: Real = Real::new(c"pthread_key_create");
    let mut key: pthread_key_t = 0;
    // SAFETY: `key` is a variable for the answer; `ending` has the signature of a key's destructor.
    let created = unsafe {
        call_real!(CREATE_KEY, (*mut pthread_key_t, unsafe extern "C" fn(*mut c_void)) -> c_int, &raw mut key, ending)
    };
    if created == 0 {
        END.store(key, SeqCst);
    }
    begin_first();
}

/// The first thread of a trace gets the first number: the main thread, or the one that forked.
pub(crate) fn begin_first() {
    always(|local| {
        if let Some(thread) = new_thread() {
            local.set_thread(thread);
            local.stamped(Tag::Begin, 0, []);
            own_stack(local);
            thread_handles::note_own(thread);
        }
    });
}

type Routine = extern "C-unwind" fn(*mut c_void) -> *mut c_void;
/// What a thread of C11 runs.
type C11Routine = extern "C-unwind" fn(*mut c_void) -> c_int;

/// What a new thread has to do, handed over in memory of the C library.
struct Start<F> {
    routine: F,
    argument: *mut c_void,
    thread: u32,
    /// The signals that it is to block once it has begun.
    blocked: SignalSet,
}

/// Makes a thread with `real`, which is given what to run and with which argument: the program's own, or `first`.
fn create_with<F: Copy>(
    routine: F,
    argument: *mut c_void,
    first: F,
    pc: u64,
    handle: *mut pthread_t,
    is_detached: bool,
    real: impl FnOnce(F, *mut c_void) -> c_int,
) -> c_int {
    let thread = if status::recording() { new_thread() } else { None };
    let (mut run, mut with) = (routine, argument);
    let mut start = std::ptr::null_mut();
    let mut blocked_before = None;
    if let Some(thread) = thread {
        // SAFETY: `malloc` gives a block that is large enough and aligned for any type, or null: then the thread runs
        // unnumbered.
        unsafe {
            start = real_malloc(size_of::<Start<F>>()).cast::<Start<F>>();
            if !start.is_null() {
                // The new thread inherits what is blocked: no handler runs there until it has begun.
                let blocked = block(ALL_THAT_CAN_WAIT);
                blocked_before = Some(blocked);
                start.write(Start { routine, argument, thread, blocked });
                (run, with) = (first, start.cast());
            }
        }
        // The C library writes the handle before the thread runs.
        if counts(pc) {
            write_range(handle as u64, size_of::<pthread_t>() as u64, pc);
        }
        always(|local| local.stamped(Tag::Fork, 0, [pc, u64::from(thread)]));
    }
    let result = real(run, with);
    if let Some(single) = seen_values::single_threaded() {
        changed(single, 1, pc);
    }
    if let Some(blocked) = blocked_before {
        block(blocked);
    }
    // SAFETY: after a failure there is no thread that could use `start`, which is null or came from `real_malloc`; after a success
    // the C library has written the handle.
    unsafe {
        if result != 0 {
            real_free(start.cast());
        } else if let Some(thread) = thread {
            thread_handles::note(thread, *handle);
        }
    }
    if is_detached {
        detached(result, thread, pc);
    }
    result
}

/// Whether threads that are made with these attributes are detached.
fn are_detached(attributes: *const c_void) -> bool {
    let mut state = 0;
    // SAFETY: the attributes are null, or the caller vouches that they are initialised; `state` is a variable for the answer.
    unsafe {
        !attributes.is_null()
            && pthread_attr_getdetachstate(attributes.cast(), &mut state) == 0
            && state == libc::PTHREAD_CREATE_DETACHED
    }
}

unsafe extern "C" {
    fn pthread_attr_getdetachstate(attributes: *const libc::pthread_attr_t, state: *mut c_int) -> c_int;
}

extern "C-unwind" fn create(
    handle: *mut pthread_t,
    attributes: *const c_void,
    routine: Routine,
    argument: *mut c_void,
    pc: u64,
) -> c_int {
    static REAL: Real = Real::new(c"pthread_create");
    // SAFETY: forwards the caller's own arguments, or `first` and what it expects.
    create_with(
        routine,
        argument,
        first as Routine,
        pc,
        handle,
        are_detached(attributes),
        |run, with| unsafe {
            call_real!(
                REAL,
                (*mut pthread_t, *const c_void, Routine, *mut c_void) -> c_int,
                handle, attributes, run, with
            )
        },
    )
}

extern "C-unwind" fn c11_create(
    handle: *mut pthread_t,
    routine: C11Routine,
    argument: *mut c_void,
    pc: u64,
) -> c_int {
    static REAL: Real = Real::new(c"thrd_create");
    // SAFETY: forwards the caller's own arguments, or `c11_first` and what it expects.
    create_with(routine, argument, c11_first as C11Routine, pc, handle, false, |run, with| unsafe {
        call_real!(REAL, (*mut pthread_t, C11Routine, *mut c_void) -> c_int, handle, run, with)
    })
}

/// Where a new thread begins.
extern "C-unwind" fn first(start: *mut c_void) -> *mut c_void {
    let (routine, argument) = begin::<Routine>(start);
    routine(argument)
}

extern "C-unwind" fn c11_first(start: *mut c_void) -> c_int {
    let (routine, argument) = begin::<C11Routine>(start);
    routine(argument)
}

fn begin<F>(start: *mut c_void) -> (F, *mut c_void) {
    // SAFETY: `create_with` has written a `Start<F>` there and handed it over to this thread.
    let Start { routine, argument, thread, blocked } = unsafe { start.cast::<Start<F>>().read() };
    // SAFETY: it came from `real_malloc`, was read just now, and nobody else has it.
    unsafe { real_free(start) };
    thread_handles::note_own(thread);
    ends_in(ROUNDS);
    always(|local| {
        local.set_thread(thread);
        local.stamped(Tag::Begin, 0, []);
        own_stack(local);
    });
    // Attributes may have said which signals the thread blocks.
    if is_inherited(blocked_now()) {
        block(blocked);
    }
    (routine, argument)
}

/// More than this of a stack is not announced. The main thread's may be without a limit, and only its upper end is used.
const MOST_STACK: u64 = 1 << 30;

/// Announces the stack of the thread that has just begun: an allocation that no place in the program makes. Stacks are
/// used again: what an earlier thread did there is another life.
fn own_stack(local: &Local) {
    if let Some((addr, size)) = stack() {
        let announced = size.min(MOST_STACK);
        local.plain(Tag::Alloc, 0, [0, addr + (size - announced), announced]);
    }
}

/// The stack of this thread.
fn stack() -> Option<(u64, u64)> {
    // SAFETY: the attributes are a C structure of numbers, for which zeroes are valid; the first call fills them, the last one
    // destroys them, and they are not used if the first call fails.
    unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &mut attributes) != 0 {
            return None;
        }
        let (mut addr, mut size) = (std::ptr::null_mut(), 0);
        let found = libc::pthread_attr_getstack(&attributes, &mut addr, &mut size) == 0;
        libc::pthread_attr_destroy(&mut attributes);
        (found && size > 0).then_some((addr as u64, size as u64))
    }
}

/// Has the destructor of our key run in so many rounds from now. Not as the program calls it, like [`start`].
fn ends_in(rounds: usize) {
    static SET: Real = Real::new(c"pthread_setspecific");
    // SAFETY: a key that does not exist is refused. The value is no pointer to anything, only not null, so that the key's destructor runs.
    unsafe {
        call_real!(SET, (pthread_key_t, *const c_void) -> c_int, END.load(SeqCst), rounds as *const c_void)
    };
}

/// The destructor of our key, which is the first of all: runs when the thread ends, and puts itself off to the last round.
unsafe extern "C" fn ending(rounds: *mut c_void) {
    let rounds = rounds as usize;
    if rounds == ROUNDS {
        cancellation::acts();
    }
    if rounds > 1 {
        return ends_in(rounds - 1);
    }
    // A handler that ran later could not be recorded. The thread ends: signals for the process are handled by another.
    block(ALL_THAT_CAN_WAIT);
    always(|local| {
        local.stamped(Tag::End, 0, []);
        local.end();
    });
}

/// The end of this thread is waited for, for as long as it takes.
fn awaits(handle: pthread_t, pc: u64) -> Option<u32> {
    let thread = thread_of(handle)?;
    always(|local| local.plain(Tag::Await, 0, [pc, u64::from(thread)]));
    Some(thread)
}

fn joined<T>(result: c_int, thread: Option<u32>, value: *mut T, pc: u64) -> c_int {
    if let (0, Some(thread)) = (result, thread) {
        always(|local| local.stamped(Tag::Join, 0, [pc, u64::from(thread)]));
    }
    if result == 0 {
        given::writes(value, pc);
    }
    result
}

extern "C-unwind" fn join(handle: pthread_t, value: *mut *mut c_void, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"pthread_join");
    // Before the call: once it is joined, its handle may be another's.
    let thread = awaits(handle, pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    let result = unsafe { call_real!(REAL, (pthread_t, *mut *mut c_void) -> c_int, handle, value) };
    joined(result, thread, value, pc)
}

extern "C-unwind" fn c11_join(handle: pthread_t, value: *mut c_int, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"thrd_join");
    let thread = awaits(handle, pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    let result = unsafe { call_real!(REAL, (pthread_t, *mut c_int) -> c_int, handle, value) };
    joined(result, thread, value, pc)
}

extern "C-unwind" fn tryjoin(handle: pthread_t, value: *mut *mut c_void, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"pthread_tryjoin_np");
    let thread = thread_of(handle);
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    let result = unsafe { call_real!(REAL, (pthread_t, *mut *mut c_void) -> c_int, handle, value) };
    joined(result, thread, value, pc)
}

extern "C-unwind" fn timedjoin(
    handle: pthread_t,
    value: *mut *mut c_void,
    until: *const timespec,
    pc: u64,
) -> c_int {
    static REAL: Real = Real::new(c"pthread_timedjoin_np");
    given::reads(until, pc);
    let thread = thread_of(handle);
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    let result = unsafe {
        call_real!(REAL, (pthread_t, *mut *mut c_void, *const timespec) -> c_int, handle, value, until)
    };
    joined(result, thread, value, pc)
}

extern "C-unwind" fn clockjoin(
    handle: pthread_t,
    value: *mut *mut c_void,
    clock: c_int,
    until: *const timespec,
    pc: u64,
) -> c_int {
    static REAL: Real = Real::new(c"pthread_clockjoin_np");
    given::reads(until, pc);
    let thread = thread_of(handle);
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    let result = unsafe {
        call_real!(
            REAL,
            (pthread_t, *mut *mut c_void, c_int, *const timespec) -> c_int,
            handle, value, clock, until
        )
    };
    joined(result, thread, value, pc)
}

/// Nobody will join this thread, if the call was right.
fn detached(result: c_int, thread: Option<u32>, pc: u64) {
    if let (0, Some(thread)) = (result, thread) {
        always(|local| local.plain(Tag::Detach, 0, [pc, u64::from(thread)]));
    }
}

/// Detaches a thread with `real`, a function of the C library that is given its handle.
fn detach_with(handle: pthread_t, pc: u64, real: impl FnOnce() -> c_int) -> c_int {
    // Before the call: one that has ended and is detached leaves its handle to others.
    let thread = thread_of(handle);
    let result = real();
    detached(result, thread, pc);
    result
}

extern "C-unwind" fn detach(handle: pthread_t, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"pthread_detach");
    // SAFETY: forwards the caller's own argument, with the signature of the C library's function.
    detach_with(handle, pc, || unsafe { call_real!(REAL, (pthread_t) -> c_int, handle) })
}

extern "C-unwind" fn c11_detach(handle: pthread_t, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"thrd_detach");
    // SAFETY: forwards the caller's own argument, with the signature of the C library's function.
    detach_with(handle, pc, || unsafe { call_real!(REAL, (pthread_t) -> c_int, handle) })
}

extern "C-unwind" fn set_name(handle: pthread_t, name: *const c_char, _pc: u64) -> c_int {
    static REAL: Real = Real::new(c"pthread_setname_np");
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    let result = unsafe { call_real!(REAL, (pthread_t, *const c_char) -> c_int, handle, name) };
    if result == 0 && status::recording() {
        // SAFETY: the C library has accepted the name: it ends in a zero byte.
        unsafe { thread_handles::name(handle, name) };
    }
    result
}

weak_entries! {
    "pthread_create" => create, "r8";
    "pthread_join" => join, "rdx";
    "thrd_create" => c11_create, "rcx";
    "thrd_join" => c11_join, "rdx";
    "pthread_detach" => detach, "rsi";
    "thrd_detach" => c11_detach, "rsi";
    "pthread_tryjoin_np" => tryjoin, "rdx";
    "pthread_timedjoin_np" => timedjoin, "rcx";
    "pthread_clockjoin_np" => clockjoin, "r8";
    "pthread_setname_np" => set_name, "rdx";
}
