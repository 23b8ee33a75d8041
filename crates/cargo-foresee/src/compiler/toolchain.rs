//! Which compiler is driven, what it gets besides the user's own arguments, and where our runtime is.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Language;
use super::carried::{self, RUNTIME};
use crate::error::{CliError, without_code};
use crate::processes;

/// What a program has that tells its branches.
pub(crate) const BRANCHES_SYMBOL: &str = "__foresee_branches";

/// The flags that instrument. A frame pointer and line tables cost little, and tell where an access is. The macro makes
/// `foresee.h` more than nothing.
const INSTRUMENT: &[&str] = &["-fsanitize=thread", "-g", "-fno-omit-frame-pointer", "-DFORESEE=1"];

/// After the user's flags: gcc instruments late, so that with link-time optimisation nothing would be instrumented by the
/// compiler, and nothing by the linker either, as it is not told to.
const AT_THE_END: &[&str] = &["-fno-lto"];

/// The same where clang links: its linker plugin would take the runtime for what is to be optimised, as Rust's library has its own
/// intermediate code in it. (Nothing that we have compiled has any.)
const WHEN_CLANG_LINKS: &[&str] = &["-fno-lto"];

/// Also after the user's flags, for gcc: with `_FORTIFY_SOURCE`, headers have it copy by those instructions again. (What goes to the preprocessor by itself comes behind all else.)
const AT_THE_END_FOR_GCC: &[&str] = &["-U_FORTIFY_SOURCE", "-Wp,-U_FORTIFY_SOURCE"];

/// gcc warns that ThreadSanitizer does not know fences; we do. And it copies, fills and compares memory by instructions that it does
/// not instrument, where calls of `memcpy` or `strcmp` would be seen. The strategies are for sizes that it does not know; of known ones, all are by instructions.
const GCC_ONLY: &[&str] = &[
    "-Wno-tsan",
    "-mmemcpy-strategy=libcall:-1:noalign",
    "-mmemset-strategy=libcall:-1:noalign",
    "-fno-builtin-memcpy",
    "-fno-builtin-mempcpy",
    "-fno-builtin-memmove",
    "-fno-builtin-memset",
    "-fno-builtin-bcopy",
    "-fno-builtin-bzero",
    "-fno-builtin-strcpy",
    "-fno-builtin-stpcpy",
    "-fno-builtin-strncpy",
    "-fno-builtin-stpncpy",
    "-fno-builtin-strcat",
    "-fno-builtin-strncat",
    "-fno-builtin-bcmp",
    "-fno-builtin-memcmp",
    "-fno-builtin-strcmp",
    "-fno-builtin-strncmp",
    "-fno-builtin-strlen",
    // Equal code of different functions is not to be merged: properties name functions.
    "-fno-ipa-icf",
    // Nor is a caller to know which registers a function leaves alone: hooks are put into functions.
    "-fno-ipa-ra",
];

/// clang leaves out a read that is followed by a write to the same address: for a race one of them is enough, for
/// what a read may have seen it is not. And it warns of flags that are of no use to a step.
const CLANG_ONLY: &[&str] = &[
    "-mllvm",
    "-tsan-instrument-read-before-write=1",
    "-Qunused-arguments",
    "-Wno-unused-command-line-argument",
];

/// Record where control flow goes: a call at the beginning of each block, of all of them.
const GCC_BRANCHES: &[&str] = &["-fsanitize-coverage=trace-pc"];
const CLANG_BRANCHES: &[&str] = &["-fsanitize-coverage=bb,trace-pc,no-prune"];

/// The first clang that can keep such reads.
const CLANG_WITH_READS: u32 = 12;

/// The compiler that the user wants to be driven.
pub(crate) struct Toolchain {
    compiler: OsString,
    flags: Vec<&'static str>,
    is_clang: bool,
}

impl Toolchain {
    /// From `FORESEE_CC` or `FORESEE_CXX`, or the system's compiler.
    pub(crate) fn find(language: Language, branches: bool) -> Result<Toolchain, CliError> {
        let (variable, usual) = match language {
            Language::C => ("FORESEE_CC", "cc"),
            Language::Cxx => ("FORESEE_CXX", "c++"),
        };
        let compiler = std::env::var_os(variable).filter(|name| !name.is_empty()).unwrap_or(usual.into());
        let asked = processes::command(&compiler).arg("--version").stderr(Stdio::null()).output();
        let answer = asked.map_err(|why| {
            let (name, why) = (compiler.display(), without_code(&why));
            CliError::Usage(format!("{name}: cannot run the compiler: {why}; set {variable} to gcc or clang"))
        })?;
        let mut flags = INSTRUMENT.to_vec();
        let clang = clang_version(&String::from_utf8_lossy(&answer.stdout));
        match clang {
            Some(version) if version >= CLANG_WITH_READS => flags.extend(CLANG_ONLY),
            Some(_) => {}
            None => flags.extend(GCC_ONLY),
        }
        if branches {
            flags.extend(if clang.is_some() { CLANG_BRANCHES } else { GCC_BRANCHES });
        }
        Ok(Toolchain { compiler, flags, is_clang: clang.is_some() })
    }

