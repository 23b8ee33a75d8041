//! Monitors of the user's own, for `raw` bodies: from the libraries that `--raw-monitors` names. Nothing else names any: not settings, traces or specs.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use foresee_monitor::spec::raw_monitors::RawMonitors;

use crate::error::CliError;

/// Those that are loaded: libraries stay, so there is one set of them for the process.
static LOADED: Mutex<Option<RawMonitors>> = Mutex::new(None);

/// Loads these libraries, for all specs that are read from now on.
pub(crate) fn load(libraries: &[PathBuf]) -> Result<(), CliError> {
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let monitors = loaded.get_or_insert_default();
    for library in libraries {
        foresee_modules::load(library, monitors)
            .map_err(|why| CliError::Usage(format!("--raw-monitors: {why}")))?;
    }
    Ok(())
}

/// All that are loaded.
pub(crate) fn loaded() -> RawMonitors {
    LOADED.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default()
}
