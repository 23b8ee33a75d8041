//! For people: the finding, the source lines, the calls, the locks, and the witness as a story.
//!
//! | file | what is there |
//! |---|---|
//! | `report` | whole reports, one finding, the summary |
//! | `access` | one event: where, who, what, holding which locks |
//! | `calls` | the calls that led to it, those of libraries folded |
//! | `source`, `expression` | the source line to quote, and what in it is meant |
//! | `explanation`, `run` | why the observed run did not show it and how another one can |
//! | `refinement` | what does not fit its specification |
//! | `live` | what `monitor` and `observe` print while they work |

mod access;
mod calls;
mod explanation;
mod expression;
mod live;
mod refinement;
mod report;
mod run;
mod source;
mod style;

pub(crate) use live::{observed, session, short, verdict};
pub(crate) use report::{one, write};
