//! Properties about what threads know, through the real program: the library of `specs/mttl` on recorded programs, and the conformance suite.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::annotations::compile_rust;
use crate::cargo::cargo_foresee;
use crate::programs::compilers;
use crate::support::{Folder, Outcome, outcome};

fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../specs/mttl")
}

/// Records a program of the library and holds a file of properties against the run.
fn check(folder: &Folder, spec: &str, program: &str, how: &str, options: &[&str]) -> Outcome {
    let trace = format!("{program}-{how}.ft");
    folder.foresee(&["record", "-o", &trace, "--", &format!("./{program}"), how]).success();
    let spec = library().join(spec);
    let args = ["check", &trace, "--engine", "mttl", "--spec", spec.to_str().unwrap()];
    folder.foresee(&[&args[..], options].concat())
}

fn report(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|why| panic!("{why}: {}", outcome.stderr))
}

/// The properties of the findings, each once.
fn violated(outcome: &Outcome) -> Vec<String> {
    let report = report(outcome);
    let findings = report["findings"].as_array().unwrap();
    assert!(findings.iter().all(|finding| finding["certainty"] == "observed"), "{report:#}");
    let mut names: Vec<String> =
        findings.iter().map(|finding| finding["property"].as_str().unwrap().to_owned()).collect();
    names.dedup();
    names
}

#[test]
fn programs_in_c_break_the_librarys_properties_and_keep_them() {
    let programs = [
        ("sections", "sections.rv", "ExclusiveSections"),
        ("protocol", "sections.rv", "ExclusiveSections"),
        ("races", "races.rv", "OrderedAccesses"),
        ("atomicity", "atomicity.rv", "AtomicBlock"),
        ("invocations", "atomicity.rv", "AtomicInvocations"),
        ("ownership", "ownership.rv", "OneOwner"),
        ("readers", "readers.rv", "ReadersAndWriters"),
    ];
    let folder = Folder::new();
    for (program, spec, property) in programs {
        let source = library().join("examples").join(format!("{program}.c"));
        let flags = ["-Wall", "-Wextra", "-Werror", "-g", "-o", program, "-pthread"];
        folder.compile(&[&["cc", source.to_str().unwrap()][..], &flags].concat()).success();
        let broken = check(&folder, spec, program, "broken", &["--format", "json"]);
        assert_eq!((broken.code, violated(&broken)), (Some(66), vec![property.to_owned()]), "{program}");
        let kept = check(&folder, spec, program, "kept", &["--format", "json"]);
        assert_eq!((kept.code, violated(&kept)), (Some(0), vec![]), "{program}: {}", kept.stdout);
    }
    // Who shares nothing knows nothing.
    let apart = check(&folder, "sections.rv", "sections", "apart", &["--format", "json"]);
    assert_eq!((apart.code, violated(&apart)), (Some(0), vec![]), "{}", apart.stdout);
}

/// Runs a program that was built by this compiler, with a spec that has something done in it.
fn run_inside(folder: &Folder, compiler: &str, program: &str, spec: &str, how: &str) -> Outcome {
    let source = library().join("examples").join(format!("{program}.c"));
    let flags = ["-Wall", "-Wextra", "-Werror", "-g", "-o", program, "-pthread"];
    let compiled = folder
        .command(&[&["cc", source.to_str().unwrap()][..], &flags].concat())
        .env("FORESEE_CC", compiler)
        .output();
    outcome(compiled.unwrap()).success();
    folder.foresee(&["run", "--engine", "mttl", "--spec", spec, "--", &format!("./{program}"), how])
}

#[test]
fn a_function_of_the_program_is_called_at_the_violating_event() {
    let spec = library().join("recovery.rv");
    for (compiler, _) in compilers() {
        let folder = Folder::new();
        folder.runtime();
        let broken = run_inside(&folder, compiler, "recovery", spec.to_str().unwrap(), "broken");
        assert_eq!(
            (broken.code, broken.stdout.as_str()),
            (Some(66), "RecoveredSections: left in the second thread\nx 1, recovered 1\n"),
            "{compiler}: {}",
            broken.stderr
        );
        let kept = run_inside(&folder, compiler, "recovery", spec.to_str().unwrap(), "kept");
        assert_eq!(
            (kept.code, kept.stdout.as_str()),
            (Some(0), "x 2, recovered 0\n"),
            "{compiler}: {}",
            kept.stderr
        );
    }
}

