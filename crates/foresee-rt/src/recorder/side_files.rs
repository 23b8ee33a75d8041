//! Files beside the trace, to which threads write copies of their homes.
//!
//! The kernel lets one thread at a time write to a file, for as long as it takes to copy the bytes and to find pages for them: with one
//! file, threads that share nothing would wait for each other as soon as they record more than one of them can write. So there are about as
//! many files as processors, and each thread has its own by its number; the first ones of a program have the trace itself.
//!
//! A file is made when it is first needed, which is when a thread has filled its home: small traces have none. If it cannot be
//! made, or is being made by another thread just then, the copy goes to the trace itself. So does everything if the name of the trace
//! depends on the working folder, which the program may change.

use std::ffi::CStr;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::SeqCst};

use foresee_format::{SIDE_FILES, SIDE_MARK};

use super::descriptor::{self, FILES};
use super::new_file::{self, Name};

/// How many files threads are distributed to.
static IN_USE: AtomicUsize = AtomicUsize::new(1);

/// The states of side files.
static STATES: [AtomicU8; FILES] = [const { AtomicU8::new(MISSING) }; FILES];
const MISSING: u8 = 0;
/// Somebody makes it, or has failed to.
const UNUSABLE: u8 = 1;
const THERE: u8 = 2;

/// The name of the trace.
static NAME: [AtomicU8; libc::PATH_MAX as usize] = [const { AtomicU8::new(0) }; libc::PATH_MAX as usize];

/// The trace has this name.
pub(super) fn start(name: &CStr) {
    let name = name.to_bytes_with_nul();
    NAME.iter().zip(name).for_each(|(slot, &byte)| slot.store(byte, Relaxed));
    STATES.iter().for_each(|state| state.store(MISSING, SeqCst));
    // With its mark and number.
    let fits = name.len() + 4 <= NAME.len();
    let most = if name.first() == Some(&b'/') && fits { processors().min(1 + SIDE_FILES) } else { 1 };
    IN_USE.store(most, SeqCst);
}

/// How many processors this process may use.
fn processors() -> usize {
    // SAFETY: the set is a C structure of bits, for which zeroes are valid, and which the call fills.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        let known = libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) == 0;
        if known { libc::CPU_COUNT(&set).max(1) as usize } else { 1 }
    }
}

/// The file that a thread writes its copies to.
pub(super) fn of(thread: u32) -> usize {
    let file = thread as usize % IN_USE.load(Relaxed);
    if file == 0 || STATES[file].load(Acquire) == THERE || make(file) { file } else { 0 }
}

/// Makes a side file, if nobody has tried to; whether it is there.
#[cold]
fn make(file: usize) -> bool {
    if STATES[file].compare_exchange(MISSING, UNUSABLE, SeqCst, SeqCst).is_err() {
        return false;
    }
    let mut name: Name = [0; libc::PATH_MAX as usize];
    let bytes = NAME.iter().map(|byte| byte.load(Relaxed)).take_while(|&byte| byte != 0);
    let tens = (file >= 10).then_some(b'0' + (file / 10) as u8);
    let number = tens.into_iter().chain([b'0' + (file % 10) as u8]);
    let parts = bytes.chain(SIDE_MARK.bytes()).chain(number);
    name.iter_mut().zip(parts).for_each(|(slot, byte)| *slot = byte);
    let Ok(name) = CStr::from_bytes_until_nul(&name) else { return false };
    let fd = new_file::create_named(name);
    if fd < 0 {
        return false;
    }
    descriptor::set(file, fd);
    STATES[file].store(THERE, SeqCst);
    true
}
