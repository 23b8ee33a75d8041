//! What reads see: a digest of one byte in the record of each, if the user asks for it (`--values`, `FORESEE_VALUES`).
//!
//! A reader of the trace compares the digests of reads of the same bytes: where they differ and no recorded write lies between, code
//! wrote that records nothing (`foresee_trace`, `raw/unseen_writes`).
//!
//! **The digest** is a hash of the whole value, not its lowest byte: that of a `double` is mostly zero, that of a pointer has few
//! values, and of a counter in thousands it does not change at all. Reads of one byte have the byte itself. Of two different values
//! one pair in 256 has the same digest, which hides a change and never makes one up. Small numbers that are near to each other always
//! differ.
//!
//! **Which moment it is of.** The compiler's call comes before the read, so the memory is read here, after the record's key is taken:
//! what it is compared with is the memory at that moment, whatever the program itself reads a moment later.
//!
//! **What has none**: the thread's own stack and its thread-local variables, which compilers and the C library (`errno`) write without
//! saying so; atomics; ranges (`memcpy`).
//!
//! **Cost.** Nothing while it is off: it is another value of the one status that every access asks for. While it is on, 0.9 to 1.6 ns
//! per read; the records keep their length as long as addresses stay within 32 MiB of each other in each region of memory.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed, Ordering::SeqCst};

use super::status;
use crate::environment;

static ARE_RECORDED: AtomicBool = AtomicBool::new(false);

/// More than this of a stack is not looked at from the stack pointer on, nor of thread-local variables from their end on.
const STACK: u64 = 1 << 20;
const THREAD_LOCALS: u64 = 1 << 16;
/// What the C library keeps of a thread behind its variables.
const THREAD_BLOCK: u64 = 1 << 12;

/// Finds out whether the user asks for it.
pub(crate) fn start() {
    ARE_RECORDED.store(environment::text(c"FORESEE_VALUES").is_some(), SeqCst);
}

/// Whether reads are recorded with what they see.
#[inline(always)]
pub(crate) fn are_recorded() -> bool {
    ARE_RECORDED.load(Relaxed)
}

/// Writes are left out from now on, so that nothing would follow from what reads see.
#[cold]
pub(crate) fn give_up() {
    if ARE_RECORDED.swap(false, SeqCst) {
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

#[inline(always)]
const fn hash(value: u64) -> u8 {
    (value.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}

/// The digest of what is there now.
#[inline(always)]
pub(super) fn digest(addr: u64, size: u8) -> u8 {
    match size {
        1 => load::<u8>(addr),
        2 => hash(load::<u16>(addr).into()),
        4 => hash(load::<u32>(addr).into()),
        8 => hash(load::<u64>(addr)),
        _ => hash(load::<u64>(addr) ^ load::<u64>(addr + 8).rotate_left(29)),
    }
}

/// Reads these bytes outside of the runtime. If they are not there, the program's own handler sees the fault as its own.
#[inline(always)]
pub(crate) fn touch(addr: u64, size: u8) {
    let _ = digest(addr, size);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_numbers_have_different_digests() {
        for from in (0..1_u64 << 40).step_by(0x1_0003_0001) {
            let mut seen: Vec<u8> = (from..from + 100).map(hash).collect();
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), 100, "{from}");
        }
    }

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
