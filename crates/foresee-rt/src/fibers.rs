//! Fibers: threads that the program switches between by itself, and tells us so by TSan's entry points.
//!
//! A fiber is a thread of the trace with a chunk of its own. To switch is to put the thread's place in the trace aside and
//! to go on at the fiber's. Unless asked otherwise, a switch orders what was done before it with what is done after.
//! Limits: the locks that `held` knows stay with the thread.

use std::cell::Cell;

use foresee_format::Tag;
use libc::{c_char, c_uint, c_void};

use crate::atomics::{acquire_edge, release_edge};
use crate::buffer::{Place, always, new_thread};
use crate::entry::entries;
use crate::memory::{real_free, real_malloc};
use crate::rawfile;

/// The flag of a switch that orders nothing.
const NO_SYNC: c_uint = 1;

struct Fiber {
    /// Where its records go, while it does not run.
    place: Place,
    thread: Option<u32>,
    begun: bool,
}

thread_local! {
    /// The fiber that runs on this thread; null: the thread itself, and nobody has asked for its handle.
    static CURRENT: Cell<*mut Fiber> = const { Cell::new(std::ptr::null_mut()) };
}

fn new_fiber(fiber: Fiber) -> *mut Fiber {
    // SAFETY: memory for one fiber, if there is any.
    unsafe {
        let at = real_malloc(size_of::<Fiber>()).cast::<Fiber>();
        if !at.is_null() {
            at.write(fiber);
        }
        at
    }
}

extern "C" fn current(_pc: u64) -> *mut Fiber {
    if CURRENT.get().is_null() {
        CURRENT.set(new_fiber(Fiber { place: Place::NEW, thread: None, begun: true }));
    }
    CURRENT.get()
}

extern "C" fn create(_flags: c_uint, pc: u64) -> *mut Fiber {
    let thread = if rawfile::recording() { new_thread() } else { None };
    if let Some(thread) = thread {
        always(|local| local.stamped(Tag::Fork, 0, [pc, u64::from(thread)]));
    }
    let place = thread.map_or(Place::NEW, Place::of_thread);
    new_fiber(Fiber { place, thread, begun: false })
}

// SAFETY of the uses of fibers below: the program passes what `create` or `current` returned and it has not destroyed, and
// a fiber runs on one thread at a time.

extern "C" fn switch(to: *mut Fiber, flags: c_uint, pc: u64) {
    let from = current(pc);
    if to.is_null() || from.is_null() || to == from {
        return;
    }
    if flags & NO_SYNC == 0 {
        release_edge(to as u64, pc);
    }
    always(|local| unsafe {
        (*from).place = local.go_to(std::mem::replace(&mut (*to).place, Place::NEW));
        if !std::mem::replace(&mut (*to).begun, true) {
            local.stamped(Tag::Begin, 0, []);
        }
    });
    CURRENT.set(to);
    if flags & NO_SYNC == 0 {
        acquire_edge(to as u64, pc);
    }
}

extern "C" fn destroy(fiber: *mut Fiber, _pc: u64) {
    if fiber.is_null() || fiber == CURRENT.get() {
        return;
    }
    always(|local| unsafe {
        if (*fiber).begun && (*fiber).thread.is_some() {
            let here = local.go_to(std::mem::replace(&mut (*fiber).place, Place::NEW));
            local.stamped(Tag::End, 0, []);
            local.drop_chunk();
            local.go_to(here).forget_frames();
        }
    });
    unsafe { real_free(fiber.cast::<c_void>()) };
}

extern "C" fn name(fiber: *mut Fiber, name: *const c_char, _pc: u64) {
    // SAFETY: the name ends in a zero byte.
    unsafe {
        if let Some(thread) = fiber.as_ref().and_then(|fiber| fiber.thread) {
            rawfile::name_thread(thread, std::ffi::CStr::from_ptr(name).to_bytes());
        }
    }
}

entries! {
    __tsan_get_current_fiber => current, "rdi";
    __tsan_create_fiber => create, "rsi";
    __tsan_switch_to_fiber => switch, "rdx";
    __tsan_destroy_fiber => destroy, "rsi";
    __tsan_set_fiber_name => name, "rdx";
}
