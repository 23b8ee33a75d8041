//! Names in specs and options: one name is one variable, one rule says which functions are meant, and what is not there is told.

use serde_json::Value;

use crate::programs::compilers;
use crate::support::{Folder, outcome};

/// A file of C with a channel of its own: it is always opened before it is used.
const CHANNEL: &str = r"
static volatile int opened, sending;
void NAME(void) { opened = 1; sending = 1; sending = 0; opened = 0; }
";

const MAIN: &str = r"
#include <pthread.h>
extern void first(void), second(void);
static void *one(void *arg) { first(); return arg; }
static void *other(void *arg) { second(); return arg; }
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, one, 0);
    pthread_create(&threads[1], 0, other, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
}
";

const SPEC: &str = r#"property Opened { var opened, sending: int;
    ptltl: sending == 1 -> opened == 1 @violation { report "not open"; } }"#;

#[test]
fn one_var_is_one_variable() {
    let folder = Folder::new();
    folder.write("a.c", CHANNEL.replace("NAME", "first"));
    folder.write("b.c", CHANNEL.replace("NAME", "second"));
    folder.write("main.c", MAIN);
    folder.foresee(&["cc", "-g", "a.c", "b.c", "main.c", "-o", "prog", "-pthread"]).success();
    folder.write("all.rv", SPEC);
    let run = |spec: &str| folder.foresee(&["run", "--engine", "property", "--spec", spec, "./prog"]);
    run("all.rv").one_message(2, &["`opened` of the spec is ambiguous", "`a.c:opened`", "`b.c:opened`"]);
    let one = SPEC.replace("opened", "a.c:opened").replace("sending", "a.c:sending");
    folder.write("one.rv", &one);
    let kept = run("one.rv");
    assert_eq!(kept.code, Some(0), "{}", kept.stderr);
    assert!(!kept.stderr.contains("warning"), "{}", kept.stderr);
    folder.write("mixed.rv", one.replace("a.c:opened", "b.c:opened"));
    assert_eq!(run("mixed.rv").code, Some(66), "these are two channels");
}

/// Two channels in one array, each opened before it is used.
const CHANNELS: &str = r"
#include <pthread.h>
struct flags { int other; union { short opened; short shut; }; };
struct channel { long id; struct flags flags; volatile int sending; unsigned odd : 3; };
static struct channel channels[3];
static void *use(void *arg) {
    struct channel *mine = arg;
    *(volatile short *)&mine->flags.opened = 1;
    mine->sending = 1;
    mine->sending = 0;
    *(volatile short *)&mine->flags.opened = 0;
    return arg;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, use, &channels[i + 1]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
}
";

#[test]
fn a_var_may_be_a_part_of_a_static() {
    let folder = Folder::new();
    folder.write("channels.c", CHANNELS);
    let spec = |opened: &str, sending: &str| {
        let spec = SPEC.replace("opened", opened).replace("sending", sending);
        folder.write("spec.rv", spec);
    };
    for compiler in ["gcc", "clang"] {
        let mut built = folder.command(&["cc", "-g", "-O1", "channels.c", "-o", "prog", "-pthread"]);
        let built = crate::support::outcome(built.env("FORESEE_CC", compiler).output().unwrap());
        assert_eq!(built.code, Some(0), "{}", built.stderr);
        let run = || folder.foresee(&["run", "--engine", "property", "--spec", "spec.rv", "./prog"]);
        spec("channels[1].flags.opened", "channels[1].sending");
        let kept = run();
        assert_eq!((kept.code, kept.stderr.contains("warning")), (Some(0), false), "{}", kept.stderr);
        spec("channels[2].flags.opened", "channels[1].sending");
        assert_eq!(run().code, Some(66), "these are two channels");
        for (name, why) in [
            ("channels[3].sending", "`channels` has no element 3: it has 3"),
            (
                "channels[1].sent",
                "`channels[1]` has no member `sent`; it has `id`, `flags`, `sending`, `odd`",
            ),
            ("channels[1].odd", "`channels[1].odd` is a bit field"),
            ("channels[1].id[0]", "`channels[1].id` has no element 0: it is no array"),
        ] {
            spec("channels[1].flags.shut", name);
            run().one_message(2, &[name, why]);
        }
    }
}

