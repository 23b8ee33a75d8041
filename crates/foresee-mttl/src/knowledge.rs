//! KNOWLEDGEVECTOR: what is known of threads and shared variables.
//!
//! An entry of a thread has its sequence number and the values of all that formulas ask of it remotely; an entry of a variable has the number of
//! its writes and its value. Of two entries the one with the larger number is newer ([`Knowledge::learn`] is the paper's max). A vector
//! has entries only for threads of which something is known: `n` values for mutual exclusion, and `n` times `n` where formulas ask
//! what threads know of each other.
//!
//! Most vectors are copies of what one thread knew at some time, and say so (`Version`). Who has learned from one version of a thread's vector knows all that the earlier ones do: each entry says up to which
//! version that thread's vector is included, as a vector clock does, so that whether there is anything to learn is one comparison. Often two versions differ only in that thread's own
//! entry: then copying does not look at the others.

use smallvec::SmallVec;

use crate::threads::{Slot, ThreadSet};
use crate::trail::Trail;
use crate::values::Values;

/// What is known of one thread: KV\[j\]. On cache lines of its own: threads that have memory beside it are not slowed down by those that learn.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct Entry<T> {
    /// Which of the thread's states it is; 0 if none is known.
    pub seq: u64,
    /// All is known that the thread knew when its vector had changed so often, or more.
    included: u64,
    /// How many threads there were in that state: says where the values are.
    pub(crate) threads: u32,
    /// The values of all that is asked remotely.
    pub(crate) values: Values,
    /// How it came here.
    pub trail: T,
}

/// What is known of a shared variable: KV\[x\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VariableEntry {
    /// How often it was written.
    pub seq: u64,
    /// Its value.
    pub value: i64,
}

/// A knowledge vector; see the [module](self).
#[derive(Debug, Default)]
pub struct Knowledge<T> {
    pub(crate) threads: Vec<Entry<T>>,
    pub(crate) variables: SmallVec<[VariableEntry; 2]>,
    /// Who is known to exist, beside those whom everybody knows.
    pub(crate) known: ThreadSet,
    /// Whose vector this is a copy of.
    pub(crate) version: Version,
    /// Nothing but that thread's own entry has changed after its vector had this number.
    pub(crate) others_since: u64,
}

/// Which version of which thread's vector something is a copy of. Two of the same version are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Version {
    /// The thread's number and one; 0 for nobody's.
    of: Slot,
    /// How often the vector had changed.
    number: u64,
}

impl Version {
    /// Whether it is a version of the vector of somebody.
    #[inline]
    pub(crate) fn is_any(self) -> bool {
        self.of != 0
    }

    /// Whether both are of the same thread's vector, this being one's.
    #[inline]
    pub(crate) fn is_of_same(self, other: Version) -> bool {
        self.of == other.of
    }

    /// Of two that are of the same thread's vector: whether they are different.
    #[inline]
    pub(crate) fn is_other_number(self, other: Version) -> bool {
        self.number != other.number
    }

    /// Whether this is the other or a later version of the same vector.
    #[inline]
    pub(crate) fn is_later(self, other: Version) -> bool {
        self.of == other.of && self.number >= other.number && self.is_any()
    }
}

/// What is known of others than threads that was not before.
#[derive(Clone, Copy, Debug)]
pub struct Learned {
    /// The variables that have new values, as bits.
    pub variables: u64,
    /// Whether somebody more is known to exist.
    pub existence: bool,
}

impl<T: Trail> Knowledge<T> {
    /// What is known of a thread, if anything is.
    #[inline]
    pub fn thread(&self, slot: Slot) -> Option<&Entry<T>> {
        self.threads.get(slot as usize).filter(|entry| entry.seq > 0)
    }

    /// What is known of a variable.
    #[inline]
    pub fn variable(&self, variable: u32) -> VariableEntry {
        self.variables.get(variable as usize).copied().unwrap_or_default()
    }

    /// Whether all that a version of a thread's vector says is known here. (If not, it may be known nevertheless.)
    #[inline]
    pub(crate) fn includes(&self, version: Version) -> bool {
        version
            .of
            .checked_sub(1)
            .and_then(|of| self.threads.get(of as usize))
            .is_some_and(|entry| entry.included >= version.number)
    }

    /// All that this version says turned out to be known.
    pub(crate) fn has_included(&mut self, version: Version) {
        if let Some(of) = version.of.checked_sub(1) {
            let included = &mut self.entry(of).included;
            *included = version.number.max(*included);
        }
    }