#[test]
fn the_library_is_monitored_in_the_process_as_over_the_trace() {
    // The program is ended where the trace would have the violation: so it is found there, or not at all.
    let programs = [
        ("sections", "sections.rv"),
        ("protocol", "sections.rv"),
        ("races", "races.rv"),
        ("atomicity", "atomicity.rv"),
        ("invocations", "atomicity.rv"),
        ("ownership", "ownership.rv"),
        ("readers", "readers.rv"),
    ];
    let folder = Folder::new();
    folder.runtime();
    for (program, file) in programs {
        let spec = std::fs::read_to_string(library().join(file)).unwrap();
        folder.write("abort.rv", spec.replace("@violation {", "@violation { abort;"));
        let broken = run_inside(&folder, "cc", program, "abort.rv", "broken");
        assert!(
            broken.stderr.contains("SIGABRT") || broken.stderr.contains("signal 6"),
            "{program}: {}",
            broken.stderr
        );
        assert_eq!(broken.code, Some(66), "{program}: {}", broken.stderr);
        let kept = run_inside(&folder, "cc", program, "abort.rv", "kept");
        assert_eq!(kept.code, Some(0), "{program}: {}", kept.stderr);
    }
}

#[test]
fn values_of_shared_variables_are_known_in_the_process_before_the_next_event() {
    let folder = Folder::new();
    folder.runtime();
    folder.build(
        "prog.c",
        "#include <foresee.h>\n#include <stdio.h>\nint X = 1;\nshort Y = -4;\n\
         static void large(const char *property, void *unused) { printf(\"%s %d\\n\", property, X); (void)unused; }\n\
         static __attribute__((noinline)) void set(int x) { X = x; }\n\
         int main(void) { FORESEE_ON_VIOLATION(\"large\", large, 0); set(3); set(7); set(4); Y = 1; \
         __atomic_store_n(&X, 9, __ATOMIC_SEQ_CST); set(2); Y = 3; return 0; }\n",
    );
    folder.write(
        "values.rv",
        "property Large { thread i; var X: int; mttl: @i(X < 5) @violation { report \"large\"; recover \"large\"; } }\n\
         property Begun { thread i; var Y: int = -4; mttl: @i(Y == -4 || Y > 0) \
         @violation { recover \"large\"; } }\n",
    );
    let run = folder.foresee(&["run", "--engine", "mttl", "--spec", "values.rv", "--", "./prog"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(66), "Large 7\nLarge 9\n"), "{}", run.stderr);
}

#[test]
fn threads_by_name_are_monitored_in_the_process_from_when_they_have_it() {
    let folder = Folder::new();
    folder.build(
        "prog.c",
        "#define _GNU_SOURCE\n#include <foresee.h>\n#include <pthread.h>\n#include <stdio.h>\n\
         static void busy(const char *property, void *unused) {\n\
         char name[16]; pthread_getname_np(pthread_self(), name, sizeof name); printf(\"%s %s\\n\", property, name); (void)unused; }\n\
         static void *work(void *name) { pthread_setname_np(pthread_self(), name); FORESEE_LOCAL(load, 9); FORESEE_LOCAL(load, 0); return 0; }\n\
         int main(void) { FORESEE_ON_VIOLATION(\"busy\", busy, 0); FORESEE_LOCAL(load, 9);\n\
         const char *names[] = { \"worker-1\", \"boss\", \"worker-2\" };\n\
         for (int i = 0; i < 3; i++) { pthread_t t; pthread_create(&t, 0, work, (void *)names[i]); pthread_join(t, 0); }\n\
         return 0; }\n",
    );
    folder.write(
        "named.rv",
        "property Workers { thread w: \"worker-*\"; local load: int = 0; mttl: @w(load < 5) @violation { report \"busy\"; recover \"busy\"; } }\n\
         property Boss { thread boss: \"boss\"; local load: int = 0; mttl: @boss(load < 5) @violation { report \"busy\"; recover \"busy\"; } }\n",
    );
    let run = folder.foresee(&[
        "run",
        "--engine",
        "mttl",
        "--spec",
        "named.rv",
        "--format",
        "json",
        "--output",
        "found.json",
        "--",
        "./prog",
    ]);
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (Some(66), "Workers worker-1\nBoss boss\nWorkers worker-2\n"),
        "{}",
        run.stderr
    );
    // Over the trace it is the same.
    let found: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.path("found.json")).unwrap()).unwrap();
    let properties: Vec<&str> = found["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|found| found["property"].as_str().unwrap())
        .collect();
    assert_eq!(properties, ["Workers", "Boss"], "each place once: {found:#}");
}

