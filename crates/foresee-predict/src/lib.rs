//! Prediction: from one execution, what could go wrong in the runs that did not happen.
//!
//! | module | holds |
//! |---|---|
//! | [`witness`] | the witness checker: the judge of every prediction, which knows nothing of the engines |
//! | [`finding`] | what there is to tell the user |
//! | [`engine`] | what an engine is |
//!
//! Engines search; they may be as clever as they like. What an engine predicts it must show with a schedule, and
//! [`witness::Checker`] replays that schedule by the rules of the soundness contract.

pub mod engine;
pub mod finding;
pub mod witness;
