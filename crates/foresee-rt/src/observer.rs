//! Programs that are observed while they run (`FORESEE_OBSERVER`).
//!
//! The runtime knows how to record, and nothing of specs or clocks. So a program that is to be observed makes way for
//! `foresee forward`, which starts it again, records it, reads along, and tells the observer. That happens before anything of the
//! program has run. The second time `FORESEE_RAW` is set, which keeps it from going round in circles.

use std::ffi::{CStr, c_char, c_void};

use crate::rawfile::say;

/// Becomes `foresee forward` if the program is to be observed.
///
/// # Safety
/// `args` are the program's, with a null pointer after the last.
pub(crate) unsafe fn start(args: *const *const c_char) {
    // SAFETY: names end in zero bytes.
    let is_set = |name: &CStr| unsafe {
        let value = libc::getenv(name.as_ptr());
        !value.is_null() && *value != 0
    };
    if !is_set(c"FORESEE_OBSERVER") || is_set(c"FORESEE_RAW") || args.is_null() || !in_program() {
        return;
    }
    // SAFETY: asks the kernel's own answer.
    if unsafe { libc::getauxval(libc::AT_SECURE) } != 0 {
        return say(&[b"foresee: the program has other rights than its user (setuid): it runs unobserved\n"]);
    }
    let mut path = [0_u8; libc::PATH_MAX as usize];
    // SAFETY: one byte stays zero.
    let len = unsafe { libc::readlink(c"/proc/self/exe".as_ptr(), path.as_mut_ptr().cast(), path.len() - 1) };
    if len > 0 {
        let mut line = vec![c"foresee".as_ptr(), c"forward".as_ptr(), c"--".as_ptr(), path.as_ptr().cast()];
        let mut next = args;
        // SAFETY: the list ends with a null pointer, which is taken along; all strings end in zero bytes.
        unsafe {
            loop {
                line.push(*next);
                if (*next).is_null() {
                    break;
                }
                next = next.add(1);
            }
            libc::execvp(line[0], line.as_ptr());
        }
    }
    say(&[b"foresee: FORESEE_OBSERVER is set, but `foresee` cannot be run: the program runs unobserved\n"]);
}

/// Whether this runtime is part of the program itself, not of a library that may come when the program has begun.
fn in_program() -> bool {
    let object = |address: *const c_void| {
        // SAFETY: `Dl_info` is plain data that `dladdr` fills.
        unsafe {
            let mut info: libc::Dl_info = std::mem::zeroed();
            (libc::dladdr(address, &mut info) != 0).then_some(info.dli_fbase)
        }
    };
    // SAFETY: asks the kernel's own answer.
    let program = unsafe { libc::getauxval(libc::AT_PHDR) } as *const c_void;
    object(program).is_some_and(|base| object(in_program as *const c_void) == Some(base))
}
