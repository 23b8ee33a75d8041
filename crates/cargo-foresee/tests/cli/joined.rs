//! Accesses that are recorded along with others: a trace has the same events with them as without.
//!
//! Random C programs of all kinds of accesses (fields, arrays, chains of pointers, locals whose address is given away, pointers that are changed by others) between branches, loops, switches and calls are recorded twice, once with a record for each access,
//! and must have done the same, thread by thread. So must one in C++ that throws.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;
use std::time::{Duration, Instant};

use foresee_oracle::{Random, for_each_seed};

use crate::programs::compilers;
use crate::support::{Folder, outcome};

const BEGINNING: &str = r#"
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
struct node { long a, b; int c[8]; struct node *next; char d, e; short f; };
static struct node nodes[4];
static long statics[4];
static int one;
// Where a pointer of the function is that runs.
static struct node **where;
__attribute__((noinline)) static void give(long *given) { *given += one; }
"#;

const END: &str = r#"
static void *thread(void *given) {
    struct node *here = calloc(1, sizeof *here);
    here->next = nodes;
    for (int i = 0; i < 50; i++) { f0(here, nodes + i % 4, i); f1(nodes + i % 3, here, i + 1); }
    free(here);
    return given;
}
int main(void) {
    for (int i = 0; i < 4; i++) nodes[i].next = nodes + (i + 1) % 4;
    // One after the other: what they do does not depend on each other's speed.
    for (int i = 0; i < 2; i++) { pthread_t one; pthread_create(&one, 0, thread, 0); pthread_join(one, 0); }
    thread(0);
    return 0;
}
"#;

fn place(random: &mut Random) -> String {
    let pointer = ["p", "q", "p->next", "q->next->next", "r", "r"][random.below(6)];
    match random.below(8) {
        0 => format!("{pointer}->a"),
        1 => format!("{pointer}->b"),
        2 => format!("{pointer}->c[{}]", random.below(8)),
        3 => format!("{pointer}->c[(i + {}) & 7]", random.below(3)),
        4 => format!("{pointer}->{}", ["d", "e", "f"][random.below(3)]),
        5 => format!("statics[{}]", random.below(4)),
        6 => "statics[i & 3]".to_owned(),
        _ => ["local", "array[i & 3]", "array[1]"][random.below(3)].to_owned(),
    }
}

fn statement(random: &mut Random, depth: u32) -> String {
    let (to, from) = (place(random), place(random));
    let inner = |random: &mut Random| statements(random, depth + 1);
    match random.below(if depth > 2 { 8 } else { 14 }) {
        0 | 1 => format!("{to} = {from} + i;"),
        2 | 3 => format!("{to} += {from};"),
        4 => format!("{to}++;"),
        5 => ["p = p->next;", "*where = q;", "*where = r->next;"][random.below(3)].to_owned(),
        6 if random.percent(50) => {
            format!("r->a += i; *where = {}; r->b++;", ["q", "r->next"][random.below(2)])
        }
        6 => format!("long *x = &statics[i & 3]; *x += {from}; x[0] ^= 3;"),
        7 => ["give(&local);", "give(array + 2);", "give(&q->a);"][random.below(3)].to_owned(),
        8 => format!("if ({from} & 1) {{ {} }}", inner(random)),
        9 => format!("if ({from} > {to}) {{ {} }} else {{ {} }}", inner(random), inner(random)),
        10 => format!("for (int j = 0; j < 3; j++) {{ {} if ({from} == 7) break; }}", inner(random)),
        11 => format!(
            "switch ({from} & 7) {{ case 0: {} case 1: {} break; case 2: {} case 4: {} case 5: break; default: {to}--; }}",
            inner(random),
            inner(random),
            inner(random),
            inner(random)
        ),
        12 => format!("{{ struct node copy = *q; copy.a++; {to} = copy.a + copy.c[i & 7]; }}"),
        _ => format!("int k = 3; do {{ {} k--; }} while (k & 3);", inner(random)),
    }
}

fn statements(random: &mut Random, depth: u32) -> String {
    (0..1 + random.below(5)).map(|_| format!("{{ {} }}\n", statement(random, depth))).collect()
}

fn program(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = BEGINNING.to_owned();
    for function in 0..2 {
        let (first, rest) = (statements(&mut random, 0), statements(&mut random, 0));
        write!(
            text,
            "__attribute__((noinline)) static void f{function}(struct node *p, struct node *q, int i) {{\nlong local = i, array[4] = {{i}};\nstruct node *r = p;\nwhere = &r;\n{first}{rest}give(&local);\n}}\n"
        )
        .unwrap();
    }
    text + END
}

