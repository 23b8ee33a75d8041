//! What properties know of the variables of a program: the values that they had, or that these are not known.

use crate::programs::compilers;
use crate::support::{Folder, Outcome, outcome};

/// Builds a program of C with a compiler.
fn build(folder: &Folder, source: &str, compiler: &str, flags: &[&str]) {
    let _ = folder.runtime();
    folder.write("prog.c", source);
    let mut compile = folder.command(&["cc", "-g", "prog.c", "-o", "prog", "-pthread"]);
    let built = outcome(compile.args(flags).env("FORESEE_CC", compiler).output().unwrap());
    assert_eq!(built.code, Some(0), "{compiler} {flags:?}: {}", built.stderr);
}

/// What one property, over these variables, says of a run of the program that was built.
fn says(folder: &Folder, variables: &str, formula: &str) -> Outcome {
    let spec = format!(
        "property P {{ var {variables}: int; ptltl: {formula} @violation {{ report \"violated\"; }} }}"
    );
    folder.write("p.rv", spec);
    run(folder)
}

/// Where the summary goes depends on whether something was found: all is in `stdout`.
fn run(folder: &Folder) -> Outcome {
    let said = folder.foresee(&["run", "--engine", "property", "--spec", "p.rv", "--", "./prog"]);
    let stdout = said.stdout.clone() + &said.stderr;
    Outcome { stdout, ..said }
}

fn each_build(source: &str, check: impl Fn(&Folder, &str)) {
    for (compiler, _) in compilers() {
        for level in ["-O0", "-O2"] {
            let folder = Folder::new();
            build(&folder, source, compiler, &[level]);
            check(&folder, &format!("{compiler} {level}"));
        }
    }
}

/// A thread does this to variables.
fn program(variables: &str, work: &str) -> String {
    format!(
        "#include <pthread.h>\n#include <stdatomic.h>\n{variables}\nvoid *work(void *p) {{ {work} return p; }}\n\
         int main(void) {{ pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0); return 0; }}\n"
    )
}

#[test]
fn unsigned_variables_are_never_negative() {
    let source = program(
        "unsigned level; unsigned char small; unsigned short half = 60000; _Atomic unsigned flag; unsigned long most; signed char below;",
        "level = 3000000000u; small = 200; half = 50000; flag = 4000000000u; most = ~0ul; below = -56;",
    );
    each_build(&source, |folder, how| {
        for (formula, is_violated) in [
            ("level >= 0 && small >= 0 && half >= 0 && flag >= 0 && most >= 0", false),
            ("level != 3000000000", true),
            ("small != 200", true),
            ("small != -56", false),
            ("half != 60000", true),
            ("half != 50000", true),
            ("flag != 4000000000", true),
            ("below != -56", true),
        ] {
            let said = says(folder, "level, small, half, flag, most, below", formula);
            let code = if is_violated { 66 } else { 0 };
            assert_eq!(said.code, Some(code), "{how}: {formula}: {}{}", said.stdout, said.stderr);
        }
    });
}

#[test]
fn what_is_written_to_a_part_of_a_variable_is_not_its_value() {
    let source = program(
        "union { int i; short s; } both; int whole;",
        "both.s = -1; ((volatile unsigned char *)&whole)[0] = 200;",
    );
    each_build(&source, |folder, how| {
        for formula in ["both.i >= 0", "whole >= 0"] {
            let variable = formula.split(' ').next().unwrap_or_default();
            let said = says(folder, variable, formula);
            assert_eq!(said.code, Some(0), "{how}: {formula}: {}{}", said.stdout, said.stderr);
            assert!(said.stdout.contains("its value is not known"), "{how}: {}", said.stdout);
        }
    });
}

#[test]
fn a_value_that_nobody_saw_is_told() {
    // The first copy is over when its value can be seen again.
    let source = program(
        "struct pair { int pad; int owner; } g; struct pair made(int k) { struct pair s = { 0, k }; return s; }",
        "struct pair s = made(6); g = s; __asm__ volatile(\"\" ::: \"memory\"); s = made(1); g = s;",
    ) + "int seen(void) { return g.owner; }";
    let source = source.replace("return 0; }\n", "int seen(void); return seen() - 1; }\n");
    each_build(&source, |folder, how| {
        let said = says(folder, "g.owner", "g.owner != 6");
        let is_told = said.code == Some(66) || said.stdout.contains("its value is not known");
        assert!(is_told, "{how}: {}{}", said.stdout, said.stderr);
    });
}

#[test]
fn what_is_no_whole_number_is_not_taken_for_one() {
    let source = program(
        "double d; struct pair { int a, b; } two; struct pair from = { 1, 6 };",
        "d = 2.5; volatile struct pair *to = &two; *to = from;",
    );
    each_build(&source, |folder, how| {
        let refused = says(folder, "d", "d != 2");
        assert_eq!(refused.code, Some(2), "{how}: {}", refused.stdout);
        assert!(refused.stderr.contains("`d` of the spec is a floating-point number"), "{}", refused.stderr);
        let unknown = says(folder, "two", "two == 0");
        assert_eq!(unknown.code, Some(0), "{how}: {}{}", unknown.stdout, unknown.stderr);
        assert!(unknown.stdout.contains("does not say which value `two` got"), "{how}: {}", unknown.stdout);
    });
}

#[test]
fn what_a_child_of_a_fork_does_is_held_against_its_own_time_only() {
    let folder = Folder::new();
    let source = "#include <sys/wait.h>\n#include <unistd.h>\n\
        __attribute__((noinline)) void opened(void *l) { __asm__ volatile(\"\" :: \"r\"(l)); }\n\
        __attribute__((noinline)) void written(void *l) { __asm__ volatile(\"\" :: \"r\"(l)); }\n\
        int main(void) { int l; opened(&l); pid_t child = fork(); if (!child) { written(&l); _exit(0); } waitpid(child, 0, 0); written(&l); return 0; }\n";
    build(&folder, source, "cc", &["-O0"]);
    folder.write(
        "p.rv",
        "property OpenFirst(l) {\n    event open(l) = enter(\"opened\", l);\n    event write(l) = enter(\"written\", l);\n    \
         ptltl: write -> <*> open\n    @violation { report \"never opened\"; }\n}\n",
    );
    let said = run(&folder);
    assert_eq!(said.code, Some(0), "{}", said.stdout);
    assert!(said.stdout.contains("before it was forked off"), "{}", said.stdout);
}

#[test]
fn variables_that_are_no_statics_are_called_what_they_are() {
    let source = program(
        "static const int limit = 3; _Thread_local int depth; int level;",
        "level = limit; depth = level;",
    );
    for (compiler, _) in compilers() {
        let folder = Folder::new();
        build(&folder, &source, compiler, &["-O2"]);
        let own = says(&folder, "depth", "depth >= 0");
        assert_eq!(own.code, Some(2), "{compiler}: {}", own.stdout);
        assert!(own.stderr.contains("`depth` of the spec is thread-local"), "{compiler}: {}", own.stderr);
        let constant = says(&folder, "limit", "limit > 3");
        let is_told =
            constant.stdout.contains("`limit` of the spec is a constant") || constant.code == Some(66);
        assert!(is_told, "{compiler}: {}", constant.stdout);
    }
}
