//! Entry points of libgomp: tasks.
//!
//! The library copies the data of a task, and hands the copy to the task's function. Ours puts an [`Envelope`] before the data, and
//! gives the library a function that opens it. To some tasks the library itself gives the first words of their data (bounds of a
//! `taskloop`, the event of a `detach`), or takes a word from there; these words begin the envelope.

use libc::{c_int, c_long, c_uint, c_ulong, c_void, size_t};

use super::LIBGOMP;
use super::gomp::Body;
use super::tasks::{
    Dependence, Dependences, Made, begins_group, ends_group, sees_events, waits_for_children, waits_for_event,
};
use crate::entry_points::{weak_entries, weak_entries_of_six};
use crate::real_functions::{Real, call_real, real_free, real_malloc};
use crate::recorder::blocks;

/// Copies the data of a task to a new place.
type CopyFunction = extern "C-unwind" fn(*mut c_void, *mut c_void);
type Depend = *const *const c_void;

const WITH_DEPENDENCES: c_uint = 1 << 3;
const WITHOUT_GROUP: c_uint = 1 << 11;
const WITH_EVENT: c_uint = 1 << 13;

const HEAD: usize = 3;
/// How many of them the library writes: an event, or the bounds of a loop.
const EVENT_WORDS: usize = 1;
const LOOP_WORDS: usize = 2;

/// Comes before the data of a task.
#[derive(Clone, Copy)]
#[repr(C)]
struct Envelope {
    /// The words of the data that the library may exchange.
    head: [u64; HEAD],
    /// How many of them the library writes.
    written: usize,
    made: Made,
    body: Body,
    copy: Option<CopyFunction>,
    data: *mut c_void,
    /// How far the data are from here, and how large they are.
    offset: usize,
    size: usize,
}

impl Envelope {
    /// # Safety
    ///
    /// The envelope is one that has a copy of the data behind it.
    unsafe fn content(envelope: *mut Envelope) -> *mut c_void {
        // SAFETY: the caller says so.
        unsafe { envelope.byte_add((*envelope).offset).cast() }
    }
}

/// What the library runs instead of the program's function.
extern "C-unwind" fn run(envelope: *mut c_void) {
    let envelope = envelope.cast::<Envelope>();
    // SAFETY: the library hands over a copy that `task_with` or `copy` has made, with data behind it of at least so many words. It stays
    // until this returns.
    let (sealed, data) = unsafe {
        let (sealed, data) = (&*envelope, Envelope::content(envelope));
        copy_unrecorded(data, sealed.head.as_ptr().cast(), size_of::<u64>() * sealed.written);
        (sealed, data)
    };
    sealed.made.run(|| (sealed.body)(data));
    if sealed.written == EVENT_WORDS {
        // The thread that fulfils the event may be the one that frees this memory: nobody uses it as what it was.
        blocks::begins_again(envelope.cast(), sealed.offset + sealed.size, sealed.made.pc());
        waits_for_event(sealed.made.pc());
    }
    sealed.made.ends_for_good();
}

/// What the library copies with, where the program has a function for that.
extern "C-unwind" fn copy(to: *mut c_void, from: *mut c_void) {
    // SAFETY: `task_with` has passed its envelope, and asked for so much room.
    unsafe {
        copy_unrecorded(to, from, size_of::<Envelope>());
        let sealed = &*from.cast::<Envelope>();
        if let Some(copy) = sealed.copy {
            copy(Envelope::content(to.cast()), sealed.data);
            sealed.made.sees_more();
        }
    }
}

/// Copies bytes as the library does, which the program does not see; the compiler's own copying would call our `memcpy`.
///
/// # Safety
///
/// As that of `memcpy`.
unsafe fn copy_unrecorded(to: *mut c_void, from: *const c_void, size: usize) {
    static REAL: Real = Real::new(c"memcpy");
    // SAFETY: by the caller; it is the signature of the C library's function.
    unsafe { call_real!(REAL, (*mut c_void, *const c_void, size_t) -> *mut c_void, to, from, size) };
}

