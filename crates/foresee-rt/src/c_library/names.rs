//! Names of files: threads can hand over by nothing but a file that is there now, or is gone (`rename`, `mkdir`, `O_EXCL`).
//!
//! Whoever changes which file a name stands for, or what is known of a file by its name, gives before the call; whoever looks a name up
//! takes after it, whether or not it was there. A thread that only looks up gives nothing, so threads that read files stay unordered.
//!
//! Paths lead to one file in many ways (relative ones, links to directories, descriptors of directories), so a name is what stands between
//! slashes, wherever that is: a change gives to the last name of its path, a look-up takes from all names of its own. Each name has
//! one of [`PLACES`] objects by its hash; whoever lists a directory takes from all that anybody gave to. What is not seen: a link
//! to a file by another name, whose target is made or removed.

use std::ffi::c_char;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use super::channels::{OF_NAMES, changes_files, takes_from_children};
use crate::readable;
use crate::recorder::edges::{acquire_edge, release_edge};
use crate::recorder::status;
use crate::recorder::thread::are_many;

/// How many objects there are.
const PLACES: usize = 64 * WORDS;
const WORDS: usize = 4;

/// A set of objects.
type Places = [u64; WORDS];

/// The objects that anybody gave to.
static GIVEN: [AtomicU64; WORDS] = [const { AtomicU64::new(0) }; WORDS];

type Path = *const c_char;

/// How a call uses names.
#[derive(Clone, Copy)]
pub(crate) struct Use {
    paths: [Path; 2],
    changes: bool,
    lists: bool,
}

/// Looks up what is there.
pub(crate) fn looking_up(path: Path) -> Use {
    Use { paths: [path, std::ptr::null()], changes: false, lists: false }
}

/// Changes what is there, or fails because of what is there.
pub(crate) fn changing(path: Path) -> Use {
    Use { changes: true, ..looking_up(path) }
}

/// Looks at all that is there.
pub(crate) fn listing(path: Path) -> Use {
    Use { lists: true, ..looking_up(path) }
}

/// Opens a file as `fopen` does, which may make or empty it.
pub(crate) fn opening(path: Path, mode: Path) -> Use {
    // SAFETY: the program passes a text, of which this is the first byte, or null.
    let makes = !mode.is_null() && matches!(unsafe { *mode } as u8, b'w' | b'a');
    Use { changes: makes, ..looking_up(path) }
}

/// Opens a file as `open` does.
pub(crate) fn opening_with(path: Path, flags: libc::c_int) -> Use {
    Use { changes: flags & (libc::O_CREAT | libc::O_TRUNC) != 0, ..looking_up(path) }
}

impl Use {
    /// The same with one more path.
    pub(crate) fn and(self, other: Path) -> Use {
        Use { paths: [self.paths[0], other], ..self }
    }

    /// The names are used from now on until the guard is dropped.
    pub(crate) fn begin(self, pc: u64) -> Option<InUse> {
        if !status::recording() || !are_many() {
            return None;
        }
        let mut looked_up = [0; WORDS];
        for path in self.paths.into_iter().filter(|path| !path.is_null()) {
            let last = note_names(path, &mut looked_up);
            if self.changes {
                changes_files(pc);
                gives(last, pc);
            }
        }
        Some(InUse { looked_up: if self.lists { [u64::MAX; WORDS] } else { looked_up }, pc })
    }
}

/// Adds the objects of all names of a path, and says which is the last one's.
fn note_names(path: Path, places: &mut Places) -> usize {
    const START: u64 = 0xcbf2_9ce4_8422_2325;
    let (mut hash, mut last) = (START, 0);
    let mut end_name = |hash: &mut u64| {
        if *hash != START {
            last = (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % PLACES;
            places[last / 64] |= 1 << (last % 64);
            *hash = START;
        }
    };
    // What is not there is no path, and the call fails.
    readable::visit_text(path, usize::MAX, |byte| match byte {
        b'/' => end_name(&mut hash),
        byte => hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3),
    });
    end_name(&mut hash);
    last
}

fn object(place: usize) -> u64 {
    OF_NAMES | (place as u64) << 3
}

fn gives(place: usize, pc: u64) {
    // First: whoever sees the change knows where to take from.
    GIVEN[place / 64].fetch_or(1 << (place % 64), SeqCst);
    release_edge(object(place), pc);
}

/// Names are being used.
pub(crate) struct InUse {
    looked_up: Places,
    pc: u64,
}

/// The thread has learnt of a directory, on which everything in it has an effect.
pub(crate) fn learns_all(pc: u64) {
    drop(listing(std::ptr::null()).begin(pc));
}

impl Drop for InUse {
    fn drop(&mut self) {
        for (word, (wanted, given)) in self.looked_up.iter().zip(&GIVEN).enumerate() {
            let mut both = wanted & given.load(SeqCst);
            while both != 0 {
                acquire_edge(object(64 * word + both.trailing_zeros() as usize), self.pc);
                both &= both - 1;
            }
        }
        takes_from_children(self.pc);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_sets_of_names() {
        let places = |path: &std::ffi::CStr| {
            let mut places = [0; WORDS];
            let last = note_names(path.as_ptr(), &mut places);
            (places, last)
        };
        let (one, last) = places(c"/tmp/a.txt");
        assert_eq!(one.iter().map(|word| word.count_ones()).sum::<u32>(), 2);
        assert_eq!(places(c"tmp//a.txt/"), (one, last));
        assert_eq!(places(c"a.txt").1, last);
        assert_ne!(places(c"b.txt").1, last);
        assert_eq!(places(c"/").0, [0; WORDS]);
    }
}