/// What is copied has a value; what is written together with other memory, by an instruction, has none that is known.
#[test]
fn variables_that_are_copied_have_values() {
    let folder = Folder::new();
    folder.write(
        "copies.c",
        r#"
#include <string.h>
struct all { int first, second, third, fourth, fifth, sixth; };
static struct all all;
static volatile int whole;
int main(int words, char **word) {
    struct all next;
    memset(&next, 0, sizeof next);
    next.second = words;
    memcpy(&all, &next, words * sizeof all);
    memset((void *)&whole, 1, sizeof whole);
    return all.second + whole == 0;
}
"#,
    );
    let spec = |condition: &str| {
        let property =
            "property P { var all.second, whole: int; ptltl: ! CONDITION @violation { report \"set\"; } }";
        folder.write("spec.rv", property.replace("CONDITION", condition));
    };
    for compiler in ["gcc", "clang"] {
        let mut built = folder.command(&["cc", "-g", "-O0", "copies.c", "-o", "prog"]);
        let built = crate::support::outcome(built.env("FORESEE_CC", compiler).output().unwrap());
        assert_eq!(built.code, Some(0), "{}", built.stderr);
        let run = || folder.foresee(&["run", "--engine", "property", "--spec", "spec.rv", "./prog"]);
        spec("(all.second == 1 && whole == 16843009)");
        assert_eq!(run().code, Some(66), "{compiler}");
        spec("(all.second == 0 && whole == 16843009)");
        assert_eq!(run().code, Some(0), "{compiler}: {}", run().stderr);
    }
    folder.write("run.std", "T1|w(x=1)|1\nT1|w(x)|2\nT1|w(y=1)|3\n");
    folder.write(
        "spec.rv",
        "property P { var x, y: int; ptltl: !(x == 1 && y == 1) @violation { report \"both\"; } }",
    );
    let checked = folder.foresee(&["check", "run.std", "--spec", "spec.rv"]);
    assert_eq!(checked.code, Some(0), "{}", checked.stderr);
    assert!(checked.stderr.contains("the trace does not say which value `x` got"), "{}", checked.stderr);
    let monitored = folder.foresee(&["monitor", "spec.rv", "run.std", "--format", "json"]);
    let report: Value = serde_json::from_str(&monitored.stdout).unwrap();
    assert_eq!(report["findings"][0]["certainty"], "candidate", "{}", monitored.stdout);
    assert!(
        monitored.stderr.contains("P: the trace does not say which value `x` got"),
        "{}",
        monitored.stderr
    );
}

/// That nothing was found says less then.
#[test]
fn values_that_nobody_saw_are_told_of_if_nothing_is_found() {
    let folder = Folder::new();
    folder.write("run.std", "T1|w(x)|2\nT1|w(y=1)|3\n");
    folder.write(
        "spec.rv",
        "property P { var x, y: int; ptltl: !(x == 1 && y == 1) @violation { report \"both\"; } }",
    );
    let why = "P: the trace does not say which value `x` got";
    let checked = folder.foresee(&["check", "run.std", "--spec", "spec.rv"]);
    assert!(checked.code == Some(0) && checked.stderr.contains(why), "{}", checked.stderr);
    for (command, code) in
        [(&["check", "run.std", "--spec", "spec.rv"][..], 0), (&["monitor", "spec.rv", "run.std"], 3)]
    {
        let told = folder.foresee(&[command, &["--format", "json"]].concat());
        let report: Value = serde_json::from_str(&told.stdout).unwrap();
        assert_eq!(told.code, Some(code), "{}", told.stderr);
        assert!(report["stats"]["missing"].to_string().contains(why), "{}", told.stdout);
    }
}

