//! What the runner has to know, in one variable.
//!
//! Cargo stands between us and the runner and may change to another folder, so everything is complete and absolute here: the
//! runner looks for no file of settings and no variable of its own.
//!
//! All that cargo starts inherits the variable, build scripts too. So the observer's secret is not in it, but in a file that the runner reads.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::cli::Extent;
use crate::config::Settings;
use crate::error::CliError;

/// The variable: one JSON object.
pub(crate) const VARIABLE: &str = "FORESEE_RUNNER";

/// The file with the observer's secret.
const SECRET: &str = "secret";

/// What cargo calls the runner for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Mode {
    /// One program, `cargo run`.
    Run,
    /// Test programs and doctests, `cargo test`.
    Test,
    /// One test at a time, `cargo nextest run`.
    Nextest,
}

/// Everything that the runner goes by.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RunnerSettings {
    pub(crate) mode: Mode,
    /// How to check.
    pub(crate) check: Settings,
    /// Properties that belong to a program of this name.
    pub(crate) specs: Vec<(String, PathBuf)>,
    /// When to end a program.
    pub(crate) timeout: Option<Duration>,
    /// Statics whose values are recorded.
    pub(crate) watch: Vec<String>,
    /// Properties that are monitored in the program, which is not recorded then.
    pub(crate) monitor: Vec<PathBuf>,
    /// How much is recorded.
    pub(crate) extent: Extent,
    /// Where to keep the trace; for tests a folder.
    pub(crate) trace: Option<PathBuf>,
    /// The folder for what was found.
    pub(crate) results: PathBuf,
    /// The user's own runner, which every program is run through.
    pub(crate) through: Vec<OsString>,
    /// What was in the environment before we added to it: programs get that.
    pub(crate) environment: Vec<(String, Option<OsString>)>,
}

impl RunnerSettings {
    /// For the environment of cargo.
    pub(crate) fn to_variable(&self) -> Result<String, CliError> {
        serde_json::to_string(self)
            .map_err(|_| CliError::Usage("foresee only accepts paths that are UTF-8".to_owned()))
    }

    /// Leaves the observer's secret in the folder for what is found, for the runner.
    pub(crate) fn leave_secret(results: &Path, secret: &str) -> Result<(), CliError> {
        let path = results.join(SECRET);
        let file = File::options().write(true).create_new(true).mode(0o600).open(&path);
        let written = file.and_then(|mut file| file.write_all(secret.as_bytes()));
        written.map_err(|why| CliError::output(path.display(), why))
    }

    /// The observer's secret, in the runner.
    pub(crate) fn secret(&self) -> Option<String> {
        std::fs::read_to_string(self.results.join(SECRET)).ok()
    }

    /// In the runner.
    pub(crate) fn from_variable() -> Result<RunnerSettings, CliError> {
        let known = std::env::var(VARIABLE).ok().and_then(|text| serde_json::from_str(&text).ok());
        known.ok_or_else(|| {
            CliError::Usage(
                "this is called by cargo, for `cargo foresee run` and `test`; expected its settings in the variable \
                 FORESEE_RUNNER"
                    .to_owned(),
            )
        })
    }
}
