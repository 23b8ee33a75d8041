//! Who there is: threads by number, and whom the names of formulas mean.

use smallvec::SmallVec;

use crate::code::thread_bit;
use crate::program::Program;
use crate::table::Whose;

/// A thread, by the order in which threads became known to the monitors.
pub type Slot = u32;

/// A set of threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadSet(SmallVec<[u64; 2]>);

impl ThreadSet {
    /// Sixty-four threads, as bits.
    #[inline]
    pub(crate) fn word(&self, at: usize) -> u64 {
        self.0.get(at).copied().unwrap_or(0)
    }

    /// Adds a thread; whether it is new.
    pub fn insert(&mut self, slot: Slot) -> bool {
        let word = slot as usize / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        let before = self.0[word];
        self.0[word] |= 1 << (slot % 64);
        self.0[word] != before
    }

    /// The thread is not in it any more.
    fn remove(&mut self, slot: Slot) {
        if let Some(word) = self.0.get_mut(slot as usize / 64) {
            *word &= !(1 << (slot % 64));
        }
    }

    /// Whether the thread is in it.
    #[inline]
    pub fn contains(&self, slot: Slot) -> bool {
        self.0.get(slot as usize / 64).is_some_and(|word| word >> (slot % 64) & 1 == 1)
    }

    /// Whether all of the other set is in it.
    #[inline]
    pub fn includes(&self, other: &ThreadSet) -> bool {
        other.0.iter().enumerate().all(|(at, word)| word & !self.0.get(at).copied().unwrap_or(0) == 0)
    }

    /// Adds all of the other set; whether any is new.
    pub fn add_all(&mut self, other: &ThreadSet) -> bool {
        if self.includes(other) {
            return false;
        }
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(mine, theirs)| *mine |= theirs);
        true
    }

    /// Makes it the same as the other, in place.
    #[inline]
    pub fn become_like(&mut self, other: &ThreadSet) {
        if !self.0.iter().eq(other.0.iter()) {
            self.0.clear();
            self.0.extend_from_slice(&other.0);
        }
    }

    /// Nobody is in it.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// All that are in it.
    #[inline]
    pub(crate) fn iter(&self) -> impl Iterator<Item = Slot> {
        (0..).zip(&self.0).flat_map(|(at, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(at * 64 + bit)
            })
        })
    }
}

/// All threads that monitors know of.
#[derive(Clone, Debug, Default)]
pub struct Threads {
    count: u32,
    /// How often somebody was added or named.
    version: u32,
    /// Those nobody forked: everybody knows that they exist.
    roots: ThreadSet,
    /// The first thread of each name that a formula mentions.
    named: Vec<Option<Slot>>,
    /// Who belongs to each group that a formula mentions.
    groups: Vec<ThreadSet>,
}

impl Threads {
    /// Nobody is there yet.
    pub fn new(program: &Program) -> Threads {
        let (named, groups) = (program.named().len(), program.groups().len());
        Threads { named: vec![None; named], groups: vec![ThreadSet::default(); groups], ..Threads::default() }
    }

    /// One more thread, that this program calls `name`. Everybody knows a thread that nobody `forked`.
    pub fn add(&mut self, program: &Program, name: &str, forked: bool) -> Slot {
        let slot = self.count;
        self.count += 1;
        if !forked {
            self.roots.insert(slot);
        }
        self.name(program, slot, name);
        slot
    }

    /// The thread is called this from now on, and by no other name. For a program with late names, if the thread has run before.
    pub fn name(&mut self, program: &Program, slot: Slot, name: &str) {
        self.version += 1;
        for (meant, wanted) in self.named.iter_mut().zip(program.named()) {
            if wanted == name {
                meant.get_or_insert(slot);
            } else if *meant == Some(slot) {
                *meant = None;
            }
        }
        for (members, who) in self.groups.iter_mut().zip(program.groups()) {
            if who.includes(name) {
                members.insert(slot);
            } else {
                members.remove(slot);
            }
        }
    }

    /// Another one whenever somebody was added or named.
    #[inline]
    pub(crate) fn version(&self) -> u32 {
        self.version
    }

    /// How many there are.
    #[inline]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// How many words of bits all threads are.
    #[inline]
    pub(crate) fn words(&self) -> usize {
        (self.count as usize).div_ceil(64)
    }

    /// Those who exist, as far as one of them knows, as bits of a word: it, those whom it knows, those whom nobody forked. Only those of a group, if one is given.
    #[inline]
    pub(crate) fn existing(&self, at: usize, me: Slot, known: u64, among: Option<u32>) -> u64 {
        let all = self.roots.word(at) | known | thread_bit(me, at);
        let meant = match among {
            Some(group) => self.groups.get(group as usize).map_or(0, |members| members.word(at)),
            None => u64::MAX,
        };
        all & meant & in_count(self.count, at)
    }

    /// The thread of the name with this number.
    #[inline]
    pub fn named(&self, name: u32) -> Option<Slot> {
        self.named.get(name as usize).copied().flatten()
    }

    #[inline]
    pub(crate) fn belongs(&self, slot: Slot, group: u32) -> bool {
        self.groups.get(group as usize).is_some_and(|members| members.contains(slot))
    }

    /// Whether there was one of those among so many threads.
    pub(crate) fn is_anybody(&self, whose: Whose, threads: u32) -> bool {
        let first = match whose {
            Whose::Everyone => return true,
            Whose::Named(name) => self.named(name),
            Whose::Group(group) => self.groups.get(group as usize).and_then(|members| members.iter().next()),
        };
        first.is_some_and(|first| first < threads)
    }

    /// Whether the thread is one of those.
    #[inline]
    pub(crate) fn is_meant(&self, slot: Slot, whose: Whose) -> bool {
        match whose {
            Whose::Everyone => true,
            Whose::Named(name) => self.named(name) == Some(slot),
            Whose::Group(group) => self.belongs(slot, group),
        }
    }
}

/// Who exists, as far as a thread knows: all, and those of each group. It is worked out when the thread learns of somebody, for all quantifiers until then.
#[derive(Clone, Debug, Default)]
pub(crate) struct Existing {
    words: usize,
    bits: Vec<u64>,
}

impl Existing {
    pub(crate) fn find_out(&mut self, threads: &Threads, me: Slot, known: &ThreadSet) {
        self.words = threads.words();
        self.bits.clear();
        for among in std::iter::once(None).chain((0..threads.groups.len() as u32).map(Some)) {
            let words = (0..self.words).map(|at| threads.existing(at, me, known.word(at), among));
            self.bits.extend(words);
        }
    }

    /// Those of a group, if one is given, as bits of a word.
    #[inline]
    pub(crate) fn word(&self, at: usize, among: Option<u32>) -> u64 {
        let row = among.map_or(0, |group| group as usize + 1);
        self.bits.get(row * self.words + at).copied().unwrap_or(0)
    }
}

/// The bits of threads that there are in a word.
#[inline]
fn in_count(count: u32, at: usize) -> u64 {
    match (count as usize).saturating_sub(at * 64) {
        0 => 0,
        64.. => u64::MAX,
        some => (1 << some) - 1,
    }
}
