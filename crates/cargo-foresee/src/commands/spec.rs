//! `foresee spec check`, `fmt` and `graph`: properties, before there is a run to check.

use std::path::PathBuf;
use std::process::ExitCode;

use foresee_lattice::knowledge;
use foresee_monitor::graph::{Graph, dot, svg};

use crate::cli::{SpecCommand, SpecFmtArgs, SpecGraphArgs};
use crate::error::{self, CliError, Severity};
use crate::{exit, specs, stdout, whole_file};

pub(crate) fn run(command: &SpecCommand) -> Result<ExitCode, CliError> {
    match command {
        SpecCommand::Check { files } => check(files),
        SpecCommand::Fmt(args) => fmt(args),
        SpecCommand::Graph(args) => draw(args),
    }
}

fn check(files: &[PathBuf]) -> Result<ExitCode, CliError> {
    for path in files {
        let compiled = specs::load(path, specs::Warnings::Printed)?;
        knowledge::program(&compiled.properties)
            .map_err(|why| CliError::Usage(format!("{}: {why}", path.display())))?;
        let names: Vec<&str> = compiled.properties.iter().map(|property| property.name.as_str()).collect();
        stdout::print(&format!("{}: {}\n", path.display(), names.join(", ")))?;
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
            stdout::print(&format!("{}\n", path.display()))?;
        } else {
            // The user's own file, wherever it is.
            let written = path.canonicalize().and_then(|path| whole_file::write(&path, &formatted));
            written.map_err(|why| CliError::output(path.display(), why))?;
        }
    }
    Ok(ExitCode::from(if args.check && different > 0 { exit::FINDINGS } else { exit::NOTHING_FOUND }))
}

fn draw(args: &SpecGraphArgs) -> Result<ExitCode, CliError> {
    let ending = args.output.as_ref().map(|path| path.extension().and_then(|ending| ending.to_str()));
    let as_svg = match ending {
        None | Some(Some("dot" | "gv")) => false,
        Some(Some("svg")) => true,
        Some(_) => {
            return Err(CliError::Usage("the picture's name must end in .svg or .dot".to_owned()));
        }
    };
    let compiled = specs::load(&args.file, specs::Warnings::Printed)?;
    let name = args.file.display();
    for wanted in &args.property {
        if !compiled.properties.iter().any(|property| property.name == *wanted) {
            return Err(CliError::Usage(format!("{name}: no property is called `{wanted}`")));
        }
    }
    let chosen =
        |property: &str| args.property.is_empty() || args.property.iter().any(|name| name == property);
    let (mut graphs, mut undrawable) = (Vec::new(), Vec::new());
    for property in compiled.properties.iter().filter(|property| chosen(&property.name)) {
        for body in &property.bodies {
            let called = body.name.as_deref().unwrap_or(&body.formalism);
            match Graph::of(property, body) {
                Ok(graph) if as_svg && graph.nodes.len() > svg::STATE_LIMIT => undrawable.push(format!(
                    "`{}`: `{called}` has {} states: too many to be read in a picture; write it as .dot",
                    property.name,
                    graph.nodes.len()
                )),
                Ok(graph) => graphs.push(graph),
                Err(why) => undrawable.push(format!("`{}`: `{called}` {why}", property.name)),
            }
        }
    }
    if let (true, Some(why)) = (graphs.is_empty(), undrawable.first()) {
        return Err(CliError::Usage(format!("{name}: {why}")));
    }
    undrawable.iter().for_each(|why| error::print(Severity::Warning, &format!("{name}: {why}")));
    let picture = if as_svg { svg::write(&graphs) } else { dot::write(&graphs) };
    match &args.output {
        Some(path) => {
            whole_file::write(path, &picture).map_err(|why| CliError::output(path.display(), why))?
        }
        None => stdout::print(&picture)?,
    }
    Ok(ExitCode::from(exit::NOTHING_FOUND))
}
