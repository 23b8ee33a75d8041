//! Properties that are monitored in the running program (`foresee run --monitor`): what they say, and what their handlers have done.

use std::process::Command;

use crate::cargo::cargo_foresee;
use crate::programs::compilers;
use crate::schema::validate_reports;
use crate::support::{Folder, Outcome, outcome};

/// Monitors a program of C with a spec.
fn monitor(folder: &Folder, source: &str, spec: &str, args: &[&str]) -> Outcome {
    let _ = folder.runtime();
    folder.write("prog.c", source);
    folder.write("p.rv", spec);
    folder.foresee(&["cc", "-g", "-O0", "prog.c", "-o", "prog", "-pthread"]).success();
    run(folder, args)
}

/// Reports go to standard error, as standard output is the program's: all is in `stdout`.
fn run(folder: &Folder, args: &[&str]) -> Outcome {
    let said = folder.foresee(&[&["run", "--monitor", "p.rv", "--", "./prog"], args].concat());
    let stdout = said.stdout.clone() + &said.stderr;
    Outcome { stdout, ..said }
}

const LOG: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
struct log { int lines; };
__attribute__((noinline)) struct log *log_open(const char *name) { return calloc(name[0] != 0, sizeof(struct log)); }
__attribute__((noinline)) void log_write(struct log *log, const char *line) { log->lines += line[0] != 0; }
__attribute__((noinline)) void log_close(struct log *log) { log->lines = 0; }
void on_closed(const char *property, const char *message) { printf("%s says %s\n", property, message); fflush(stdout); }
static void *use(void *log) { log_write(log, "from a thread"); return log; }
int main(int count, char **words) {
    struct log *log = log_open("first");
    log_write(log, "one");
    if (count > 1) log_close(log);
    pthread_t thread;
    pthread_create(&thread, 0, use, log);
    pthread_join(thread, 0);
    puts("goes on");
    free(log);
    return words[0] == 0;
}
"#;

const USE_AFTER_CLOSE: &str = r#"property UseAfterClose(l) {
    event open(l) = exit("log_open") returning l;
    event write(l) = enter("log_write", l);
    event close(l) = enter("log_close", log as l);
    ere: open write* close+ write
    @match { report "write to a closed log by {thread} at {loc}"; call "on_closed"; }
}
property Texts {
    event secret(n) = enter("log_open", n) when n == "first";
    event last = end_program;
    ere: secret last
    @match { report "the first log was opened"; }
}
"#;

#[test]
fn handlers_are_called_at_the_very_event() {
    let folder = Folder::new();
    let said = monitor(&folder, LOG, USE_AFTER_CLOSE, &["close"]);
    assert_eq!(said.code, Some(66), "{}{}", said.stdout, said.stderr);
    let handled = said.stdout.find("UseAfterClose says write to a closed log by T1").expect(&said.stdout);
    assert!(handled < said.stdout.find("goes on").expect(&said.stdout), "{}", said.stdout);
    assert!(said.stdout.contains("observed property violation of `UseAfterClose`"), "{}", said.stdout);
    assert!(said.stdout.contains("prog.c:10:"), "{}", said.stdout);
    assert!(said.stdout.contains("the first log was opened"), "{}", said.stdout);
    let kept = run(&folder, &[]);
    assert!(!kept.stdout.contains("UseAfterClose"), "{}", kept.stdout);
    assert!(folder.files().iter().all(|file| ["prog", "prog.c", "p.rv"].contains(&file.as_str())));
}

#[test]
fn reports_are_those_of_all_commands() {
    let folder = Folder::new();
    monitor(&folder, LOG, USE_AFTER_CLOSE, &["close"]);
    let json = folder.foresee(&[
        "run",
        "--monitor",
        "p.rv",
        "--format",
        "json",
        "--output",
        "r.json",
        "--",
        "./prog",
        "close",
    ]);
    assert_eq!(json.code, Some(66), "{}", json.stderr);
    let text = String::from_utf8(folder.read("r.json")).unwrap();
    assert_eq!(validate_reports(&text), 1, "{text}");
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    let findings = report["findings"].as_array().unwrap();
    assert!(
        findings
            .iter()
            .any(|finding| finding["property"] == "UseAfterClose" && finding["certainty"] == "observed")
    );
}

