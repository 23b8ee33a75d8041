//! Each call is one event, whoever looks at it, or what the property says is not proven, or refused: in recorded programs and in monitored ones alike.

use std::process::Command;

use crate::programs::compilers;
use crate::support::{Folder, Outcome, outcome};

/// What each property says of a program, in a recorded run and in a monitored one.
fn both(folder: &Folder, spec: &str) -> [Outcome; 2] {
    folder.write("p.rv", spec);
    ["--spec", "--monitor"].map(|how| folder.foresee(&["run", how, "p.rv", "--", "./prog"]))
}

fn build(folder: &Folder, language: &str, compiler: &str, source: &str, level: &str) {
    let _ = folder.runtime();
    let file = if language == "cc" { "prog.c" } else { "prog.cpp" };
    folder.write(file, source);
    let mut compile: Command = folder.command(&[language, "-g", "-w", level, file, "-o", "prog"]);
    compile.env("FORESEE_CC", compiler).env("FORESEE_CXX", compiler);
    let built = outcome(compile.output().unwrap());
    assert_eq!(built.code, Some(0), "{}", built.stderr);
}

#[test]
fn one_object_is_made_and_destroyed_once() {
    const SOURCE: &str = r#"
struct V { int v = 0; };
struct Base { virtual ~Base() { x = 0; } volatile int x = 1; };
struct Der : Base, virtual V { int k; Der(int i) : k(i) {} ~Der() override { x = 2; } };
struct Sub : Der { Sub() : Der(3) {} };
int main() { Base *b = new Der(1); delete b; Der d(2); Sub s; b = new Sub; delete b; }
"#;
    const SPEC: &str = r#"property Twice(o) {
    event made(o) = enter("Der::Der", this as o);
    event gone(o) = enter("Der::~Der", this as o);
    ere: (made gone)* (made made | gone) @match { report "not in turn"; }
}"#;
    for (_, cxx) in compilers() {
        let folder = Folder::new();
        build(&folder, "c++", cxx, SOURCE, "-O0");
        for ran in both(&folder, SPEC) {
            assert_eq!(ran.code, Some(0), "{cxx}: {}", ran.stderr);
        }
    }
}

#[test]
fn what_compilers_share_among_constructors_is_one_event() {
    const SOURCE: &str = r#"
struct Base { int b; Base(int x) : b(x) {} virtual ~Base() { b = 0; } };
struct Part : virtual Base { int w; NOT_COPIED Part(int q) : Base(1), w(q) {} NOT_COPIED ~Part() override { w = 0; } };
struct Whole : Part { Whole(int q) : Base(2), Part(q + 1) {} };
int main() { Part d(7); Whole e(4); return d.w + e.w == 12 ? 0 : 1; }
"#;
    const SPEC: &str = r#"property Twice {
    event made(o, q) = enter("Part::Part", this as o, q as q) when q == 7 || q == 5;
    event gone(o) = enter("Part::~Part", this as o);
    event end_program;
    ere: made made gone gone end_program @match { report "made and destroyed twice"; }
}"#;
    for (_, cxx) in compilers() {
        for (level, attribute) in [("-Os", "noinline"), ("-O0", "noinline"), ("-O0", "noinline, noclone")] {
            if cxx.contains("clang") && attribute.contains("noclone") {
                continue;
            }
            let folder = Folder::new();
            let source = SOURCE.replace("NOT_COPIED", &format!("__attribute__(({attribute}))"));
            build(&folder, "c++", cxx, &source, level);
            for ran in both(&folder, SPEC) {
                let all = format!("{cxx} {level} {attribute}: {}", ran.stderr);
                assert!(ran.stderr.contains("made and destroyed twice"), "{all}");
                assert!(!ran.stderr.contains("foresee run --spec"), "{all}");
            }
        }
    }
}

