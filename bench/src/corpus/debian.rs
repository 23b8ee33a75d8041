//! Programs of Debian's: fetched as source packages at fixed versions, built by `foresee cc` and `foresee c++`, and run.
//!
//! apt fetches and verifies the sources; it has lists and a configuration of its own in `target/corpus/apt`, so nothing of the
//! system's changes. A version that Debian has replaced by another is not there any more: then the entry needs the new one.
//!
//! Each run of an entry is a shell command in the folder of the source. `$record PROGRAM…` in it records the program, and all
//! processes that it starts; their traces are checked one by one by all engines.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use super::Failed;
use super::entry::Package;
use super::outcome::Outcome;

/// Where sources come from; what one release does not have at a version that can be fetched, the other may.
const SOURCES: &str = "\
deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main
deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian-security bookworm-security main
deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian trixie main
";

/// No program is let run longer.
const LONGEST_RUN: &str = "60s";

/// The compilers' names for build systems that want one word.
const COMPILERS: [(&str, &str); 2] = [("foresee-cc", "cc"), ("foresee-c++", "c++")];

/// Where it all happens.
pub(crate) struct Debian {
    /// `target/corpus`.
    work: PathBuf,
    foresee: PathBuf,
}

impl Debian {
    /// With compilers in `work/bin`.
    pub(crate) fn prepare(work: &Path, foresee: &Path) -> Result<Debian, Failed> {
        let bin = work.join("bin");
        fs::create_dir_all(&bin)?;
        for (name, command) in COMPILERS {
            let script = bin.join(name);
            fs::write(&script, format!("#!/bin/sh\nexec '{}' {command} \"$@\"\n", foresee.display()))?;
            fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        }
        Ok(Debian { work: work.to_owned(), foresee: foresee.to_owned() })
    }

    /// Builds the program if it is not built yet, and does its runs. What is printed goes to the log.
    pub(crate) fn test(&self, name: &str, package: &Package, log: &File) -> Result<Outcome, Failed> {
        let folder = self.work.join("debian").join(format!("{name}-{}", package.version));
        // What it was built by: another way of building it starts from the published source again.
        let built = folder.join("built");
        let source = folder.join(name);
        if fs::read_to_string(&built).ok().as_deref() != Some(&package.build) {
            self.fetch(&folder, name, package, log)?;
            if !self.shell(&source, &package.build, &[], log)?.success() {
                return Err(format!("{name}: cannot be built").into());
            }
            fs::write(&built, &package.build)?;
        }
        let mut outcome = Outcome::default();
        for run in &package.runs {
            outcome.tests += 1;
            if !self.run(run, &source, &mut outcome, log)? {
                outcome.failed += 1;
            }
        }
        Ok(outcome)
    }

    /// Whether the run went well; what was found in it is in `outcome`.
    fn run(&self, run: &str, source: &Path, outcome: &mut Outcome, log: &File) -> Result<bool, Failed> {
        let traces = self.work.join("traces");
        remove(&traces)?;
        fs::create_dir_all(&traces)?;
        let trace = traces.join("run.ft");
        let record =
            format!("{} record --timeout {LONGEST_RUN} -o {} --", self.foresee.display(), trace.display());
        let ended = self.shell(source, run, &[("record", &record)], log)?;
        let files = fs::read_dir(&traces)?.flatten().map(|file| file.path());
        let mut recorded: Vec<PathBuf> =
            files.filter(|path| path.extension().is_some_and(|ending| ending == "ft")).collect();
        recorded.sort();
        for trace in &recorded {
            let document = self.work.join("check.json");
            remove(&document)?;
            let mut check = Command::new(&self.foresee);
            check.arg("check").arg(trace).args(["--format", "json", "--output"]).arg(&document);
            check.stdout(log.try_clone()?).stderr(log.try_clone()?).status()?;
            let before = outcome.findings.len();
            outcome.add(&document).map_err(|why| format!("{run}: {why}"))?;
            outcome.findings[before..].iter_mut().for_each(|finding| finding.test = run.to_owned());
        }
        remove(&traces)?;
        Ok(ended.success() && !recorded.is_empty())
    }

    /// Runs a script in a folder, with the compilers and foresee in its path.
    fn shell(
        &self,
        folder: &Path,
        script: &str,
        variables: &[(&str, &str)],
        log: &File,
    ) -> Result<ExitStatus, Failed> {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut shell = Command::new("sh");
        shell.arg("-ec").arg(script).current_dir(folder).stdin(Stdio::null());
        shell.env("PATH", format!("{}:{path}", self.work.join("bin").display()));
        shell.env("CC", COMPILERS[0].0).env("CXX", COMPILERS[1].0);
        shell.envs(variables.iter().copied());
        Ok(shell.stdout(log.try_clone()?).stderr(log.try_clone()?).status()?)
    }

    /// Unpacks the package, and those that it is built with, into `folder`: `folder/NAME` each.
    fn fetch(&self, folder: &Path, name: &str, package: &Package, log: &File) -> Result<(), Failed> {
        remove(folder)?;
        fs::create_dir_all(folder)?;
        let first = format!("{name}={}", package.version);
        for wanted in [&first].into_iter().chain(&package.with) {
            let name = wanted.split_once('=').ok_or_else(|| format!("{wanted}: which version?"))?.0;
            let download = folder.join("download");
            fs::create_dir_all(&download)?;
            let fetched =
                self.apt(log, &["source", "--download-only", wanted])?.current_dir(&download).status()?;
            if !fetched.success() {
                return Err(format!("{wanted}: apt cannot fetch it").into());
            }
            let mut described = fs::read_dir(&download)?.flatten().map(|file| file.path());
            let described = described.find(|path| path.extension().is_some_and(|ending| ending == "dsc"));
            let described = described.ok_or_else(|| format!("{wanted}: nothing was fetched"))?;
            let mut unpack = Command::new("dpkg-source");
            unpack.arg("-x").arg(described).arg(folder.join(name));
            if !unpack.stdout(log.try_clone()?).stderr(log.try_clone()?).status()?.success() {
                return Err(format!("{wanted}: dpkg-source cannot unpack it").into());
            }
            remove(&download)?;
        }
        Ok(())
    }

    /// apt-get with our own lists, which are fetched when they are not there.
    fn apt(&self, log: &File, args: &[&str]) -> Result<Command, Failed> {
        let apt = self.work.join("apt");
        let list = apt.join("sources.list");
        let command = |args: &[&str]| -> Result<Command, Failed> {
            let mut command = Command::new("apt-get");
            for (key, value) in [
                ("Etc::SourceList", &list),
                ("State::Lists", &apt.join("lists")),
                ("Cache", &apt.join("cache")),
            ] {
                command.arg("-o").arg(format!("Dir::{key}={}", value.display()));
            }
            command.args(["-q", "-o", "Dir::Etc::SourceParts=-"]).args(args);
            command.stdout(log.try_clone()?).stderr(log.try_clone()?);
            Ok(command)
        };
        if fs::read_to_string(&list).ok().as_deref() != Some(SOURCES) {
            fs::create_dir_all(apt.join("lists/partial"))?;
            fs::create_dir_all(apt.join("cache/archives/partial"))?;
            fs::write(&list, SOURCES)?;
            if !command(&["update"])?.status()?.success() {
                remove(&list)?;
                return Err("apt cannot fetch its lists".into());
            }
        }
        command(args)
    }
}

/// A file or folder, if it is there.
fn remove(path: &Path) -> Result<(), Failed> {
    if path.is_dir() {
        fs::remove_dir_all(path)?;
    } else if path.exists() {
        fs::remove_file(path)?;
    }
    Ok(())
}
