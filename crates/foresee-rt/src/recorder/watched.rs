//! Variables whose values are recorded: statics that `FORESEE_WATCH` lists, and what the program itself asks for (`watch!`).
//!
//! The compiler's call comes *before* the access, so neither the value written nor, strictly, the value read is known then. The value
//! is read back when the thread enters the runtime next, before anything is done there. Until then the access is *unsettled*.
//!
//! **Why that is the right value.** Between the call and the next entry the thread does nothing that synchronises: all
//! that does is an entry. So whatever another thread does to the variable in between is unordered with this
//! access, a race. Without one, the memory at the next entry is what this access left there, or found there. With one it might
//! be the other thread's value: so each watched range counts the writes that began and the writes that are unsettled, and an
//! access keeps its value only if no other write to its range was unsettled during its own time. A racy access
//! thus has either its own value or none, never another's. (This holds for writes that are recorded here: copies count as begun
//! only, atomic operations and code without instrumentation not at all; the reader drops values that no write explains.)
//!
//! A signal handler whose first event comes between call and access settles too early; the window is one instruction. One that was
//! deferred until the runtime is left always comes there: the access keeps its place, without a value.
//!
//! **Cost.** While nothing is watched: one load and a branch per access. Otherwise one more load, of a filter with a bit
//! for (the hash of) each 64 bytes; only what passes it searches the list. Nothing is ever taken off the list: values
//! of memory that is used again are true as well.

use std::ops::Range as Addresses;
use std::sync::atomic::{
    AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::Release, Ordering::SeqCst,
};

use foresee_format::UNSETTLED;

use super::status;
use crate::message::say;
use crate::{environment, program};

/// One watched variable.
struct Watched {
    start: AtomicU64,
    end: AtomicU64,
    /// Writes that are unsettled, in the low bits, and `BEGUN` times the writes that began.
    writes: AtomicU64,
}

const BEGUN: u64 = 1 << 20;

const CAPACITY: usize = 1024;
static WATCHED: [Watched; CAPACITY] =
    [const { Watched { start: AtomicU64::new(0), end: AtomicU64::new(0), writes: AtomicU64::new(0) } };
        CAPACITY];
static COUNT: AtomicUsize = AtomicUsize::new(0);
static ADDING: AtomicBool = AtomicBool::new(false);

const FILTER_WORDS: usize = 64;
const FILTER_BITS: u64 = 64 * FILTER_WORDS as u64;
static FILTER: [AtomicU64; FILTER_WORDS] = [const { AtomicU64::new(0) }; FILTER_WORDS];

/// Which bit of the filter stands for the 64 bytes of this number.
#[inline(always)]
fn filter_bit(line: u64) -> (usize, u64) {
    let bit = line % FILTER_BITS;
    ((bit / 64) as usize, 1 << (bit % 64))
}

/// Whether anything is watched.
#[inline(always)]
pub(crate) fn any() -> bool {
    COUNT.load(Relaxed) != 0
}

/// Whether an access at this address may be of a watched variable.
#[inline(always)]
pub(crate) fn may_be(addr: u64) -> bool {
    if !any() {
        return false;
    }
    let (word, bit) = filter_bit(addr / 64);
    FILTER[word].load(Relaxed) & bit != 0
}

/// A copy or fill is about to change these bytes: unsettled accesses to them lose their values.
#[inline(always)]
pub(crate) fn disturb(addr: u64, size: u64) {
    if any() {
        for watched in overlapping(addr, size) {
            watched.writes.fetch_add(BEGUN, SeqCst);
        }
    }
}

/// The watched variables of which some bytes are among these.
fn overlapping(addr: u64, size: u64) -> impl Iterator<Item = &'static Watched> {
    let end = addr.saturating_add(size);
    let overlaps =
        move |watched: &&Watched| addr < watched.end.load(Relaxed) && watched.start.load(Relaxed) < end;
    list().iter().filter(overlaps)
}

/// The watched variables that are all in these bytes, and are numbers: where they are, and their sizes.
pub(crate) fn within(addr: u64, size: u64) -> impl Iterator<Item = (u64, u8)> {
    let end = addr.saturating_add(size);
    let place = move |watched: &'static Watched| {
        let (start, until) = (watched.start.load(Relaxed), watched.end.load(Relaxed));
        let size = u8::try_from(until.saturating_sub(start)).ok().filter(|size| (1..=8).contains(size))?;
        (addr <= start && until <= end).then_some((start, size))
    };
    list().iter().filter_map(place)
}

/// Whether another thread may be writing one of these bytes: the value of its write is not known yet. Inside of the runtime: this thread's own writes are settled.
pub(crate) fn is_being_written(addr: u64, size: u64) -> bool {
    any() && overlapping(addr, size).any(|watched| !watched.writes.load(SeqCst).is_multiple_of(BEGUN))
}

fn list() -> &'static [Watched] {
    &WATCHED[..COUNT.load(SeqCst).min(CAPACITY)]
}

/// Watches these bytes from now on.
pub(crate) fn watch(addresses: Addresses<u64>) {
    while ADDING.swap(true, SeqCst) {
        std::hint::spin_loop();
    }
    add(addresses);
    ADDING.store(false, SeqCst);
}

