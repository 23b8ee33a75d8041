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
    pub(super) work: PathBuf,
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
            let first = format!("{name}={}", package.version);
            let wanted: Vec<&str> = [&first].into_iter().chain(&package.with).map(String::as_str).collect();
            self.fetch(&folder, &wanted, &[], log)?;
            if !self.shell(&source, &package.build, &[], log)?.success() {
                return Err(format!("{name}: cannot be built").into());
            }
            fs::write(&built, &package.build)?;
        }
        let mut outcome = Outcome::default();
        for run in &package.runs {
            outcome.tests += 1;
            if !self.run(run, &source, &[], &mut outcome, log)?.is_good() {
                outcome.failed += 1;
            }
        }
        Ok(outcome)
    }

    /// How the run went; what was found in it is in `outcome`. `options` are for the check.
    pub(super) fn run(
        &self,
        run: &str,
        source: &Path,
        options: &[String],
        outcome: &mut Outcome,
        log: &File,
    ) -> Result<Ended, Failed> {
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
            check.arg("check").arg(trace).args(options).args(["--format", "json", "--output"]).arg(&document);
            check.current_dir(source);
            check.stdout(log.try_clone()?).stderr(log.try_clone()?).status()?;
            let before = outcome.findings.len();
            outcome.add(&document).map_err(|why| format!("{run}: {why}"))?;
            outcome.findings[before..].iter_mut().for_each(|finding| finding.test = run.to_owned());
        }
        remove(&traces)?;
        Ok(Ended { code: ended.code(), is_recorded: !recorded.is_empty() })
    }

    /// Runs a script in a folder, with the compilers and foresee in its path.
    pub(super) fn shell(
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

    /// Unpacks packages, each given as `NAME=VERSION`, into `folder`: `folder/NAME` each. If `parts` names any, only these folders of
    /// the original source.
    pub(super) fn fetch(
        &self,
        folder: &Path,
        packages: &[&str],
        parts: &[String],
        log: &File,
    ) -> Result<(), Failed> {
        remove(folder)?;
        fs::create_dir_all(folder)?;
        for wanted in packages {
            let name = wanted.split_once('=').ok_or_else(|| format!("{wanted}: which version?"))?.0;
            let download = folder.join("download");
            fs::create_dir_all(&download)?;
            let fetched =
                self.apt(log, &["source", "--download-only", wanted])?.current_dir(&download).status()?;
            if !fetched.success() {
                return Err(format!("{wanted}: apt cannot fetch it").into());
            }
            let fetched: Vec<PathBuf> = fs::read_dir(&download)?.flatten().map(|file| file.path()).collect();
            let named = |part: &str| fetched.iter().find(|path| path.to_string_lossy().contains(part));
            let nothing = || format!("{wanted}: nothing was fetched");
            let to = folder.join(name);
            let mut unpack;
            if parts.is_empty() {
                unpack = Command::new("dpkg-source");
                unpack.arg("-x").arg(named(".dsc").ok_or_else(nothing)?).arg(to);
            } else {
                fs::create_dir_all(&to)?;
                unpack = Command::new("tar");
                unpack.arg("-xf").arg(named(".orig.tar.").ok_or_else(nothing)?).arg("-C").arg(to);
                unpack.args(["--strip-components=1", "--wildcards"]);
                unpack.args(parts.iter().map(|part| format!("*/{part}/*")));
            }
            if !unpack.stdout(log.try_clone()?).stderr(log.try_clone()?).status()?.success() {
                return Err(format!("{wanted}: cannot be unpacked").into());
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

/// How a run ended.
pub(super) struct Ended {
    /// `None` if a signal ended the shell.
    code: Option<i32>,
    is_recorded: bool,
}

impl Ended {
    fn is_good(&self) -> bool {
        self.code == Some(0) && self.is_recorded
    }

    /// Whether the recorded program was ended by a signal, or for the time that it took.
    pub(super) fn is_broken(&self) -> bool {
        !self.is_recorded || self.code.is_none_or(|code| code >= 124)
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
