//! From where a reader looks: files in the folder they work in are called by their path from there.
//!
//! Traces have absolute paths, as line tables do; these are for machines. A file elsewhere keeps its whole path.

use std::path::Path;

use foresee_trace::{LocId, Names, StrId};

/// A folder to look from.
#[derive(Debug, Default)]
pub(crate) struct Viewpoint {
    /// With a slash at its end; empty if paths stay as they are.
    folder: String,
}

impl Viewpoint {
    /// Looks from this folder.
    pub(crate) fn new(folder: &Path) -> Viewpoint {
        let folder = folder.to_string_lossy();
        Viewpoint { folder: format!("{}/", folder.trim_end_matches('/')) }
    }

    /// What to call a file.
    pub(crate) fn file<'a>(&self, file: &'a str) -> &'a str {
        file.strip_prefix(self.folder.as_str()).filter(|rest| !rest.is_empty()).unwrap_or(file)
    }

    /// A location as `file:line:column in function`.
    pub(crate) fn location(&self, names: &Names, loc: LocId) -> String {
        let text = names.location_text(loc);
        let file = names.location_at(loc).file;
        if file == StrId::EMPTY { text } else { self.file(&text).to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_in_the_folder_are_called_from_there() {
        let here = Viewpoint::new(Path::new("/home/ann/bank"));
        assert_eq!(here.file("/home/ann/bank/src/main.rs"), "src/main.rs");
        for elsewhere in ["/home/ann/bankrupt.rs", "/home/ann/bank/", "/home/ann/x.rs", "src/main.rs", ""] {
            assert_eq!(here.file(elsewhere), elsewhere);
        }
        assert_eq!(Viewpoint::new(Path::new("/")).file("/x.rs"), "x.rs");
        assert_eq!(Viewpoint::default().file("/x.rs"), "/x.rs");
    }
}
