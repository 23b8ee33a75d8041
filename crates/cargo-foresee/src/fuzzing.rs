//! What the fuzz targets of settings and suppressions run: readers of texts that may be anybody's, and are private otherwise.

use std::path::Path;

use crate::config;
use crate::report::model::Finding;
use crate::suppress::Suppressions;

/// Reads a text as the settings of a workspace; what is wrong with it.
pub fn settings(text: &str, workspace: &Path) -> Result<(), String> {
    config::read_as_file(text, workspace).map_err(|why| why.to_string())
}

/// Reads a text as suppressions, and holds violations of properties with these names against them; how many are suppressed, and how
/// many lines suppress none, or what is wrong with the text.
pub fn suppressions(text: &str, names: &[&str]) -> Result<(usize, usize), String> {
    let mut suppressions = Suppressions::new(false);
    suppressions.add("suppressions", text).map_err(|why| why.to_string())?;
    let finding = |name: &str| Finding::of_property("fuzz", name, "match", String::new(), None);
    let suppressed = names.iter().filter(|name| suppressions.suppresses(&finding(name)).is_some()).count();
    Ok((suppressed, suppressions.unused().count()))
}
