//! Whether threads that share nothing are in each other's way when they are recorded: one program in C (`record/c/scale.c`), with one thread up to twice as many as
//! there are processors.
//!
//! It prints the processor time of an access, user and system of all threads together: with nothing shared that is the same for all.

use std::path::{Path, PathBuf};
use std::process::Command;

use foresee_symbols::{CLOCK_VARIABLE, best_clock};

use crate::corpus::Failed;
use crate::record::{remove_raw, succeed, tool};

/// How often each thread goes through its loop, for each percent of the work.
const ROUNDS: u64 = 100_000;

pub(crate) fn run(percent: u32, times: usize) -> Result<(), Failed> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("record/c/scale.c");
    let scratch = tempfile::tempdir()?;
    let raw = scratch.path().join("raw");
    let build = |compiler: &mut Command, name: &str| {
        let to = scratch.path().join(name);
        succeed(compiler.args(["-O2", "-g", "-pthread", "-o"]).arg(&to).arg(&source))?;
        Ok::<PathBuf, Failed>(to)
    };
    let native = build(&mut Command::new("cc"), "native")?;
    let tsan = build(Command::new("cc").arg("-fsanitize=thread"), "tsan")?;
    let foresee = build(Command::new(tool()?).args(["foresee", "cc"]), "foresee")?;
    let least = |program: &Path, threads: usize, records: bool| {
        let mut nanos = f64::INFINITY;
        for _ in 0..times {
            let mut run = Command::new(program);
            run.arg(threads.to_string()).arg((u64::from(percent) * ROUNDS).to_string());
            if records {
                run.env("FORESEE_RAW", &raw);
                run.env(CLOCK_VARIABLE, best_clock(program).unwrap_or("counter"));
            }
            let output = run.output()?;
            nanos = nanos.min(String::from_utf8_lossy(&output.stdout).trim().parse()?);
            remove_raw(&raw)?;
        }
        Ok::<f64, Failed>(nanos)
    };
    println!("\nprocessor time of an access by threads that share nothing, in ns");
    println!("{:>9} {:>8} {:>14} {:>8} {:>8}", "threads", "native", "not recording", "TSan", "foresee");
    let processors = std::thread::available_parallelism()?.get();
    let mut threads = 1;
    while threads <= 2 * processors {
        let figures = [
            least(&native, threads, false)?,
            least(&foresee, threads, false)?,
            least(&tsan, threads, false)?,
            least(&foresee, threads, true)?,
        ];
        let [native, idle, tsan, foresee] = figures;
        println!("{threads:>9} {native:>8.2} {idle:>14.2} {tsan:>8.2} {foresee:>8.2}");
        threads *= 2;
    }
    println!("target: two threads on two processors within 15 % of one");
    Ok(())
}
