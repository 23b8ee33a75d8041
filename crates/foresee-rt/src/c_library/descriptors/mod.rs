//! The functions of the C library that read, write, make and close descriptors. What they mean is in `channels`.

mod buffers;
mod closing;
mod making;
mod moving;
mod rare_buffers;
mod readiness;
mod transfer;
