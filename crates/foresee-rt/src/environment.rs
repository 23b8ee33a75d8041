//! The variables by which the driver configures the runtime (`FORESEE_…`).
//!
//! They are read once, before the program's own code can change its environment (see `start`): a value therefore stays where it
//! is for as long as it is used.
//!
//! A program that has other rights than the user who started it (setuid, file capabilities) obeys none of them: for it no variable is
//! set, so it opens no file and runs no program that the environment names.

use std::ffi::CStr;

/// The value of a variable, if it is set and not empty, and the environment may be obeyed.
pub(crate) fn text(name: &CStr) -> Option<&'static CStr> {
    if is_untrusted() { None } else { value(name) }
}

/// Whether a variable is set that is not obeyed.
pub(crate) fn is_set_in_vain(name: &CStr) -> bool {
    is_untrusted() && value(name).is_some()
}

fn value(name: &CStr) -> Option<&'static CStr> {
    // SAFETY: `name` ends in a zero byte. The answer is null, or points to a text that ends in a zero byte and that nobody changes
    // during the start of the runtime, which is when this is called.
    let value = unsafe {
        let value = libc::getenv(name.as_ptr());
        (!value.is_null()).then(|| CStr::from_ptr(value))
    };
    value.filter(|value| !value.is_empty())
}

/// The number in a variable, if there is one.
pub(crate) fn number(name: &CStr) -> Option<u64> {
    text(name)?.to_str().ok()?.parse().ok()
}

/// Whether the program has other rights than the user who started it (setuid): then its environment must not be obeyed.
fn is_untrusted() -> bool {
    // SAFETY: reads a value that the kernel passed to the process; there are no preconditions.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}
