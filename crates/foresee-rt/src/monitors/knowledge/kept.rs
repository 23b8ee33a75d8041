//! Vectors that are shared until they differ, and that the thread whose they are counts without atomic operations.
//!
//! Nearly all vectors of memory are earlier ones of the thread that accessed it last, which is often the one that accesses it again: it gives one of its vectors up for another, at every access after its
//! state has changed. So who refers to a vector is counted twice, as in Choi, Shull and Torrellas, *Biased Reference Counting*: by its *owner* in a plain number, by all others
//! in an atomic one, which may be negative, as anybody may give up what the owner has counted. The sum is the number of references.
//!
//! Only the owner can tell the sum, so only the owner uses a vector again (its [`Pool`]). When the owner has ended, its numbers are added to the others': from then on a vector is nobody's, and goes with the last reference to it,
//! as those do that were nobody's from the beginning.
//!
//! **Who acts.** The owner is a thread of the monitors by its number, which [`acting`] notes before anything is done for it. No two OS threads do something for the same one at the same time (`own`).

use std::cell::{Cell, UnsafeCell};
use std::fmt;
use std::ptr::NonNull;
use std::sync::atomic::{
    AtomicI64, AtomicU32, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed, Ordering::Release, fence,
};

use foresee_mttl::vector::Vector;
use foresee_mttl::{Knowledge, NoTrail};

/// No thread.
const NOBODY: u32 = 0;

/// Added to the atomic number of a vector that is nobody's: then that is all there is.
const UNOWNED: i64 = 1 << 62;

/// A thread looks for vectors of its own that are not referred to any more when it has taken as many as a fraction of all, and some. So what it has is little more than what is in use, and taking one costs
/// a few looks.
const FRACTION: usize = 4;
const SOME: usize = 4;

thread_local! {
    /// The number of the thread that something is done for, and one.
    static ACTING: Cell<u32> = const { Cell::new(NOBODY) };
}

/// From now on, this OS thread does something for the thread of this number.
#[inline(always)]
pub(super) fn acting(thread: u32) {
    ACTING.set(thread.wrapping_add(1));
}

/// A vector, and how many refer to it.
struct Counted {
    vector: UnsafeCell<Knowledge<NoTrail>>,
    owner: AtomicU32,
    /// Used by the owner alone, and by who ends its ownership when it has ended.
    by_owner: Cell<i64>,
    by_others: AtomicI64,
}

impl Counted {
    /// One reference to a new vector, which is whoever's acts, or nobody's.
    fn allocate(vector: Knowledge<NoTrail>, owner: u32) -> NonNull<Counted> {
        let (by_owner, by_others) = if owner == NOBODY { (0, UNOWNED + 1) } else { (1, 0) };
        NonNull::from(Box::leak(Box::new(Counted {
            vector: UnsafeCell::new(vector),
            owner: AtomicU32::new(owner),
            by_owner: Cell::new(by_owner),
            by_others: AtomicI64::new(by_others),
        })))
    }

    /// Whether it belongs to the thread that something is done for now. No other thread can come to own it, so what it says to others stays true.
    #[inline(always)]
    fn is_own(&self) -> bool {
        let owner = self.owner.load(Relaxed);
        owner != NOBODY && owner == ACTING.get()
    }

    /// The number of references to what is this thread's own.
    #[inline(always)]
    fn references(&self) -> i64 {
        self.by_owner.get() + self.by_others.load(Acquire)
    }
}

/// A reference to a vector.
pub(super) struct Kept(NonNull<Counted>);

// SAFETY: the vector can be sent and shared; it is changed only by who has the only reference to it. `by_owner` is used by its owner alone, who is one thread at a time.
unsafe impl Send for Kept {}
// SAFETY: as above.
unsafe impl Sync for Kept {}

impl Kept {
    #[inline(always)]
    fn counted(&self) -> &Counted {
        // SAFETY: as long as there is a reference, what it refers to is not given back.
        unsafe { self.0.as_ref() }
    }

    /// Whether this is known to be the only reference.
    #[inline(always)]
    fn is_only(&self) -> bool {
        let counted = self.counted();
        match counted.is_own() {
            true => counted.references() == 1,
            false => counted.by_others.load(Acquire) == UNOWNED + 1,
        }
    }

    /// The vector, to be changed.
    ///
    /// # Safety
    /// This is the only reference.
    #[inline(always)]
    unsafe fn only(&mut self) -> &mut Knowledge<NoTrail> {
        // SAFETY: nobody else refers to it, as the caller vouches; and this one is borrowed for as long.
        unsafe { &mut *self.counted().vector.get() }
    }
}

impl Default for Kept {
    fn default() -> Self {
        Kept(Counted::allocate(Knowledge::default(), NOBODY))
    }
}

