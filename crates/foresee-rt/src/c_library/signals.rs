//! Signals: whoever sends one, or says what handles it, gives; whoever waits for one, and the handler, gets.
//!
//! One object stands for all signals. Edges that are not there hide races, they never invent one.
//!
//! The kernel calls [`handle`], which learns what was given and goes on in the program's handler, or defers it until the thread has left
//! the runtime (`deferred_handlers`). Whoever asks for the handler is answered with the program's. Signals that a thread brings on itself by what it does (`SIGSEGV`) are nobody's message: their
//! handlers are called as they are.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use libc::{c_int, c_uint, c_void, itimerval, pid_t, pthread_t, siginfo_t, sigset_t, sigval, timespec};

use super::channels::OF_SIGNALS;
use super::deferred_handlers;
use super::handing_over::{givers, takers};
use crate::entry_points::weak_entries;
use crate::real_functions::{Real, call_real};
use crate::recorder::edges::release_edge;
use crate::recorder::status;
use crate::recorder::thread::{is_inside, unignored};

givers! {
    KILL signal_process of c"kill" (process: pid_t, signal: c_int) -> c_int, OF_SIGNALS;
    KILLPG signal_group of c"killpg" (group: pid_t, signal: c_int) -> c_int, OF_SIGNALS;
    TGKILL signal_task of c"tgkill" (process: pid_t, task: pid_t, signal: c_int) -> c_int, OF_SIGNALS;
    PTHREAD_KILL signal_thread of c"pthread_kill" (thread: pthread_t, signal: c_int) -> c_int, OF_SIGNALS;
    RAISE signal_itself of c"raise" (signal: c_int) -> c_int, OF_SIGNALS;
    SIGQUEUE signal_with_value of c"sigqueue" (process: pid_t, signal: c_int, value: sigval) -> c_int, OF_SIGNALS;
    PTHREAD_SIGQUEUE signal_thread_with_value of c"pthread_sigqueue" (
        thread: pthread_t, signal: c_int, value: sigval
    ) -> c_int, OF_SIGNALS;
    ALARM signal_later of c"alarm" (seconds: c_uint) -> c_uint, OF_SIGNALS;
    UALARM signal_soon of c"ualarm" (microseconds: c_uint, interval: c_uint) -> c_uint, OF_SIGNALS;
    SETITIMER set_interval_timer of c"setitimer" (
        which: c_int, new: *const itimerval, old: *mut itimerval
    ) -> c_int, OF_SIGNALS;
}

takers! {
    SIGWAIT wait_for_signal of c"sigwait" (
        set: *const sigset_t, signal: *mut c_int
    ) -> c_int, OF_SIGNALS, if |failed| failed == 0;
    SIGWAITINFO wait_for_signal_info of c"sigwaitinfo" (
        set: *const sigset_t, info: *mut siginfo_t
    ) -> c_int, OF_SIGNALS, if |signal| signal > 0;
    SIGTIMEDWAIT wait_for_signal_until of c"sigtimedwait" (
        set: *const sigset_t, info: *mut siginfo_t, timeout: *const timespec
    ) -> c_int, OF_SIGNALS, if |signal| signal > 0;
    SIGSUSPEND suspend of c"sigsuspend" (set: *const sigset_t) -> c_int, OF_SIGNALS, if |_| true;
    PAUSE pause_thread of c"pause" () -> c_int, OF_SIGNALS, if |_| true;
    SIGPENDING ask_for_pending of c"sigpending" (set: *mut sigset_t) -> c_int, OF_SIGNALS, if |failed| failed == 0;
}

/// The program's handlers, by signal.
static HANDLERS: [AtomicUsize; 65] = [const { AtomicUsize::new(0) }; 65];

type Handler = extern "C-unwind" fn(c_int, *mut siginfo_t, *mut c_void);

/// What the kernel calls instead of the program's handler. It passes three arguments, whether they were asked for or not.
extern "C-unwind" fn handle(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let Some(handler) = HANDLERS.get(signal as usize).map(|handler| handler.load(SeqCst)) else { return };
    if !is_function(handler) {
        return;
    }
    // SAFETY: the kernel passes what arrived and what it interrupted, on this thread's stack.
    if is_inside() && can_wait(signal) && unsafe { deferred_handlers::defer(handler, signal, info, context) }
    {
        return;
    }
    unignored(|| {
        deferred_handlers::learn(handler);
        // SAFETY: the program has installed this address as a handler, which takes these arguments or the first of them.
        let handler: Handler = unsafe { std::mem::transmute(handler) };
        handler(signal, info, context);
    });
}

/// Whether a handler may run a moment later than its signal comes: not if what was interrupted cannot go on before.
fn can_wait(signal: c_int) -> bool {
    !matches!(signal, libc::SIGABRT | libc::SIGSYS)
}

