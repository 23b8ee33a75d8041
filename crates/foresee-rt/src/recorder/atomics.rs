//! Atomic operations: done and recorded as one.
//!
//! The operation is done between taking its key and writing its record, under a spin lock that its address chooses. So the keys of an atomic's
//! operations are in its modification order, and every value read is that of the write before it. The lock covers 16
//! bytes: atomics of different sizes that overlap share it. Code that is not recorded does its operations without the lock; they
//! are atomic all the same.
//!
//! **Loads** write nothing that others use but the counter, if keys are from that. The lock is a *version*, odd while an atomic is changed. A load takes its key and its value while the
//! version stays the same, and even:
//!
//! * the last change took its key before it made the version even, and the load takes its own after it has seen that, or has one that is larger;
//! * the next change takes its key after it has made the version odd, by an instruction that all processors see before they see anything that its thread does later. The load
//!   has seen the version even after it took its own key, or its thread had that before. So the change's is larger.
//!
//! The load takes its key after it was done, so that all that its thread does next has a later moment than what code that is not recorded may have handed over to it by this atomic.
//!
//! **A relaxed load** has the key of an access: it orders nothing, so nobody has to count. Even for code that is not recorded, it is
//! not where what another thread did is handed over: after a store of such code, only a load that acquires is, or a fence after one that does not, and these look at the clock. In pages (`thread::freshness`) that is the key of
//! its thread's page, if that is larger than the last change's.

use std::sync::atomic::{
    AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::Release, Ordering::SeqCst, compiler_fence,
};

pub(crate) use foresee_format::{ORDER_ACQ_REL, ORDER_ACQUIRE, ORDER_RELAXED, ORDER_RELEASE};

use foresee_format::Tag;

use super::order::moments_are_shared;
use super::status;
use super::thread::{AtomicEffect, Local, identity, inside, load_at_once};
use crate::monitors;
use crate::spinning::{make_way, spin_until};

const STRIPES: usize = 1 << 10;
static STRIPES_OF_ATOMICS: [Stripe; STRIPES] = [const { Stripe::new() }; STRIPES];

/// What the atomics at some addresses share: alone in its cache line, so that threads that are busy with different atomics do not disturb each other.
#[repr(align(64))]
struct Stripe {
    /// Odd while one of them is changed, and another number after each change: who makes it odd changes one.
    version: AtomicU64,
    /// Who does.
    owner: AtomicUsize,
    /// The key of the last change.
    last: AtomicU64,
}

/// Nobody does.
const FREE: usize = 0;

impl Stripe {
    const fn new() -> Stripe {
        Stripe { version: AtomicU64::new(0), owner: AtomicUsize::new(FREE), last: AtomicU64::new(0) }
    }

    fn of(addr: u64) -> &'static Stripe {
        let stripe = (addr >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54;
        &STRIPES_OF_ATOMICS[stripe as usize % STRIPES]
    }

    fn lock(&self, owner: &Local) {
        spin_until(|| {
            let version = self.version.load(Relaxed);
            version.is_multiple_of(2)
                && self
                    .version
                    .compare_exchange_weak(version, version.wrapping_add(1), SeqCst, Relaxed)
                    .is_ok()
        });
        self.owner.store(identity(owner), Relaxed);
    }

    /// Only the owner does, so nobody else changes the version meanwhile.
    fn unlock(&self) {
        self.owner.store(FREE, Relaxed);
        self.version.store(self.version.load(Relaxed).wrapping_add(1), Release);
    }

    /// Whoever held it will not go on.
    fn abandon(&self) {
        self.owner.store(FREE, Relaxed);
        self.version.fetch_add(self.version.load(Relaxed) % 2, SeqCst);
    }

    /// What is loaded, and a key for that, if nothing is changed meanwhile: `key` takes it, given that of the last change. The stripe stays as it is.
    #[inline(always)]
    fn read<R>(&self, key: impl Fn(u64) -> u64, load: impl Fn() -> R) -> Option<(R, u64)> {
        const ATTEMPTS: usize = 100;
        for _ in 0..ATTEMPTS {
            let version = self.version.load(SeqCst);
            if version.is_multiple_of(2) {
                let loaded = load();
                compiler_fence(SeqCst);
                let key = key(self.last.load(SeqCst));
                if self.version.load(SeqCst) == version {
                    return Some((loaded, key));
                }
            }
            std::hint::spin_loop();
        }
        None
    }

    /// What is loaded, if nothing is changed meanwhile, and it may have the key that an access has now: as [`read`](Stripe::read), at the first attempt.
    #[inline(always)]
    fn read_now<R>(&self, local: &Local, load: impl Fn() -> R) -> Option<R> {
        let version = self.version.load(SeqCst);
        let is_possible =
            version.is_multiple_of(2) && local.is_fresh() && self.last.load(SeqCst) < local.page_key();
        compiler_fence(SeqCst);
        let loaded = is_possible.then(load);
        loaded.filter(|_| self.version.load(SeqCst) == version)
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

fn is_relaxed(order: i32) -> bool {
    order & 0xff == ORDER_RELAXED
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

/// Records a change of an atomic whose values are not known, as code does it that is not recorded: loads that come later have larger keys.
pub(crate) fn unseen_change<const N: usize>(tag: Tag, detail: u8, addr: u64, words: [u64; N]) {
    inside(|local| {
        let stripe = Stripe::of(addr);
        stripe.lock(local);
        local.stamped(tag, detail, words);
        stripe.last.store(local.last_key(), Relaxed);
        stripe.unlock();
    });
}

/// Monitors in the process are told of an atomic operation that code has done which is not recorded, and which whoever reads a trace finds by other means. What it read
/// may be of an operation that its thread has done and not told them of yet, with the stripe locked: so this comes after it.
pub(crate) fn tell_monitors_of_update(addr: u64, size_log2: u8, pc: u64) {
    if !status::monitored() {
        return;
    }
    inside(|local| {
        let stripe = Stripe::of(addr);
        stripe.lock(local);
        monitors::record(local.monitored_thread(), Tag::Rmw, size_log2 << 4, &[pc, addr]);
        stripe.unlock();
    });
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
    let detail = detail(order, size_log2);
    if is_relaxed(order)
        && let Some(loaded) = load_at_once(addr, detail, pc, |local| Stripe::of(addr).read_now(local, &load))
    {
        return loaded;
    }
    load_inside(addr, detail, pc, order, load)
}

/// The same in any case.
#[inline(never)]
fn load_inside<R: Copy + Into<u64>>(addr: u64, detail: u8, pc: u64, order: i32, load: impl Fn() -> R) -> R {
    let recorded = inside(|local| {
        let key = |changed| local.key_of_load(changed, is_relaxed(order));
        if let Some((loaded, key)) = Stripe::of(addr).read(key, &load) {
            local.atomic(key, AtomicEffect::Load(loaded.into()), detail, pc, addr);
            if !is_relaxed(order) || moments_are_shared() {
                local.note_fresh();
            }
            return (loaded, local.last_seen.spins(addr, loaded.into()));
        }
        let loaded = atomic_inside(local, addr, detail >> 4, pc, &mut || {
            let loaded = load();
            (loaded, AtomicEffect::Load(loaded.into()), order)
        });
        (loaded, false)
    });
    let Some((loaded, spins)) = recorded else { return load() };
    if spins {
        make_way();
    }
    loaded
}
