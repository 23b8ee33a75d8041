//! Entry points of LLVM's libomp: tasks.
//!
//! The program asks for a task, fills in its data, and hands it over to be run. A task has a pointer to data that it shares with others;
//! ours asks for more of these and keeps an [`Extension`] before them, which every copy of the task has, too. The task's function is
//! replaced by one of ours, and so are those that copy it and destroy its data.
//!
//! The library gives out the memory of tasks from stores of its own, so its new life is recorded here.

use libc::{c_int, c_void, size_t};

use super::LIBOMP;
use super::kmpc::{Place, simple};
use super::tasks::{
    Dependence, Dependences, Made, begins_group, ends_group, sees_events, waits_for_children,
};
use crate::entry_points::{weak_entries, weak_entries_of_six};
use crate::real_functions::{Real, call_real};
use crate::recorder::blocks;

type Routine = extern "C-unwind" fn(c_int, *mut Task) -> c_int;
/// Makes the copy of a task for some iterations of a loop, whether they are the last ones.
type CopyFunction = extern "C-unwind" fn(*mut Task, *mut Task, c_int);

/// A task, as far as compilers and libraries agree on it. Its private data follow.
#[repr(C)]
struct Task {
    shared: *mut c_void,
    routine: Routine,
    part: c_int,
    /// If it was asked for so, what destroys the private data.
    destructor: Option<Routine>,
}

/// In what a task is asked for with.
const TIED: c_int = 1;
const WITH_DESTRUCTOR: c_int = 1 << 3;
/// A task of the library's own kind, which runs elsewhere.
const PROXY: c_int = 1 << 4;

/// What ours keeps with a task.
#[repr(C)]
struct Extension {
    routine: Routine,
    destructor: Option<Routine>,
    copy: Option<CopyFunction>,
    made: Option<Made>,
    flags: c_int,
    /// The bytes that the program uses, from the task on.
    used: usize,
    pc: u64,
}

impl Task {
    /// # Safety
    ///
    /// The task is one that [`alloc`] has extended, or the library's copy of one.
    unsafe fn extension<'a>(task: *mut Task) -> &'a mut Extension {
        // SAFETY: the caller says so: it is directly before the shared data. Only who has the task at the moment uses it.
        unsafe { &mut *(*task).shared.cast::<Extension>().sub(1) }
    }
}

extern "C-unwind" fn alloc(
    place: Place,
    thread: c_int,
    flags: c_int,
    size: size_t,
    shared_size: size_t,
    routine: Routine,
    pc: u64,
) -> *mut Task {
    static REAL: Real = Real::of_library(c"__kmpc_omp_task_alloc", LIBOMP);
    let is_ours = flags & PROXY == 0;
    let more = if is_ours { size_of::<Extension>() } else { 0 };
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function, but for a larger size.
    let task = unsafe {
        call_real!(
            REAL,
            (Place, c_int, c_int, size_t, size_t, Routine) -> *mut Task,
            place, thread, flags, size, shared_size + more, routine
        )
    };
    if is_ours {
        // SAFETY: the library has made a task with so much room for shared data, which nobody else has yet.
        unsafe {
            let extension = (*task).shared.cast::<Extension>();
            let shared = extension.add(1);
            let used = shared as usize + shared_size - task as usize;
            extension.write(Extension { routine, destructor: None, copy: None, made: None, flags, used, pc });
            (*task).shared = shared.cast();
            (*task).routine = run;
            blocks::begins_again(task.cast(), used, pc);
        }
    }
    task
}

/// What the library runs instead of the program's function. A task that is not tied to one thread may be run in several parts.
extern "C-unwind" fn run(thread: c_int, task: *mut Task) -> c_int {
    // SAFETY: `alloc` has made the task, and the library has it run by this thread.
    let Extension { routine, destructor, made, flags, .. } = *unsafe { Task::extension(task) };
    let Some(made) = made else {
        return routine(thread, task);
    };
    let result = made.run(|| routine(thread, task));
    match destructor {
        Some(_) => {}
        None if flags & TIED == 0 => made.ends(),
        None => made.ends_for_good(),
    }
    result
}

/// The last thing that happens to a task whose data have to be destroyed.
extern "C-unwind" fn destroy(thread: c_int, task: *mut Task) -> c_int {
    // SAFETY: `alloc` has made the task, and the library has it destroyed by this thread, once.
    let Extension { destructor, made, .. } = *unsafe { Task::extension(task) };
    let result = destructor.map_or(0, |destructor| destructor(thread, task));
    if let Some(made) = made {
        made.ends_for_good();
    }
    result
}

/// What the library calls with each copy of a task of a loop that it has made, bytewise.
extern "C-unwind" fn copy(to: *mut Task, from: *mut Task, is_last: c_int) {
    // SAFETY: `alloc` has made the task that `to` is a copy of, and nobody else has it yet.
    unsafe {
        let Extension { copy, made, used, pc, .. } = *Task::extension(to);
        blocks::begins_again(to.cast(), used, pc);
        if let Some(copy) = copy {
            copy(to, from, is_last);
        }
        if let Some(made) = made {
            made.sees_more();
        }
    }
}

/// The task is about to be handed over to the library. If it is a loop's, it will be copied.
fn hands_over(
    task: *mut Task,
    dependences: impl FnOnce() -> Dependences,
    own_copy: Option<CopyFunction>,
    pc: u64,
) {
    // SAFETY: the program has got it from the library, and passes it on. Only those of `alloc` have this routine.
    unsafe {
        if !std::ptr::fn_addr_eq((*task).routine, run as Routine) {
            return;
        }
        let extension = Task::extension(task);
        extension.copy = own_copy;
        match &extension.made {
            Some(made) => made.sees_more(),
            None => {
                extension.made = Some(Made::new(dependences(), pc));
                if extension.flags & WITH_DESTRUCTOR != 0 {
                    extension.destructor = (*task).destructor.replace(destroy);
                }
            }
        }
    }
}

