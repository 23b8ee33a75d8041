//! Properties about calls of programs that nobody changed: arguments and results are those that the functions had, or are refused.
//!
//! The programs are in `tests/programs/calls`. Functions are in a file of their own, as those of libraries are, so that they are called
//! whatever the optimiser does.

use std::fs;
use std::process::Command;

use crate::programs::compilers;
use crate::support::{Folder, Outcome, outcome};

pub(crate) const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/calls");

/// Builds a program of two files, with these flags.
pub(crate) fn build(folder: &Folder, language: &str, compiler: &str, files: [&str; 2], flags: &[&str]) {
    let _ = folder.runtime();
    let files = files.map(|file| format!("{SOURCES}/{file}"));
    let mut compile = folder.command(&[language, "-g", &files[0], &files[1], "-o", "prog", "-pthread"]);
    compile.args(flags).env("FORESEE_CC", compiler).env("FORESEE_CXX", compiler);
    let built = outcome(compile.output().unwrap());
    assert_eq!(built.code, Some(0), "{files:?} {flags:?}: {}", built.stderr);
}

/// Every compiler at two levels.
pub(crate) fn each_build(of: impl Fn(&'static str, &'static str, &'static str)) {
    for (c, cxx) in compilers() {
        for level in ["-O0", "-O2"] {
            of(c, cxx, level);
        }
    }
}

/// What functions of `values.c` are asked for.
const VALUES: &str = r#"property Values {
    event a(p, q, r, s) = enter("narrow", p, q, r, s);
    event b(p, q, r) = enter("wide", p, q, r);
    event c(p, q, r) = enter("pointers", p, q, r);
    event d(p, q, r, s, t, u, v, w) = enter("many", p, q, r, s, t, u, v, w);
    event e(p, q) = enter("enumerated", level as p, wrapped as q);
    event f(p) = enter("several" | "leaf" | "truth", p);
    event g(p) = enter("mixed", _, p);
    event h(p, q) = enter("chosen", p, q);
    event r(p) = exit("narrow" | "wide" | "pointers" | "many" | "enumerated") returning p;
    event s(p) = exit("several" | "leaf" | "truth" | "chosen") returning p;
    ere: (a b c d e f g h r s)* a a @match { report "never"; }
}"#;

/// What a program says that it calls, and what it gets back.
fn said(stdout: &str) -> Vec<String> {
    let lines = stdout.lines().filter(|line| line.starts_with("call ") || line.starts_with("back "));
    lines.map(str::to_owned).collect()
}

/// The same from a trace in text form.
fn recorded(dump: &str) -> Vec<String> {
    let line = |line: &str| {
        let event = line.split('|').nth(1)?;
        let (word, rest) = event.split_once('(')?;
        let rest = rest.strip_suffix(')')?;
        let (function, values) = rest.split_once(", ")?;
        let (word, values) = match word {
            "arguments" => ("call", values.split_once("\", ")?.1),
            "result" => ("back", values),
            _ => return None,
        };
        Some(format!("{word} {function} {}", values.replace(", ", " ")))
    };
    dump.lines().filter_map(line).collect()
}

#[test]
fn values_are_those_that_functions_were_called_with() {
    each_build(|c, _, level| {
        let folder = Folder::new();
        // At the lowest level gcc leaves no room between functions.
        build(&folder, "cc", c, ["values.c", "values_main.c"], &[level, "-fpatchable-function-entry=5,5"]);
        folder.write("values.rv", VALUES);
        let ran = folder.foresee(&["run", "--spec", "values.rv", "--trace", "run.ft", "--", "./prog"]);
        assert_eq!(ran.code, Some(0), "{c} {level}: {}{}", ran.stdout, ran.stderr);
        let dump = folder.foresee(&["trace", "convert", "run.ft", "-o", "run.std"]);
        assert_eq!(dump.code, Some(0), "{}", dump.stderr);
        let (said, recorded) =
            (said(&ran.stdout), recorded(&String::from_utf8(folder.read("run.std")).unwrap()));
        assert!(said.len() > 90, "{}", ran.stdout);
        assert_eq!(recorded, said, "{c} {level}");
    });
}

