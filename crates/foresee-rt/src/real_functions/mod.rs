//! The functions that ours stand in front of.
//!
//! A program that calls `pthread_mutex_lock` reaches this crate's function of that name, as it is linked before the C library. To do
//! what was asked for, ours calls the *real* one. There are two kinds:
//!
//! * [`Real`]: functions of shared libraries, found by the dynamic linker as the next ones of their name. They are looked up
//!   when the runtime starts ([`find_all`]). Later may be too late: a lookup takes locks of the loader, which a thread that loads a
//!   library may hold while it waits for this one, and is nothing for signal handlers and the children of forks. The allocator's are
//!   in [`allocator`], as all of them have to be of one library.
//! * [`std_functions!`]: functions of Rust's library, which is linked statically. The driver gives each a second name,
//!   `foresee_real_…`; where it has not, as in a C program, that name is a stub that nobody calls.

use std::ffi::{CStr, c_char};
use std::sync::atomic::{AtomicPtr, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

use libc::c_void;

use crate::linked;
use crate::message::say;

pub(crate) mod allocator;
pub(crate) use allocator::{real_calloc, real_free, real_malloc, real_memalign, real_realloc, usable_size};

/// A function of a shared library, looked up when the runtime starts or, should it be needed before, then.
pub(crate) struct Real {
    name: &'static CStr,
    /// Old versions of condition variables have another layout and come first in an unversioned search.
    version: Option<&'static CStr>,
    /// The library that has the function, for one that the program may be linked without.
    library: Option<&'static CStr>,
    found: AtomicPtr<c_void>,
}

impl Real {
    pub(crate) const fn new(name: &'static CStr) -> Real {
        Real { name, version: None, library: None, found: AtomicPtr::new(std::ptr::null_mut()) }
    }

    pub(crate) const fn versioned(name: &'static CStr, version: &'static CStr) -> Real {
        Real { name, version: Some(version), library: None, found: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// A function that is looked for in `library` if the program's libraries lack it: ours of the same name made the linker think
    /// that the library is not needed.
    pub(crate) const fn of_library(name: &'static CStr, library: &'static CStr) -> Real {
        Real { name, version: None, library: Some(library), found: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// The address of the function, for [`call_real!`]. A program that calls a function which its libraries lack would not have started.
    #[inline]
    pub(crate) fn address(&self) -> *mut c_void {
        let found = self.found.load(Relaxed);
        if found.is_null() { self.find() } else { found }
    }

    /// The next function of the name among the program's libraries. (`dlsym` itself is found by its version, as ours calls the real one.)
    fn next(&self) -> *mut c_void {
        // SAFETY: both calls take a handle that always exists and names that end in a zero byte.
        unsafe {
            let versioned = self.version.map_or(std::ptr::null_mut(), |v| {
                libc::dlvsym(libc::RTLD_NEXT, self.name.as_ptr(), v.as_ptr())
            });
            if versioned.is_null() { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) } else { versioned }
        }
    }

    fn look_up(&self) -> *mut c_void {
        let found = self.next();
        match self.library {
            // SAFETY: both calls take names that end in a zero byte. A null handle would stand for the program, and so for ours.
            Some(library) if found.is_null() => unsafe {
                let handle = libc::dlopen(library.as_ptr(), libc::RTLD_NOW);
                if handle.is_null() { found } else { look_up_in(handle, self.name.as_ptr()).cast_mut() }
            },
            _ => found,
        }
    }

    #[cold]
    fn find(&self) -> *mut c_void {
        let found = self.look_up();
        if found.is_null() {
            say(&[b"foresee: the C library has no function ", self.name.to_bytes(), b"\n"]);
            // SAFETY: ends the process; there are no preconditions. There is nothing to forward to.
            unsafe { libc::abort() }
        }
        self.found.store(found, Relaxed);
        found
    }
}

unsafe extern "C" {
    /// All that [`listed!`] lists, from the first to behind the last; the linker defines these names.
    #[link_name = "__start_foresee_reals"]
    static FIRST: u8;
    #[link_name = "__stop_foresee_reals"]
    static LAST: u8;
}

/// Looks up all functions that a program may call through us. Libraries that lack one are no reason to end: nobody will call it. Some 500
/// lookups take less than a millisecond.
pub(crate) fn find_all() {
    for real in listed_reals() {
        if real.found.load(Relaxed).is_null() {
            real.found.store(real.next(), Relaxed);
        }
    }
}

/// Whether this is a function that ours stands in front of, by this name.
pub(crate) fn is_real(function: *const c_void, name: &CStr) -> bool {
    listed_reals().any(|real| real.found.load(Relaxed).cast_const() == function && real.name == name)
}

/// All that [`listed!`] lists.
fn listed_reals() -> impl Iterator<Item = &'static &'static Real> {
    // SAFETY: references to them are all that is there.
    unsafe { linked::list(&raw const FIRST, &raw const LAST) }
}

/// Puts a static [`Real`] on the list of those that are looked up at the start; costs no instruction where it stands. A linker that
/// drops what nobody refers to is told to keep it ("R").
macro_rules! listed {
    ($real:path) => {
        core::arch::asm!(
            ".pushsection foresee_reals, \"awR\", @progbits",
            ".balign 8",
            ".quad {}",
            ".popsection",
            sym $real,
            options(nomem, nostack, preserves_flags)
        )
    };
}
pub(crate) use listed;

/// What to do when the call of a real function does not return but is unwound; null: nothing.
static ON_UNWINDING: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// From now on, `react` is called whenever the call of a real function is unwound: before any code of the program that cleans up.
pub(crate) fn on_unwinding(react: fn()) {
    ON_UNWINDING.store(react as *mut c_void, Release);
}

/// Dropped when the call of a real function is unwound, and only then.
pub(crate) struct Unwound;

impl Drop for Unwound {
    fn drop(&mut self) {
        let react = ON_UNWINDING.load(Acquire);
        if !react.is_null() {
            // SAFETY: `on_unwinding` has stored a function of this type.
            unsafe { std::mem::transmute::<*mut c_void, fn()>(react)() }
        }
    }
}

/// Calls the real function of a [`Real`] with this signature.
///
/// SAFETY of each use: the signature is that of the C library's function of this name, and the arguments are such that the function
/// may be called with them. Most uses pass on what the program called us with: whatever the function asks of its
/// arguments, the program has promised by calling it.
macro_rules! call_real {
    ($real:path, ($($ty:ty),*) -> $ret:ty, $($arg:expr),*) => {{
        $crate::real_functions::listed!($real);
        let function: extern "C-unwind" fn($($ty),*) -> $ret = std::mem::transmute($real.address());
        let unwound = $crate::real_functions::Unwound;
        #[allow(clippy::let_unit_value)]
        let result = function($($arg),*);
        std::mem::forget(unwound);
        result
    }};
}
pub(crate) use call_real;

/// `dlsym`, in its first version: without one it would be looked up by itself.
pub(crate) static REAL_LOOKUP: Real = Real::versioned(c"dlsym", c"GLIBC_2.2.5");

/// What has this name in a library, itself: not ours, which stands in front of it.
///
/// SAFETY: `library` is a handle of the loader, and the name ends in a zero byte.
pub(crate) unsafe fn look_up_in(library: *mut c_void, name: *const c_char) -> *const c_void {
    // SAFETY: by the contract of this function, which is that of the C library's.
    unsafe { call_real!(REAL_LOOKUP, (*mut c_void, *const c_char) -> *const c_void, library, name) }
}

/// Declares functions of Rust's library by the names that the driver connects, with stubs in case it does not.
///
/// SAFETY of each use: the signature is that of the library's function. A function that is not connected is not wrapped
/// either, so the handler that would call its stub is never called.
macro_rules! std_functions {
    ($($name:ident($($arg:ident: $ty:ty),*) $(-> $ret:ty)?;)*) => {
        unsafe extern "C-unwind" {
            $(fn $name($($arg: $ty),*) $(-> $ret)?;)*
        }
        $(core::arch::global_asm!(
            concat!(".weak ", stringify!($name)),
            concat!(stringify!($name), ":"),
            "ud2"
        );)*
    };
}
pub(crate) use std_functions;

/// Whether the driver has connected this function, one of [`std_functions!`].
pub(crate) fn is_connected(function: *const u16) -> bool {
    /// The instruction that a stub consists of.
    const UD2: u16 = 0x0b0f;
    // SAFETY: it points to the code of a function, which is readable and at least as long as a stub: two bytes.
    unsafe { function.read_unaligned() != UD2 }
}
