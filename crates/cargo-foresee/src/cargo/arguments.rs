//! Which arguments are ours, which are cargo's.
//!
//! Our options (`--engine`, `--format`, …) have names that cargo does not use, so they are recognised anywhere before `--`.
//! `--target` and `--target-dir` are cargo's, but we pass our own. Everything else goes to cargo as it is.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use clap::CommandFactory as _;

use crate::cli::CargoOptions;
use crate::error::CliError;
use crate::target::TARGET;

/// A command line, taken apart.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Arguments {
    /// Our options.
    pub(crate) ours: Vec<OsString>,
    /// Cargo's, without `--target` and `--target-dir`.
    pub(crate) cargo: Vec<OsString>,
    /// From `--` on.
    pub(crate) program: Vec<OsString>,
    /// What `--target-dir` says.
    pub(crate) target_dir: Option<PathBuf>,
    /// What `--manifest-path` says; it is cargo's as well.
    pub(crate) manifest: Option<OsString>,
}

impl Arguments {
    pub(crate) fn parse(args: &[OsString]) -> Result<Arguments, CliError> {
        let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
        let (before, program) = args.split_at(end);
        let mut found = Arguments { program: program.to_vec(), ..Arguments::default() };
        let ours = our_options();
        let mut rest = before.iter();
        while let Some(arg) = rest.next() {
            let (name, attached) = split(arg);
            if let Some((_, takes_value)) = ours.iter().find(|(ours, _)| name == ours.as_str()) {
                found.ours.push(arg.clone());
                if *takes_value && attached.is_none() {
                    found.ours.extend(rest.next().cloned());
                }
                continue;
            }
            let mut value = || attached.clone().or_else(|| rest.next().cloned()).unwrap_or_default();
            match name.to_str() {
                Some("--target") => only_ours(&value())?,
                Some("--target-dir") => found.target_dir = Some(value().into()),
                Some("--manifest-path") => {
                    let path = value();
                    found.cargo.extend([name.to_owned(), path.clone()]);
                    found.manifest = Some(path);
                }
                _ => found.cargo.push(arg.clone()),
            }
        }
        Ok(found)
    }
}

/// `--name`, `-n`, and whether a value follows, of all options of ours.
fn our_options() -> Vec<(String, bool)> {
    let command = CargoOptions::command();
    let own = command.get_arguments().flat_map(|arg| {
        let names =
            [arg.get_long().map(|name| format!("--{name}")), arg.get_short().map(|c| format!("-{c}"))];
        names.into_iter().flatten().map(|name| (name, arg.get_action().takes_values()))
    });
    own.chain([("--help".to_owned(), false), ("-h".to_owned(), false)]).collect()
}

/// `--name=value`, or the argument and nothing.
fn split(arg: &OsStr) -> (&OsStr, Option<OsString>) {
    let bytes = arg.as_bytes();
    match bytes.iter().position(|&byte| byte == b'=') {
        Some(at) if bytes.starts_with(b"--") => {
            (OsStr::from_bytes(&bytes[..at]), Some(OsStr::from_bytes(&bytes[at + 1..]).to_owned()))
        }
        _ => (arg, None),
    }
}

fn only_ours(target: &OsStr) -> Result<(), CliError> {
    if target == TARGET {
        return Ok(());
    }
    let target = target.display();
    Err(CliError::Usage(format!(
        "--target {target}: programs can be recorded on {TARGET} only; leave --target out"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Arguments, CliError> {
        Arguments::parse(&line.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn ours_are_taken_from_anywhere_before_the_dashes() {
        let found =
            parse("--engine hb --example bank --format=json -o x.json --release -- --engine x").unwrap();
        assert_eq!(found.ours, ["--engine", "hb", "--format=json", "-o", "x.json"]);
        assert_eq!(found.cargo, ["--example", "bank", "--release"]);
        assert_eq!(found.program, ["--", "--engine", "x"]);
    }

    #[test]
    fn folders_and_targets() {
        let found =
            parse("--target-dir out --manifest-path=a/Cargo.toml --target x86_64-unknown-linux-gnu -v")
                .unwrap();
        assert_eq!(found.target_dir, Some("out".into()));
        assert_eq!(found.manifest, Some("a/Cargo.toml".into()));
        assert_eq!(found.cargo, ["--manifest-path", "a/Cargo.toml", "-v"]);
        let refused = parse("--target=wasm32-wasip1").unwrap_err().to_string();
        assert!(refused.contains("wasm32-wasip1") && refused.contains("leave --target out"), "{refused}");
    }
}
