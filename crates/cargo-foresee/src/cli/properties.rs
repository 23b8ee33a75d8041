//! What works on properties: `monitor`, `observe`, `spec`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::number;
use crate::report::format::ReportFormat;

pub(super) const OBSERVE_HELP: &str = "\
Examples:
  foresee observe --listen 7000 --spec flight.rv
  FORESEE_OBSERVER=7000 ./flight
  foresee observe --listen unix:/tmp/foresee.sock --spec flight.rv --breadth 1000
  FORESEE_SECRET=… foresee observe --listen 0.0.0.0:7000 --spec flight.rv

Programs must be built by `foresee cc`, `foresee c++` or `cargo foresee build`, and find `foresee` in PATH. They run as always;
violations are reported while they run, in the run itself and in others that were possible. Those keep the order of
conflicting accesses and of critical sections (causality hb); each is checked before it is reported. With FORESEE_OBSERVER,
`foresee run` and `cargo foresee run` send what the program does to the observer, and check its trace as always. Processes
that a program starts are not observed, nor are tests (`cargo foresee test`).

An address that other machines can reach needs a secret, FORESEE_SECRET, here and for the programs; it is sent unencrypted.
A property with a variable that a program does not have is left out for that program, with a warning.
Ctrl-C ends the observer. Exit codes: 66 if something was found, 0 if not.";

/// Arguments of `monitor`.
#[derive(Debug, Args)]
pub struct MonitorArgs {
    /// The file of properties
    #[arg(value_name = "SPEC")]
    pub spec: PathBuf,
    /// A shared library with monitors for `raw` bodies (include/foresee-monitors.h), which runs in foresee's process; may be given more than
    /// once
    #[arg(long, value_name = "LIBRARY")]
    pub raw_monitors: Vec<PathBuf>,
    /// The events: a trace, `-` for standard input
    #[arg(value_name = "EVENTS", default_value = "-")]
    pub events: PathBuf,
    /// How to print findings: human at once, the others at the end
    #[arg(long, value_enum, default_value = "human")]
    pub format: ReportFormat,
    /// Use no more memory than about this (8G), and stop there: what follows is not monitored (exit code 3 if nothing was found until
    /// then) [default: half of what the machine has]
    #[arg(long, value_name = "BYTES", value_parser = number::count)]
    pub memory: Option<u64>,
    /// Stop at events that no property knows or that have too few or too many values, instead of counting them; and make it an error
    /// (exit code 2) if a recorded run does not have what the properties name
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
    /// A shared library with monitors for `raw` bodies (include/foresee-monitors.h), which runs in foresee's process; may be given more than
    /// once
    #[arg(long, value_name = "LIBRARY")]
    pub raw_monitors: Vec<PathBuf>,
    /// How many cuts of each level of the lattice are followed: 1 is the observed run, `all` is every run [default: all]
    #[arg(long, value_name = "N", value_parser = number::breadth)]
    pub breadth: Option<usize>,
    /// Use no more memory than about this (1G) for all programs together, and a quarter of it for each; what does not fit is left out, and
    /// reported [default: 1G]
    #[arg(long, value_name = "BYTES", value_parser = number::count)]
    pub memory: Option<u64>,
    /// How to print findings: human at once, the others at the end
    #[arg(long, value_enum, default_value = "human")]
    pub format: ReportFormat,
    /// End when so many programs have ended
    #[arg(long, value_name = "N")]
    pub exit_after: Option<usize>,
    /// Make it an error (exit code 2) if a program does not have a variable that the properties name
    #[arg(long)]
    pub strict: bool,
}

/// What to do with files of properties.
#[derive(Debug, Subcommand)]
pub enum SpecCommand {
    /// Check them for errors, and list their properties
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

States with a verdict are labelled with it. Events without an arrow lead to a state from which no verdict is possible.
Grammars (cfg) have no automaton.")]
    Graph(SpecGraphArgs),
}

/// Arguments of `spec graph`.
#[derive(Debug, Args)]
pub struct SpecGraphArgs {
    /// The picture; its ending, .svg or .dot, selects the format [default: DOT on standard output]
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
