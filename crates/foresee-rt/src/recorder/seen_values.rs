//! What reads see: a digest of one byte in the record of each, if the user asks for it (`--values`, `FORESEE_VALUES`).
//!
//! A reader of the trace compares the digests of reads of the same bytes: where they differ and no recorded write lies between, code
//! wrote that records nothing (`foresee_trace`, `raw/unseen_writes`).
//!
//! **The digest** is of the whole value (`foresee_format::digest`). What the program's data is at the beginning is recorded once, as an
//! image: so that a first unseen write shows, too.
//!
//! **Which moment it is of.** The compiler's call comes before the read, so the memory is read here, after the record's key is taken:
//! what it is compared with is the memory at that moment, whatever the program itself reads a moment later.
//!
//! **What has none**: the thread's own stack and its thread-local variables, which compilers and the C library (`errno`) write without
//! saying so; atomics; ranges (`memcpy`).
//!
//! **Cost.** Nothing while it is off: it is another value of the one status that every access asks for (6.7 ns per read in a loop, with and
//! without this). While it is on, 0.6 to 0.9 ns more per read; and records grow by 1 to 8 % (an image of some 100 KB not counted): they keep
//! their length as long as addresses stay within 32 MiB of each other in each region of memory, and code within 64 KiB.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

use foresee_format::digest::{of_word, of_words};
use foresee_format::{IMAGE_PIECE, TEXT_IMAGE};

use super::{status, trace_file};
use crate::environment;

static ARE_RECORDED: AtomicBool = AtomicBool::new(false);
/// Where the C library keeps whether there is only one thread, which programs read; 0 if it is not known.
static SINGLE_THREADED: AtomicU64 = AtomicU64::new(0);

/// More than this of the program's data is not recorded.
const MOST_DATA: u64 = 1 << 26;
/// More than this of it that is not zero is not, as texts have a limit.
const MOST_BYTES: usize = 1 << 23;

/// More than this of a stack is not looked at from the stack pointer on, nor of thread-local variables from their end on.
const STACK: u64 = 1 << 20;
const THREAD_LOCALS: u64 = 1 << 16;
/// What the C library keeps of a thread behind its variables.
const THREAD_BLOCK: u64 = 1 << 12;

/// Finds out whether the user asks for it.
pub(crate) fn start() {
    if environment::text(c"FORESEE_VALUES").is_some() {
        ARE_RECORDED.store(true, SeqCst);
        // SAFETY: the name ends in a zero byte.
        let single = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__libc_single_threaded".as_ptr()) };
        SINGLE_THREADED.store(single as u64, SeqCst);
    }
}

/// Where the C library notes that there is more than one thread, if that is to be recorded.
pub(crate) fn single_threaded() -> Option<u64> {
    Some(SINGLE_THREADED.load(Relaxed)).filter(|&addr| are_recorded() && addr != 0)
}

/// Records what the program's data is now, before anything else is recorded.
pub(crate) fn write_image() {
    if are_recorded() {
        // SAFETY: `write_data` has the signature that is asked for, and needs no data.
        unsafe { libc::dl_iterate_phdr(Some(write_data), std::ptr::null_mut()) };
    }
}

/// Writes the data of the first object, which is the program itself, and ends the iteration.
unsafe extern "C" fn write_data(info: *mut libc::dl_phdr_info, _: usize, _: *mut c_void) -> libc::c_int {
    // SAFETY: `info` and its headers are the C library's for the time of this call.
    let (base, headers) = unsafe {
        let info = &*info;
        (info.dlpi_addr, std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()))
    };
    let is_data = |header: &&libc::Elf64_Phdr| {
        header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W != 0 && header.p_memsz > 0
    };
    for header in headers.iter().filter(is_data) {
        let (start, len) = (base + header.p_vaddr, header.p_memsz.min(MOST_DATA));
        let mut text = [start.to_le_bytes(), len.to_le_bytes()].concat();
        for offset in (0..len).step_by(IMAGE_PIECE) {
            // The loader has mapped these bytes, and may have protected them against writes. No other thread of the program runs; what the
            // runtime itself has there may change meanwhile: hence volatile loads.
            let piece: [u8; IMAGE_PIECE] = std::array::from_fn(|at| {
                let at = offset + at as u64;
                if at < len { load(start + at) } else { 0 }
            });
            if piece.iter().any(|&byte| byte != 0) && text.len() < MOST_BYTES {
                text.extend_from_slice(&offset.to_le_bytes());
                text.extend_from_slice(&piece);
            }
        }
        if text.len() < MOST_BYTES {
            trace_file::write_text(TEXT_IMAGE, 0, &text);
        }
    }
    1
}