#[test]
fn calls_without_values_are_exact_or_not_proven() {
    const SOURCE: &str = r#"
#include <stdio.h>
__attribute__((noinline)) int init(void) { __asm__ volatile(""); return 1; }
__attribute__((noinline)) void use(void) { puts("use"); }
static inline void copied(int a) { printf("%d\n", a); }
void (*volatile pointer)(int) = copied;
int main(void) { volatile int s = init(); use(); copied(1); pointer(2); return 0; }
"#;
    for (c, _) in compilers() {
        let folder = Folder::new();
        build(&folder, "cc", c, SOURCE, "-O2");
        let first = r#"property P { event i = enter("init"); event u = enter("use"); ptltl: u -> <*> i @violation { report "x"; } }"#;
        let called = |name: &str| {
            format!("property P {{ event e = enter(\"{name}\"); ere: e @match {{ report \"x\"; }} }}")
        };
        for ran in both(&folder, first) {
            assert_eq!(ran.code, Some(0), "{c}: {}", ran.stderr);
        }
        // A recorded run is held against what is known of such calls, and that is not proven.
        let [recorded, monitored] = both(&folder, &called("copied"));
        assert_eq!(recorded.code, Some(0), "{}", recorded.stderr);
        assert!(recorded.stderr.contains("candidate property violation"), "{}", recorded.stderr);
        assert!(recorded.stderr.contains("`copied` was inlined into `main`"), "{}", recorded.stderr);
        monitored.one_message(2, &["`copied` was inlined into `main`"]);
        let [recorded, monitored] = both(&folder, &called("nosuch"));
        assert!(recorded.stderr.contains("the run calls no function `nosuch`"), "{}", recorded.stderr);
        monitored.one_message(2, &["the program has no function `nosuch`"]);
    }
}

#[test]
fn values_are_told_as_what_they_are() {
    const SOURCE: &str = r#"
#include <limits.h>
volatile long sink;
void put(const char *t) { sink += t[0]; }
void find(long n) { sink += n != 0; }
int main(void) { put("r\xe4t"); put("r\xf6t"); find(LONG_MIN); return 0; }
"#;
    for (c, _) in compilers() {
        let folder = Folder::new();
        build(&folder, "cc", c, SOURCE, "-O0");
        let twice = r#"property P(t) { event e(t) = enter("put", t); ere: e e @match { report "{t}"; } }"#;
        for ran in both(&folder, twice) {
            assert_eq!(ran.code, Some(0), "{c}: {}", ran.stderr);
        }
        let least = r#"property P(n) { event e(n) = enter("find", n); ere: e @match { report "got {n}"; } }"#;
        for ran in both(&folder, least) {
            assert!(ran.stderr.contains("got -9223372036854775808"), "{c}: {}", ran.stderr);
        }
        let sum = r#"property P { state s: int = 0; event e = enter("put", t) { s += t; } ere: e @match { report "x"; } }"#;
        for ran in both(&folder, sum) {
            assert_eq!(ran.code, Some(2), "{c}: {}", ran.stderr);
            assert!(
                ran.stderr.contains("is a text, and is compared with a number or becomes one"),
                "{}",
                ran.stderr
            );
        }
    }
}

#[test]
fn unsigned_numbers_are_never_negative() {
    const SOURCE: &str = r#"
struct box { unsigned long held; };
volatile unsigned long sink;
__attribute__((noinline)) unsigned long put(struct box *b, unsigned long n) { sink += n + b->held; return n; }
int main(void) { struct box b = {~0ul}; put(&b, ~0ul); b.held = put(&b, 3); return 0; }
"#;
    const SPEC: &str = r#"property Negative(b) {
    var held(b): box.held;
    event e(b, n) = enter("put", b, n) when n < 0 || held < 0;
    event r = exit("put") returning n when n < 0;
    ere: e | r @match { report "negative"; }
}
property Largest(b, n) {
    event e(b, n) = exit("put", b, n) returning r when n == r && n > 9223372036854775806;
    ere: e @match { report "as large as {n}"; }
}"#;
    for (c, _) in compilers() {
        let folder = Folder::new();
        build(&folder, "cc", c, SOURCE, "-O0");
        for ran in both(&folder, SPEC) {
            assert!(ran.stderr.contains("as large as 9223372036854775807"), "{c}: {}", ran.stderr);
            assert!(ran.stderr.contains("1 finding ("), "{c}: {}", ran.stderr);
        }
    }
}

