//! Files that are there as a whole or not at all.
//!
//! What is written goes to a new file beside, and gets its name when it is complete and on the disk: whoever reads it, whenever foresee or the
//! machine stopped, finds the old or the new content. A symbolic link under that name is neither followed nor replaced: in a folder
//! that others can write to, it would be theirs to say what is overwritten. What is no regular file, as `/dev/stdout` or a pipe,
//! is written to as it is.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::scratch::{self, CHOSEN, PREFIX};

/// Who may read a new file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readers {
    /// The user alone: traces hold command lines and memory layouts.
    Owner,
    /// Whom the user's `umask` allows.
    Usual,
}

/// A file that is being written.
pub(crate) struct WholeFile {
    path: PathBuf,
    file: NamedTempFile,
}

impl WholeFile {
    /// A new file that is to get this name.
    pub(crate) fn create(path: &Path, readers: Readers) -> io::Result<WholeFile> {
        let there = path.symlink_metadata();
        if there.as_ref().is_ok_and(std::fs::Metadata::is_symlink) {
            return Err(io::Error::other("it is a symbolic link, which is not followed; expected a file"));
        }
        if there.is_ok_and(|there| !there.is_file()) {
            return Err(io::Error::other("it exists and is not a regular file; expected a file"));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        scratch::sweep(folder);
        let mode = if readers == Readers::Owner { 0o600 } else { 0o666 };
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).rand_bytes(CHOSEN).permissions(std::fs::Permissions::from_mode(mode));
        loop {
            let file = builder.tempfile_in(folder)?;
            // If this process is killed, the lock is gone: then the file can go as well (`scratch`).
            let _ = file.as_file().lock();
            if scratch::is_still_there(file.as_file())? {
                return Ok(WholeFile { path: path.to_owned(), file });
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn file(&self) -> &File {
        self.file.as_file()
    }

    /// It is complete: it gets its name. What is only there for a while need not survive the machine.
    pub(crate) fn finish(self) -> io::Result<()> {
        let lasts = !self.path.starts_with(std::env::temp_dir());
        if lasts {
            self.file.as_file().sync_all()?;
        }
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).to_owned();
        self.file.persist(&self.path).map_err(|why| why.error)?;
        if lasts {
            // Some file systems cannot do that, and keep the name anyway.
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
        Ok(())
    }
}

/// Writes a text: all of it or nothing.
pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    if path.starts_with("/dev") || path.starts_with("/proc/self/fd") {
        return std::fs::write(path, text);
    }
    let whole = WholeFile::create(path, Readers::Usual)?;
    whole.file().write_all(text.as_bytes())?;
    whole.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_neither_followed_nor_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("precious"), "mine").unwrap();
        std::os::unix::fs::symlink(at("precious"), at("link")).unwrap();
        std::os::unix::fs::symlink(at("nothing"), at("dangling")).unwrap();
        for refused in ["link", "dangling", "."] {
            assert!(write(&at(refused), "ours").is_err(), "{refused}");
        }
        assert_eq!(std::fs::read_to_string(at("precious")).unwrap(), "mine");
        assert!(at("link").is_symlink() && !at("nothing").exists());
        write(&at("precious"), "new").unwrap();
        assert_eq!(std::fs::read_to_string(at("precious")).unwrap(), "new");
        let private = WholeFile::create(&at("private"), Readers::Owner).unwrap();
        private.finish().unwrap();
        assert_eq!(at("private").metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4, "nothing is left");
    }
}
