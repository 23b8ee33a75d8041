//! Messages to the user, on standard error.

/// Writes these parts to standard error. It does not allocate, so it can be used anywhere in the runtime.
pub(crate) fn say(parts: &[&[u8]]) {
    for part in parts {
        // SAFETY: pointer and length are those of a slice, which outlives the call. A failed write is ignored: there is nowhere
        // else to report it.
        unsafe { libc::write(2, part.as_ptr().cast(), part.len()) };
    }
}

/// Ends the process for this reason, without running any more of the program's code: what it does from here on would not be what was asked to be seen.
pub(crate) fn fail(why: &[u8]) -> ! {
    say(&[b"foresee: ", why, b"\n"]);
    // SAFETY: has no preconditions.
    unsafe { libc::_exit(1) }
}
