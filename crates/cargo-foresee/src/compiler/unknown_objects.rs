//! Objects and archives that a program is linked with and that nobody has instrumented: what they do is not recorded, and they may order
//! threads. The runtime has to know before it records (`recorder::session` there).

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use object::read::archive::ArchiveFile;
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, SectionKind};

/// How the functions begin that instrumented code calls, at least one in each file.
const INSTRUMENTED: &str = "__tsan_";

/// Whether one of these files is such an object, or has one in it. What cannot be read is none: the linker will say so.
pub(crate) fn are_among<'a>(files: impl Iterator<Item = &'a OsString>) -> bool {
    files.map(Path::new).any(|path| match path.extension().and_then(|ending| ending.to_str()) {
        Some("o") => fs::read(path).is_ok_and(|bytes| is_unknown(&bytes)),
        Some("a") => fs::read(path).is_ok_and(|bytes| has_unknown(&bytes)),
        _ => false,
    })
}

fn has_unknown(archive: &[u8]) -> bool {
    let Ok(archive_file) = ArchiveFile::parse(archive) else { return false };
    let members = archive_file.members().filter_map(|member| member.ok()?.data(archive).ok());
    members.into_iter().any(is_unknown)
}

/// Whether an object has code, and none of it is instrumented.
fn is_unknown(object: &[u8]) -> bool {
    let Ok(file) = object::File::parse(object) else { return false };
    let has_code = file.sections().any(|section| section.kind() == SectionKind::Text && section.size() > 0);
    let is_instrumented = |name: &str| name.starts_with(INSTRUMENTED);
    has_code && !file.symbols().any(|symbol| symbol.name().is_ok_and(is_instrumented))
}
