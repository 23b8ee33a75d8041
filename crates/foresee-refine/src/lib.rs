//! Does a concurrent structure behave like its specification?
//!
//! Two ways to ask, after Elmas, Tasiran and Qadeer (VYRD, PLDI 2005) and Herlihy and Wing (1990):
//!
//! - **Refinement** ([`refine`]): the program says where each operation takes effect, by *commit actions*. Their order is the one order in
//!   which the specification is run; what operations gave back must be what it allows (I/O refinement), and after each commit the contents of
//!   the structure must be those of the specification (view refinement). One pass, no search.
//! - **Linearizability** ([`linear`]): nothing is known but calls and returns. Is there an order of the operations that explains
//!   them all, each between its call and its return? A search, or a faster procedure where one is known.
//!
//! A refinement violation whose history is linearizable says that the commit actions are wrong or too strict, not that the structure is.
//!
//! | module | what is there |
//! |---|---|
//! | [`value`] | what operations take and give back |
//! | [`spec`], [`atomized`] | what a specification is; an implementation as its own specification |
//! | [`models`] | the specifications that come along |
//! | [`history`] | calls and returns |
//! | [`linear`] | linearizability and sequential consistency |
//! | [`log`], [`refine`] | logs with commit actions and writes, and whether they refine |
//! | [`structures`] | what the writes of known structures mean: from variables to views |
//! | [`read`], [`mod@write`] | files: JSON, EDN and logs of Jepsen; logs of programs as JSON lines |
//! | [`recorded_words`] | how operations are said in a trace |
//! | `recorded` | operations in traces of foresee, observed and predicted (feature `trace`) |
//! | [`mod@shortened`] | what is shown of long values |
//! | [`named`] | models and structures by name, for whoever has a file |

pub mod atomized;
mod disjoint;
pub mod history;
pub mod linear;
pub mod log;
pub mod models;
pub mod named;
pub mod read;
#[cfg(feature = "trace")]
pub mod recorded;
pub mod recorded_words;
pub mod refine;
pub mod shortened;
pub mod spec;
pub mod structures;
pub mod value;
pub mod write;

pub use history::{History, HistoryError, Operation};
pub use smol_str::{self, SmolStr};
pub use value::Value;
