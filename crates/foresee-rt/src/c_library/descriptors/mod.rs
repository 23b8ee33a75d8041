//! The functions of the C library that read, write, make and close descriptors. What they mean is in `channels`.

mod buffers;
mod closing;
mod making;
mod moving;
mod readiness;
mod transfer;

use crate::c_library::channels;

/// Finds the functions that signal handlers and the children of forks may call: looking for them then is too late.
pub(crate) fn start() {
    channels::FSTAT.prepare();
    let transfer_and_making = transfer::CALLED_EARLY.into_iter().chain(making::CALLED_EARLY);
    let closing_and_readiness = closing::CALLED_EARLY.into_iter().chain(readiness::CALLED_EARLY);
    for real in transfer_and_making.chain(closing_and_readiness) {
        real.address();
    }
}
