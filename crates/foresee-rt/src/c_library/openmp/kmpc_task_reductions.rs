//! Entry points of LLVM's libomp: reductions over tasks.
//!
//! The library gives each thread a part of its own, and at the end of the task group puts the parts together, by functions of the
//! program's that it calls within the call that ends the group: after it has waited, and before ours could record that. So ours
//! gives it others, which record it first. They get nothing but the two parts, so each function of the program's needs one of ours of its
//! own: there are [`MOST`] of them.

use std::sync::atomic::{AtomicPtr, Ordering::SeqCst};

use libc::{c_int, c_void};

use super::LIBOMP;
use super::kmpc::Place;
use super::tasks::sees_group;
use super::teams::reductions;
use crate::entry_points::weak_entries;
use crate::real_functions::{Real, call_real};
use crate::recorder::edges::{acquire_edge, release_edge};

/// Puts the second part into the first, or makes a new part.
type OnParts = extern "C-unwind" fn(*mut c_void, *mut c_void);

/// A reduction, as the compiler describes it.
#[derive(Clone, Copy)]
#[repr(C)]
struct Reduction {
    shared: *mut c_void,
    original: *mut c_void,
    size: usize,
    initialise: Option<OnParts>,
    finish: *mut c_void,
    combine: Option<OnParts>,
    flags: u32,
}

/// How many functions of the program's are stood in front of; those beyond are called directly.
const MOST: usize = 64;

/// The program's functions.
static COMBINING: [AtomicPtr<c_void>; MOST] = [const { AtomicPtr::new(std::ptr::null_mut()) }; MOST];
static INITIALISING: [AtomicPtr<c_void>; MOST] = [const { AtomicPtr::new(std::ptr::null_mut()) }; MOST];

fn call(function: &AtomicPtr<c_void>, first: *mut c_void, second: *mut c_void) {
    // SAFETY: `ours` has put a function of this type there before it gave out what calls this.
    let function: OnParts = unsafe { std::mem::transmute(function.load(SeqCst)) };
    function(first, second);
}

/// The tasks that worked on the parts have ended.
extern "C-unwind" fn combine<const N: usize>(into: *mut c_void, part: *mut c_void) {
    sees_group(0);
    acquire_edge(reductions(), 0);
    call(&COMBINING[N], into, part);
}

/// Threads that get the part wait for the one that makes them all.
extern "C-unwind" fn initialise<const N: usize>(part: *mut c_void, original: *mut c_void) {
    call(&INITIALISING[N], part, original);
    release_edge(reductions(), 0);
}

/// A list of one function for each number below [`MOST`].
macro_rules! numbered {
    ($function:ident: $($eight:literal)*) => {
        [$(
            $function::<{ 8 * $eight }>, $function::<{ 8 * $eight + 1 }>, $function::<{ 8 * $eight + 2 }>,
            $function::<{ 8 * $eight + 3 }>, $function::<{ 8 * $eight + 4 }>, $function::<{ 8 * $eight + 5 }>,
            $function::<{ 8 * $eight + 6 }>, $function::<{ 8 * $eight + 7 }>
        ),*]
    };
}

static OUR_COMBINING: [OnParts; MOST] = numbered!(combine: 0 1 2 3 4 5 6 7);
static OUR_INITIALISING: [OnParts; MOST] = numbered!(initialise: 0 1 2 3 4 5 6 7);

/// The function that stands in front of the program's.
fn ours(own: OnParts, known: &[AtomicPtr<c_void>; MOST], ours: &[OnParts; MOST]) -> OnParts {
    let own_address = own as *mut c_void;
    for (slot, &in_front) in known.iter().zip(ours) {
        let taken = slot.compare_exchange(std::ptr::null_mut(), own_address, SeqCst, SeqCst);
        if taken.is_ok() || taken == Err(own_address) {
            return in_front;
        }
    }
    own
}

/// Has `real` begin the reductions that the program describes, with our functions.
fn begins<R>(count: c_int, data: *mut c_void, pc: u64, real: impl FnOnce() -> R) -> R {
    let first = data.cast::<Reduction>();
    for i in 0..usize::try_from(count).unwrap_or(0) {
        // SAFETY: the program passes so many descriptions, made for this call in memory of its own.
        let reduction = unsafe { &mut *first.add(i) };
        reduction.combine = reduction.combine.map(|own| ours(own, &COMBINING, &OUR_COMBINING));
        reduction.initialise = reduction.initialise.map(|own| ours(own, &INITIALISING, &OUR_INITIALISING));
    }
    let result = real();
    acquire_edge(reductions(), pc);
    result
}

extern "C-unwind" fn init(thread: c_int, count: c_int, data: *mut c_void, pc: u64) -> *mut c_void {
    static REAL: Real = Real::of_library(c"__kmpc_taskred_init", LIBOMP);
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
    begins(count, data, pc, || unsafe {
        call_real!(REAL, (c_int, c_int, *mut c_void) -> *mut c_void, thread, count, data)
    })
}

/// The same for all threads of a region or worksharing construct, whose tasks take part.
extern "C-unwind" fn modifier_init(
    place: Place,
    thread: c_int,
    is_workshare: c_int,
    count: c_int,
    data: *mut c_void,
    pc: u64,
) -> *mut c_void {
    static REAL: Real = Real::of_library(c"__kmpc_taskred_modifier_init", LIBOMP);
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
    begins(count, data, pc, || unsafe {
        call_real!(
            REAL,
            (Place, c_int, c_int, c_int, *mut c_void) -> *mut c_void,
            place, thread, is_workshare, count, data
        )
    })
}

/// The thread's own part is done.
extern "C-unwind" fn modifier_fini(place: Place, thread: c_int, is_workshare: c_int, pc: u64) {
    static REAL: Real = Real::of_library(c"__kmpc_task_reduction_modifier_fini", LIBOMP);
    release_edge(reductions(), pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
    unsafe { call_real!(REAL, (Place, c_int, c_int) -> (), place, thread, is_workshare) }
}

weak_entries! {
    "__kmpc_taskred_init" => init, "rcx";
    "__kmpc_taskred_modifier_init" => modifier_init, "r9";
    "__kmpc_task_reduction_modifier_fini" => modifier_fini, "rcx";
}
