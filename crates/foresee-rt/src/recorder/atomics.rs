//! Atomic operations: done and recorded as one.
//!
//! The operation is done between taking its key and writing its record, under a spin lock that its address chooses. So the keys of an atomic's
//! operations are in its modification order, and every value read is that of the write before it. The lock covers 16
//! bytes: atomics of different sizes that overlap share it. Code that is not recorded does its operations without the lock; they
//! are atomic all the same.
//!
//! **Loads** write nothing that others see, if keys are times (`order`). They see whether the atomic was changed meanwhile by a version that changes count;
//! their key is the time before the load, or the next after that of the change that they read, whichever is larger: the next change, which takes the time after the load, has a larger one.

use std::sync::atomic::{
    AtomicU64, AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release, Ordering::SeqCst,
};

use super::order::{Clock, clock};
use super::thread::{AtomicEffect, Local, identity, inside};
use crate::spinning::spin_until;

/// Memory orders, as the ABI of ThreadSanitizer and the trace count them.
pub(crate) const ORDER_RELAXED: i32 = 0;
pub(crate) const ORDER_ACQUIRE: i32 = 2;
pub(crate) const ORDER_RELEASE: i32 = 3;
pub(crate) const ORDER_ACQ_REL: i32 = 4;

const STRIPES: usize = 1 << 10;
static STRIPES_OF_ATOMICS: [Stripe; STRIPES] = [const { Stripe::new() }; STRIPES];

/// What the atomics at some addresses share: alone in its cache line, so that threads that are busy with different atomics do not disturb each other.
#[repr(align(64))]
struct Stripe {
    /// Who changes one of them.
    owner: AtomicUsize,
    /// Even, and another number after each change; odd while one is changed.
    version: AtomicU64,
    /// The key of the last change.
    last: AtomicU64,
}

/// Nobody does.
const FREE: usize = 0;

impl Stripe {
    const fn new() -> Stripe {
        Stripe { owner: AtomicUsize::new(FREE), version: AtomicU64::new(0), last: AtomicU64::new(0) }
    }

    fn of(addr: u64) -> &'static Stripe {
        let stripe = (addr >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54;
        &STRIPES_OF_ATOMICS[stripe as usize % STRIPES]
    }

    fn lock(&self, owner: &Local) {
        spin_until(|| self.owner.compare_exchange_weak(FREE, identity(owner), Acquire, Relaxed).is_ok());
        self.count();
    }

    fn unlock(&self) {
        self.count();
        self.owner.store(FREE, Release);
    }

    /// A change begins, or is over. Only the owner counts, and processors show stores in their order.
    fn count(&self) {
        self.version.store(self.version.load(Relaxed).wrapping_add(1), Release);
    }

    /// Whoever held it will not go on.
    fn abandon(&self) {
        self.version.fetch_add(self.version.load(Relaxed) % 2, SeqCst);
        self.owner.store(FREE, Release);
    }

    /// What is loaded, and the key of the last change before, if nothing is changed meanwhile. It writes nothing.
    #[inline(always)]
    fn read<R>(&self, load: impl Fn() -> R) -> Option<(R, u64)> {
        const ATTEMPTS: usize = 100;
        for _ in 0..ATTEMPTS {
            let version = self.version.load(SeqCst);
            if version.is_multiple_of(2) {
                let last = self.last.load(SeqCst);
                let loaded = load();
                if self.version.load(SeqCst) == version {
                    return Some((loaded, last));
                }
            }
            std::hint::spin_loop();
        }
        None
    }
}

/// Gives back all stripes: those who hold them do not exist in the child of a fork, whose trace has keys of its own.
pub(crate) fn start_over() {
    for stripe in &STRIPES_OF_ATOMICS {
        stripe.abandon();
        stripe.last.store(0, SeqCst);
    }
}

/// Gives back the stripe that this thread holds, if any: its operation was a fault, from whose handler it jumps.
pub(crate) fn unlock_own(owner: &Local) {
    let own = STRIPES_OF_ATOMICS.iter().find(|stripe| stripe.owner.load(Relaxed) == identity(owner));
    own.into_iter().for_each(Stripe::abandon);
}

/// The detail of an atomic's record; orders that do not exist count as sequentially consistent.
pub(crate) fn detail(order: i32, size_log2: u8) -> u8 {
    let order = order & 0xff;
    (if (0..=5).contains(&order) { order as u8 } else { 5 }) | size_log2 << 4
}

/// Does and records an atomic operation; `operation` gives with its result what it did, and in which order.
#[inline]
pub(crate) fn atomic<R>(
    addr: u64,
    size_log2: u8,
    pc: u64,
    mut operation: impl FnMut() -> (R, AtomicEffect, i32),
) -> R {
    let recorded = inside(|local| atomic_inside(local, addr, size_log2, pc, &mut operation));
    match recorded {
        Some(result) => result,
        None => operation().0,
    }
}

#[inline]
fn atomic_inside<R>(
    local: &Local,
    addr: u64,
    size_log2: u8,
    pc: u64,
    operation: &mut impl FnMut() -> (R, AtomicEffect, i32),
) -> R {
    let stripe = Stripe::of(addr);
    stripe.lock(local);
    // Before the operation: code that is not recorded may act on what it wrote at once, and its thread's next record
    // has to come later.
    let key = local.key_after(stripe.last.load(Relaxed));
    let (result, effect, order) = operation();
    local.atomic(key, effect, detail(order, size_log2), pc, addr);
    match effect {
        AtomicEffect::Load(_) => local.expire(),
        AtomicEffect::Store(_) | AtomicEffect::Rmw(..) => local.note_fresh(),
    }
    stripe.last.store(key, Relaxed);
    stripe.unlock();
    result
}

/// Does and records an atomic load.
#[inline]
pub(crate) fn atomic_load<R: Copy + Into<u64>>(
    addr: u64,
    size_log2: u8,
    pc: u64,
    order: i32,
    load: impl Fn() -> R,
) -> R {
    let recorded = inside(|local| {
        if clock() == Clock::Time {
            // Before the load, so that whatever changes the atomic after it has a larger key.
            let own = local.key_now();
            if let Some((loaded, last)) = Stripe::of(addr).read(&load) {
                let key = own.max(last + 1);
                local.atomic(key, AtomicEffect::Load(loaded.into()), detail(order, size_log2), pc, addr);
                local.expire();
                return loaded;
            }
        }
        atomic_inside(local, addr, size_log2, pc, &mut || {
            let loaded = load();
            (loaded, AtomicEffect::Load(loaded.into()), order)
        })
    });
    recorded.unwrap_or_else(load)
}
