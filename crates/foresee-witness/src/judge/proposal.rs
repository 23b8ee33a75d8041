//! What an engine proposes.

use super::place::Place;
use super::statement::{PredictedRun, Statement};
use crate::checker::{Claim, Reads, Schedule};

/// Something that an engine claims of a run that did not happen.
pub struct Proposal<'c> {
    /// The engine.
    pub engine: &'static str,
    /// What the schedule shows.
    pub claim: Claim<'c>,
    /// The run.
    pub schedule: Schedule,
    /// Which rule about reads the schedule keeps.
    pub reads: Reads,
    /// Where it is: see [`Finding::places`](super::Finding::places).
    pub places: Vec<Place>,
    /// How many dynamic instances there are.
    pub instances: u64,
    /// For properties: what is said, and of which run.
    pub statement: Option<(Statement, PredictedRun)>,
}
