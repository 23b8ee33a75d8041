//! Entry points of LLVM's libomp: regions, barriers, `ordered`, `copyprivate`.
//!
//! Most take where they are called (`ident_t`) and the number of the thread first; both are only passed on.

use std::cell::Cell;

use foresee_format::Tag;
use libc::{c_int, c_void, size_t};

use super::teams::{
    Team, arrives, barrier, begins_alone, begins_ordered, ends_alone, ends_ordered, iterations, leaves,
    may_cancel,
};
use super::{LIBOMP, VaList};
use crate::entry_points::{variadic_entries, weak_entries, weak_entries_of_six};
use crate::real_functions::{Real, call_real};
use crate::recorder::atomics::{ORDER_ACQ_REL, detail};
use crate::recorder::edges::{acquire_edge, release_edge};
use crate::recorder::thread::stamped;

/// Where in the program a call is, for the library.
pub(super) type Place = *const c_void;

/// What a region runs in each thread: it takes the thread's numbers, and then pointers, as many as the region was given.
type Microtask = extern "C-unwind" fn();
/// The same with one pointer: the region.
type OurMicrotask = extern "C-unwind" fn(*mut c_int, *mut c_int, *mut Region);

struct Region {
    team: Team,
    body: Microtask,
    /// The pointers for the body: three, and the others.
    in_registers: *const u64,
    stacked: *const u64,
    /// How many of the others are not in registers when the body is called.
    more: usize,
    pc: u64,
}

/// What the library runs instead of the program's function.
extern "C-unwind" fn run(thread: *mut c_int, bound_thread: *mut c_int, region: *mut Region) {
    // SAFETY: `fork` has passed the address of one, and waits until all threads have run this. The pointers are
    // those of its caller, which are there as long.
    unsafe {
        let region = &*region;
        region.team.run(region.pc, || {
            call_microtask(
                region.body,
                thread,
                bound_thread,
                region.in_registers,
                region.stacked,
                region.more,
            );
        });
    }
}

/// Calls the body with two pointers, the three that `in_registers` points to, and those that `stacked` points to: one, and `more`.
/// Where there are fewer, it gets what happens to be there, and does not look at it.
///
/// # Safety
///
/// The pointers point to so many words; the body takes no more than these arguments.
#[unsafe(naked)]
unsafe extern "C-unwind" fn call_microtask(
    body: Microtask,
    thread: *mut c_int,
    bound_thread: *mut c_int,
    in_registers: *const u64,
    stacked: *const u64,
    more: usize,
) {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "mov rax, rdi",
        "mov r10, rdx",
        "mov r11, rcx",
        // Room for the others, a multiple of 16 bytes.
        "lea rdx, [r9 + 1]",
        "and rdx, -2",
        "shl rdx, 3",
        "sub rsp, rdx",
        "2:",
        "test r9, r9",
        "jz 3f",
        "mov rdx, [r8 + 8 * r9]",
        "mov [rsp + 8 * r9 - 8], rdx",
        "dec r9",
        "jmp 2b",
        "3:",
        "mov rdi, rsi",
        "mov rsi, r10",
        "mov r9, [r8]",
        "mov rdx, [r11]",
        "mov rcx, [r11 + 8]",
        "mov r8, [r11 + 16]",
        "call rax",
        "leave",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
    )
}

/// The arguments that are in registers: of `fork` after its own three, and of the body after its two.
const OWN: usize = 3;
const OF_BODY: usize = 4;

/// Has `real` begin a region of threads, or of teams of threads.
fn fork(real: &Real, place: Place, count: c_int, body: Microtask, list: *const VaList, pc: u64) {
    type Fork = unsafe extern "C-unwind" fn(Place, c_int, OurMicrotask, ...);
    // SAFETY: the entry point has made the list; the registers are those after the function's own three arguments.
    let (in_registers, stacked) = unsafe { ((*list).saved_registers.add(OWN), (*list).stacked) };
    let more = usize::try_from(count).unwrap_or(0).saturating_sub(OF_BODY);
    let region = Region { team: Team::new(), body, in_registers, stacked, more, pc };
    region.team.region(pc, || {
        // SAFETY: passes one pointer, as it says, and a function that takes it.
        unsafe {
            let real: Fork = std::mem::transmute(real.address());
            real(place, 1, run, (&raw const region).cast_mut());
        }
    });
}

extern "C-unwind" fn fork_call(place: Place, count: c_int, body: Microtask, list: *const VaList, pc: u64) {
    static REAL: Real = Real::of_library(c"__kmpc_fork_call", LIBOMP);
    fork(&REAL, place, count, body, list, pc);
}

extern "C-unwind" fn fork_teams(place: Place, count: c_int, body: Microtask, list: *const VaList, pc: u64) {
    static REAL: Real = Real::of_library(c"__kmpc_fork_teams", LIBOMP);
    fork(&REAL, place, count, body, list, pc);
}

/// Functions that take a place and a thread, and wait for nothing else: `function of "C name" -> result, how it is recorded`.
macro_rules! simple {
    ($($how:path: $function:ident of $name:literal -> $ret:ty;)*) => {
        $(extern "C-unwind" fn $function(place: Place, thread: c_int, pc: u64) -> $ret {
            static REAL: Real = Real::of_library($name, LIBOMP);
            // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
            $how(pc, || unsafe { call_real!(REAL, (Place, c_int) -> $ret, place, thread) })
        })*
    };
}
pub(super) use simple;

