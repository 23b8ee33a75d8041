//! Puts the sources of the runtime into the program (`src/compiler/carried.rs`): an installed foresee is one file, and can build what it
//! links programs with wherever it is.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The runtime, and the crates of this workspace that it is made of.
const CRATES: [&str; 4] = ["foresee-rt", "foresee-format", "foresee-monitor", "foresee-mttl"];

fn main() -> io::Result<()> {
    let variable = |name| env::var_os(name).map(PathBuf::from).ok_or(io::ErrorKind::NotFound);
    let workspace = variable("CARGO_MANIFEST_DIR")?.join("../..");
    let out = variable("OUT_DIR")?;
    let mut list = String::from("&[\n");
    // A package without the workspace around it carries nothing.
    if workspace.join("crates/foresee-rt").is_dir() {
        for (name, path) in carried(&workspace, &out)? {
            println!("cargo:rerun-if-changed={}", path.display());
            let _ = writeln!(list, "({name:?}, include_str!({:?})),", path.canonicalize()?);
        }
        for name in CRATES {
            println!("cargo:rerun-if-changed={}", workspace.join("crates").join(name).join("src").display());
        }
    }
    list.push(']');
    fs::write(out.join("carried.rs"), list)
}

/// The files that are carried: their names there, and where they are.
fn carried(workspace: &Path, out: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut files = Vec::new();
    for name in ["include/foresee.h", "include/foresee-monitors.h", "Cargo.lock"] {
        files.push((name.to_owned(), workspace.join(name)));
    }
    let members = "members = [\"crates/*\", \"bench\", \"rooms\"]";
    let whole = fs::read_to_string(workspace.join("Cargo.toml"))?;
    println!("cargo:rerun-if-changed={}", workspace.join("Cargo.toml").display());
    let manifest = out.join("Cargo.toml");
    fs::write(&manifest, whole.replace(members, "members = [\"crates/*\"]"))?;
    files.push(("Cargo.toml".to_owned(), manifest));
    for name in CRATES {
        let folder = workspace.join("crates").join(name);
        let whole = folder.join("Cargo.toml");
        println!("cargo:rerun-if-changed={}", whole.display());
        let manifest = out.join(format!("{name}.toml"));
        fs::write(&manifest, without_tests(&fs::read_to_string(whole)?))?;
        files.push((format!("crates/{name}/Cargo.toml"), manifest));
        add_sources(&folder.join("src"), &format!("crates/{name}/src"), &mut files)?;
    }
    Ok(files)
}

/// A manifest without what only tests depend on, as that is not carried.
fn without_tests(manifest: &str) -> String {
    let mut is_kept = true;
    let mut kept = String::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            is_kept = line != "[dev-dependencies]";
        }
        if is_kept {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

fn add_sources(folder: &Path, name: &str, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (path, name) = (entry.path(), format!("{name}/{}", entry.file_name().to_string_lossy()));
        if path.is_dir() {
            add_sources(&path, &name, files)?;
        } else {
            files.push((name, path));
        }
    }
    Ok(())
}