#[test]
fn the_child_of_a_fork_is_monitored_as_a_run_of_its_own() {
    let folder = Folder::new();
    folder.build(
        "prog.c",
        "#include <foresee.h>\n#include <stdio.h>\n#include <sys/wait.h>\n#include <unistd.h>\nint X = 3;\n\
         static __attribute__((noinline)) void set(int x) { X = x; }\n\
         static void large(const char *property, void *who) { printf(\"%s %s %d\\n\", property, (char *)who, X); fflush(stdout); }\n\
         int main(void) { FORESEE_ON_VIOLATION(\"large\", large, \"parent\"); set(4);\n\
         if (fork() == 0) { FORESEE_ON_VIOLATION(\"large\", large, \"child\"); set(2); set(7); set(1); _exit(0); }\n\
         wait(0); set(8); set(1); return 0; }\n",
    );
    folder.write(
        "values.rv",
        "property Large { thread i; var X: int; mttl: @i(X < 5 && X != 0) @violation { recover \"large\"; } }\n",
    );
    let run = folder.foresee(&["run", "--engine", "mttl", "--spec", "values.rv", "--", "./prog"]);
    assert_eq!(run.stdout, "Large child 7\nLarge parent 8\n", "{}", run.stderr);
}

#[test]
fn variables_begin_with_what_the_program_says() {
    let folder = Folder::new();
    folder.build(
        "prog.c",
        "#include <stdio.h>\nint X = 5;\nshort Y = -3;\nlong Z;\nvolatile int OTHER;\n\
         int main(void) { OTHER = 1; X = 6; Y = -2; Z = 1; OTHER = 2; return 0; }\n",
    );
    folder.write(
        "values.rv",
        "property Begins { thread i; var X, Y, Z: int; mttl: @i(X >= 5 && Y <= -2 && Z >= 0) @violation { report \"no\"; } }\n\
         property Told { thread i; var X: int = 4; mttl: @i(X >= 5) @violation { report \"no\"; } }\n\
         property Past { var X, Y: int; ptltl: X >= 5 && Y <= -2 @violation { report \"no\"; } }\n",
    );
    let args =
        ["run", "--engine", "mttl,property", "--spec", "values.rv", "--format", "json", "--", "./prog"];
    assert_eq!(violated(&folder.foresee(&args)), ["Told"]);
    // The same for statics that are watched, and a spec that comes later.
    folder
        .foresee(&["record", "--watch", "X", "--watch", "Y", "--watch", "Z", "-o", "run.ft", "--", "./prog"])
        .success();
    let args = ["check", "run.ft", "--engine", "mttl,property", "--spec", "values.rv", "--format", "json"];
    assert_eq!(violated(&folder.foresee(&args)), ["Told"]);
}

#[test]
fn a_recovery_may_be_left_by_a_jump() {
    let folder = Folder::new();
    folder.build(
        "prog.c",
        "#include <foresee.h>\n#include <setjmp.h>\n#include <stdio.h>\nstatic jmp_buf back;\n\
         static void leave(const char *property, void *unused) { printf(\"%s\\n\", property); (void)unused; longjmp(back, 1); }\n\
         int main(void) { FORESEE_ON_VIOLATION(\"leave\", leave, 0);\n\
         for (volatile int i = 0; i < 2; i++) { if (setjmp(back) == 0) { FORESEE_LOCAL(bad, 1); printf(\"went on\\n\"); } FORESEE_LOCAL(bad, 0); }\n\
         return 0; }\n",
    );
    folder.write(
        "bad.rv",
        "property Bad { thread i; local bad: bool = false; mttl: @i(!bad) @violation { recover \"leave\"; } }\n",
    );
    let run = folder.foresee(&["run", "--engine", "mttl", "--spec", "bad.rv", "--", "./prog"]);
    assert_eq!(run.stdout, "Bad\nBad\n", "{}", run.stderr);
}

