//! Settings that are not given as flags: `.config/foresee.toml` of the workspace, and `FORESEE_OPTIONS=a=b:c=d`.
//!
//! Both have the flags' names and meanings; flags win over the variable, the variable over the file. The file is looked
//! for in this folder and the ones above it, up to the root of the workspace; whose it may be, and what it may name, is in [`file`]. Where
//! it decides what a run comes to, that is said.
//!
//! The file can also name functions of the user's own locks, which are then recorded as locks and not as the atomics they
//! are made of: `lock = ["SpinLock::lock"]`, and likewise `try-lock`, `unlock`, `lock-shared`, `try-lock-shared` and
//! `unlock-shared`. And it can say what functions do that are not built with foresee, so that nothing else must be assumed of them:
//! `no-effect = ["mylib_hash*"]` (nothing that another thread could notice), `memory-effect` (they access memory and order nothing),
//! `never-returns`.

mod file;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum as _;
use foresee_symbols::Effect;
use foresee_trace::raw::{LockTable, Role};
use serde::{Deserialize, Serialize};

use crate::bounded;
use crate::cli::{CausalityModel, CheckOptions, Extent};
use crate::error::{self, CliError, Severity, without_code};
use crate::number;
use crate::report::format::ReportFormat;
use file::{PathError, SettingsFile};

/// What `foresee check` goes by.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Settings {
    pub(crate) engine: Vec<String>,
    pub(crate) format: Option<ReportFormat>,
    pub(crate) output: Option<PathBuf>,
    pub(crate) exit_code: Option<u8>,
    pub(crate) time: Option<Duration>,
    pub(crate) memory: Option<u64>,
    pub(crate) suppressions: Vec<PathBuf>,
    pub(crate) show_known: bool,
    pub(crate) strict: bool,
    pub(crate) atomic: Vec<String>,
    pub(crate) spec: Vec<PathBuf>,
    /// Libraries with monitors. Only flags name them.
    pub(crate) raw_monitors: Vec<PathBuf>,
    pub(crate) model: Option<CausalityModel>,
    /// `usize::MAX` is everything.
    pub(crate) breadth: Option<usize>,
    pub(crate) counterexamples: Option<usize>,
    /// Folders that source lines are quoted from, besides the one the user is in.
    pub(crate) source_root: Vec<PathBuf>,
    /// Whether the program is one that the user has just run, and so trusts.
    pub(crate) ran: bool,
    /// How long checking a run may take if `time` does not say: as long as its program may.
    pub(crate) bound: Option<Duration>,
    /// The folder the user is in, if not the current one: cargo runs tests in that of their package.
    pub(crate) folder: Option<PathBuf>,
    /// What the file has set and nothing else has set again, as it stands there.
    by_file: BTreeMap<String, String>,
    /// What the file is called.
    file: Option<PathBuf>,
    /// For recording: how much.
    #[serde(skip)]
    extent: Extent,
    /// For recording: functions that are operations on locks.
    #[serde(skip)]
    locks: Vec<(String, Role)>,
    /// What functions do that record nothing.
    #[serde(skip)]
    effects: Vec<(String, Effect)>,
}

/// The variable.
pub(crate) const VARIABLE: &str = "FORESEE_OPTIONS";

const KEYS: [&str; 22] = [
    "engine",
    "format",
    "output",
    "exit-code",
    "time",
    "memory",
    "suppressions",
    "show-known",
    "strict",
    "atomic",
    "spec",
    "source-root",
    "max-size",
    "keep-last",
    "only",
    "skip",
    "branches",
    "exit-wait",
    "values",
    "model",
    "breadth",
    "counterexamples",
];

/// The settings of file and variable.
fn without_flags() -> Result<Settings, CliError> {
    let mut settings = Settings::default();
    if let Some(file) = std::env::current_dir().ok().and_then(|here| SettingsFile::find(&here)) {
        settings.read_file(&file)?;
    }
    if let Ok(options) = std::env::var(VARIABLE) {
        settings.read_variable(&options)?;
    }
    Ok(settings)
}

/// Reads a text as the settings of a workspace.
pub(crate) fn read_as_file(text: &str, workspace: &Path) -> Result<(), CliError> {
    Settings::default().read_text(text, &SettingsFile::of(workspace))
}

/// The functions that are operations on locks: those we know, and the user's own.
pub(crate) fn lock_table() -> Result<LockTable, CliError> {
    let mut table = LockTable::default();
    for (function, role) in without_flags()?.locks {
        table.add(&function, role);
    }
    Ok(table)
}

/// What functions do that record nothing, by the user's word.
pub(crate) fn effects() -> Result<Vec<(String, Effect)>, CliError> {
    Ok(without_flags()?.effects)
}

