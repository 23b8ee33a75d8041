//! Fibers: threads that the program switches between by itself, and announces by TSan's entry points.
//!
//! A fiber is a thread of the trace with a chunk of its own. A switch suspends one thread of the trace and goes on with the other.
//! Unless asked otherwise, it orders what was done before it with what is done after.
//! Limit: the locks that `held_locks` knows stay with the thread.

use std::cell::Cell;

use foresee_format::Tag;
use libc::{c_char, c_uint, c_void};

use crate::entry_points::entries;
use crate::real_functions::{real_free, real_malloc};
use crate::recorder::edges::{acquire_edge, release_edge};
use crate::recorder::thread::{Suspended, always, new_thread};
use crate::recorder::{status, trace_file};

/// The flag of a switch that orders nothing.
const NO_SYNC: c_uint = 1;

struct Fiber {
    /// Where its records go, while it does not run.
    suspended: Suspended,
    thread: Option<u32>,
    begun: bool,
}

thread_local! {
    /// The fiber that runs on this thread; null: the thread itself, and nobody has asked for its handle.
    static CURRENT: Cell<*mut Fiber> = const { Cell::new(std::ptr::null_mut()) };
}

fn new_fiber(fiber: Fiber) -> *mut Fiber {
    // SAFETY: `malloc` gives null, or a block that is large enough and aligned for any type, and nobody else's.
    unsafe {
        let at = real_malloc(size_of::<Fiber>()).cast::<Fiber>();
        if !at.is_null() {
            at.write(fiber);
        }
        at
    }
}

extern "C-unwind" fn current(_pc: u64) -> *mut Fiber {
    if CURRENT.get().is_null() {
        CURRENT.set(new_fiber(Fiber { suspended: Suspended::NEW, thread: None, begun: true }));
    }
    CURRENT.get()
}

extern "C-unwind" fn create(_flags: c_uint, pc: u64) -> *mut Fiber {
    let thread = if status::recording() { new_thread() } else { None };
    if let Some(thread) = thread {
        always(|local| local.stamped(Tag::Fork, 0, [pc, u64::from(thread)]));
    }
    let suspended = thread.map_or(Suspended::NEW, Suspended::of_thread);
    new_fiber(Fiber { suspended, thread, begun: false })
}

// The ABI of fibers: the program passes what `create` or `current` returned and it has not destroyed, and a fiber runs on one
// thread at a time. So a thread that is passed a fiber may use it alone.

extern "C-unwind" fn switch(to: *mut Fiber, flags: c_uint, pc: u64) {
    let from = current(pc);
    if to.is_null() || from.is_null() || to == from {
        return;
    }
    if flags & NO_SYNC == 0 {
        release_edge(to as u64, pc);
    }
    // SAFETY: by the ABI both fibers live, and are this thread's for the time of the call; they are not the same.
    always(|local| unsafe {
        (*from).suspended = local.switch_to(std::mem::replace(&mut (*to).suspended, Suspended::NEW));
        if !std::mem::replace(&mut (*to).begun, true) {
            local.stamped(Tag::Begin, 0, []);
        }
    });
    CURRENT.set(to);
    if flags & NO_SYNC == 0 {
        acquire_edge(to as u64, pc);
    }
}

extern "C-unwind" fn destroy(fiber: *mut Fiber, _pc: u64) {
    if fiber.is_null() || fiber == CURRENT.get() {
        return;
    }
    // SAFETY: by the ABI the fiber lives, and nobody else uses it.
    always(|local| unsafe {
        if (*fiber).begun && (*fiber).thread.is_some() {
            let here = local.switch_to(std::mem::replace(&mut (*fiber).suspended, Suspended::NEW));
            local.stamped(Tag::End, 0, []);
            local.drop_chunk();
            local.switch_to(here).forget_frames();
        }
    });
    // SAFETY: it came from `real_malloc`, and by the ABI nobody uses it after this call.
    unsafe { real_free(fiber.cast::<c_void>()) };
}

extern "C-unwind" fn name(fiber: *mut Fiber, name: *const c_char, _pc: u64) {
    // SAFETY: by the ABI the fiber lives, if it is not null, and the name ends in a zero byte.
    unsafe {
        if let Some(thread) = fiber.as_ref().and_then(|fiber| fiber.thread) {
            trace_file::name_thread(thread, std::ffi::CStr::from_ptr(name).to_bytes());
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
