//! Building correct reorderings: can the program be brought to the point where these threads do these events next?
//!
//! **Idea.** A question names *targets*, one event of each of some threads: the two accesses of a race, the blocked
//! acquires of a deadlock. All that has to be done before is known (thread order, forks, joins, the writes that reads
//! read): the *needed set*. What is open is the order, and whether further critical sections have to be finished. The
//! rules force most of it, transitively: this is *saturation* (Pavlogiannis, "Fast, sound, and effectively complete
//! dynamic race prediction", 2020). What saturation leaves open is tried: the events are put in line, the observed order
//! first; where the line breaks a rule, two sections or a write and a read are in each other's way, one of two orders must
//! hold, and the search branches there (`search`). Committing to the first order that does not contradict is
//! polynomial (engine `reverse`); coming back to the other one is complete (engine `max`).
//!
//! **Window.** Everything before the cut is done in the observed order, which is correct by itself. So a question only
//! costs what lies between the cut and the targets *and* is needed, however far apart the targets are.
//!
//! **Soundness** rests on none of this: the witness checker judges every schedule.
//!
//! **Values.** Where reads may read another write of the same value, rules between a read and such writes are left out, and
//! a read whose write is out of reach takes the latest such write instead. That is sound, but not complete.
//!
//! **Branches.** Where control flow is known, only some reads *count*: those before a branch of their thread that is in the
//! schedule, and, as writes that are read by reads that count must have their values, those before such a write in its
//! thread. Which ones depends on the schedule and grows with it; saturation keeps track. Explicit dependences are not used.
//!
//! **Completeness** (for reads of the same write) within the window. Take any correct reordering that starts with the events before the cut and leads to
//! the targets. Leave out of it everything but the needed set; wherever a section that is then left open stands in the
//! way of a later one, put back its release and what that needs. Reads that count keep their writes, locks their exclusion. So
//! it is enough to look at needed sets closed under "finish this section", which is how the search extends them. If
//! every two conflicting sections are ordered, and every read and other write of its cell, then every line that keeps
//! the order keeps the rules.
//!
//! | module | holds |
//! |---|---|
//! | `question` | what is asked, and what the answer can be |
//! | `facts` | the observed run as links between events |
//! | `needs` | the needed set of an event |
//! | `window` | the events a question is about, and its rules, numbered compactly |
//! | `build` | how a window is made |
//! | `order` | a partial order of these events that is kept transitive, one clock per event |
//! | `saturate` | what the rules force |
//! | `line` | a line of events, and where it breaks a rule |
//! | `search` | the search |

mod build;
mod facts;
mod line;
mod needs;
mod order;
mod question;
mod saturate;
mod search;
mod window;

pub use facts::{Facts, Observed};
pub use question::{Answer, Question};
pub use search::Search;

/// Answers a question about the observed run.
pub fn answer(observed: Observed<'_>, question: &Question<'_>, search: Search) -> Answer {
    match build::window(observed, question) {
        Ok(window) => search::search(&window, search),
        Err(needs::Stop::Impossible) => Answer::Impossible,
        Err(needs::Stop::TooLarge) => Answer::Unknown,
    }
}
