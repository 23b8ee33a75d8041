//! Functions of the program that handlers call by name, on the thread that a verdict is about, outside of the runtime.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicUsize, Ordering::Acquire, Ordering::Release};

/// What a program registers: it is given the name of the property, and what the program wants to be given.
type Registered = extern "C-unwind" fn(*const c_char, *mut c_void);
/// What is found by its name: it is given the name of the property, and what the handler says.
type Found = extern "C-unwind" fn(*const c_char, *const c_char);

/// A function, by the name that the spec has for it.
pub(in crate::monitors) struct Function {
    name: String,
    /// Where the program's file has a function of this name; 0 if it has none, or none was looked for.
    found: usize,
    registered: AtomicUsize,
    argument: AtomicUsize,
}

impl Function {
    pub(in crate::monitors) fn new(name: String, found: usize) -> Function {
        Function { name, found, registered: AtomicUsize::new(0), argument: AtomicUsize::new(0) }
    }

    /// Whether this is its name.
    pub(in crate::monitors) fn is(&self, name: &str) -> bool {
        self.name == name
    }

    /// The program says what is to be called under this name.
    pub(in crate::monitors) fn register(&self, name: &[u8], function: usize, argument: usize) {
        if self.name.as_bytes() == name {
            self.argument.store(argument, Release);
            self.registered.store(function, Release);
        }
    }

    /// Calls what was registered, or else what was found.
    pub(in crate::monitors) fn call(&self, property: &CStr, says: &CStr) {
        let registered = self.registered.load(Acquire);
        if registered != 0 {
            // SAFETY: the program registered it by `foresee_on_violation`, whose declaration in `foresee.h` asks for a function of this
            // signature; it stays as long as the program.
            let function = unsafe { std::mem::transmute::<usize, Registered>(registered) };
            function(property.as_ptr(), self.argument.load(Acquire) as *mut c_void);
        } else if self.found != 0 {
            // SAFETY: the program has a function of this name there, which the spec says is to be called with two texts.
            let function = unsafe { std::mem::transmute::<usize, Found>(self.found) };
            function(property.as_ptr(), says.as_ptr());
        }
    }
}

thread_local! {
    /// Where on its stack this thread calls a function from here, or 0. A function may also be left by a jump or an exception: what is not below that place any more is not in it.
    static HANDLING_AT: Cell<usize> = const { Cell::new(0) };
}

/// Does `handle`, unless this thread is in it already: what is found meanwhile is handled after it.
pub(in crate::monitors) fn one_at_a_time(handle: impl FnOnce()) {
    let here = Cell::new(0_u8);
    let place = std::ptr::from_ref(std::hint::black_box(&here)) as usize;
    if place < HANDLING_AT.get() {
        return;
    }
    HANDLING_AT.set(place);
    handle();
    HANDLING_AT.set(0);
}
