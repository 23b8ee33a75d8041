//! `check`, and how findings are shown by all commands that check.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::number;
use crate::report::format::ReportFormat;

pub(super) const CHECK_HELP: &str = "\
Engines, in the order in which they run:
  hb         races of this very run, by happens-before (observed)
  syncp      races of runs that keep the order of critical sections (predicted)
  deadlock   lock-order deadlocks of any number of threads (observed, predicted)
  atomicity  atomic blocks that do not behave like one step (observed, predicted)
  property   violations of the properties of --spec, in this run (observed) and in others that its events allow (predicted)
  mttl       violations of the `mttl` bodies of --spec, about what threads know of each other (observed)
  reverse    races and deadlocks of runs that reverse critical sections (predicted)
  max        every race that a correct reordering can show, within a window (predicted)
  lockset    pairs of accesses that share no lock: candidates, not proven; only on request

Examples:
  foresee check run.ft
  foresee check run.std --engine hb,syncp
  foresee check run.ft --format json --output result.json
  foresee check run.ft --format sarif --output foresee.sarif
  foresee check run.ft --spec specs/locks.rv
  foresee check case.json --engine mttl      the verdicts of a case (or a suite) of the conformance suite for MTTL

Every predicted finding has a witness: a schedule that the program can follow, accepted by an independent checker.
The JSON document is described by schema/report.schema.json in the sources of cargo-foresee.
Flags can also be set in .config/foresee.toml (`time = \"60s\"`, `atomic = [\"Bank::transfer\"]`) and by
FORESEE_OPTIONS (`time=60s:exit-code=1:max-size=2G`); flags win over the variable, the variable over the file.";

/// Arguments of `check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The trace, `-` for standard input
    #[arg(value_name = "TRACE")]
    pub input: PathBuf,
    /// How to check it.
    #[command(flatten)]
    pub options: CheckOptions,
}

/// How a trace is checked, and how findings are shown.
#[derive(Debug, Args)]
pub struct CheckOptions {
    /// Which engines, separated by commas; all that apply if none is named
    #[arg(long, value_name = "E,…", value_delimiter = ',')]
    pub engine: Vec<String>,
    /// How to print findings
    #[arg(long, value_enum)]
    pub format: Option<ReportFormat>,
    /// Write the findings to this file
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Exit with this code if there are findings [default: 66]
    #[arg(long, value_name = "N")]
    pub exit_code: Option<u8>,
    /// Stop after this time (90s, 5m) and report what was found until then; without it, only the search for hard cases is limited.
    /// For a program that is run, it counts from its end, for each of its processes anew
    #[arg(long, value_name = "TIME", value_parser = number::duration)]
    pub time: Option<std::time::Duration>,
    /// Use no more memory than about this (8G); of longer traces only the beginning is used for prediction, and of
    /// lattices that are too wide the most promising part is explored [default: half of what the machine has]
    #[arg(long, value_name = "BYTES", value_parser = number::count)]
    pub memory: Option<u64>,
    /// A file of suppressions, as for ThreadSanitizer; may be given more than once
    #[arg(long, value_name = "FILE")]
    pub suppressions: Vec<PathBuf>,
    /// Show also the races that well-known libraries have and live with, which are suppressed otherwise
    #[arg(long)]
    pub show_known: bool,
    /// Take it as an error (exit code 2) when a spec or an option names what the run does not have
    #[arg(long)]
    pub strict: bool,
    /// A function that is meant to be atomic; may be given more than once. As everywhere, a function is named by the end of its path
    /// (`Bank::transfer`), with or without its arguments; `*` stands for any text
    #[arg(long, value_name = "FUNCTION")]
    pub atomic: Vec<String>,
    /// A file of properties to check; may be given more than once
    #[arg(long, value_name = "FILE")]
    pub spec: Vec<PathBuf>,
    /// A shared library with monitors for `raw` bodies (include/foresee-monitors.h), which runs in foresee's process; may be given more than
    /// once
    #[arg(long, value_name = "LIBRARY")]
    pub raw_monitors: Vec<PathBuf>,
    /// Quote source lines from below this folder as well; may be given more than once. Of a trace, only files below the working folder
    /// and these are quoted, as a trace may name any file; of a program that is run, what it names
    #[arg(long, value_name = "FOLDER")]
    pub source_root: Vec<PathBuf>,
    /// In which other runs properties are checked [default: weak]
    #[arg(long, value_enum, ignore_case = true)]
    pub model: Option<CausalityModel>,
    /// How many cuts of each level of the lattice are followed: 1 is this very run, `all` is every run [default: all]
    #[arg(long, value_name = "N", value_parser = number::breadth)]
    pub breadth: Option<usize>,
    /// Show at most so many counterexamples for each property, the shortest first [default: 10]
    #[arg(long, value_name = "N")]
    pub counterexamples: Option<usize>,
}

/// Which other runs an execution allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, serde::Serialize, serde::Deserialize)]
pub enum CausalityModel {
    /// Conflicting accesses and critical sections stay in order
    Hb,
    /// A read keeps its write; writes with their reads, and critical sections, may change places
    Weak,
    /// The same, but only for accesses that the property depends on, by the branches and data that are in the trace
    Sliced,
    /// For properties the same as `sliced`; for races (engine `max`) a read may also read another write of the same value
    Max,
}
