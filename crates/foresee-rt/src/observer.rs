//! Programs that are observed while they run (`FORESEE_OBSERVER`).
//!
//! The runtime knows how to record, and nothing of specs or clocks. So a program that is to be observed makes way for
//! `foresee forward`, which starts it again, records it, reads along, and reports to the observer. That happens before anything of
//! the program has run. The second time `FORESEE_RAW` is set, so the program does not make way again.

use std::ffi::{CStr, CString, c_char, c_void};

use crate::environment;
use crate::message::say;

/// Becomes `foresee forward` if the program is to be observed.
///
/// # Safety
/// `args` are the program's, with a null pointer after the last.
pub(crate) unsafe fn start(args: *const *const c_char) {
    if environment::is_set_in_vain(c"FORESEE_OBSERVER") {
        return say(&[b"foresee: the program has other rights than its user (setuid): it runs unobserved\n"]);
    }
    let is_set = |name| environment::text(name).is_some();
    if !is_set(c"FORESEE_OBSERVER") || is_set(c"FORESEE_RAW") || args.is_null() || !in_program() {
        return;
    }
    let mut path = [0_u8; libc::PATH_MAX as usize];
    // SAFETY: `readlink` writes no more than it is allowed: one byte of the buffer stays zero and ends the path.
    let len = unsafe { libc::readlink(c"/proc/self/exe".as_ptr(), path.as_mut_ptr().cast(), path.len() - 1) };
    if len > 0 {
        let mut line = vec![c"foresee".as_ptr(), c"forward".as_ptr(), c"--".as_ptr(), path.as_ptr().cast()];
        let mut next = args;
        // SAFETY: `args` is the caller's list, which ends with a null pointer; that is copied, too, so `line` ends with one. All
        // strings end in zero bytes and live as long as the process.
        unsafe {
            loop {
                line.push(*next);
                if (*next).is_null() {
                    break;
                }
                next = next.add(1);
            }
            become_forward(&line);
        }
    }
    // SAFETY: no other thread is there yet that could read the environment.
    unsafe { libc::unsetenv(c"FORESEE_SECRET".as_ptr()) };
    say(&[b"foresee: FORESEE_OBSERVER is set, but `foresee` cannot be run: the program runs unobserved\n"]);
}

/// Runs the first `foresee` of the PATH. Only folders with an absolute name count: what lies in the folder that the program
/// happens to be in is not ours.
///
/// # Safety
/// `line` are texts that end in zero bytes, with a null pointer after the last.
unsafe fn become_forward(line: &[*const c_char]) {
    let folders = environment::text(c"PATH").map_or(&[][..], CStr::to_bytes);
    for folder in folders.split(|&byte| byte == b':').filter(|folder| folder.starts_with(b"/")) {
        let Ok(program) = CString::new([folder, b"/foresee"].concat()) else { continue };
        // SAFETY: the path ends in a zero byte, and the caller vouches for the line. It returns only if that cannot be run.
        unsafe { libc::execv(program.as_ptr(), line.as_ptr()) };
    }
}

/// Whether this runtime is part of the program itself, not of a library that may come when the program has begun.
fn in_program() -> bool {
    let object = |address: *const c_void| {
        // SAFETY: `Dl_info` consists of pointers, which may be null; `dladdr` fills it, and accepts any address.
        unsafe {
            let mut info: libc::Dl_info = std::mem::zeroed();
            (libc::dladdr(address, &mut info) != 0).then_some(info.dli_fbase)
        }
    };
    // SAFETY: reads a value that the kernel passed to the process; there are no preconditions.
    let program = unsafe { libc::getauxval(libc::AT_PHDR) } as *const c_void;
    object(program).is_some_and(|base| object(in_program as *const c_void) == Some(base))
}