/// Nothing is written to what was closed.
const LOGS: &str = r#"property UseAfterClose(l) {
    event open(l) = exit("log_open") returning l when l != 0;
    event write(l) = enter("log_write", log as l);
    event close(l) = enter("log_close", l);
    ere: open write* close+ write
    @match { report "write to closed log"; }
}
property BigWrite(l) {
    event big(l, n) = enter("log_write", l, _, n) when n > 4096;
    ere: big
    @match { report "big write"; }
}"#;

#[test]
fn a_closed_log_is_written_to() {
    each_build(|c, _, level| {
        let folder = Folder::new();
        folder.write("logs.rv", LOGS);
        for (flag, findings) in [("-DLATE", 2), ("-DFIXED", 1)] {
            build(&folder, "cc", c, ["log.c", "log_main.c"], &[level, flag]);
            let ran = folder.foresee(&["run", "--spec", "logs.rv", "--trace", "run.ft", "--", "./prog"]);
            assert_eq!(ran.code, Some(66), "{c} {level} {flag}: {}{}", ran.stdout, ran.stderr);
            let is_late = ran.stderr.contains("write to closed log");
            assert_eq!((is_late, ran.stderr.contains("big write")), (findings == 2, true), "{}", ran.stderr);
            assert_eq!(ran.stderr.contains("log_main.c:14"), findings == 2, "{}", ran.stderr);
            // The trace has it all.
            let checked = folder.foresee(&["check", "--spec", "logs.rv", "run.ft"]);
            assert_eq!(checked.stderr.contains("write to closed log"), is_late, "{}", checked.stderr);
            let monitored = folder.foresee(&["monitor", "logs.rv", "run.ft"]);
            assert_eq!(monitored.stdout.contains("write to closed log"), is_late, "{}", monitored.stdout);
        }
    });
}

#[test]
fn receivers_and_exceptions() {
    let spec = r#"property StepAfterEnd(c) {
        event begin(c) = exit("store::begin") returning c;
        event step(c) = enter("Cursor::step", this as c);
        event end(c) = enter("Cursor::end", this as c);
        event guarded(c) = enter("guarded", cursor as c);
        ere: begin (step | guarded)* end (guarded | end)* step
        @match { report "step after the end"; }
    }
    property Big(c) {
        event step(c, n) = enter("Cursor::step", n, this as c) when n == 2;
        event left(r) = exit("guarded") returning r when r != 1;
        ere: left
        @match { report "never"; }
    }"#;
    each_build(|_, cxx, level| {
        let folder = Folder::new();
        folder.write("cursors.rv", spec);
        for flag in ["-DLATE", "-DFIXED"] {
            let flags = [level, flag, "-fno-inline"];
            build(&folder, "c++", cxx, ["cursor.cpp", "cursor_main.cpp"], &flags);
            let ran = folder.foresee(&["run", "--spec", "cursors.rv", "--", "./prog"]);
            let expected = if flag == "-DLATE" { 66 } else { 0 };
            assert_eq!(ran.code, Some(expected), "{cxx} {level} {flag}: {}{}", ran.stdout, ran.stderr);
            assert_eq!(ran.stderr.contains("step after the end"), flag == "-DLATE", "{}", ran.stderr);
        }
    });
}

/// What is said of a property with this event.
fn refused(folder: &Folder, event: &str) -> Outcome {
    folder.write("p.rv", format!("property P {{ event e(x) = {event}; ere: e @match {{ report \"x\"; }} }}"));
    folder.foresee(&["run", "--spec", "p.rv", "--", "./prog"])
}

