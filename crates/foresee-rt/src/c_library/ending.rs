//! The end of the process, which threads that nobody joins need not live to see.
//!
//! A process that ends takes its threads along, wherever they are. What they would have done is in no trace, although a machine with
//! more time for them would have had them do it. So the end is put off, for as long as `FORESEE_EXIT_WAIT` says (in milliseconds)
//! at most, and only while some thread has something to do (`other_threads`).
//!
//! It is put off when `main` returns, and when the program calls `exit`: before the functions of `atexit` and the destructors of
//! statics, which are not for threads that go on. A program that ends in another way (`_exit`, a signal) means it.

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering::SeqCst};

use libc::{c_char, c_int, c_void};

use super::other_threads::{Others, look};
use crate::clock;
use crate::entry_points::weak_entries;
use crate::environment;
use crate::real_functions::{Real, call_real};
use crate::recorder::session;
use crate::recorder::thread::{always, are_many};

/// How long threads are left alone between two looks at them, in milliseconds.
const BETWEEN_LOOKS: u64 = 5;
/// So many looks in a row must find all threads asleep.
const LOOKS_ASLEEP: u32 = 3;

static MOST_MILLISECONDS: AtomicU64 = AtomicU64::new(0);

/// Reads how long the end is put off at most.
pub(crate) fn start() {
    MOST_MILLISECONDS.store(environment::number(c"FORESEE_EXIT_WAIT").unwrap_or(0), SeqCst);
}

/// Milliseconds of a clock that only goes forward.
fn now() -> u64 {
    clock::nanoseconds() / 1_000_000
}

fn pause() {
    let time = libc::timespec { tv_sec: 0, tv_nsec: BETWEEN_LOOKS as i64 * 1_000_000 };
    // SAFETY: the call reads `time`; the rest of it is not asked for.
    unsafe { libc::syscall(libc::SYS_nanosleep, &raw const time, std::ptr::null_mut::<c_void>()) };
}

/// Waits until the other threads have ended or sleep for good, or time is over.
extern "C" fn wait_for_threads() {
    let most = MOST_MILLISECONDS.load(SeqCst);
    if most == 0 || !are_many() {
        return;
    }
    // SAFETY: `errno` is this thread's own; it is put back, as it belongs to the program.
    let errno = unsafe { *libc::__errno_location() };
    let end = now().saturating_add(most);
    let mut asleep = 0;
    while now() < end {
        // What is copied to look is not the program's doing.
        asleep = match always(|_| look()) {
            None | Some(Others::None) => break,
            Some(Others::Asleep) => asleep + 1,
            Some(Others::Busy) => 0,
        };
        if asleep == LOOKS_ASLEEP {
            break;
        }
        pause();
    }
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}

extern "C-unwind" fn exit_program(code: c_int, _pc: u64) {
    static REAL: Real = Real::new(c"exit");
    wait_for_threads();
    // SAFETY: forwards the caller's own argument, with the signature of the C library's function, which does not return.
    unsafe { call_real!(REAL, (c_int) -> (), code) }
}

type Main = extern "C-unwind" fn(c_int, *mut *mut c_char, *mut *mut c_char) -> c_int;

/// The program's own.
static MAIN: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// The C library starts the program by this function, and ends it with what it returns.
extern "C-unwind" fn main_and_wait(
    count: c_int,
    arguments: *mut *mut c_char,
    environment: *mut *mut c_char,
) -> c_int {
    // SAFETY: `start_program` has stored the function there, before the C library called this one in its place.
    let main: Main = unsafe { std::mem::transmute(MAIN.load(SeqCst)) };
    let code = main(count, arguments, environment);
    wait_further_down();
    code
}

/// How much of what `main` had on its stack is left as it is, a multiple of 16.
const LEFT_ALONE: usize = 128 << 10;

/// Waits without touching what `main` has left on its stack: threads that go on may use it, as they would if the process ended at once.
#[unsafe(naked)]
extern "C" fn wait_further_down() {
    // SAFETY: the stack is aligned for a call after 8 bytes more than a multiple of 16, and is put back.
    core::arch::naked_asm!(
        "sub rsp, {room}",
        "call {wait}",
        "add rsp, {room}",
        "ret",
        room = const LEFT_ALONE + 8,
        wait = sym wait_for_threads,
    )
}

/// What the code before `main` calls. The functions after it are for programs of older C libraries; null for others.
extern "C-unwind" fn start_program(
    main: *mut c_void,
    count: c_int,
    arguments: *mut *mut c_char,
    initialise: *mut c_void,
    finish: *mut c_void,
    finish_loader: *mut c_void,
    stack_end: *mut c_void,
) -> c_int {
    static REAL: Real = Real::new(c"__libc_start_main");
    MAIN.store(main, SeqCst);
    session::await_end();
    // SAFETY: forwards what the program's own start code passes, with a function of the same type in the place of `main`.
    unsafe {
        call_real!(
            REAL,
            (Main, c_int, *mut *mut c_char, *mut c_void, *mut c_void, *mut c_void, *mut c_void) -> c_int,
            main_and_wait, count, arguments, initialise, finish, finish_loader, stack_end
        )
    }
}

// A program may have functions of its own by these names. Nobody asks where the second is called from.
weak_entries! {
    "exit" => exit_program, "rsi";
}

core::arch::global_asm!(
    ".pushsection .text",
    ".weak __libc_start_main",
    ".type __libc_start_main, @function",
    "__libc_start_main:",
    "jmp {}",
    ".popsection",
    sym start_program
);
