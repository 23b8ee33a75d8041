//! What can be typed: subcommands, flags, and the help that teaches them.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use foresee_symbols::recorded_code::Selection;

use crate::number;
pub use crate::report::format::ReportFormat;

/// Run once. See the bugs of every other schedule.
///
/// foresee records one run of a multithreaded program and finds what could go wrong in the runs that did not happen. What it
/// predicts, it proves: every prediction comes with a schedule that shows it.
#[derive(Debug, Parser)]
#[command(
    name = "foresee",
    version,
    arg_required_else_help = true,
    subcommand_required = true,
    propagate_version = true,
    after_help = "\
Examples:
  cargo foresee run --example flight     build a Rust program, record it, and find the bugs of the other schedules
  cargo foresee test                     the same for each test
  foresee cc counter.c -o counter        build a program to be recorded
  foresee run -- ./counter               record it, and find the bugs of the other schedules
  foresee check run.ft                   the same from a recorded trace
  foresee trace info run.ft              what is in a recorded trace
  foresee trace dump run.ft | less       read it, event by event
  foresee trace gen --events 10M -o synthetic.ft

Traces end in .ft (binary) or .std (text); a text trace is accepted wherever a trace is, and `-` is standard input.
Exit codes: 0 nothing found, 66 findings, 2 bad usage or input, 1 foresee itself failed,
3 undecided within the time or memory given."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What foresee can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Build, run and test a cargo project, recorded: `cargo foresee run`, `test`, `build`, `nextest`
    #[command(subcommand, after_help = CARGO_HELP, override_usage = "cargo foresee run|test|build|nextest [ARGS]\n       \
        foresee cargo run|test|build|nextest [ARGS]")]
    Cargo(CargoCommand),
    /// Record a program, then check its trace
    #[command(after_help = RUN_HELP)]
    Run(RunArgs),
    /// Record a program
    #[command(after_help = "\
Examples:
  foresee record -- ./server --port 8080
  foresee record -o run.std --timeout 30s -- ./worker
  foresee record --watch landing --watch radio -- ./controller
  foresee record --max-size 2G -- ./server
  foresee record --keep-last 256M -- ./server
  foresee record --only 'bank::*' --skip '*::log' -- ./server

The program keeps its standard input and output and gets the signals; Ctrl-C ends it, and what it did until then is in
the trace. The exit code is the program's own, 128 + n if signal n ended it.")]
    Record(RecordArgs),
    /// Compile and link C, instrumented: a drop-in for the compiler
    #[command(name = "cc", override_usage = "foresee cc ARGS…", after_help = CC_HELP)]
    Cc(CompileArgs),
    /// Compile and link C++, instrumented: a drop-in for the compiler
    #[command(name = "c++", override_usage = "foresee c++ ARGS…", after_help = CC_HELP)]
    Cxx(CompileArgs),
    /// Find what could go wrong in the runs that did not happen, from a recorded trace
    #[command(after_help = CHECK_HELP)]
    Check(CheckArgs),
    /// Hold properties against a stream of events, without prediction
    #[command(after_help = "\
Examples:
  foresee monitor specs/iterator.rv run.ft
  my-server --log-events | foresee monitor protocol.rv -
  foresee monitor --strict protocol.rv events.std

A line is THREAD|event(NAME, @OBJECT, NUMBER)|PLACE, or any event of a trace: T1|acq(l)|a.rs:3, T1|w(x=1).
Verdicts that have a handler are told as they come. Exit codes: 66 if there were any, 2 for a spec or stream that is wrong.")]
    Monitor(MonitorArgs),
    /// Hold properties against programs that run now, and against the runs they could have been
    #[command(after_help = OBSERVE_HELP)]
    Observe(ObserveArgs),
    /// Check, format and draw properties
    #[command(subcommand)]
    Spec(SpecCommand),
    /// Look into traces, convert, check and generate them
    #[command(subcommand)]
    Trace(TraceCommand),
    /// Print a completion script for a shell
    #[command(after_help = "\
Examples:
  foresee completions bash > ~/.local/share/bash-completion/completions/foresee
  foresee completions zsh > ~/.zfunc/_foresee
  foresee completions fish > ~/.config/fish/completions/foresee.fish")]
    Completions {
        /// Which shell
        shell: Shell,
    },
}

/// What cargo is asked to do.
#[derive(Debug, Subcommand)]
pub enum CargoCommand {
    /// `run`, `test`, `build`, `nextest`, with all their arguments as they are.
    #[command(external_subcommand)]
    Any(Vec<OsString>),
}