#[test]
fn what_the_program_does_not_have_is_refused() {
    let folder = Folder::new();
    let (c, _) = compilers().next().unwrap();
    build(&folder, "cc", c, ["values.c", "values_main.c"], &["-O0"]);
    let cases: &[(&str, &[&str])] = &[
        ("enter(\"narow\", x)", &["no function `narow`", "perhaps `narrow`?"]),
        ("enter(\"narrow\", _, _, _, _, x)", &["`narrow` has 4 parameters, not 5"]),
        ("enter(\"narrow\", smal as x)", &["no parameter `smal`", "`truth` and `small`"]),
        ("enter(\"mixed\", x)", &["the parameter `real` is a floating-point number"]),
        ("exit(\"mixed\") returning x", &["`mixed` returns a floating-point number"]),
        ("exit(\"nothing\") returning x", &["`nothing` returns nothing"]),
        (
            "enter(\"mallok\", x)",
            &["no function `mallok`", "perhaps `malloc`", "functions of libraries that are known"],
        ),
        ("enter(\"malloc\", _, x)", &["`malloc` has 1 parameter, not 2"]),
        ("enter(\"malloc\", siz as x)", &["no parameter `siz`", "`size`"]),
        ("exit(\"free\") returning x", &["`free` returns nothing"]),
        ("exit(\"malloc\", *size as x)", &["the parameter `size` does not point to a number or a pointer"]),
        (
            "exit(\"pointers\", *place as x)",
            &["not what is stored where `place` points; ask for `place` itself"],
        ),
        (
            "exit(\"pointers\", x)",
            &[
                "the parameter `text` is a text, which may be another when the function returns",
                "`enter(\"pointers\", …)`",
            ],
        ),
        ("exit(\"narrow\", _, _, _, _, x)", &["`narrow` has 4 parameters, not 5"]),
        (
            "exit(\"many\", a, b, c, d, f, g, x)",
            &["`many`: 7 arguments are asked for at its return; at most 6 can be"],
        ),
        ("enter(\"narrow\", x) when x == \"text\"", &["is a number, and is compared with a text"]),
        (
            "enter(\"pointers\", _, x) when x == \"text\"",
            &["an address of which it is not known that a text is there"],
        ),
        (
            "enter(\"pointers\", _, x) when x > 5",
            &["is the address of an object, and is compared with a number"],
        ),
        ("enter(\"fopen\", x) when x > 5", &["is a text, and is compared with a number"]),
        ("exit(\"fopen\") returning x when x == \"text\"", &["what it returns is an address"]),
    ];
    for (event, parts) in cases {
        let said = refused(&folder, event);
        assert_eq!(said.code, Some(2), "{event}: {}", said.stderr);
        for part in parts.iter().chain(&["the event `e` of `P`"]) {
            assert!(said.stderr.contains(part), "{event}: `{part}` expected in {}", said.stderr);
        }
    }
    // Functions of libraries that the program does not call.
    let said = refused(&folder, "enter(\"closedir\", x)");
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stderr.contains("the property P saw none of its events"), "{}", said.stderr);
    // A program that was built by others.
    let plain = Command::new(c)
        .args(["-g", "-o"])
        .arg(folder.path("prog"))
        .args([format!("{SOURCES}/values.c"), format!("{SOURCES}/values_main.c")])
        .status();
    assert!(plain.unwrap().success());
    refused(&folder, "enter(\"narrow\", x)").one_message(2, &["build it with this version of foresee"]);
}

#[test]
fn mistyped_names_of_standard_libraries_are_refused() {
    let source = "#include <vector>\nint main(int count, char **) { std::vector<int> all; all.push_back(count); return all.size() != 1; }\n";
    for (_, cxx) in compilers() {
        let folder = Folder::new();
        let _ = folder.runtime();
        folder.write("prog.cpp", source);
        let mut compile = folder.command(&["c++", "-g", "-O0", "prog.cpp", "-o", "prog"]);
        assert!(compile.env("FORESEE_CXX", cxx).status().unwrap().success());
        let said = refused(&folder, "enter(\"std::vector::pussh_back\", x)");
        assert_eq!(said.code, Some(2), "{cxx}: {}", said.stderr);
        assert!(said.stderr.contains("perhaps `std::vector::push_back`?"), "{cxx}: {}", said.stderr);
        // Not used, which is no mistake; the last one is a template, of which nothing is there then.
        for unused in ["pop_back", "emplace_back"] {
            let said = refused(&folder, &format!("enter(\"std::vector::{unused}\", this as x)"));
            assert_eq!(said.code, Some(0), "{cxx}: {}", said.stderr);
        }
    }
    let folder = Folder::new();
    let _ = folder.runtime();
    folder.package("pushes", "");
    folder.write("src/main.rs", "fn main() { let mut all = Vec::new(); all.push(std::env::args().count()); assert_eq!(all.len(), 1); }\n");
    for (name, code) in
        [("std::vec::Vec::push", 2), ("std::vec::Vec::pussh", 2), ("alloc::vec::Vec::push", 0)]
    {
        let event = format!("enter(\"{name}\", self as x)");
        folder.write(
            "p.rv",
            format!("property P {{ event e(x) = {event}; ere: e e @match {{ report \"twice\"; }} }}"),
        );
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-foresee"));
        command.args(["foresee", "run", "--spec", "p.rv"]);
        let ran = outcome(command.current_dir(folder.path("")).env_remove("RUSTFLAGS").output().unwrap());
        assert_eq!(ran.code, Some(code), "{name}: {}", ran.stderr);
        let is_told = ran.stderr.contains("perhaps `alloc::vec::Vec::push`?");
        assert_eq!(is_told, code == 2, "{name}: {}", ran.stderr);
    }
}