/// A dependence, as compilers write it down.
#[repr(C)]
struct Depend {
    address: u64,
    length: usize,
    flags: u8,
}

/// In its flags.
const IN: u8 = 1;

/// # Safety
///
/// There are so many.
unsafe fn dependences(count: c_int, first: *const Depend) -> impl ExactSizeIterator<Item = Dependence> {
    (0..usize::try_from(count).unwrap_or(0)).map(move |i| {
        // SAFETY: the caller says so.
        let depend = unsafe { &*first.add(i) };
        Dependence { address: depend.address, reads_only: depend.flags == IN }
    })
}

extern "C-unwind" fn task(place: Place, thread: c_int, task: *mut Task, pc: u64) -> c_int {
    static REAL: Real = Real::of_library(c"__kmpc_omp_task", LIBOMP);
    hands_over(task, || Dependences::NONE, None, pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
    unsafe { call_real!(REAL, (Place, c_int, *mut Task) -> c_int, place, thread, task) }
}

extern "C-unwind" fn task_with_deps(
    place: Place,
    thread: c_int,
    task: *mut Task,
    count: c_int,
    depends: *const Depend,
    other_count: c_int,
    pc: u64,
    _return: u64,
    others: *const Depend,
) -> c_int {
    static REAL: Real = Real::of_library(c"__kmpc_omp_task_with_deps", LIBOMP);
    // SAFETY: the program passes so many. Compilers leave the second list empty.
    hands_over(task, || Dependences::new(unsafe { dependences(count, depends) }), None, pc);
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function.
    unsafe {
        call_real!(
            REAL,
            (Place, c_int, *mut Task, c_int, *const Depend, c_int, *const Depend) -> c_int,
            place, thread, task, count, depends, other_count, others
        )
    }
}

/// Waits for some tasks only.
extern "C-unwind" fn wait_deps(
    place: Place,
    thread: c_int,
    count: c_int,
    depends: *const Depend,
    other_count: c_int,
    others: *const Depend,
    pc: u64,
) {
    static REAL: Real = Real::of_library(c"__kmpc_omp_wait_deps", LIBOMP);
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function; it passes so many.
    unsafe {
        call_real!(
            REAL,
            (Place, c_int, c_int, *const Depend, c_int, *const Depend) -> (),
            place, thread, count, depends, other_count, others
        );
        dependences(count, depends).for_each(|dependence| dependence.is_met(pc));
    }
    sees_events(pc);
}

/// A loop of tasks is made by `real`, with copies of the task.
fn loop_of(
    task: *mut Task,
    own_copy: Option<CopyFunction>,
    without_group: c_int,
    pc: u64,
    real: impl FnOnce(),
) {
    let with_group = without_group == 0;
    if with_group {
        begins_group();
    }
    hands_over(task, || Dependences::NONE, own_copy, pc);
    if with_group { ends_group(pc, real) } else { real() }
}

extern "C-unwind" fn taskloop(
    place: Place,
    thread: c_int,
    task: *mut Task,
    condition: c_int,
    from: *mut u64,
    to: *mut u64,
    pc: u64,
    _return: u64,
    by: i64,
    without_group: c_int,
    schedule: c_int,
    grain: u64,
    own_copy: Option<CopyFunction>,
) {
    static REAL: Real = Real::of_library(c"__kmpc_taskloop", LIBOMP);
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function, or `copy`.
    loop_of(task, own_copy, without_group, pc, || unsafe {
        call_real!(
            REAL,
            (Place, c_int, *mut Task, c_int, *mut u64, *mut u64, i64, c_int, c_int, u64, CopyFunction) -> (),
            place, thread, task, condition, from, to, by, without_group, schedule, grain, copy
        )
    });
}

extern "C-unwind" fn taskloop_5(
    place: Place,
    thread: c_int,
    task: *mut Task,
    condition: c_int,
    from: *mut u64,
    to: *mut u64,
    pc: u64,
    _return: u64,
    by: i64,
    without_group: c_int,
    schedule: c_int,
    grain: u64,
    modifier: c_int,
    own_copy: Option<CopyFunction>,
) {
    static REAL: Real = Real::of_library(c"__kmpc_taskloop_5", LIBOMP);
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function, or `copy`.
    loop_of(task, own_copy, without_group, pc, || unsafe {
        call_real!(
            REAL,
            (Place, c_int, *mut Task, c_int, *mut u64, *mut u64, i64, c_int, c_int, u64, c_int, CopyFunction) -> (),
            place, thread, task, condition, from, to, by, without_group, schedule, grain, modifier, copy
        )
    });
}

fn group_begins(_pc: u64, real: impl FnOnce()) {
    begins_group();
    real();
}

simple! {
    waits_for_children: taskwait of c"__kmpc_omp_taskwait" -> c_int;
    group_begins: taskgroup of c"__kmpc_taskgroup" -> ();
    ends_group: end_taskgroup of c"__kmpc_end_taskgroup" -> ();
}

weak_entries! {
    "__kmpc_omp_task" => task, "rcx";
    "__kmpc_omp_taskwait" => taskwait, "rdx";
    "__kmpc_taskgroup" => taskgroup, "rdx";
    "__kmpc_end_taskgroup" => end_taskgroup, "rdx";
}

weak_entries_of_six! {
    "__kmpc_omp_task_alloc" => alloc;
    "__kmpc_omp_task_with_deps" => task_with_deps;
    "__kmpc_omp_wait_deps" => wait_deps;
    "__kmpc_taskloop" => taskloop;
    "__kmpc_taskloop_5" => taskloop_5;
}
