//! Threads begin, get names, end, and are joined: those of POSIX and those of C11.
//!
//! A thread ends when it can do nothing more of the program's: after the destructors of its thread-local variables.
//! C++'s run first; those of `pthread_key_create` run in rounds, and ours puts itself off to the last round.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};

use foresee_format::{MAX_THREADS, Tag};
use libc::{c_char, c_int, c_void, pthread_t, timespec};

use crate::buffer::{Local, always, new_thread};
use crate::entry::entries;
use crate::memory::{real_free, real_malloc};
use crate::rawfile;
use crate::real::{Real, call_real};

/// Which handle each thread has, by the thread's number. A handle may be used again: the last thread that has it counts.
static HANDLES: [AtomicU64; MAX_THREADS as usize] = [const { AtomicU64::new(0) }; MAX_THREADS as usize];
static NEWEST: AtomicU32 = AtomicU32::new(0);

/// The key whose destructor sees threads end.
static END: AtomicU32 = AtomicU32::new(u32::MAX);

/// How often the C library runs destructors of keys that are set again.
const ROUNDS: usize = 4;

pub(crate) fn start() {
    if !rawfile::recording() || END.load(SeqCst) != u32::MAX {
        return;
    }
    let mut key = 0;
    // SAFETY: `key` is written, `ending` has the signature of a key's destructor.
    if unsafe { libc::pthread_key_create(&mut key, Some(ending)) } == 0 {
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
            // SAFETY: no preconditions.
            note_handle(thread, unsafe { libc::pthread_self() });
        }
    });
}

/// Forgets all handles: in the child of a fork there are no other threads.
pub(crate) fn forget() {
    for slot in HANDLES.iter().take(NEWEST.swap(0, SeqCst) as usize + 1) {
        slot.store(0, SeqCst);
    }
}

fn note_handle(thread: u32, handle: pthread_t) {
    if let Some(slot) = HANDLES.get(thread as usize) {
        slot.store(handle, SeqCst);
        raise(&NEWEST, thread);
    }
}

/// Not by `fetch_max`: a program in which that is found is doubted, as compilers do not instrument it.
fn raise(number: &AtomicU32, to: u32) {
    let mut known = number.load(SeqCst);
    while known < to
        && let Err(now) = number.compare_exchange_weak(known, to, SeqCst, SeqCst)
    {
        known = now;
    }
}

fn thread_of(handle: pthread_t) -> Option<u32> {
    let newest = NEWEST.load(SeqCst);
    (0..=newest)
        .rev()
        .find(|&thread| HANDLES.get(thread as usize).is_some_and(|slot| slot.load(SeqCst) == handle))
}

type Routine = extern "C-unwind" fn(*mut c_void) -> *mut c_void;
/// What a thread of C11 runs.
type C11Routine = extern "C-unwind" fn(*mut c_void) -> c_int;

/// What a new thread has to do, handed over in memory of the C library.
struct Start<F> {
    routine: F,
    argument: *mut c_void,
    thread: u32,
}

/// Makes a thread with `real`, which is given what to run and with which argument: the program's own, or `first`.
fn create_with<F: Copy>(
    routine: F,
    argument: *mut c_void,
    first: F,
    pc: u64,
    handle: *mut pthread_t,
    real: impl FnOnce(F, *mut c_void) -> c_int,
) -> c_int {
    let thread = if rawfile::recording() { new_thread() } else { None };
    let (mut run, mut with) = (routine, argument);
    let mut start = std::ptr::null_mut();
    if let Some(thread) = thread {
        // SAFETY: memory for one `Start`; without it, the thread runs unnumbered.
        unsafe {
            start = real_malloc(size_of::<Start<F>>()).cast::<Start<F>>();
            if !start.is_null() {
                start.write(Start { routine, argument, thread });
                (run, with) = (first, start.cast());
            }
        }
        always(|local| local.stamped(Tag::Fork, 0, [pc, u64::from(thread)]));
    }
    let result = real(run, with);
    // SAFETY: the thread does not exist, and so not use its `Start`; or it does, and has a handle.
    unsafe {
        if result != 0 {
            real_free(start.cast());
        } else if let Some(thread) = thread {
            note_handle(thread, *handle);
        }
    }
    result
}

extern "C-unwind" fn create(
    handle: *mut pthread_t,
    attributes: *const c_void,
    routine: Routine,
    argument: *mut c_void,
    pc: u64,
) -> c_int {
    static REAL: Real = Real::new(c"pthread_create");
    // SAFETY: the arguments are the caller's own, or those of `first`.
    create_with(routine, argument, first as Routine, pc, handle, |run, with| unsafe {
        call_real!(
            REAL,
            (*mut pthread_t, *const c_void, Routine, *mut c_void) -> c_int,
            handle, attributes, run, with
        )
    })
}