/// `cargo foresee run|test|build|nextest`: options of foresee; all others are cargo's.
///
/// Builds with your own cargo, instrumented, to target/foresee; runs, records and checks. Every option that is not listed here
/// goes to cargo, and what follows `--` to the program, or to the test harness.
#[derive(Debug, Parser)]
#[command(
    no_binary_name = true,
    disable_version_flag = true,
    override_usage = "cargo foresee run|test|build|nextest [OPTIONS] [CARGO'S OPTIONS] [-- ARGS]",
    after_help = CARGO_HELP
)]
pub struct CargoOptions {
    /// Keep the trace in this file (.ft or .std); of tests, one trace each in this folder
    #[arg(long, value_name = "TRACE")]
    pub trace: Option<PathBuf>,
    /// End a program or test after so long (90s, 5m)
    #[arg(long, value_name = "TIME", value_parser = number::duration)]
    pub timeout: Option<std::time::Duration>,
    /// A static whose values are recorded; may be given more than once
    #[arg(long, value_name = "NAME")]
    pub watch: Vec<String>,
    /// How much to record.
    #[command(flatten)]
    pub extent: Extent,
    /// How to check it.
    #[command(flatten)]
    pub check: CheckOptions,
}

const CARGO_HELP: &str = "\
Examples:
  cargo foresee run --example flight
  cargo foresee run --release --bin server --timeout 30s -- --port 8080
  cargo foresee test -p my-crate --engine hb,syncp -- queue::
  cargo foresee test --format junit --output foresee.xml
  cargo foresee nextest --workspace
  cargo foresee build && foresee run -- target/foresee/x86_64-unknown-linux-gnu/debug/server

Options of foresee may stand anywhere before `--`. Each test runs in a process of its own and is checked by itself.
Your RUSTFLAGS, cargo's configuration and your own runner are kept. `foresee run -- PROG` runs a program that is built;
`cargo foresee run` is cargo's run.
Exit codes: 66 findings (--exit-code changes it), 101 the build or a test failed, otherwise the program's own.";

const RUN_HELP: &str = "\
Examples:
  foresee cc counter.c -o counter && foresee run -- ./counter
  foresee run --format json --output result.json -- ./counter 3
  foresee run --trace run.ft --timeout 30s -- ./server

Exit codes: 66 findings (--exit-code changes it), otherwise the program's own, 128 + n if signal n ended it.";

const CC_HELP: &str = "\
Examples:
  foresee cc -O2 counter.c -o counter
  make CC='foresee cc' CXX='foresee c++'
  CC='foresee cc' CXX='foresee c++' cmake -B build
  foresee cc --branches -O2 counter.c -o counter

The one option of ours, --branches, comes first: what is compiled tells where its control flow goes (`foresee run --help`).
FORESEE_CC and FORESEE_CXX name the compilers (gcc or clang) if not cc and c++, FORESEE_RUNTIME the runtime library.";

const OBSERVE_HELP: &str = "\
Examples:
  foresee observe --listen 7000 --spec flight.rv
  FORESEE_OBSERVER=7000 ./flight
  foresee observe --listen unix:/tmp/foresee.sock --spec flight.rv --breadth 1000
  FORESEE_SECRET=… foresee observe --listen 0.0.0.0:7000 --spec flight.rv

Programs must be built by `foresee cc`, `foresee c++` or `cargo foresee build`, and find `foresee` in PATH. They run as always; what
a property says of a run that they could have been is told while they run. Those runs keep the order of conflicting
accesses and of critical sections (causality hb); each is checked before it is told. `foresee run` and `cargo foresee run` with
FORESEE_OBSERVER tell the observer what the program does, and check its trace as always. Processes that a program starts
are not observed, nor are tests (`cargo foresee test`).

An address that others than this machine can reach needs a secret, FORESEE_SECRET, here and for the programs; it is sent as it is.
Ctrl-C ends it. Exit codes: 66 if something was found, 0 if not.";

const CHECK_HELP: &str = "\
Engines, in the order in which they run:
  hb         races of this very run, by happens-before (observed)
  syncp      races of runs that keep the order of critical sections (predicted)
  deadlock   lock-order deadlocks of any number of threads (observed, predicted)
  atomicity  atomic blocks that do not behave like one step (observed, predicted)
  property   what the properties of --spec say of this run (observed) and of others that its events allow (predicted)
  reverse    races and deadlocks of runs that reverse critical sections (predicted)
  max        every race that a correct reordering can show, within a window (predicted)
  lockset    pairs that share no lock: candidates, proven by nothing; only on request

