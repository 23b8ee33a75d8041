//! The header of a raw trace.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use foresee_format::{
    CUT_WORD, END_WORD, FLAGS_WORD, HEADER_LEN, LENGTH_WORD, MAGIC, NAMES, RunFlags, STOP_WORD, Stop,
    VERSION, VERSION_WORD, WHY_WORD,
};

use crate::TraceError;
use crate::raw::raw_files::RawFiles;

/// What the header says, at one moment: it changes while the program runs.
#[derive(Default)]
pub(crate) struct Header {
    /// Of the layout.
    pub(super) version: u64,
    /// Records from this key on are not of all threads, as recording stopped.
    pub(super) stop: Option<u64>,
    /// Why it stopped.
    pub(super) why_stopped: Option<Stop>,
    /// Records with a smaller key are lost; 0 if none is.
    pub(super) lost_before: u64,
    /// How long the file was when the last chunk was added.
    pub(super) length: u64,
    pub(super) flags: RunFlags,
    /// The process has ended by itself.
    pub(super) has_ended: bool,
    /// The table of thread names.
    pub(crate) thread_names: Vec<u8>,
}

/// Whether a process has begun its raw trace in this file: the header's first word is the last to be written.
pub fn has_begun(file: &File) -> bool {
    let mut first = [0; 8];
    file.read_exact_at(&mut first, 0).is_ok() && first != [0; 8]
}

impl Header {
    /// Reads the header of a file of so many bytes.
    pub(super) fn read(files: &RawFiles, bytes: u64) -> Result<Header, TraceError> {
        let mut header = vec![0; HEADER_LEN.min(bytes) as usize];
        files.read_exact_at(&mut header, 0)?;
        let word = |at: usize| {
            header.get(8 * at..8 * at + 8).and_then(|bytes| Some(u64::from_le_bytes(bytes.try_into().ok()?)))
        };
        if word(0) != Some(u64::from_le_bytes(MAGIC)) {
            return Err(TraceError::NotATrace { offset: 0, why: "no raw trace of foresee".to_owned() });
        }
        let version = word(VERSION_WORD).unwrap_or(VERSION);
        if version > VERSION {
            return Err(TraceError::NewerVersion {
                found: version.min(u16::MAX.into()) as u16,
                known: VERSION as u16,
            });
        }
        Ok(Header {
            version,
            stop: word(STOP_WORD).filter(|&stop| stop != 0),
            why_stopped: word(WHY_WORD)
                .and_then(|why| Stop::ALL.get((why as usize).wrapping_sub(1)).copied()),
            lost_before: word(CUT_WORD).unwrap_or(0),
            length: word(LENGTH_WORD).unwrap_or(0),
            flags: RunFlags::from_word(word(FLAGS_WORD).unwrap_or(0)),
            has_ended: word(END_WORD).is_some_and(|word| word != 0),
            thread_names: header.get(NAMES as usize..).unwrap_or_default().to_vec(),
        })
    }
}
