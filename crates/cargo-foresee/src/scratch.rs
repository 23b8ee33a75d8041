//! Folders for what is there only for a while, and for no longer.
//!
//! A folder goes with its value. A process that is killed leaves its folder behind, and a raw recording can have gigabytes: so each is locked
//! by its owner for as long as that lives, and whoever makes another one beside it removes those whose owner is gone. Who removes one holds its lock
//! meanwhile, so an owner that has just made it finds out, and makes another one.

use std::fs::File;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use crate::error::CliError;

/// What all folders and files begin with that are there for a while; a few letters and digits follow, which no user would choose.
pub(crate) const PREFIX: &str = ".foresee-temporary-";
pub(crate) const CHOSEN: usize = 6;

/// The file in each that is locked by its owner.
const LOCK: &str = "owner";

/// A younger one without that file may be about to get it.
const YOUNG: Duration = Duration::from_secs(60);

/// A folder that goes with this value, or soon after this process.
pub(crate) struct Scratch {
    folder: TempDir,
    _lock: File,
}

impl Scratch {
    /// In the folder for temporary files.
    pub(crate) fn new() -> Result<Scratch, CliError> {
        Scratch::new_in(&std::env::temp_dir())
            .map_err(|why| CliError::output("the folder for temporary files", why))
    }

    /// In this folder.
    pub(crate) fn new_in(parent: &Path) -> io::Result<Scratch> {
        sweep(parent);
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).rand_bytes(CHOSEN).permissions(std::fs::Permissions::from_mode(0o700));
        loop {
            let folder = builder.tempdir_in(parent)?;
            let lock = File::create_new(folder.path().join(LOCK))?;
            lock.lock()?;
            if is_still_there(&lock)? {
                return Ok(Scratch { folder, _lock: lock });
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Whether nobody has removed a file, taking it for abandoned, before it was locked.
pub(crate) fn is_still_there(file: &File) -> io::Result<bool> {
    Ok(file.metadata()?.nlink() > 0)
}

/// Removes what killed processes of this user have left in a folder.
pub(crate) fn sweep(parent: &Path) {
    remove_abandoned(parent, YOUNG);
}

/// The same; folders that were never locked go if they are older than `young`. What cannot be removed is somebody else's.
fn remove_abandoned(parent: &Path, young: Duration) {
    let us = rustix::process::geteuid().as_raw();
    for entry in parent.read_dir().into_iter().flatten().flatten() {
        let is_of_this_kind =
            entry.file_name().to_str().and_then(|name| name.strip_prefix(PREFIX)).is_some_and(|chosen| {
                chosen.len() == CHOSEN && chosen.bytes().all(|byte| byte.is_ascii_alphanumeric())
            });
        let Some(known) = entry.metadata().ok().filter(|_| is_of_this_kind) else { continue };
        let age = known.modified().ok().and_then(|time| SystemTime::now().duration_since(time).ok());
        if known.uid() != us {
            continue;
        }
        let is_young = age.is_none_or(|age| age < young);
        let path = entry.path();
        let owner = if known.is_dir() { path.join(LOCK) } else { path.clone() };
        let lock = File::open(owner);
        let is_owned = match &lock {
            Ok(lock) => lock.try_lock().is_err(),
            Err(why) => is_young || why.kind() != io::ErrorKind::NotFound,
        };
        // The lock is held until it is gone. Nobody is told if that fails: the next one tries again.
        let _ = match (is_owned, known.is_dir()) {
            (true, _) => Ok(()),
            (false, true) => std::fs::remove_dir_all(&path),
            (false, false) => std::fs::remove_file(&path),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_owner_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let owned = Scratch::new_in(parent.path()).unwrap();
        // As after SIGKILL: the lock is gone, the folder is not.
        let abandoned = Scratch::new_in(parent.path()).unwrap();
        std::fs::write(abandoned.path().join("raw"), "much").unwrap();
        let Scratch { folder, _lock } = abandoned;
        let path = folder.keep();
        drop(_lock);
        std::fs::create_dir(parent.path().join("users")).unwrap();
        let half = parent.path().join(format!("{PREFIX}1a2B3c"));
        std::fs::write(&half, "half").unwrap();
        let begun = parent.path().join(format!("{PREFIX}4d5E6f"));
        std::fs::create_dir(&begun).unwrap();
        let users = [".foresee-known", ".foresee-temporary-notes", ".foresee-temporary-a.b.cd"];
        let users = users.map(|name| parent.path().join(name));
        users.iter().for_each(|file| std::fs::write(file, "theirs").unwrap());
        remove_abandoned(parent.path(), YOUNG);
        assert!(!path.exists() && !half.exists());
        assert!(begun.exists(), "its owner may be about to lock it");
        remove_abandoned(parent.path(), Duration::ZERO);
        assert!(!begun.exists());
        assert!(users.iter().all(|file| file.exists()));
        assert_eq!(owned.path().metadata().unwrap().permissions().mode() & 0o777, 0o700);
        assert!(owned.path().exists() && parent.path().join("users").exists());
    }
}