/// Whether reads are recorded with what they see.
#[inline(always)]
pub(crate) fn are_recorded() -> bool {
    ARE_RECORDED.load(Relaxed)
}

/// Writes are left out from now on, so that nothing would follow from what reads see.
#[cold]
pub(crate) fn give_up() {
    if are_recorded() && ARE_RECORDED.swap(false, SeqCst) {
        status::reads_are_alike();
    }
}

/// Whether these bytes are of the thread's own stack, or one of its thread-local variables.
#[inline(always)]
pub(super) fn is_own(addr: u64) -> bool {
    let (stack, thread): (u64, u64);
    // SAFETY: both only read: the stack pointer, and the word at the thread pointer, which is the thread pointer itself (System V ABI).
    unsafe {
        std::arch::asm!("mov {}, rsp", out(reg) stack, options(nomem, nostack, preserves_flags));
        std::arch::asm!("mov {}, fs:[0]", out(reg) thread, options(pure, readonly, nostack, preserves_flags));
    }
    addr.wrapping_sub(stack) < STACK
        || addr.wrapping_sub(thread.wrapping_sub(THREAD_LOCALS)) < THREAD_LOCALS + THREAD_BLOCK
}

/// Any value, at any address.
#[repr(C, packed)]
struct Unaligned<T>(T);

/// The value at an address that the program is about to read.
#[inline(always)]
fn load<T: Copy>(addr: u64) -> T {
    // SAFETY: the program reads these bytes next, so they are mapped. Another thread may write them at the same time in a racy
    // program: hence a volatile load, of a type without alignment. It is only used for numbers, for which all bytes are valid.
    let value = unsafe { (addr as *const Unaligned<T>).read_volatile() };
    value.0
}

/// The digest of what is there now.
#[inline(always)]
pub(super) fn digest(addr: u64, size: u8) -> u8 {
    match size {
        1 => load::<u8>(addr),
        2 => of_word(load::<u16>(addr).into()),
        4 => of_word(load::<u32>(addr).into()),
        8 => of_word(load(addr)),
        _ => of_words(load(addr), load(addr + 8)),
    }
}

/// Reads these bytes outside of the runtime. If they are not there, the program's own handler sees the fault as its own.
#[inline(always)]
pub(crate) fn touch(addr: u64, size: u8) {
    let _ = digest(addr, size);
}

#[cfg(test)]
mod tests {
    use foresee_format::digest::of_bytes;

    use super::*;

    #[test]
    fn digests_are_of_all_bytes() {
        let bytes = [7_u8; 24];
        let at = &raw const bytes[3] as u64;
        assert_eq!(digest(at, 1), 7);
        for size in [2, 4, 8, 16] {
            for changed in 0..size {
                let mut others = bytes;
                others[3 + changed] ^= 1;
                let there = &raw const others[3] as u64;
                assert_ne!(digest(at, size as u8), digest(there, size as u8), "{size} {changed}");
                assert_eq!(Some(digest(there, size as u8)), of_bytes(&others[3..3 + size]));
            }
        }
    }

    #[test]
    fn the_stack_and_thread_locals_are_own() {
        thread_local! { static LOCAL: u8 = const { 1 }; }
        static OTHER: u8 = 1;
        let own = 1_u8;
        assert!(is_own(&raw const own as u64));
        assert!(LOCAL.with(|local| is_own(std::ptr::from_ref(local) as u64)));
        assert!(!is_own(&raw const OTHER as u64));
    }
}
