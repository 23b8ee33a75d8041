//! What functions of the program were called with, where they return: that of the same call, whatever happened in between, or nothing.
//!
//! The functions of the programs return what they were called with, so that a property can compare; and count their returns.

use std::fs;
use std::process::Command;

use crate::calls::{SOURCES, build, each_build};
use crate::programs::compilers;
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
fn numbers_with_fractions_are_left_alone() {
    let folder = Folder::new();
    let _ = folder.runtime();
    folder.write(
        "f.c",
        "#include <stdarg.h>\n#include <stdio.h>\nvolatile int sink; double source = 1.5; long double large = 2.5L;\n\
         void seen(const char *p, const char *says) { char text[80]; snprintf(text, sizeof text, \"%Lf %s %s\", large * sink, p, says); sink += text[0]; }\n\
         __attribute__((noinline)) double half(int k) { sink += k; return source * k; }\n\
         __attribute__((noinline)) long double wide(int k) { sink += k; return large * k; }\n\
         __attribute__((noinline)) int logged(const char *form, ...) { va_list a; va_start(a, form); int n = vprintf(form, a); va_end(a); return n; }\n\
         int main(void) { for (int i = 1; i < 4; i++) logged(\"%g %Lg %s %g\\n\", half(i), wide(i), \"s\", i + .5); return 0; }\n",
    );
    folder.write(
        "f.rv",
        "property P(k) { event h(k) = exit(\"half\", k); event w(k) = exit(\"wide\", k); ere: h w @match { report \"{k}\"; call \"seen\"; } }\n\
         property Q(f) { event l(f) = enter(\"logged\", f); ere: l l @match { report \"{f}\"; } }\n",
    );
    for (compiler, _) in compilers() {
        // At -O0, clang says of no parameter of a variadic function where it is.
        let levels = if compiler == "clang" { &["-O2"][..] } else { &["-O0", "-O2"] };
        for level in levels {
            let built =
                folder.command(&["cc", "-g", level, "f.c", "-o", "f"]).env("FORESEE_CC", compiler).output();
            outcome(built.unwrap()).success();
            for how in ["--spec", "--monitor"] {
                let said = folder.foresee(&["run", how, "f.rv", "--", "./f"]);
                assert_eq!(
                    said.stdout, "1.5 2.5 s 1.5\n3 5 s 2.5\n4.5 7.5 s 3.5\n",
                    "{compiler} {level} {how}: {}",
                    said.stderr
                );
                assert_eq!(said.code, Some(66), "{}", said.stderr);
            }
        }
    }
}

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
        // Nobody has asked what they were called with but for objects, which are known where the call begins.
        let mut called = text.lines().filter(|line| line.contains("|arguments("));
        assert!(called.all(|line| line.contains(" #call\"")), "{cxx} {level}");
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

/// A call that frees its object and goes on, while another thread opens one at the same address; and uses it when the call has returned.
const LATE: &str = r#"
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
struct Db { int v; };
static sem_t freed, opened, closed;
extern "C" {
__attribute__((noinline)) Db *db_open() { Db *d = (Db *)malloc(5000); d->v = 1; return d; }
__attribute__((noinline)) void db_use(Db *d) { d->v++; }
__attribute__((noinline)) int db_close(Db *d, int is_late) {
    if (is_late < 0) throw 1;
    free(d);
    if (is_late) { sem_post(&freed); sem_wait(&opened); }
    return 0;
}
}
static void *other(void *) {
    Db *d = db_open();
    printf("%p\n", (void *)d);
    db_use(d);
    try { db_close(d, -1); } catch (int) {}
    db_close(d, 1);
    sem_post(&closed);
    return 0;
}
int main() {
    sem_init(&freed, 0, 0); sem_init(&opened, 0, 0); sem_init(&closed, 0, 0);
    puts("begins");
    pthread_t t;
    pthread_create(&t, 0, other, 0);
    sem_wait(&freed);
    Db *d = db_open();
    printf("%p\n", (void *)d);
    sem_post(&opened);
    sem_wait(&closed);
    db_use(d);
    db_close(d, 0);
    pthread_join(t, 0);
}
"#;

/// `Never` is kept by the program; `Whole` is what each of its two objects does.
const OF_OBJECTS: &str = r#"property Never(d) {
    event opened(d) = exit("db_open") returning d;
    event uses(d) = enter("db_use", d);
    event closed(d, r) = exit("db_close", d) returning r when r == 0;
    ere: (opened | uses | closed)* closed (uses | closed)
    @match { report "{d} is used after it was closed"; }
}
property Whole(d) {
    event opened(d) = exit("db_open") returning d;
    event uses(d) = enter("db_use", d);
    event closed(d) = exit("db_close", d);
    ere: opened uses closed
    @match { report "opened, used and closed"; }
}"#;

#[test]
fn a_late_return_is_one_of_the_object_that_the_call_was_given() {
    for (_, cxx) in compilers() {
        let folder = Folder::new();
        let _ = folder.runtime();
        folder.write("late.cpp", LATE);
        folder.write("late.rv", OF_OBJECTS);
        let mut compile = folder.command(&["c++", "-g", "-O1", "late.cpp", "-o", "late", "-pthread"]);
        outcome(compile.env("FORESEE_CXX", cxx).output().unwrap()).success();
        for how in ["--spec", "--monitor"] {
            let mut run = folder.command(&["run", how, "late.rv", "--", "./late"]);
            let ran = outcome(run.env("MALLOC_ARENA_MAX", "1").output().unwrap());
            let all = format!("{cxx} {how}: {}{}", ran.stdout, ran.stderr);
            let addresses: Vec<&str> = ran.stdout.lines().filter(|line| line.starts_with("0x")).collect();
            assert!(addresses.len() == 2 && addresses[0] == addresses[1], "no test: {all}");
            assert!(ran.stderr.contains("opened, used and closed"), "{all}");
            assert!(!all.contains("used after it was closed"), "{all}");
        }
    }
}
