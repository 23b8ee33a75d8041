//! The functions of the C library that this crate stands in front of.

use std::ffi::CStr;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// A function of a library behind us, looked up when it is first needed.
pub(crate) struct Real {
    name: &'static CStr,
    /// Old versions of condition variables have another layout and come first in an unversioned search.
    version: Option<&'static CStr>,
    found: AtomicPtr<libc::c_void>,
}

impl Real {
    pub(crate) const fn new(name: &'static CStr) -> Real {
        Real { name, version: None, found: AtomicPtr::new(std::ptr::null_mut()) }
    }

    pub(crate) const fn versioned(name: &'static CStr, version: &'static CStr) -> Real {
        Real { name, version: Some(version), found: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// The address of the function. A program that calls a function which its libraries lack would not have started.
    #[inline]
    pub(crate) fn address(&self) -> *mut libc::c_void {
        let found = self.found.load(Relaxed);
        if found.is_null() { self.find() } else { found }
    }

    #[cold]
    fn find(&self) -> *mut libc::c_void {
        // SAFETY: both look up a name that ends in a zero byte.
        let found = unsafe {
            let versioned = self.version.map_or(std::ptr::null_mut(), |v| {
                libc::dlvsym(libc::RTLD_NEXT, self.name.as_ptr(), v.as_ptr())
            });
            if versioned.is_null() { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) } else { versioned }
        };
        if found.is_null() {
            crate::rawfile::say(&[b"foresee: the C library has no function ", self.name.to_bytes(), b"\n"]);
            // SAFETY: ends the process; there is nothing to forward to.
            unsafe { libc::abort() }
        }
        self.found.store(found, Relaxed);
        found
    }
}

/// Calls the real function of a [`Real`] with this signature.
///
/// SAFETY of each use: the signature is that of the C library's function of this name.
macro_rules! call_real {
    ($real:expr, ($($ty:ty),*) -> $ret:ty, $($arg:expr),*) => {{
        let function: extern "C-unwind" fn($($ty),*) -> $ret = std::mem::transmute($real.address());
        function($($arg),*)
    }};
}
pub(crate) use call_real;
