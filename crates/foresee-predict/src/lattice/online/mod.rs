//! The lattice of a program that still runs.
//!
//! Beside the program, [`Clocks`] turn its events, in one pass, into messages (event, thread, clock) for each event that a property looks at:
//! the multithreaded vector clocks of [`hb`](super::hb). The messages may take any way, and arrive in any order. The
//! observer puts them in order again (they are numbered), makes steps of them, and explores as far as they allow.
//!
//! | file | what is there |
//! |---|---|
//! | `message` | the protocol: one JSON object per line |
//! | `clocks`, `speaker` | the program's side: from events to clocks, and to messages |
//! | `stage` | a property's machine, over messages; the way that led to a state |
//! | `found` | what is found: a run, in the property's words |
//! | `observation` | the observer's side: a property and a program |
//! | `session` | all properties and a program |
//!
//! **What is promised.** The runs are those of `hb`: correct reorderings, if the messages tell the truth. There is no schedule of all
//! events to check, as nobody keeps them: who wants one records the program.
//!
//! **When to go on.** A level is left when no message that is still to come could add to it: of each thread the next step is known, or
//! it is known to need more than the cuts have, or the thread has ended. A thread that just says nothing holds up the others. When
//! nothing comes for a while, the observer [looks ahead](Observation::look_ahead): it explores as if that were all, tells what it finds,
//! and goes back to where it was. Only when too many steps wait does it go on without the silent thread. Then runs are left
//! out, none is made up, and the summary says so.
//!
//! **Memory.** Everything has a [limit](Limits): messages that wait for others, threads, entries of a level, the part of the way that is
//! kept. Steps that all cuts have behind them are forgotten.

mod clocks;
mod found;
mod message;
mod observation;
mod session;
mod speaker;
mod stage;

pub use clocks::{Clocks, Idle, Stamp};
pub use found::{Found, Step};
pub use message::{
    Act, Ended, Hello, LONGEST_LINE, Message, NotAMessage, Relevant, Reply, Silent, VERSION, parse,
};
pub use observation::{Lie, Limits, Observation};
pub use session::{Session, stages};
pub use speaker::Speaker;
pub use stage::{Refused, Stage};