fn add(addresses: Addresses<u64>) {
    let same = |watched: &Watched| {
        watched.start.load(SeqCst) == addresses.start && watched.end.load(SeqCst) == addresses.end
    };
    if addresses.is_empty() || list().iter().any(same) {
        return;
    }
    let count = COUNT.load(SeqCst);
    let Some(slot) = WATCHED.get(count) else {
        static SAID: AtomicBool = AtomicBool::new(false);
        if !SAID.swap(true, SeqCst) {
            say(&[b"foresee: too many watched variables; further ones are recorded without values\n"]);
        }
        return;
    };
    slot.start.store(addresses.start, SeqCst);
    slot.end.store(addresses.end, SeqCst);
    let (first, last) = (addresses.start / 64, (addresses.end - 1) / 64);
    for line in first..=last.min(first.saturating_add(FILTER_BITS)) {
        let (word, bit) = filter_bit(line);
        FILTER[word].fetch_or(bit, SeqCst);
    }
    COUNT.store(count + 1, SeqCst);
    status::some_are_special();
}

/// An access of a watched variable, from the compiler's call on.
#[derive(Clone, Copy)]
pub(crate) struct Access {
    pub(crate) addr: u64,
    pub(crate) size: u8,
    writes: bool,
    watched: &'static Watched,
    /// What the range had counted before.
    before: u64,
}

impl Access {
    /// `None` if these bytes are not watched. Inside of the runtime: the thread's access before is settled.
    pub(crate) fn begin(addr: u64, size: u8, writes: bool) -> Option<Access> {
        let end = addr.checked_add(size.into())?;
        let watched = list()
            .iter()
            .find(|watched| watched.start.load(Relaxed) <= addr && end <= watched.end.load(Relaxed))?;
        let before =
            if writes { watched.writes.fetch_add(BEGUN + 1, SeqCst) } else { watched.writes.load(SeqCst) };
        Some(Access { addr, size, writes, watched, before })
    }

    /// The access is over: whether no other write to its range was unsettled in its time.
    fn ends_alone(self) -> bool {
        let (after, expected) = if self.writes {
            (self.watched.writes.fetch_sub(1, SeqCst), self.before + BEGUN + 1)
        } else {
            (self.watched.writes.load(SeqCst), self.before)
        };
        !self.is_raced() && after == expected
    }

    /// The access could not be recorded.
    pub(crate) fn abandon(self) {
        self.ends_alone();
    }

    /// Whether another thread was writing there when it began.
    pub(crate) fn is_raced(self) -> bool {
        !self.before.is_multiple_of(BEGUN)
    }

    /// Whether it is a write.
    pub(crate) fn writes(self) -> bool {
        self.writes
    }

    /// The bytes, zero-extended.
    fn value(self) -> u64 {
        let at = self.addr as *const u8;
        (0..usize::from(self.size.min(8))).fold(0, |value, i| {
            // SAFETY: the program has accessed these bytes since this thread entered the runtime last, and giving memory
            // back is an entry: so they are mapped. Another thread may write them at the same time, so they are read by
            // volatile loads of one byte, which cannot be unaligned; a value torn by that belongs to a race and is not kept.
            let byte = unsafe { at.add(i).read_volatile() };
            value | u64::from(byte) << (8 * i)
        })
    }
}

/// An access whose value is not known yet.
#[derive(Clone, Copy)]
pub(crate) struct Unsettled {
    access: Access,
    /// The record that waits for it; null if there is no trace.
    record: *mut u64,
    /// Whether the value will be known.
    has_value: bool,
    /// Where the access is.
    pc: u64,
}

impl Unsettled {
    /// The record is in the thread's current chunk.
    pub(crate) fn new(access: Access, record: *mut u64, pc: u64) -> Unsettled {
        Unsettled { access, record, has_value: true, pc }
    }

    /// An access that is told to monitors alone.
    pub(crate) fn unrecorded(access: Access, pc: u64) -> Unsettled {
        Unsettled::new(access, std::ptr::null_mut(), pc)
    }

    /// Where the access is.
    pub(crate) fn pc(self) -> u64 {
        self.pc
    }

    /// The same access, whose value will not be recorded.
    pub(crate) fn without_value(self) -> Unsettled {
        Unsettled { has_value: self.record.is_null(), ..self }
    }

    /// The access.
    pub(crate) fn access(self) -> Access {
        self.access
    }

    /// The thread has entered the runtime again: the access has happened. Its value, if it is known.
    pub(crate) fn settle(self) -> Option<u64> {
        let value = self.access.value();
        if !self.access.ends_alone() || !self.has_value {
            return None;
        }
        if self.record.is_null() {
            return Some(value);
        }
        // SAFETY: the record is the thread's last one: it is in the current chunk, which is mapped, it has four words, and only
        // this thread writes to it. A process that reads along finds the mark until after the value is there.
        unsafe {
            self.record.add(3).write_volatile(value);
            let first = AtomicU64::from_ptr(self.record);
            first.store(first.load(Relaxed) & !(u64::from(UNSETTLED) << 8), Release);
        }
        Some(value)
    }
}

/// Watches the statics that `FORESEE_WATCH` lists, separated by commas.
pub(crate) fn start() {
    let Some(listed) = environment::text(c"FORESEE_WATCH") else { return };
    let places = listed.to_str().unwrap_or_default().split(',').filter_map(program::place_of);
    places.for_each(|(addr, size)| watch(addr..addr.saturating_add(size)));
}
