//! `foresee trace gen`: synthetic traces.

use foresee_trace::EventSource as _;
use foresee_trace::generate::{self, Generator, Shape};

use crate::cli::{Forks, GenArgs};
use crate::error::CliError;
use crate::output::{Output, Target};
use crate::progress::Progress;

pub(crate) fn run(args: &GenArgs) -> Result<(), CliError> {
    let target = match &args.output {
        Some(path) => Target::file(path)?,
        None => Target::Stdout,
    };
    let mut source = Generator::new(&shape(args));
    let mut output = Output::new(target, source.facts())?;
    let mut progress = Progress::new();
    while source.advance().map_err(|why| CliError::Usage(why.to_string()))? {
        output.push(source.names(), &source.event())?;
        if progress.is_due(1) {
            let (done, total) = source.progress();
            progress.show(done, total);
        }
    }
    progress.end();
    output.finish(source.names(), &source.trust())
}

fn shape(args: &GenArgs) -> Shape {
    Shape {
        events: args.events,
        threads: args.threads,
        variables: args.variables,
        locks: args.locks,
        skew: args.skew,
        section: args.section,
        nesting: args.nesting,
        inversions: args.inversions,
        forks: match args.forks {
            Forks::Star => generate::Forks::Star,
            Forks::Tree => generate::Forks::Tree,
            Forks::Chain => generate::Forks::Chain,
            Forks::None => generate::Forks::None,
        },
        writes: args.writes,
        unprotected: args.unprotected,
        seed: args.seed,
    }
}
