//! What a table depends on, and what has changed since it was filled in: the others are left as they are.
//!
//! Equal states in a row make no difference to any operator but `previously`, which sees the state before: tables that use it are filled in again until nothing
//! changes. Everything else follows from the thread's locals, the values of shared variables, the accesses of the event, and what is known of other threads.
//! Variables have a bit each; with more than 64 of a kind some share one, which costs a little and changes nothing.

use crate::table::{Inputs, bit};
use crate::threads::{Slot, ThreadSet};

/// What has changed in a thread since its tables were filled in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    is_any: bool,
    locals: u64,
    variables: u64,
    reads: u64,
    writes: u64,
    /// Of whom a later state is known.
    pub(crate) threads: ThreadSet,
    /// Something is known of more threads, or later.
    others: bool,
    /// Everything, for all that is known.
    all: bool,
    /// Tables that look back may change again.
    unsettled: bool,
}

impl Changes {
    /// Whether any table may be in need of another look.
    #[inline]
    pub(crate) fn is_any(&self) -> bool {
        self.is_any
    }

    /// Whether all that was filled in counts for nothing.
    pub(crate) fn is_all(&self) -> bool {
        self.all
    }

    #[inline]
    pub(crate) fn local(&mut self, local: u32) {
        self.is_any = true;
        self.locals |= bit(local);
    }

    pub(crate) fn variables(&mut self, bits: u64) {
        self.is_any |= bits != 0;
        self.variables |= bits;
    }

    /// The bits of accesses that are not as they were.
    pub(crate) fn accesses(&mut self, reads: u64, writes: u64) {
        self.is_any = true;
        (self.reads, self.writes) = (self.reads | reads, self.writes | writes);
    }

    pub(crate) fn thread(&mut self, slot: Slot) {
        (self.is_any, self.others) = (true, true);
        self.threads.insert(slot);
    }

    /// Somebody more is known to exist.
    pub(crate) fn existence(&mut self) {
        (self.is_any, self.others) = (true, true);
    }

    /// There are other threads than before.
    pub(crate) fn all(&mut self) {
        (self.is_any, self.all) = (true, true);
    }

    /// Whether a table with these inputs is as it was.
    #[inline]
    pub(crate) fn leaves(&self, inputs: &Inputs) -> bool {
        !(self.others && inputs.others) && self.leaves_own(inputs)
    }

    /// The same, as far as it is about the thread's own state.
    #[inline]
    pub(crate) fn leaves_own(&self, inputs: &Inputs) -> bool {
        let changed = self.locals & inputs.locals
            | self.variables & inputs.variables
            | self.reads & inputs.reads
            | self.writes & inputs.writes;
        changed == 0 && !self.all && !(self.unsettled && inputs.looks_back)
    }

    /// All tables are filled in; `unsettled`: those that look back may still change.
    #[inline]
    pub(crate) fn done(&mut self, unsettled: bool) {
        let Changes { is_any, locals, variables, reads, writes, threads, others, all, .. } = self;
        threads.clear();
        (*locals, *variables, *reads, *writes) = (0, 0, 0, 0);
        (*is_any, *others, *all) = (unsettled, false, false);
        self.unsettled = unsettled;
    }
}