Examples:
  foresee check run.ft
  foresee check run.std --engine hb,syncp
  foresee check run.ft --format json --output result.json
  foresee check run.ft --format sarif --output foresee.sarif
  foresee check run.ft --spec specs/locks.rv

Every predicted finding has a witness: a schedule that the program can follow, accepted by an independent checker.
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
    /// Stop after so long (90s, 5m) and tell what is known; without it, only the search for hard cases is limited
    #[arg(long, value_name = "TIME", value_parser = number::duration)]
    pub time: Option<std::time::Duration>,
    /// Use no more memory than about this (8G); longer traces are predicted over their beginning, and of lattices that
    /// are too wide the most promising part is explored [default: half of what the machine has]
    #[arg(long, value_name = "BYTES", value_parser = number::count)]
    pub memory: Option<u64>,
    /// A file of suppressions, as for ThreadSanitizer; may be given more than once
    #[arg(long, value_name = "FILE")]
    pub suppressions: Vec<PathBuf>,
    /// A function that is meant to be atomic; may be given more than once
    #[arg(long, value_name = "FUNCTION")]
    pub atomic: Vec<String>,
    /// A file of properties to hold against the run; may be given more than once
    #[arg(long, value_name = "FILE")]
    pub spec: Vec<PathBuf>,
    /// Which other runs properties are held against [default: weak]
    #[arg(long, value_enum, ignore_case = true)]
    pub model: Option<CausalityModel>,
    /// How many cuts of each level of the lattice are followed: 1 is this very run, `all` is every run [default: all]
    #[arg(long, value_name = "N", value_parser = number::breadth)]
    pub breadth: Option<usize>,
    /// Show at most so many counterexamples for each property, the shortest first [default: 10]
    #[arg(long, value_name = "N")]
    pub counterexamples: Option<usize>,
}

/// Which runs an execution promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, serde::Serialize, serde::Deserialize)]
pub enum CausalityModel {
    /// Conflicting accesses and critical sections stay in order
    Hb,
    /// A read keeps its write; writes with their reads, and critical sections, may change places
    Weak,
    /// The same for those accesses only that the property depends on, by branches and data as the trace tells
    Sliced,
    /// For properties the same as `sliced`; that reads may read other writes of the same value is for races only (engine `max`)
    Max,
}

/// Arguments of `record`.
#[derive(Debug, Args)]
pub struct RecordArgs {
    /// The trace to write; its ending, .ft or .std, says which form
    #[arg(short, long, value_name = "TRACE", default_value = "foresee.ft")]
    pub output: PathBuf,
    /// Keep what the program itself wrote, as TRACE with the ending .raw
    #[arg(long)]
    pub keep_raw: bool,
    /// What to run.
    #[command(flatten)]
    pub options: RecordOptions,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Keep the trace in this file; its ending, .ft or .std, says which form
    #[arg(long, value_name = "TRACE")]
    pub trace: Option<PathBuf>,
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
    /// End the program after so long (90s, 5m)
    #[arg(long, value_name = "TIME", value_parser = number::duration)]
    pub timeout: Option<std::time::Duration>,
    /// A static whose values are recorded; may be given more than once
    #[arg(long, value_name = "NAME")]
    pub watch: Vec<String>,
    /// How much to record.
    #[command(flatten)]
    pub extent: Extent,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "PROG")]
    pub program: Vec<OsString>,
}

