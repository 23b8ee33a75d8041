//! What it costs that properties name calls: of functions that none names, of those that one does, recorded and monitored in the process.
//!
//! The program (`bench/record/c/calls.c`) prints the processor time of a call itself. Its functions do nothing, so all that is printed is the call and what
//! foresee adds to it. It is built natively and by `foresee cc`, and run by `foresee run`, with a property about two numbers (`--spec`) or about the call alone
//! (`--monitor`).

use std::path::Path;
use std::process::{Command, ExitCode};

use crate::corpus::Failed;
use crate::record::{succeed, tool};

/// Two integers of each call, and none that is found.
const RECORDED: &str = "property Pair { event call(a, b) = enter(\"named\", a, b) when a < 0; ere: call @match { report \"below\"; } }\n";
/// The call alone.
const MONITORED: &str = "property Calls { event call = enter(\"named\"); event end_program; ere: call* end_program call @match { report \"late\"; } }\n";

/// Of so many runs the least counts.
const RUNS: usize = 5;

pub(crate) fn run(times: u64) -> ExitCode {
    match table(times) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("calls: {why}");
            ExitCode::from(2)
        }
    }
}

fn table(times: u64) -> Result<(), Failed> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("record/c/calls.c");
    let scratch = tempfile::tempdir()?;
    let (native, built) = (scratch.path().join("native"), scratch.path().join("built"));
    let (recorded, monitored) = (scratch.path().join("recorded.rv"), scratch.path().join("monitored.rv"));
    std::fs::write(&recorded, RECORDED)?;
    std::fs::write(&monitored, MONITORED)?;
    let tool = tool()?.with_file_name("foresee");
    let flags = ["-O2", "-g", "-o"];
    succeed(Command::new("cc").args(flags).arg(&native).arg(&source))?;
    succeed(Command::new(&tool).arg("cc").args(flags).arg(&built).arg(&source))?;
    let least = |which: &str, spec: Option<(&str, &Path)>, program: &Path| {
        let mut nanos = f64::INFINITY;
        for _ in 0..RUNS {
            let mut command = Command::new(spec.map_or(program, |_| &tool));
            if let Some((how, spec)) = spec {
                command.args(["run", how]).arg(spec).arg("--").arg(program);
            }
            let output = command.args([which, &times.to_string()]).output()?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let figure = text.lines().find_map(|line| line.trim().parse::<f64>().ok());
            nanos = nanos.min(figure.ok_or_else(|| String::from_utf8_lossy(&output.stderr).into_owned())?);
        }
        Ok::<_, Failed>(nanos)
    };
    println!("{:<66} {:>9}   target", "a call, processor time", "ns");
    let native = least("other", None, &native)?;
    println!("{:<66} {native:>9.2}", "built natively");
    let unrecorded = least("other", None, &built)?;
    println!("{:<66} {unrecorded:>9.2}", "built by foresee, not recorded");
    let other = least("other", Some(("--spec", &recorded)), &built)?;
    println!("{:<66} {other:>9.2}   as not recorded", "recorded, a property names another function");
    let pair = least("named", Some(("--spec", &recorded)), &built)?;
    println!("{:<66} {pair:>9.2}   60", "recorded, a property asks for its two numbers");
    let inside = least("named", Some(("--monitor", &monitored)), &built)?;
    println!("{:<66} {inside:>9.2}   40", "monitored in the process, without parameters");
    Ok(())
}