#[test]
fn what_the_optimiser_has_changed_is_refused() {
    let program = r#"
        struct box { int number; };
        static int inlined(int n) { return n + 1; }
        __attribute__((noinline)) static int dropped(struct box *box, int constant) {
            box->number += constant;
            return box->number;
        }
        int main(int argc, char **argv) {
            struct box box = { inlined(argc) };
            dropped(&box, 7);
            dropped(&box, 7);
            return argv[box.number > 100] == 0;
        }"#;
    for (c, _) in compilers() {
        let folder = Folder::new();
        let _ = folder.runtime();
        folder.write("prog.c", program);
        let compile = |level: &str| {
            let mut compile = folder.command(&["cc", "-g", level, "prog.c", "-o", "prog"]);
            assert!(compile.env("FORESEE_CC", c).status().unwrap().success());
        };
        compile("-O2");
        let inlined = refused(&folder, "enter(\"inlined\", x)");
        assert!(inlined.stderr.contains("`inlined` was inlined into `main`"), "{c}: {}", inlined.stderr);
        for event in ["enter(\"dropped\", _, x)", "exit(\"dropped\") returning x"] {
            let said = refused(&folder, event);
            assert_eq!(said.code, Some(2), "{c}: {event} {}", said.stdout);
            assert!(said.stderr.contains("`dropped`"), "{c}: {}", said.stderr);
        }
        compile("-O0");
        for event in ["enter(\"inlined\", x)", "enter(\"dropped\", _, x)", "exit(\"dropped\") returning x"] {
            let said = refused(&folder, event);
            assert_eq!(said.code, Some(66), "{c}: {event} {}", said.stderr);
        }
    }
}

#[test]
fn checks_of_the_c_library_in_place_of_its_functions_are_refused() {
    let folder = Folder::new();
    let _ = folder.runtime();
    folder.write(
        "prog.c",
        r#"#ifdef CHECKED
        #define _FORTIFY_SOURCE 2
        #endif
        #include <fcntl.h>
        #include <unistd.h>
        int main(int count, char **words) {
            int file = open(words[0], count == 1 ? O_RDONLY : O_RDWR);
            return file < 0 || close(file);
        }"#,
    );
    for (c, _) in compilers().filter(|(c, _)| c.contains("gcc")) {
        for (flag, code, part) in [
            ("-DCHECKED", 2, "`open` was inlined into `main`, as headers of the C library have it"),
            // What is asked for on the command line is taken back.
            ("-D_FORTIFY_SOURCE=2", 66, "violation of `P`"),
            ("-Wp,-D_FORTIFY_SOURCE=2", 66, "violation of `P`"),
            ("-Xpreprocessor -D_FORTIFY_SOURCE=2", 66, "violation of `P`"),
        ] {
            let mut compile = folder.command(&["cc", "-g", "-O2", "prog.c", "-o", "prog"]);
            compile.args(flag.split(' '));
            assert!(compile.env("FORESEE_CC", c).status().unwrap().success());
            let said = refused(&folder, "exit(\"open\") returning x when x > 0");
            assert_eq!(said.code, Some(code), "{c} {flag}: {}", said.stderr);
            assert!(said.stderr.contains(part), "{c} {flag}: {}", said.stderr);
        }
    }
}

