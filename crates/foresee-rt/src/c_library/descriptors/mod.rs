//! The functions of the C library that read, write, make and close descriptors. What they mean is in `channels`.

mod buffers;
mod closing;
mod making;
mod transfer;

use crate::c_library::channels;

/// Finds the functions that signal handlers and the children of forks may call: looking for them then is too late.
pub(crate) fn start() {
    channels::FSTAT.prepare();
    for real in transfer::CALLED_EARLY.into_iter().chain(making::CALLED_EARLY).chain(closing::CALLED_EARLY) {
        real.address();
    }
}
