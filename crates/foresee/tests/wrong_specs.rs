//! What is wrong with a spec is an error of the compiler, at the place that is meant.
//!
//! Each program is given to the compiler itself, with the `foresee` that was built for this test.

#![cfg(not(foresee))]
#![allow(missing_docs)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// A folder for programs.
fn folder() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

/// What the compiler says about a program; nothing if it is right.
fn compiled_with(library: &Path, name: &str, program: &str) -> String {
    let source = folder().join(name).with_extension("rs");
    std::fs::write(&source, program).unwrap();
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(compiler)
        .args(["--edition=2024", "--crate-type=lib", "--emit=metadata", "--color=never", "--extern"])
        .arg(format!("foresee={}", library.display()))
        .arg(format!("-Ldependency={}", library.parent().unwrap().display()))
        .arg("--out-dir")
        .arg(folder())
        .arg(&source)
        .output()
        .unwrap();
    String::from_utf8(output.stderr).unwrap()
}

/// The library that a right program compiles with: other builds may have left theirs beside it.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let beside = std::env::current_exe().unwrap();
        let files = std::fs::read_dir(beside.parent().unwrap()).unwrap().map(|file| file.unwrap().path());
        let is_library = |path: &PathBuf| {
            let name = path.file_name().unwrap().to_string_lossy();
            name.starts_with("libforesee-") && name.ends_with(".rlib")
        };
        let mut libraries: Vec<PathBuf> = files.filter(is_library).collect();
        libraries.sort_by_key(|path| std::fs::metadata(path).unwrap().modified().unwrap());
        let right = "foresee::monitor! { property P { event e; ere: e @match { count; } } }";
        let works = |path: &&PathBuf| compiled_with(path, "right", right).is_empty();
        libraries.iter().rev().find(works).expect("no library compiles a right program").clone()
    })
}

fn compiled(name: &str, program: &str) -> String {
    compiled_with(library(), name, program)
}

#[track_caller]
fn assert_says(said: &str, parts: &[&str]) {
    for part in parts {
        assert!(said.contains(part), "expected\n{part}\nin\n{said}");
    }
}

#[test]
fn an_unknown_event_is_marked_where_it_stands() {
    let program = "foresee::monitor! {
    property UnsafeIterator(c, i) {
        event create(c, i);
        event update(c);
        event next(i);
        ere: create next* updat+ next   // a comment
        @match { report \"{c}\"; }
    }
}";
    let said = compiled("unknown_event", program);
    assert_says(
        &said,
        &[
            "error: no event is called `updat`: expected an event of this property",
            "help: did you mean `update`?",
            "unknown_event.rs:6:27",
            "ere: create next* updat+ next   // a comment\n  |                           ^^^^^\n",
        ],
    );
    assert_eq!(said.matches("error: ").count(), 2, "one, and that it is all:\n{said}");
}

#[test]
fn all_that_is_wrong_is_told() {
    let program = "foresee::monitor! {
    property First(c) {
        event a(c);
        ere: a b
        @mach { report \"{d}\"; }
    }
    property Second {
        event a
        ere: a
    }
}";
    let said = compiled("several", program);
    assert_says(
        &said,
        &["no event is called `b`", "several.rs:4:16", "expected `;` after the event", "several.rs:9:9"],
    );
}

#[test]
fn a_file_is_shown() {
    let spec = "// A spec with a mistake.\nproperty P(f) {\n    event open(f);\n    ltl: [](opne -> <> open)\n    @violation { count; }\n}\n";
    std::fs::write(folder().join("wrong.rv"), spec).unwrap();
    let said = compiled("including", "foresee::include_spec!(\"wrong.rv\");");
    assert_says(
        &said,
        &[
            "┌─ wrong.rv:4:13",
            "│     ltl: [](opne -> <> open)",
            "│             ^^^^",
            "help: did you mean `open`?",
            "including.rs:1:24",
        ],
    );
    let said = compiled("missing", "foresee::include_spec!(\"nowhere.rv\");");
    assert_says(&said, &["nowhere.rv: cannot read"]);
    let said = compiled("not_text", "foresee::include_spec!(nowhere);");
    assert_says(&said, &["expected the path of a spec file in quotes"]);
}

#[test]
fn a_string_is_shown() {
    let said =
        compiled("string", "foresee::monitor!(r#\"property P { event a; ere: b @match { count; } }\"#);");
    assert_says(&said, &["no event is called `b`", "┌─ spec:1:28"]);
}

#[test]
fn events_have_so_many_values() {
    let program = "foresee::monitor! { property P(o) { event e(o); ere: e @match { count; } } }
pub fn f() { p::e(1, 2); p::g(); }";
    let said = compiled("arity", program);
    assert_says(
        &said,
        &["this function takes 1 argument but 2 arguments were supplied", "cannot find function `g`"],
    );
}

#[test]
fn a_file_is_what_the_program_depends_on() {
    let spec = "property P { event e; ere: e @match { count; } }";
    std::fs::write(folder().join("depended.rv"), spec).unwrap();
    let program = "foresee::include_spec!(\"depended.rv\"); pub fn f() { p::e(); }";
    assert_eq!(compiled("depending", program), "");
    let source = folder().join("depending.rs");
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(compiler)
        .args(["--edition=2024", "--crate-type=lib", "--emit=dep-info=-", "--extern"])
        .arg(format!("foresee={}", library().display()))
        .arg(format!("-Ldependency={}", library().parent().unwrap().display()))
        .arg(&source)
        .output()
        .unwrap();
    assert_says(&String::from_utf8(output.stdout).unwrap(), &["depended.rv"]);
}

#[test]
fn what_only_streams_have_is_refused_in_programs() {
    let texts = "foresee::monitor! { property P(f) { event open(f, name) when name == \"key\"; ere: open @match { count; } } }";
    let said = compiled("texts", texts);
    assert_says(&said, &["in a program, values of events are not compared with texts", "compare in Rust"]);
    let timed = "foresee::monitor! { property P { event a; ptltl: a within 5s @violation { count; } } }";
    assert_says(&compiled("timed", timed), &["in a program, bounds of time are not monitored"]);
}
