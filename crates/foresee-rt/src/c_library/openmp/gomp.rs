//! Entry points of libgomp: regions, barriers, `ordered`, `copyprivate`.

use libc::{c_int, c_long, c_uint, c_void};

use super::teams::{Team, arrives, barrier, begins_ordered, ends_ordered, iterations, left, may_cancel};
use super::{LIBGOMP, VaList};
use crate::entry_points::{variadic_entries, weak_entries, weak_entries_of_six};
use crate::real_functions::{Real, call_real};
use crate::recorder::edges::{acquire_edge, release_edge};

/// What a region runs in each thread.
pub(super) type Body = extern "C-unwind" fn(*mut c_void);

/// A region, and what the program wants to run in it.
#[repr(C)]
struct Region {
    /// The first word of the data, which the library looks at if tasks take part in reductions.
    reductions: *mut c_void,
    team: Team,
    body: Body,
    data: *mut c_void,
    pc: u64,
}

/// What the library runs instead of the program's function.
extern "C-unwind" fn run(region: *mut c_void) {
    // SAFETY: `region` has passed the address of one, and waits until all threads have run this.
    let region = unsafe { &*region.cast::<Region>() };
    region.team.run(region.pc, || (region.body)(region.data));
}

/// A region, by `real`, which is given what to run and with what.
fn region<R>(body: Body, data: *mut c_void, pc: u64, real: impl FnOnce(Body, *mut c_void) -> R) -> R {
    region_with(std::ptr::null_mut(), body, data, pc, real)
}

fn region_with<R>(
    reductions: *mut c_void,
    body: Body,
    data: *mut c_void,
    pc: u64,
    real: impl FnOnce(Body, *mut c_void) -> R,
) -> R {
    let region = Region { reductions, team: Team::new(), body, data, pc };
    region.team.region(pc, || real(run, (&raw const region).cast_mut().cast()))
}

/// Functions that are a region: `function of "C name", (arguments after the first two)`. Those with more arguments
/// than registers find the return address before the arguments on the stack, twice.
macro_rules! regions {
    ($($function:ident of $name:literal, ($($arg:ident: $ty:ty),*) $([$($stacked:ident: $stacked_ty:ty),*])?;)*) => {
        $(extern "C-unwind" fn $function(
            body: Body,
            data: *mut c_void,
            $($arg: $ty,)*
            pc: u64,
            $(_return: u64, $($stacked: $stacked_ty),*)?
        ) {
            static REAL: Real = Real::of_library($name, LIBGOMP);
            // SAFETY: forwards the caller's own arguments, with the signature of the library's function, or `run` and what it
            // expects.
            region(body, data, pc, |body, data| unsafe {
                call_real!(
                    REAL,
                    (Body, *mut c_void $(, $ty)* $($(, $stacked_ty)*)?) -> (),
                    body, data $(, $arg)* $($(, $stacked)*)?
                )
            })
        })*
    };
}

regions! {
    parallel of c"GOMP_parallel", (threads: c_uint, flags: c_uint);
    parallel_sections of c"GOMP_parallel_sections", (threads: c_uint, count: c_uint, flags: c_uint);
    teams of c"GOMP_teams_reg", (teams: c_uint, threads: c_uint, flags: c_uint);
    loop_static of c"GOMP_parallel_loop_static",
        (threads: c_uint, from: c_long, to: c_long, by: c_long) [chunk: c_long, flags: c_uint];
    loop_dynamic of c"GOMP_parallel_loop_dynamic",
        (threads: c_uint, from: c_long, to: c_long, by: c_long) [chunk: c_long, flags: c_uint];
    loop_guided of c"GOMP_parallel_loop_guided",
        (threads: c_uint, from: c_long, to: c_long, by: c_long) [chunk: c_long, flags: c_uint];
    loop_any_dynamic of c"GOMP_parallel_loop_nonmonotonic_dynamic",
        (threads: c_uint, from: c_long, to: c_long, by: c_long) [chunk: c_long, flags: c_uint];
    loop_any_guided of c"GOMP_parallel_loop_nonmonotonic_guided",
        (threads: c_uint, from: c_long, to: c_long, by: c_long) [chunk: c_long, flags: c_uint];
    loop_runtime of c"GOMP_parallel_loop_runtime",
        (threads: c_uint, from: c_long, to: c_long, by: c_long) [flags: c_uint];
    loop_any_runtime of c"GOMP_parallel_loop_nonmonotonic_runtime",
        (threads: c_uint, from: c_long, to: c_long, by: c_long) [flags: c_uint];
    loop_maybe_any_runtime of c"GOMP_parallel_loop_maybe_nonmonotonic_runtime",
        (threads: c_uint, from: c_long, to: c_long, by: c_long) [flags: c_uint];
}