#[test]
fn classes_that_are_passed_by_address_are_refused() {
    const SOURCE: &str = r#"
struct Copied { int *p; explicit Copied(int *q) : p(q) {} Copied(const Copied &o) : p(o.p) {} };
struct Destroyed { int *p; explicit Destroyed(int *q) : p(q) {} ~Destroyed() { *p = 0; } };
struct Moved { int *p; explicit Moved(int *q) : p(q) {} Moved(Moved &&o) = default; Moved(const Moved &) = delete; };
struct Within { Destroyed d; };
struct Under : Destroyed { using Destroyed::Destroyed; };
struct Virtual { virtual int f() { return 1; } };
struct Plain { int *p; explicit Plain(int *q) : p(q) {} Plain(const Plain &) = default; ~Plain() = default; };
int n; volatile int sink;
#define MAKES(T, OF) __attribute__((noinline)) T make_##T() { sink = 1; return OF; }
MAKES(Copied, Copied(&n)) MAKES(Destroyed, Destroyed(&n)) MAKES(Moved, Moved(&n)) MAKES(Within, Within{Destroyed(&n)})
MAKES(Under, Under(&n)) MAKES(Virtual, Virtual()) MAKES(Plain, Plain(&n))
__attribute__((noinline)) void take(Destroyed d) { sink = *d.p; }
__attribute__((noinline)) void same(int *p) { sink = *p; }
int main() {
    make_Copied(); make_Destroyed(); make_Within(); make_Under(); make_Virtual(); take(make_Destroyed());
    same(make_Moved().p); same(make_Plain().p); return 0;
}
"#;
    for (_, cxx) in compilers() {
        for level in ["-O0", "-O2"] {
            let folder = Folder::new();
            build(&folder, "c++", cxx, SOURCE, level);
            let of = |event: &str| {
                both(
                    &folder,
                    &format!(
                        "property P(o) {{ event e(o) = {event}; event s(o) = enter(\"same\", o); ere: e s @match {{ report \"the same\"; }} }}"
                    ),
                )
            };
            let results = ["Copied", "Destroyed", "Within", "Under", "Virtual"];
            let results = results.map(|name| format!("exit(\"make_{name}\") returning o"));
            for event in results.iter().map(String::as_str).chain(["enter(\"take\", o)"]) {
                for ran in of(event) {
                    ran.one_message(2, &["an object of a class, passed by its address"]);
                }
            }
            for name in ["Moved", "Plain"] {
                for ran in of(&format!("exit(\"make_{name}\") returning o")) {
                    assert!(ran.stderr.contains("the same"), "{cxx} {level} {name}: {}", ran.stderr);
                }
            }
        }
    }
}

#[test]
fn code_of_virtual_functions_in_thunks_is_refused() {
    const SOURCE: &str = r#"
struct Reader { virtual int read(int n) = 0; };
struct Openable { virtual Openable *open(int mode) = 0; };
struct File : Reader, Openable {
    int mode = -1;
    File *open(int m) override { mode = m; return this; }
    int read(int n) override { return mode >= 0 ? n : -1; }
};
Openable *volatile o; Reader *volatile r;
int main() { File *f = new File; o = f; r = f; o->open(1); return r->read(3) != 3; }
"#;
    const SPEC: &str = r#"property OpenBeforeRead(f) {
    event opens(f) = enter("File::open", this as f);
    event reads(f) = enter("File::read", this as f);
    ltl: [](reads -> <*> opens) @violation { report "not opened"; }
}"#;
    for (_, cxx) in compilers() {
        let folder = Folder::new();
        build(&folder, "c++", cxx, SOURCE, "-O0");
        for ran in both(&folder, SPEC) {
            assert_eq!(ran.code, Some(0), "{cxx}: {}", ran.stderr);
        }
        build(&folder, "c++", cxx, SOURCE, "-O2");
        for ran in both(&folder, SPEC) {
            ran.one_message(2, &["`File::open` was inlined into `_ZT"]);
        }
    }
}

