//! What the recorded program is: where its code lies in memory, and whether it is written in Rust.

use std::ffi::c_void;

use crate::real_functions::is_connected;

unsafe extern "C" {
    // The first and the last address of the program's code, from the linker.
    static __executable_start: u8;
    static etext: u8;
}

unsafe extern "C-unwind" {
    // The allocator of Rust's library, or a stub (`rust_std::allocator`).
    fn foresee_real_alloc(size: usize, align: usize) -> *mut c_void;
}

/// Whether this is an address in the program's own code, not in a shared library's.
pub(crate) fn has_code_at(pc: u64) -> bool {
    let (start, end) = (&raw const __executable_start as u64, &raw const etext as u64);
    (start..end).contains(&pc)
}

/// Whether the program is linked with Rust's library.
pub(crate) fn is_rust() -> bool {
    is_connected(foresee_real_alloc as *const u16)
}

/// The difference between where the program is loaded and the addresses that its file says.
pub(crate) fn load_bias() -> u64 {
    /// Takes the first object and ends the iteration: the program itself comes first.
    unsafe extern "C" fn first(info: *mut libc::dl_phdr_info, _: usize, bias: *mut c_void) -> libc::c_int {
        // SAFETY: `info` is the C library's for the time of this call, `bias` is the variable that `load_bias` passes.
        unsafe { *bias.cast::<u64>() = (*info).dlpi_addr };
        1
    }
    let mut bias = 0_u64;
    // SAFETY: `first` has the signature that is asked for, and gets the address of `bias`, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut bias).cast()) };
    bias
}
