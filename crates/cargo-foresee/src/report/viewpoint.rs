//! From where a reader looks: files in the folder they work in are called by their path from there.
//!
//! Traces have absolute paths, as line tables do; these are for machines. A file elsewhere keeps its whole path. From which files
//! lines are quoted belongs to it, too.

use std::path::Path;

use super::model::Location;
use super::source_roots::SourceRoots;

/// A folder to look from.
#[derive(Debug, Default)]
pub(crate) struct Viewpoint {
    /// With a slash at its end; empty if paths stay as they are.
    folder: String,
    /// Where lines are quoted from.
    sources: SourceRoots,
}

impl Viewpoint {
    /// Looks from this folder.
    pub(crate) fn new(folder: &Path) -> Viewpoint {
        let name = folder.to_string_lossy();
        let sources = SourceRoots::Below(vec![folder.to_owned()]);
        Viewpoint { folder: format!("{}/", name.trim_end_matches('/')), sources }
    }

    /// The same, and quotes from these folders.
    pub(crate) fn quoting(self, sources: SourceRoots) -> Viewpoint {
        Viewpoint { sources, ..self }
    }

    /// Where lines are quoted from.
    pub(crate) fn sources(&self) -> &SourceRoots {
        &self.sources
    }

    /// What to call a file, or a text that begins with one.
    pub(crate) fn file<'a>(&self, file: &'a str) -> &'a str {
        file.strip_prefix(self.folder.as_str()).filter(|rest| !rest.is_empty()).unwrap_or(file)
    }

    /// A location as `file:line:column in function`.
    pub(crate) fn text(&self, location: &Location) -> String {
        self.file(&location.to_string()).to_owned()
    }

    /// A location as `file:line:column`, without the function if there is more to say.
    pub(crate) fn place(&self, location: &Location) -> String {
        match (&location.file, location.line, &location.function) {
            (Some(_), ..) => self.text(&Location { function: None, ..location.clone() }),
            (None, Some(line), _) => format!("line {line}"),
            (None, None, Some(function)) => format!("function {function}"),
            (None, None, None) => "an unknown place".to_owned(),
        }
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

    #[test]
    fn places_say_what_is_known() {
        let here = Viewpoint::new(Path::new("/home/ann"));
        let mut location = Location {
            file: Some("/home/ann/a.rs".to_owned()),
            line: Some(3),
            column: Some(5),
            function: None,
        };
        assert_eq!(here.place(&location), "a.rs:3:5");
        location.function = Some("f".to_owned());
        assert_eq!(
            (here.text(&location), here.place(&location)),
            ("a.rs:3:5 in f".into(), "a.rs:3:5".into())
        );
        location.file = None;
        assert_eq!(here.place(&location), "line 3");
        location.line = None;
        assert_eq!(here.place(&location), "function f");
        assert_eq!(here.place(&Location::default()), "an unknown place");
    }
}