extern "C-unwind" fn parallel_reductions(
    body: Body,
    data: *mut c_void,
    threads: c_uint,
    flags: c_uint,
    pc: u64,
) -> c_uint {
    static REAL: Real = Real::of_library(c"GOMP_parallel_reductions", LIBGOMP);
    // SAFETY: the data of such a region begin with a pointer.
    let reductions = unsafe { *data.cast::<*mut c_void>() };
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function, or `run` and what it expects, which
    // begins with the same pointer.
    region_with(reductions, body, data, pc, |body, data| unsafe {
        call_real!(REAL, (Body, *mut c_void, c_uint, c_uint) -> c_uint, body, data, threads, flags)
    })
}

/// Functions without arguments: `how it is recorded: function of "C name" -> result`.
macro_rules! simple {
    ($($how:ident: $function:ident of $name:literal -> $ret:ty;)*) => {
        $(extern "C-unwind" fn $function(pc: u64) -> $ret {
            static REAL: Real = Real::of_library($name, LIBGOMP);
            // SAFETY: calls the library's function, with its signature, where the program has called it.
            $how(pc, || unsafe { call_real!(REAL, () -> $ret,) })
        })*
    };
}

simple! {
    barrier: team_barrier of c"GOMP_barrier" -> ();
    barrier: team_barrier_cancel of c"GOMP_barrier_cancel" -> bool;
    barrier: loop_end of c"GOMP_loop_end" -> ();
    barrier: loop_end_cancel of c"GOMP_loop_end_cancel" -> bool;
    barrier: sections_end of c"GOMP_sections_end" -> ();
    barrier: sections_end_cancel of c"GOMP_sections_end_cancel" -> bool;
    begins_ordered: ordered_start of c"GOMP_ordered_start" -> ();
    ends_ordered: ordered_end of c"GOMP_ordered_end" -> ();
}

/// The end of a worksharing construct with task reductions.
extern "C-unwind" fn workshare_end(cancelled: bool, pc: u64) {
    static REAL: Real = Real::of_library(c"GOMP_workshare_task_reduction_unregister", LIBGOMP);
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
    let real = || unsafe { call_real!(REAL, (bool) -> (), cancelled) };
    if cancelled { real() } else { barrier(pc, real) }
}

/// `single` with `copyprivate`: the thread that is chosen gets null; the others get what it hands over, after a barrier.
extern "C-unwind" fn single_copy_start(pc: u64) -> *mut c_void {
    static REAL: Real = Real::of_library(c"GOMP_single_copy_start", LIBGOMP);
    arrives(0, pc);
    // SAFETY: calls the library's function, with its signature, where the program has called it.
    let handed_over = unsafe { call_real!(REAL, () -> *mut c_void,) };
    if !handed_over.is_null() {
        left(pc);
    }
    handed_over
}

/// The chosen thread hands over, and arrives at that barrier.
extern "C-unwind" fn single_copy_end(data: *mut c_void, pc: u64) {
    static REAL: Real = Real::of_library(c"GOMP_single_copy_end", LIBGOMP);
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
    barrier(pc, || unsafe { call_real!(REAL, (*mut c_void) -> (), data) });
}

extern "C-unwind" fn cancel(construct: c_int, condition: bool, pc: u64) -> bool {
    static REAL: Real = Real::of_library(c"GOMP_cancel", LIBGOMP);
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
    may_cancel(condition, pc, || unsafe { call_real!(REAL, (c_int, bool) -> bool, construct, condition) })
}

extern "C-unwind" fn cancellation_point(construct: c_int, pc: u64) -> bool {
    static REAL: Real = Real::of_library(c"GOMP_cancellation_point", LIBGOMP);
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
    may_cancel(false, pc, || unsafe { call_real!(REAL, (c_int) -> bool, construct) })
}

