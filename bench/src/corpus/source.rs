//! A copy of a crate's published source that its tests can be run in.
//!
//! Cargo fetches it: a project that depends on exactly this version is made, and `cargo metadata` tells where the source
//! is. The copy is a workspace of its own and has no `rust-toolchain.toml`: the corpus is about our toolchain.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::Failed;
use super::entry::Crate;

/// The name of the test program that an entry adds.
const ADDED: &str = "foresee_corpus";

/// Makes the copy anew, as the entry wants it. `programs` is where the added test programs are.
pub(crate) fn prepare(name: &str, entry: &Crate, programs: &Path, work: &Path) -> Result<PathBuf, Failed> {
    let copy = work.join(format!("{name}-{}", entry.version));
    if copy.exists() {
        fs::remove_dir_all(&copy)?;
    }
    copy_folder(&published(name, &entry.version, work)?, &copy)?;
    for name in ["rust-toolchain", "rust-toolchain.toml"] {
        let file = copy.join(name);
        if file.exists() {
            fs::remove_file(file)?;
        }
    }
    let manifest = copy.join("Cargo.toml");
    let mut text = fs::read_to_string(&manifest)?;
    if !text.contains("\n[workspace]") {
        text.push_str("\n[workspace]\n");
    }
    if let Some(program) = &entry.program {
        text.push_str(&format!("\n[[test]]\nname = \"{ADDED}\"\npath = \"tests/{ADDED}.rs\"\n"));
        fs::create_dir_all(copy.join("tests"))?;
        fs::copy(programs.join(program), copy.join(format!("tests/{ADDED}.rs")))
            .map_err(|why| format!("{program}: {why}"))?;
    }
    fs::write(manifest, text)?;
    for [from, to] in &entry.replace {
        if !replace(&copy, from, to)? {
            return Err(format!("{name}: `{from}`, which is to be replaced, is nowhere in it").into());
        }
    }
    Ok(copy)
}

/// Where cargo keeps the source of this version.
fn published(name: &str, version: &str, work: &Path) -> Result<PathBuf, Failed> {
    let project = work.join("fetch").join(name);
    fs::create_dir_all(project.join("src"))?;
    fs::write(project.join("src/lib.rs"), "")?;
    let manifest = format!(
        "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[workspace]\n\n\
         [dependencies]\n{name} = \"={version}\"\n"
    );
    fs::write(project.join("Cargo.toml"), manifest)?;
    let mut cargo = Command::new("cargo");
    cargo.args(["metadata", "--quiet", "--format-version", "1"]).current_dir(&project);
    let output = cargo.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("{name} {version}: cargo cannot fetch it").into());
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let found = packages.filter(|package| package["name"] == name).find(|p| p["version"] == version);
    let manifest = found.and_then(|package| package["manifest_path"].as_str()).map(Path::new);
    let folder = manifest.and_then(Path::parent).ok_or_else(|| format!("{name}: not fetched"))?;
    Ok(folder.to_owned())
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), Failed> {
    fs::create_dir_all(to)?;
    for file in fs::read_dir(from)? {
        let file = file?;
        let target = to.join(file.file_name());
        if file.file_type()?.is_dir() {
            copy_folder(&file.path(), &target)?;
        } else {
            fs::copy(file.path(), target)?;
        }
    }
    Ok(())
}

/// Replaces a text in all Rust files; whether it was in any.
fn replace(folder: &Path, from: &str, to: &str) -> Result<bool, Failed> {
    let mut any = false;
    for file in fs::read_dir(folder)? {
        let path = file?.path();
        if path.is_dir() {
            any |= replace(&path, from, to)?;
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = fs::read_to_string(&path)?;
            if text.contains(from) {
                fs::write(&path, text.replace(from, to))?;
                any = true;
            }
        }
    }
    Ok(any)
}