#[test]
fn programs_in_rust_break_them_and_keep_them_too() {
    let folder = Folder::new();
    let programs = [
        ("bank", "atomicity.rv", "AtomicBlock", &["kept"][..]),
        ("sections", "sections.rv", "ExclusiveSections", &["kept", "apart"]),
    ];
    for (program, spec, property, clean) in programs {
        let source = library().join("examples").join(format!("{program}.rs"));
        compile_rust(&folder, &std::fs::read_to_string(source).unwrap(), true);
        let broken = check(&folder, spec, "prog", "broken", &["--format", "json"]);
        assert_eq!((broken.code, violated(&broken)), (Some(66), vec![property.to_owned()]), "{program}");
        for how in clean {
            let kept = check(&folder, spec, "prog", how, &["--format", "json"]);
            assert_eq!((kept.code, violated(&kept)), (Some(0), vec![]), "{program} {how}: {}", kept.stdout);
        }
    }
}

#[test]
fn closures_of_programs_in_rust_are_called_at_the_violating_event() {
    let folder = Folder::new();
    folder.package_with_sdk("");
    folder.write(
        "src/main.rs",
        r#"
fn named(name: &str, work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().name(name.into()).spawn(work).unwrap().join().unwrap();
}

fn main() {
    foresee::on_violation("leave", |verdict| {
        println!("{} {} {}", verdict.property, verdict.category, verdict.thread);
        // It violates again, which is handled when this is through.
        foresee::local!(depth = 1);
    });
    foresee::on_violation("panics", |_| panic!("no way out"));
    named("other", || foresee::local!(bad = true));
    named("worker-1", || {
        foresee::local!(bad = true);
        println!("after it");
        foresee::local!(bad = false);
        foresee::local!(depth = 0);
        foresee::local!(worse = true);
        foresee::local!(bad = true);
    });
}
"#,
    );
    folder.write(
        "bad.rv",
        "property Bad { thread w: \"worker-*\"; local bad: bool = false; mttl: @w(!bad) @violation { recover \"leave\"; } }\n\
         property Deep { thread w: \"worker-*\"; local depth: int = 0; mttl: @w(depth == 0) @violation { recover \"leave\"; } }\n\
         property Worse { thread w: \"worker-*\"; local worse: bool = false; mttl: @w(!worse) @violation { recover \"panics\"; } }\n",
    );
    folder.foresee(&["cargo", "build", "--quiet", "--offline"]).success();
    let program = "target/foresee/x86_64-unknown-linux-gnu/debug/app";
    let run = folder.foresee(&["run", "--engine", "mttl", "--spec", "bad.rv", "--", program]);
    let expected = "Bad violation worker-1\nDeep violation worker-1\nafter it\nBad violation worker-1\nDeep violation worker-1\n";
    assert_eq!(run.stdout, expected, "{}", run.stderr);
    assert!(
        run.stderr.contains("the handler `panics` of Worse (violation) panicked: no way out"),
        "{}",
        run.stderr
    );
}

/// The paper's run: critical() with an unrelated z and y in between.
const SECTIONS: &str = "main|fork(t1)|s.c:30\nmain|fork(t2)|s.c:31\nt2|local(critical=1)|s.c:12\nt2|r(x=0)|s.c:13\n\
                        t2|w(x=1)|s.c:13\nt2|local(critical=0)|s.c:14\nt2|w(z=9)|s.c:20\nt2|r(z=9)|s.c:21\nt2|w(y=11)|s.c:21\n\
                        t1|local(critical=1)|s.c:12\nt1|r(x=1)|s.c:13\n";

