//! The fuzz target for histories and logs, on stable.

#![allow(clippy::unwrap_used)]

#[path = "../../../fuzz/on_stable.rs"]
mod on_stable;
#[path = "../../../fuzz/refine_target.rs"]
mod refine_target;

#[test]
fn histories() {
    on_stable::run(refine_target::histories, "histories", 20_000);
}
