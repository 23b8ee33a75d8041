//! What builds and records programs: `cc`, `c++`, `record`, `run`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use foresee_symbols::recorded_code::Selection;

use super::check::CheckOptions;
use crate::number;

pub(super) const RUN_HELP: &str = "\
Examples:
  foresee cc counter.c -o counter && foresee run -- ./counter
  foresee run --format json --output result.json -- ./counter 3
  foresee run --trace run.ft --timeout 30s -- ./server
  foresee run --monitor protocol.rv -- ./server

Exit codes: 66 findings (--exit-code changes it), otherwise the program's own, 128 + n if signal n ended it.";

pub(super) const CC_HELP: &str = "\
Examples:
  foresee cc -O2 counter.c -o counter
  make CC='foresee cc' CXX='foresee c++'
  CC='foresee cc' CXX='foresee c++' cmake -B build
  foresee cc --branches -O2 counter.c -o counter

The only option of foresee's own, --branches, comes first: the program then records where its control flow goes
(`foresee run --help`).
FORESEE_CC and FORESEE_CXX name the compilers (gcc or clang) if not cc and c++, FORESEE_RUNTIME the runtime library.";

/// Arguments of `record`.
#[derive(Debug, Args)]
pub struct RecordArgs {
    /// The trace to write; its ending, .ft or .std, selects the format
    #[arg(short, long, value_name = "TRACE", default_value = "foresee.ft")]
    pub output: PathBuf,
    /// Keep the raw recording that the program itself wrote, as TRACE with the ending .raw
    #[arg(long)]
    pub keep_raw: bool,
    /// What to run.
    #[command(flatten)]
    pub options: RecordOptions,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Keep the trace in this file; its ending, .ft or .std, selects the format
    #[arg(long, value_name = "TRACE")]
    pub trace: Option<PathBuf>,
    /// Monitor these properties in the running program, and record nothing: a verdict at the very event, handlers are called at once
    /// (`call "f"`: the program's function `void f(const char *property, const char *message)`; of properties about what threads know, and
    /// `recover "f"`: what the program has registered under this name). May be given more than once
    #[arg(long, value_name = "SPEC", conflicts_with_all = ["trace", "spec", "engine", "keep_last", "max_size", "values"])]
    pub monitor: Vec<PathBuf>,
    /// How to check it.
    #[command(flatten)]
    pub check: CheckOptions,
    /// What to run.
    #[command(flatten)]
    pub record: RecordOptions,
}

/// What to run, and how it is recorded.
#[derive(Debug, Args)]
pub struct RecordOptions {
    /// End the program after this time (90s, 5m); checking it then takes no longer either, or 30s if that is more, unless --time says otherwise
    #[arg(long, value_name = "TIME", value_parser = number::duration)]
    pub timeout: Option<std::time::Duration>,
    /// A static whose values are recorded; may be given more than once
    #[arg(long, value_name = "NAME")]
    pub watch: Vec<String>,
    /// How much to record.
    #[command(flatten)]
    pub extent: Extent,
    /// The program and its arguments: all that follows it. `--` before it is needed only if its name begins with a dash
    #[arg(trailing_var_arg = true, required = true, value_name = "PROG")]
    pub program: Vec<OsString>,
}

/// How much of a run is recorded.
#[derive(Clone, Debug, Default, Args, serde::Serialize, serde::Deserialize)]
pub struct Extent {
    /// Stop recording when it takes this much disk space (500M, 10G); the program goes on. Without this it stops at
    /// 16G. It also stops when little disk space is left
    #[arg(long, value_name = "SIZE", value_parser = number::size)]
    pub max_size: Option<u64>,
    /// Keep only the end of the run, in about this much disk space (256M): a flight recorder. Findings are as certain as
    /// ever; what happened before is not in the trace
    #[arg(long, value_name = "SIZE", value_parser = number::size)]
    pub keep_last: Option<u64>,
    /// Record memory accesses only in functions that match ('bank::*'), or that are inlined into one; may be given more than
    /// once. Synchronisation is always recorded: observed races stay certain, predictions become candidates
    #[arg(long, value_name = "PATTERN")]
    pub only: Vec<String>,
    /// Record no memory accesses in functions that match, nor in functions inlined into them; may be given more than once
    #[arg(long, value_name = "PATTERN")]
    pub skip: Vec<String>,
    /// Record where control flow goes, so that more can be predicted (engine max, --model sliced). The program must be built
    /// for it, by `cargo foresee build --branches` or `foresee cc --branches`
    #[arg(long)]
    pub branches: bool,
    /// When the program ends, wait for threads that are not joined and still have something to do, but no longer than this
    /// (1s unless you say; 0 for not at all). They are not waited for if they sleep for good
    #[arg(long, value_name = "TIME", value_parser = number::duration)]
    pub exit_wait: Option<std::time::Duration>,
    /// Record a byte of what each read sees, too, and compare: a read that sees another value than the last one, without a
    /// recorded write in between, shows that code wrote which is not recorded. What rests on that memory is a candidate
    #[arg(long)]
    pub values: bool,
}

impl Extent {
    /// Which functions' accesses are recorded.
    pub(crate) fn selection(&self) -> Selection {
        Selection { only: self.only.clone(), skip: self.skip.clone() }
    }

    /// Whether some accesses are not recorded.
    pub(crate) fn leaves_out(&self) -> bool {
        !self.only.is_empty() || !self.skip.is_empty()
    }
}

/// Arguments of `cc` and `c++`.
#[derive(Debug, Args)]
#[command(disable_help_flag = true, disable_version_flag = true)]
pub struct CompileArgs {
    /// Whatever the compiler takes
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
    pub args: Vec<OsString>,
}
