//! Signals that interrupted the runtime, whose handlers run as soon as it is left.
//!
//! A handler that ran at once would find its thread inside: what it does could not be recorded, and other threads would act on atomic
//! stores and unlocks that the trace does not have. So the signal is kept with all that its handler is to be given, and
//! [`Local::leave`] delivers it.
//!
//! **None comes too early.** Whoever defers a signal also has the kernel block all others on this thread until it is delivered: they wait
//! in the kernel, which merges and queues them as it always does. So a thread outside has nothing deferred, except between leaving
//! and delivering, when nothing can interrupt it. More than one signal is kept only where the kernel calls several handlers at
//! once, each of which interrupts the one before at its first instruction: the last one called is deferred first and delivered first, as
//! it would run first.
//!
//! **None is lost.** The thread first stores that it is outside, and then looks whether something is deferred. A signal before that store
//! finds the thread inside and is deferred, which the thread sees when it looks. A signal after that store finds the thread
//! outside: its handler runs at once. All this is one thread and its own memory, so it is enough that the compiler keeps the order.
//!
//! **None waits for ever.** Inside, a thread does not sleep until another one wakes it. It spins while another thread is inside for the time
//! of one operation, which no handler prolongs any more, and it reads and writes files.
//!
//! **Cost.** Leaving loads a byte beside the one that it stores, and does not take a branch.

use std::cell::Cell;
use std::sync::atomic::{Ordering::Relaxed, Ordering::SeqCst, compiler_fence};

use libc::{c_int, siginfo_t, stack_t};

use super::local::{INSIDE, Local, with_local};

/// A set of signals as the kernel has it: signal `n` is bit `n - 1`.
pub(crate) type SignalSet = u64;

/// What a signal's handler is to be given, and under which conditions it is to run.
#[derive(Clone, Copy)]
pub(crate) struct DeferredSignal {
    pub(crate) handler: usize,
    pub(crate) signal: c_int,
    pub(crate) info: siginfo_t,
    /// What was blocked when the signal came, and what is blocked while its handler runs.
    pub(crate) blocked_before: SignalSet,
    pub(crate) blocked_in_handler: SignalSet,
    /// The alternate stack, if the handler runs on it.
    pub(crate) stack: Option<stack_t>,
}

/// Runs the handlers of these signals, in this order.
pub(crate) type Deliver = fn(&mut [Option<DeferredSignal>]);

/// How many signals are kept: so many different ones would have to arrive at the same moment.
const ROOM: usize = 8;

/// Apart from what the thread needs all the time.
struct Kept {
    signals: [Cell<Option<DeferredSignal>>; ROOM],
    deliver: Cell<Option<Deliver>>,
}

thread_local! {
    static KEPT: Kept =
        const { Kept { signals: [const { Cell::new(None) }; ROOM], deliver: Cell::new(None) } };
}

/// Keeps a signal until this thread, which is inside of the runtime, leaves it. `signal` is given the one that was deferred before
/// it, if any. All signals that can be deferred are blocked, and stay so until `deliver`. False if there is no room.
pub(crate) fn defer(signal: impl FnOnce(Option<DeferredSignal>) -> DeferredSignal, deliver: Deliver) -> bool {
    KEPT.with(|kept| {
        let count = with_local(|local| local.deferred.load(Relaxed));
        let Some(slot) = kept.signals.get(usize::from(count)) else { return false };
        let before = count.checked_sub(1).and_then(|last| kept.signals[usize::from(last)].get());
        slot.set(Some(signal(before)));
        kept.deliver.set(Some(deliver));
        compiler_fence(SeqCst);
        with_local(|local| local.deferred.store(count + 1, Relaxed));
        true
    })
}

/// Does something of the runtime's own on a thread that is outside: copies are calls of functions that record what the program copies.
/// Signals are blocked.
pub(crate) fn unrecorded<R>(act: impl FnOnce() -> R) -> R {
    with_local(|local| {
        let state = local.state.load(Relaxed);
        local.state.store(state | INSIDE, Relaxed);
        compiler_fence(SeqCst);
        let result = act();
        compiler_fence(SeqCst);
        local.state.store(state, Relaxed);
        result
    })
}

impl Local {
    /// Leaves the runtime for this state of the thread, and delivers what was deferred.
    #[inline(always)]
    pub(super) fn leave_for(&self, state: u8) {
        debug_assert!(state & INSIDE == 0);
        compiler_fence(SeqCst);
        self.state.store(state, Relaxed);
        compiler_fence(SeqCst);
        if self.deferred.load(Relaxed) != 0 {
            self.deliver();
        }
    }

    #[cold]
    #[inline(never)]
    fn deliver(&self) {
        // First of all: the handlers may leave by a jump, and be interrupted themselves.
        let count = usize::from(self.deferred.swap(0, Relaxed));
        // What is done here may be calls of functions that record, too.
        self.before_its_access(|| {
            let mut signals = [None; ROOM];
            let take = |kept: &Kept| {
                for (signal, kept) in signals.iter_mut().zip(&kept.signals).take(count) {
                    *signal = kept.take();
                }
                kept.deliver.get()
            };
            if let Some(deliver) = unrecorded(|| KEPT.with(take)) {
                deliver(&mut signals[..count.min(ROOM)]);
            }
        });
    }
}