impl Clone for Kept {
    #[inline(always)]
    fn clone(&self) -> Self {
        let counted = self.counted();
        match counted.is_own() {
            true => counted.by_owner.set(counted.by_owner.get() + 1),
            false => _ = counted.by_others.fetch_add(1, Relaxed),
        }
        Kept(self.0)
    }
}

impl Drop for Kept {
    #[inline(always)]
    fn drop(&mut self) {
        let counted = self.counted();
        if counted.is_own() {
            // If this was the last, its pool finds it.
            return counted.by_owner.set(counted.by_owner.get() - 1);
        }
        if counted.by_others.fetch_sub(1, Release) == UNOWNED + 1 {
            fence(Acquire);
            // SAFETY: it is nobody's, and this was the last reference. It was made by `allocate`.
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl Vector for Kept {
    type Trail = NoTrail;
    type Spares = Pool;

    #[inline(always)]
    fn get(&self) -> &Knowledge<NoTrail> {
        // SAFETY: it is changed through the only reference, and this is one.
        unsafe { &*self.counted().vector.get() }
    }

    fn change(&mut self) -> &mut Knowledge<NoTrail> {
        if !self.is_only() {
            *self = Kept(Counted::allocate(self.get().clone(), NOBODY));
        }
        // SAFETY: it is, or was made just now.
        unsafe { self.only() }
    }

    fn alone(&mut self) -> Option<&mut Knowledge<NoTrail>> {
        // SAFETY: what is asked.
        self.is_only().then(|| unsafe { self.only() })
    }

    #[inline]
    fn renew(&mut self, pool: &mut Pool) -> &mut Knowledge<NoTrail> {
        if !(self.counted().is_own() && self.is_only()) {
            let mut next = pool.unused();
            // SAFETY: it was not referred to, and is by this alone.
            unsafe { next.only() }.clone_from(self.get());
            *self = next;
        }
        // SAFETY: it is the only reference, or was made just now.
        unsafe { self.only() }
    }

    #[inline(always)]
    fn become_like(&mut self, other: &Self) {
        *self = other.clone();
    }

    #[inline(always)]
    fn is_same(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

/// All vectors that a thread owns. It is used for that thread, and dropped when that has ended.
#[derive(Default)]
pub(super) struct Pool {
    all: Vec<NonNull<Counted>>,
    /// Those of them that nobody refers to, as far as they were found.
    unused: Vec<NonNull<Counted>>,
    /// How many were taken since these were looked for.
    taken: usize,
}

// SAFETY: it goes from thread to thread as its thread's monitor does, of which it is a part.
unsafe impl Send for Pool {}

impl Pool {
    /// One that nobody refers to.
    #[inline]
    fn unused(&mut self) -> Kept {
        if self.unused.is_empty() && self.taken > self.all.len() / FRACTION + SOME {
            self.look();
        }
        self.taken += 1;
        let Some(unused) = self.unused.pop() else { return self.more() };
        // SAFETY: what is in the pool is given back no earlier than it is taken out.
        let counted = unsafe { unused.as_ref() };
        counted.by_owner.set(counted.by_owner.get() + 1);
        Kept(unused)
    }

    /// Finds those that nobody refers to. If that are very many, some are given back.
    #[inline(never)]
    fn look(&mut self) {
        let (unused, most) = (&mut self.unused, self.all.len() / 2 + SOME);
        self.all.retain(|owned| {
            // SAFETY: as in `unused`.
            let is_unused = unsafe { owned.as_ref() }.references() == 0;
            let is_kept = !is_unused || unused.len() < most;
            match is_kept {
                true => unused.extend(is_unused.then_some(*owned)),
                // SAFETY: nobody refers to it, and nobody can but by a reference. It was made by `allocate`.
                false => drop(unsafe { Box::from_raw(owned.as_ptr()) }),
            }
            is_kept
        });
        self.taken = 0;
    }

    #[cold]
    #[inline(never)]
    fn more(&mut self) -> Kept {
        let new = Counted::allocate(Knowledge::default(), ACTING.get());
        self.all.push(new);
        Kept(new)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        for owned in &self.all {
            // SAFETY: as in `unused`. The owner has ended, so nobody else uses what it has counted.
            let (counted, by_owner) = unsafe { (owned.as_ref(), owned.as_ref().by_owner.take()) };
            counted.owner.store(NOBODY, Relaxed);
            if counted.by_others.fetch_add(UNOWNED + by_owner, AcqRel) + by_owner == 0 {
                // SAFETY: nobody refers to it, and it was made by `allocate`.
                drop(unsafe { Box::from_raw(owned.as_ptr()) });
            }
        }
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} vectors", self.all.len())
    }
}
