//! The fuzz targets for settings and suppressions on stable: over the corpora, and over many random changes of them.

#![allow(clippy::unwrap_used)]

#[path = "../../../fuzz/on_stable.rs"]
mod on_stable;
#[path = "../../../fuzz/settings_target.rs"]
mod settings_target;

#[test]
fn settings_of_anybody() {
    on_stable::run(settings_target::settings, "settings", 20_000);
}

#[test]
fn suppressions_of_anybody() {
    on_stable::run(settings_target::suppressions, "suppressions", 10_000);
}
