//! Whether recording with `--keep-last` and observing go on for as long as one likes in the same memory and on the same disk: an hour of both, side by side.
//!
//! One program (`record/c/soak.c`), which does the same over and over, runs twice: recorded by `foresee record --keep-last`, as fast as it can, and observed by
//! `foresee observe`, which has a property of two of its variables, as fast as can be read along (a program that is faster leaves on the disk what is still to be read). Each process that takes part is looked at a few dozen times: what it has resident, and how much the files
//! take. What has been constant since the first fifth (buffers fill, and code is loaded) is said to be: in the second half of the rest nothing takes more than in the first, but for a tenth and
//! four megabytes. (On average: what waits on the disk to be read along goes up and down with what else the machine does.) A thousand threads come and go in a second: in an hour three and a half millions, of which nothing may stay.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use crate::corpus::Failed;
use crate::record::{succeed, tool};

const SPEC: &str = "property Valve {
    var pressure, valve: int;
    ptltl: valve == 1 -> <*> pressure == 2
    @violation { report \"the valve opens without pressure\"; }
}
";

/// How much of the run is kept.
const KEPT: &str = "64M";

/// So often everything is looked at.
const LOOKS: u32 = 30;

/// How often threads take a lock at a go: what is recorded, and what is observed.
const ROUNDS: [&str; 2] = ["1000", "10"];

/// What is looked at, in this order.
const COLUMNS: [&str; 7] =
    ["record", "its program", "its disk", "observe", "forward", "its program", "its disk"];

pub(crate) fn run(minutes: f64) -> ExitCode {
    match soak(minutes * 60.0) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("soak: {why}");
            ExitCode::from(2)
        }
    }
}

/// Whether everything has stayed constant.
fn soak(seconds: f64) -> Result<bool, Failed> {
    let cargo_foresee = tool()?;
    let bin = cargo_foresee.parent().ok_or("the tool is in a folder")?;
    let foresee = bin.join("foresee");
    let scratch = tempfile::tempdir()?;
    let at = |name: &str| scratch.path().join(name);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("record/c/soak.c");
    succeed(Command::new(&foresee).args(["cc", "-O1", "-g", "-pthread", "-o"]).arg(at("soak")).arg(&source))?;
    fs::write(at("soak.rv"), SPEC)?;
    fs::create_dir(at("kept"))?;
    fs::create_dir(at("temporary"))?;
    let length = format!("{seconds:.0}");
    let address = format!("unix:{}", at("socket").display());
    let mut observer = Ended(
        Command::new(&foresee)
            .args(["observe", "--exit-after", "1", "--listen", &address, "--spec"])
            .arg(at("soak.rv"))
            .spawn()?,
    );
    while !at("socket").exists() {
        std::thread::sleep(Duration::from_millis(20));
    }
    let path = std::env::join_paths(
        std::iter::once(bin.to_owned())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    )?;
    let mut observed = Ended(
        Command::new(at("soak"))
            .args([&length, ROUNDS[1]])
            .env("FORESEE_OBSERVER", &address)
            .env("PATH", path)
            .env("TMPDIR", at("temporary"))
            .stdout(Stdio::null())
            .stderr(File::create(at("observed.txt"))?)
            .spawn()?,
    );
    let mut recorder = Ended(
        Command::new(&foresee)
            .args(["record", "--keep-last", KEPT, "-o"])
            .arg(at("kept").join("run.ft"))
            .arg("--")
            .arg(at("soak"))
            .args([&length, ROUNDS[0]])
            .stdout(Stdio::null())
            .stderr(File::create(at("recorded.txt"))?)
            .spawn()?,
    );
    println!("resident memory and disk in MB over {seconds:.0} s");
    print!("{:>9}", "seconds");
    COLUMNS.iter().for_each(|name| print!(" {name:>12}"));
    println!();
    let begun = Instant::now();
    let mut rows: Vec<[f64; COLUMNS.len()]> = Vec::new();
    for look in 1..LOOKS {
        let moment = Duration::from_secs_f64(seconds * f64::from(look) / f64::from(LOOKS));
        std::thread::sleep(moment.saturating_sub(begun.elapsed()));
        let row = [
            resident(recorder.0.id()),
            resident(child_of(recorder.0.id())),
            disk(&at("kept")) / 1e6,
            resident(observer.0.id()),
            resident(observed.0.id()),
            resident(child_of(observed.0.id())),
            disk(&at("temporary")) / 1e6,
        ];
        // What comes after a program's end is not what is looked at.
        if row.contains(&0.0) {
            break;
        }
        print!("{:>9.0}", begun.elapsed().as_secs_f64());
        row.iter().for_each(|megabytes| print!(" {megabytes:>12.1}"));
        println!();
        rows.push(row);
    }
    let codes = [recorder.0.wait()?, observed.0.wait()?, observer.0.wait()?];
    let mut is_constant = codes.iter().all(|status| status.success()) && !rows.is_empty();
    println!("they ended with {}", codes.map(|status| status.to_string()).join(", "));
    // Who stops to record, or to be observed, says so, and takes nothing from then on.
    for said in ["observed.txt", "recorded.txt"] {
        let said = fs::read_to_string(at(said))?;
        print!("{said}");
        is_constant &= !said.contains("recording stops") && !said.contains("no longer observed");
    }
    let settled = &rows[rows.len() / 5..];
    let (earlier, later) = settled.split_at(settled.len() / 2);
    for (column, name) in COLUMNS.iter().enumerate().filter(|_| !earlier.is_empty()) {
        let of = |rows: &[[f64; COLUMNS.len()]]| -> Vec<f64> { rows.iter().map(|row| row[column]).collect() };
        let mean = |rows| of(rows).iter().sum::<f64>() / rows.len() as f64;
        let (before, after) = (mean(earlier), mean(later));
        let most = of(settled).into_iter().fold(0.0, f64::max);
        let stays = after <= before * 1.1 + 4.0;
        println!(
            "{name:>12}: {before:.1} MB, then {after:.1} MB on average, {most:.1} MB at most: {}",
            if stays { "constant" } else { "NOT constant" }
        );
        is_constant &= stays;
    }
    println!("disk at the end: {:.1} MB", disk(&at("kept")) / 1e6);
    Ok(is_constant)
}

/// A process that does not outlive this value.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It has ended, unless something failed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What a process has resident, in megabytes; 0 if there is none.
fn resident(process: u32) -> f64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<f64>().ok()).unwrap_or(0.0) / 1e3
}

/// The process that another one has started; 0 if there is none.
fn child_of(process: u32) -> u32 {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let children = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let children: Vec<u32> = children
        .flat_map(|text| text.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<_>>())
        .collect();
    children.first().copied().unwrap_or(0)
}

/// How many bytes the files below a folder take.
fn disk(folder: &Path) -> f64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(known) if known.is_dir() => disk(&entry.path()),
            Ok(known) => known.blocks() as f64 * 512.0,
            Err(_) => 0.0,
        })
        .sum()
}