#[test]
fn a_report_shows_what_was_known_and_who_carried_it() {
    let folder = Folder::new();
    folder.write("run.std", SECTIONS);
    let spec = library().join("sections.rv");
    let check = |options: &[&str]| {
        folder.foresee(
            &[&["check", "run.std", "--engine", "mttl", "--spec", spec.to_str().unwrap()], options].concat(),
        )
    };
    let human = check(&[]);
    assert_eq!(human.code, Some(66), "{}", human.stderr);
    for part in [
        "observed property violation of `ExclusiveSections`: t1 is in the critical section, and knows of t2 only that it is, too",
        "`t1` knew of `t2`: `critical is true`, since s.c:12",
        "→ t2 writes x  s.c:13",
        "→ t1 reads x  s.c:13",
        "It is so in every run in which the same reads read the same writes",
    ] {
        assert!(human.stderr.contains(part), "{part} in:\n{}", human.stderr);
    }
    let report = report(&check(&["--format", "json"]));
    let finding = &report["findings"][0];
    assert_eq!((&finding["kind"], &finding["engine"]), (&"property".into(), &"mttl".into()));
    let known = &finding["known"][0];
    assert_eq!((&known["thread"], &known["says"]), (&"t2".into(), &"critical is true".into()));
    let way: Vec<u64> =
        known["events"].as_array().unwrap().iter().map(|event| event["index"].as_u64().unwrap()).collect();
    assert_eq!(way, [2, 4, 10]);
    // Without sharing there is nothing to know, and no alarm.
    folder.write("run.std", SECTIONS.replace("t1|r(x=1)", "t1|r(w=1)"));
    assert_eq!(check(&[]).code, Some(0));
}

