//! Temporal properties of the runs that did not happen: the computation lattice.
//!
//! A run of a multithreaded program is one way through a partial order, its *causality*. All ways through it are runs the program
//! can do; the sets of events that they pass are the *cuts*, and the cuts are a lattice. A property's machine runs along all
//! ways at once, level by level (JMPaX: Sen, Roşu, Agha, 2003 to 2005).
//!
//! | file | what is there |
//! |---|---|
//! | [`model`] | what a causality model is; [`hb`], [`weak`] and [`sliced`] are the models, each with its relation and why it is sound |
//! | [`slice`](mod@slice) | which accesses a property depends on |
//! | `pass`, `sharing` | one pass with vector clocks, which the models have in common |
//! | [`causality`] | what a model says: steps, what they need, the turns they take |
//! | [`explorer`] | the way through the lattice; below it `walk` (a level and the next), `level` (the merge), [`cut`] (cuts as numbers), `breadth` |
//! | [`words`] | how many runs there are |
//! | `trail`, [`schedule`] | from a violation back to its run: steps, then all events |
//! | [`machine`] | what runs along the ways |
//! | `binding`, `slices`, `scene`, [`predict`] | properties with parameters, and the engine |
//! | [`end`] | what is said of the end of a run |
//! | [`property`] | what properties say of the observed run (streaming); traces in properties' terms |
//! | [`online`] | the same for programs that still run |
//!
//! What is predicted has a witness like everything else: a schedule that the checker replays, and at the end of which the property
//! says what it is claimed to say.

mod binding;
mod breadth;
pub mod causality;
pub mod cut;
mod dependence;
pub mod end;
pub mod explorer;
pub mod hb;
mod level;
pub mod machine;
pub mod model;
pub mod online;
mod pass;
pub mod predict;
pub mod property;
mod scene;
pub mod schedule;
mod sharing;
pub mod slice;
pub mod sliced;
mod slices;
mod trail;
mod walk;
pub mod weak;
pub mod words;
