//! Temporal properties of the runs that did not happen: the computation lattice.
//!
//! A run of a multithreaded program is one way through a partial order, its *causality*. All ways through it are runs the program
//! can do; the sets of events that they pass are the *cuts*, and the cuts are a lattice. A property's machine runs along all
//! ways at once, level by level (JMPaX: Sen, Roşu, Agha, 2003 to 2005).
//!
//! | file | what is there |
//! |---|---|
//! | [`model`] | what a causality model is; [`hb`], [`weak`] and [`sliced`] are the models, each with its relation and why it is sound; [`model_name`] lists them |
//! | [`dependence_slice`] | which accesses a property depends on |
//! | `pass`, `sharing` | one pass with vector clocks, which the models have in common |
//! | [`causality`] | what a model yields: steps, what they need, the turns they take |
//! | [`explorer`] | the way through the lattice; below it `walk` (a level and the next), `level` (the merge), [`cut`] (cuts as numbers), [`options`], `guide` and `breadth` (how far to go) |
//! | [`run_count`] | how many runs there are |
//! | `trail`, [`schedule`] | from a violation back to its run: steps, then all events |
//! | [`machine`] | what runs along the ways |
//! | `binding`, `by_binding` | properties with parameters: values of parameters, and the events of each binding |
//! | `bound_body`, [`predict`] | a property's body and a binding as a machine, and the engine |
//! | `lives` | the order of calls that return what was free |
//! | `variables` | which memory the variables of a property are |
//! | [`end`] | the end of a run, as a step of its own |
//! | [`property`] | what properties say of the observed run (streaming); traces in properties' terms |
//! | [`knowledge`] | what properties say of what threads know of each other, in the observed run (streaming) |
//! | [`online`] | the same for programs that still run |
//!
//! What is predicted has a witness like everything else: a schedule that the checker replays, and at the end of which the property
//! has the claimed verdict.

mod binding;
mod bound_body;
mod breadth;
mod by_binding;
pub mod causality;
pub mod cut;
mod dependence;
pub mod dependence_slice;
pub mod end;
pub mod explorer;
mod guide;
pub mod hb;
pub mod knowledge;
mod level;
mod lives;
pub mod machine;
pub mod model;
pub mod model_name;
pub mod online;
pub mod options;
mod pass;
pub mod predict;
pub mod property;
pub mod run_count;
pub mod schedule;
mod sharing;
pub mod sliced;
mod trail;
mod variables;
mod walk;
pub mod weak;
