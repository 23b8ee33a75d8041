//! Which code's accesses are recorded: the table of `--only` and `--skip`, which `FORESEE_CODE` names.
//!
//! The driver, which knows the names of functions, has made the table for this very program; another program that inherits
//! the variable records everything. What synchronises is not asked for: it is always recorded, and so is what is watched.
//! Without a table this is one load and a branch per access.

use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

use foresee_format::{CODE_HEADER_WORDS, CODE_MAGIC};

use crate::watched::bias;

static IS_ON: AtomicBool = AtomicBool::new(false);
/// The bits, and the code that they are for.
static BITS: AtomicPtr<u64> = AtomicPtr::new(std::ptr::null_mut());
static START: AtomicU64 = AtomicU64::new(0);
static LEN: AtomicU64 = AtomicU64::new(0);
/// Whether all other code's accesses are recorded.
static OUTSIDE: AtomicBool = AtomicBool::new(true);

/// Whether an access is not to be recorded, by the address after the call that tells it.
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
    // SAFETY: the table has a bit for each byte of that code, and stays mapped.
    let word = unsafe { BITS.load(Relaxed).add((at / 64) as usize).read() };
    word >> (at % 64) & 1 == 1
}

/// Takes the table, if there is one and it is of this program.
pub(crate) fn start() {
    // SAFETY: the name ends in a zero byte; the value is used before the program can change its environment.
    let path = unsafe {
        let path = libc::getenv(c"FORESEE_CODE".as_ptr());
        if path.is_null() || IS_ON.load(SeqCst) {
            return;
        }
        CStr::from_ptr(path)
    };
    let Some((table, words)) = map(path) else { return };
    // SAFETY: `map` found the header to be there.
    let [magic, device, file, start, len, outside] =
        unsafe { table.cast::<[u64; CODE_HEADER_WORDS]>().read() };
    let is_whole = len.is_multiple_of(64) && len / 64 == words - CODE_HEADER_WORDS as u64;
    if magic != CODE_MAGIC || !is_whole || stat(c"/proc/self/exe") != Some((device, file)) {
        return;
    }
    START.store(start.wrapping_add(bias()), SeqCst);
    LEN.store(len, SeqCst);
    OUTSIDE.store(outside != 0, SeqCst);
    // SAFETY: within the table.
    BITS.store(unsafe { table.add(CODE_HEADER_WORDS) }, SeqCst);
    IS_ON.store(true, SeqCst);
}

fn stat(path: &CStr) -> Option<(u64, u64)> {
    // SAFETY: `about` is plain data that the call fills.
    unsafe {
        let mut about: libc::stat = std::mem::zeroed();
        (libc::stat(path.as_ptr(), &mut about) == 0).then_some((about.st_dev, about.st_ino))
    }
}

/// The file in memory, and how many words it has.
fn map(path: &CStr) -> Option<(*mut u64, u64)> {
    // SAFETY: a mapping at an address of the kernel's choice touches nothing that exists; the descriptor is ours.
    unsafe {
        let fd = libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        let mut about: libc::stat = std::mem::zeroed();
        if fd < 0 || libc::fstat(fd, &mut about) != 0 {
            return None;
        }
        let words = about.st_size as u64 / 8;
        let len = about.st_size as usize;
        let at = libc::mmap(std::ptr::null_mut(), len.max(1), libc::PROT_READ, libc::MAP_PRIVATE, fd, 0);
        libc::close(fd);
        (at != libc::MAP_FAILED && words >= CODE_HEADER_WORDS as u64).then_some((at.cast(), words))
    }
}
