//! What functions of the program were called with, where they return: that of the same call, whatever happened in between, or nothing.
//!
//! The functions of the programs return what they were called with, so that a property can compare; and count their returns.

use std::fs;
use std::process::Command;

use crate::calls::{SOURCES, build, each_build};
use crate::support::{Folder, outcome};

/// Nothing is asked where the functions are entered. `Wrong` must not be met; `Right` is once the values are there.
const RETURNS: &str = r#"property Right(t) {
    event numbered(t, n, k, r) = exit("numbered", t, n, k) returning r when r == n * 1000 + k;
    event itself(t, s) = exit("Tree::itself", this as t, depth as n) returning s when s == t && n >= 0;
    event quiet(t, key) = exit("quiet", t, key) when key == 7;
    ere: (numbered | itself)+ quiet
    @match { report "as they were"; }
}
property Wrong(t) {
    event numbered(t, n, k, r) = exit("numbered", t, n, k) returning r when r != n * 1000 + k;
    event stacked(a, g, h, r) = exit("stacked", a, _, _, _, _, _, g, h) returning r when r != a + g * 100 + h;
    event itself(t, s) = exit("Tree::itself", this as t) returning s when s != t;
    event quiet(t, key) = exit("quiet", t, key) when key < 0 || key > 7;
    ere: (numbered | stacked | itself | quiet)+
    @match { report "not what it was called with"; }
}"#;

/// The same where calls are events as well; and by positions alone, which receivers have none of.
const BOTH: &str = r#"property Both(t) {
    event called(t, n) = enter("numbered", t, depth as n) when n == 7;
    event returned(t, n, r) = exit("numbered", t, n) returning r when r / 1000 == n;
    event end_program;
    ere: returned* called returned+ (called | returned)* end_program
    @match { report "called and returned"; }
}
perthread property Positions {
    event called(k) = enter("Tree::itself", k) when k == 7;
    event returned(k) = exit("Tree::itself", k) when k == 7;
    ere: called returned
    @match { report "at its position"; }
}
property Misplaced {
    event called(d) = enter("Tree::itself", _, d) when d > 4;
    event returned(d) = exit("Tree::itself", _, d) when d > 4;
    ere: (called | returned)+
    @match { report "not what it was called with"; }
}"#;

#[test]
fn returns_have_what_the_same_call_was_called_with() {
    each_build(|_, cxx, level| {
        let folder = Folder::new();
        folder.write("returns.rv", RETURNS);
        folder.write("both.rv", BOTH);
        build(&folder, "c++", cxx, ["returns.cpp", "returns_main.cpp"], &[level, "-fno-inline"]);
        for how in [&["--spec", "returns.rv", "--trace", "run.ft"][..], &["--monitor", "returns.rv"]] {
            let ran = folder.foresee(&[&["run"], how, &["--", "./prog"]].concat());
            let all = format!("{cxx} {level} {how:?}: {}{}", ran.stdout, ran.stderr);
            assert_eq!(ran.code, Some(66), "{all}");
            assert!(ran.stderr.contains("as they were"), "{all}");
            assert!(!ran.stderr.contains("not what it was called with"), "{all}");
            assert!(ran.stdout.contains("returned 354\n"), "{all}");
        }
        let dump = folder.foresee(&["trace", "convert", "run.ft", "-o", "run.std"]);
        assert_eq!(dump.code, Some(0), "{}", dump.stderr);
        let text = String::from_utf8(folder.read("run.std")).unwrap();
        let returns = |line: &&str| line.contains("|result(") && line.contains('"');
        assert_eq!(text.lines().filter(returns).count(), 354, "{cxx} {level}");
        assert!(!text.contains("|arguments("), "{cxx} {level}: nobody has asked");
        for how in ["--spec", "--monitor"] {
            let ran = folder.foresee(&["run", how, "both.rv", "--", "./prog"]);
            assert!(ran.stderr.contains("called and returned"), "{cxx} {level} {how}: {}", ran.stderr);
            assert!(ran.stderr.contains("at its position"), "{cxx} {level} {how}: {}", ran.stderr);
            assert!(!ran.stderr.contains("not what it was"), "{cxx} {level} {how}: {}", ran.stderr);
        }
    });
}

/// A program that takes all memory away from itself, and then calls and returns.
const WITHOUT_MEMORY: &str = r#"
#include <sys/resource.h>
#include <unistd.h>
__attribute__((noinline)) int doubled(int n) { __asm__ volatile(""); return 2 * n; }
int main(int count, char **arguments) {
    (void)arguments;
    struct rlimit none = {0, 0};
    if (setrlimit(RLIMIT_AS, &none) != 0) return 1;
    int sum = 0;
    for (int i = 0; i < 3; i++) sum += doubled(count + i);
    return sum == 12 && write(1, "done\n", 5) == 5 ? 0 : 2;
}
"#;

#[test]
fn without_memory_for_what_is_kept_the_program_goes_on() {
    let folder = Folder::new();
    let _ = folder.runtime();
    folder.write("prog.c", WITHOUT_MEMORY);
    folder.write(
        "p.rv",
        r#"property P { event e(n, r) = exit("doubled", n) returning r when r != 2 * n; event end_program; ere: e | end_program @match { report "wrong"; } }"#,
    );
    let built = folder.foresee(&["cc", "-g", "-O0", "prog.c", "-o", "prog"]);
    assert_eq!(built.code, Some(0), "{}", built.stderr);
    for how in ["--spec", "--monitor"] {
        let ran = folder.foresee(&["run", how, "p.rv", "--", "./prog"]);
        let all = format!("{how}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains("done"), "{all}");
        let why = "recording stops: there is no memory to keep the arguments of calls";
        assert!(ran.stderr.contains(why), "{all}");
        // Nothing is said of what was not seen.
        assert!(!all.contains("wrong"), "{all}");
    }
}

#[test]
fn rust_methods_have_their_receivers_where_they_return() {
    let folder = Folder::new();
    let _ = folder.runtime();
    folder.package("trees", "");
    folder.write("src/main.rs", fs::read(format!("{SOURCES}/trees.rs")).unwrap());
    folder.write(
        "trees.rv",
        r#"property Grown(t) {
            event grown(t, n, r) = exit("Tree::grow", this as t, by as n) returning r when r == n * 1000 + 7;
            event pruned(t) = exit("Tree::prune", self as t);
            ere: grown+ pruned
            @match { report "grown and pruned"; }
        }
        property Wrong(t) {
            event grown(t, n, r) = exit("Tree::grow", this as t, by as n) returning r when r != n * 1000 + 7;
            ere: grown
            @match { report "not what it was called with"; }
        }"#,
    );
    for profile in ["dev", "release"] {
        for how in ["--spec", "--monitor"] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-foresee"));
            command.args(["foresee", "run", "--profile", profile, how, "trees.rv"]);
            let ran = outcome(command.current_dir(folder.path("")).env_remove("RUSTFLAGS").output().unwrap());
            let all = format!("{profile} {how}: {}{}", ran.stdout, ran.stderr);
            assert_eq!(ran.code, Some(66), "{all}");
            assert!(ran.stderr.contains("grown and pruned"), "{all}");
            assert!(!ran.stderr.contains("not what it was called with"), "{all}");
        }
    }
}
