//! Gives the disk back what was read of a file that another process still writes.
//!
//! Each piece becomes a hole at once. But the kernel keeps pieces of a file in memory together with what is beside them (*large folios*), and cannot let go a part of that
//! while the other process has another part of it mapped: it clears the part, and may write the zeroes to the disk once more. So everything is given back in [`BLOCK`]s again when all of one was read.

use std::fs::File;

use rustc_hash::FxHashMap;
use rustix::fs::{FallocateFlags, fallocate};

/// As much as the kernel keeps together.
const BLOCK: u64 = 2 << 20;

/// The holes of a file.
#[derive(Default)]
pub(crate) struct Holes {
    /// How many bytes of a block were given back, unless that is all.
    parts: FxHashMap<u64, u64>,
}

impl Holes {
    /// Gives back these bytes, of which none was given back before; whether any are gone. (A file system that cannot do it keeps all.)
    pub(crate) fn give_back(&mut self, file: &File, (start, end): (u64, u64)) -> bool {
        let is_gone = make_hole(file, start, end);
        for block in start / BLOCK..end.div_ceil(BLOCK) {
            let (first, last) = (block * BLOCK, (block + 1) * BLOCK);
            let given = self.parts.entry(block).or_default();
            *given += end.min(last) - start.max(first);
            if *given >= BLOCK {
                self.parts.remove(&block);
                make_hole(file, first, last);
            }
        }
        is_gone
    }
}

fn make_hole(file: &File, start: u64, end: u64) -> bool {
    fallocate(file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, start, end - start).is_ok()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    #[test]
    fn what_was_given_back_in_pieces_is_given_back_whole() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![1; 3 * BLOCK as usize]).unwrap();
        let mut holes = Holes::default();
        let half = BLOCK / 2;
        for start in (half..5 * half).step_by(half as usize) {
            assert!(holes.give_back(&file, (start, start + half)));
        }
        // The second is complete; of the first and the third a half is missing.
        assert_eq!(holes.parts, FxHashMap::from_iter([(0, half), (2, half)]));
        assert!(holes.give_back(&file, (0, half)) && holes.give_back(&file, (5 * half, 6 * half)));
        assert!(holes.parts.is_empty());
        file.sync_all().unwrap();
        assert!(file.metadata().unwrap().blocks() * 512 < half);
    }
}
