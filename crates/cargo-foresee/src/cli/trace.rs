//! What works on traces: `trace info`, `dump`, `convert`, `validate`, `gen`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::number;

/// What can be done with traces.
#[derive(Debug, Subcommand)]
pub enum TraceCommand {
    /// Show what is in a trace: events, threads, locks, variables, how it was recorded
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
    /// Convert a trace between the binary (.ft) and the text format (.std)
    #[command(after_help = "\
Examples:
  foresee trace convert run.ft -o run.std
  foresee trace convert run.std -o run.ft

OUT appears when it is complete: a conversion that fails leaves nothing behind, and an existing OUT unchanged.")]
    Convert(ConvertArgs),
    /// Check that a trace is whole and a run that could have happened
    #[command(after_help = "\
Examples:
  foresee trace validate run.ft && echo fine

Reports what is impossible in any run: two holders of a lock, a thread that acts before its fork or after its join, a read of a
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
    /// Look at this many events
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
    /// The new trace; its ending, .ft or .std, selects the format
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
