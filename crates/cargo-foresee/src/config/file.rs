//! Which file of settings counts, and what it may name.
//!
//! A file of settings decides what is looked for and what the exit code says, so it is taken only from whom the user trusts anyway: it
//! belongs to the user or to root, others cannot write it, and it lies in the workspace that the user is in. That ends at the nearest folder
//! above with a version control's own (`.git`); without one, at the outermost folder above with a `Cargo.toml`; without that it is the
//! folder itself.
//!
//! A workspace may still be somebody else's work, downloaded a minute ago. So what the file names stays inside: it has no file outside
//! read, whose lines an error message would show, none overwritten, and no hidden one, which are not this tool's business
//! (`.git/config`, `.bashrc`). Flags and the variable may name anything.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Once;

use crate::error::{self, Severity};
use crate::report::source_roots::is_hidden;

const NAME: &str = ".config/foresee.toml";

/// Why a path in a file of settings is not taken.
#[derive(Debug, thiserror::Error)]
pub(super) enum PathError {
    #[error("`{0}`: no such folder in the workspace")]
    NoFolder(String),
    #[error("`{path}` is outside of the workspace {}: name it by a flag or by {}", .workspace.display(), super::VARIABLE)]
    Outside { path: String, workspace: PathBuf },
    #[error("`{0}` is hidden: name it by a flag or by {var}", var = super::VARIABLE)]
    Hidden(String),
}

/// A file of settings, and the workspace that it is of.
pub(super) struct SettingsFile {
    pub(super) path: PathBuf,
    workspace: PathBuf,
}

impl SettingsFile {
    /// The nearest one of the workspace that `here` is in, if it can be trusted.
    pub(super) fn find(here: &Path) -> Option<SettingsFile> {
        let workspace = workspace(here);
        let within = here.ancestors().take_while(|folder| folder.starts_with(workspace));
        let path = within.map(|folder| folder.join(NAME)).find(|path| path.is_file())?;
        if let Some(why) = distrust(&path) {
            static SAID: Once = Once::new();
            SAID.call_once(|| {
                error::print(Severity::Warning, &format!("{}: not used: {why}", path.display()));
            });
            return None;
        }
        Some(SettingsFile { path, workspace: workspace.to_owned() })
    }

    /// The one of a workspace, wherever it comes from.
    pub(super) fn of(workspace: &Path) -> SettingsFile {
        SettingsFile { path: workspace.join(NAME), workspace: workspace.to_owned() }
    }

    /// The folder that paths in the file are relative to.
    fn base(&self) -> &Path {
        self.path.parent().and_then(Path::parent).unwrap_or(Path::new("."))
    }

    /// A path that the file names.
    pub(super) fn named(&self, path: &str) -> Result<PathBuf, PathError> {
        let named = self.base().join(path);
        // What is not there yet is where its folder is.
        let real = named.canonicalize().ok().or_else(|| {
            let folder = named.parent()?.canonicalize().ok()?;
            Some(folder.join(named.file_name()?))
        });
        let workspace = self.workspace.canonicalize().unwrap_or_else(|_| self.workspace.clone());
        let Some(real) = real else {
            // Reading or writing it says what is wrong.
            return if Path::new(path).is_relative() && !path.contains("..") {
                Ok(named)
            } else {
                Err(PathError::NoFolder(path.to_owned()))
            };
        };
        let Ok(inside) = real.strip_prefix(&workspace) else {
            return Err(PathError::Outside { path: path.to_owned(), workspace });
        };
        if inside.iter().any(|part| is_hidden(part) && part != ".config") {
            return Err(PathError::Hidden(path.to_owned()));
        }
        Ok(named)
    }
}

fn workspace(here: &Path) -> &Path {
    let versions =
        |folder: &&Path| [".git", ".hg", ".jj", ".svn"].iter().any(|own| folder.join(own).exists());
    let outermost = || here.ancestors().filter(|folder| folder.join("Cargo.toml").is_file()).last();
    here.ancestors().find(versions).or_else(outermost).unwrap_or(here)
}

/// Why a file of settings is not used.
fn distrust(path: &Path) -> Option<&'static str> {
    let Ok(known) = path.metadata() else { return Some("it cannot be looked at") };
    let us = rustix::process::geteuid().as_raw();
    if known.uid() != us && known.uid() != 0 {
        return Some("it belongs to another user");
    }
    (known.mode() & 0o002 != 0).then_some("everybody may write it")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn the_file_is_of_the_workspace_and_of_the_user() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let inner = top.join("work/sub/inner");
        for place in [inner.as_path(), &top.join(".config"), &top.join("work/.config")] {
            fs::create_dir_all(place).unwrap();
        }
        fs::write(top.join(NAME), "").unwrap();
        let found = |here: &Path| SettingsFile::find(here).map(|file| file.path);
        assert_eq!(found(&inner), None, "nothing says that the folders above belong to it");
        fs::write(top.join("work/sub/Cargo.toml"), "").unwrap();
        fs::write(top.join("work/Cargo.toml"), "").unwrap();
        assert_eq!(found(&inner), None, "above the workspace");
        fs::write(top.join("work").join(NAME), "").unwrap();
        assert_eq!(found(&inner), Some(top.join("work").join(NAME)));
        fs::create_dir(top.join("work/sub/.git")).unwrap();
        assert_eq!(found(&inner), None, "a workspace of its own");
        assert_eq!(found(&top), Some(top.join(NAME)));
        fs::set_permissions(top.join(NAME), fs::Permissions::from_mode(0o666)).unwrap();
        assert_eq!(found(&top), None, "written by anybody");
    }

    #[test]
    fn what_the_file_names_stays_inside() {
        let folder = tempfile::tempdir().unwrap();
        let work = folder.path().join("work");
        for place in [".config", ".git", "out"] {
            fs::create_dir_all(work.join(place)).unwrap();
        }
        fs::write(folder.path().join("secret"), "").unwrap();
        fs::write(work.join(NAME), "").unwrap();
        std::os::unix::fs::symlink(folder.path().join("secret"), work.join("link")).unwrap();
        std::os::unix::fs::symlink(folder.path(), work.join("up")).unwrap();
        let file = SettingsFile::find(&work).unwrap();
        for inside in
            ["result.json", "out/result.json", "out/../result.json", ".config/known.txt", "new/a.json"]
        {
            assert_eq!(file.named(inside).unwrap(), work.join(inside));
        }
        for outside in
            ["../secret", "link", "up/secret", "up/new", "/etc/passwd", "new/../../secret", "/new/x"]
        {
            assert!(file.named(outside).is_err(), "{outside}");
        }
        for hidden in [".git/config", ".bashrc", "out/.env"] {
            assert!(matches!(file.named(hidden), Err(PathError::Hidden(_))), "{hidden}");
        }
    }
}