/// What the program's code has done in each thread, with addresses as distances from the beginning of their block, or from the last one on the stack: these are not always at the same place. With the length of the raw trace.
fn recorded(folder: &Folder, joined: bool) -> (BTreeMap<String, Vec<String>>, u64) {
    let mut command = Command::new("setarch");
    command.args([
        "-R",
        env!("CARGO_BIN_EXE_foresee"),
        "record",
        "--keep-raw",
        "-o",
        "run.ft",
        "--",
        "./prog",
    ]);
    command.current_dir(folder.path(""));
    match joined {
        true => command.env_remove("FORESEE_JOINED"),
        false => command.env("FORESEE_JOINED", ""),
    };
    let recorded = outcome(command.output().unwrap());
    assert_eq!(recorded.code, Some(0), "{}", recorded.stderr);
    let length = folder.path("run.raw").metadata().unwrap().len();
    folder.foresee(&["trace", "convert", "run.ft", "-o", "run.std"]).success();
    // The last address in the program or on a stack, and blocks that were allocated.
    let (mut last, mut blocks) = (BTreeMap::new(), BTreeMap::new());
    let mut threads: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in String::from_utf8(folder.read("run.std")).unwrap().lines() {
        let Some((thread, what)) = line.split_once('|').filter(|_| !line.starts_with('#')) else { continue };
        let (what, location) = what.split_once('|').unwrap_or((what, ""));
        let mut parts = what.split("0x");
        let mut told = parts.next().unwrap().to_owned();
        let numbers: Vec<(i64, &str)> = parts
            .map(|part| part.split_at(part.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(part.len())))
            .map(|(number, rest)| (i64::from_str_radix(number, 16).unwrap(), rest))
            .collect();
        if let (true, [(from, _), (to, _)]) = (told.starts_with("alloc"), &numbers[..]) {
            // Larger ones are stacks.
            if to - from < 1 << 20 {
                blocks.insert(*from, *to);
            }
        }
        // (What precedes `main` depends on the environment.)
        if !location.contains("/prog.") {
            continue;
        }
        for (address, rest) in numbers {
            let block = blocks.range(..=address).next_back().filter(|(_, end)| address <= **end);
            let before = match block {
                Some((start, _)) => *start,
                None => last.insert((thread.to_owned(), address >> 40), address).unwrap_or(address),
            };
            write!(told, "{:+}{rest}", address - before).unwrap();
        }
        threads.entry(thread.to_owned()).or_default().push(format!("{told} {location}"));
    }
    (threads, length)
}

/// Fails if the program has not done the same with and without.
fn compare(folder: &Folder, about: &str) {
    let (all, _) = recorded(folder, false);
    let (joined, _) = recorded(folder, true);
    assert!(all.keys().eq(joined.keys()), "{about}: {:?} {:?}", all.keys(), joined.keys());
    for (thread, expected) in &all {
        let got = &joined[thread];
        if let Some(at) = (0..expected.len().max(got.len())).find(|&at| expected.get(at) != got.get(at)) {
            let near = at.saturating_sub(5)..;
            let around = |events: &[String]| {
                events.get(near.clone()).unwrap_or_default().iter().take(12).cloned().collect::<Vec<_>>()
            };
            panic!("{about}: {thread}, event {at}\n{:#?}\n{:#?}", around(expected), around(got));
        }
    }
}

/// The same of a source, built by all compilers at these levels.
fn compare_builds(folder: &Folder, source: &str, levels: &[&str]) {
    for (c, cxx) in compilers() {
        let (driver, variable, compiler) =
            if source.ends_with(".c") { ("cc", "FORESEE_CC", c) } else { ("c++", "FORESEE_CXX", cxx) };
        for level in levels {
            let mut compile = folder.command(&[driver, "-g", "-w", level, source, "-o", "prog", "-pthread"]);
            let compiled = outcome(compile.env(variable, compiler).output().unwrap());
            assert_eq!(compiled.code, Some(0), "{}", compiled.stderr);
            compare(folder, &format!("{compiler} {level}"));
        }
    }
}

#[test]
fn random_programs_have_done_the_same() {
    let folder = Folder::new();
    let _ = folder.runtime();
    for_each_seed(8, |seed| {
        folder.write("prog.c", program(seed));
        let level = ["-O0", "-O1", "-O2", "-O3"][seed as usize % 4];
        compare_builds(&folder, "prog.c", &[level]);
    });
}

/// A pointer in the frame of a function is changed by somebody who was given its address.
const CHANGED: &str = r#"
struct node { long a, b; struct node *next; };
static struct node nodes[4];
static struct node **where;
__attribute__((noinline)) static void f(struct node *p, struct node *q, int i) {
    struct node *r = p;
    where = &r;
    r->a += i;
    *where = q;
    r->b++;
    r->a += r->b;
}
int main(void) {
    for (int i = 0; i < 3; i++) f(nodes, nodes + 1, i);
    return 0;
}
"#;

