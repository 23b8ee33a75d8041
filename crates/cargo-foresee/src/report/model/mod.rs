//! The report as plain data: what every format shows, and what processes hand to each other.
//!
//! Names are resolved: there are no ids of a trace in it, and nothing of the engines. [`build`](super::build) makes it from
//! findings, formats only read it. As JSON it is the document that `--format json` prints; `schema/report.schema.json`
//! describes it field by field. A field that does not apply is `null`, never missing.

mod event;
mod finding;
mod named;
mod refinement;
mod report;
mod run;
mod stats;
mod story;
mod witness;

pub(crate) use event::{Creation, Event, HeldLock, Location, LockMode, Memory, Moment};
pub(crate) use finding::{Certainty, Finding, Kind, Known};
pub(crate) use named::Named;
pub(crate) use refinement::{
    CaseVerdict, Lack, PartDifference, PlacedOperation, Refinement, RefinementVerdict,
};
pub(crate) use report::Report;
pub(crate) use run::{Run, Step};
pub(crate) use stats::{
    BlindCode, BlindStats, EngineStats, KnownStats, SessionStats, Stats, Suppressed, Unmatched, ValueStats,
};
pub(crate) use story::{Change, Passed, Row, Separation, Story, StoryStep};
pub(crate) use witness::{Positions, Witness};