    /// Whether there is anything in the other vector that this one does not know.
    pub fn is_behind(&self, other: &Knowledge<T>) -> bool {
        let threads = self.threads.len().min(other.threads.len());
        let variables = self.variables.len().min(other.variables.len());
        self.threads.iter().zip(&other.threads).any(|(mine, theirs)| theirs.seq > mine.seq)
            || self.variables.iter().zip(&other.variables).any(|(mine, theirs)| theirs.seq > mine.seq)
            || other.threads[threads..].iter().any(|theirs| theirs.seq > 0)
            || other.variables[variables..].iter().any(|theirs| theirs.seq > 0)
            || !self.known.includes(&other.known)
    }

    /// The entry-wise maximum. `carried` notes how the entries of threads that are new here came.
    pub fn learn(&mut self, other: &Knowledge<T>, mut carried: impl FnMut(Slot, &mut T)) -> Learned {
        if self.threads.len() < other.threads.len() {
            self.threads.resize_with(other.threads.len(), Entry::default);
        }
        for (slot, (mine, theirs)) in (0..).zip(self.threads.iter_mut().zip(&other.threads)) {
            if theirs.seq > mine.seq {
                mine.clone_from(theirs);
                carried(slot, &mut mine.trail);
            }
            mine.included = theirs.included.max(mine.included);
        }
        if self.variables.len() < other.variables.len() {
            self.variables.resize(other.variables.len(), VariableEntry::default());
        }
        let mut variables = 0;
        for (number, (mine, theirs)) in (0..).zip(self.variables.iter_mut().zip(&other.variables)) {
            if theirs.seq > mine.seq {
                variables |= u64::from(mine.value != theirs.value) << number;
                *mine = *theirs;
            }
        }
        self.version = Version::default();
        Learned { variables, existence: self.known.add_all(&other.known) }
    }

    /// The vector of this thread has changed for the `number`th time, in the entries of others.
    pub(crate) fn is_changed(&mut self, of: Slot, number: u64) {
        self.others_since = number;
        self.own_is_changed(of, number);
    }

    /// The same, in that thread's own entry only: this one.
    #[inline]
    pub(crate) fn own_is_changed(&mut self, of: Slot, number: u64) -> &mut Entry<T> {
        if self.version.of != of + 1 {
            self.others_since = number;
        }
        self.version = Version { of: of + 1, number };
        let own = self.entry(of);
        own.included = number;
        own
    }

    /// Copies the entries of all. (The version is the other's already.)
    #[inline(never)]
    fn become_like_another(&mut self, other: &Self) {
        let Knowledge { threads, variables, known, .. } = other;
        // What has the same number is the same.
        for (mine, theirs) in self.threads.iter_mut().zip(threads) {
            if mine.seq != theirs.seq {
                mine.clone_from(theirs);
            }
            mine.included = theirs.included;
        }
        if self.threads.len() != threads.len() {
            self.threads.truncate(threads.len());
            let new = self.threads.len();
            self.threads.extend_from_slice(&threads[new..]);
        }
        if !self.variables.iter().eq(variables.iter()) {
            self.variables.clear();
            self.variables.extend_from_slice(variables);
        }
        self.known.become_like(known);
    }

    /// The entry of a thread, to be filled in.
    #[inline]
    pub(crate) fn entry(&mut self, slot: Slot) -> &mut Entry<T> {
        if self.threads.len() <= slot as usize {
            self.threads.resize_with(slot as usize + 1, Entry::default);
        }
        &mut self.threads[slot as usize]
    }
}

// `clone_from` keeps the memory of what it replaces, which `derive` does not.

impl<T: Trail> Clone for Entry<T> {
    fn clone(&self) -> Self {
        let Entry { seq, included, threads, values, trail } = self;
        let (seq, included, threads) = (*seq, *included, *threads);
        Entry { seq, included, threads, values: values.clone(), trail: trail.clone() }
    }

    #[inline]
    fn clone_from(&mut self, other: &Self) {
        let Entry { seq, included, threads, values, trail } = other;
        (self.seq, self.included, self.threads) = (*seq, *included, *threads);
        self.values.clone_from(values);
        self.trail.clone_from(trail);
    }
}

impl<T: Trail> Clone for Knowledge<T> {
    fn clone(&self) -> Self {
        let Knowledge { threads, variables, known, version, others_since } = self;
        let (threads, variables, known) = (threads.clone(), variables.clone(), known.clone());
        Knowledge { threads, variables, known, version: *version, others_since: *others_since }
    }

    #[inline]
    fn clone_from(&mut self, other: &Self) {
        let Knowledge { threads, version, others_since, .. } = other;
        let before = std::mem::replace(&mut self.version, *version);
        self.others_since = *others_since;
        if version.is_later(before) && before.number >= *others_since {
            let own = (version.of - 1) as usize;
            if let (Some(mine), Some(theirs)) = (self.threads.get_mut(own), threads.get(own)) {
                return mine.clone_from(theirs);
            }
        }
        self.become_like_another(other);
    }
}