#[test]
fn values_that_were_not_recorded_are_told() {
    let folder = Folder::new();
    let (c, _) = compilers().next().unwrap();
    build(&folder, "cc", c, ["log.c", "log_main.c"], &["-O1", "-DLATE"]);
    folder.write("logs.rv", LOGS);
    assert_eq!(folder.foresee(&["record", "-o", "run.ft", "--", "./prog"]).code, Some(0));
    let checked = folder.foresee(&["check", "--spec", "logs.rv", "run.ft"]);
    assert_eq!(checked.code, Some(0), "{}", checked.stdout);
    let all = format!("{}{}", checked.stdout, checked.stderr);
    assert!(all.contains("the arguments of `log_write` that it asks for are not in the trace"), "{all}");
    assert!(all.contains("the results of `log_open` that it asks for are not in the trace"), "{all}");
}

/// What functions of libraries are asked for.
const LIBRARY: &str = r#"property Library {
    event a(p) = exit("gzopen") returning p;
    event b(p, q) = enter("gzputs", p, q) when q == "text";
    event c(p) = enter("gzclose", file as p);
    event d(p) = exit("gzclose" | "open" | "open64") returning p;
    event e(p, q, r) = exit("sqlite3_open", filename as q, *ppDb as p) returning r;
    event f(p) = enter("sqlite3_close", p);
    event g(p, r) = exit("sqlite3_exec", db as p) returning r;
    event h(p, n, r) = exit("write", p, _, n) returning r when p > 2;
    event i(p) = exit("read", p);
    event j(p, r) = exit("close", p) returning r;
    event k(p, r) = exit("pthread_create", *thread as p) returning r;
    ere: (a b c d e f g h i j k)* a a @match { report "never"; }
}"#;

#[test]
fn functions_of_libraries_are_recorded() {
    each_build(|c, cxx, level| {
        let folder = Folder::new();
        let library = Command::new(c)
            .args(["-shared", "-fPIC", "-fexceptions", level, "-o"])
            .arg(folder.path("liblibrary.so"))
            .arg(format!("{SOURCES}/library.c"))
            .status();
        assert!(library.unwrap().success());
        let _ = folder.runtime();
        let mut compile = folder.command(&["c++", level, "-g", "-o", "prog", "-pthread"]);
        compile.arg(format!("{SOURCES}/library_main.cpp")).args(["-L.", "-llibrary", "-Wl,-rpath,$ORIGIN"]);
        let built = outcome(compile.env("FORESEE_CXX", cxx).output().unwrap());
        assert_eq!(built.code, Some(0), "{}", built.stderr);
        folder.write("library.rv", LIBRARY);
        let ran = folder.foresee(&["run", "--spec", "library.rv", "--trace", "run.ft", "--", "./prog"]);
        assert_eq!(ran.code, Some(0), "{cxx} {level}: {}{}", ran.stdout, ran.stderr);
        let dump = folder.foresee(&["trace", "convert", "run.ft", "-o", "run.std"]);
        assert_eq!(dump.code, Some(0), "{}", dump.stderr);
        let text = String::from_utf8(folder.read("run.std")).unwrap();
        // What the test prints is written, too; and the library calls the runtime.
        let of_program = |line: &&str| line.contains("library_main.cpp") && !line.contains("result(write, 1");
        let lines: Vec<&str> = text.lines().filter(of_program).collect();
        // Where a return asks for an object, the beginning of the call is there as well, and both have the number of the call, behind all else.
        let recorded: Vec<String> = recorded(&lines.join("\n"))
            .iter()
            .map(|line| values_only(line))
            .filter(|line| !line.starts_with("call sqlite3_exec "))
            .map(|line| match line.rsplit_once(' ') {
                Some((rest, _)) if line.starts_with("back sqlite3_exec ") => rest.to_owned(),
                _ => line,
            })
            .collect();
        assert_eq!(recorded, said(&ran.stdout), "{cxx} {level}");
    });
}

