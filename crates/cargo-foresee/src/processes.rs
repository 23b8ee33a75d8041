//! The processes that we start: compilers, cargo, programs.
//!
//! All of them are made here, so that none inherits what is between us and the observer alone. (`Command::new` anywhere else is refused by a lint,
//! `clippy.toml`.) The one process of ours that needs the secret although others stand between, cargo's runner, gets it in a file (`cargo/settings.rs`).

use std::ffi::OsStr;
use std::process::Command;

/// The variable with the secret that observer and programs share.
pub(crate) const SECRET_VARIABLE: &str = "FORESEE_SECRET";

/// A process to be started, which does not inherit the secret.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    #[allow(clippy::disallowed_methods, reason = "the one place")]
    let mut command = Command::new(program);
    command.env_remove(SECRET_VARIABLE);
    command
}
