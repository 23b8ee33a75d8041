//! `foresee cc` and `foresee c++`: compile and link as the user asked, instrumented.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};

use crate::cli::Extent;
use crate::compiler::Language;
use crate::compiler::arguments::{Argument, CommandLine, Goal};
use crate::compiler::response::expanded;
use crate::compiler::toolchain::{Toolchain, runtime_arguments};
use crate::config;
use crate::error::{CliError, without_code};
use crate::exit;
use crate::scratch::Scratch;

/// Our own option, before all others.
const BRANCHES: &str = "--branches";

pub(crate) fn run(language: Language, args: &[OsString]) -> Result<ExitCode, CliError> {
    let (asked, args) = match args.split_first() {
        Some((first, rest)) if first == BRANCHES => (true, rest),
        _ => (false, args),
    };
    let branches = config::extent(&Extent { branches: asked, ..Extent::default() })?.branches;
    let line = CommandLine::parse(&expanded(args))?;
    let toolchain = Toolchain::find(language, branches)?;
    let status = match line.goal {
        Goal::Answer => execute(toolchain.command().args(args))?,
        Goal::Compile => execute(&mut toolchain.instrument(args))?,
        Goal::LinkPart | Goal::LinkProgram => {
            let runtime =
                if line.goal == Goal::LinkProgram { runtime_arguments(branches)? } else { Vec::new() };
            if line.sources().next().is_none() {
                // As given: response files are there because the command line would be too long without.
                execute(toolchain.command().args(args).args(runtime).args(toolchain.at_link()))?
            } else {
                compile_and_link(&toolchain, &line, &runtime)?
            }
        }
    };
    Ok(ExitCode::from(exit::of_process(status)))
}

/// Compiles each source to an object that is gone afterwards, and links these in the sources' places.
fn compile_and_link(
    toolchain: &Toolchain,
    line: &CommandLine,
    runtime: &[OsString],
) -> Result<ExitStatus, CliError> {
    let folder = Scratch::new()?;
    let mut objects = Vec::new();
    for (source, language) in line.sources() {
        let object = object_of(source, objects.len(), folder.path());
        let flags = line.flags().chain(dependencies(line, source));
        let language = language.into_iter().flat_map(|language| ["-x".into(), language.clone()]);
        let what = ["-c".into(), source.clone(), "-o".into(), object.clone().into()];
        let status = execute(&mut toolchain.instrument(flags.chain(language).chain(what)))?;
        if !status.success() {
            return Ok(status);
        }
        objects.push(object);
    }
    let mut objects = objects.into_iter();
    let mut command = toolchain.command();
    for argument in &line.arguments {
        match argument {
            Argument::Source(..) => {
                command.args(objects.next());
            }
            Argument::ForLinker(arg) => {
                command.arg(arg);
            }
            Argument::Output(path) => {
                command.arg("-o").arg(path);
            }
            // What is linked are objects, whatever the sources were.
            Argument::Language(_) => {}
            Argument::Flag(flag, value) => {
                command.arg(flag).args(value);
            }
        }
    }
    execute(command.args(runtime).args(toolchain.at_link()))
}

/// Sources in different folders may have the same name.
fn object_of(source: &OsString, number: usize, folder: &Path) -> PathBuf {
    let stem = Path::new(source).file_stem().unwrap_or_default().to_string_lossy();
    folder.join(format!("{number}-{stem}.o"))
}

/// `-MD` and `-MMD` would put the file of dependencies beside the object, and name the object in it.
fn dependencies(line: &CommandLine, source: &OsString) -> Vec<OsString> {
    let mut flags = Vec::new();
    if line.has_flag("-MD") || line.has_flag("-MMD") {
        if !line.has_flag("-MF") {
            let stem = Path::new(source).file_stem().unwrap_or_default();
            flags.extend(["-MF".into(), Path::new(stem).with_extension("d").into_os_string()]);
        }
        if !line.has_flag("-MT") && !line.has_flag("-MQ") {
            flags.extend(["-MQ".into(), line.output().unwrap_or("a.out".as_ref()).to_owned()]);
        }
    }
    flags
}

fn execute(command: &mut Command) -> Result<ExitStatus, CliError> {
    command.status().map_err(|why| {
        let name = command.get_program().display();
        CliError::Usage(format!("{name}: cannot run the compiler: {}", without_code(&why)))
    })
}