#[test]
fn what_is_looked_at_is_said() {
    let folder = Folder::new();
    folder.write("run.std", "t1|w(x=1)\n");
    let spec = library().join("sections.rv");
    let spec = spec.to_str().unwrap();
    let nobody = folder.foresee(&["check", "run.std", "--spec", spec]);
    assert!(
        nobody.stderr.contains("ExclusiveSections: no thread of the run assigns `critical`"),
        "{}",
        nobody.stderr
    );
    assert!(nobody.stderr.contains("mttl"), "{}", nobody.stderr);
    folder.foresee(&["check", "run.std", "--engine", "mttl"]).one_message(2, &["add --spec FILE"]);
    folder
        .foresee(&["check", "run.std", "--engine", "property", "--spec", spec])
        .one_message(2, &["does not check `mttl` bodies"]);
    folder.foresee(&["monitor", spec, "run.std"]).one_message(2, &["`mttl` bodies", "foresee check"]);
    folder.write(
        "bad.rv",
        "property P { thread i, j; local c: bool; mttl: @i(c -> !@j c) @violation { report \"\"; } }\n",
    );
    let refused = folder.foresee(&["spec", "check", "bad.rv"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("`j` is bound by no quantifier\n   ┌─ bad.rv:1:"), "{}", refused.stderr);
    let (vars, values): (Vec<_>, Vec<_>) = (0..65).map(|n| (format!("v{n}"), format!("v{n} >= 0"))).unzip();
    let (vars, values) = (vars.join(", "), values.join(" && "));
    folder.write(
        "many.rv",
        format!("property P {{ thread i; var {vars}: int; mttl: @i({values}) @violation {{ count; }} }}\n"),
    );
    folder.foresee(&["spec", "check", "many.rv"]).one_message(2, &["many.rv", "at most 64 can be followed"]);
}

#[test]
fn values_that_nobody_saw_are_doubted() {
    let folder = Folder::new();
    folder.runtime();
    folder.write(
        "v.c",
        "#include <pthread.h>\n#include <string.h>\nstruct { int a, b; } pair;\nint x, copied, source = 3;\n\
         static void *work(void *p) { pair.a = 5; x = 3; memcpy(&copied, p, sizeof copied); return 0; }\n\
         int main(void) { pthread_t t; pthread_create(&t, 0, work, &source); pthread_join(t, 0); return x + pair.a + copied - 11; }\n",
    );
    folder.foresee(&["cc", "-g", "v.c", "-o", "v", "-pthread"]).success();
    folder.foresee(&["record", "-o", "plain.ft", "--", "./v"]).success();
    let spec = |name: &str, formula: &str| {
        folder.write(
            "p.rv",
            format!("property P {{ thread i; var {name}: int; mttl: @i({formula}) @violation {{ report \"in {{i}}\"; }} }}\n"),
        );
        let run = folder.foresee(&["run", "--engine", "mttl", "--spec", "p.rv", "--", "./v"]);
        let monitored = folder.foresee(&["run", "--monitor", "p.rv", "--", "./v"]);
        let plain = folder.foresee(&["check", "plain.ft", "--engine", "mttl", "--spec", "p.rv"]);
        [run, monitored, plain].map(|outcome| (outcome.code, outcome.stdout + &outcome.stderr))
    };
    // Its values are recorded if they are asked for.
    for name in ["x", "copied"] {
        let [run, monitored, plain] = spec(name, &format!("{name} < 3"));
        for (code, said) in [run, monitored] {
            assert!(
                code == Some(66) && said.contains("in T1") && !said.contains("candidate"),
                "{name}: {said}"
            );
        }
        assert_eq!(plain.0, Some(0), "{name}: {}", plain.1);
        assert!(plain.1.contains("not known") || plain.1.contains("does not say which value"), "{}", plain.1);
        // A verdict that relies on a value of before is no finding.
        let [_, _, plain] = spec(name, &format!("!({name} == 0 && <*> write({name}))"));
        assert_eq!(plain.0, Some(0), "{name}: {}", plain.1);
        assert!(plain.1.contains("candidate"), "{}", plain.1);
    }
    // A structure has none.
    for (code, said) in spec("pair", "pair < 3") {
        assert!(code == Some(0) && said.contains("not known"), "{said}");
    }
    // Accesses to it have.
    for (code, said) in spec("pair", "!write(pair)") {
        assert!(code == Some(66) && !said.contains("not known"), "{said}");
    }
}

#[test]
fn what_compilers_copy_and_fill_has_values() {
    let folder = Folder::new();
    folder.runtime();
    folder.write(
        "filled.c",
        "#include <foresee.h>\n#include <pthread.h>\n#include <string.h>\n\
         static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n\
         static int filled[4] = {1, 1, 1, 1}, copied[6]; const int from[6] = {0, 0, 0, 7};\n\
         static void *work(void *p) {\n\
             pthread_mutex_lock(&lock);\n\
             memset(filled, 0, sizeof filled); memcpy(copied, from, sizeof copied);\n\
             FORESEE_LOCAL(done, 1);\n\
             pthread_mutex_unlock(&lock);\n\
             return p;\n\
         }\n\
         int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0); return filled[1] + copied[2]; }\n",
    );
    let right = "filled[1] == 0 && copied[3] == 7";
    for (c, _) in compilers() {
        for level in ["-O0", "-O1", "-O2", "-O3", "-Os"] {
            let mut compile = folder.command(&["cc", "-g", level, "filled.c", "-o", "filled", "-pthread"]);
            assert!(compile.env("FORESEE_CC", c).status().unwrap().success());
            for (formula, code) in [(right.to_owned(), 0), (format!("!({right})"), 66)] {
                folder.write(
                    "p.rv",
                    format!(
                        "property P {{ thread i; local done: bool; var filled[1], copied[3]: int;\n\
                         mttl: @i(done -> {formula}) @violation {{ report \"v\"; }} }}\n"
                    ),
                );
                for how in [&["--engine", "mttl", "--spec"][..], &["--monitor"]] {
                    let said = folder.foresee(&[&["run"], how, &["p.rv", "--", "./filled"]].concat());
                    assert_eq!(said.code, Some(code), "{c} {level} {how:?}: {}", said.stderr);
                    assert!(!said.stderr.contains("not known"), "{c} {level} {how:?}: {}", said.stderr);
                }
            }
        }
    }
}

#[test]
fn who_knew_what_in_a_race_for_a_value_is_not_proven_in_the_process() {
    let folder = Folder::new();
    folder.runtime();
    // The write is a step of its thread only when its value is known, which is after the other thread's last read. (A read may be told of just before the write, and see it: hence one more.)
    folder.write(
        "race.c",
        "#include <foresee.h>\n#include <pthread.h>\nvolatile int Y;\n\
         static void *first(void *p) {\n\
             FORESEE_LOCAL(p, 1); Y = 1; for (volatile long i = 0; i < 300000000; i++) { }\n\
             FORESEE_LOCAL(q, 1); return p;\n\
         }\n\
         static void *second(void *p) { while (!Y) { } (void)Y; FORESEE_LOCAL(saw, 1); return p; }\n\
         int main(void) {\n\
             pthread_t a, b; pthread_create(&a, 0, first, 0); pthread_create(&b, 0, second, 0);\n\
             pthread_join(a, 0); pthread_join(b, 0); return 0;\n\
         }\n",
    );
    folder.write(
        "p.rv",
        "property P { thread i; local saw: bool; var Y: int; mttl: @i(saw -> Y == 1) @violation { report \"v\"; } }\n",
    );
    folder.foresee(&["cc", "-g", "-O2", "race.c", "-o", "race", "-pthread"]).success();
    let said = folder.foresee(&["run", "--monitor", "p.rv", "--", "./race"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stderr.contains("not known"), "{}", said.stderr);
}

#[test]
fn the_runtime_does_nothing_before_the_program() {
    let folder = Folder::new();
    folder.runtime();
    folder.write(
        "f.c",
        "#include <foresee.h>\nint main(void) { FORESEE_LOCAL(f, 1); FORESEE_LOCAL(g, 1); return 0; }\n",
    );
    folder.foresee(&["cc", "-g", "f.c", "-o", "f"]).success();
    folder.write(
        "f.rv",
        "property P { thread main: \"main\"; local f: bool; mttl: @main(f) @violation { report \"v\"; } }\n",
    );
    for how in [&["--engine", "mttl", "--spec"][..], &["--monitor"]] {
        let said = folder.foresee(&[&["run"], how, &["f.rv", "--", "./f"]].concat());
        assert_eq!(said.code, Some(0), "{how:?}: {}{}", said.stdout, said.stderr);
    }
}

#[test]
fn what_the_runtime_does_about_a_violation_is_no_step_of_the_program() {
    let folder = Folder::new();
    folder.runtime();
    folder.write(
        "own.c",
        "#include <foresee.h>\n#include <pthread.h>\nint A, B;\nstruct pair { int x, y; } P, Q;\n\
         static void *work(void *p) { for (int k = 0; k < 4; k++) { A = k; B = k; } return p; }\n\
         int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0); struct pair p = {2, 3}; P = p; Q = p; FORESEE_LOCAL(done, 1); return P.x + Q.x - 4; }\n",
    );
    folder.foresee(&["cc", "-g", "own.c", "-o", "own", "-pthread"]).success();
    folder.write(
        "own.rv",
        "property All { thread i; var A: int; mttl: @i(write(A)) @violation { report \"{i}\"; } }\n\
         property Alternating { thread i; var A, B: int; mttl: @i((*) write(A) -> write(B)) @violation { report \"{i}\"; } }\n",
    );
    for how in [&["--engine", "mttl", "--spec"][..], &["--monitor"]] {
        let said = folder.foresee(&[&["run"], how, &["own.rv", "--", "./own"]].concat());
        let said = said.stdout + &said.stderr;
        assert!(
            said.contains("violation of `All`") && !said.contains("violation of `Alternating`"),
            "{said}"
        );
    }
    // Each of several variables whose values nobody saw is doubted.
    let of = |name: &str| {
        format!(
            "property Of{name} {{ thread i; var {name}.x: int; local done: bool; mttl: @i(done -> {name}.x == 2) @violation {{ report \"{{i}}\"; }} }}\n"
        )
    };
    folder.write("both.rv", of("P") + &of("Q"));
    let said = folder.foresee(&["run", "--monitor", "both.rv", "--", "./own"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stderr.matches("candidate property violation").count() == 2, "{}", said.stderr);
}

#[test]
fn unsigned_statics_of_rust_are_never_negative() {
    let folder = Folder::new();
    folder.package_with_sdk("");
    folder.write(
        "src/main.rs",
        "use std::sync::atomic::{AtomicU8, AtomicI8, Ordering::SeqCst};\nstatic BYTE: AtomicU8 = AtomicU8::new(0);\nstatic SIGNED: AtomicI8 = AtomicI8::new(0);\n\
         fn main() { BYTE.store(200, SeqCst); SIGNED.store(-5, SeqCst); foresee::local!(large = u64::MAX); println!(\"{}\", BYTE.load(SeqCst)); }\n",
    );
    folder.write(
        "u.rv",
        "property Never { thread i; local large: int; var BYTE, SIGNED: int; mttl: @i(BYTE >= 0 && SIGNED > -6 && large >= 0) @violation { report \"\"; } }\n\
         property Once { thread i; var BYTE, SIGNED: int; mttl: @i(BYTE < 200 || SIGNED >= 0) @violation { report \"\"; } }\n",
    );
    for how in ["--spec", "--monitor"] {
        let said = cargo_foresee(&folder, &["run", how, "u.rv"]);
        assert!(
            said.code == Some(66) && said.stderr.contains("violation of `Once`"),
            "{how}: {}",
            said.stderr
        );
        assert!(!said.stderr.contains("violation of `Never`"), "{how}: {}", said.stderr);
    }
}

#[test]
fn the_library_is_right_and_formatted() {
    let folder = Folder::new();
    for file in ["sections.rv", "races.rv", "atomicity.rv", "ownership.rv", "readers.rv", "recovery.rv"] {
        let path = library().join(file);
        folder.foresee(&["spec", "check", path.to_str().unwrap()]).success();
        let formatted = folder.foresee(&["spec", "fmt", "--check", path.to_str().unwrap()]);
        assert_eq!(formatted.code, Some(0), "{file}: {}{}", formatted.stdout, formatted.stderr);
    }
}

#[test]
fn cases_of_the_conformance_suite_are_checked() {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("../foresee-lattice/tests/data/mttl.json");
    let folder = Folder::new();
    let check = |file: &str, options: &[&str]| {
        folder.foresee(&[&["check", file, "--engine", "mttl"], options].concat())
    };
    let all = check(suite.to_str().unwrap(), &["--format", "json"]);
    assert_eq!(all.code, Some(66), "{}", all.stderr);
    let all: Value = serde_json::from_str(&all.stdout).unwrap();
    let cases = all["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 220);
    assert!(cases.iter().all(|case| case["agrees"] == true), "{all:#}");
    assert!(all["refused"].as_array().unwrap().iter().all(|refused| refused["why"].is_string()), "{all:#}");
    let one = r#"{"name":"one","threads":["t1","t2"],"locals":{"a":0},"formula":"(at t1 (== (at t2 (local a)) 1))",
        "events":[{"thread":"t2","op":"local","target":"a","value":1},{"thread":"t2","op":"acquire","target":"m"},
        {"thread":"t1","op":"notify"},{"thread":"t1","op":"acquire","target":"m"}]}"#;
    folder.write("one.json", one);
    let text = check("one.json", &[]);
    assert_eq!((text.code, text.stdout.as_str()), (Some(66), "one 2 t1 false\none 3 t1 true\n"));
    folder.write("kept.json", one.replace("\"t1\",\"op\":\"notify\"", "\"t2\",\"op\":\"notify\""));
    assert_eq!(check("kept.json", &[]).code, Some(0));
    // What cannot have happened is refused for its case alone.
    let impossible = one.replace("\"one\"", "\"two\"").replace("acquire", "read");
    folder.write("both.json", format!("[{impossible},{one}]"));
    let both = check("both.json", &[]);
    assert_eq!((both.code, both.stdout.as_str()), (Some(2), "one 2 t1 false\none 3 t1 true\n"));
    assert!(both.stderr.contains("two: event 1: `variables` has no `m`"), "{}", both.stderr);
    let out_of_time = check("one.json", &["--time", "0s"]);
    assert_eq!(out_of_time.code, Some(3), "{}{}", out_of_time.stdout, out_of_time.stderr);
    assert!(out_of_time.stderr.contains("one: out of time at event 0"), "{}", out_of_time.stderr);
    folder.write("none.json", "[]");
    check("none.json", &[]).one_message(2, &["none.json", "there are no cases in it"]);
    folder.write("nobody.json", one.replace("(at t1 ", "(at t2 ").replace("\"t2\",\"op\"", "\"t1\",\"op\""));
    let nobody = check("nobody.json", &[]);
    assert!(
        nobody.code == Some(0)
            && nobody.stderr.contains("one: no thread that its formula is of does anything"),
        "{}",
        nobody.stderr
    );
    folder.write("bad.json", "{\"cases\": 3}");
    check("bad.json", &[]).one_message(2, &["bad.json", "not a case or a suite of cases"]);
}
