//! Concurrent structures of well-known crates, held against their specifications by one harness.
//!
//! Nobody wrote commit actions into these crates, so what is checked is linearizability of the calls and returns ([`Harness::linearize`]). A structure
//! says which operations it *claims* to be atomic: those that its documentation calls so, or that touch one key under one lock. What it offers beyond
//! (replacing in two steps, sums over many locks) is listed apart: `cargo run -- NAME` shows a history that no order explains, if it finds one. What was
//! found is in `findings/`, reduced.
//!
//! | file | what is there |
//! |---|---|
//! | `maps` | maps and sets: [`Dictionary`] is their specification |
//! | `queues` | queues and channels: [`Channel`] is theirs |
//! | `subject` | what a structure is to the harness |

pub mod maps;
pub mod queues;
mod subject;

pub use subject::{SUBJECTS, Subject, Which};

#[allow(unused_imports, reason = "for the documentation")]
use foresee::refine::{
    Harness,
    models::{Channel, Dictionary},
};
