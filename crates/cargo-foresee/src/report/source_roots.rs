//! From where source lines are quoted.
//!
//! A trace names files, and whoever wrote it may name any: `/proc/self/environ:1` would print secrets into the log of a CI job. So lines
//! are quoted only from below the folder that the user is in or one that `--source-root` names, after all links were followed, and from no
//! hidden file or folder there: `.git/config` and `.env` are no source. A program that was run just now is trusted: it could have printed
//! these files itself. What it names is quoted from anywhere, as long as it is a regular file.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::bounded;

/// Files larger than this are not source.
const MAX_BYTES: u64 = 16 << 20;

/// Where files may be that lines are quoted from.
#[derive(Clone, Debug)]
pub(crate) enum SourceRoots {
    Anywhere,
    Below(Vec<PathBuf>),
}

impl Default for SourceRoots {
    fn default() -> Self {
        SourceRoots::Below(Vec::new())
    }
}

impl SourceRoots {
    /// The text of a file that a trace names, if it is source.
    pub(super) fn read(&self, file: &str) -> Option<String> {
        let path = match self {
            SourceRoots::Anywhere => PathBuf::from(file),
            SourceRoots::Below(roots) => roots.iter().find_map(|root| below(root, Path::new(file)))?,
        };
        bounded::read_regular(&path, MAX_BYTES)
    }
}

/// The file, if it is below the root, and not hidden there.
pub(crate) fn below(root: &Path, file: &Path) -> Option<PathBuf> {
    let root = root.canonicalize().ok()?;
    let path = root.join(file).canonicalize().ok()?;
    let inside = path.strip_prefix(&root).ok()?;
    (!inside.iter().any(is_hidden)).then_some(path)
}

pub(crate) fn is_hidden(name: &OsStr) -> bool {
    name.as_bytes().starts_with(b".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_below_a_root_is_quoted() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        std::fs::create_dir_all(at("work/src/.git")).unwrap();
        for file in ["work/src/a.rs", "work/b.rs", "secret", "work/src/.git/config", "work/src/.env"] {
            std::fs::write(at(file), file).unwrap();
        }
        std::os::unix::fs::symlink(at("secret"), at("work/src/link.rs")).unwrap();
        let roots = SourceRoots::Below(vec![at("work/src")]);
        let quoted = |file: &str| roots.read(file);
        assert_eq!(quoted("a.rs").as_deref(), Some("work/src/a.rs"));
        assert_eq!(quoted(&text(&at("work/src/a.rs"))).as_deref(), Some("work/src/a.rs"));
        for other in ["../b.rs", "../../secret", "link.rs", ".git/config", ".env", "/etc/passwd", "src", ""] {
            assert_eq!(quoted(other), None, "{other}");
        }
        assert_eq!(quoted(&text(&at("secret"))), None);
        assert_eq!(SourceRoots::default().read(&text(&at("work/b.rs"))), None);
        assert_eq!(SourceRoots::Anywhere.read(&text(&at("secret"))).as_deref(), Some("secret"));
        assert_eq!(SourceRoots::Anywhere.read("/proc/self/environ"), None);
    }
}
