//! How to unwind through pieces that call a function: exceptions, cancellation and backtraces pass through them.
//!
//! A piece that calls a function of a library has some words on the stack, below its return address, during the call. That is said in the way compilers
//! say it (`.eh_frame`), to the library that unwinds.

use std::ffi::c_void;
use std::ops::Range;

/// Unwinds: compilers link it, and the C library loads it when a thread is cancelled.
const UNWINDER: &std::ffi::CStr = c"libgcc_s.so.1";
const REGISTER: &std::ffi::CStr = c"__register_frame";

/// One kind of frame: no addition, code in steps of 1, data in steps of -8, the return address is register 16; at first the frame is 8 above the stack pointer
/// (register 7), and the return address below that. Its length is in front; the zeroes at the end are padding.
const KIND: [u8; 24] = [20, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1, 0, 0, 0, 0, 0, 0];
/// The frame is so far above the stack pointer.
const FRAME_AT: u8 = 0x0e;

/// Tells of pieces that call a function, with so many words on the stack.
pub(super) fn tell(pieces: impl Iterator<Item = (Range<u64>, usize)>) {
    let mut frames = KIND.to_vec();
    for (piece, words) in pieces {
        let start = frames.len() as u32;
        // Its length, the way back to its kind, where it is, how long, what is different.
        frames.extend(28_u32.to_le_bytes());
        frames.extend((start + 4).to_le_bytes());
        frames.extend(piece.start.to_le_bytes());
        frames.extend((piece.end - piece.start).to_le_bytes());
        // Padding behind it.
        frames.extend([FRAME_AT, 8 + 8 * words as u8, 0, 0, 0, 0, 0, 0]);
    }
    if frames.len() == KIND.len() {
        return;
    }
    frames.extend([0; 4]);
    if let Some(register) = find() {
        // They are for as long as the program is.
        register(Box::leak(frames.into_boxed_slice()).as_ptr().cast());
    }
}

/// The function by which frames are told of, if anybody unwinds here.
fn find() -> Option<extern "C" fn(*const c_void)> {
    // SAFETY: both calls take handles that exist and names that end in a zero byte; the function has had this signature for ever.
    unsafe {
        let mut found = libc::dlsym(libc::RTLD_DEFAULT, REGISTER.as_ptr());
        if found.is_null() {
            let unwinder = libc::dlopen(UNWINDER.as_ptr(), libc::RTLD_NOW);
            if unwinder.is_null() {
                return None;
            }
            found = libc::dlsym(unwinder, REGISTER.as_ptr());
        }
        (!found.is_null()).then(|| std::mem::transmute::<*mut c_void, extern "C" fn(*const c_void)>(found))
    }
}
