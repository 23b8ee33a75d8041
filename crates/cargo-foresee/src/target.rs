//! The one target that programs can be recorded on.

/// As rustc calls it.
pub(crate) const TARGET: &str = "x86_64-unknown-linux-gnu";