extern "C-unwind" fn c11_create(
    handle: *mut pthread_t,
    routine: C11Routine,
    argument: *mut c_void,
    pc: u64,
) -> c_int {
    static REAL: Real = Real::new(c"thrd_create");
    // SAFETY: as above.
    create_with(routine, argument, c11_first as C11Routine, pc, handle, |run, with| unsafe {
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
    // SAFETY: `create_with` handed this memory over to us.
    let Start { routine, argument, thread } = unsafe { start.cast::<Start<F>>().read() };
    // SAFETY: it is read and nobody else has it.
    unsafe { real_free(start) };
    // SAFETY: no preconditions; the key is set so that its destructor runs.
    unsafe {
        note_handle(thread, libc::pthread_self());
        libc::pthread_setspecific(END.load(SeqCst), ROUNDS as *const c_void);
    }
    always(|local| {
        local.set_thread(thread);
        local.stamped(Tag::Begin, 0, []);
        own_stack(local);
    });
    (routine, argument)
}

/// More than this of a stack is not announced. The main thread's may be without a limit, and only its upper end is used.
const MOST_STACK: u64 = 1 << 30;

/// Announces the stack of the thread that has just begun: an allocation that no place in the program makes. Stacks are
/// used again: what an earlier thread did there is another life.
fn own_stack(local: &Local) {
    if let Some((addr, size)) = stack() {
        let size_told = size.min(MOST_STACK);
        local.plain(Tag::Alloc, 0, [0, addr + (size - size_told), size_told]);
    }
}

/// The stack of this thread.
fn stack() -> Option<(u64, u64)> {
    // SAFETY: the attributes are filled by the first call and destroyed by the last.
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

/// The destructor of our key: runs when the thread ends, and puts itself off to the last round.
unsafe extern "C" fn ending(rounds: *mut c_void) {
    let rounds = rounds as usize;
    if rounds > 1 {
        // SAFETY: the key exists for as long as the process.
        unsafe { libc::pthread_setspecific(END.load(SeqCst), (rounds - 1) as *const c_void) };
        return;
    }
    always(|local| {
        local.stamped(Tag::End, 0, []);
        local.end();
    });
}

fn joined(result: c_int, thread: Option<u32>, pc: u64) -> c_int {
    if let (0, Some(thread)) = (result, thread) {
        always(|local| local.stamped(Tag::Join, 0, [pc, u64::from(thread)]));
    }
    result
}

extern "C-unwind" fn join(handle: pthread_t, value: *mut *mut c_void, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"pthread_join");
    // Before the call: once it is joined, its handle may be another's.
    let thread = thread_of(handle);
    // SAFETY: the arguments are the caller's own.
    let result = unsafe { call_real!(REAL, (pthread_t, *mut *mut c_void) -> c_int, handle, value) };
    joined(result, thread, pc)
}

extern "C-unwind" fn c11_join(handle: pthread_t, value: *mut c_int, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"thrd_join");
    let thread = thread_of(handle);
    // SAFETY: the arguments are the caller's own.
    let result = unsafe { call_real!(REAL, (pthread_t, *mut c_int) -> c_int, handle, value) };
    joined(result, thread, pc)
}

extern "C-unwind" fn tryjoin(handle: pthread_t, value: *mut *mut c_void, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"pthread_tryjoin_np");
    let thread = thread_of(handle);
    // SAFETY: the arguments are the caller's own.
    let result = unsafe { call_real!(REAL, (pthread_t, *mut *mut c_void) -> c_int, handle, value) };
    joined(result, thread, pc)
}

extern "C-unwind" fn timedjoin(
    handle: pthread_t,
    value: *mut *mut c_void,
    until: *const timespec,
    pc: u64,
) -> c_int {
    static REAL: Real = Real::new(c"pthread_timedjoin_np");
    let thread = thread_of(handle);
    // SAFETY: the arguments are the caller's own.
    let result = unsafe {
        call_real!(REAL, (pthread_t, *mut *mut c_void, *const timespec) -> c_int, handle, value, until)
    };
    joined(result, thread, pc)
}

extern "C-unwind" fn clockjoin(
    handle: pthread_t,
    value: *mut *mut c_void,
    clock: c_int,
    until: *const timespec,
    pc: u64,
) -> c_int {
    static REAL: Real = Real::new(c"pthread_clockjoin_np");
    let thread = thread_of(handle);
    // SAFETY: the arguments are the caller's own.
    let result = unsafe {
        call_real!(
            REAL,
            (pthread_t, *mut *mut c_void, c_int, *const timespec) -> c_int,
            handle, value, clock, until
        )
    };
    joined(result, thread, pc)
}

extern "C-unwind" fn set_name(handle: pthread_t, name: *const c_char, _pc: u64) -> c_int {
    static REAL: Real = Real::new(c"pthread_setname_np");
    // SAFETY: the arguments are the caller's own.
    let result = unsafe { call_real!(REAL, (pthread_t, *const c_char) -> c_int, handle, name) };
    if result == 0
        && rawfile::recording()
        && let Some(thread) = thread_of(handle)
    {
        // SAFETY: the C library has accepted the name: it ends in a zero byte.
        rawfile::name_thread(thread, unsafe { std::ffi::CStr::from_ptr(name) }.to_bytes());
    }
    result
}

/// Names the calling thread in the trace.
pub(crate) fn name_this_thread(name: *const c_char) {
    // SAFETY: the name is the caller's, and ends in a zero byte.
    if let Some(thread) = thread_of(unsafe { libc::pthread_self() })
        && !name.is_null()
    {
        rawfile::name_thread(thread, unsafe { std::ffi::CStr::from_ptr(name) }.to_bytes());
    }
}

entries! {
    pthread_create => create, "r8";
    pthread_join => join, "rdx";
    thrd_create => c11_create, "rcx";
    thrd_join => c11_join, "rdx";
    pthread_tryjoin_np => tryjoin, "rdx";
    pthread_timedjoin_np => timedjoin, "rcx";
    pthread_clockjoin_np => clockjoin, "r8";
    pthread_setname_np => set_name, "rdx";
}
