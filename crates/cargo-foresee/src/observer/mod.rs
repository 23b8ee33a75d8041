//! Programs that are observed while they run: the way between `foresee forward`, beside the program, and `foresee observe`.
//!
//! | file | what is there |
//! |---|---|
//! | `address` | where an observer listens, and connections |
//! | `server` | connections and sessions: who is let in, who is dropped |
//! | `session` | one program: from messages to findings |
//! | `show` | findings for people and machines |
//!
//! The protocol and the exploration are `foresee_predict::lattice::online`.

pub(crate) mod address;
pub(crate) mod server;
mod session;
pub(crate) mod show;

/// The variable that tells a program where its observer listens.
pub(crate) const OBSERVER_VARIABLE: &str = "FORESEE_OBSERVER";

/// The variable with the secret that observer and programs share.
pub(crate) const SECRET_VARIABLE: &str = "FORESEE_SECRET";

/// The secret, if there is one.
pub(crate) fn secret() -> Option<String> {
    std::env::var(SECRET_VARIABLE).ok().filter(|secret| !secret.is_empty())
}