#[test]
fn what_is_named_and_not_there_is_told() {
    let folder = Folder::new();
    let trace = "main|enter(<app::Bank>::withdraw)|1\nmain|w(x)|2\nmain|exit(<app::Bank>::withdraw)|3\n";
    folder.write("run.std", trace);
    let spec = |name: &str| {
        format!("property P {{ event out = enter(\"{name}\"); ere: out @match {{ report \"taken\"; }} }}")
    };
    folder.write("right.rv", spec("Bank::withdraw"));
    folder.write("wrong.rv", spec("Bank::withdrow"));
    let check = |spec: &str, more: &[&str]| {
        let mut args = vec!["check", "run.std", "--spec", spec, "--format", "json"];
        args.extend(more);
        folder.foresee(&args)
    };
    let unmatched = |text: &str| -> Vec<Value> {
        let report: Value = serde_json::from_str(text).unwrap();
        report["stats"]["unmatched"].as_array().unwrap().clone()
    };
    let right = check("right.rv", &["--atomic", "Bank::withdraw", "--strict"]);
    assert_eq!((right.code, right.stderr.as_str()), (Some(66), ""));
    assert!(unmatched(&right.stdout).is_empty());
    let wrong = check("wrong.rv", &["--atomic", "withdrawal"]);
    assert_eq!(wrong.code, Some(0));
    assert!(
        wrong.stderr.contains("warning: P: the run calls no function `Bank::withdrow`"),
        "{}",
        wrong.stderr
    );
    assert!(wrong.stderr.contains("--atomic: the run calls no function `withdrawal`"), "{}", wrong.stderr);
    assert!(wrong.stderr.contains("the run has none of its events"), "{}", wrong.stderr);
    let told = unmatched(&wrong.stdout);
    let of_spec = told.iter().find(|one| one["name"] == "Bank::withdrow").unwrap();
    assert_eq!(
        (of_spec["kind"].as_str(), of_spec["nearest"][0].as_str()),
        (Some("function"), Some("<app::Bank>::withdraw"))
    );
    let strict = check("wrong.rv", &["--strict"]);
    assert_eq!(strict.code, Some(2));
    assert!(strict.stderr.contains("error: P: the run calls no function"), "{}", strict.stderr);
}

/// A ship that sails when it is loaded.
const SHIP: &str = r"
#include <pthread.h>
static volatile int loaded, sailing, flag = 3;
static void *load(void *arg) { loaded = 1; return arg; }
static void *sail(void *arg) { sailing = 1; return arg; }
int main(int words, char **word) {
    pthread_t thread;
    if (words > 9) flag = words;
    pthread_create(&thread, 0, load, 0);
    pthread_join(thread, 0);
    pthread_create(&thread, 0, sail, 0);
    pthread_join(thread, 0);
    return word == 0;
}
";

/// The rule of a ship: who sails has loaded, in these words.
fn ship(folder: &Folder, condition: &str) {
    let variable = condition.split(' ').next().unwrap();
    folder.write(
        "ship.rv",
        format!("property SafeSail {{ var {variable}, sailing: int; ptltl: sailing == 1 -> {condition} @violation {{ report \"empty\"; }} }}"),
    );
}

fn build_ship(folder: &Folder) {
    let _ = folder.runtime();
    folder.write("ship.c", SHIP);
    folder.foresee(&["cc", "-g", "ship.c", "-o", "ship", "-pthread"]).success();
}

#[test]
fn what_is_said_of_a_variable_that_the_program_does_not_have_is_left_out() {
    let folder = Folder::new();
    build_ship(&folder);
    ship(&folder, "loaded == 1");
    assert_eq!(folder.foresee(&["run", "--spec", "ship.rv", "--trace", "run.ft", "./ship"]).code, Some(0));
    ship(&folder, "flag == 3");
    let untouched = folder.foresee(&["run", "--spec", "ship.rv", "--strict", "./ship"]);
    assert_eq!(
        untouched.code,
        Some(0),
        "its value is known, although nobody touches it: {}",
        untouched.stderr
    );
    assert!(!untouched.stderr.contains("warning"), "{}", untouched.stderr);
    ship(&folder, "loadd == 1");
    let said = "SafeSail is left out: the run has no variable `loadd`";
    for command in [
        &["run", "--spec", "ship.rv", "./ship"][..],
        &["check", "run.ft", "--spec", "ship.rv"],
        &["monitor", "ship.rv", "run.ft"],
    ] {
        let run = |more: &[&str]| {
            let at = if command[0] == "run" { command.len() - 1 } else { command.len() };
            folder.foresee(&[&command[..at], more, &command[at..]].concat())
        };
        let left_out = run(&[]);
        assert_eq!(left_out.code, Some(0), "{command:?}: {}{}", left_out.stdout, left_out.stderr);
        assert!(left_out.stderr.contains(&format!("warning: {said}")), "{command:?}: {}", left_out.stderr);
        assert!(left_out.stderr.contains("perhaps `loaded`?"), "{command:?}: {}", left_out.stderr);
        let strict = run(&["--strict"]);
        assert_eq!(strict.code, Some(2), "{command:?}: {}", strict.stderr);
        assert!(strict.stderr.contains(&format!("error: {said}")), "{command:?}: {}", strict.stderr);
        for text in [&left_out.stdout, &left_out.stderr, &strict.stdout, &strict.stderr] {
            assert!(!text.contains("empty"), "{command:?}: {text}");
        }
        let report: Value = serde_json::from_str(&run(&["--format", "json"]).stdout).unwrap();
        assert_eq!(report["findings"].as_array().unwrap().len(), 0, "{command:?}");
        assert_eq!(report["stats"]["unmatched"][0]["name"], "loadd", "{command:?}");
    }
}