#[test]
fn what_threads_know_is_monitored_without_a_trace() {
    let source = r#"
#include <foresee.h>
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int order;
static void late(const char *property, void *unused) { (void)unused; printf("%s is violated\n", property); }
static void *enters(void *p) {
    pthread_mutex_lock(&lock);
    FORESEE_LOCAL(critical, 1);
    order++;
    pthread_mutex_unlock(&lock);
    if (!p) FORESEE_LOCAL(critical, 0);
    return p;
}
int main(int count, char **words) {
    FORESEE_ON_VIOLATION("late", late, 0);
    for (int i = 0; i < 2; i++) {
        pthread_t one, other;
        pthread_create(&one, 0, enters, count > 1 ? words[1] : 0);
        pthread_create(&other, 0, enters, 0);
        pthread_join(one, 0);
        pthread_join(other, 0);
    }
    return 0;
}
"#;
    let spec = "property MutualExclusion {\n    thread i, j;\n    local critical: bool = false;\n    \
                mttl: @i(critical -> !exists j != i: @j critical)\n    @violation { report \"two at once in {thread}: {i} and {j}\"; recover \"late\"; }\n}\n";
    let folder = Folder::new();
    // Flags are lowered after the unlock: the other thread may know of one that is still up.
    let said = monitor(&folder, source, spec, &["stays"]);
    assert_eq!(said.code, Some(66), "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("MutualExclusion is violated"), "{}", said.stdout);
    let either = ["two at once in T1: T1 and T2", "two at once in T2: T2 and T1"];
    assert!(either.iter().any(|told| said.stdout.contains(told)), "{}", said.stdout);
    assert!(!said.stderr.contains("none of its events"), "{}", said.stderr);
    assert!(!said.stdout.contains(" 0 events"), "{}", said.stdout);
    // What is registered under no name is told of, and so is what is not there.
    folder.write("p.rv", spec.replace("\"late\"", "\"later\""));
    let said = run(&folder, &["stays"]);
    assert!(said.stdout.contains("MutualExclusion: nothing is registered as `later`"), "{}", said.stdout);
    folder.write(
        "p.rv",
        "property P { thread i; thread nobody: \"nobody\"; local nothing: bool; var nowhere: int;\n    mttl: @i(@nobody(nothing) -> nowhere == 0) @violation { report \"\"; } }\n",
    );
    let said = folder.foresee(&["run", "--strict", "--monitor", "p.rv", "--", "./prog"]);
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    for missing in ["no variable `nowhere`", "no thread of the run assigns `nothing`", "no thread `nobody`"] {
        assert!(said.stderr.contains(missing), "{missing}: {}", said.stderr);
    }
}

#[test]
fn that_children_of_forks_are_not_monitored_is_said() {
    let folder = Folder::new();
    let source = "#include <sys/wait.h>\n#include <unistd.h>\n__attribute__((noinline)) void touch(int n) { __asm__ volatile(\"\" : : \"r\"(n)); }\n\
                  int main(int count, char **words) { touch(count); if (count > 1 && fork() == 0) { touch(-1); return 0; } while (wait(0) > 0) { } return words[0] == 0; }\n";
    let spec =
        "property P(n) { event e(n) = enter(\"touch\", n) when n < 0; ere: e @match { report \"v\"; } }\n";
    let alone = monitor(&folder, source, spec, &[]);
    let part = "children of forks were not monitored";
    assert!(alone.code == Some(0) && !alone.stdout.contains(part), "{}", alone.stdout);
    let forked = run(&folder, &["fork"]);
    assert!(forked.code == Some(0) && forked.stdout.contains(part), "{}", forked.stdout);
}

/// A program that loads the library it has anyway, looks functions up in it, and in the program as a whole, and calls them.
const LOOKED_UP: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
int puts(const char *line) { int (*next)(const char *) = (int (*)(const char *))dlsym(RTLD_NEXT, "puts"); return next(line); }
int main(int count, char **words) {
    void *c = dlopen("libc.so.6", RTLD_LAZY), *z = dlopen("libz.so.1", RTLD_LAZY);
    int (*closes)(int) = (int (*)(int))dlsym(c, "close");
    int (*ends)(gzFile) = (int (*)(gzFile))dlsym(z, "gzclose");
    int (*says)(const char *) = (int (*)(const char *))dlsym(c, "puts");
    void *(*own)(void *, const char *) = (void *(*)(void *, const char *))dlsym(c, "dlsym");
    if (!closes || !ends || !says || own(RTLD_DEFAULT, "puts") != (void *)puts) return 1;
    if (dlsym(c, "nobody_has_this") || !dlerror() || dlerror()) return 2;
    int one = open("/dev/null", O_RDONLY);
    gzFile two = gzopen("/dev/null", "r"), three = gzopen("/dev/null", "r");
    if (count < 2) closes(one), ends(two), gzclose(three);
    says("closed by their addresses");
    puts("and this by its name");
    return words[0] == 0;
}
"#;

#[test]
fn functions_that_are_looked_up_in_a_library_are_those_that_properties_name() {
    let spec = r#"property Closed(d) {
    event opened(d) = exit("open") returning d;
    event closes(d) = enter("close", d);
    event end_program;
    ere: (opened | closes)* opened end_program
    @match { report "{d} is left open"; }
}
property Ended(z) {
    event opened(z) = exit("gzopen") returning z;
    event ends(z) = enter("gzclose", z);
    event end_program;
    ere: (opened | ends)* opened end_program
    @match { report "a stream is left open"; }
}
property LookedUp(n) { event finds(n) = enter("dlsym", _, n) when n == "nobody_has_this"; ere: finds @match { report "looked up"; } }
"#;
    let folder = Folder::new();
    let _ = folder.runtime();
    folder.write("prog.c", LOOKED_UP);
    folder.write("p.rv", spec);
    for (compiler, _) in compilers() {
        let mut compile = folder.command(&["cc", "-g", "-O1", "prog.c", "-o", "prog", "-ldl", "-lz"]);
        outcome(compile.env("FORESEE_CC", compiler).output().unwrap()).success();
        assert!(Command::new(folder.path("prog")).output().unwrap().status.success());
        for how in ["--spec", "--monitor"] {
            for (word, findings) in [(None, 1), (Some("leave"), 3)] {
                let words = ["run", how, "p.rv", "--engine", "property", "--", "./prog"];
                let words =
                    words.iter().filter(|word| how == "--spec" || !["--engine", "property"].contains(word));
                let words: Vec<&str> = words.copied().chain(word).collect();
                let said = folder.foresee(&words);
                let all = said.stdout + &said.stderr;
                assert!(
                    all.contains("closed by their addresses\nand this by its name\n"),
                    "{words:?}: {all}"
                );
                assert_eq!(
                    all.matches("property violation").count(),
                    findings,
                    "{compiler} {words:?}: {all}"
                );
                assert_eq!(said.code, Some(66), "{compiler} {words:?}: {all}");
            }
        }
    }
}