#[test]
fn what_is_in_a_frame_may_be_changed_by_others() {
    let folder = Folder::new();
    let _ = folder.runtime();
    folder.write("prog.c", CHANGED);
    compare_builds(&folder, "prog.c", &["-O0", "-O2"]);
}

/// Exceptions are thrown between accesses, and caught in the same function and elsewhere.
const THROWING: &str = r#"
#include <map>
#include <string>
#include <vector>
struct Point { long x, y, z; };
struct Guard { Point &p; ~Guard() { p.x++; p.y++; } };
__attribute__((noinline)) long risky(Point &p, int i) {
    Guard guard{p};
    p.x += p.y;
    if (i % 3 == 0) throw i;
    p.z = p.x - p.y;
    try { p.y++; if (i % 5 == 0) throw std::string("five"); p.z++; } catch (const std::string &s) { p.z += s.size(); p.x--; }
    return p.x + p.y + p.z;
}
int main() {
    std::map<int, Point> points;
    std::vector<long> sums;
    for (int i = 0; i < 300; i++) {
        Point &p = points[i % 7];
        try { sums.push_back(risky(p, i)); } catch (int e) { p.x += e; p.z += p.y; }
    }
    long all = 0;
    for (auto &[key, p] : points) all += key + p.x + p.y + p.z;
    return all + sums.back() == 42;
}
"#;

#[test]
fn programs_that_throw_have_done_the_same() {
    let folder = Folder::new();
    let _ = folder.runtime();
    folder.write("prog.cpp", THROWING);
    compare_builds(&folder, "prog.cpp", &["-O0", "-O2"]);
}

const LONG: &str = r#"
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
struct node { long a, b, c; } node;
// What the runtime calls is another one.
long stat;
__attribute__((noinline)) void step(struct node *n) { n->a += n->b; n->c = n->a; n->b++; }
__attribute__((noinline)) void never(struct node *n) { ELSE }
int main(int words, char **word) {
    for (int i = 0; i < 300000; i++) step(&node);
    if (words > 1) never(&node);
    return 0;
}
"#;

#[test]
fn calls_are_taken_out_where_nothing_comes_into_the_middle() {
    let folder = Folder::new();
    for (otherwise, is_shorter) in [
        ("n->a++;", true),
        ("longjmp(*(jmp_buf *)n, 1);", false),
        ("signal(SIGUSR1, (void (*)(int))n->a);", false),
        ("((void (*)(void))dlsym(RTLD_NEXT, \"f\"))();", false),
    ] {
        folder.build("prog.c", &format!("#define _GNU_SOURCE\n{}", LONG.replace("ELSE", otherwise)));
        let (_, all) = recorded(&folder, false);
        let (_, joined) = recorded(&folder, true);
        assert_eq!(joined < all * 3 / 4, is_shorter, "{otherwise}: {joined} of {all} bytes");
    }
}

/// How many accesses of a program can be joined that was built with these flags.
fn joinable(folder: &Folder, source: &str, flags: &[&str]) -> usize {
    folder.write("prog.c", source);
    folder.compile(&[&["cc", "-g", "-O2", "prog.c", "-o", "prog"], flags].concat()).success();
    let until = Instant::now() + Duration::from_secs(60);
    let table = foresee_symbols::joined::table(&folder.path("prog"), until).unwrap();
    table.map_or(0, |table| table.len())
}

#[test]
fn functions_that_are_entered_in_the_middle_are_left_as_they_are() {
    let folder = Folder::new();
    let program = |body: &str| {
        format!(
            "struct s {{ long a, b, c; }} s;\n__attribute__((noinline)) void f(struct s *p, int k) {{ {body} }}\nint main(int n, char **w) {{ f(&s, n - 1); return 0; }}\n"
        )
    };
    let plain = program("p->a = k; p->b = 2; p->c = 3;");
    let labels =
        program("static void *to[] = { &&l0, &&l1 }; goto *to[k & 1]; l0: p->a = 1; l1: p->b = 2; p->c = 3;");
    // A place where a jump is put in at some time.
    let marked = program(
        "p->a = 1; asm goto(\"nop\\n.pushsection .data.keys,\\\"aw\\\"\\n.quad %l0\\n.popsection\" : : : : l0); p->b = 2; l0: p->c = 3;",
    );
    assert!(joinable(&folder, &plain, &[]) > 0);
    assert_eq!(joinable(&folder, &plain, &["-no-pie", "-fno-pie"]), 0);
    for flags in [&[][..], &["-mindirect-branch=thunk"], &["-mindirect-branch=thunk-inline"]] {
        if compilers().any(|(c, _)| c == "gcc") {
            assert_eq!(joinable(&folder, &labels, flags), 0, "labels, {flags:?}");
            assert_eq!(joinable(&folder, &marked, flags), 0, "marked, {flags:?}");
        }
    }
}

