//! The user's project, as cargo sees it: which cargo and rustc, where builds go, what is configured.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cargo_config2::{Config, PathAndArgs};
use serde_json::Value;

use super::arguments::Arguments;
use crate::error::{CliError, without_code};
use crate::processes;
use crate::target::TARGET;

/// What cargo tells programs that it runs. Where we are such a program (`cargo run`, an alias), it is not meant for the
/// cargo that we run.
const OF_AN_OUTER_CARGO: &[&str] =
    &["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_NAME", "CARGO_PRIMARY_PACKAGE", "OUT_DIR"];

/// What cargo needs to know of the user's project.
pub(crate) struct Project {
    config: Config,
    /// Where instrumented builds go.
    pub(crate) target_dir: PathBuf,
    /// Programs that have properties beside their source, by name: `examples/flight.rv` is of `examples/flight.rs`.
    pub(crate) specs: Vec<(String, PathBuf)>,
}

impl Project {
    /// Asks cargo; `None` if it fails, in which case it has said why.
    pub(crate) fn find(arguments: &Arguments) -> Result<Option<Project>, CliError> {
        let config =
            Config::load().map_err(|why| CliError::Usage(format!("cargo's configuration: {why}")))?;
        let Some(metadata) = metadata(arguments)? else { return Ok(None) };
        let target_dir = match &arguments.target_dir {
            Some(given) => std::path::absolute(given).unwrap_or_else(|_| given.clone()),
            None => target_dir(&metadata)?,
        };
        let target_dir = target_dir.join("foresee");
        writable(&target_dir)?;
        Ok(Some(Project { config, target_dir, specs: specs(&metadata) }))
    }

    /// The user's flags for rustc: from the variables, or else the configuration.
    pub(crate) fn rustflags(&self) -> Result<Vec<String>, CliError> {
        let flags = self.config.rustflags(TARGET).map_err(wrong)?;
        Ok(flags.map(|flags| flags.flags).unwrap_or_default())
    }

    /// The same for rustdoc.
    pub(crate) fn rustdocflags(&self) -> Result<Vec<String>, CliError> {
        let flags = self.config.rustdocflags(TARGET).map_err(wrong)?;
        Ok(flags.map(|flags| flags.flags).unwrap_or_default())
    }

    /// The user's own runner, if there is one.
    pub(crate) fn runner(&self) -> Result<Vec<OsString>, CliError> {
        let line = |PathAndArgs { path, args, .. }: PathAndArgs| -> Vec<OsString> {
            [path.into_os_string()].into_iter().chain(args).collect()
        };
        Ok(self.config.runner(TARGET).map_err(wrong)?.map(line).unwrap_or_default())
    }

    /// The user's own wrapper of rustc, if there is one.
    pub(crate) fn rustc_wrapper(&self) -> Option<&OsStr> {
        let wrapper = self.config.build.rustc_wrapper.as_deref().map(Path::as_os_str);
        wrapper.filter(|wrapper| !wrapper.is_empty())
    }

    /// The compiler that cargo will use, without the wrappers that it is called through.
    pub(crate) fn rustc(&self) -> &Path {
        let PathAndArgs { path, args, .. } = self.config.rustc();
        args.last().map_or(path.as_path(), Path::new)
    }
}

fn wrong(why: cargo_config2::Error) -> CliError {
    CliError::Usage(format!("cargo's configuration: {why}"))
}

/// The user's cargo, with what an outer one added taken away.
pub(crate) fn cargo() -> Command {
    let mut command = processes::command(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if OF_AN_OUTER_CARGO.iter().any(|start| text.starts_with(start)) {
            command.env_remove(&name);
        }
    }
    command
}

/// What cargo knows of the project; `None` if it fails, in which case it has said why.
fn metadata(arguments: &Arguments) -> Result<Option<Value>, CliError> {
    let mut command = cargo();
    command.args(["metadata", "--no-deps", "--format-version=1"]).stderr(Stdio::inherit());
    if let Some(path) = &arguments.manifest {
        command.arg("--manifest-path").arg(path);
    }
    let answer = command.output().map_err(|why| {
        let name = command.get_program().display();
        CliError::Usage(format!("{name}: cannot run cargo: {}; expected it on the PATH", without_code(&why)))
    })?;
    if !answer.status.success() {
        return Ok(None);
    }
    Ok(Some(serde_json::from_slice(&answer.stdout).unwrap_or_default()))
}

/// Where cargo would build to.
fn target_dir(metadata: &Value) -> Result<PathBuf, CliError> {
    let folder = metadata.get("target_directory").and_then(Value::as_str);
    folder
        .map(PathBuf::from)
        .ok_or_else(|| CliError::Usage("`cargo metadata` does not name a target directory".to_owned()))
}

/// Programs and examples with a file of properties beside their source.
fn specs(metadata: &Value) -> Vec<(String, PathBuf)> {
    let list =
        |value: &Value, key: &str| value.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let spec = |target: Value| {
        let runs = list(&target, "kind").iter().any(|kind| kind == "bin" || kind == "example");
        let spec = Path::new(target.get("src_path")?.as_str()?).with_extension("rv");
        (runs && spec.is_file()).then(|| Some((target.get("name")?.as_str()?.to_owned(), spec)))?
    };
    let packages = list(metadata, "packages");
    packages.iter().flat_map(|package| list(package, "targets")).filter_map(spec).collect()
}

/// Cargo's message for this is long and names a file that means nothing to the user.
fn writable(folder: &Path) -> Result<(), CliError> {
    let tried = std::fs::create_dir_all(folder).and_then(|()| tempfile::tempfile_in(folder));
    tried.map(drop).map_err(|why| {
        CliError::Usage(format!(
            "{}: cannot write: {}; instrumented builds go there: give another folder with --target-dir",
            folder.display(),
            without_code(&why)
        ))
    })
}
