//! Accesses that are recorded along with others: their calls are taken out of the program, before its own code runs.
//!
//! Which these are, the driver has worked out (`FORESEE_JOINED` names the table, [`foresee_format::JoinedAccess`] says what it is like, and `foresee-symbols` has the argument). A trace without them
//! is no less true: so where calls cannot be taken out, or the program is another one, all are recorded. They are, too, where a call does more than to
//! record an access: where values are recorded, variables watched, threads monitored, code left out, or only the end of the run is kept, whose beginning has the addresses of others.

use std::sync::OnceLock;

use foresee_format::{JOINED_HEADER_WORDS, JOINED_MAGIC, JOINED_WORDS, JoinedAccess};

use super::code_filter::{self, about, map};
use super::{ring, seen_values, watched};
use crate::{environment, program};

const PAGE: u64 = 4096;

/// What does nothing, by its length.
const NOTHING: [&[u8]; 7] = [
    &[],
    &[0x90],
    &[0x66, 0x90],
    &[0x0f, 0x1f, 0x00],
    &[0x0f, 0x1f, 0x40, 0x00],
    &[0x0f, 0x1f, 0x44, 0x00, 0x00],
    &[0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00],
];

/// The accesses whose calls were taken out, as the trace has them.
static TAKEN_OUT: OnceLock<Vec<u8>> = OnceLock::new();

/// The accesses that are recorded along with others, for all traces of the program ([`foresee_format::TEXT_JOINED`]); empty if all are recorded.
pub(super) fn text() -> &'static [u8] {
    TAKEN_OUT.get().map_or(&[], |text| text)
}

/// Takes the calls out that the table names, if there is one for this program.
pub(crate) fn start() {
    let Some(path) = environment::text(c"FORESEE_JOINED") else { return };
    let does_more = [c"FORESEE_KNOWLEDGE", c"FORESEE_MONITOR", c"FORESEE_CALLS"];
    let is_special = watched::any() || code_filter::is_on() || seen_values::are_recorded() || ring::is_on();
    if is_special || does_more.iter().any(|name| environment::text(name).is_some()) {
        return;
    }
    // Libraries may install handlers of signals, which the driver has seen that the program does not.
    if environment::text(c"FORESEE_RAW").is_none() || program::has_other_libraries() {
        return;
    }
    let Some(accesses) = read(path) else { return };
    let text = accesses.iter().flat_map(|access| access.words()).flat_map(u64::to_le_bytes).collect();
    if take_out(&accesses) {
        TAKEN_OUT.get_or_init(|| text);
    }
}

/// The table in this file, if it is for this program, with addresses of this run.
fn read(path: &std::ffi::CStr) -> Option<Vec<JoinedAccess>> {
    let (words, count) = map(path)?;
    // SAFETY: so many words are mapped at this address, and never unmapped.
    let words: &'static [u64] = unsafe { std::slice::from_raw_parts(words, count as usize) };
    let (&[magic, device, file, length, seconds, nanoseconds], accesses) =
        words.split_first_chunk::<JOINED_HEADER_WORDS>()?;
    let about = about(c"/proc/self/exe")?;
    // Calls are taken out of nothing but the very code that was looked at.
    let is_same = (about.st_dev, about.st_ino) == (device, file)
        && about.st_size as u64 == length
        && [about.st_mtime, about.st_mtime_nsec] == [seconds, nanoseconds].map(u64::cast_signed);
    if magic != JOINED_MAGIC || !is_same {
        return None;
    }
    let bias = program::load_bias();
    let (accesses, rest) = accesses.as_chunks::<JOINED_WORDS>();
    rest.is_empty()
        .then(|| accesses.iter().map(|&words| JoinedAccess::from_words(words).moved_by(bias)).collect())
}

/// Takes calls out; false if that cannot be done: then none is.
fn take_out(accesses: &[JoinedAccess]) -> bool {
    let is_code = |access: &JoinedAccess| {
        (2..NOTHING.len()).contains(&usize::from(access.call_len))
            && program::has_code_at(access.pc.wrapping_sub(access.call_len.into()))
            && program::has_code_at(access.pc)
    };
    if accesses.is_empty() || !accesses.iter().all(is_code) {
        return false;
    }
    let mut pages: Vec<u64> = (accesses.iter())
        .flat_map(|access| [access.pc - u64::from(access.call_len), access.pc - 1])
        .map(|at| at / PAGE)
        .collect();
    pages.sort_unstable();
    pages.dedup();
    let neighbours: Vec<(u64, u64)> =
        pages.chunk_by(|a, b| a + 1 == *b).map(|run| (run[0], run.len() as u64)).collect();
    let protect = |&(page, count): &(u64, u64), how: libc::c_int| {
        // SAFETY: these are pages of the program's code, which stay executable.
        unsafe { libc::mprotect((page * PAGE) as *mut libc::c_void, (count * PAGE) as usize, how) == 0 }
    };
    let can_write =
        neighbours.iter().all(|pages| protect(pages, libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC));
    if can_write {
        for access in accesses {
            let nothing = NOTHING[usize::from(access.call_len)];
            let at = (access.pc - nothing.len() as u64) as *mut u8;
            // SAFETY: the driver has found a call of so many bytes there, in the file of this very program; it can be written now, and no other thread runs the program's code yet.
            unsafe { at.copy_from_nonoverlapping(nothing.as_ptr(), nothing.len()) };
        }
    }
    for pages in &neighbours {
        protect(pages, libc::PROT_READ | libc::PROT_EXEC);
    }
    can_write
}
