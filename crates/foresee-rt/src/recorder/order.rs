//! Where keys come from: what puts the records of all threads into one order. The crate's documentation has the argument.
//!
//! There are two clocks, and a recording uses one of them from its beginning to its end:
//!
//! * **Time** ([`Clock::Time`]): the processor's time stamp counter. Threads share nothing. What synchronises takes the time; accesses and calls have the
//!   time that their thread took last, which it takes anew every so often (`thread::freshness`).
//! * **A counter** ([`Clock::Counter`]) that all threads share: what synchronises counts. That costs more the more processors there are.
//!
//! With either, accesses, calls and relaxed loads have keys of *pages* (`thread::freshness`), or each that of its own moment: then everything looks at the counter or takes the time. No two threads have pages with the same key: who looks at
//! the counter for one counts as well. Without pages, looking does not count, and *moments are shared* by all that nobody counts between.
//!
//! Time needs a counter that is the same on all processors, which the kernel knows. Where code runs that may order threads unseen,
//! accesses need keys of their own moments: such programs are recorded by the counter, which tells these with less cost. Others, too, unless pages are asked for (`session`), as they are, by time, where there are many processors.
//!
//! **Time, exactly.** The counter is read by `rdtscp`, which waits until all instructions before it are done, and is followed by `lfence`, so that no
//! later load is done before it. Stores are seen by others only after all instructions before them. So if something that another thread can see happens between two
//! readings, the second is later; and as that takes a cache line from one processor to another, it is later by more than a step of the counter (26 cycles on an AMD EPYC, where the fastest hand-over took 78), and so by more than a tick.

use std::arch::x86_64::{__cpuid, __rdtscp, _mm_lfence};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};

/// Whatever else is in the cache lines of the counter would be taken from all threads whenever one counts; processors fetch them in pairs.
#[repr(align(128))]
struct Alone(AtomicU64);

/// Counts what synchronises, in twos.
static COUNTER: Alone = Alone(AtomicU64::new(0));
/// When the recording began, or 0 if it is ordered by the counter. It does not change while something is recorded.
static BEGINNING: Alone = Alone(AtomicU64::new(0));

/// How many cycles a tick has, as a power of two: keys have 47 bits for ticks, which is two days at 3 GHz.
const TICK: u32 = 2;

/// How many bytes of accesses and calls a thread may write before it looks at the clock anew; none if every record has the key of its own moment.
static PAGE: AtomicUsize = AtomicUsize::new(0);
/// Whether threads share moments: keys are from the counter, and whoever looks at it does not count. It does not change while something is recorded.
static SHARES_MOMENTS: AtomicBool = AtomicBool::new(true);

/// What orders the records of all threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    Time,
    Counter,
}

impl Clock {
    /// How many bytes a page has. Looking at the counter when a page ends costs next to nothing, but not at every access: it is in another processor's cache as soon as one counts.
    const fn page(self) -> usize {
        match self {
            Clock::Time => 64,
            Clock::Counter => 1024,
        }
    }
}

/// Begins to order by this clock, or by the counter if there is no time to order by: with the moment of each record, or that of its page.
pub(crate) fn start(wanted: Clock, has_pages: bool) {
    let is_time = wanted == Clock::Time && has_time();
    BEGINNING.0.store(if is_time { cycles().max(1) } else { 0 }, SeqCst);
    SHARES_MOMENTS.store(!is_time && !has_pages, SeqCst);
    PAGE.store(if has_pages { clock().page() } else { 0 }, SeqCst);
}

/// Whether all processors have the same time stamp counter, which the kernel tells, and reading it is fast.
fn has_time() -> bool {
    const RDTSCP: u32 = 1 << 27;
    let leaf = |number| __cpuid(number);
    let has_rdtscp = leaf(0x8000_0000).eax >= 0x8000_0001 && leaf(0x8000_0001).edx & RDTSCP != 0;
    // The kernel takes it off the list as soon as it has seen two processors disagree.
    let list = std::fs::read("/sys/devices/system/clocksource/clocksource0/available_clocksource");
    let is_listed = |list: Vec<u8>| list.split(u8::is_ascii_whitespace).any(|clock| clock == b"tsc");
    has_rdtscp && list.is_ok_and(is_listed) && is_fast()
}

/// Whether reading the counter takes the processor alone: some virtual machines do it by themselves, which takes thousands of cycles.
fn is_fast() -> bool {
    const SLOW: u64 = 600;
    let mut last = cycles();
    let mut takes = || {
        let before = std::mem::replace(&mut last, cycles());
        last.wrapping_sub(before)
    };
    (0..16).any(|_| takes() < SLOW)
}

#[inline(always)]
fn cycles() -> u64 {
    let mut processor = 0;
    // SAFETY: `start` has seen that the processor has the instruction, before anybody else comes here; `lfence` all have.
    unsafe {
        let cycles = __rdtscp(&raw mut processor);
        _mm_lfence();
        cycles
    }
}

/// From now on, every record has the key of its own moment.
pub(crate) fn be_exact() {
    PAGE.store(0, SeqCst);
}

/// How many bytes of accesses and calls may have the key of the record before them; none if every record has the key of its own moment.
#[inline(always)]
pub(crate) fn page() -> usize {
    PAGE.load(Relaxed)
}

/// Whether records may have the key of an earlier moment.
#[inline(always)]
pub(crate) fn has_pages() -> bool {
    page() != 0
}

/// Whether what does not synchronise has a key that other threads may have, too.
#[inline(always)]
pub(crate) fn moments_are_shared() -> bool {
    SHARES_MOMENTS.load(Relaxed)
}

/// Which clock the recording is ordered by.
#[inline(always)]
pub(crate) fn clock() -> Clock {
    if BEGINNING.0.load(Relaxed) == 0 { Clock::Counter } else { Clock::Time }
}

/// The counter, which is the key of whatever does not synchronise, if the recording is ordered by it.
#[inline(always)]
pub(crate) fn counter() -> &'static AtomicU64 {
    &COUNTER.0
}

/// The time since the beginning, in ticks.
#[inline(always)]
fn ticks(beginning: u64) -> u64 {
    cycles().wrapping_sub(beginning) >> TICK
}

/// A place in the order of what synchronises, at this moment: the key of what has it. Larger than `last`, the largest key that the thread has had.
#[inline(always)]
pub(crate) fn stamped_key(last: u64) -> u64 {
    match BEGINNING.0.load(Relaxed) {
        0 => COUNTER.0.fetch_add(2, SeqCst) + 1,
        beginning => (2 * ticks(beginning) + 1).max((last + 1) | 1),
    }
}

/// The key of what a thread does now, if it does not synchronise; not smaller than `last`. Unless moments are shared, no other thread has it.
#[inline(always)]
pub(crate) fn plain_key(last: u64) -> u64 {
    match BEGINNING.0.load(Relaxed) {
        0 if moments_are_shared() => COUNTER.0.load(Relaxed),
        // The thread that has counted last begins a page with the counter itself.
        0 => COUNTER.0.fetch_add(4, SeqCst) + 2,
        beginning => (2 * ticks(beginning)).max(last + (last & 1)),
    }
}

/// The same for what may be done in the place of another thread: the clock as all threads see it.
pub(crate) fn now() -> u64 {
    match BEGINNING.0.load(SeqCst) {
        0 => COUNTER.0.load(SeqCst),
        beginning => 2 * ticks(beginning),
    }
}
