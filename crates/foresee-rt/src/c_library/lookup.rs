//! `dlsym`: functions that the program looks up by their names.
//!
//! Asked for a name in a given library, the C library has the function itself, past ours that stands in front of it: what is called
//! by that address would be seen by nobody. So the program gets ours, or, of a function whose calls properties name, what leads to it. What it asks
//! for in the order of all libraries (`RTLD_DEFAULT`, `RTLD_NEXT`) is found as ever: there the program comes first, and who looks for the next means it.

use std::ffi::{CStr, c_char, c_void};

use crate::entry_points::{self, weak_entries};
use crate::real_functions::{REAL_LOOKUP, is_real, look_up_in};
use crate::{calls, program};

/// Libraries that ask for the next function are known to the C library by where they call from, so it is called from there.
///
/// SAFETY: what is called has the arguments of this function, which keeps them; and the stack is as it was when the real function, or ours, is jumped to.
#[unsafe(naked)]
unsafe extern "C-unwind" fn look_up(library: *mut c_void, name: *const c_char, pc: u64) -> *mut c_void {
    core::arch::naked_asm!(
        "push rdi",
        "push rsi",
        "push rdx",
        "call {passed_on}",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        "test rax, rax",
        "je {found}",
        "jmp rax",
        passed_on = sym passed_on,
        found = sym found
    )
}

/// Whether this stands for all libraries, in an order that may depend on who asks.
fn is_special(library: *mut c_void) -> bool {
    library == libc::RTLD_DEFAULT || library == libc::RTLD_NEXT
}

/// The real function, if it has to see who calls it.
extern "C" fn passed_on(library: *mut c_void, _: *const c_char, pc: u64) -> *const c_void {
    if is_special(library) && !program::has_code_at(pc) { REAL_LOOKUP.address() } else { std::ptr::null() }
}

/// What the program is to take for this function.
extern "C-unwind" fn found(library: *mut c_void, name: *const c_char) -> *const c_void {
    // SAFETY: forwards the caller's own arguments.
    let function = unsafe { look_up_in(library, name) };
    if function.is_null() || is_special(library) {
        return function;
    }
    // SAFETY: something has this name, so it is one.
    let name = unsafe { CStr::from_ptr(name) };
    let ours = || entry_points::of_name(name).filter(|_| is_real(function, name));
    calls::in_front_of(function).or_else(ours).unwrap_or(function)
}

weak_entries! {
    "dlsym" => look_up, "rdx";
}