#[test]
fn what_asks_the_system_itself_is_looked_at() {
    let folder = Folder::new();
    let program = |call: &str| {
        format!(
            "#define _GNU_SOURCE\n#include <unistd.h>\n#include <sys/syscall.h>\nstruct s {{ long a, b, c; }} s;\n__attribute__((noinline)) void f(struct s *p, int k) {{ p->a = k; p->b = 2; p->c = 3; }}\nint main(int n, char **w) {{ {call}; f(&s, n - 1); return 0; }}\n"
        )
    };
    let raw = |number: u32| {
        format!(
            "long r; asm volatile(\"syscall\" : \"=a\"(r) : \"a\"({number}L) : \"rcx\", \"r11\", \"memory\")"
        )
    };
    for (call, is_joined) in [
        ("syscall(SYS_gettid)", true),
        ("syscall(SYS_rt_sigaction, 8, 0, 0, 8)", false),
        ("syscall(n)", false),
        (&raw(186), true),
        (&raw(13), false),
    ] {
        assert_eq!(joinable(&folder, &program(call), &[]) > 0, is_joined, "{call}");
    }
    // The middle of a function may be entered where its code computes an address in it.
    let jumped = "struct s { long a, b, c; } s; void *to[5];\n__attribute__((noinline)) void f(struct s *p) { p->a = 1; __builtin_setjmp(to); p->b = 2; p->c = 3; }\nint main(void) { f(&s); return 0; }\n";
    assert_eq!(joinable(&folder, jumped, &["-Os"]), 0);
    // What can fail comes between accesses.
    let divides = "struct s { long a, b; } s;\n__attribute__((noinline)) void f(struct s *p, long k) { p->a = 1; asm volatile(\"\" : \"+r\"(k)); long q = 10 / k; asm volatile(\"\" : \"+r\"(q) : : \"memory\"); p->b = q; }\nint main(int n, char **w) { f(&s, n); return 0; }\n";
    assert_eq!(joinable(&folder, divides, &[]), 0);
}

#[test]
fn what_a_thread_did_last_is_there() {
    let folder = Folder::new();
    folder.write(
        "prog.c",
        "#define _GNU_SOURCE\n#include <stdlib.h>\n#include <unistd.h>\n#include <pthread.h>\nstruct s { long a, b; } s;\n\
         __attribute__((noinline)) void f(struct s *p) {\n p->a = 1;\n p->b = 2;\n END; }\n\
         static void *hangs(void *p) { for (;;) pause(); return p; }\n\
         int main(void) { pthread_t t; pthread_create(&t, 0, hangs, 0); f(&s); return 0; }\n",
    );
    let sources = [
        "exit(3)",
        "_exit(3)",
        "quick_exit(3)",
        "abort()",
        "execl(\"/bin/true\", \"true\", (char *)0)",
        "sleep(1); kill(getpid(), 9)",
    ];
    for end in sources {
        let end = format!("-DEND={end}");
        folder
            .compile(&[
                "cc", "-g", "-O1", "-w", "-include", "signal.h", &end, "prog.c", "-o", "prog", "-pthread",
            ])
            .success();
        folder.foresee(&["record", "-o", "run.ft", "--exit-wait", "0s", "--", "./prog"]);
        folder.foresee(&["trace", "convert", "run.ft", "-o", "run.std"]).success();
        let text = String::from_utf8(folder.read("run.std")).unwrap();
        assert!(text.contains("prog.c:7") && text.contains("prog.c:8"), "{end}: {text}");
    }
}

#[test]
fn what_a_program_did_not_live_to_do_is_not_put_back() {
    let folder = Folder::new();
    folder.write(
        "prog.c",
        "struct s { long a, b; } s;\n__attribute__((noinline)) void f(struct s *p, long *q) {\n p->a = 1;\n *q = 3;\n p->b = 2;\n}\nint main(int n, char **w) { f(&s, (long *)(8L * n)); return 0; }\n",
    );
    folder.compile(&["cc", "-g", "-O1", "prog.c", "-o", "prog"]).success();
    folder.foresee(&["record", "-o", "run.ft", "--", "./prog"]);
    folder.foresee(&["trace", "convert", "run.ft", "-o", "run.std"]).success();
    let text = String::from_utf8(folder.read("run.std")).unwrap();
    assert!(text.contains("prog.c:3") && !text.contains("prog.c:5"), "{text}");
}