#[test]
fn variables_and_threads_are_events_too() {
    let source = r#"
#include <pthread.h>
unsigned char level;
static void *raises(void *p) { level = 200; return p; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, raises, 0);
    pthread_join(thread, 0);
    return 0;
}
"#;
    let spec = "property Low { var level: int; ptltl: level < 100 @violation { report \"too high\"; } }\n\
                property Joined(t) { event fork(t); event join(t); ere: fork join @match { report \"{t} was joined\"; } }\n\
                property Never(t) { event fork(t); event join(t); event end_program; ere: fork end_program @match { report \"left alone\"; } }\n";
    let folder = Folder::new();
    let said = monitor(&folder, source, spec, &[]);
    assert_eq!(said.code, Some(66), "{}{}", said.stdout, said.stderr);
    for part in ["too high", "prog.c:4:", "T1 was joined"] {
        assert!(said.stdout.contains(part), "{part}: {}", said.stdout);
    }
    assert!(!said.stdout.contains("violation of `Never`"), "{}", said.stdout);
}

#[test]
fn what_cannot_be_monitored_in_the_program_is_refused() {
    let folder = Folder::new();
    let memory = "property P(x) { event write(x); ere: write write @match { report \"twice\"; } }";
    monitor(&folder, LOG, memory, &[]);
    let said = folder.foresee(&["run", "--monitor", "p.rv", "--", "./prog"]);
    said.one_message(2, &["`P` asks for accesses to memory", "--spec"]);
    let timed = r#"property P { event a = enter("log_open"); event b = enter("log_close"); ptltl: b -> a within 1s @violation { report "late"; } }"#;
    folder.write("p.rv", timed);
    let said = folder.foresee(&["run", "--monitor", "p.rv", "--", "./prog"]);
    said.one_message(2, &["`P` asks when events happen, which is not recorded"]);
    let idle = |name: &str| {
        format!(
            "property {name}(l) {{ event e(l) = enter(\"log_close\", l); ere: e @match {{ report \"x\"; }} }}\n"
        )
    };
    let said = monitor(&folder, LOG, &(idle("First") + &idle("Second")), &[]);
    assert!(said.stderr.contains("2 properties saw none of their events: First, Second"), "{}", said.stderr);
    let nothing =
        "property P(x) { event e(x) = enter(\"log_wrote\", x); ere: e @match { report \"never\"; } }";
    let said = monitor(&folder, LOG, nothing, &[]);
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    assert!(said.stderr.contains("perhaps `log_write`"), "{}", said.stderr);
    // A program that foresee has not built has no monitors in it.
    folder.write("p.rv", "property P(t) { event fork(t); ere: fork @match { report \"{t}\"; } }");
    let said = folder.foresee(&["run", "--monitor", "p.rv", "--", "/bin/true"]);
    assert_eq!(said.code, Some(2), "{}{}", said.stdout, said.stderr);
    assert!(said.stderr.contains("recorded nothing"), "{}", said.stderr);
}