/// What a program calls only where there is such a library. That there is none, it knows by an address of 0.
#[test]
fn functions_that_no_library_has_are_left_alone() {
    let folder = Folder::new();
    folder.build(
        "weak.c",
        r#"#include <stdio.h>
        extern int inflateEnd(void *stream) __attribute__((weak));
        extern int nothing_there(int) __attribute__((weak));
        static int (*volatile through)(void *) = inflateEnd;
        int main(void) {
            if (inflateEnd || through || nothing_there) return inflateEnd(0) + nothing_there(1);
            FILE *file = fopen("/dev/null", "r");
            return file ? fclose(file) : 3;
        }"#,
    );
    folder.write(
        "weak.rv",
        r#"property Weak {
            event a(z) = enter("inflateEnd", strm as z);
            event b(r) = exit("inflateEnd") returning r;
            event c(f) = exit("fopen") returning f;
            event d(f) = enter("fclose", f);
            ere: (a | b)* c d @match { report "closed"; }
        }"#,
    );
    let ran = folder.foresee(&["run", "--spec", "weak.rv", "--", "./prog"]);
    assert!(ran.code == Some(66) && ran.stderr.contains("closed"), "{:?}: {}", ran.code, ran.stderr);
}

/// Without the names of parameters, which are the first text of a return.
fn values_only(line: &str) -> String {
    match line.splitn(3, '"').collect::<Vec<_>>()[..] {
        [before, _, behind] if line.starts_with("back") => format!("{}{behind}", before.trim_end()),
        _ => line.to_owned(),
    }
}

#[test]
fn rust_functions_are_recorded() {
    let folder = Folder::new();
    let _ = folder.runtime();
    folder.package("logs", "");
    folder.write("src/main.rs", fs::read(format!("{SOURCES}/logs.rs")).unwrap());
    folder.write(
        "logs.rv",
        r#"property UseAfterClose(l) {
            event open(l) = exit("logs::open") returning l;
            event write(l) = enter("Log::write", self as l);
            event close(l) = enter("Log::close", this as l);
            ere: open write* close+ write
            @match { report "write to closed log"; }
        }
        property BigWrite(l) {
            event big(l, n) = enter("Log::write", l, _, n) when n > 4096;
            ere: big
            @match { report "big write"; }
        }"#,
    );
    for profile in ["dev", "release"] {
        for (argument, code) in [("late", 66), ("big", 66), ("", 0)] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-foresee"));
            command.args(["foresee", "run", "--profile", profile, "--spec", "logs.rv", "--", argument]);
            command.current_dir(folder.path("")).env_remove("RUSTFLAGS");
            let ran = outcome(command.output().unwrap());
            let all = format!("{profile} {argument}: {}{}", ran.stdout, ran.stderr);
            assert_eq!(ran.code, Some(code), "{all}");
            assert_eq!(ran.stderr.contains("write to closed log"), argument == "late", "{all}");
            assert_eq!(ran.stderr.contains("big write"), argument == "big", "{all}");
        }
    }
}