/// The data of a task, as the program hands them to the library.
#[derive(Clone, Copy)]
struct Given {
    body: Body,
    data: *mut c_void,
    copy: Option<CopyFunction>,
    size: size_t,
    align: size_t,
}

/// Makes a task by `real`, which is given the data in their envelope, and writes the first words of them.
fn task_with(given: Given, written: usize, made: Made, pc: u64, real: impl FnOnce(Given)) {
    let Given { body, data, copy: own_copy, size, align } = given;
    let align = align.max(align_of::<Envelope>());
    let offset = size_of::<Envelope>().next_multiple_of(align);
    let words = size / size_of::<u64>();
    let mut head = [0; HEAD];
    for (i, word) in head.iter_mut().take(words).enumerate() {
        // SAFETY: the data are so many words, and may be copied bytewise while the task is made.
        *word = unsafe { data.cast::<u64>().add(i).read_unaligned() };
    }
    let mut sealed =
        Envelope { head, written: written.min(words), made, body, copy: own_copy, data, offset, size };
    let outer =
        Given { body: run, data: (&raw mut sealed).cast(), copy: Some(copy), size: offset + size, align };
    if own_copy.is_some() {
        return real(outer);
    }
    // Without a function for it the library copies bytes, and may run the task on what it is given.
    // SAFETY: `malloc` takes any size.
    let block = blocks::begins(unsafe { real_malloc(offset + size + align) }, pc);
    if block.is_null() {
        // SAFETY: ends the process, as the library does when there is no memory for a task.
        unsafe { libc::abort() }
    }
    let envelope = block.map_addr(|address| address.next_multiple_of(align));
    // SAFETY: there is room for the envelope and the data behind it. The library does not use the block after the call.
    unsafe {
        copy_unrecorded(envelope, (&raw const sealed).cast(), size_of::<Envelope>());
        copy_unrecorded(envelope.byte_add(offset), data, size);
        real(Given { data: envelope, copy: None, ..outer });
        blocks::ends(block, pc);
        real_free(block);
    }
}

/// The dependences that a list of the library's says: how many there are, how many of them write, and the addresses; or 0, four numbers (all,
/// writing, exclusive, reading), the addresses, and objects that have an address and its use in them.
///
/// # Safety
///
/// `list` is such a list.
unsafe fn dependences(list: Depend) -> impl ExactSizeIterator<Item = Dependence> {
    // SAFETY: the list has these words.
    let [first, second, writing, exclusive, reading] = unsafe {
        let short = !(*list).is_null();
        std::array::from_fn(|i| if short && i >= 2 { 0 } else { *list.add(i) as usize })
    };
    let (count, addresses, readers) = match first {
        0 => (second, 5, writing + exclusive..writing + exclusive + reading),
        count => (count, 2, second..count),
    };
    (0..count).map(move |i| {
        // SAFETY: so many words follow; those after the readers are objects, which begin with an address.
        let address = unsafe {
            let word = *list.add(addresses + i);
            if i >= readers.end { *word.cast::<u64>() } else { word as u64 }
        };
        Dependence { address, reads_only: readers.contains(&i) }
    })
}

extern "C-unwind" fn task(
    body: Body,
    data: *mut c_void,
    copy: Option<CopyFunction>,
    size: size_t,
    align: size_t,
    deferred: bool,
    pc: u64,
    _return: u64,
    flags: c_uint,
    depend: Depend,
    priority: c_int,
    event: *mut c_void,
) {
    static REAL: Real = Real::of_library(c"GOMP_task", LIBGOMP);
    let dependences = match flags & WITH_DEPENDENCES {
        0 => Dependences::NONE,
        // SAFETY: by this flag the program says that there is a list.
        _ => Dependences::new(unsafe { dependences(depend) }),
    };
    let written = if flags & WITH_EVENT != 0 { EVENT_WORDS } else { 0 };
    let made = Made::new(dependences, pc);
    task_with(Given { body, data, copy, size, align }, written, made, pc, |given| {
        // SAFETY: forwards the caller's own arguments, with the signature of the library's function, or what `run` and
        // `copy` expect.
        unsafe {
            call_real!(
                REAL,
                (Body, *mut c_void, Option<CopyFunction>, size_t, size_t, bool, c_uint, Depend, c_int, *mut c_void) -> (),
                given.body, given.data, given.copy, given.size, given.align, deferred, flags, depend, priority, event
            )
        }
    });
}

