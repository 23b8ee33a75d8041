//! `foresee observe`: checks properties of programs while they run, in the run itself and in others that were possible.

use std::process::ExitCode;
use std::sync::Arc;

use foresee_lattice::explorer::Breadth;
use foresee_lattice::online::{Limits, stages};

use crate::cli::ObserveArgs;
use crate::error::{self, CliError, Severity, without_code};
use crate::observer::address::Address;
use crate::observer::secret;
use crate::observer::server::Observer;
use crate::observer::shared::Shared;
use crate::processes::SECRET_VARIABLE;
use crate::report::format::ReportFormat;
use crate::report::results::Results;
use crate::report::viewpoint::Viewpoint;
use crate::unmatched::has_mistake;
use crate::{exit, interrupt, modules, specs, stdout};

/// For all programs together, unless something else is asked for.
const MEMORY: u64 = 1 << 30;

pub(crate) fn run(args: &ObserveArgs) -> Result<ExitCode, CliError> {
    let spec = specs::read(&args.spec)?;
    modules::load(&args.raw_monitors)?;
    let compiled = specs::load(&args.spec, specs::Warnings::Printed)?;
    specs::without_mttl(&args.spec, &compiled)?;
    specs::without_fields(&args.spec, &compiled)?;
    specs::without_times(&args.spec, &compiled.properties)?;
    let properties = compiled.properties;
    let refused = |why| CliError::Usage(format!("{}: {why}", args.spec.display()));
    stages(&properties).map_err(|why| refused(why.to_string()))?;
    let address = Address::parse(&args.listen).map_err(|why| CliError::Usage(format!("--listen: {why}")))?;
    let secret = secret();
    if secret.is_none() && !address.is_local() {
        return Err(CliError::Usage(format!(
            "--listen {}: other machines can reach it, so a secret is needed: set {SECRET_VARIABLE} here and \
             for the programs",
            args.listen
        )));
    }
    let listener = address.listen().map_err(|why| {
        CliError::Usage(format!("--listen {}: cannot listen: {}", args.listen, without_code(&why)))
    })?;
    interrupt::finish_on_interrupt();
    let breadth = match args.breadth {
        Some(most) if most < usize::MAX => Breadth::Most(most),
        _ => Breadth::All,
    };
    let limits = Limits { breadth, ..Limits::default() };
    let memory = args.memory.unwrap_or(MEMORY).try_into().unwrap_or(usize::MAX);
    error::print(Severity::Note, &format!("observing programs that run with FORESEE_OBSERVER={listener}"));
    let mistakes = if args.strict { Severity::Error } else { Severity::Warning };
    let shared = Shared::new(properties, limits, memory, args.format == ReportFormat::Human, mistakes);
    let report = Arc::new(Observer::new(spec, secret, shared)).serve(&listener, args.exit_after);
    let is_wrong = args.strict && has_mistake(&report.stats.unmatched);
    let code = if is_wrong {
        exit::BAD_INPUT
    } else if report.findings.is_empty() {
        exit::NOTHING_FOUND
    } else {
        exit::FINDINGS
    };
    // People have read along.
    if args.format != ReportFormat::Human {
        stdout::print(&args.format.render(Results::Run(&[report]), &Viewpoint::default()))?;
    }
    Ok(ExitCode::from(code))
}