#[test]
fn programs_of_tests_need_not_have_all_functions() {
    let folder = Folder::new();
    let _ = folder.runtime();
    folder.package("apart", "");
    fs::create_dir(folder.path("tests")).unwrap();
    folder.write("src/lib.rs", "#[test]\nfn alone() {}\n");
    folder.write(
        "tests/uses.rs",
        "#[inline(never)]\nfn opened(number: u32) { std::hint::black_box(number); }\n#[test]\nfn opens() { opened(3); opened(4); }\n",
    );
    folder.write(
        "opened.rv",
        r#"property Opened { event opened(n) = enter("uses::opened", n) when n > 3; ere: opened @match { report "opened"; } }"#,
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-foresee"));
    command.args(["foresee", "test", "--spec", "opened.rv"]);
    command.current_dir(folder.path("")).env_remove("RUSTFLAGS");
    let ran = outcome(command.output().unwrap());
    let all = format!("{}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.code, Some(66), "{all}");
    assert!(all.contains("violation of `Opened`"), "{all}");
    assert!(!all.contains("no function"), "{all}");
}

/// What functions of `texts.rs` are asked for.
const TEXTS: &str = r#"property Texts {
    event a(p, q) = enter("texts::lent", p, q) when p != "unlikely";
    event b(p) = enter("texts::owner" | "texts::named" | "texts::tagged" | "texts::boxed" | "texts::path", p);
    event c(p, q) = enter("texts::given", p, q);
    event d(p, q) = enter("texts::late", text as p, last as q);
    event e(p) = enter("texts::owner", p) when p == "with space";
    ere: (a | b | c | d)* e
    @match { report "with a space"; }
}"#;

#[test]
fn texts_of_rust_are_values() {
    let folder = Folder::new();
    let _ = folder.runtime();
    folder.package("texts", "");
    folder.write("src/main.rs", fs::read(format!("{SOURCES}/texts.rs")).unwrap());
    let run = |profile: &str, spec: &str, how: &[&str]| {
        folder.write("texts.rv", spec);
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-foresee"));
        command.args(["foresee", "run", "--profile", profile]).args(how);
        outcome(command.current_dir(folder.path("")).env_remove("RUSTFLAGS").output().unwrap())
    };
    for profile in ["dev", "release"] {
        let ran = run(profile, TEXTS, &["--spec", "texts.rv", "--trace", "run.ft"]);
        assert_eq!(ran.code, Some(66), "{profile}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.stderr.matches("with a space").count(), 1, "{}", ran.stderr);
        let dump = folder.foresee(&["trace", "convert", "run.ft", "-o", "run.std"]);
        assert_eq!(dump.code, Some(0), "{}", dump.stderr);
        let (said, recorded) =
            (said(&ran.stdout), recorded(&String::from_utf8(folder.read("run.std")).unwrap()));
        assert_eq!(said.len(), 40, "{}", ran.stdout);
        assert_eq!(recorded, said, "{profile}");
        let monitored = run(profile, TEXTS, &["--monitor", "texts.rv"]);
        assert_eq!(monitored.code, Some(66), "{profile}: {}{}", monitored.stdout, monitored.stderr);
        let asks = |event: &str| {
            let spec = format!("property P {{ event e(x) = {event}; ere: e @match {{ report \"x\"; }} }}");
            run(profile, &spec, &["--spec", "texts.rv"])
        };
        for (event, part) in [
            ("enter(\"texts::perhaps\", x)", "is an enum with fields"),
            ("enter(\"texts::bytes\", x)", "is a structure; numbers"),
            ("exit(\"texts::made\") returning x", "returns a text of several words"),
            (
                "enter(\"texts::grown\", x) when x == \"a\"",
                "an address of which it is not known that a text is there",
            ),
            ("enter(\"texts::lent\", x) when x > 4", "is a text, and is compared with a number"),
        ] {
            let said = asks(event);
            assert_eq!(said.code, Some(2), "{profile} {event}: {}{}", said.stdout, said.stderr);
            assert!(said.stderr.contains(part), "{profile} {event}: {}", said.stderr);
        }
    }
    let spec =
        r#"property P { event e(x) = enter("texts::only_counted", x); ere: e @match { report "x"; } }"#;
    let said = run("release", spec, &["--spec", "texts.rv"]);
    assert_eq!(said.code, Some(2), "{}{}", said.stdout, said.stderr);
    assert!(said.stderr.contains("a text of which a part was removed by the optimiser"), "{}", said.stderr);
}

#[test]
fn calls_of_library_functions_are_monitored_without_values() {
    let folder = Folder::new();
    folder.build(
        "prog.c",
        "#include <stdio.h>\nint main(void) { FILE *f = fopen(\"/dev/null\", \"r\"); return fclose(f); }\n",
    );
    folder.write("p.rv", r#"property P { event e = enter("fopen"); event f = exit("fclose"); ere: e f @match { report "closed"; } }"#);
    let said = folder.foresee(&["run", "--monitor", "p.rv", "--", "./prog"]);
    assert_eq!(said.code, Some(66), "{}{}", said.stdout, said.stderr);
    assert!(said.stderr.contains("closed"), "{}", said.stderr);
}
