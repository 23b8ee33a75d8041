//! Every function of the C library's headers that takes a pointer is recorded, or left out for a reason that is written down.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::support::runtime;

/// The headers whose functions are looked at.
const HEADERS: &[&str] = &[
    "string.h",
    "strings.h",
    "stdio.h",
    "stdlib.h",
    "time.h",
    "unistd.h",
    "sys/time.h",
    "sys/stat.h",
    "sys/uio.h",
    "sys/socket.h",
    "sys/random.h",
    "sys/utsname.h",
];

/// What is left out: lines of a reason that ends in a colon, each followed by indented lines of names.
const LEFT_OUT: &str = include_str!("left_out.txt");

#[test]
fn every_function_with_a_pointer_is_recorded_or_left_out_for_a_reason() {
    let Some(declared) = declared() else {
        assert!(std::env::var_os("CI").is_none(), "there is no compiler");
        return;
    };
    assert!(declared.len() > 300, "the headers were not understood: {declared:?}");
    let defined = defined();
    let left_out = left_out();
    let unknown =
        declared.iter().filter(|name| !defined.contains(*name) && !left_out.contains_key(name.as_str()));
    let unknown = unknown.collect::<Vec<_>>();
    assert!(unknown.is_empty(), "neither recorded nor in left_out.txt: {unknown:?}");
    let both = left_out.keys().filter(|name| defined.contains(**name)).collect::<Vec<_>>();
    assert!(both.is_empty(), "recorded, but in left_out.txt: {both:?}");
}

/// The functions that the headers declare with a pointer among their arguments.
fn declared() -> Option<BTreeSet<String>> {
    let mut source = "#define _GNU_SOURCE\n".to_owned();
    HEADERS.iter().for_each(|header| source += &format!("#include <{header}>\n"));
    ["gcc", "clang"].into_iter().find_map(|compiler| {
        let mut child = Command::new(compiler)
            .args(["-E", "-P", "-O0", "-x", "c", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        child.stdin.take()?.write_all(source.as_bytes()).ok()?;
        let output = child.wait_with_output().ok()?;
        output.status.success().then(|| {
            String::from_utf8_lossy(&output.stdout).split(';').filter_map(function_with_pointer).collect()
        })
    })
}

/// `extern char *strcpy (char *__to, const char *__from)`: the name before the first parenthesis, if there is a star behind it.
fn function_with_pointer(declaration: &str) -> Option<String> {
    let (_, declaration) = declaration.rsplit_once("extern ")?;
    let declaration = declaration.split("__attribute__").next()?.split("__asm__").next()?;
    let (before, arguments) = declaration.split_once('(')?;
    let name = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').find(|word| !word.is_empty())?;
    let is_function = !arguments.starts_with('*') && name != "void";
    (is_function && arguments.contains(['*', '['])).then(|| name.to_owned())
}

/// The functions that the runtime stands in front of.
fn defined() -> BTreeSet<String> {
    let output = Command::new("nm").args(["-g", "--defined-only"]).arg(runtime()).output().unwrap();
    let symbols = String::from_utf8_lossy(&output.stdout).into_owned();
    symbols.lines().filter_map(|line| line.rsplit(' ').next()).map(str::to_owned).collect()
}

/// The names that are left out, each with its reason.
fn left_out() -> BTreeMap<&'static str, &'static str> {
    let mut reason = "";
    let mut names = BTreeMap::new();
    for line in LEFT_OUT.lines().filter(|line| !line.trim().is_empty()) {
        match line.strip_suffix(':') {
            Some(why) if !line.starts_with(' ') => reason = why,
            _ => names.extend(line.split_whitespace().map(|name| (name, reason))),
        }
    }
    names
}
