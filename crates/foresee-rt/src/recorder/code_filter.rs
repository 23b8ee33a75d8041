//! Which code's accesses are recorded: the table of `--only` and `--skip`, which `FORESEE_CODE` names.
//!
//! The driver, which knows the names of functions, has made the table for this very program; another program that inherits
//! the variable records everything. Only plain accesses are filtered: what synchronises is always recorded, and so are accesses of
//! watched variables. Without a table the cost is one load and a branch per access.

use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

use foresee_format::{CODE_HEADER_WORDS, CODE_MAGIC};

use crate::{environment, program};

static IS_ON: AtomicBool = AtomicBool::new(false);
/// The bits, and the code that they are for.
static BITS: AtomicPtr<u64> = AtomicPtr::new(std::ptr::null_mut());
static START: AtomicU64 = AtomicU64::new(0);
static LEN: AtomicU64 = AtomicU64::new(0);
/// Whether all other code's accesses are recorded.
static OUTSIDE: AtomicBool = AtomicBool::new(true);

/// Whether an access is not to be recorded, by the address after the compiler's call for it.
#[inline(always)]
pub(crate) fn leaves_out(pc: u64) -> bool {
    IS_ON.load(Relaxed) && !is_wanted(pc)
}

/// Whether the accesses of some code are not recorded.
pub(crate) fn is_on() -> bool {
    IS_ON.load(SeqCst)
}

fn is_wanted(pc: u64) -> bool {
    let at = pc.wrapping_sub(1).wrapping_sub(START.load(Relaxed));
    if at >= LEN.load(Relaxed) {
        return OUTSIDE.load(Relaxed);
    }
    // SAFETY: `start` has checked that the table has a bit for each of the `LEN` bytes of that code; it is never unmapped.
    let word = unsafe { BITS.load(Relaxed).add((at / 64) as usize).read() };
    word >> (at % 64) & 1 == 1
}

/// Takes the table, if there is one and it is of this program.
pub(crate) fn start() {
    let Some(path) = environment::text(c"FORESEE_CODE") else { return };
    let Some((table, words)) = map(path) else { return };
    // SAFETY: `map` has checked that the file has at least a header; a mapping is aligned to a page.
    let [magic, device, file, start, len, outside] =
        unsafe { table.cast::<[u64; CODE_HEADER_WORDS]>().read() };
    let is_complete = len.is_multiple_of(64) && len / 64 == words - CODE_HEADER_WORDS as u64;
    if magic != CODE_MAGIC || !is_complete || stat(c"/proc/self/exe") != Some((device, file)) {
        return;
    }
    START.store(start.wrapping_add(program::load_bias()), SeqCst);
    LEN.store(len, SeqCst);
    OUTSIDE.store(outside != 0, SeqCst);
    // SAFETY: the table is at least as long as its header, so this is within it or at its end.
    BITS.store(unsafe { table.add(CODE_HEADER_WORDS) }, SeqCst);
    IS_ON.store(true, SeqCst);
}

/// Device and number of a file.
pub(crate) fn stat(path: &CStr) -> Option<(u64, u64)> {
    about(path).map(|about| (about.st_dev, about.st_ino))
}

/// What the file system says of a file. By a name that no variable of a program has, as `stat` may be one.
pub(crate) fn about(path: &CStr) -> Option<libc::stat64> {
    // SAFETY: `path` ends in a zero byte; `about` is a C structure of numbers, for which zeroes are valid, and which the call fills.
    unsafe {
        let mut about: libc::stat64 = std::mem::zeroed();
        (libc::stat64(path.as_ptr(), &mut about) == 0).then_some(about)
    }
}

/// The file in memory, and how many words it has.
pub(crate) fn map(path: &CStr) -> Option<(*mut u64, u64)> {
    // SAFETY: `path` ends in a zero byte, `about` is as in `stat`, and a new mapping at an address of the kernel's choice overlaps
    // nothing that exists. The descriptor was opened here.
    unsafe {
        let fd = libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        let mut about: libc::stat64 = std::mem::zeroed();
        if fd < 0 || libc::fstat64(fd, &mut about) != 0 {
            return None;
        }
        let words = about.st_size as u64 / 8;
        let len = about.st_size as usize;
        let at = libc::mmap(std::ptr::null_mut(), len.max(1), libc::PROT_READ, libc::MAP_PRIVATE, fd, 0);
        libc::close(fd);
        (at != libc::MAP_FAILED && words >= CODE_HEADER_WORDS as u64).then_some((at.cast(), words))
    }
}
