//! `foresee cc`, `c++`, `record` and `run`, through the real program on real programs of C and C++.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::programs::{
    CXX_NEW, CXX_OWN_NEW, CXX_QUEUE, CXX_RACE, FORKS, GUARDED, INVERSION, OWN_NAMES, UNGUARDED, compilers,
};
use crate::support::{Folder, Outcome, outcome};

/// The findings of a run in JSON; with findings, the exit code must be 66.
#[track_caller]
fn findings(outcome: &Outcome) -> Vec<Value> {
    assert_eq!(outcome.code, Some(66), "stdout: {}\nstderr: {}", outcome.stdout, outcome.stderr);
    // What the program printed comes before.
    let start = outcome.stdout.find('{').unwrap();
    let report: Value = serde_json::from_str(&outcome.stdout[start..]).unwrap();
    report["findings"].as_array().unwrap().clone()
}

#[track_caller]
fn assert_place(event: &Value, file: &str, line: u64, function: &str) {
    let place = &event["location"];
    assert!(place["file"].as_str().unwrap().ends_with(file), "{place}");
    assert_eq!(place["line"], line, "{place}");
    assert!(place["function"].as_str().unwrap().contains(function), "{place}");
}

#[test]
fn a_correct_program_keeps_its_output_and_its_exit_code() {
    let folder = Folder::new();
    folder.build("guarded.c", GUARDED);
    let outcome = folder.foresee(&["run", "--", "./prog"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(3), "200\n"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("note: ./prog exited with code 3"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("nothing found"), "{}", outcome.stderr);
    assert_eq!(folder.files(), ["guarded.c", "prog"]);
}

#[test]
fn a_race_with_its_lines() {
    let folder = Folder::new();
    folder.build("unguarded.c", UNGUARDED);
    let found = findings(&folder.foresee(&["run", "--format", "json", "--", "./prog"]));
    assert!(found.iter().all(|finding| finding["kind"] == "race"), "{found:?}");
    assert!(!found.is_empty());
    for event in found.iter().flat_map(|finding| finding["events"].as_array().unwrap()) {
        assert_place(event, "unguarded.c", 5, "work");
        assert_eq!(event["target"], "counter");
    }
    folder.compile(&["cc", "-O2", "-flto", "unguarded.c", "-o", "optimised"]).success();
    assert_eq!(folder.foresee(&["run", "--", "./optimised"]).code, Some(66));
    let changed = folder.foresee(&["run", "--exit-code", "9", "--", "./prog"]);
    assert_eq!(changed.code, Some(9), "{}", changed.stderr);
}

/// A program may have functions and variables of its own with the names of the C library's.
#[test]
fn own_functions_and_variables_of_known_names() {
    let folder = Folder::new();
    folder.write("own.c", OWN_NAMES);
    for (compiler, flags) in [("gcc", "-O0"), ("gcc", "-flto"), ("clang", "-O1"), ("clang", "-flto")] {
        let mut command = folder.command(&["cc", "-fno-builtin", flags, "own.c", "-o", "own"]);
        let built = outcome(command.env("FORESEE_CC", compiler).output().unwrap());
        assert_eq!(built.code, Some(0), "{compiler} {flags}: {}", built.stderr);
        let found = findings(&folder.foresee(&["run", "--format", "json", "--", "./own"]));
        let targets: Vec<_> = found.iter().flat_map(|one| one["events"].as_array().unwrap()).collect();
        assert!(!targets.is_empty() && targets.iter().all(|event| event["target"] == "counter"), "{found:?}");
    }
}

#[test]
fn an_inversion_is_a_predicted_deadlock() {
    let folder = Folder::new();
    folder.build("inversion.c", INVERSION);
    let found = findings(&folder.foresee(&["run", "--format", "json", "--", "./prog"]));
    let [finding] = &found[..] else { panic!("{found:?}") };
    assert_eq!((&finding["kind"], &finding["certainty"]), (&"deadlock".into(), &"predicted".into()));
    let mut lines: Vec<u64> =
        finding["events"].as_array().unwrap().iter().filter_map(|e| e["location"]["line"].as_u64()).collect();
    lines.sort_unstable();
    assert_eq!(lines, [6, 14]);
    let text = finding.to_string();
    assert!(text.contains("first") && text.contains("second"), "locks are named after their statics: {text}");
}

#[test]
fn a_correct_program_of_cxx() {
    let folder = Folder::new();
    folder.build("queue.cpp", CXX_QUEUE);
    let outcome = folder.foresee(&["run", "--", "./prog"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), "190\n"), "{}", outcome.stderr);
}

#[test]
fn a_race_of_cxx_with_demangled_names() {
    let folder = Folder::new();
    folder.build("bank.cpp", CXX_RACE);
    let found = findings(&folder.foresee(&["run", "--format", "json", "--", "./prog"]));
    for event in found.iter().flat_map(|finding| finding["events"].as_array().unwrap()) {
        assert_place(event, "bank.cpp", 5, "Bank::pay");
        assert_eq!(event["target"], "Bank::total");
    }
}

#[test]
fn recording_writes_a_trace_that_is_a_possible_run() {
    let folder = Folder::new();
    folder.build("guarded.c", GUARDED);
    for trace in ["run.ft", "run.std"] {
        let outcome = folder.foresee(&["record", "-o", trace, "--", "./prog"]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(3), "200\n"), "{}", outcome.stderr);
        folder.foresee(&["trace", "validate", trace]).success();
        let text = folder.foresee(&["trace", "dump", trace]).success();
        assert!(text.lines().filter(|line| line.contains("|acq(guard")).count() == 200, "{text}");
    }
    assert_eq!(folder.files(), ["guarded.c", "prog", "run.ft", "run.std"]);
    assert_eq!(folder.foresee(&["record", "--keep-raw", "--", "./prog"]).code, Some(3));
    assert!(
        folder.files().contains(&"foresee.ft".to_owned())
            && folder.files().contains(&"foresee.raw".to_owned())
    );
}

