//! Prediction: engines that find, from one execution, what could go wrong in the runs that did not happen.
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
//!
//! What engines share:
//!
//! | module | holds |
//! |---|---|
//! | [`survey`] | what there is to find: spares engines that could find nothing |
//! | [`cells`] | which memory can race at all |
//! | [`clock`] | vector clocks |
//! | [`locks`] | who holds what when: locksets and critical sections |
//! | [`order`], [`ideal`] | the must-order, and cuts closed under it that keep critical sections whole |
//! | [`must`], [`candidates`] | clocks of the must-order, and the location pairs it leaves open |
//! | [`reorder`], [`races`] | searching a reordering, and doing so for many candidates at once |
//!
//! Engines search; they may be as clever as they like. What an engine predicts it proposes to the judge of `foresee-witness`,
//! which replays the schedule by the rules of the soundness contract.

pub mod atomicity;
pub mod candidates;
pub mod cells;
pub mod clock;
pub mod deadlock;
pub mod hb;
pub mod ideal;
pub mod locks;
pub mod lockset;
pub mod max;
pub mod must;
pub mod order;
pub mod races;
pub mod reorder;
pub mod reverse;
pub mod survey;
pub mod syncp;
mod values;
