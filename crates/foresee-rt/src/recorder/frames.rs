//! The calls that a thread is in, for chunks that begin with them (`ring`).
//!
//! A thread's calls are one mapping that is as large as they can become; the kernel gives it memory page by page as it is used.

/// How many calls of a thread are known.
const DEEPEST: usize = 1 << 16;
/// How many of them, the innermost, are written at the beginning of a chunk.
const WRITTEN: usize = 256;

/// The calls that a thread is in, where they are known: call and callee by depth. Null until the first one.
#[derive(Clone, Copy)]
pub(crate) struct Frames(*mut [u64; 2]);

impl Frames {
    pub(crate) const NONE: Frames = Frames(std::ptr::null_mut());

    /// Notes the call at this depth; the calls with it.
    #[inline(always)]
    pub(crate) fn note(self, depth: u32, frame: [u64; 2]) -> Frames {
        let frames = if self.0.is_null() { Frames::new() } else { self };
        if !frames.0.is_null() && (depth as usize) < DEEPEST {
            // SAFETY: `new` mapped room for `DEEPEST` calls, which only this thread uses.
            unsafe { frames.0.add(depth as usize).write(frame) };
        }
        frames
    }

    #[cold]
    #[inline(never)]
    fn new() -> Frames {
        // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing that exists. `errno` is this thread's own; it
        // is put back, as the program may look at it.
        let at = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            let errno = *libc::__errno_location();
            let len = DEEPEST * size_of::<[u64; 2]>();
            let at = libc::mmap(std::ptr::null_mut(), len, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            *libc::__errno_location() = errno;
            at
        };
        if at == libc::MAP_FAILED { Frames::NONE } else { Frames(at.cast()) }
    }

    /// The innermost calls of those at smaller depths, outermost first; `None` if they are not known.
    pub(crate) fn innermost(self, depth: u32) -> Option<&'static [[u64; 2]]> {
        let depth = depth as usize;
        if depth == 0 {
            return Some(&[]);
        }
        if self.0.is_null() || depth > DEEPEST {
            return None;
        }
        // SAFETY: the mapping has room for `DEEPEST` calls, and zeroes where none was noted. Only this thread changes them, when it
        // enters a function, which it does not while it is here; it unmaps them when it ends.
        Some(unsafe { &std::slice::from_raw_parts(self.0, depth)[depth.saturating_sub(WRITTEN)..] })
    }

    /// Gives the memory back: the thread has ended.
    pub(crate) fn drop(self) {
        if !self.0.is_null() {
            // SAFETY: this is how `new` mapped it. It belongs to the thread that has ended.
            unsafe { libc::munmap(self.0.cast(), DEEPEST * size_of::<[u64; 2]>()) };
        }
    }
}
