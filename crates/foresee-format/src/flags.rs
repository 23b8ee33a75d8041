//! What is known about a run before its first record: one word of the file's header.

/// A set of statements about a run. The runtime writes it when it creates the file; it does not change afterwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunFlags(u64);

impl RunFlags {
    /// None of them.
    pub const NONE: RunFlags = RunFlags(0);
    /// The program is linked with Rust's standard library, whose locks the reader recognises by debug information.
    pub const IS_RUST: RunFlags = RunFlags(1);
    /// The program records where its control flow goes ([`Tag::Branch`](crate::Tag::Branch)).
    pub const HAS_BRANCHES: RunFlags = RunFlags(1 << 1);
    /// Accesses of some functions are not recorded, so no prediction is proven. What synchronises is all there.
    pub const ACCESSES_LEFT_OUT: RunFlags = RunFlags(1 << 2);
    /// Reads have a digest of what they saw ([`Tag::ReadSeen`](crate::Tag::ReadSeen)).
    pub const HAS_SEEN_VALUES: RunFlags = RunFlags(1 << 3);

    /// Keys are those of pages: accesses, calls and relaxed loads may have the key of an earlier record of their thread. They happened then or later, before
    /// the thread's next record with a larger key. No two threads have pages with the same key.
    pub const KEYS_OF_PAGES: RunFlags = RunFlags(1 << 4);

    /// A chunk stays as it is once its header is there: it is not cut, cleared or used again, so the trace may be read while it is written.
    pub const CHUNKS_STAY: RunFlags = RunFlags(1 << 5);

    /// The process is the child of a fork: what its parent did before is not in the trace.
    pub const AFTER_FORK: RunFlags = RunFlags(1 << 6);

    /// The header says whether the process has ended by itself ([`END_WORD`](crate::END_WORD)).
    pub const TELLS_END: RunFlags = RunFlags(1 << 7);

    /// The flags in a word of the header.
    pub const fn from_word(word: u64) -> RunFlags {
        RunFlags(word)
    }

    /// The word for the header.
    pub const fn word(self) -> u64 {
        self.0
    }

    /// These flags, and the others if `condition` holds.
    #[must_use]
    pub const fn with_if(self, others: RunFlags, condition: bool) -> RunFlags {
        if condition { RunFlags(self.0 | others.0) } else { self }
    }

    /// Whether all of the others are among these.
    pub const fn contains(self, others: RunFlags) -> bool {
        self.0 & others.0 == others.0
    }
}

#[cfg(test)]
mod tests {
    use super::RunFlags;

    #[test]
    fn flags_survive_the_header() {
        let flags = RunFlags::NONE
            .with_if(RunFlags::IS_RUST, true)
            .with_if(RunFlags::HAS_BRANCHES, false)
            .with_if(RunFlags::ACCESSES_LEFT_OUT, true);
        let read = RunFlags::from_word(flags.word());
        assert!(read.contains(RunFlags::IS_RUST) && read.contains(RunFlags::ACCESSES_LEFT_OUT));
        assert!(!read.contains(RunFlags::HAS_BRANCHES));
    }
}