/// What a text does not mention is what the property says, or 0.
#[test]
fn what_a_text_does_not_mention_keeps_its_first_value() {
    let folder = Folder::new();
    ship(&folder, "loadd == 1");
    folder.write("run.std", "T1|w(sailing=1)|1\n");
    for command in [&["check", "run.std", "--spec", "ship.rv"][..], &["monitor", "ship.rv", "run.std"]] {
        let found = folder.foresee(command);
        assert_eq!(found.code, Some(66), "{}", found.stderr);
        assert!(found.stderr.contains("SafeSail: the run has no variable `loadd`"), "{}", found.stderr);
    }
}

#[test]
fn a_run_without_values_says_how_to_record_them() {
    let folder = Folder::new();
    build_ship(&folder);
    ship(&folder, "loaded == 1");
    assert_eq!(folder.foresee(&["run", "--trace", "run.ft", "./ship"]).code, Some(0));
    let monitored = folder.foresee(&["monitor", "ship.rv", "run.ft"]);
    assert_eq!(monitored.code, Some(3), "{}", monitored.stderr);
    let said = "those of whole numbers are recorded with `--spec` or `--watch loaded`";
    assert!(monitored.stderr.contains(said), "{}", monitored.stderr);
}

/// Properties for whole libraries have much that one program does not use.
#[test]
fn events_that_did_not_happen_are_one_note_and_no_mistake() {
    let folder = Folder::new();
    build_ship(&folder);
    let spec = concat!(env!("CARGO_MANIFEST_DIR"), "/../../specs/calls/stdio.rv");
    let run = |spec: &str| folder.foresee(&["run", "--spec", spec, "--strict", "./ship"]);
    let kept = run(spec);
    assert_eq!(kept.code, Some(0), "{}", kept.stderr);
    assert_eq!(kept.stderr.matches("saw none of their events: ").count(), 1, "{}", kept.stderr);
    folder.write("wrong.rv", "property P { event a = enter(\"saill\"); ere: a @match { report \"x\"; } }");
    let wrong = run("wrong.rv");
    assert_eq!(wrong.code, Some(2), "{}", wrong.stderr);
    assert!(
        wrong.stderr.contains("no function `saill`") && wrong.stderr.contains("perhaps `sail`?"),
        "{}",
        wrong.stderr
    );
}

/// Functions of one name that differ in types alone.
const OF_TYPES: &str = r#"
#include <vector>
template <class T> __attribute__((noinline)) long sum(T a, T b) { return a + b; }
template <class T> struct Box { T v; __attribute__((noinline)) void put(T x) { v = x; } };
static __attribute__((noinline)) int over(int a) { return a; }
static __attribute__((noinline)) int over(double, int b) { return b; }
static __attribute__((noinline)) int over(const char *s) { return s[0]; }
struct S { int v; int operator()(int m) { return m + v; } };
static int user(int n) { auto add = [n](int m) { return n + m; }; return add(5); }
int main() {
    sum<int>(1, 2); sum<long>(3, 4);
    Box<int> a; a.put(5); Box<long> b; b.put(6);
    std::vector<int> all; all.push_back(8);
    over(6); over(1.5, 7); over("t");
    S s{1};
    return s(2) + user(8) == 16 ? 0 : 1;
}
"#;

