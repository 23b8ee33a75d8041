//! Does for a handler that was deferred what the kernel would have done.
//!
//! The kernel calls a handler with signals blocked, perhaps on another stack, and with a description of what it interrupted; when it
//! returns, all is as before. It had just done so when the signal was deferred. What it had set up is read off and
//! then set up again, so that nothing has to be known of the flags and masks with which the handler was installed.
//!
//! The *context* is the exception. The code that was interrupted is over by then, and its stack used again; whoever walked the stack
//! from its registers would find garbage. So the handler gets the context in which it is called now, and may go back there by
//! `setcontext`, as if it had returned. A handler that changes the registers in it changes nothing; the mask counts.

use std::mem::{MaybeUninit, offset_of};

use libc::{c_int, c_void, siginfo_t, stack_t, ucontext_t};

use super::blocked_signals::{ALL_THAT_CAN_WAIT, block};
use super::channels::{OF_SIGNALS, takes_from};
use crate::recorder::thread::{self, DeferredSignal, SignalSet};

/// The set of signals that are blocked when the context is gone back to. The kernel's are the first words of the C library's, whose
/// rest is not there in a context that is the kernel's.
///
/// # Safety
/// It is a context that the kernel passed to a handler that has not returned, or one of the C library's.
unsafe fn blocked_in(context: *mut ucontext_t) -> *mut SignalSet {
    // SAFETY: the caller vouches for the context; a set of either kind is aligned as a word.
    unsafe { (&raw mut (*context).uc_sigmask).cast() }
}

/// The kernel forgets a stack with this flag as it begins to use it. Such a handler runs on the thread's own stack.
const SS_AUTODISARM: c_int = 1 << 31;

fn is_on(stack: &stack_t, address: usize) -> bool {
    (stack.ss_sp as usize..stack.ss_sp as usize + stack.ss_size).contains(&address)
}

/// Has the handler run when this thread, which is inside of the runtime, leaves it. Whether that is possible.
///
/// # Safety
/// The kernel has called a handler with these arguments, which has not returned.
pub(super) unsafe fn defer(
    handler: usize,
    signal: c_int,
    info: *const siginfo_t,
    context: *mut c_void,
) -> bool {
    let context: *mut ucontext_t = context.cast();
    let blocked = block(ALL_THAT_CAN_WAIT);
    // SAFETY: the caller vouches for what the kernel passed.
    let kept = thread::defer(
        |interrupted_this| unsafe {
            let stack = (*context).uc_stack;
            DeferredSignal {
                handler,
                signal,
                info: *info,
                blocked_before: *blocked_in(context),
                // A signal that came after this one and was deferred before it has blocked all others already.
                blocked_in_handler: interrupted_this.map_or(blocked, |other| other.blocked_before),
                stack: (is_on(&stack, (&raw const stack) as usize) && stack.ss_flags & SS_AUTODISARM == 0)
                    .then_some(stack),
            }
        },
        deliver,
    );
    if kept {
        // SAFETY: the context is the kernel's, which takes the mask from there when the handler returns.
        unsafe { *blocked_in(context) = ALL_THAT_CAN_WAIT };
    } else {
        block(blocked);
    }
    kept
}

/// The handler of a signal knows what whoever sent it had done.
pub(super) fn learn(handler: usize) {
    // SAFETY: `errno` is this thread's own; it is put back, as it belongs to the code that was interrupted.
    unsafe {
        let errno = *libc::__errno_location();
        takes_from(OF_SIGNALS, handler as u64);
        *libc::__errno_location() = errno;
    }
}

/// Runs the handlers of these signals. All that can wait are blocked.
fn deliver(signals: &mut [Option<DeferredSignal>]) {
    // SAFETY: `errno` is this thread's own; it is put back, as it belongs to the code that was interrupted.
    let errno = unsafe { *libc::__errno_location() };
    let mut blocked_after = None;
    for deferred in signals.iter_mut().flatten() {
        let mut context = MaybeUninit::uninit();
        thread::unrecorded(|| make_context(&mut context, deferred));
        let context = context.as_mut_ptr();
        let other_stack = deferred.stack.filter(|stack| !is_on(stack, context as usize));
        let stack_top = other_stack.map_or(0, |stack| stack.ss_sp as usize + stack.ss_size);
        block(deferred.blocked_in_handler);
        thread::unignored(|| {
            learn(deferred.handler);
            // SAFETY: the program has installed this address as a handler, which takes these arguments or the first of them. They are
            // valid until it returns. The thread is not on the other stack, which it has set up for handlers.
            unsafe {
                call_handler(deferred.signal, &mut deferred.info, context, deferred.handler, stack_top)
            };
        });
        // SAFETY: the context is the one that was made above.
        unsafe {
            // Now it is the next handler's turn, and no other's.
            block(ALL_THAT_CAN_WAIT);
            blocked_after = Some(*blocked_in(context));
        }
    }
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
    if let Some(blocked) = blocked_after {
        block(blocked);
    }
}

/// The context of the caller, as the kernel would describe it; `call_handler` completes it.
fn make_context(context: &mut MaybeUninit<ucontext_t>, deferred: &DeferredSignal) {
    *context = MaybeUninit::zeroed();
    let context = context.as_mut_ptr();
    // SAFETY: a context is a C structure of numbers and pointers, for which zeroes are valid. `getcontext` returns a second time only to
    // those who go back to the context before `call_handler` has changed where it is.
    unsafe {
        libc::getcontext(context);
        *blocked_in(context) = deferred.blocked_before;
        (*context).uc_stack = deferred.stack.unwrap_or((*context).uc_stack);
    }
}

const fn register(number: c_int) -> usize {
    offset_of!(ucontext_t, uc_mcontext) + 8 * number as usize
}

/// Calls the handler, on the stack that ends at `stack_top` or, if that is 0, on this one. The context becomes that of the handler's
/// return.
///
/// # Safety
/// `handler` takes these arguments, which are valid, and there is such a stack, on which nothing is.
#[unsafe(naked)]
unsafe extern "C-unwind" fn call_handler(
    signal: c_int,
    info: *mut siginfo_t,
    context: *mut ucontext_t,
    handler: usize,
    stack_top: usize,
) {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "mov [rdx + {rbx}], rbx",
        "mov [rdx + {rbp}], rbp",
        "mov [rdx + {r12}], r12",
        "mov [rdx + {r13}], r13",
        "mov [rdx + {r14}], r14",
        "mov [rdx + {r15}], r15",
        "mov [rdx + {rsp}], rsp",
        "lea rax, [rip + 2f]",
        "mov [rdx + {rip}], rax",
        "test r8, r8",
        "cmovnz rsp, r8",
        "and rsp, -16",
        "call rcx",
        "2:",
        "leave",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
        rbx = const register(libc::REG_RBX),
        rbp = const register(libc::REG_RBP),
        r12 = const register(libc::REG_R12),
        r13 = const register(libc::REG_R13),
        r14 = const register(libc::REG_R14),
        r15 = const register(libc::REG_R15),
        rsp = const register(libc::REG_RSP),
        rip = const register(libc::REG_RIP),
    )
}
