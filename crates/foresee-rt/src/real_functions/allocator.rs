//! The allocator behind `malloc`: the C library's, or the one that the program is linked with or that is preloaded (jemalloc,
//! mimalloc, tcmalloc).
//!
//! Blocks go from function to function, so all have to be of one library: the one that the dynamic linker finds next for
//! `malloc`. It is looked up at the first call, by the loader before the program starts; a lookup that succeeds does not allocate. Should
//! one allocate all the same, or find nothing, the C library's allocator serves it, by names that no other library has. The first call
//! looks all of them up: the linker itself frees the message of a failed lookup at the beginning of the next one, and would free it
//! twice if that `free` looked something up.
//!
//! Only the functions that every allocator has are forwarded to; the others (`valloc`, `reallocarray`) are made of them.

use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering::Relaxed};

use libc::{c_void, size_t};

unsafe extern "C" {
    fn __libc_malloc(size: size_t) -> *mut c_void;
    fn __libc_free(block: *mut c_void);
    fn __libc_calloc(count: size_t, size: size_t) -> *mut c_void;
    fn __libc_realloc(block: *mut c_void, size: size_t) -> *mut c_void;
    fn __libc_memalign(align: size_t, size: size_t) -> *mut c_void;
}

/// A function of the allocator; null until it is looked up.
struct Allocating {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
}

impl Allocating {
    const fn new(name: &'static CStr) -> Allocating {
        Allocating { name, found: AtomicPtr::new(std::ptr::null_mut()) }
    }

    #[inline]
    fn address(&self, of_c_library: *mut c_void) -> *mut c_void {
        let found = self.found.load(Relaxed);
        if found.is_null() { self.find(of_c_library) } else { found }
    }

    #[cold]
    fn find(&self, of_c_library: *mut c_void) -> *mut c_void {
        static LOOKING_UP: AtomicBool = AtomicBool::new(false);
        if LOOKING_UP.swap(true, Relaxed) {
            return of_c_library;
        }
        for function in ALL {
            // SAFETY: the handle always exists, and the name ends in a zero byte.
            let next = unsafe { libc::dlsym(libc::RTLD_NEXT, function.name.as_ptr()) };
            function.found.store(next, Relaxed);
        }
        LOOKING_UP.store(false, Relaxed);
        if self.found.load(Relaxed).is_null() {
            self.found.store(of_c_library, Relaxed);
        }
        self.found.load(Relaxed)
    }
}

/// Defines the functions: `Rust's name, of REAL, "C name", the C library's second name, (arguments) -> result`.
macro_rules! allocating {
    ($($(#[$doc:meta])* $function:ident of $real:ident, $name:literal, $own:ident ($($arg:ident: $ty:ty),*) $(-> $ret:ty)?;)*) => {
        $(static $real: Allocating = Allocating::new($name);)*
        static ALL: &[&Allocating] = &[$(&$real),*];
        $($(#[$doc])*
        ///
        /// # Safety
        ///
        /// As that of the function of the C library.
        #[inline]
        pub(crate) unsafe fn $function($($arg: $ty),*) $(-> $ret)? {
            // SAFETY: every allocator's function of this name has this signature; what it asks of the arguments, the caller has
            // promised.
            unsafe {
                let function: unsafe extern "C" fn($($ty),*) $(-> $ret)? =
                    std::mem::transmute($real.address($own as *mut c_void));
                function($($arg),*)
            }
        })*
    };
}

allocating! {
    /// `malloc`
    real_malloc of MALLOC, c"malloc", __libc_malloc (size: size_t) -> *mut c_void;
    /// `free`
    real_free of FREE, c"free", __libc_free (block: *mut c_void);
    /// `calloc`
    real_calloc of CALLOC, c"calloc", __libc_calloc (count: size_t, size: size_t) -> *mut c_void;
    /// `realloc`
    real_realloc of REALLOC, c"realloc", __libc_realloc (block: *mut c_void, size: size_t) -> *mut c_void;
    /// `memalign`
    real_memalign of MEMALIGN, c"memalign", __libc_memalign (align: size_t, size: size_t) -> *mut c_void;
}

/// How many bytes of a block the program may use.
///
/// # Safety
///
/// The block is null or one of the allocator's, and not free.
pub(crate) unsafe fn usable_size(block: *mut c_void) -> usize {
    // SAFETY: by the caller. The first function of this name is that of the allocator that comes first, as is `malloc`.
    unsafe { libc::malloc_usable_size(block) }
}