#[test]
fn types_in_a_name_say_which_function_is_meant() {
    for (_, cxx) in compilers() {
        let folder = Folder::new();
        let _ = folder.runtime();
        folder.write("types.cpp", OF_TYPES);
        let mut compile = folder.command(&["c++", "-g", "-O0", "types.cpp", "-o", "types"]);
        outcome(compile.env("FORESEE_CXX", cxx).output().unwrap()).success();
        let run = |how: &str, name: &str, what: &str| {
            folder.write(
                "p.rv",
                format!(
                    "property P {{ event e(a) = enter(\"{name}\", {what}); ere: e @match {{ report \"got {{thread}}\"; }} }}"
                ),
            );
            folder.foresee(&["run", how, "p.rv", "--", "./types"])
        };
        for how in ["--spec", "--monitor"] {
            let values = |name: &str, what: &str, values: &[i64]| {
                let wrong: Vec<String> = values.iter().map(|value| format!("a != {value}")).collect();
                let wrong = wrong.join(" && ");
                folder.write(
                    "p.rv",
                    format!(
                        "property P {{ event e(a) = enter(\"{name}\", {what}); ere: e @match {{ report \"met\"; }} }}
                         property Q {{ event wrong(a) = enter(\"{name}\", {what}) when {wrong}; ere: wrong @match {{ report \"another\"; }} }}"
                    ),
                );
                let ran = folder.foresee(&["run", how, "p.rv", "--", "./types"]);
                let all = format!("{cxx} {how} {name}: {}", ran.stderr);
                assert!(ran.stderr.contains("met") && !ran.stderr.contains("another"), "{all}");
            };
            values("sum<int>", "a", &[1]);
            values("sum", "a", &[1, 3]);
            values("Box<long>::put", "x as a", &[6]);
            values("Box<int>::*", "x as a", &[5]);
            values("over(int)", "a", &[6]);
            values("over(double,int)", "_, a", &[7]);
            values("S::operator()", "m as a", &[2]);
            values("user::*::operator()", "m as a", &[5]);
            let texts = run(how, "over(const char*)", "a");
            assert!(texts.stderr.contains("got main"), "{cxx} {how}: {}", texts.stderr);
            let refused = |name: &str, says: &[&str]| {
                let ran = run(how, name, "a");
                ran.one_message(2, &[&[name], says].concat());
            };
            refused(
                "Box<char>::put",
                &["the program has no function", "`Box<int>::put(int)`", "`Box<long>::put(long)`"],
            );
            refused("std::vector<char>::push_back", &["the program has no function", "std::vector<int"]);
            refused("sum<int, int>", &["`long sum<int>(int, int)`"]);
            refused("over(char)", &["`over(int)`"]);
            refused("over", &["is a text of `over(char const*)`"]);
            refused("operator()", &["is ambiguous", "`S::operator()`", "`user::"]);
            let nameless = run(how, "", "a");
            assert_eq!(nameless.code, Some(2), "{}", nameless.stderr);
            assert!(nameless.stderr.contains("a function has a name"), "{}", nameless.stderr);
        }
    }
}

#[test]
fn type_arguments_of_rust_say_which_function_is_meant() {
    let folder = Folder::new();
    let _ = folder.runtime();
    folder.package("types", "");
    folder.write(
        "src/main.rs",
        "#[inline(never)]\nfn generic<T: Into<u64>>(x: T) -> u64 { x.into() }\nfn main() { std::process::exit((generic(7u8) + generic(8u32)) as i32 - 15); }\n",
    );
    let run = |name: &str| {
        folder.write(
            "p.rv",
            format!("property P {{ event e(a) = enter(\"{name}\", a) when a == 7; ere: e @match {{ report \"seven\"; }} }}\nproperty Q {{ event e(a) = enter(\"{name}\", a) when a == 8; ere: e @match {{ report \"eight\"; }} }}"),
        );
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_cargo-foresee"));
        command.args(["foresee", "run", "--spec", "p.rv"]);
        outcome(command.current_dir(folder.path("")).env_remove("RUSTFLAGS").output().unwrap())
    };
    for (name, seven, eight) in
        [("generic", true, true), ("generic::<u8>", true, false), ("types::generic<u32>", false, true)]
    {
        let said = run(name).stderr;
        assert_eq!((said.contains("seven"), said.contains("eight")), (seven, eight), "{name}: {said}");
    }
    let refused = run("generic<nonsense>");
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("`types::generic::<u8>`"), "{}", refused.stderr);
}