#[test]
fn names_that_only_symbols_have_are_told_as_such() {
    const SOURCE: &str = r#"
volatile int sink;
__attribute__((noinline)) int work(int n) { return sink = n; }
int other(int n) __attribute__((alias("work")));
int main(void) { return other(0); }
"#;
    for (c, _) in compilers() {
        let folder = Folder::new();
        build(&folder, "cc", c, SOURCE, "-O0");
        for ran in
            both(&folder, r#"property P(n) { event e(n) = enter("other", n); ere: e @match { count; } }"#)
        {
            ran.one_message(
                2,
                &["the program has a symbol `other`, but its debug information tells of no such"],
            );
        }
        build(&folder, "cc", c, SOURCE, "-g1");
        for event in ["enter(\"work\", n)", "exit(\"work\") returning n"] {
            let spec = format!("property P(n) {{ event e(n) = {event}; ere: e @match {{ count; }} }}");
            for ran in both(&folder, &spec) {
                ran.one_message(2, &["build it with `-g`"]);
            }
        }
    }
}

/// Opens something and ends in one of several ways, or closes it in a destructor.
const ENDS: &str = r#"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int fd = -1, closes;
__attribute__((constructor)) static void begin(void) { fd = open("/dev/null", O_RDONLY | O_CLOEXEC); }
__attribute__((destructor)) static void end(void) { if (closes) close(fd); }
static void handled(int signal) { (void)signal; exit(0); }
int main(int count, char **words) {
    char *line[] = {"true", 0};
    switch (count > 1 ? words[1][0] : 0) {
    case 'k': raise(SIGKILL); break;
    case 'a': abort();
    case 'e': execv("/bin/true", line); break;
    case '_': _exit(0);
    case 'q': quick_exit(0);
    case 'd': if (fork()) _exit(0); close(fd); break;
    case 't': for (;;) pause();
    case 'h': signal(SIGTERM, handled); raise(SIGTERM); break;
    case 'x': exit(0);
    case 'c': closes = 1;
    }
    return 0;
}
"#;

#[test]
fn programs_that_are_ended_have_no_end() {
    let folder = Folder::new();
    build(&folder, "cc", "cc", ENDS, "-O0");
    folder.write(
        "p.rv",
        r#"property Left(d) {
    event opened(d) = exit("open") returning d when d >= 0;
    event closes(d) = enter("close", d);
    event end_program;
    ere: (opened | closes)* opened end_program @match { report "left open"; }
}"#,
    );
    for (how, is_end, is_found) in [
        ("k", false, false),
        ("a", false, false),
        ("e", false, false),
        ("_", false, false),
        ("q", false, false),
        ("d", false, false),
        ("t", false, false),
        ("h", true, true),
        ("x", true, true),
        ("n", true, true),
        ("c", true, false),
    ] {
        for what in ["--spec", "--monitor"] {
            let trace: &[&str] = if what == "--spec" { &["--trace", "run.ft"] } else { &[] };
            let args = [&["run", "--timeout", "1", what, "p.rv"], trace, &["--", "./prog", how]].concat();
            let ran = folder.foresee(&args);
            let all = format!("{what} {how}: {}{}", ran.stdout, ran.stderr);
            assert_eq!(ran.stderr.contains("left open"), is_found, "{all}");
            assert_eq!(!ran.stderr.contains("the program did not end by itself"), is_end, "{all}");
        }
        for again in [&["check", "--spec", "p.rv", "run.ft"][..], &["monitor", "p.rv", "run.ft"]] {
            let ran = folder.foresee(again);
            let all = format!("{again:?} {how}: {}{}", ran.stdout, ran.stderr);
            assert_eq!(all.contains("left open"), is_found, "{all}");
            assert_eq!(!all.contains("the program did not end by itself"), is_end, "{all}");
        }
    }
    // Who asks for nothing at the end is told nothing of it.
    folder.write(
        "p.rv",
        r#"property P(d) { event e(d) = exit("open") returning d; ere: e e @match { report "x"; } }"#,
    );
    let ran = folder.foresee(&["run", "--spec", "p.rv", "--", "./prog", "k"]);
    assert!(!ran.stderr.contains("by itself"), "{}", ran.stderr);
}