/// Functions by which an iteration lets others go on that wait for it: `function of "C name"`. Which one waits for which is not
/// followed, only the loop.
macro_rules! posts {
    ($($function:ident of $name:literal;)*) => {
        $(extern "C-unwind" fn $function(iteration: *const c_void, pc: u64) {
            static REAL: Real = Real::of_library($name, LIBGOMP);
            release_edge(iterations(), pc);
            // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
            unsafe { call_real!(REAL, (*const c_void) -> (), iteration) }
        })*
    };
}

posts! {
    doacross_post of c"GOMP_doacross_post";
    doacross_ull_post of c"GOMP_doacross_ull_post";
}

/// Functions by which an iteration waits for another one, which is as many numbers as the loop has levels.
macro_rules! waits {
    ($($function:ident of $name:literal;)*) => {
        $(extern "C-unwind" fn $function(first: c_long, list: *const VaList, pc: u64) {
            static REAL: Real = Real::of_library($name, LIBGOMP);
            type Waiting = unsafe extern "C-unwind" fn(c_long, ...);
            // SAFETY: the library looks at no more of these than the caller has passed. The others are what happens to be in the
            // caller's frame; more levels than these no loop has.
            unsafe {
                let waiting: Waiting = std::mem::transmute(REAL.address());
                let r: [u64; 5] = std::array::from_fn(|i| *(*list).saved_registers.add(1 + i));
                let s: [u64; 6] = std::array::from_fn(|i| *(*list).stacked.add(i));
                waiting(first, r[0], r[1], r[2], r[3], r[4], s[0], s[1], s[2], s[3], s[4], s[5]);
            }
            acquire_edge(iterations(), pc);
        })*
    };
}

waits! {
    doacross_wait of c"GOMP_doacross_wait";
    doacross_ull_wait of c"GOMP_doacross_ull_wait";
}

variadic_entries! {
    "GOMP_doacross_wait" => doacross_wait, 1, "rsi", "rdx";
    "GOMP_doacross_ull_wait" => doacross_ull_wait, 1, "rsi", "rdx";
}

weak_entries! {
    "GOMP_parallel" => parallel, "r8";
    "GOMP_parallel_reductions" => parallel_reductions, "r8";
    "GOMP_parallel_sections" => parallel_sections, "r9";
    "GOMP_teams_reg" => teams, "r9";
    "GOMP_cancel" => cancel, "rdx";
    "GOMP_cancellation_point" => cancellation_point, "rsi";
    "GOMP_doacross_post" => doacross_post, "rsi";
    "GOMP_doacross_ull_post" => doacross_ull_post, "rsi";
    "GOMP_barrier" => team_barrier, "rdi";
    "GOMP_barrier_cancel" => team_barrier_cancel, "rdi";
    "GOMP_loop_end" => loop_end, "rdi";
    "GOMP_loop_end_cancel" => loop_end_cancel, "rdi";
    "GOMP_sections_end" => sections_end, "rdi";
    "GOMP_sections_end_cancel" => sections_end_cancel, "rdi";
    "GOMP_ordered_start" => ordered_start, "rdi";
    "GOMP_ordered_end" => ordered_end, "rdi";
    "GOMP_workshare_task_reduction_unregister" => workshare_end, "rsi";
    "GOMP_single_copy_start" => single_copy_start, "rdi";
    "GOMP_single_copy_end" => single_copy_end, "rsi";
}

weak_entries_of_six! {
    "GOMP_parallel_loop_static" => loop_static;
    "GOMP_parallel_loop_dynamic" => loop_dynamic;
    "GOMP_parallel_loop_guided" => loop_guided;
    "GOMP_parallel_loop_nonmonotonic_dynamic" => loop_any_dynamic;
    "GOMP_parallel_loop_nonmonotonic_guided" => loop_any_guided;
    "GOMP_parallel_loop_runtime" => loop_runtime;
    "GOMP_parallel_loop_nonmonotonic_runtime" => loop_any_runtime;
    "GOMP_parallel_loop_maybe_nonmonotonic_runtime" => loop_maybe_any_runtime;
}
