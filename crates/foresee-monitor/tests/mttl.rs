//! The language of `mttl` bodies: what is understood, what is refused and why, and how it is formatted.
#![allow(clippy::unwrap_used)]

use foresee_monitor::compile;
use foresee_monitor::mttl::{Expr, Formula, Term, Who};
use foresee_monitor::operator::Binary;
use foresee_monitor::spec::diagnostic::Severity;
use foresee_monitor::spec::format::format;

const DECLARED: &str = "thread i, j; thread t1: \"t1\"; thread t2: \"t2\"; local c: bool = false; local a: int = 0; \
                        var x, y: int = 0;";

fn spec(formula: &str) -> String {
    format!("property P {{ {DECLARED} mttl: {formula} @violation {{ report \"{{i}}\"; }} }}")
}

fn formula(text: &str) -> Formula {
    let compiled = compile(&spec(text)).unwrap_or_else(|problems| panic!("{text}: {problems:#?}"));
    compiled.properties[0].mttl[0].mttl.formula.clone()
}

/// What is said against a formula, and what it is said of.
fn refusal(text: &str) -> (String, String) {
    let spec = spec(text);
    let problems = compile(&spec).err().unwrap_or_else(|| panic!("{text} is not refused"));
    let problem = problems.iter().find(|problem| problem.severity == Severity::Error).unwrap();
    (problem.message.clone(), spec[problem.span.clone()].to_owned())
}

#[test]
fn at_binds_tighter_than_comparison() {
    let at = |inner| Expr::At(Term::Named(3), Box::new(inner));
    let expected = Formula::Compare(Binary::Gt, Expr::Var(0), at(Expr::Var(1)));
    assert_eq!(formula("@t1(x > @t2 y)"), expected);
    assert_eq!(formula("@t1(x > @t2(y))"), expected);
    let whole = Formula::Compare(Binary::Gt, Expr::Var(0), Expr::Var(1));
    assert_eq!(formula("@t1(@t2(x > y))"), Formula::At(Term::Named(3), Box::new(whole)));
    assert_eq!(formula("@t1 !@t2 !c"), formula("@t1(!(@t2(!c)))"));
    assert_eq!(
        formula("@i (c -> !exists j != i: @j @i c)"),
        formula("@i(c -> (!(exists j != i: (@j(@i(c))))))")
    );
}

#[test]
fn quantifiers_reach_to_the_right() {
    assert_eq!(formula("@i(exists j != i: @j c && c)"), formula("@i(exists j != i: (@j(c) && c))"));
    assert_eq!(formula("@i(c && forall j: c || @j c)"), formula("@i(c && (forall j: (c || @j(c))))"));
}

#[test]
fn names_mean_threads_groups_or_any() {
    let spec = "property P { thread i; thread db: \"worker-*\"; thread main: \"main\"; local c: bool;
        mttl: @db(c -> exists i: @i c) @violation { report \"\"; } }";
    let property = &compile(spec).unwrap().properties[0];
    let who: Vec<&Who> = property.threads.iter().map(|thread| &thread.who).collect();
    assert_eq!(who, [&Who::Any, &Who::Like("worker-*".into()), &Who::Named("main".into())]);
    assert_eq!(property.mttl[0].mttl.owner, 1);
}

#[test]
fn what_is_not_robust_or_not_knowable_is_refused() {
    for (text, why, of) in [
        ("x > 0", "belongs to a thread", "x > 0"),
        ("@t1(c) || @t2(c)", "not robust: pairs", "@t1(c) || @t2(c"),
        ("@t1(c) && @t2(c)", "two formulas", "@t1(c) && @t2(c"),
        ("[*] @t1(c)", "observed interleaving", "@t1(c"),
        ("!@t1(c)", "no state to speak about", "@t1(c"),
        ("exists i: @i(c)", "a quantifier outside", "i: @i(c"),
        ("@i(c -> !@j(c))", "`j` is bound by no quantifier", "j"),
        ("@i(<> c)", "only the past", "c"),
        ("c -> @t1(c)", "belongs to no thread", "c"),
        ("@t9(c)", "no thread: declare it", "t9"),
        ("@i(a + (*) a > 0)", "temporal operators make formulas", "("),
        ("@i(exists j: @j(a))", "`a` is a number", "@j(a"),
        ("@i(exists t1: c)", "nothing to quantify over", "t1"),
        ("@i(read(c))", "a shared variable", "c"),
        ("@i(c U c)", "only the past", "c U c"),
        ("@i(b)", "neither a local nor a variable", "b"),
        ("@i(a + 1 > 0 && max(a) > 0)", "takes 2 of them, not 1", "max"),
        ("@i(c + 1 > 0)", "a number is needed", "c"),
    ] {
        let (message, place) = refusal(text);
        assert!(message.contains(why), "{text}: {message}");
        assert_eq!(place, of, "{text}: {message}");
    }
    let group = "property P { thread i; thread db: \"worker-*\"; local c: bool; mttl: @i(@db(c)) @violation { count; } }";
    assert!(compile(group).unwrap_err()[0].message.contains("may be several threads"));
}

#[test]
fn threads_and_locals_belong_to_mttl_bodies() {
    let other = "property P { thread i; event a; ere: a @match { count; } }";
    assert!(compile(other).unwrap_err()[0].message.contains("of use to `mttl` bodies only"));
    let params = "property P(l) { thread i; local c: bool; mttl: @i c @violation { count; } }";
    assert!(compile(params).unwrap_err()[0].message.contains("no parameters but its threads"));
}

#[test]
fn a_thread_to_be_left_out_need_not_be_declared() {
    let compiled = compile(&spec("@i(exists j != t7: @j(c))")).unwrap();
    assert!(compiled.warnings[0].message.contains("taken for the thread of that name"));
    assert_eq!(compiled.properties[0].threads.last().unwrap().who, Who::Named("t7".into()));
}

#[test]
fn declarations_are_formatted() {
    let text = "property P { thread i,j ; thread db :\"w-*\"; local c:bool=false; mttl: @i(c ->\n !c) @violation { count; } }";
    let expected = "property P {\n    thread i, j;\n    thread db: \"w-*\";\n    local c: bool = false;\n    \
                    mttl: @i(c ->\n          !c)\n    @violation { count; }\n}\n";
    assert_eq!(format(text).unwrap(), expected);
    assert_eq!(format(expected).unwrap(), expected);
}
