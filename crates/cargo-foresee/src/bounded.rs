//! Files that somebody else may have named, or written: read up to a limit, and never waited for.
//!
//! Specs, suppressions and settings are small. A device that never ends, or a file of gigabytes under such a name, is refused with
//! a message before it is in memory.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// More than any spec, file of suppressions or of settings has.
pub(crate) const SMALL: u64 = 4 << 20;

/// The text of a file or of a stream that the user has named, of `most` bytes at most.
pub(crate) fn read_text(path: &Path, most: u64) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(most + 1).read_to_string(&mut text).map_err(|why| match why.kind() {
        io::ErrorKind::InvalidData => io::Error::other("not UTF-8 text"),
        _ => why,
    })?;
    if text.len() as u64 > most {
        return Err(io::Error::other(format!("more than {} MB, which is no such file", most >> 20)));
    }
    Ok(text)
}

/// The text of a regular file of `most` bytes at most. Files that say they are empty, as those of `/proc`, have none.
pub(crate) fn read_regular(path: &Path, most: u64) -> Option<String> {
    // A pipe is not waited for, and a terminal does not become ours.
    let flags = i32::try_from((OFlags::NONBLOCK | OFlags::NOCTTY).bits()).unwrap_or_default();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    let known = file.metadata().ok().filter(|known| known.is_file() && (1..=most).contains(&known.len()))?;
    let mut text = String::new();
    file.take(known.len()).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_ends_or_says_nothing_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "12345678").unwrap();
        assert_eq!(read_text(&path, 8).unwrap(), "12345678");
        assert_eq!(read_regular(&path, 8).unwrap(), "12345678");
        assert!(read_text(&path, 7).is_err() && read_regular(&path, 7).is_none());
        assert!(read_text(Path::new("/dev/zero"), 1 << 20).unwrap_err().to_string().contains("1 MB"));
        let pipe = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::from(0o600)).unwrap();
        for odd in [Path::new("/dev/zero"), Path::new("/proc/self/environ"), folder.path(), &pipe] {
            assert_eq!(read_regular(odd, 1 << 20), None, "{}", odd.display());
        }
    }
}
