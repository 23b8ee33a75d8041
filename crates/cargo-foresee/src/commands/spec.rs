//! `foresee spec check` and `foresee spec fmt`: properties, before there is a run to hold them against.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::cli::{SpecCommand, SpecFmtArgs};
use crate::error::CliError;
use crate::{exit, specs};

pub(crate) fn run(command: &SpecCommand) -> Result<ExitCode, CliError> {
    match command {
        SpecCommand::Check { files } => check(files),
        SpecCommand::Fmt(args) => fmt(args),
    }
}

fn check(files: &[PathBuf]) -> Result<ExitCode, CliError> {
    for path in files {
        let compiled = specs::load(path, specs::Warnings::Told)?;
        let names: Vec<&str> = compiled.properties.iter().map(|property| property.name.as_str()).collect();
        crate::print(format!("{}: {}\n", path.display(), names.join(", ")).as_bytes())?;
    }
    Ok(ExitCode::from(exit::NOTHING_FOUND))
}

fn fmt(args: &SpecFmtArgs) -> Result<ExitCode, CliError> {
    let mut different = 0;
    for path in &args.files {
        let text = specs::read(path)?;
        let formatted = foresee_monitor::spec::format::format(&text)
            .map_err(|problems| specs::refused(path, &text, &problems))?;
        if formatted == text {
            continue;
        }
        different += 1;
        if args.check {
            crate::print(format!("{}\n", path.display()).as_bytes())?;
        } else {
            std::fs::write(path, formatted).map_err(|why| CliError::output(path.display(), why))?;
        }
    }
    Ok(ExitCode::from(if args.check && different > 0 { exit::FINDINGS } else { exit::NOTHING_FOUND }))
}
