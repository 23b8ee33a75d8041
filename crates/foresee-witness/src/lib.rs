//! The judge: what a correct reordering is, what a finding is, and the analysis that runs engines over one trace.
//!
//! | module | holds |
//! |---|---|
//! | [`checker`] | the witness checker: replays a schedule by the rules of the soundness contract |
//! | [`judge`] | proposals, the judge, findings: the only code that can make a finding `predicted` |
//! | [`engine`] | what an engine is, and what it works on |
//! | [`atomic`] | which functions are meant to be atomic |
//! | [`blind`] | how much of a run was blind, which costs predictions |
//! | [`analysis`] | runs engines over one trace, and turns what the trace says of itself into the certainty of findings |
//!
//! Engines live in other crates and search as cleverly as they like. What one predicts, it [proposes](judge::Proposal): a claim
//! and a schedule. The [judge](judge::Judge) replays the schedule; only what it accepts becomes a predicted
//! [finding](judge::Finding), and what it refuses is counted. The compiler holds this: the constructor is private to the judge.
//!
//! This crate rests on `foresee-trace` alone and shares no code with any engine.

pub mod analysis;
mod apart;
pub mod atomic;
pub mod blind;
pub mod checker;
mod consequences;
pub mod engine;
pub mod judge;
