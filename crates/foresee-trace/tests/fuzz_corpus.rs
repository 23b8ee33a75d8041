//! The fuzz targets on stable: over the corpus, and over many random changes of it.

#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../../../fuzz/on_stable.rs"]
mod on_stable;
#[path = "../../../fuzz/targets.rs"]
mod targets;

use on_stable::run;

#[test]
fn trace_files() {
    run(targets::trace_file, "trace_file", 3_000);
}

#[test]
fn text_traces() {
    run(targets::text, "text", 20_000);
}

#[test]
fn raw_traces() {
    run(targets::raw_trace, "raw_trace", 6_000);
}
