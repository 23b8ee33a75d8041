//! `foresee trace validate`: is the trace whole, and a possible run?

use std::fmt::Write as _;
use std::process::ExitCode;

use foresee_trace::Names;
use foresee_trace::validate::{Problem, Validator};

use crate::cli::ValidateArgs;
use crate::error::{CliError, display_name};
use crate::exit;
use crate::input::Input;
use crate::number::grouped;
use crate::stdout;

pub(crate) fn run(args: &ValidateArgs) -> Result<ExitCode, CliError> {
    let mut input = Input::open(&args.input)?;
    let mut validator = Validator::new();
    let mut events = 0;
    while input.advance()? {
        let event = input.event();
        let names = input.names();
        validator.event(names, events, &event);
        events += 1;
    }
    input.end_progress();
    let verdict = validator.finish();
    let names = input.source().names();
    let name = display_name(&args.input);
    let damage = input.source().damage();

    let mut text = String::new();
    for problem in &verdict.problems {
        push_problem(&mut text, names, problem);
    }
    let more = verdict.problem_count - verdict.problems.len() as u64;
    if more > 0 {
        let _ = writeln!(text, "… and {} more", grouped(more));
    }
    let events = grouped(events);
    let _ = match verdict.problem_count {
        0 if damage.is_some() => writeln!(text, "{name}: a possible run up to the damage: {events} events"),
        0 => {
            let (threads, locks) = (names.threads().len() as u64, names.locks().len() as u64);
            writeln!(text, "valid: {events} events, {} threads, {} locks", grouped(threads), grouped(locks))
        }
        1 => writeln!(text, "{name}: not a possible run: 1 problem in {events} events"),
        n => writeln!(text, "{name}: not a possible run: {} problems in {events} events", grouped(n)),
    };
    stdout::print(&text)?;
    if let Some(damage) = damage {
        return Err(CliError::Usage(format!("{name}: {damage}")));
    }
    Ok(ExitCode::from(if verdict.is_valid() { exit::NOTHING_FOUND } else { exit::BAD_INPUT }))
}

fn push_problem(text: &mut String, names: &Names, problem: &Problem) {
    let place = match names.location_text(problem.loc) {
        place if place.is_empty() => String::new(),
        place => format!(" at {place}"),
    };
    let thread = names.thread_name(problem.thread);
    let _ = writeln!(text, "event {} of `{thread}`{place}: {}", problem.index, problem.what);
}
