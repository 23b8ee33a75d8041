//! Arguments that hooks at entries keep until the function returns.
//!
//! A call is known by where its return address is: the stack pointer is there at the first instruction and again at the return, and no other call can have its return address
//! there meanwhile. So each place of a stack at which a function with kept arguments was ever entered has a slot, which the next such call at this place fills again. A call that is left by an
//! exception, a panic or `longjmp` never takes its arguments; they are overwritten, as all calls of these functions come here. Recursion has a slot for each call, and it does not matter
//! which thread is on which stack, as with coroutines. Only a program that copies its stacks away and back would have two calls at one place.
//!
//! Nobody but the code that runs at a place touches its slot; threads only meet where a slot is given to a place, once. So nothing is locked, and as memory comes from the kernel, hooks
//! may be reached in signal handlers and in the child of a fork.

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed};

use foresee_format::MOST_KEPT;

/// What was kept of a call.
pub(super) type Arguments = [u64; MOST_KEPT];

/// One place of a stack.
#[repr(align(64))]
struct Slot {
    /// 0 as long as the slot belongs to none.
    place: AtomicU64,
    /// The hook that has kept arguments, from 1; 0 if there are none.
    hook: AtomicU64,
    arguments: [AtomicU64; MOST_KEPT],
}

/// How many slots the first table has; each other has twice as many as the one before.
const FIRST: usize = 1 << 12;
const TABLES: usize = 20;
/// So many slots of a table may be those of a place: more are not looked at.
const LOOKED_AT: usize = 16;

/// A table is added when a place finds no slot in those that there are.
static SLOTS: [AtomicPtr<Slot>; TABLES] = [const { AtomicPtr::new(std::ptr::null_mut()) }; TABLES];

/// Keeps the arguments of a call that this hook has seen; false if there is no memory.
#[must_use]
pub(super) fn keep(place: u64, hook: usize, arguments: &Arguments) -> bool {
    let Some(slot) = find(place).or_else(|| add(place)) else { return false };
    slot.hook.store(hook as u64 + 1, Relaxed);
    slot.arguments.iter().zip(arguments).for_each(|(kept, argument)| kept.store(*argument, Relaxed));
    true
}

/// The arguments of the call that returns at this place, if this hook has seen its beginning.
pub(super) fn take(place: u64, hook: usize) -> Option<Arguments> {
    let slot = find(place)?;
    let is_it = slot.hook.swap(0, Relaxed) == hook as u64 + 1;
    is_it.then(|| std::array::from_fn(|at| slot.arguments[at].load(Relaxed)))
}

/// The slot of a place, if it has one.
fn find(place: u64) -> Option<&'static Slot> {
    let tables = (0..TABLES).map_while(table);
    tables.flat_map(|table| of_place(table, place)).find(|slot| slot.place.load(Acquire) == place)
}

/// Gives a slot to a place that has none. Nobody else does that for this place.
fn add(place: u64) -> Option<&'static Slot> {
    let is_free = |slot: &&Slot| slot.place.compare_exchange(0, place, AcqRel, Relaxed).is_ok();
    (0..TABLES)
        .map_while(|number| table(number).or_else(|| new_table(number)))
        .find_map(|table| of_place(table, place).find(is_free))
}

/// The slots of a table that may be those of a place.
fn of_place(table: &'static [Slot], place: u64) -> impl Iterator<Item = &'static Slot> {
    const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
    let first = ((place >> 3).wrapping_mul(MIX) >> 32) as usize;
    (0..LOOKED_AT).map(move |step| &table[(first + step) & (table.len() - 1)])
}

fn table(number: usize) -> Option<&'static [Slot]> {
    let slots = SLOTS[number].load(Acquire);
    // SAFETY: `new_table` has mapped so many slots there, of zeroes, and nobody unmaps them.
    (!slots.is_null()).then(|| unsafe { std::slice::from_raw_parts(slots, FIRST << number) })
}

#[cold]
#[inline(never)]
fn new_table(number: usize) -> Option<&'static [Slot]> {
    let len = (FIRST << number) * size_of::<Slot>();
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing that exists. `errno` is this thread's own; it is put back, as the program may look at it.
    let slots = unsafe {
        let errno = *libc::__errno_location();
        let slots = libc::mmap(std::ptr::null_mut(), len, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
        *libc::__errno_location() = errno;
        slots
    };
    if slots == libc::MAP_FAILED {
        return None;
    }
    if SLOTS[number].compare_exchange(std::ptr::null_mut(), slots.cast(), AcqRel, Acquire).is_err() {
        // SAFETY: it was mapped just now, and another thread's table is used.
        unsafe { libc::munmap(slots, len) };
    }
    table(number)
}
