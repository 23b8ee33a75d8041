//! Opens a trace of any format. Adding an input format is one line in [`open`].

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::Path;

use crate::TraceError;
use crate::file::{MAGIC, TraceReader};
use crate::raw::{LockTable, NoSymbols, RawReader, Symbolizer};
use crate::source::EventSource;
use crate::text::TextReader;

/// The formats of trace files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// foresee's binary trace, `.ft`.
    Binary,
    /// The STD text form, `.std`.
    Text,
}

impl Format {
    /// The format that a path's ending asks for.
    pub fn of_path(path: &Path) -> Option<Format> {
        match path.extension()?.to_str()? {
            "ft" => Some(Format::Binary),
            "std" | "txt" => Some(Format::Text),
            _ => None,
        }
    }
}

/// Opens a trace file, a text trace, or a pipe of either; `-` is standard input. The first bytes say which format it is. A raw trace
/// is read without symbols, so that nothing found in it is proven: see [`open_with`].
pub fn open(path: &Path) -> Result<Box<dyn EventSource>, TraceError> {
    open_with(path, Box::new(NoSymbols), LockTable::default())
}

/// Opens a trace like [`open`]; a raw one is read with these symbols and this table of lock functions.
pub fn open_with(
    path: &Path,
    symbols: Box<dyn Symbolizer>,
    locks: LockTable,
) -> Result<Box<dyn EventSource>, TraceError> {
    let mut file = if path == Path::new("-") {
        // A second handle on standard input: this one may be read, sought or spooled like any file.
        File::open("/dev/stdin")?
    } else {
        File::open(path)?
    };
    let kind = file.metadata()?;
    if kind.is_dir() {
        return Err(TraceError::Directory);
    }
    let mut start = [0; MAGIC.len()];
    let got = read_full(&mut file, &mut start)?;
    let start = &start[..got];
    if start.is_empty() {
        return Err(TraceError::Empty);
    }
    // A file cut off within its first bytes is still a trace, with nothing left in it.
    let binary = start == &MAGIC[..got];
    if kind.is_file() {
        file.rewind()?;
        return if start == foresee_format::MAGIC {
            Ok(Box::new(match path == Path::new("-") {
                true => RawReader::new(file, symbols, locks)?,
                false => RawReader::open(path, symbols, locks)?,
            }))
        } else if binary {
            Ok(Box::new(TraceReader::new(file)?))
        } else {
            Ok(Box::new(TextReader::with_length(file, kind.len())))
        };
    }
    let stream = start.chain(file);
    if binary {
        // Merging needs to seek, a pipe cannot: keep it in a file that disappears with us.
        let mut spool = tempfile::tempfile()?;
        io::copy(&mut { stream }, &mut spool)?;
        spool.rewind()?;
        Ok(Box::new(TraceReader::new(spool)?))
    } else {
        Ok(Box::new(TextReader::new(io::Cursor::new(start.to_vec()).chain(stream.into_inner().1))))
    }
}

fn read_full(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut got = 0;
    while got < buffer.len() {
        match file.read(&mut buffer[got..]) {
            Ok(0) => break,
            Ok(n) => got += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(got)
}
