//! `foresee completions`: completion scripts for shells.

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::error::CliError;
use crate::stdout;

pub(crate) fn run(shell: Shell) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "foresee", &mut script);
    stdout::print(&String::from_utf8_lossy(&script))
}
