//! What the fuzzers of settings and of suppressions run; the same functions run over the corpora, and over changes of them, in the test suite
//! on stable (`crates/cargo-foresee/tests/fuzz_settings.rs`).

#![allow(dead_code, reason = "a fuzzer has one of the two")]

use std::path::Path;

use cargo_foresee::fuzzing;

/// Any bytes as a file of settings: reading ends, without a panic, and what is wrong is said with the name of the file.
pub(crate) fn settings(bytes: &[u8]) {
    let text = &*String::from_utf8_lossy(bytes);
    let workspace = Path::new("/nowhere");
    if let Err(why) = fuzzing::settings(text, workspace) {
        assert!(why.starts_with("/nowhere/.config/foresee.toml: "), "{why}");
    }
    assert_eq!(fuzzing::settings(text, workspace), fuzzing::settings(text, workspace));
}

/// Any bytes as suppressions: reading ends, and so does matching, in time that does not grow with the number of stars; each line is used or told to be unused.
pub(crate) fn suppressions(bytes: &[u8]) {
    let text = &*String::from_utf8_lossy(bytes);
    let long = "a".repeat(10_000);
    let lines: Vec<&str> = text.lines().chain([&*long, "UnsafeMapIterator"]).collect();
    match fuzzing::suppressions(text, &lines) {
        Ok((suppressed, unused)) => {
            assert!(suppressed <= lines.len() && unused <= lines.len() - 2);
        }
        Err(why) => assert!(
            why.starts_with("suppressions: line ") && why.contains("expected `kind:pattern`"),
            "{why}"
        ),
    }
}
