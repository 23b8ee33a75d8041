//! The memory of an observer, shared by the programs that it observes.
//!
//! Each program has a fixed part, so that there is something for every one that is let in. Of the rest, whoever comes may have half of
//! what is free, up to a quarter of all: the first programs have much, many have little, and all together never have more
//! than there is. What a program had is free again when it goes, and those that have little may then [ask](Share::grow) again.

use std::sync::{Mutex, PoisonError};

/// All of it.
pub(super) struct MemoryShares {
    free: Mutex<usize>,
    least: usize,
    most: usize,
}

impl MemoryShares {
    /// So many bytes for at most so many programs.
    pub(super) fn new(bytes: usize, programs: usize) -> MemoryShares {
        let least = bytes / 4 / programs.max(1);
        MemoryShares { free: Mutex::new(bytes - least * programs), least, most: bytes / 4 }
    }

    /// For one more program.
    pub(super) fn share(&self) -> Share<'_> {
        let mut share = Share { of: self, lent: 0 };
        share.grow();
        share
    }
}

/// What one program may have.
pub(super) struct Share<'a> {
    of: &'a MemoryShares,
    lent: usize,
}

impl Share<'_> {
    /// In bytes.
    pub(super) fn bytes(&self) -> usize {
        self.of.least + self.lent
    }

    /// Takes more if there is more; whether it is worth telling.
    pub(super) fn grow(&mut self) -> bool {
        let mut free = self.of.free.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = self.of.most.saturating_sub(self.bytes());
        let more = wanted.min(*free / 2);
        if more < self.bytes() / 4 {
            return false;
        }
        *free -= more;
        self.lent += more;
        true
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        *self.of.free.lock().unwrap_or_else(PoisonError::into_inner) += self.lent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_together_have_no_more_than_there_is() {
        let all = MemoryShares::new(1 << 30, 64);
        let mut shares: Vec<Share<'_>> = (0..64).map(|_| all.share()).collect();
        assert_eq!(shares[0].bytes(), 1 << 28);
        assert!(shares.iter().all(|share| share.bytes() >= 1 << 22));
        assert!(shares.iter().map(Share::bytes).sum::<usize>() <= 1 << 30);
        assert!(!shares[63].grow(), "others have it all");
        shares.truncate(1);
        assert_eq!(all.share().bytes(), 1 << 28);
        shares.clear();
        assert_eq!(*all.free.lock().unwrap(), (1 << 30) - (1 << 28));
    }
}
