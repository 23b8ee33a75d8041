//! What the recorded program is: where its code lies in memory, and whether it is written in Rust.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

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

/// How many instrumented shared libraries are known. What more libraries ask of the C library is not recorded.
const MOST_LIBRARIES: usize = 256;

/// The code of instrumented shared libraries: from, to. Entries are only added; those behind the last one are zero.
static LIBRARIES: [[AtomicU64; 2]; MOST_LIBRARIES] =
    [const { [const { AtomicU64::new(0) }; 2] }; MOST_LIBRARIES];

/// Whether this is an address in instrumented code, as far as objects can be told apart: in the program itself, or in a shared library
/// that has instrumented code.
pub(crate) fn is_instrumented_at(pc: u64) -> bool {
    has_code_at(pc) || is_in_instrumented_library(pc)
}

fn is_in_instrumented_library(pc: u64) -> bool {
    let known = LIBRARIES.iter().map(|[from, to]| (from.load(Acquire), to.load(Relaxed)));
    known.take_while(|(from, _)| *from != 0).any(|(from, to)| (from..to).contains(&pc))
}

/// The object that has this code is instrumented: its initialiser says so.
pub(crate) fn add_instrumented(pc: u64) {
    if is_instrumented_at(pc) {
        return;
    }
    let mut search = Segment { pc, found: None };
    // SAFETY: `Segment::find` has the signature that is asked for, and gets the address of `search`, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(Segment::find), (&raw mut search).cast()) };
    let Some((from, to)) = search.found else { return };
    // Initialisers run one after the other, under the loader's lock.
    if let Some([free_from, free_to]) = LIBRARIES.iter().find(|[from, _]| from.load(Relaxed) == 0) {
        free_to.store(to, Relaxed);
        free_from.store(from, Release);
    }
}

/// A search for the segment of an object that an address is in.
struct Segment {
    pc: u64,
    found: Option<(u64, u64)>,
}

impl Segment {
    unsafe extern "C" fn find(info: *mut libc::dl_phdr_info, _: usize, search: *mut c_void) -> libc::c_int {
        // SAFETY: `info` and its headers are the C library's for the time of this call; `search` is `add_instrumented`'s variable.
        let (info, headers, search) = unsafe {
            let info = &*info;
            let headers = std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into());
            (info, headers, &mut *search.cast::<Segment>())
        };
        let loaded = headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
        let mut ranges = loaded.map(|header| {
            let from = info.dlpi_addr + header.p_vaddr;
            (from, from + header.p_memsz)
        });
        search.found = ranges.find(|(from, to)| (*from..*to).contains(&search.pc));
        search.found.is_some().into()
    }
}

/// Whether the program is linked with Rust's library.
pub(crate) fn is_rust() -> bool {
    is_connected(foresee_real_alloc as *const u16)
}

/// Whether this may be Rust's library. It is linked into the program without instrumentation, so what orders its
/// accesses is not seen, and they must not be either: the end of its memory is only the begin of a new life. Rust code that is
/// instrumented frees by other functions. C code in a Rust program cannot be distinguished from the library.
pub(crate) fn is_rust_library(pc: u64) -> bool {
    has_code_at(pc) && is_rust()
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
