//! `longjmp`: functions are left without returning.
//!
//! A thread's calls are recorded as they are entered and left, and a jump leaves many at once. So `setjmp` notes how deep the
//! thread is, and a jump there first records that everything deeper is left. `setjmp` returns twice, and can therefore not be
//! called from here: its stub notes, and jumps on. Notes are kept outside of the program's buffer, whose size differs between
//! its users; a thread's last [`NOTES`] count, and a jump to an older one leaves the calls as they are.

use std::cell::Cell;

use libc::{c_int, c_void};

use crate::entry_points::weak_entries;
use crate::monitors;
use crate::real_functions::{Real, call_real, listed};
use crate::recorder::thread::{abandon, depth, leave_to};
use crate::recorder::{atomics, branches};

/// How many buffers a thread can have in use.
const NOTES: usize = 32;

thread_local! {
    /// Buffers of this thread, and how deep it was when they were filled.
    static NOTED: [Cell<(u64, u32)>; NOTES] = const { [const { Cell::new((0, 0)) }; NOTES] };
    static NEXT: Cell<usize> = const { Cell::new(0) };
}

fn note(buffer: u64) {
    NOTED.with(|noted| {
        let again = noted.iter().position(|slot| slot.get().0 == buffer);
        let at = again.unwrap_or_else(|| NEXT.replace((NEXT.get() + 1) % NOTES));
        noted[at % NOTES].set((buffer, depth()));
    });
}

/// Stubs of `C name`: note, then go on in the real function as if it had been called.
macro_rules! setters {
    ($($name:ident $note:ident of $c_name:literal;)*) => {
        $(
            extern "C-unwind" fn $note(buffer: u64) -> *mut c_void {
                static REAL: Real = Real::new($c_name);
                note(buffer);
                // SAFETY: lists, and does nothing else.
                unsafe { listed!(REAL) };
                REAL.address()
            }

            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            extern "C-unwind" fn $name() {
                core::arch::naked_asm!(
                    "push rdi", "push rsi", "sub rsp, 8",
                    "call {}",
                    "add rsp, 8", "pop rsi", "pop rdi",
                    "jmp rax",
                    sym $note
                )
            }
        )*
    };
}

setters! {
    setjmp note_setjmp of c"setjmp";
    _setjmp note_plain_setjmp of c"_setjmp";
    __sigsetjmp note_sigsetjmp of c"__sigsetjmp";
}

fn jumps(buffer: u64) {
    // It is the program that jumps. If the runtime has not been left, a signal interrupted it, and it never goes on.
    abandon(atomics::unlock_own);
    NOTED.with(|noted| {
        if let Some(slot) = noted.iter().find(|slot| slot.get().0 == buffer) {
            leave_to(slot.get().1);
            monitors::jumped_to(slot.get().1);
        }
    });
    branches::jumped();
}

macro_rules! jumpers {
    ($($function:ident of $name:literal;)*) => {
        $(extern "C-unwind" fn $function(buffer: *mut c_void, value: c_int, _pc: u64) {
            static REAL: Real = Real::new($name);
            jumps(buffer as u64);
            // SAFETY: forwards the caller's own arguments. The jump skips this frame, which has no value with a destructor.
            unsafe { call_real!(REAL, (*mut c_void, c_int) -> (), buffer, value) }
        })*
    };
}

jumpers! {
    jump of c"longjmp";
    jump_plainly of c"_longjmp";
    jump_from_handler of c"siglongjmp";
    jump_checked of c"__longjmp_chk";
}

weak_entries! {
    "longjmp" => jump, "rdx";
    "_longjmp" => jump_plainly, "rdx";
    "siglongjmp" => jump_from_handler, "rdx";
    "__longjmp_chk" => jump_checked, "rdx";
}