/// How much to record, with what file and variable add.
pub(crate) fn extent(flags: &Extent) -> Result<Extent, CliError> {
    let settings = without_flags()?.extent;
    Ok(Extent {
        max_size: flags.max_size.or(settings.max_size),
        keep_last: flags.keep_last.or(settings.keep_last),
        only: if flags.only.is_empty() { settings.only } else { flags.only.clone() },
        skip: if flags.skip.is_empty() { settings.skip } else { flags.skip.clone() },
        branches: flags.branches || settings.branches,
        exit_wait: flags.exit_wait.or(settings.exit_wait),
        values: flags.values || settings.values,
    })
}

/// The settings for these arguments, with what file and variable add.
pub(crate) fn settings(args: &CheckOptions) -> Result<Settings, CliError> {
    let mut settings = without_flags()?;
    if !args.engine.is_empty() {
        settings.engine.clone_from(&args.engine);
    }
    settings.format = args.format.or(settings.format);
    settings.output = args.output.clone().or(settings.output);
    settings.exit_code = args.exit_code.or(settings.exit_code);
    settings.time = args.time.or(settings.time);
    settings.memory = args.memory.or(settings.memory);
    settings.suppressions.extend_from_slice(&args.suppressions);
    settings.show_known |= args.show_known;
    settings.strict |= args.strict;
    settings.atomic.extend_from_slice(&args.atomic);
    settings.spec.extend_from_slice(&args.spec);
    settings.raw_monitors.clone_from(&args.raw_monitors);
    settings.source_root.extend_from_slice(&args.source_root);
    settings.model = args.model.or(settings.model);
    settings.breadth = args.breadth.or(settings.breadth);
    settings.counterexamples = args.counterexamples.or(settings.counterexamples);
    let given = [
        ("engine", !args.engine.is_empty()),
        ("exit-code", args.exit_code.is_some()),
        ("time", args.time.is_some()),
        ("memory", args.memory.is_some()),
    ];
    for (key, _) in given.iter().filter(|(_, given)| *given) {
        settings.by_file.remove(*key);
    }
    Ok(settings)
}

impl Settings {
    /// How to tell of what is named and not there.
    pub(crate) fn mistakes(&self) -> Severity {
        if self.strict { Severity::Error } else { Severity::Warning }
    }

    /// Says what of the file has decided what a run comes to: the exit code of what was found, or what was not looked for or not shown
    /// where nothing was found.
    pub(crate) fn tell_what_the_file_decided(&self, has_alarm: bool, suppressed: u64) {
        let Some(file) = &self.file else { return };
        let mut decided = if has_alarm { vec!["exit-code"] } else { vec!["engine", "time", "memory"] };
        if suppressed > 0 {
            decided.push("suppressions");
        }
        let set = decided.iter().filter_map(|&key| Some(format!("{key} = {}", self.by_file.get(key)?)));
        let set: Vec<String> = set.collect();
        if !set.is_empty() {
            error::print(Severity::Note, &format!("as {} has it: {}", file.display(), set.join(", ")));
        }
    }

    fn read_file(&mut self, file: &SettingsFile) -> Result<(), CliError> {
        let name = file.path.display();
        let text = bounded::read_text(&file.path, bounded::SMALL)
            .map_err(|why| CliError::Usage(format!("{name}: cannot read: {}", without_code(&why))))?;
        self.read_text(&text, file)
    }

    /// What a file of settings says.
    fn read_text(&mut self, text: &str, file: &SettingsFile) -> Result<(), CliError> {
        let name = file.path.display();
        let table: toml::Table = text.parse().map_err(|why: toml::de::Error| {
            let line = why.span().map_or(0, |span| text[..span.start].matches('\n').count() + 1);
            CliError::Usage(format!("{name}: line {line}: {}", why.message()))
        })?;
        self.file = Some(file.path.clone());
        for (key, value) in &table {
            let values: Vec<String> = match value {
                toml::Value::Array(list) => list.iter().map(plain).collect(),
                value => vec![plain(value)],
            };
            let path = &|value: &str| file.named(value);
            self.set(key, &values, path).map_err(|why| CliError::Usage(format!("{name}: {why}")))?;
            self.by_file.insert(key.clone(), value.to_string());
        }
        Ok(())
    }

    fn read_variable(&mut self, options: &str) -> Result<(), CliError> {
        for option in split(options) {
            let set = match option.split_once('=') {
                Some((key, value)) => {
                    let values: Vec<String> = value.split(',').map(str::to_owned).collect();
                    self.by_file.remove(key);
                    self.set(key, &values, &|value| Ok(PathBuf::from(value)))
                }
                None => Err(format!("expected key=value, found `{option}`")),
            };
            set.map_err(|why| CliError::Usage(format!("{VARIABLE}: {why}")))?;
        }
        Ok(())
    }

