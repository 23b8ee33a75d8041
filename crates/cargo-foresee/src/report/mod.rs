//! From findings to what people and machines read.
//!
//! [`build`] makes the [`model`] from what engines found; it is plain data, and all that formats know. Processes hand it to
//! each other, [`results`] puts several together, and [`format`](format) lays them out: [`human`], [`json`], [`sarif`],
//! [`junit`]. What is to be said beside findings is [`caveats`].

pub(crate) mod build;
pub(crate) mod caveats;
pub(crate) mod format;
pub(crate) mod human;
mod json;
mod junit;
pub(crate) mod model;
pub(crate) mod printable;
pub(crate) mod results;
mod sarif;
pub(crate) mod source_roots;
pub(crate) mod viewpoint;
mod wording;