fn own() -> usize {
    handle as *const () as usize
}

/// Whether this is the address of a handler, and not one of the small numbers that stand for what the kernel does.
fn is_function(handler: usize) -> bool {
    ![libc::SIG_DFL, libc::SIG_IGN, libc::SIG_ERR, 2].contains(&handler)
}

/// Where the program's handler of a signal is kept that other threads can send.
fn kept(signal: c_int) -> Option<&'static AtomicUsize> {
    match signal {
        libc::SIGSEGV | libc::SIGBUS | libc::SIGFPE | libc::SIGILL | libc::SIGTRAP => None,
        _ => usize::try_from(signal).ok().and_then(|signal| HANDLERS.get(signal)),
    }
}

/// Installs the program's `handler` by `real`, which is given what to install, and says what was there before.
fn install(
    signal: c_int,
    handler: usize,
    pc: u64,
    real: impl FnOnce(usize) -> Option<usize>,
) -> Option<usize> {
    let kept = kept(signal).filter(|_| status::recording() && is_function(handler) && handler != own());
    let before = HANDLERS.get(signal as usize).map_or(0, |handler| handler.load(SeqCst));
    release_edge(OF_SIGNALS, pc);
    let found = match kept {
        Some(kept) => {
            kept.store(handler, SeqCst);
            let found = real(own());
            if found.is_none() {
                kept.store(before, SeqCst);
            }
            found
        }
        None => real(handler),
    };
    found.map(|found| if found == own() { before } else { found })
}

static SIGACTION: Real = Real::new(c"sigaction");

extern "C-unwind" fn set_action(
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
    pc: u64,
) -> c_int {
    let real = |new: *const libc::sigaction| {
        // SAFETY: forwards the caller's own arguments, or for its action a changed copy, which outlives the call.
        unsafe {
            call_real!(
                SIGACTION,
                (c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int,
                signal, new, old
            )
        }
    };
    let mut result = 0;
    // SAFETY: the caller passes an action, or null.
    let handler = match unsafe { new.as_ref() } {
        None => {
            let before = HANDLERS.get(signal as usize).map_or(0, |handler| handler.load(SeqCst));
            result = real(new);
            Some(before)
        }
        Some(&action) => {
            let mut changed = action;
            install(signal, action.sa_sigaction, pc, |handler| {
                changed.sa_sigaction = handler;
                result = real(&changed);
                // What was there before is in `old`, if that was asked for.
                (result == 0).then(own)
            })
        }
    };
    // SAFETY: null, or the caller's own variable, to which the real function has written if it succeeded.
    if let (0, Some(handler), Some(old)) = (result, handler, unsafe { old.as_mut() })
        && old.sa_sigaction == own()
    {
        old.sa_sigaction = handler;
    }
    result
}

/// Functions that install a handler and return the one before.
macro_rules! installers {
    ($($real:ident $function:ident of $name:literal;)*) => {
        $(static $real: Real = Real::new($name);
        extern "C-unwind" fn $function(signal: c_int, handler: usize, pc: u64) -> usize {
            let before = install(signal, handler, pc, |handler| {
                // SAFETY: forwards the caller's own arguments, or a handler that takes the same.
                let before = unsafe { call_real!($real, (c_int, usize) -> usize, signal, handler) };
                (before != libc::SIG_ERR).then_some(before)
            });
            before.unwrap_or(libc::SIG_ERR)
        })*
    };
}

installers! {
    SIGNAL set_handler of c"signal";
    SYSV_SIGNAL set_handler_once of c"__sysv_signal";
}

// A program may have functions of its own by these names.
weak_entries! {
    "kill" => signal_process, "rdx";
    "killpg" => signal_group, "rdx";
    "tgkill" => signal_task, "rcx";
    "pthread_kill" => signal_thread, "rdx";
    "raise" => signal_itself, "rsi";
    "sigqueue" => signal_with_value, "rcx";
    "pthread_sigqueue" => signal_thread_with_value, "rcx";
    "alarm" => signal_later, "rsi";
    "ualarm" => signal_soon, "rdx";
    "setitimer" => set_interval_timer, "rcx";
    "sigwait" => wait_for_signal, "rdx";
    "sigwaitinfo" => wait_for_signal_info, "rdx";
    "sigtimedwait" => wait_for_signal_until, "rcx";
    "sigsuspend" => suspend, "rsi";
    "pause" => pause_thread, "rdi";
    "sigpending" => ask_for_pending, "rsi";
    "sigaction" => set_action, "rcx";
    "signal" => set_handler, "rdx";
    "bsd_signal" => set_handler, "rdx";
    "__sysv_signal" => set_handler_once, "rdx";
}
