//! Prediction: from one execution, what could go wrong in the runs that did not happen.
//!
//! | module | holds |
//! |---|---|
//! | [`witness`] | the witness checker: the judge of every prediction, which knows nothing of the engines |
//! | [`finding`] | what there is to tell the user |
//! | [`engine`], [`registry`] | what an engine is, and all of them |
//! | [`analysis`] | runs engines over one trace |
//! | [`survey`] | what there is to ask: spares engines that could find nothing |
//!
//! The engines:
//!
//! | module | holds |
//! |---|---|
//! | [`hb`] | races of this very run, by happens-before; streaming |
//! | [`syncp`] | races of runs that keep the order of critical sections |
//! | [`deadlock`] | deadlocks: observed, and of runs that keep the order of critical sections |
//! | [`atomicity`] | atomic blocks that do not behave like one step: observed (streaming) and predicted |
//! | [`reverse`] | races and deadlocks of runs that may reverse critical sections; polynomial |
//! | [`max`] | every race that a correct reordering can show, within a window |
//! | [`lockset`] | pairs that share no lock: candidates |
//! | [`property`] | what properties say of the run: observed (streaming); traces in properties' terms |
//!
//! What engines share:
//!
//! | module | holds |
//! |---|---|
//! | [`clock`] | vector clocks |
//! | [`locks`] | who holds what when: locksets and critical sections |
//! | [`order`], [`ideal`] | the must-order, and cuts closed under it that keep critical sections whole |
//! | [`must`], [`candidates`] | clocks of the must-order, and the location pairs it leaves open |
//! | [`reorder`], [`races`] | searching a reordering, and doing so for many candidates at once |
//!
//! Engines search; they may be as clever as they like. What an engine predicts it must show with a schedule, and
//! [`witness::Checker`] replays that schedule by the rules of the soundness contract.

pub mod analysis;
pub mod atomicity;
pub mod candidates;
pub mod clock;
pub mod deadlock;
pub mod engine;
pub mod finding;
pub mod hb;
pub mod ideal;
pub mod lattice;
pub mod locks;
pub mod lockset;
pub mod max;
pub mod must;
pub mod order;
pub mod property;
pub mod races;
pub mod registry;
pub mod reorder;
pub mod reverse;
pub mod survey;
pub mod syncp;
pub mod witness;