/// How much of a run is recorded.
#[derive(Clone, Debug, Default, Args, serde::Serialize, serde::Deserialize)]
pub struct Extent {
    /// Stop recording when it has taken so much of the disk (500M, 10G); the program goes on. Without this, recording stops
    /// when little of the disk is left
    #[arg(long, value_name = "SIZE", value_parser = number::size)]
    pub max_size: Option<u64>,
    /// Keep only the end of the run, in about so much of the disk (256M): a flight recorder. What is found is as certain as
    /// ever; what happened before is not in the trace
    #[arg(long, value_name = "SIZE", value_parser = number::size)]
    pub keep_last: Option<u64>,
    /// Record accesses to memory only in functions that match ('bank::*'), or are inlined into one; may be given more than once.
    /// What synchronises is always recorded: races that are observed stay certain, predictions become candidates
    #[arg(long, value_name = "PATTERN")]
    pub only: Vec<String>,
    /// Record no accesses to memory in functions that match, nor in what is inlined into them; may be given more than once
    #[arg(long, value_name = "PATTERN")]
    pub skip: Vec<String>,
    /// Record where control flow goes: more runs can then be proven (engine max, --model sliced). The program has to be built for it, by
    /// `cargo foresee build --branches` or `foresee cc --branches`
    #[arg(long)]
    pub branches: bool,
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

/// Arguments of `monitor`.
#[derive(Debug, Args)]
pub struct MonitorArgs {
    /// The file of properties
    #[arg(value_name = "SPEC")]
    pub spec: PathBuf,
    /// The events: a trace, `-` for standard input
    #[arg(value_name = "EVENTS", default_value = "-")]
    pub events: PathBuf,
    /// How to tell: human or json
    #[arg(long, value_enum, default_value = "human")]
    pub format: ReportFormat,
    /// Refuse events that no property knows, and events with too few or too many values, instead of counting them
    #[arg(long)]
    pub strict: bool,
}

/// Arguments of `observe`.
#[derive(Debug, Args)]
pub struct ObserveArgs {
    /// Where to listen: PORT (of this machine only), HOST:PORT, or unix:PATH
    #[arg(long, value_name = "ADDR")]
    pub listen: String,
    /// The file of properties
    #[arg(long, value_name = "FILE")]
    pub spec: PathBuf,
    /// How many cuts of each level of the lattice are followed: 1 is the observed run, `all` is every run [default: all]
    #[arg(long, value_name = "N", value_parser = number::breadth)]
    pub breadth: Option<usize>,
    /// Use no more memory than about this (1G) for each program; what does not fit is left out, and told [default: 256M
    /// for each property]
    #[arg(long, value_name = "BYTES", value_parser = number::count)]
    pub memory: Option<u64>,
    /// How to tell: human, at once, or json, at the end
    #[arg(long, value_enum, default_value = "human")]
    pub format: ReportFormat,
    /// End when so many programs have ended
    #[arg(long, value_name = "N")]
    pub exit_after: Option<usize>,
}

/// What to do with files of properties.
#[derive(Debug, Subcommand)]
pub enum SpecCommand {
    /// Say what is wrong with them, and list their properties
    Check {
        /// The files
        #[arg(value_name = "SPEC", required = true)]
        files: Vec<PathBuf>,
    },
    /// Format them
    Fmt(SpecFmtArgs),
    /// Draw their automata
    #[command(after_help = "\
Examples:
  foresee spec graph specs/files.rv -o files.svg
  foresee spec graph specs/files.rv --property DoubleClose | dot -Tpdf -o close.pdf

States with a verdict are marked by it. Events without an arrow lead to where no verdict can come any more. Grammars (cfg) have no
automaton.")]
    Graph(SpecGraphArgs),
}

/// Arguments of `spec graph`.
#[derive(Debug, Args)]
pub struct SpecGraphArgs {
    /// The picture; its ending, .svg or .dot, says which form [default: DOT on standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Draw only this property; may be given more than once
    #[arg(long, value_name = "NAME")]
    pub property: Vec<String>,
    /// The file of properties
    #[arg(value_name = "SPEC")]
    pub file: PathBuf,
}

/// Arguments of `spec fmt`.
#[derive(Debug, Args)]
pub struct SpecFmtArgs {
    /// Change nothing, list the files that are not formatted; exit code 66 if there are any
    #[arg(long)]
    pub check: bool,
    /// The files
    #[arg(value_name = "SPEC", required = true)]
    pub files: Vec<PathBuf>,
}

/// Arguments of `cc` and `c++`.
#[derive(Debug, Args)]
#[command(disable_help_flag = true, disable_version_flag = true)]
pub struct CompileArgs {
    /// Whatever the compiler takes
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
    pub args: Vec<OsString>,
}

/// What can be done with traces.
#[derive(Debug, Subcommand)]
pub enum TraceCommand {
    /// Tell what is in a trace: events, threads, locks, variables, how it was recorded
    #[command(after_help = "\
Examples:
  foresee trace info run.ft
  foresee trace info --format json run.ft | jq .events

A damaged trace is summarised up to the damage, with a warning. Memory does not grow with the length of the trace.")]
    Info(InfoArgs),
    /// Print a trace as text, one event per line
    #[command(after_help = "\
Examples:
  foresee trace dump run.ft | less
  foresee trace dump run.ft --from 1M --count 100
  foresee trace dump run.ft --thread worker-1

Each line is THREAD|OPERATION(TARGET)|LOCATION. Events are numbered from 0; --from and --count mean those numbers,
whichever thread is shown.")]
    Dump(DumpArgs),
    /// Convert a trace between the binary (.ft) and the text form (.std)
    #[command(after_help = "\
Examples:
  foresee trace convert run.ft -o run.std
  foresee trace convert run.std -o run.ft

OUT appears when it is complete: a conversion that fails leaves nothing behind, and an older OUT as it was.")]
    Convert(ConvertArgs),
    /// Check that a trace is whole and a run that could have happened
    #[command(after_help = "\
Examples:
  foresee trace validate run.ft && echo fine

Reports what no run can do: two holders of a lock, a thread that acts before its fork or after its join, a read of a
value that was not written. Exit code 0 if there is nothing of that kind, 2 otherwise.")]
    Validate(ValidateArgs),
    /// Generate a synthetic trace of any size, for benchmarks and experiments
    #[command(after_help = "\
Examples:
  foresee trace gen --events 20                          a few events, as text
  foresee trace gen --events 100M -o big.ft
  foresee trace gen --unprotected 0 --seed 7 -o norace.std
  foresee trace gen --nesting 3 --inversions 0.1 -o deadlocks.ft

The same options give the same trace, on every machine. Numbers may end in k, M or G.")]
    Gen(GenArgs),
}

/// How to print results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Human,
    /// One JSON object
    Json,
}

