//! The fuzz target for the observer's protocol on stable: over the corpus, and over many random changes of it.

#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../../../fuzz/observer_target.rs"]
mod observer_target;
#[path = "../../../fuzz/on_stable.rs"]
mod on_stable;

#[test]
fn messages_of_anybody() {
    on_stable::run(observer_target::messages, "messages", 20_000);
}
