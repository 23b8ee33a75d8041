//! The lattice of a program that still runs.
//!
//! Beside the program, [`Clocks`] turn its events, in one pass, into messages (event, thread, clock) for each event that a property looks at:
//! the multithreaded vector clocks of [`hb`](super::hb). The messages may arrive in any order. The
//! observer puts them in order again (they are numbered), makes steps of them, and explores as far as they allow.
//!
//! | file | what is there |
//! |---|---|
//! | `message` | the protocol: one JSON object per line |
//! | `byte_map` | a value for each byte of memory |
//! | `handles` | values that calls return, which events carry |
//! | `clocks`, `speaker` | the program's side: from events to clocks, and to messages |
//! | `session`, `observation` | the observer's side: a program; a program and a property |
//! | `intake` | messages in order again, and what in them cannot be true |
//! | `limits` | how much a program may ask of the observer |
//! | `explorations`, `exploration` | the bindings of a property's parameters; one of them, and its exploration |
//! | `stage`, `recent_steps` | a property's machines, over messages; the last steps that led to a state |
//! | `witness` | accepts or refuses the runs that are reported |
//! | `finding` | what is found: a run, in the property's words |
//!
//! **What is promised.** The runs are those of `hb`: correct reorderings, if the messages are true. Each that is reported was accepted by
//! `witness`, which knows the messages and nothing of the lattice; what it refuses is counted. A schedule of all events there
//! is not, as nobody keeps them: who wants one records the program.
//!
//! **When to go on.** A level is left when no message that is still to come could add to it: of each thread the next step is known, or
//! it is known to need more than the cuts have, or the thread has ended. A thread that just says nothing holds up the others. When
//! nothing comes for a while, the observer [looks ahead](Observation::look_ahead): it explores as if that were all, reports what it finds,
//! and goes back to where it was. Only when too many steps wait does it go on without the silent thread. Then runs are left
//! out, none is made up, and the summary says so.
//!
//! **Memory.** Of each program there is a [limit](Limits). Steps that all cuts have behind them are forgotten; levels that would grow too
//! wide are cut; bindings that nothing has happened to for long are left alone. The summary states what is left out. A
//! program whose messages alone are too much is dropped. The limit may change while it runs, and so may the time that is given to
//! each look: what is left to explore then is [left for the next one](Session::is_paused).

mod byte_map;
mod clocks;
mod exploration;
mod explorations;
mod finding;
mod handles;
mod intake;
mod limits;
mod message;
mod observation;
mod recent_steps;
mod records;
mod session;
mod speaker;
mod stage;
mod witness;

pub use clocks::{Clocks, Idle, Stamp};
pub use finding::{OnlineFinding, RunStep};
pub use intake::Lie;
pub use limits::Limits;
pub use message::{
    Act, Ended, Hello, LONGEST_LINE, Message, MissingVariable, NotAMessage, Relevant, Reply, Silent, VERSION,
    Variables, parse,
};
pub use observation::Observation;
pub use session::{Session, stages};
pub use speaker::Speaker;
pub use stage::{Refused, Stage};
pub use witness::Witness;