/// Loops of tasks: the library makes each of them from the same data. `function of "C name"`
macro_rules! task_loops {
    ($($function:ident of $name:literal;)*) => {
        $(extern "C-unwind" fn $function(
            body: Body,
            data: *mut c_void,
            copy: Option<CopyFunction>,
            size: size_t,
            align: size_t,
            flags: c_uint,
            pc: u64,
            _return: u64,
            tasks: c_ulong,
            priority: c_int,
            from: c_long,
            to: c_long,
            by: c_long,
        ) {
            static REAL: Real = Real::of_library($name, LIBGOMP);
            let with_group = flags & WITHOUT_GROUP == 0;
            if with_group {
                begins_group();
            }
            let made = Made::new(Dependences::NONE, pc);
            let real = || task_with(Given { body, data, copy, size, align }, LOOP_WORDS, made, pc, |given| {
                // SAFETY: forwards the caller's own arguments, with the signature of the library's function, or what `run` and
                // `copy` expect.
                unsafe {
                    call_real!(
                        REAL,
                        (Body, *mut c_void, Option<CopyFunction>, size_t, size_t, c_uint, c_ulong, c_int, c_long, c_long, c_long) -> (),
                        given.body, given.data, given.copy, given.size, given.align, flags, tasks, priority, from, to, by
                    )
                }
            });
            if with_group { ends_group(pc, real) } else { real() }
        })*
    };
}

task_loops! {
    task_loop of c"GOMP_taskloop";
    task_loop_unsigned of c"GOMP_taskloop_ull";
}

extern "C-unwind" fn wait(pc: u64) {
    static REAL: Real = Real::of_library(c"GOMP_taskwait", LIBGOMP);
    // SAFETY: calls the library's function, with its signature, where the program has called it.
    waits_for_children(pc, || unsafe { call_real!(REAL, () -> (),) });
}

/// Waits for some of the tasks only.
extern "C-unwind" fn wait_for(depend: Depend, pc: u64) {
    static REAL: Real = Real::of_library(c"GOMP_taskwait_depend", LIBGOMP);
    // SAFETY: forwards the caller's own arguments, with the signature of the library's function; it takes a list.
    unsafe {
        call_real!(REAL, (Depend) -> (), depend);
        dependences(depend).for_each(|dependence| dependence.is_met(pc));
    }
    sees_events(pc);
}

extern "C-unwind" fn group_start(_pc: u64) {
    static REAL: Real = Real::of_library(c"GOMP_taskgroup_start", LIBGOMP);
    begins_group();
    // SAFETY: calls the library's function, with its signature, where the program has called it.
    unsafe { call_real!(REAL, () -> (),) }
}

extern "C-unwind" fn group_end(pc: u64) {
    static REAL: Real = Real::of_library(c"GOMP_taskgroup_end", LIBGOMP);
    // SAFETY: calls the library's function, with its signature, where the program has called it.
    ends_group(pc, || unsafe { call_real!(REAL, () -> (),) });
}

weak_entries! {
    "GOMP_taskwait" => wait, "rdi";
    "GOMP_taskwait_depend" => wait_for, "rsi";
    "GOMP_taskgroup_start" => group_start, "rdi";
    "GOMP_taskgroup_end" => group_end, "rdi";
}

weak_entries_of_six! {
    "GOMP_task" => task;
    "GOMP_taskloop" => task_loop;
    "GOMP_taskloop_ull" => task_loop_unsigned;
}
