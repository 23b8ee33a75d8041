//! Arguments in files: `@file`, as gcc and clang read them.
//!
//! Arguments are separated by white space; quotes of both kinds keep it, a backslash keeps any character.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

/// Files may name files; this deep and no deeper, as a file may name itself.
const DEPTH: u32 = 16;

/// The arguments with what response files hold in place of their names. A name that cannot be read stays as it is, for
/// the compiler to complain about.
pub(crate) fn expanded(args: &[OsString]) -> Vec<OsString> {
    let mut all = Vec::with_capacity(args.len());
    expand(args, DEPTH, &mut all);
    all
}

fn expand(args: &[OsString], depth: u32, all: &mut Vec<OsString>) {
    for arg in args {
        let held = arg.as_bytes().strip_prefix(b"@").filter(|_| depth > 0);
        let held = held.and_then(|path| std::fs::read(Path::new(std::ffi::OsStr::from_bytes(path))).ok());
        match held {
            Some(bytes) => expand(&split(&bytes), depth - 1, all),
            None => all.push(arg.clone()),
        }
    }
}

fn split(bytes: &[u8]) -> Vec<OsString> {
    let mut args = Vec::new();
    let mut current: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut rest = bytes.iter().copied();
    while let Some(byte) = rest.next() {
        match byte {
            b'\\' => current.get_or_insert_default().extend(rest.next()),
            _ if quote == Some(byte) => quote = None,
            _ if quote.is_some() => current.get_or_insert_default().push(byte),
            b'"' | b'\'' => {
                quote = Some(byte);
                current.get_or_insert_default();
            }
            _ if byte.is_ascii_whitespace() => args.extend(current.take().map(OsString::from_vec)),
            _ => current.get_or_insert_default().push(byte),
        }
    }
    args.extend(current.map(OsString::from_vec));
    args
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_backslashes_keep_white_space() {
        let text = br#" a.o  "b c.o" d\ e.o 'f"g' "" -DX=\"y\"
-lm"#;
        assert_eq!(split(text), ["a.o", "b c.o", "d e.o", "f\"g", "", "-DX=\"y\"", "-lm"]);
    }

    #[test]
    fn a_file_that_names_itself_comes_to_an_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("args");
        let name: OsString = format!("@{}", path.display()).into();
        std::fs::write(&path, format!("-g @{}", path.display())).unwrap();
        let all = expanded(std::slice::from_ref(&name));
        assert_eq!((all.first(), all.last()), (Some(&"-g".into()), Some(&name)));
        assert_eq!(expanded(&["@/no/such".into()]), ["@/no/such"]);
    }
}
