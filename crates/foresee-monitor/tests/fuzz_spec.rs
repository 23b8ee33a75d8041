//! The fuzz target for the spec compiler on stable: over the corpus, and over many random changes of it.

#![allow(clippy::unwrap_used)]

#[path = "../../../fuzz/on_stable.rs"]
mod on_stable;
#[path = "../../../fuzz/spec_target.rs"]
mod spec_target;

#[test]
fn specs_of_anybody() {
    on_stable::run(spec_target::spec, "spec", 20_000);
}
