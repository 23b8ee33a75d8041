//! The runtime that foresee carries with it: as sources, from which it builds it when it is needed first.
//!
//! `cargo install` installs programs alone. So this one has the sources of the runtime in itself (`build.rs`), and builds them with the
//! user's own cargo: once for each version and toolchain, into the user's folder for what can be made again (`XDG_CACHE_HOME`, or
//! `~/.cache`). The header for C comes from there, too.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::{env, fs, io};

use crate::error::{self, CliError, Severity};
use crate::processes;
use crate::scratch::Scratch;

/// The runtime, as cargo builds it.
pub(super) const RUNTIME: &str = "libforesee_rt.a";

/// Names and contents.
static FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/carried.rs"));

/// What would have cargo build something else than the runtime as it is.
const UNWANTED: [&str; 8] = [
    "RUSTFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_BUILD_TARGET",
    "CARGO_TARGET_DIR",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "CARGO_BUILD_RUSTC_WRAPPER",
];

/// The runtime, built if it was not. `None` if none is carried, or there is no place for it.
pub(super) fn runtime() -> Result<Option<PathBuf>, CliError> {
    let Some(folder) = folder() else { return Ok(None) };
    let built = folder.join(RUNTIME);
    if built.is_file() {
        return Ok(Some(built));
    }
    let name = built.display();
    error::print(Severity::Note, &format!("building foresee's runtime, once for this toolchain: {name}"));
    let failed = |why: io::Error| CliError::output(&name, why);
    fs::create_dir_all(folder).map_err(failed)?;
    let place = Scratch::new_in(folder).map_err(failed)?;
    write_files(place.path(), |_| true).map_err(failed)?;
    let mut cargo = cargo();
    cargo.args(["build", "--quiet", "--release", "--package", "foresee-rt"]).current_dir(place.path());
    cargo.arg("--target-dir").arg(place.path().join("target")).stdin(Stdio::null()).stdout(Stdio::null());
    let status = cargo.status().map_err(|why| CliError::Usage(format!("cannot run cargo: {why}")))?;
    if !status.success() {
        return Err(CliError::Usage(
            "the runtime could not be built; cargo says above why. It needs cargo, a linker, and the crates it is made of"
                .to_owned(),
        ));
    }
    fs::rename(place.path().join("target/release").join(RUNTIME), &built).map_err(failed)?;
    Ok(Some(built))
}

/// The folder that has `foresee.h`.
pub(super) fn headers() -> Option<PathBuf> {
    let folder = folder()?;
    let include = folder.join("include");
    if !include.join("foresee.h").is_file() {
        write_files(folder, |name| name.starts_with("include/")).ok()?;
    }
    Some(include)
}

/// Where what is carried is laid out and built: one folder for each version and toolchain. The toolchain is asked once.
fn folder() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOLDER.get_or_init(find_folder).as_deref()
}

fn find_folder() -> Option<PathBuf> {
    if FILES.is_empty() {
        return None;
    }
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    let toolchain = processes::command(env::var_os("RUSTC").unwrap_or("rustc".into())).arg("-vV").output();
    let toolchain = toolchain.map(|answer| answer.stdout).unwrap_or_default();
    let files = FILES.iter().flat_map(|(name, text)| [name.as_bytes(), text.as_bytes()]);
    let mark = fingerprint(files.chain([toolchain.as_slice()]));
    Some(cache.join("foresee").join(format!("runtime-{}-{mark:016x}", env!("CARGO_PKG_VERSION"))))
}

/// Tells contents apart (FNV-1a).
fn fingerprint<'a>(parts: impl Iterator<Item = &'a [u8]>) -> u64 {
    let byte = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    parts.fold(0xcbf2_9ce4_8422_2325, |hash, part| byte(part.iter().fold(hash, byte), &0xff))
}

fn cargo() -> Command {
    let mut cargo = processes::command(env::var_os("CARGO").unwrap_or("cargo".into()));
    UNWANTED.iter().for_each(|name| {
        cargo.env_remove(name);
    });
    cargo
}

fn write_files(to: &Path, wanted: impl Fn(&str) -> bool) -> io::Result<()> {
    for (name, text) in FILES.iter().filter(|(name, _)| wanted(name)) {
        let path = to.join(name);
        fs::create_dir_all(path.parent().unwrap_or(to))?;
        fs::write(path, text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runtime_and_the_header_are_carried() {
        let has = |wanted: &str| FILES.iter().any(|(name, text)| *name == wanted && !text.is_empty());
        let wanted = ["Cargo.toml", "Cargo.lock", "include/foresee.h", "crates/foresee-rt/src/lib.rs"];
        assert!(wanted.into_iter().all(has));
        let manifests = FILES.iter().filter(|(name, _)| name.ends_with("Cargo.toml"));
        assert!(
            manifests
                .clone()
                .all(|(_, text)| !text.contains("[dev-dependencies]") && !text.contains("rooms"))
        );
        assert_eq!(manifests.count(), 5);
    }

    #[test]
    fn contents_are_told_apart() {
        let of = |parts: &[&str]| fingerprint(parts.iter().map(|part| part.as_bytes()));
        assert_ne!(of(&["a", "bc"]), of(&["ab", "c"]));
        assert_ne!(of(&["a"]), of(&["b"]));
    }
}