    /// The compiler, without arguments.
    pub(crate) fn command(&self) -> Command {
        processes::command(&self.compiler)
    }

    /// What comes after the arguments of a command that links.
    pub(crate) fn at_link(&self) -> &'static [&'static str] {
        if self.is_clang { WHEN_CLANG_LINKS } else { &[] }
    }

    /// The compiler, told to instrument what these arguments compile.
    pub(crate) fn instrument(&self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
        let mut command = self.command();
        command.args(&self.flags).args(header_arguments()).args(args).args(AT_THE_END);
        if !self.is_clang {
            command.args(AT_THE_END_FOR_GCC);
        }
        command
    }
}

/// `clang version 19.1.7 (3)` somewhere in the first line; `None` for gcc.
fn clang_version(answer: &str) -> Option<u32> {
    let (_, rest) = answer.lines().next()?.split_once("clang version ")?;
    rest.split('.').next()?.parse().ok()
}

/// What to add to the command that links a program: our runtime, and what it needs.
///
/// The runtime is one object, which is linked even if the program itself asks for nothing in it: the C++ library and
/// instrumented libraries do. These may also be loaded while the program runs, and then look for what is exported. A program
/// that tells its `branches` has a symbol that says so.
pub(crate) fn runtime_arguments(branches: bool) -> Result<Vec<OsString>, CliError> {
    let whole = [
        "-Wl,--undefined=__tsan_init",
        "-Wl,--export-dynamic-symbol=__tsan_*",
        "-Wl,--export-dynamic-symbol=foresee_*",
        "-Wl,--export-dynamic-symbol=__sanitizer_cov_*",
    ];
    let mut whole = whole.map(OsString::from).to_vec();
    if branches {
        whole.push(format!("-Wl,--defsym={BRANCHES_SYMBOL}=1").into());
    }
    let needs = ["-lpthread", "-ldl", "-lm", "-lrt"].map(OsString::from);
    Ok(whole.into_iter().chain([runtime()?.into()]).chain(needs).collect())
}

/// Where `foresee.h` is found: after all other folders, so that a program's own copy of it comes first.
fn header_arguments() -> Vec<OsString> {
    let us = std::env::current_exe().and_then(|path| path.canonicalize()).unwrap_or_default();
    let beside = us.parent().unwrap_or(Path::new("."));
    // Installed, and in a checkout, where we are target/PROFILE/foresee.
    let mut places =
        ["../include", "../../include"].iter().filter_map(|place| beside.join(place).canonicalize().ok());
    let found = places.find(|folder| folder.join("foresee.h").is_file()).or_else(carried::headers);
    found.map_or_else(Vec::new, |folder| vec!["-idirafter".into(), folder.into()])
}

/// Where our runtime is.
pub(crate) fn runtime() -> Result<PathBuf, CliError> {
    if let Some(given) = std::env::var_os("FORESEE_RUNTIME").filter(|given| !given.is_empty()) {
        let given = PathBuf::from(given);
        let path = if given.is_dir() { given.join(RUNTIME) } else { given };
        return if path.is_file() {
            Ok(path)
        } else {
            Err(CliError::Usage(format!(
                "FORESEE_RUNTIME: {} is no file; expected {RUNTIME}",
                path.display()
            )))
        };
    }
    let us = std::env::current_exe().and_then(|path| path.canonicalize()).unwrap_or_default();
    let beside = us.parent().unwrap_or(Path::new("."));
    let places = [beside.join(RUNTIME), beside.join("../lib").join(RUNTIME)];
    if let Some(path) = places.into_iter().find(|path| path.is_file()) {
        return Ok(path);
    }
    if let Some(built) = build_in_checkout(beside) {
        return Ok(built);
    }
    carried::runtime()?.ok_or_else(|| {
        CliError::Usage(format!(
            "{RUNTIME} is neither in {} nor in ../lib from there; build it (cargo build -p foresee-rt) or set FORESEE_RUNTIME \
             to where it is",
            beside.display()
        ))
    })
}

/// Where this program was built in a checkout of foresee, its runtime can be built as well: `cargo foresee cc` works from
/// a fresh clone.
fn build_in_checkout(beside: &Path) -> Option<PathBuf> {
    let target = beside.parent()?;
    let manifest = target.parent()?.join("Cargo.toml");
    if !target.parent()?.join("crates/foresee-rt").is_dir() {
        return None;
    }
    let mut cargo = processes::command(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo.args(["build", "--quiet", "--package", "foresee-rt", "--manifest-path"]).arg(manifest);
    cargo.arg("--target-dir").arg(target).stdout(Stdio::null());
    if beside.ends_with("release") {
        cargo.arg("--release");
    }
    let built = cargo.status().is_ok_and(|status| status.success());
    let path = beside.join(RUNTIME);
    (built && path.is_file()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clang_is_told_from_gcc() {
        assert_eq!(clang_version("Debian clang version 14.0.6\nTarget: x86_64-pc-linux-gnu\n"), Some(14));
        assert_eq!(clang_version("clang version 19.1.7 (3+b1)\n"), Some(19));
        assert_eq!(clang_version("gcc (Debian 12.2.0-14) 12.2.0\n"), None);
    }
}