    /// Sets what flags set; `path` is what becomes of paths.
    fn set(
        &mut self,
        key: &str,
        values: &[String],
        path: &dyn Fn(&str) -> Result<PathBuf, PathError>,
    ) -> Result<(), String> {
        let one = || match values {
            [value] => Ok(value.as_str()),
            _ => Err(format!("`{key}` takes one value")),
        };
        let context = |why: String| format!("`{key}`: {why}");
        let path = |value: &str| path(value).map_err(|why| context(why.to_string()));
        let paths = || values.iter().map(|value| path(value)).collect::<Result<Vec<_>, _>>();
        match key {
            "engine" => self.engine = values.to_vec(),
            "atomic" => self.atomic = values.to_vec(),
            "only" => self.extent.only = values.to_vec(),
            "skip" => self.extent.skip = values.to_vec(),
            "branches" => {
                self.extent.branches =
                    one()?.parse().map_err(|_| context("expected true or false".to_owned()))?;
            }
            "values" => {
                self.extent.values =
                    one()?.parse().map_err(|_| context("expected true or false".to_owned()))?;
            }
            "show-known" => {
                self.show_known = one()?.parse().map_err(|_| context("expected true or false".to_owned()))?;
            }
            "strict" => {
                self.strict = one()?.parse().map_err(|_| context("expected true or false".to_owned()))?;
            }
            "suppressions" => self.suppressions = paths()?,
            "spec" => self.spec = paths()?,
            "source-root" => self.source_root = paths()?,
            "model" => self.model = Some(CausalityModel::from_str(one()?, true).map_err(context)?),
            "breadth" => self.breadth = Some(number::breadth(one()?).map_err(context)?),
            "counterexamples" => {
                let most = one()?.parse().map_err(|_| context("expected a number".to_owned()))?;
                self.counterexamples = Some(most);
            }
            "output" => self.output = Some(path(one()?)?),
            "format" => self.format = Some(ReportFormat::from_str(one()?, true).map_err(context)?),
            "time" => self.time = Some(number::duration(one()?).map_err(context)?),
            "max-size" => self.extent.max_size = Some(number::size(one()?).map_err(context)?),
            "exit-wait" => self.extent.exit_wait = Some(number::duration(one()?).map_err(context)?),
            "keep-last" => self.extent.keep_last = Some(number::size(one()?).map_err(context)?),
            "memory" => self.memory = Some(number::count(one()?).map_err(context)?),
            "exit-code" => {
                let code =
                    one()?.parse().map_err(|_| context("expected a number from 0 to 255".to_owned()))?;
                self.exit_code = Some(code);
            }
            _ => {
                if let Some((_, effect)) = Effect::WORDS.into_iter().find(|(word, _)| *word == key) {
                    self.effects.extend(values.iter().map(|function| (function.clone(), effect)));
                    return Ok(());
                }
                let Some((_, role)) = Role::WORDS.into_iter().find(|(word, _)| *word == key) else {
                    let effects = Effect::WORDS.into_iter().map(|(word, _)| word);
                    let roles = Role::WORDS.into_iter().map(|(word, _)| word);
                    let words = roles.chain(effects).collect::<Vec<_>>().join(", ");
                    let keys = KEYS.join(", ");
                    return Err(format!("unknown setting `{key}`; expected one of {keys}, {words}"));
                };
                self.locks.extend(values.iter().map(|function| (function.clone(), role)));
            }
        }
        Ok(())
    }
}

/// The options between colons; two colons are part of a path of Rust or C++.
fn split(options: &str) -> Vec<String> {
    let whole = options.replace("::", "\0");
    whole.split(':').filter(|option| !option.is_empty()).map(|option| option.replace('\0', "::")).collect()
}

fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_sets_what_flags_set() {
        let mut settings = Settings::default();
        settings.read_variable("time=90s:engine=hb,syncp:exit-code=1:format=json").unwrap();
        assert_eq!(settings.time, Some(Duration::from_secs(90)));
        assert_eq!(settings.engine, ["hb", "syncp"]);
        assert_eq!((settings.exit_code, settings.format), (Some(1), Some(ReportFormat::Json)));
        settings.read_variable("atomic=Bank::transfer,bank::audit:max-size=2G").unwrap();
        assert_eq!(settings.atomic, ["Bank::transfer", "bank::audit"]);
        assert_eq!(settings.extent.max_size, Some(2_000_000_000));
        let wrong = |text| Settings::default().read_variable(text).unwrap_err().to_string();
        assert!(wrong("tiem=1").contains("unknown setting `tiem`"));
        assert!(wrong("time").contains("expected key=value"));
        assert!(wrong("exit-code=300").contains("0 to 255"));
        assert!(wrong("branches=maybe").contains("true or false"));
        assert!(wrong("max-size=10").contains("at least 1M"));
    }
}
