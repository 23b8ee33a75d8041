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
of which the contents of the structure are made and compared with the specification's. Commit blocks must be one step each where contents are compared
after each commit.
A violation by the order of commits whose history is linearizable is reported as one of the commit points, with that order.
In a trace (.ft, .std) other runs are looked at as well: those in which one thread is held up for a while and every operation still does what it
did. A violation there is predicted, with the schedule that the checker accepted. A trace without any commit is checked as a history, and
only the run that happened. Other runs are looked at for 10 s, or as long as --time says.

Models and their operations, with what they give back (all are empty at first, a register has 0, or nil in histories of Jepsen):
  register      write(v): \"ok\"; read(); cas(old, new): true or false
  kv            put(k, text), append(k, text): \"ok\"; get(k): a text
  set           add(v), remove(v), contains(v): true or false
  queue         enq(v): \"ok\"; deq(): a value or \"empty\"
  stack         push(v): \"ok\"; pop(): a value or \"empty\"
  pqueue        insert(v): \"ok\"; delete_min(), peek_min(): the smallest or \"empty\"
  counter       inc(), dec(): \"ok\"; get(); fetch_add(n): what it was. 64 bits that wrap around, with a sign or without: -1 and 2^64-1 are the same
  multiset      insert(x), insertPair(x, y): \"success\" or \"failure\"; delete(x), lookup(x): true or false
  bst           as multiset, in a search tree
  tree          insert(k, d): \"ok\"; delete(k): true or false; lookup(k): d or \"none\"
  cache         write(h, bytes), flush(), revoke(h): \"ok\"; read(h): bytes or \"none\"
  vector        add(x), clear(): \"ok\"; lastIndexOf(x), size(): a number
  stringbuffer  set(b, text), append(to, from): \"ok\"; toString(b): a text; of buffers \"a\" and \"b\"
  files         create(f), unlink(f): true or false; write(f, block, words): \"ok\" or \"none\"; read(f, block): words or \"none\"; sync(): \"ok\"
  map           insert(k, v), remove(k), get(k): the value or nil; put(k, v): \"ok\"; get_or_insert(k, v): the value;
                add(k, v), discard(k), contains(k): true or false
  channel       send(v): \"ok\", \"full\" or \"closed\"; recv(): a value, \"empty\" or \"closed\"; send_waiting(v) and recv_waiting() never say
                \"full\" or \"empty\"; close(): \"ok\"

Findings for people go to standard error; --format json, junit and sarif to standard output, or where -o says.
Exit codes: 0 all as specified, 66 not, 3 undecided within the memory and time there was (that some other runs of a trace were not looked at counts only
if --time was given), 2 a file that is wrong or has no operation in it, 1 an output that cannot be written.";

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
