//! What the recorded program is: where its code lies in memory, and whether it is written in Rust.

use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

use crate::real_functions::is_connected;

unsafe extern "C" {
    // The first and the last address of the program's code, from the linker.
    static __executable_start: u8;
    static etext: u8;
    // The first address behind its data.
    static _end: u8;
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

/// Whether this is an address in the program's own static data, or in its code.
pub(crate) fn has_data_at(addr: u64) -> bool {
    let (start, end) = (&raw const __executable_start as u64, &raw const _end as u64);
    (start..end).contains(&addr)
}

/// From where to where the program is in memory.
pub(crate) fn extent() -> (u64, u64) {
    (&raw const __executable_start as u64, &raw const _end as u64)
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

/// Looks for instrumented libraries among the objects that were loaded since the last time. Their initialisers call this, under the
/// loader's lock; they may jump here, so that a return address does not say which object calls.
pub(crate) fn find_instrumented_libraries() {
    // SAFETY: `add_if_instrumented` has the signature that is asked for, and needs no data.
    unsafe { libc::dl_iterate_phdr(Some(add_if_instrumented), std::ptr::null_mut()) };
}

unsafe extern "C" fn add_if_instrumented(
    info: *mut libc::dl_phdr_info,
    _: usize,
    _: *mut c_void,
) -> libc::c_int {
    static SEEN: AtomicU64 = AtomicU64::new(0);
    // SAFETY: `info` and its headers are the C library's for the time of this call.
    let (info, headers) = unsafe {
        let info = &*info;
        (info, std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()))
    };
    // The program itself comes first: if nothing was loaded since, there is nothing new behind it.
    let is_program = headers.iter().any(|header| header.p_type == libc::PT_INTERP);
    if is_program {
        return (SEEN.swap(info.dlpi_adds, Relaxed) == info.dlpi_adds).into();
    }
    let Some(dynamic) = headers.iter().find(|header| header.p_type == libc::PT_DYNAMIC) else { return 0 };
    // SAFETY: the object is loaded, and this is where its headers say that its dynamic section is.
    if !unsafe { names_our_functions((info.dlpi_addr + dynamic.p_vaddr) as *const [u64; 2], info.dlpi_addr) }
    {
        return 0;
    }
    let is_code =
        |header: &&libc::Elf64_Phdr| header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0;
    for segment in headers.iter().filter(is_code) {
        let from = info.dlpi_addr + segment.p_vaddr;
        if is_in_instrumented_library(from) {
            continue;
        }
        if let Some([free_from, free_to]) = LIBRARIES.iter().find(|[from, _]| from.load(Relaxed) == 0) {
            free_to.store(from + segment.p_memsz, Relaxed);
            free_from.store(from, Release);
        }
    }
    0
}

/// Libraries of which it is known how their functions order threads, by the beginnings of their names. (The kernel's own has none that do.)
const KNOWN_LIBRARIES: [&[u8]; 13] = [
    b"ld-linux",
    b"linux-vdso.",
    b"libc.",
    b"libm.",
    b"libmvec.",
    b"libpthread.",
    b"libdl.",
    b"librt.",
    b"libgcc_s.",
    b"libstdc++.",
    b"libgomp.",
    b"libomp.",
    b"libiomp5.",
];

/// Whether there are libraries that are not instrumented, and may order threads in ways that are not seen.
pub(crate) fn has_unknown_libraries() -> bool {
    look_at_libraries(false)
}

/// Whether there are libraries other than those of which everything is known, instrumented or not.
pub(crate) fn has_other_libraries() -> bool {
    look_at_libraries(true)
}

fn look_at_libraries(mut all: bool) -> bool {
    // SAFETY: `is_unknown` has the signature that is asked for; its data is there for the time of this call.
    unsafe { libc::dl_iterate_phdr(Some(is_unknown), (&raw mut all).cast()) != 0 }
}

/// `all` if instrumented libraries count, too.
unsafe extern "C" fn is_unknown(info: *mut libc::dl_phdr_info, _: usize, all: *mut c_void) -> libc::c_int {
    // SAFETY: `info`, its headers and its name are the C library's for the time of this call.
    let (info, headers, name) = unsafe {
        let info = &*info;
        let name = if info.dlpi_name.is_null() { c"" } else { CStr::from_ptr(info.dlpi_name) };
        (info, std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()), name.to_bytes())
    };
    let name = name.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    let is_program = name.is_empty()
        || headers.iter().any(|header| header.p_type == libc::PT_INTERP) && !name.starts_with(b"lib");
    if is_program || KNOWN_LIBRARIES.iter().any(|known| name.starts_with(known)) {
        return 0;
    }
    // SAFETY: `look_at_libraries` passes it.
    if unsafe { all.cast::<bool>().read() } {
        return 1;
    }
    let dynamic = headers.iter().find(|header| header.p_type == libc::PT_DYNAMIC);
    let is_instrumented = dynamic.is_some_and(|dynamic| {
        // SAFETY: the object is loaded, and this is where its headers say that its dynamic section is.
        unsafe { names_our_functions((info.dlpi_addr + dynamic.p_vaddr) as *const [u64; 2], info.dlpi_addr) }
    });
    (!is_instrumented).into()
}

/// Whether an object's symbols include the function that instrumented code calls first.
///
/// # Safety
///
/// `dynamic` is the dynamic section of an object that is loaded at `base`.
unsafe fn names_our_functions(mut dynamic: *const [u64; 2], base: u64) -> bool {
    /// `DT_STRTAB` and `DT_STRSZ`.
    const STRINGS: u64 = 5;
    const SIZE: u64 = 10;
    const FIRST_CALLED: &[u8] = b"\0__tsan_init\0";
    let (mut strings, mut size) = (0, 0);
    // SAFETY: a dynamic section ends with a zero tag.
    unsafe {
        while let [tag, value] = *dynamic
            && tag != 0
        {
            match tag {
                STRINGS => strings = value,
                SIZE => size = value,
                _ => {}
            }
            dynamic = dynamic.add(1);
        }
    }
    // The loader has made it an address, unless the section cannot be written.
    let at = if strings < base { base + strings } else { strings };
    if strings == 0 {
        return false;
    }
    // SAFETY: the object is loaded, with so many bytes of names at this address.
    let names = unsafe { std::slice::from_raw_parts(at as *const u8, size as usize) };
    names.windows(FIRST_CALLED.len()).any(|name| name == FIRST_CALLED)
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

/// The place in memory of a static: `address:size` in hexadecimal, as the program's file has it.
pub(crate) fn place_of(listed: &str) -> Option<(u64, u64)> {
    let number = |text: &str| u64::from_str_radix(text, 16).ok();
    let (addr, size) = listed.split_once(':')?;
    Some((number(addr)?.wrapping_add(load_bias()), number(size)?))
}
