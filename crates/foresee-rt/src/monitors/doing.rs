//! Who does something, and where.

/// A thread, at a place of the program's code.
#[derive(Clone, Copy)]
pub(in crate::monitors) struct Doing {
    pub(in crate::monitors) thread: u32,
    /// 0 if that is not known.
    pub(in crate::monitors) pc: u64,
}
