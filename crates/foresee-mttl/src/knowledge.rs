//! KNOWLEDGEVECTOR: what is known of threads and shared variables.
//!
//! An entry of a thread has its sequence number and the values of all that formulas ask of it remotely; an entry of a variable has the number of
//! its writes and its value. Of two entries the one with the larger number is newer ([`Knowledge::learn`] is the paper's max). A vector
//! has entries only for threads of which something is known: `n` values for mutual exclusion, and `n` times `n` where formulas ask
//! what threads know of each other.
//!
//! Most vectors are copies of what one thread knew at some time, and say so (`Version`). Of two versions of one thread's vector the later knows all that the earlier does, and often differs only in
//! that thread's own entry: then neither comparing nor copying looks at the others.

use smallvec::SmallVec;

use crate::Value;
use crate::threads::{Slot, ThreadSet};
use crate::trail::Trail;

/// What is known of one thread: KV\[j\].
#[derive(Debug, Default)]
pub struct Entry<T> {
    /// Which of the thread's states it is; 0 if none is known.
    pub seq: u64,
    /// How many threads there were in that state: says where the values are.
    pub(crate) threads: u32,
    /// The values of all that is asked remotely.
    pub(crate) values: Vec<Value>,
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

    /// Whether this is the other or a later version of the same vector.
    #[inline]
    pub(crate) fn includes(self, other: Version) -> bool {
        self.of == other.of && self.number >= other.number && self.is_any()
    }
}

impl<T> Entry<T> {
    /// Other values, of which there are nearly always as many as before.
    #[inline]
    pub(crate) fn set_values(&mut self, values: impl ExactSizeIterator<Item = Value>) {
        if self.values.len() != values.len() {
            self.values.resize(values.len(), None);
        }
        self.values.iter_mut().zip(values).for_each(|(mine, value)| *mine = value);
    }
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

    /// Whether there is anything in the other vector that this one does not know.
    #[inline]
    pub fn is_behind(&self, other: &Knowledge<T>) -> bool {
        let threads = self.threads.len().min(other.threads.len());
        let variables = self.variables.len().min(other.variables.len());
        self.threads.iter().zip(&other.threads).any(|(mine, theirs)| theirs.seq > mine.seq)
            || self.variables.iter().zip(&other.variables).any(|(mine, theirs)| theirs.seq > mine.seq)
            || other.threads[threads..].iter().any(|theirs| theirs.seq > 0)
            || other.variables[variables..].iter().any(|theirs| theirs.seq > 0)
            || !self.known.includes(&other.known)
    }

    /// The entry-wise maximum. `carried` notes how the entries of threads that are new here came. The variables that have new values, as bits.
    pub fn learn(&mut self, other: &Knowledge<T>, mut carried: impl FnMut(Slot, &mut T)) -> u64 {
        if self.threads.len() < other.threads.len() {
            self.threads.resize_with(other.threads.len(), Entry::default);
        }
        for (slot, (mine, theirs)) in (0..).zip(self.threads.iter_mut().zip(&other.threads)) {
            if theirs.seq > mine.seq {
                mine.clone_from(theirs);
                carried(slot, &mut mine.trail);
            }
        }
        if self.variables.len() < other.variables.len() {
            self.variables.resize(other.variables.len(), VariableEntry::default());
        }
        let mut changed = 0;
        for (number, (mine, theirs)) in (0..).zip(self.variables.iter_mut().zip(&other.variables)) {
            if theirs.seq > mine.seq {
                changed |= u64::from(mine.value != theirs.value) << number;
                *mine = *theirs;
            }
        }
        self.known.add_all(&other.known);
        self.version = Version::default();
        changed
    }

    /// The vector of this thread has changed for the `number`th time: in the entries of others, or only its own.
    #[inline]
    pub(crate) fn is_changed(&mut self, of: Slot, number: u64, others: bool) {
        let of = of + 1;
        if others || self.version.of != of {
            self.others_since = number;
        }
        self.version = Version { of, number };
    }

    /// Copies the entries of all. (The version is the other's already.)
    fn become_like_another(&mut self, other: &Self) {
        let Knowledge { threads, variables, known, .. } = other;
        // What has the same number is the same.
        for (mine, theirs) in self.threads.iter_mut().zip(threads) {
            if mine.seq != theirs.seq {
                mine.clone_from(theirs);
            }
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
        let Entry { seq, threads, values, trail } = self;
        Entry { seq: *seq, threads: *threads, values: values.clone(), trail: trail.clone() }
    }

    #[inline]
    fn clone_from(&mut self, other: &Self) {
        let Entry { seq, threads, values, trail } = other;
        (self.seq, self.threads) = (*seq, *threads);
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
        let is_own_alone = version.includes(self.version) && self.version.number >= *others_since;
        (self.version, self.others_since) = (*version, *others_since);
        if is_own_alone {
            let own = version.of - 1;
            if let Some(theirs) = threads.get(own as usize) {
                self.entry(own).clone_from(theirs);
            }
            return;
        }
        self.become_like_another(other);
    }
}