/// Threads that do much with arrays of their own, and now and then something under a lock.
const BUSY: &str = "#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long shared, arrays[3][1000];
static void *work(void *arg) {
    long *own = arrays[(long)arg];
    unsigned where = 1 + (unsigned)(long)arg;
    for (int i = 0; i < 1000000; i++) {
        where = where * 1664525 + 1013904223;
        own[where % 1000] += i;
        if (where % 100 == 0) {
            pthread_mutex_lock(&lock);
            shared += own[i % 1000];
            pthread_mutex_unlock(&lock);
        }
    }
    return 0;
}
int main(void) {
    pthread_t threads[3];
    for (long i = 0; i < 3; i++) pthread_create(&threads[i], 0, work, (void *)i);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    return 0;
}
";

/// Packing takes events many at a time, which other threads have decoded; dumping takes them one by one.
#[test]
fn many_events_at_once_are_those_one_by_one() {
    let folder = Folder::new();
    folder.build("busy.c", BUSY);
    assert_eq!(folder.foresee(&["record", "--keep-raw", "--", "./prog"]).code, Some(0));
    assert!(folder.path("foresee.raw").metadata().unwrap().len() > 4 << 20);
    let count = |trace| {
        let info = folder.foresee(&["trace", "info", trace]).success();
        let line = info.lines().find(|line| line.trim_start().starts_with("events")).unwrap();
        line.split('(').next().unwrap().to_owned()
    };
    let all = count("foresee.ft");
    assert_eq!(all, count("foresee.raw"));
    for from in ["0", "1000000", "2500000"] {
        let part =
            |trace| folder.foresee(&["trace", "dump", trace, "--from", from, "--count", "20000"]).success();
        let (packed, raw) = (part("foresee.ft"), part("foresee.raw"));
        let events = |text: &str| {
            text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(events(&packed).len(), 20_000, "{all}");
        assert_eq!(events(&packed), events(&raw));
    }
}

#[test]
fn make_builds_programs_and_shared_libraries() {
    let folder = Folder::new();
    folder.write("main.c", UNGUARDED.replace("    counter++;", "    extern void count(void); count();"));
    folder.write("count.c", "extern int counter;\nvoid count(void) {\n    counter++;\n}\n");
    let makefile = "prog: main.o libcount.so\n\t$(CC) main.o -L. -lcount -Wl,-rpath,. -o $@\n\
                    libcount.so: count.c\n\t$(CC) -shared -fPIC $< -o $@\n";
    let made = folder.make(makefile);
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    let found = findings(&folder.foresee(&["run", "--format", "json", "--", "./prog"]));
    for event in found.iter().flat_map(|finding| finding["events"].as_array().unwrap()) {
        assert_place(event, "count.c", 3, "count");
        assert_eq!(event["target"], "counter");
    }
}

#[test]
fn a_program_that_is_killed_leaves_its_trace() {
    let folder = Folder::new();
    folder.build(
        "killed.c",
        &UNGUARDED.replace("return 0;", "raise(SIGKILL);").replace("<stdio.h>", "<signal.h>"),
    );
    let outcome = folder.foresee(&["record", "-o", "run.std", "--", "./prog"]);
    assert_eq!(outcome.code, Some(128 + 9), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("ended by signal 9 (SIGKILL)"), "{}", outcome.stderr);
    let checked = folder.foresee(&["check", "run.std"]);
    assert_eq!(checked.code, Some(66), "{}", checked.stderr);
    let run = folder.foresee(&["run", "--", "./prog"]);
    assert_eq!(run.code, Some(66), "findings first: {}", run.stderr);
}

#[test]
fn a_program_that_does_not_end_is_ended() {
    let folder = Folder::new();
    folder.build("endless.c", "#include <unistd.h>\nint main(void) { for (;;) pause(); }\n");
    let outcome = folder.foresee(&["run", "--timeout", "300ms", "--", "./prog"]);
    assert_eq!(outcome.code, Some(128 + 15), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("still runs after 300ms"), "{}", outcome.stderr);
}

#[test]
fn a_deadlock_that_happens_is_observed() {
    let folder = Folder::new();
    // Each thread takes its second lock when both have their first.
    let meet = "pthread_barrier_wait(&both);";
    let source = INVERSION
        .replace("static void *forward", "static pthread_barrier_t both;\nstatic void *forward")
        .replace(
            "    pthread_mutex_lock(&second);\n    pthread_mutex_unlock",
            &format!("    {meet} pthread_mutex_lock(&second);\n    pthread_mutex_unlock"),
        )
        .replace(
            "    pthread_mutex_lock(&first);\n    pthread_mutex_unlock",
            &format!("    {meet} pthread_mutex_lock(&first);\n    pthread_mutex_unlock"),
        )
        .replace("pthread_t a, b;", "pthread_t a, b; pthread_barrier_init(&both, 0, 2);");
    assert_eq!(source.matches(meet).count(), 2);
    folder.build("deadlock.c", &source);
    let found = findings(&folder.foresee(&["run", "--timeout", "1s", "--format", "json", "--", "./prog"]));
    let [finding] = &found[..] else { panic!("{found:?}") };
    assert_eq!((&finding["kind"], &finding["certainty"]), (&"deadlock".into(), &"observed".into()));
}

#[test]
fn signals_are_passed_on_and_the_trace_is_packed() {
    let folder = Folder::new();
    let source = "#include <signal.h>\n#include <stdio.h>\n#include <unistd.h>\n\
                  static void end(int signal) { (void)signal; _exit(5); }\n\
                  int main(void) { signal(SIGTERM, end); puts(\"ready\"); fflush(stdout); for (;;) pause(); }\n";
    folder.build("waits.c", source);
    let mut command = folder.command(&["record", "-o", "run.ft", "--", "./prog"]);
    let mut foresee = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(foresee.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    assert!(Command::new("kill").arg(foresee.id().to_string()).status().unwrap().success());
    assert_eq!(foresee.wait().unwrap().code(), Some(5));
    folder.foresee(&["trace", "validate", "run.ft"]).success();
}

#[test]
fn every_compiler_and_linker() {
    let programs = [
        ("guarded.c", GUARDED, 3),
        ("unguarded.c", UNGUARDED, 66),
        ("inversion.c", INVERSION, 66),
        ("queue.cpp", CXX_QUEUE, 0),
        ("bank.cpp", CXX_RACE, 66),
    ];
    let folder = Folder::new();
    // The runtime has to be there.
    folder.build("guarded.c", GUARDED);
    for (c, cxx) in compilers() {
        for (linker, optimise) in [("-fuse-ld=bfd", "-O2"), ("-fuse-ld=lld", "-O0")] {
            for (name, text, code) in programs {
                folder.write(name, text);
                let driver = if name.ends_with(".c") { "cc" } else { "c++" };
                let args = [driver, "-Wall", "-Werror", optimise, linker, "-pthread", name, "-o", "prog"];
                let mut command = folder.command(&args);
                let built = command.env("FORESEE_CC", c).env("FORESEE_CXX", cxx).output().unwrap();
                let said = String::from_utf8_lossy(&built.stderr);
                assert!(built.status.success() && said.is_empty(), "{c} {linker} {name}: {said}");
                let outcome = folder.foresee(&["run", "--", "./prog"]);
                assert_eq!(outcome.code, Some(code), "{c} {linker} {name}: {}", outcome.stderr);
            }
        }
    }
}

/// Every engine, on the correct programs with which the runtime is tested.
#[test]
fn no_engine_reports_anything_of_correct_programs() {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../foresee-rt/tests/programs");
    let folder = Folder::new();
    folder.build("guarded.c", GUARDED);
    let names =
        ["pipes", "mappings", "annotated", "c11", "handlers", "leaving", "fibers", "cond", "rwlock", "told"];
    for (c, _) in compilers() {
        for (name, branches) in names.into_iter().flat_map(|name| [(name, None), (name, Some("--branches"))])
        {
            let source = programs.join(name).with_extension("c");
            let mut compile = folder.command(&["cc"]);
            compile
                .args(branches)
                .args(["-O1", "-pthread", "-o", "prog"])
                .arg(source)
                .arg("-lrt")
                .env("FORESEE_CC", c);
            assert!(compile.status().unwrap().success());
            let outcome = folder.foresee(&["run", "--", "./prog"]);
            assert_eq!(outcome.code, Some(0), "{c} {name}: {}", outcome.stderr);
        }
    }
}

#[test]
fn other_processes_have_traces_of_their_own() {
    let folder = Folder::new();
    folder.build("forks.c", FORKS);
    let outcome = folder.foresee(&["run", "--", "./prog"]);
    assert_eq!(outcome.code, Some(66), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("nothing found in"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("./prog (process "), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("forks.c:5"), "{}", outcome.stderr);
    // One document of all processes, in which each finding names its own.
    let found = findings(&folder.foresee(&["run", "--format", "json", "--", "./prog"]));
    assert!(
        found.iter().all(|one| one["binary"].as_str().unwrap().starts_with("./prog (process ")),
        "{found:?}"
    );
    assert_eq!(found[0]["id"], "race-1");
    let junit = folder.foresee(&["run", "--format", "junit", "--", "./prog"]).stdout;
    assert!(junit.contains("<testsuite name=\"./prog\" tests=\"1\" failures=\"0\""), "{junit}");
    // A program, its child, the program that it becomes, and that one's child.
    folder.foresee(&["record", "-o", "run.ft", "--", "./prog", "again"]).success();
    let traces: Vec<String> = folder.files().into_iter().filter(|name| name.ends_with(".ft")).collect();
    assert_eq!(traces.len(), 4, "{traces:?}");
    let codes = traces.iter().map(|trace| folder.foresee(&["check", trace]).code);
    assert_eq!(codes.filter(|&code| code == Some(66)).count(), 2);
}

/// Leaves what processes leave that are killed while their recording begins: nothing, an empty header, a header and nothing else.
const KILLED_EARLY: &str = r#"#include <stdio.h>
#include <stdlib.h>
static void leave(int process, const char *bytes, int count) {
    char name[4096];
    snprintf(name, sizeof name, "%s.%d", getenv("FORESEE_RAW"), process);
    FILE *file = fopen(name, "w");
    if (count) fwrite(bytes, count, 1, file);
    fclose(file);
}
int main(void) {
    static char header[1 << 16];
    leave(7, header, 0);
    leave(8, header, sizeof header);
    FILE *own = fopen(getenv("FORESEE_RAW"), "r");
    if (!own || !fread(header, sizeof header, 1, own)) abort();
    fclose(own);
    leave(9, header, sizeof header);
    return 0;
}
"#;

#[test]
fn processes_that_are_killed_early_are_passed_over() {
    let folder = Folder::new();
    folder.build("early.c", KILLED_EARLY);
    let outcome = folder.foresee(&["run", "--", "./prog"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    for process in ["7", "8"] {
        let note = format!("process {process} ended before it began to record");
        assert!(outcome.stderr.contains(&note), "{}", outcome.stderr);
    }
    assert_eq!(folder.foresee(&["record", "-o", "run.ft", "--", "./prog"]).code, Some(0));
}

#[test]
fn packing_keeps_to_the_time_of_the_check() {
    let folder = Folder::new();
    let source = "volatile int x;\nint main(void) { for (int i = 0; i < 3000000; i++) x = i; return 0; }\n";
    folder.build("long.c", source);
    for more in [&[][..], &["--keep-last", "1G"]] {
        let args = [&["run", "--time", "1ms"], more, &["--", "./prog"]].concat();
        let outcome = folder.foresee(&args);
        assert_eq!(outcome.code, Some(3), "{more:?}: {}", outcome.stderr);
        let told =
            outcome.stderr.contains("out of time: only the first") && outcome.stderr.contains("interrupted");
        assert!(told, "{more:?}: {}", outcome.stderr);
    }
}

#[test]
fn blocks_of_new_are_known_by_their_lines() {
    for (_, compiler) in compilers() {
        let folder = Folder::new();
        folder.write("new.cpp", CXX_NEW);
        let build = |source: &str| {
            let _ = folder.runtime();
            let mut build = folder.command(&["c++", "-std=c++17", "-w", source, "-o", "prog", "-pthread"]);
            assert!(build.env("FORESEE_CXX", compiler).status().unwrap().success());
        };
        build("new.cpp");
        let outcome = folder.foresee(&["run", "--format", "json", "--", "./prog"]);
        assert!(outcome.stdout.starts_with("thrown\nnull\n"), "{}", outcome.stdout);
        let mut lines: Vec<u64> = (findings(&outcome).iter())
            .map(|finding| finding["events"][0]["memory"]["allocated"]["location"]["line"].as_u64().unwrap())
            .collect();
        lines.sort_unstable();
        lines.dedup();
        assert_eq!(lines, [6, 7, 8], "{compiler}");
        folder.write("own.cpp", CXX_OWN_NEW);
        build("own.cpp");
        let outcome = folder.foresee(&["run", "--", "./prog"]);
        assert_eq!(outcome.code, Some(0), "{compiler}: {}", outcome.stderr);
    }
}

#[test]
fn what_cannot_be_recorded() {
    let folder = Folder::new();
    let record = |program: &str| folder.foresee(&["record", "--", program]);
    record("/bin/true")
        .one_message(2, &["/bin/true: recorded nothing", "not built by foresee", "foresee cc"]);
    record("./missing").one_message(2, &["./missing: cannot run: No such file"]);
    folder.write("text.c", "int main(void) {}\n");
    record("./text.c").one_message(2, &["./text.c: cannot run: Permission denied"]);
    record("text.c").one_message(2, &["did you mean ./text.c?"]);
    let outcome = folder.foresee(&["record", "-o", "t.zip", "--", "/bin/true"]);
    outcome.one_message(2, &["t.zip", ".ft", ".std"]);
    assert_eq!(folder.foresee(&["run"]).code, Some(2));
    folder.foresee(&["run", "--engine", "hbb", "--", "/bin/false"]).one_message(2, &["unknown engine `hbb`"]);
    assert_eq!(folder.files(), ["text.c"]);
}

#[test]
fn what_cannot_be_built() {
    let folder = Folder::new();
    folder.write("wrong.c", "int main(void) { return x; }\n");
    for args in [&["cc", "wrong.c", "-o", "wrong"][..], &["cc", "-c", "wrong.c"]] {
        let outcome = folder.compile(args);
        assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("wrong.c:1:25: error:"), "{}", outcome.stderr);
    }
    folder
        .compile(&["cc", "-fsanitize=address", "wrong.c"])
        .one_message(2, &["-fsanitize=address", "remove"]);
    folder.compile(&["cc", "-static", "wrong.c"]).one_message(2, &["-static", "link it dynamically"]);
    let mut command = folder.command(&["cc", "wrong.c"]);
    let missing = command.env("FORESEE_RUNTIME", "/no/such").output().unwrap();
    assert_eq!(missing.status.code(), Some(2));
    let mut command = folder.command(&["cc", "-c", "wrong.c"]);
    let missing = command.env("FORESEE_CC", "/no/such/gcc").output().unwrap();
    assert!(String::from_utf8_lossy(&missing.stderr).contains("/no/such/gcc: cannot run the compiler"));
    assert_eq!(folder.files(), ["wrong.c"]);
}

#[test]
fn the_compiler_answers_for_itself() {
    let folder = Folder::new();
    let version = folder.compile(&["cc", "--version"]).success();
    assert!(version.contains("Free Software") || version.contains("clang"), "{version}");
    folder.write("two.c", "int two(void) { return 7; }\n");
    folder.write("main.c", "int two(void);\nint main(void) { return two(); }\n");
    folder.write("args", "-O1 \"main.c\" two.c -o prog");
    folder.compile(&["cc", "@args"]).success();
    assert_eq!(folder.foresee(&["record", "--", "./prog"]).code, Some(7));
    folder.compile(&["cc", "-c", "main.c", "two.c"]).success();
    folder.write("objects", "main.o two.o");
    folder.compile(&["cc", "@objects", "-o", "linked"]).success();
    assert_eq!(folder.foresee(&["record", "--", "./linked"]).code, Some(7));
}

/// A compiler that says what it is told, line by line.
fn fake_compiler(folder: &Folder, version: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    let script = format!("#!/bin/sh\n[ \"$1\" = --version ] && echo '{version}' || printf '%s\\n' \"$@\"\n");
    folder.write("fake", script);
    std::fs::set_permissions(folder.path("fake"), PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = folder.command(&["cc", "-O2", "-g0", "-c", "a.c"]);
    let told = command.env("FORESEE_CC", folder.path("fake")).output().unwrap();
    String::from_utf8(told.stdout).unwrap().lines().collect::<Vec<_>>().join(" ")
}

#[test]
fn our_flags_come_first_and_fit_the_compiler() {
    let folder = Folder::new();
    let first = "-fsanitize=thread -g -fno-omit-frame-pointer ";
    let last = " -O2 -g0 -c a.c -fno-lto";
    let gcc = fake_compiler(&folder, "gcc (Debian 12.2.0-14) 12.2.0");
    let without_checks = format!("{last} -U_FORTIFY_SOURCE -Wp,-U_FORTIFY_SOURCE");
    assert!(gcc.starts_with(first) && gcc.ends_with(&without_checks) && !gcc.contains("-mllvm"), "{gcc}");
    let clang = fake_compiler(&folder, "Debian clang version 19.1.7");
    assert!(clang.starts_with(first) && clang.ends_with(last), "{clang}");
    assert!(clang.contains("-mllvm -tsan-instrument-read-before-write=1"), "{clang}");
    let old = fake_compiler(&folder, "clang version 11.0.1");
    assert!(!old.contains("-mllvm"), "{old}");
}

#[test]
fn libraries_that_are_loaded_late_are_recorded_and_named() {
    let folder = Folder::new();
    folder.write("late.c", "int late;\nvoid count(void) {\n    late++;\n}\n");
    folder.compile(&["cc", "-shared", "-fPIC", "late.c", "-o", "late.so"]).success();
    let main = UNGUARDED
        .replace("<stdio.h>", "<dlfcn.h>\nstatic void (*count)(void);")
        .replace("counter++;", "count();")
        .replace(
            "pthread_t a, b;",
            "pthread_t a, b; count = dlsym(dlopen(\"./late.so\", RTLD_NOW), \"count\");",
        );
    folder.build("main.c", &main);
    let found = findings(&folder.foresee(&["run", "--format", "json", "--", "./prog"]));
    for event in found.iter().flat_map(|finding| finding["events"].as_array().unwrap()) {
        assert_place(event, "late.c", 3, "count");
        assert_eq!(event["target"], "late");
    }
}
