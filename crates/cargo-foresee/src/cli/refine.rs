//! `refine`: operations against a specification.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::number;
use crate::report::format::ReportFormat;

pub(super) const REFINE_HELP: &str = "\
Examples:
  foresee refine run.log                       a log of a program with commit actions (crate foresee, feature refine)
  foresee refine cases.json                    histories and refinement logs in JSON
  foresee refine --model register etcd.log     what Jepsen printed
  foresee refine --model kv history.edn        a history of Jepsen or Knossos in EDN
  foresee refine --model multiset run.ft       a recorded program that says what its operations do (foresee.h, or the crate foresee)

A history has calls and returns; it is checked for linearizability: is there an order of the operations, each between its call and its return,
that the model allows? A refinement log has commit actions as well, whose order is the only one that is tried, and writes,
of which the contents of the structure are made and compared with the specification's.
A violation by the order of commits whose history is linearizable is reported as one of the commit points, with that order.
In a trace (.ft, .std) other runs are looked at as well: those in which one thread is held up for a while and every operation still does what it
did. A violation there is predicted, with the schedule that the checker accepted.
Exit codes: 0 all as specified, 66 not, 3 undecided within the memory and time given, 2 a file that is wrong.";

/// Arguments of `refine`.
#[derive(Debug, Args)]
pub struct RefineArgs {
    /// The history, log or trace, `-` for standard input
    #[arg(value_name = "FILE")]
    pub input: PathBuf,
    /// What the operations are of: register, kv, set, queue, stack, pqueue, counter, multiset, bst, tree, cache, vector, stringbuffer, files, map, channel
    /// [default: what the file says]
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Which orders count for a history
    #[arg(long, value_enum, default_value = "linearizable")]
    pub consistency: Consistency,
    /// Where the contents of a structure are compared with the specification's
    #[arg(long, value_enum, default_value = "commits")]
    pub views: Views,
    /// How to print findings
    #[arg(long, value_enum)]
    pub format: Option<ReportFormat>,
    /// Write the findings to this file
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Exit with this code if there are findings [default: 66]
    #[arg(long, value_name = "N")]
    pub exit_code: Option<u8>,
    /// Give up after this time (90s, 5m)
    #[arg(long, value_name = "TIME", value_parser = number::duration)]
    pub time: Option<std::time::Duration>,
    /// Remember no more states than fit here (8G) [default: 1G]
    #[arg(long, value_name = "BYTES", value_parser = number::count)]
    pub memory: Option<u64>,
}

/// Which orders count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Consistency {
    /// What returned before another was called comes before it
    Linearizable,
    /// Each client's operations stay in order
    Sequential,
}

/// Where views are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Views {
    /// After each commit
    Commits,
    /// Where no operation is under way: finds less, and later, but needs no commit blocks
    Quiescence,
}