/// The calling thread runs the region itself until it says that it ends.
fn alone_begins(_pc: u64, real: impl FnOnce()) {
    real();
    begins_alone();
}

fn alone_ends(_pc: u64, real: impl FnOnce()) {
    ends_alone();
    real();
}

simple! {
    barrier: team_barrier of c"__kmpc_barrier" -> ();
    barrier: cancel_barrier of c"__kmpc_cancel_barrier" -> c_int;
    begins_ordered: ordered of c"__kmpc_ordered" -> ();
    ends_ordered: end_ordered of c"__kmpc_end_ordered" -> ();
    alone_begins: serialized_parallel of c"__kmpc_serialized_parallel" -> ();
    alone_ends: end_serialized_parallel of c"__kmpc_end_serialized_parallel" -> ();
}

extern "C-unwind" fn cancel(place: Place, thread: c_int, construct: c_int, pc: u64) -> c_int {
    static REAL: Real = Real::of_library(c"__kmpc_cancel", LIBOMP);
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
    may_cancel(true, pc, || unsafe {
        call_real!(REAL, (Place, c_int, c_int) -> c_int, place, thread, construct)
    })
}

extern "C-unwind" fn cancellation_point(place: Place, thread: c_int, construct: c_int, pc: u64) -> c_int {
    static REAL: Real = Real::of_library(c"__kmpc_cancellationpoint", LIBOMP);
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
    may_cancel(false, pc, || unsafe {
        call_real!(REAL, (Place, c_int, c_int) -> c_int, place, thread, construct)
    })
}

extern "C-unwind" fn flush(place: Place, pc: u64) {
    static REAL: Real = Real::of_library(c"__kmpc_flush", LIBOMP);
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
    unsafe { call_real!(REAL, (Place) -> (), place) };
    stamped(Tag::Fence, detail(ORDER_ACQ_REL, 0), [pc]);
}

/// Loops whose iterations wait for each other: which one for which is not followed, only the loop.
extern "C-unwind" fn doacross_wait(place: Place, thread: c_int, iteration: *const i64, pc: u64) {
    static REAL: Real = Real::of_library(c"__kmpc_doacross_wait", LIBOMP);
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
    unsafe { call_real!(REAL, (Place, c_int, *const i64) -> (), place, thread, iteration) };
    acquire_edge(iterations(), pc);
}

extern "C-unwind" fn doacross_post(place: Place, thread: c_int, iteration: *const i64, pc: u64) {
    static REAL: Real = Real::of_library(c"__kmpc_doacross_post", LIBOMP);
    release_edge(iterations(), pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
    unsafe { call_real!(REAL, (Place, c_int, *const i64) -> (), place, thread, iteration) }
}

/// Copies what the thread of a `single` hands over, for another thread.
type CopyFunction = extern "C-unwind" fn(*mut c_void, *mut c_void);

thread_local! {
    /// How the program copies in the `copyprivate` that this thread is in, and where that is.
    static COPY: Cell<Option<(CopyFunction, u64)>> = const { Cell::new(None) };
}

/// Between the two barriers of a `copyprivate`.
extern "C-unwind" fn copy(to: *mut c_void, from: *mut c_void) {
    if let Some((copy, pc)) = COPY.get() {
        leaves(0, pc);
        copy(to, from);
        arrives(1, pc);
    }
}

/// One thread, which did it, hands over; each of the others copies between two barriers.
extern "C-unwind" fn copyprivate(
    place: Place,
    thread: c_int,
    size: size_t,
    data: *mut c_void,
    own_copy: CopyFunction,
    did_it: c_int,
    pc: u64,
) {
    static REAL: Real = Real::of_library(c"__kmpc_copyprivate", LIBOMP);
    arrives(0, pc);
    let outer = COPY.replace(Some((own_copy, pc)));
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function, or `copy`, which this thread calls
    // within the call.
    unsafe {
        call_real!(
            REAL,
            (Place, c_int, size_t, *mut c_void, CopyFunction, c_int) -> (),
            place, thread, size, data, copy, did_it
        )
    };
    COPY.set(outer);
    leaves(1, pc);
}

variadic_entries! {
    "__kmpc_fork_call" => fork_call, 3, "rcx", "r8";
    "__kmpc_fork_teams" => fork_teams, 3, "rcx", "r8";
}

weak_entries! {
    "__kmpc_barrier" => team_barrier, "rdx";
    "__kmpc_cancel_barrier" => cancel_barrier, "rdx";
    "__kmpc_ordered" => ordered, "rdx";
    "__kmpc_end_ordered" => end_ordered, "rdx";
    "__kmpc_serialized_parallel" => serialized_parallel, "rdx";
    "__kmpc_end_serialized_parallel" => end_serialized_parallel, "rdx";
    "__kmpc_cancel" => cancel, "rcx";
    "__kmpc_cancellationpoint" => cancellation_point, "rcx";
    "__kmpc_flush" => flush, "rsi";
    "__kmpc_doacross_wait" => doacross_wait, "rcx";
    "__kmpc_doacross_post" => doacross_post, "rcx";
}

weak_entries_of_six! {
    "__kmpc_copyprivate" => copyprivate;
}
