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
            // What no lock allows makes a run doubtful, and the finding a candidate.
            let expected = ["violation", "violation (not proven)"].map(|what| format!("{what} of `{name}`"));
            let is_found = expected.iter().any(|expected| broken.stderr.contains(expected));
            assert!(is_found, "{theme}: {name} is kept: {}", broken.stderr);
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

#[test]
fn what_is_not_seen_keeps_properties_silent_also_if_it_comes_first() {
    const SOURCE: &str = r#"
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
static ssize_t put(void *c, const char *b, size_t n) { (void)c; (void)b; return n; }
static void unseen(void) {
    int pair[2];
    cookie_io_functions_t with = {.write = put};
    if (open("/", O_DIRECTORY) < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return;
    fputs("x", fopencookie(NULL, "w", with));
}
int main(int count, char **words) {
    alarm(20);
    if (count > 1 && words[1][0] == 'u') unseen();
    int s = socket(AF_UNIX, SOCK_DGRAM, 0);
    FILE *file = fopen("/dev/null", "r");
    shutdown(s, SHUT_WR);
    send(s, "x", 1, MSG_NOSIGNAL);
    fclose(file);
    fgetc(file);
    /* The last block of the heap, which stays as it is when it is freed: nobody has its lock. */
    DIR *directory = opendir("/");
    closedir(directory);
    readdir(directory);
    return 0;
}
"#;
    let folder = Folder::new();
    let _ = folder.runtime();
    folder.write("prog.c", SOURCE);
    folder.foresee(&["cc", "-g", "-w", "prog.c", "-o", "prog"]).success();
    let specs = ["stdio.rv", "descriptors.rv"].map(|file| calls().join(file).to_str().unwrap().to_owned());
    for how in ["--spec", "--monitor"] {
        for when in ["seen", "unseen"] {
            let ran = folder.foresee(&["run", how, &specs[0], how, &specs[1], "--", "./prog", when]);
            for name in ["DirectoryUsedAfterClose", "SentAfterShutdown", "StreamUsedAfterClose"] {
                let is_found = ran.stderr.contains(&format!("violation of `{name}`"));
                assert_eq!(is_found, when == "seen", "{how} {when} {name}: {}", ran.stderr);
            }
        }
    }
}

#[test]
fn names_that_the_system_gives_again_are_of_something_else() {
    // Two threads, one after the other by chance, get the same stream, descriptor and thread.
    let again = r#"
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void *child(void *p) { return p; }
static void *work(void *late) {
    if (late) usleep(30000);
    FILE *stream = fopen("/dev/null", "w"); fprintf(stream, "x"); fclose(stream);
    int fd = open("/dev/null", O_WRONLY); if (write(fd, "x", 1) < 0) return late; close(fd);
    pthread_t t; pthread_create(&t, 0, child, 0); pthread_join(t, 0);
    return 0;
}
int main(void) { pthread_t a, b; pthread_create(&a, 0, work, 0); pthread_create(&b, 0, work, &b); pthread_join(a, 0); pthread_join(b, 0); return 0; }
"#;
    // One closes what the other uses: that it came later is chance.
    let shared = r#"
#include <pthread.h>
#include <unistd.h>
static long box;
__attribute__((noinline)) long box_open(long n) { asm volatile("" : "+r"(n)); return n; }
__attribute__((noinline)) void box_write(long n) { asm volatile("" : : "r"(n)); }
__attribute__((noinline)) void box_close(long n) { asm volatile("" : : "r"(n)); }
static void *writes(void *p) { box_write(box); return p; }
static void *closes(void *p) { usleep(30000); box_close(box); return p; }
int main(void) { box = box_open(7); pthread_t a, b; pthread_create(&a, 0, writes, 0); pthread_create(&b, 0, closes, 0); pthread_join(a, 0); pthread_join(b, 0); return 0; }
"#;
    let folder = Folder::new();
    let _ = folder.runtime();
    let spec = |open: &str, write: &str, close: &str| {
        format!(
            "property WrittenAfterClose(d) {{\n    event opened(d) = exit(\"{open}\") returning d when d >= 0;\n    event written(d) = enter(\"{write}\", d);\n    event closed(d) = enter(\"{close}\", d);\n    ere: (opened | written)* closed written @match {{ report \"{{d}} was closed\"; }}\n}}\n"
        )
    };
    let specs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../specs/calls");
    let library = ["stdio.rv", "descriptors.rv", "pthreads.rv"].map(|file| specs.join(file));
    let run = |name: &str, source: &str, spec: String| {
        folder.write("fd.rv", spec);
        folder.write(&format!("{name}.c"), source);
        folder.foresee(&["cc", "-g", &format!("{name}.c"), "-o", name, "-pthread"]).success();
        let mut args = vec!["run", "--spec", "fd.rv"];
        library.iter().for_each(|file| args.extend(["--spec", file.to_str().unwrap()]));
        let program = format!("./{name}");
        folder.foresee(&[&args[..], &["--", &program]].concat())
    };
    let said = run("again", again, spec("open", "write", "close"));
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    let said = run("shared", shared, spec("box_open", "box_write", "box_close"));
    assert_eq!(said.code, Some(66), "{}{}", said.stdout, said.stderr);
    assert!((said.stdout + &said.stderr).contains("predicted property violation of `WrittenAfterClose`"));
}
