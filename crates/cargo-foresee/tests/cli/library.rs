//! The property library in `specs/`, through the real program: every property has a run that breaks it and one that keeps it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Folder, outcome};

fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../specs")
}

/// Properties of libraries that programs call.
fn calls() -> PathBuf {
    library().join("calls")
}

/// The files of a folder with this ending, sorted.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.to_str().unwrap().ends_with(ending)).collect();
    files.sort();
    files
}

/// All properties with the file they are in, as `foresee spec check` lists them; it has nothing to say against them.
fn properties(folder: &Folder, of: &Path) -> Vec<(PathBuf, String)> {
    let mut all = Vec::new();
    for file in files(of, ".rv") {
        let listed = folder.foresee(&["spec", "check", file.to_str().unwrap()]).success();
        let (_, names) = listed.trim_end().rsplit_once(": ").unwrap();
        all.extend(names.split(", ").map(|name| (file.clone(), name.to_owned())));
    }
    all
}

#[test]
fn the_library_has_many_properties_each_once() {
    let properties = properties(&Folder::new(), &library());
    assert!(properties.len() >= 25, "{} properties", properties.len());
    let mut names: Vec<&str> = properties.iter().map(|(_, name)| name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), properties.len(), "a name is used twice");
    let readme = fs::read_to_string(library().join("README.md")).unwrap();
    for name in names {
        assert!(readme.contains(&format!("| `{name}` |")), "{name} is missing in specs/README.md");
    }
}

#[test]
fn every_property_is_broken_by_its_bad_example_and_kept_by_its_good_one() {
    let folder = Folder::new();
    let properties = properties(&folder, &library());
    for (file, name) in &properties {
        let monitor = |kind: &str| {
            let events = library().join("examples").join(format!("{name}.{kind}.std"));
            assert!(events.is_file(), "{name} has no {kind} example");
            folder.foresee(&["monitor", file.to_str().unwrap(), events.to_str().unwrap()])
        };
        let bad = monitor("bad");
        assert_eq!(bad.code, Some(66), "{name}: {}{}", bad.stdout, bad.stderr);
        assert!(bad.stdout.contains(&format!(": {name} (")), "no verdict of {name}: {}", bad.stdout);
        let good = monitor("good");
        assert_eq!((good.code, good.stdout.as_str()), (Some(0), ""), "{name}: {}", good.stderr);
    }
    // No example is left over from a property that has gone.
    assert_eq!(files(&library().join("examples"), ".std").len(), 2 * properties.len());
}

#[test]
fn the_library_is_formatted() {
    let folder = Folder::new();
    for file in files(&library(), ".rv").into_iter().chain(files(&calls(), ".rv")) {
        let outcome = folder.foresee(&["spec", "fmt", "--check", file.to_str().unwrap()]);
        assert_eq!(outcome.code, Some(0), "{}: {}{}", file.display(), outcome.stdout, outcome.stderr);
    }
}

/// The program of each theme, and how it is built.
const PROGRAMS: [(&str, &[&str]); 7] = [
    ("stdio.c", &["-O2"]),
    ("descriptors.c", &["-O2", "-ldl"]),
    ("pthreads.c", &["-O2", "-pthread"]),
    ("zlib.c", &["-O2", "-lz"]),
    ("sqlite.c", &["-O2", "-lsqlite3"]),
    ("openssl.c", &["-O2", "-lssl", "-lcrypto"]),
    ("containers.cpp", &["-O0"]),
];

#[test]
fn calls_of_libraries_are_held_against_their_properties() {
    let folder = Folder::new();
    let _ = folder.runtime();
    let properties = properties(&folder, &calls());
    assert!(properties.len() >= 40, "{} properties", properties.len());
    let readme = fs::read_to_string(calls().join("README.md")).unwrap();
    for (source, flags) in PROGRAMS {
        let source = calls().join("programs").join(source);
        let theme = source.file_stem().unwrap().to_str().unwrap();
        let compiler = if source.extension().is_some_and(|ending| ending == "c") { "cc" } else { "c++" };
        let mut compile = folder.command(&[compiler, "-g", "-w", "-o", theme]);
        let built = outcome(compile.arg(&source).args(flags).output().unwrap());
        assert_eq!(built.code, Some(0), "{theme}: {}", built.stderr);
        let program = format!("./{theme}");
        let spec = calls().join(format!("{theme}.rv"));
        let run =
            |what: &str| folder.foresee(&["run", "--spec", spec.to_str().unwrap(), "--", &program, what]);
        let kept = run("none");
        assert_eq!(kept.code, Some(0), "{theme}: {}", kept.stderr);
        for (_, name) in properties.iter().filter(|(file, _)| *file == spec) {
            let broken = run(name);
            let expected = format!("violation of `{name}`");
            assert!(broken.stderr.contains(&expected), "{theme}: {name} is kept: {}", broken.stderr);
            assert!(readme.contains(&format!("| `{name}` |")), "{name} is missing in specs/calls/README.md");
        }
    }
    // That of Rust is below.
    assert_eq!(files(&calls(), ".rv").len(), PROGRAMS.len() + 1, "each file has its program");
}

/// What Rust's library does for a program is seen, too.
#[test]
fn calls_of_rust_programs_are_held_against_their_properties() {
    let folder = Folder::new();
    let _ = folder.runtime();
    folder.package("app", "");
    folder.write("src/main.rs", fs::read(calls().join("programs/rust.rs")).unwrap());
    let of_rust = calls().join("rust.rv");
    let properties = properties(&folder, &calls());
    let mut cases: Vec<(PathBuf, String)> =
        properties.into_iter().filter(|(file, _)| *file == of_rust).collect();
    let readme = fs::read_to_string(calls().join("README.md")).unwrap();
    for (_, name) in &cases {
        assert!(readme.contains(&format!("| `{name}` |")), "{name} is missing in specs/calls/README.md");
    }
    assert_eq!(cases.len(), 2);
    cases.push((calls().join("descriptors.rv"), "DescriptorLeftOpen".to_owned()));
    for (spec, name) in &cases {
        for profile in ["dev", "release"] {
            for (what, is_found) in [(name.as_str(), true), ("nothing", false)] {
                let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-foresee"));
                command.args(["foresee", "run", "--profile", profile, "--spec"]).arg(spec).args(["--", what]);
                command.current_dir(folder.path("")).env_remove("RUSTFLAGS");
                let ran = outcome(command.output().unwrap());
                let all = format!("{profile} {what}: {}{}", ran.stdout, ran.stderr);
                assert_eq!(ran.stderr.contains(&format!("violation of `{name}`")), is_found, "{all}");
                assert_eq!(ran.code, Some(if is_found { 66 } else { 0 }), "{all}");
            }
        }
    }
}
