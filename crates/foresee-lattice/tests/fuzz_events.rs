//! The fuzz target for event streams on stable: over the corpus, and over many random changes of it.

#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../../../fuzz/on_stable.rs"]
mod on_stable;
#[path = "../../../fuzz/property_target.rs"]
mod property_target;

#[test]
fn streams_of_events() {
    on_stable::run(property_target::events, "events", 20_000);
}
