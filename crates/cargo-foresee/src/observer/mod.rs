//! Programs that are observed while they run: the way between `foresee forward` or `foresee run`, beside the program, and `foresee observe`.
//!
//! | file | what is there |
//! |---|---|
//! | `address` | where an observer listens, and connections |
//! | `teller` | the program's side: meets the observer and sends it what happens |
//! | `server` | connections and sessions: who is let in, who is dropped |
//! | `lines`, `pending` | what a connection says; those that have not said who they are |
//! | `session` | one program: from messages to what is found |
//! | `shared` | what all sessions share: properties, limits, findings |
//! | `memory_shares`, `turns` | the memory and the processors that are for all of them together |
//! | `finding` | what is found as a finding of the report |
//!
//! The protocol and the exploration are `foresee_lattice::online`.

use crate::processes::SECRET_VARIABLE;

pub(crate) mod address;
mod finding;
mod lines;
mod memory_shares;
mod pending;
pub(crate) mod server;
mod session;
pub(crate) mod shared;
pub(crate) mod teller;
mod turns;

/// The variable that names the address where a program's observer listens.
pub(crate) const OBSERVER_VARIABLE: &str = "FORESEE_OBSERVER";

/// Whether programs are to be observed.
pub(crate) fn is_wanted() -> bool {
    std::env::var_os(OBSERVER_VARIABLE).is_some_and(|address| !address.is_empty())
}

/// The secret of this process's environment, if there is one.
pub(crate) fn secret() -> Option<String> {
    std::env::var(SECRET_VARIABLE).ok().filter(|secret| !secret.is_empty())
}
