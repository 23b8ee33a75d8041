//! Temporal properties of the runs that did not happen: the computation lattice.

mod breadth;
pub mod causality;
pub mod cut;
pub mod explorer;
pub mod hb;
mod level;
pub mod machine;
pub mod model;
mod pass;
pub mod predict;
pub mod runs;
pub mod schedule;
mod sharing;
pub mod slice;
pub mod sliced;
mod slices;
mod trail;
mod walk;
pub mod weak;