#[test]
fn rust_programs_are_monitored_by_cargo() {
    let folder = Folder::new();
    let _ = folder.runtime();
    folder.package("connections", "[workspace]\n");
    folder.write(
        "src/main.rs",
        "struct Conn(u32);\nimpl Conn {\n    fn send(&mut self, n: u32) { self.0 += n; }\n    fn close(&mut self) { self.0 = 0; }\n}\n\
         fn main() {\n    let mut c = Box::new(Conn(1));\n    c.send(2);\n    c.close();\n    std::thread::spawn(move || c.send(3)).join().unwrap();\n}\n",
    );
    folder.write(
        "p.rv",
        "property Closed(c) {\n    event send(c) = enter(\"Conn::send\", this as c);\n    event close(c) = enter(\"Conn::close\", this as c);\n    \
         ere: send* close send\n    @match { report \"sent after the end by {thread}\"; }\n}\n",
    );
    let said = cargo_foresee(&folder, &["run", "-q", "--monitor", "p.rv"]);
    assert_eq!(said.code, Some(66), "{}{}", said.stdout, said.stderr);
    assert!(said.stderr.contains("sent after the end by T1"), "{}", said.stderr);
    let tests = cargo_foresee(&folder, &["test", "--monitor", "p.rv"]);
    tests.one_message(2, &["--monitor is for `cargo foresee run`"]);
}
