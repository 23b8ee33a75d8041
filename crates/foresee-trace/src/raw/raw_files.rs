//! The files of a raw trace as one: what is in side files comes behind what is in the trace itself.
//!
//! A trace that is still written, or that was given as an open file, is that one file. Where a file ends before the next begins, and where
//! one is missing or shorter than the header says, there are zeroes: no chunk, or no more records.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use foresee_format::{LENGTH_WORD, SIDE_FILES, SIDE_LENGTHS_WORD, SIDE_MARK, UNIT};

/// The files of a raw trace.
pub(crate) struct RawFiles {
    first: File,
    /// Which byte of the whole each side file begins with; how long it is; the file.
    sides: Vec<(u64, u64, File)>,
    /// Whether a side file has less than the header says.
    is_short: bool,
}

impl RawFiles {
    /// A trace of one file.
    pub(crate) fn one(file: File) -> RawFiles {
        RawFiles { first: file, sides: Vec::new(), is_short: false }
    }

    /// The complete trace of this name.
    pub(crate) fn open(path: &Path) -> io::Result<RawFiles> {
        let first = File::open(path)?;
        let mut files = RawFiles::one(first);
        let mut begin = files.first.metadata()?.len().next_multiple_of(UNIT);
        for side in 1..=SIDE_FILES {
            let said = word(&files.first, SIDE_LENGTHS_WORD + side - 1)?;
            if said == 0 {
                continue;
            }
            let file = open_side(path, side)?;
            let len = file.as_ref().map_or(Ok(0), |file| Ok::<_, io::Error>(file.metadata()?.len()))?;
            files.is_short |= len < said;
            // What is behind that was never written to its end.
            let len = len.min(said);
            files.sides.extend(file.map(|file| (begin, len, file)));
            begin += len.next_multiple_of(UNIT);
        }
        Ok(files)
    }

    /// How many bytes the whole has.
    pub(crate) fn len(&self) -> io::Result<u64> {
        match self.sides.last() {
            Some((begin, len, _)) => Ok(begin + len),
            None => Ok(self.first.metadata()?.len()),
        }
    }

    /// Whether a side file has less than the header says.
    pub(crate) fn is_short(&self) -> bool {
        self.is_short
    }

    /// The trace itself.
    pub(crate) fn first(&self) -> &File {
        &self.first
    }

    /// Reads some bytes from this one on; none at the end.
    pub(crate) fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<usize> {
        let next = self.sides.partition_point(|&(begin, ..)| begin <= at);
        let Some((begin, len, file)) = next.checked_sub(1).map(|side| &self.sides[side]) else {
            let got = self.first.read_at(bytes, at)?;
            return Ok(if got == 0 { self.zeroes(bytes, at, next) } else { got });
        };
        let there = len.saturating_sub(at - begin).min(bytes.len() as u64) as usize;
        let got = file.read_at(&mut bytes[..there], at - begin)?;
        Ok(if got == 0 { self.zeroes(bytes, at, next) } else { got })
    }

    /// What is between the end of a file and the beginning of the next.
    fn zeroes(&self, bytes: &mut [u8], at: u64, next: usize) -> usize {
        let end = self.sides.get(next).map_or(at, |&(begin, ..)| begin);
        let many = end.saturating_sub(at).min(bytes.len() as u64) as usize;
        bytes[..many].fill(0);
        many
    }

    /// Reads all these bytes.
    pub(crate) fn read_exact_at(&self, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.read_at(bytes, at) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(got) => (bytes, at) = (&mut bytes[got..], at + got as u64),
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                Err(why) => return Err(why),
            }
        }
        Ok(())
    }
}

fn word(file: &File, word: usize) -> io::Result<u64> {
    let mut bytes = [0; 8];
    match file.read_exact_at(&mut bytes, 8 * word as u64) {
        Err(why) if why.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
        read => read.map(|()| u64::from_le_bytes(bytes)),
    }
}

/// A side file, if it is there.
fn open_side(path: &Path, side: usize) -> io::Result<Option<File>> {
    let name = side_name(path, side);
    match std::fs::metadata(&name) {
        Ok(what) if what.is_file() => File::open(name).map(Some),
        Ok(_) => Ok(None),
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(why) => Err(why),
    }
}

/// What a side file of a raw trace is called.
fn side_name(path: &Path, side: usize) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!("{SIDE_MARK}{side}"));
    PathBuf::from(name)
}

/// Whether a file of this name is a side file of a raw trace.
pub fn is_side_file(name: &str) -> bool {
    let number = name.rsplit_once(SIDE_MARK).and_then(|(_, number)| number.parse::<usize>().ok());
    number.is_some_and(|number| (1..=SIDE_FILES).contains(&number))
}

/// Puts a complete raw trace into one file: its side files become part of it, and are removed.
pub fn join(path: &Path) -> io::Result<()> {
    let mut first = OpenOptions::new().read(true).write(true).open(path)?;
    for side in 1..=SIDE_FILES {
        let at = SIDE_LENGTHS_WORD + side - 1;
        if word(&first, at)? == 0 {
            continue;
        }
        // Of one that is missing, whoever reads the trace will say so.
        let Some(mut copy) = open_side(path, side)? else { continue };
        let begin = first.metadata()?.len().next_multiple_of(UNIT);
        io::Seek::seek(&mut first, io::SeekFrom::Start(begin))?;
        let copied = io::copy(&mut copy, &mut first)?;
        // If it is shorter than it was, so is the whole.
        let said = word(&first, at)?.max(copied);
        first.write_all_at(&(begin + said).to_le_bytes(), 8 * LENGTH_WORD as u64)?;
        first.write_all_at(&[0; 8], 8 * at as u64)?;
        std::fs::remove_file(side_name(path, side))?;
    }
    Ok(())
}
