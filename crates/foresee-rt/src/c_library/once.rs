//! What is done once: `pthread_once` (and so `call_once` of GNU's C++ library), C11's `call_once`, that of LLVM's C++ library, and C++'s
//! function-local statics.

use std::cell::Cell;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::SeqCst};

use libc::{c_int, c_void};

use crate::entry_points::weak_entries;
use crate::real_functions::{Real, call_real};
use crate::recorder::atomics::{ORDER_ACQUIRE, ORDER_RELEASE, atomic};
use crate::recorder::edges::{acquire_edge, release_edge};
use crate::recorder::thread::AtomicEffect;

type Initialiser = extern "C-unwind" fn();

thread_local! {
    /// What the `pthread_once` that this thread is in would run, for which control, called from where.
    static ONCE: Cell<Option<(Initialiser, u64, u64)>> = const { Cell::new(None) };
}

/// Does with `control` what `real` does with it and [`initialise`], for the program's own initialiser.
fn do_once<R>(control: *mut c_void, initialiser: Initialiser, pc: u64, real: impl FnOnce() -> R) -> R {
    let outer = ONCE.replace(Some((initialiser, control as u64, pc)));
    let result = real();
    ONCE.set(outer);
    acquire_edge(control as u64, pc);
    result
}

extern "C-unwind" fn once(control: *mut c_void, initialiser: Initialiser, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"pthread_once");
    // SAFETY: passes the caller's own control and an initialiser of the same type, which runs within this call, on this thread.
    do_once(control, initialiser, pc, || unsafe {
        call_real!(REAL, (*mut c_void, Initialiser) -> c_int, control, initialise)
    })
}

extern "C-unwind" fn c11_once(control: *mut c_void, initialiser: Initialiser, pc: u64) {
    static REAL: Real = Real::new(c"call_once");
    // SAFETY: passes the caller's own control and an initialiser of the same type, which runs within this call, on this thread.
    do_once(control, initialiser, pc, || unsafe {
        call_real!(REAL, (*mut c_void, Initialiser) -> (), control, initialise)
    });
}

/// Runs the program's initialiser, after all attempts that were given up, and publishes what it did before anyone can see
/// that it is done, or begin the next attempt.
extern "C-unwind" fn initialise() {
    if let Some((initialiser, control, pc)) = ONCE.get() {
        acquire_edge(control, pc);
        let _published = Published { control, pc };
        initialiser();
    }
}

/// Publishes when it is dropped. The one value that an unwinding drops here: the C library lets another thread try when
/// the exception, or the end of the thread, has passed us, and nothing else of ours is called before.
struct Published {
    control: u64,
    pc: u64,
}

impl Drop for Published {
    fn drop(&mut self) {
        release_edge(self.control, self.pc);
    }
}

type InitialiserOf = extern "C-unwind" fn(*mut c_void);

/// In the flag of LLVM's `call_once`: somebody does it; it is done.
const UNDER_WAY: u64 = 1;
const DONE: u64 = u64::MAX;

/// What LLVM's `call_once` is to run, and where its flag is.
struct OnceCall {
    initialiser: InitialiserOf,
    argument: *mut c_void,
    flag: u64,
    pc: u64,
}

/// LLVM's `call_once`, for a flag that was not done when its caller looked. The flag is an atomic of the program's, which looks at it by code that
/// is compiled into it.
extern "C-unwind" fn llvm_once(flag: *mut u64, argument: *mut c_void, initialiser: InitialiserOf, pc: u64) {
    static REAL: Real = Real::new(c"_ZNSt3__111__call_onceERVmPvPFvS2_E");
    let mut call = OnceCall { initialiser, argument, flag: flag as u64, pc };
    // SAFETY: passes the caller's own flag, and an initialiser of the same type with its argument, which runs within this call.
    unsafe {
        call_real!(
            REAL,
            (*mut u64, *mut c_void, InitialiserOf) -> (),
            flag,
            (&raw mut call).cast(),
            initialise_for_llvm
        );
    }
    atomic(flag as u64, 3, pc, || {
        // SAFETY: the caller's flag, which lives during the call.
        let value = unsafe { AtomicU64::from_ptr(flag) }.load(SeqCst);
        ((), AtomicEffect::Load(value), ORDER_ACQUIRE)
    });
}

/// Runs the program's initialiser, and publishes what it did before the library does.
extern "C-unwind" fn initialise_for_llvm(call: *mut c_void) {
    // SAFETY: `llvm_once` passes this, and waits for it.
    let &OnceCall { initialiser, argument, flag, pc } = unsafe { &*call.cast() };
    acquire_edge(flag, pc);
    set_flag(flag, UNDER_WAY, pc);
    let mut published = PublishedForLlvm { flag, pc, value: 0 };
    initialiser(argument);
    published.value = DONE;
}

fn set_flag(flag: u64, value: u64, pc: u64) {
    atomic(flag, 3, pc, || ((), AtomicEffect::Store(value), ORDER_RELEASE));
}

/// As [`Published`]: an initialiser that throws leaves the flag as it was.
struct PublishedForLlvm {
    flag: u64,
    pc: u64,
    value: u64,
}

impl Drop for PublishedForLlvm {
    fn drop(&mut self) {
        release_edge(self.flag, self.pc);
        set_flag(self.flag, self.value, self.pc);
    }
}

/// The first byte of a static's guard, which says whether the static is initialised.
fn done(guard: *mut c_void) -> u8 {
    // SAFETY: compilers pass the address of the guard, which lives as long as its static. The byte is an atomic of the program:
    // the check before these calls, which is compiled into it, loads it as one.
    unsafe { AtomicU8::from_ptr(guard.cast()) }.load(SeqCst)
}

extern "C-unwind" fn guard_acquire(guard: *mut c_void, pc: u64) -> c_int {
    static REAL: Real = Real::new(c"__cxa_guard_acquire");
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    let initialise = unsafe { call_real!(REAL, (*mut c_void) -> c_int, guard) };
    if initialise == 0 {
        // Another thread did it.
        atomic(guard as u64, 0, pc, || {
            let value = done(guard);
            ((), AtomicEffect::Load(value.into()), ORDER_ACQUIRE)
        });
    } else {
        // Another thread may have tried, and given up.
        acquire_edge(guard as u64, pc);
    }
    initialise
}

extern "C-unwind" fn guard_release(guard: *mut c_void, pc: u64) {
    static REAL: Real = Real::new(c"__cxa_guard_release");
    atomic(guard as u64, 0, pc, || {
        // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
        unsafe { call_real!(REAL, (*mut c_void) -> (), guard) };
        ((), AtomicEffect::Store(done(guard).into()), ORDER_RELEASE)
    });
}

/// An initialiser has thrown: the next thread tries again, and finds what this one has left.
extern "C-unwind" fn guard_abort(guard: *mut c_void, pc: u64) {
    static REAL: Real = Real::new(c"__cxa_guard_abort");
    release_edge(guard as u64, pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the C library's function.
    unsafe { call_real!(REAL, (*mut c_void) -> (), guard) };
}

// A program may have LLVM's library in itself.
weak_entries! {
    "_ZNSt3__111__call_onceERVmPvPFvS2_E" => llvm_once, "rcx";
}

weak_entries! {
    "pthread_once" => once, "rdx";
    "call_once" => c11_once, "rdx";
    "__cxa_guard_acquire" => guard_acquire, "rsi";
    "__cxa_guard_release" => guard_release, "rsi";
    "__cxa_guard_abort" => guard_abort, "rsi";
}
