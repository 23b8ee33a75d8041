//! The flags that rustc and rustdoc get, and which flags of the user's cannot be kept.
//!
//! Ours come first, so that the user's own win; but for the few without which nothing could be recorded or named. These
//! come last.

use std::ffi::OsString;
use std::path::Path;

use crate::error::{self, CliError, Severity};

/// Instrument, do not link ThreadSanitizer's runtime, accept a standard library that is not instrumented; and what names need.
const OURS: &[&str] = &[
    "-Zsanitizer=thread",
    "-Zexternal-clangrt",
    "-Cunsafe-allow-abi-mismatch=sanitizer",
    "-Cdebuginfo=1",
    "-Cforce-frame-pointers=yes",
    // A read is recorded although a write of the same memory follows: what it read orders the threads.
    "-Cllvm-args=-tsan-instrument-read-before-write",
    // Locks are recognised by the function that an atomic is in: equal code of different functions is not to be merged.
    "-Zmerge-functions=disabled",
    "-Cllvm-args=-sink-common-insts=false",
    "-Cllvm-args=-hoist-common-insts=false",
    "-Cllvm-args=-enable-tail-merge=0",
    // What is generic in the standard library is compiled with the program, and so recorded, even where the library has it compiled.
    "-Zshare-generics=no",
    // The runtime has a copy of the standard library, which may be another one than the program's.
    "-Clink-arg=-Wl,-z,muldefs",
    "--cfg=foresee",
    "--check-cfg=cfg(foresee)",
];

/// Record where control flow goes: a call at the beginning of each block, of all of them.
const BRANCHES: &[&str] = &[
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=2",
    "-Cllvm-args=-sanitizer-coverage-trace-pc",
    "-Cllvm-args=-sanitizer-coverage-prune-blocks=0",
];

/// Calls are recorded with their values: parameters have types and places, and functions are called, not copied into their callers.
const CALLS: &[&str] = &["-Cdebuginfo=2", "-Zinline-mir=no", "-Cllvm-args=-inline-threshold=-1000000"];

/// Variables have types: whether they are ever negative.
const VARIABLES: &[&str] = &["-Cdebuginfo=2"];

/// Whatever a profile or the user says: without symbols statics have no names; and link-time optimisation would take the
/// standard library apart, of which our runtime has a copy, so that the two could not be linked together.
const LAST: &[&str] = &["-Cstrip=none", "-Clto=off"];

/// What else a program is built for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Build {
    /// Recording branches.
    pub(crate) branches: bool,
    /// Recording arguments and results of calls.
    pub(crate) calls: bool,
    /// Recording values of variables.
    pub(crate) variables: bool,
}

/// All flags, with what to link. The runtime's file is part of them by its size and age: cargo does not look into it, and
/// would not link a newer one.
pub(crate) fn all(
    users: &[String],
    link: &[OsString],
    runtime: Option<&Path>,
    build: Build,
) -> Result<Vec<String>, CliError> {
    check(users)?;
    let branches = if build.branches { BRANCHES } else { &[] };
    let calls = if build.calls { CALLS } else { &[] };
    let variables = if build.variables { VARIABLES } else { &[] };
    let mut flags: Vec<String> =
        OURS.iter().chain(branches).chain(calls).chain(variables).map(|&flag| flag.to_owned()).collect();
    for argument in link {
        let text = argument.to_str().ok_or_else(|| {
            CliError::Usage(format!("{}: rustc only accepts paths that are UTF-8", argument.display()))
        })?;
        flags.push(format!("-Clink-arg={text}"));
    }
    if let Some(about) = runtime.and_then(|path| path.metadata().ok()) {
        let age = about.modified().ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
        flags.push(format!("-Cmetadata=foresee-rt-{}-{}", about.len(), age.unwrap_or_default().as_nanos()));
    }
    flags.extend_from_slice(users);
    flags.extend(LAST.iter().map(|&flag| flag.to_owned()));
    if options(users).any(|option| matches!(option, "debuginfo=0" | "debuginfo=none")) {
        error::print(Severity::Note, &"-Cdebuginfo=0 is overridden: findings need line tables");
        flags.push("-Cdebuginfo=1".to_owned());
    }
    Ok(flags)
}

/// Refuses what cannot work, with what to do.
fn check(users: &[String]) -> Result<(), CliError> {
    for option in options(users) {
        let refused = if option.starts_with("sanitizer=") {
            format!(
                "-Z{option} in your rustflags: a program has one sanitizer, and recording uses ThreadSanitizer's calls; \
                 leave it out for foresee (RUSTFLAGS, .cargo/config.toml)"
            )
        } else if option.starts_with("target-feature=") && option.contains("+crt-static") {
            "-Ctarget-feature=+crt-static in your rustflags: a statically linked program cannot be recorded; leave it \
             out for foresee (RUSTFLAGS, .cargo/config.toml)"
                .to_owned()
        } else if option.starts_with("linker-plugin-lto") && !option.ends_with("=no") {
            "-Clinker-plugin-lto in your rustflags: the linker would compile what must be instrumented; leave it out \
             for foresee (RUSTFLAGS, .cargo/config.toml)"
                .to_owned()
        } else {
            continue;
        };
        return Err(CliError::Usage(refused));
    }
    Ok(())
}

/// What follows `-C` and `-Z`, attached or not.
fn options(flags: &[String]) -> impl Iterator<Item = &str> {
    let mut before = "";
    flags.iter().filter_map(move |flag| {
        let separate = matches!(before, "-C" | "-Z" | "--codegen").then_some(flag.as_str());
        before = flag;
        let attached = ["-C", "-Z", "--codegen="].iter().find_map(|start| flag.strip_prefix(start));
        separate.or(attached.filter(|option| !option.is_empty()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(users: &str) -> Result<Vec<String>, CliError> {
        let users: Vec<String> = users.split_whitespace().map(str::to_owned).collect();
        all(&users, &["-Wl,x y".into()], None, Build::default())
    }

    #[test]
    fn ours_come_first_and_what_is_needed_last() {
        let flags = of("-Copt-level=2 -Cstrip=symbols -C debuginfo=0").unwrap();
        let at = |flag: &str| flags.iter().rposition(|one| one == flag).unwrap();
        assert!(at("-Zsanitizer=thread") < at("-Copt-level=2"));
        assert!(at("-Cstrip=symbols") < at("-Cstrip=none"));
        assert!(at("debuginfo=0") < at("-Cdebuginfo=1"));
        assert!(flags.contains(&"-Clink-arg=-Wl,x y".to_owned()));
    }

    #[test]
    fn what_cannot_work_is_refused() {
        for (flags, part) in [
            ("-Zsanitizer=address", "-Zsanitizer=address"),
            ("-Z sanitizer=thread", "-Zsanitizer=thread"),
            ("-C target-feature=+avx,+crt-static", "statically linked"),
            ("-Clinker-plugin-lto", "linker-plugin-lto"),
        ] {
            let refused = of(flags).unwrap_err().to_string();
            assert!(refused.contains(part) && refused.contains("leave it out"), "{refused}");
        }
        assert!(of("-Ctarget-feature=-crt-static -Cpanic=abort -Clinker=clang").is_ok());
    }
}