/// Arguments of `trace info`.
#[derive(Debug, Args)]
pub struct InfoArgs {
    /// The trace, `-` for standard input
    #[arg(value_name = "TRACE")]
    pub input: PathBuf,
    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// Arguments of `trace dump`.
#[derive(Debug, Args)]
pub struct DumpArgs {
    /// The trace, `-` for standard input
    #[arg(value_name = "TRACE")]
    pub input: PathBuf,
    /// Begin at this event
    #[arg(long, value_name = "INDEX", default_value = "0", value_parser = number::count)]
    pub from: u64,
    /// Look at so many events
    #[arg(long, value_name = "N", value_parser = number::count)]
    pub count: Option<u64>,
    /// Show only the events of this thread
    #[arg(long, value_name = "NAME")]
    pub thread: Option<String>,
}

/// Arguments of `trace convert`.
#[derive(Debug, Args)]
pub struct ConvertArgs {
    /// The trace, `-` for standard input
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// The new trace; its ending, .ft or .std, says which form
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
}

/// Arguments of `trace validate`.
#[derive(Debug, Args)]
pub struct ValidateArgs {
    /// The trace, `-` for standard input
    #[arg(value_name = "TRACE")]
    pub input: PathBuf,
}

/// Who creates whom in a generated trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Forks {
    /// T0 forks all others and joins them at the end
    Star,
    /// Every thread forks two others
    Tree,
    /// Every thread forks the next
    Chain,
    /// All threads are there from the start
    None,
}

/// Arguments of `trace gen`.
#[derive(Debug, Args)]
pub struct GenArgs {
    /// Where to write, .ft or .std; without it, text to standard output
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// How many events
    #[arg(short = 'n', long, value_name = "N", default_value = "1M", value_parser = number::count)]
    pub events: u64,
    /// How many threads
    #[arg(long, value_name = "N", default_value = "8", value_parser = number::positive::<1_000_000>)]
    pub threads: u32,
    /// How many variables
    #[arg(long, value_name = "N", default_value = "1000", value_parser = number::positive::<10_000_000>)]
    pub variables: u32,
    /// How many locks; without any, nothing is protected
    #[arg(long, value_name = "N", default_value = "20", value_parser = number::up_to::<10_000_000>)]
    pub locks: u32,
    /// How unevenly variables are accessed: 0 evenly, otherwise the exponent of a Zipf distribution
    #[arg(long, value_name = "EXPONENT", default_value = "0", value_parser = number::exponent)]
    pub skew: f64,
    /// How many accesses a critical section has on average
    #[arg(long, value_name = "N", default_value = "4", value_parser = number::positive::<1_000_000_000>)]
    pub section: u32,
    /// How many locks a thread holds at most
    #[arg(long, value_name = "DEPTH", default_value = "2", value_parser = number::positive::<1000>)]
    pub nesting: u32,
    /// Share of nested sections that take their locks in the opposite order
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = number::share)]
    pub inversions: f64,
    /// Who creates whom
    #[arg(long, value_enum, default_value_t = Forks::Star)]
    pub forks: Forks,
    /// Share of accesses that write
    #[arg(long, value_name = "SHARE", default_value = "0.3", value_parser = number::share)]
    pub writes: f64,
    /// Share of accesses outside of critical sections; 0 for a trace without races
    #[arg(long, value_name = "SHARE", default_value = "0.1", value_parser = number::share)]
    pub unprotected: f64,
    /// Other seeds give other traces
    #[arg(long, value_name = "N", default_value = "0")]
    pub seed: u64,
}
