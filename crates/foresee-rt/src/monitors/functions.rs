//! Functions of the program that handlers call by name, on the thread that a verdict is about, outside of the runtime.

use std::arch::asm;
use std::cell::Cell;
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

use crate::message::say;

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
    /// People know that there is nothing to call.
    is_told: AtomicBool,
}

impl Function {
    pub(in crate::monitors) fn new(name: String, found: usize) -> Function {
        let (registered, argument) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Function { name, found, registered, argument, is_told: AtomicBool::new(false) }
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

    /// Calls what was registered, or else what was found. The program may be where a function returns: numbers that it returns on the stack of the oldest registers are kept.
    pub(in crate::monitors) fn call(&self, property: &CStr, says: &CStr) {
        let mut state = [0_u128; 32];
        // SAFETY: `state` has the 512 bytes and the alignment that the instruction asks for; calls begin with an empty stack of these registers.
        unsafe { asm!("fxsave64 [{}]", "fninit", in(reg) &raw mut state, clobber_abi("C")) };
        self.call_now(property, says);
        // SAFETY: it is what was saved before.
        unsafe { asm!("fxrstor64 [{}]", in(reg) &raw const state, clobber_abi("C")) };
    }

    fn call_now(&self, property: &CStr, says: &CStr) {
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
        } else if !self.is_told.swap(true, Relaxed) {
            let property = property.to_bytes();
            say(&[
                b"foresee: ",
                property,
                b": nothing is registered as `",
                self.name.as_bytes(),
                b"`: nothing is called\n",
            ]);
        }
    }
}

thread_local! {
    /// Where on its stack this thread calls a function from here, or 0, and how deep it is in functions of the program. A function may also be left by a jump or an exception: what is not
    /// below that place any more is not in it.
    static HANDLING_AT: Cell<(usize, u32)> = const { Cell::new((0, 0)) };
}

/// Does `handle`, unless this thread, which is so deep in functions of the program, is in it already: what is found meanwhile is handled after it.
pub(in crate::monitors) fn one_at_a_time(depth: u32, handle: impl FnOnce()) {
    /// Also where an exception leaves it.
    struct Left;
    impl Drop for Left {
        fn drop(&mut self) {
            HANDLING_AT.set((0, 0));
        }
    }

    let here = Cell::new(0_u8);
    let place = std::ptr::from_ref(std::hint::black_box(&here)) as usize;
    if place < HANDLING_AT.get().0 {
        return;
    }
    HANDLING_AT.set((place, depth));
    let left = Left;
    handle();
    drop(left);
}

/// The thread jumps to where it was so deep in functions of the program. Where it handles something, that is left, unless it is deeper now than it was then.
pub(in crate::monitors) fn jumped_to(depth: u32) {
    if depth <= HANDLING_AT.get().1 {
        HANDLING_AT.set((0, 0));
    }
}
