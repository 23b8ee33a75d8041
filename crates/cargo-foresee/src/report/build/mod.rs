//! From the findings of engines, and the trace they were found in, to the [model](super::model).
//!
//! | file | what is there |
//! |---|---|
//! | `details` | one more pass over the trace, for the events that findings name |
//! | `calls`, `memory` | the calls of threads, and what memory is, as of each event |
//! | `resolve` | ids to names |
//! | `findings` | findings with ids, messages and all that belongs to them |
//! | `message` | a finding in one line |
//! | `refinement` | histories and refinement logs: checks one, and tells what is wrong with it |
//! | `story` | a witness in the few steps that a person needs |

mod calls;
mod details;
mod findings;
mod memory;
mod message;
pub(crate) mod refinement;
mod resolve;
mod story;

pub(crate) use details::{Collected, Collector};
pub(crate) use findings::Builder;
pub(crate) use resolve::{event_of, location_from_text};
