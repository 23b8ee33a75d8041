//! What it costs to have the threads of a recorded program check what they know of each other, beside recording it: the bank in C, every access instrumented.
//!
//! The program prints the processor time of a transfer itself, all threads together. It is built natively and by `foresee cc`; the latter is recorded, recorded and
//! monitored, and monitored alone (`foresee run --monitor`). The property is the library's, with something to be done on a violation, as only such properties are monitored in the process.

use std::path::Path;
use std::process::Command;

use crate::corpus::Failed;
use crate::record::{succeed, tool};

const SPEC: &str = "property AtomicInvocations {
    thread i, j;
    local invocation: int = 0;
    mttl: @i(invocation > 0 -> !exists j != i: invocation == @j @i invocation)
    @violation { abort; }
}
";

/// Of so many runs the least counts.
const RUNS: usize = 5;

pub(crate) fn run(sizes: &[u64]) -> Result<(), Failed> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = own.join("record/c/bank.c");
    let scratch = tempfile::tempdir()?;
    let (native, built) = (scratch.path().join("native"), scratch.path().join("built"));
    let (raw, spec) = (scratch.path().join("raw"), scratch.path().join("bank.rv"));
    std::fs::write(&spec, SPEC)?;
    let flags = ["-O2", "-g", "-pthread", "-o"];
    let include = format!("-I{}", own.join("../include").display());
    succeed(Command::new("cc").args(flags).arg(&native).arg(&source).arg(include))?;
    succeed(Command::new(tool()?).args(["foresee", "cc"]).args(flags).arg(&built).arg(&source))?;
    println!(
        "\n{:<40} {:>12} {:>12} {:>12} {:>12}   target",
        "fully instrumented", "native", "recorded", "both", "monitored"
    );
    for &transfers in sizes {
        let least = |program: &Path, environment: &[(&str, &Path)]| {
            let mut nanos = f64::INFINITY;
            for _ in 0..RUNS {
                let output = Command::new(program)
                    .arg(transfers.to_string())
                    .envs(environment.iter().copied())
                    .output()?;
                nanos = nanos.min(String::from_utf8_lossy(&output.stdout).trim().parse()?);
                if raw.exists() {
                    std::fs::remove_file(&raw)?;
                }
            }
            Ok::<_, Failed>(nanos)
        };
        let native = least(&native, &[])?;
        let recorded = least(&built, &[("FORESEE_RAW", &raw)])?;
        let both = least(&built, &[("FORESEE_RAW", &raw), ("FORESEE_KNOWLEDGE", &spec)])?;
        let monitored = least(&built, &[("FORESEE_KNOWLEDGE", &spec)])?;
        println!(
            "{:<40} {native:>9.0} ns {recorded:>9.0} ns {both:>9.0} ns {monitored:>9.0} ns   {:.2}x of recording; 1x",
            format!("bank in C, {transfers} transfers"),
            monitored / recorded
        );
    }
    Ok(())
}
