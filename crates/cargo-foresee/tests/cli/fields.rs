//! Properties about fields of the objects that functions are called with: what they held then, or refused.

use std::fs;
use std::process::Command;

use crate::programs::compilers;
use crate::support::{Folder, Outcome, outcome};

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/fields");

fn build(folder: &Folder, compiler: &str, flags: &[&str]) {
    let _ = folder.runtime();
    let files = ["accounts.c", "accounts_main.c"].map(|file| format!("{SOURCES}/{file}"));
    let mut compile = folder.command(&["cc", "-g", &files[0], &files[1], "-o", "prog"]);
    let built = outcome(compile.args(flags).env("FORESEE_CC", compiler).output().unwrap());
    assert_eq!(built.code, Some(0), "{compiler} {flags:?}: {}", built.stderr);
}

/// A guard about a field, and formulas about fields, for each account.
const ACCOUNTS: &str = r#"property Overdrawn(a) {
    var balance(a): Account.balance;
    event take(a, n) = enter("account_take", n, a) when n > balance;
    ere: take
    @match { report "more than there is"; }
}
property NeverBelow(a) {
    var balance(a): Account.balance;
    var daily(a): Account.limits.daily;
    var level(a): Account.limits.level;
    var is_open(a): Account.is_open;
    var last(a): Account.last[2];
    event opened(a) = exit("account_open") returning a;
    event taken(a) = enter("account_take", account as a);
    event closed(a) = enter("account_close", a);
    ptltl: balance >= 0 && daily == -3 && level == 200 && is_open == 1 && (opened -> balance == last)
    @violation { report "below"; }
}"#;

#[test]
fn fields_are_what_they_were_at_calls() {
    for (c, _) in compilers() {
        for level in ["-O0", "-O2"] {
            let folder = Folder::new();
            folder.write("p.rv", ACCOUNTS);
            for (flag, expected) in [("-DOVERDRAWN", 66), ("-DFINE", 0)] {
                build(&folder, c, &[level, flag, "-fpatchable-function-entry=5,5"]);
                for how in ["--spec", "--monitor"] {
                    let trace: &[&str] = if how == "--spec" { &["--trace", "run.ft"] } else { &[] };
                    let ran = folder.foresee(&[&["run", how, "p.rv"], trace, &["--", "./prog"]].concat());
                    let all = format!("{c} {level} {flag} {how}: {}{}", ran.stdout, ran.stderr);
                    assert_eq!(ran.code, Some(expected), "{all}");
                    let is_found = expected == 66;
                    assert_eq!(ran.stderr.contains("more than there is"), is_found, "{all}");
                    assert_eq!(ran.stderr.contains("below"), is_found, "{all}");
                    assert_eq!(all.contains("the observed run only"), how == "--spec", "{all}");
                }
                let checked = folder.foresee(&["monitor", "p.rv", "run.ft"]);
                assert_eq!(checked.code, Some(expected), "{}{}", checked.stdout, checked.stderr);
            }
        }
    }
}

/// What is said of a property with this variable and this event.
fn said(folder: &Folder, variable: &str, event: &str) -> Outcome {
    let spec = format!(
        "property P(a) {{ var x(a): {variable}; event e(a) = {event} when x == 1; ere: e @match {{ report \"x\"; }} }}"
    );
    folder.write("q.rv", spec);
    folder.foresee(&["run", "--spec", "q.rv", "--", "./prog"])
}

#[test]
fn fields_that_are_not_there_are_refused() {
    let folder = Folder::new();
    let (c, _) = compilers().next().unwrap();
    build(&folder, c, &["-O0"]);
    let put = "enter(\"account_put\", a)";
    for (variable, event, part) in [
        ("Account.balanc", put, "`Account` has no member `balanc`; it has `owner`, `balance`"),
        (
            "Acount.balance",
            put,
            "does not point to `Acount`, of which the field `balance` is asked, but to `Account`",
        ),
        ("Account.rate", put, "`Account.rate` is a floating-point number"),
        ("Account.owner", put, "`Account.owner` is no number"),
        ("Account.limits", put, "`Account.limits` is a structure"),
        ("Account.flags", put, "is a bit field"),
        ("Account.last[4]", put, "has no element 4: it has 4"),
        ("Account.balance", "enter(\"account_put\", _, a)", "does not point to `Account`"),
        ("Account.balance", "enter(\"free\", a)", "is a function of a library"),
        ("bank::Account.balance", put, "is no field of a type"),
        ("Account.balance", "acquire(a)", "`x` has no value at `e`"),
    ] {
        let said = said(&folder, variable, event);
        assert_eq!(said.code, Some(2), "{variable} {event}: {}{}", said.stdout, said.stderr);
        assert!(said.stderr.contains(part), "{variable} {event}: {}", said.stderr);
    }
    let formula = r#"property P(a) { var x(a): Account.balance; event e(a) = enter("account_put", a); event end_program;
        ptltl: x >= 0 @violation { report "x"; } }"#;
    folder.write("q.rv", formula);
    let said = folder.foresee(&["spec", "check", "q.rv"]);
    assert_eq!(said.code, Some(2), "{}", said.stdout);
    assert!(said.stderr.contains("`x` has no value at `end_program`"), "{}", said.stderr);
    folder.write("q.rv", ACCOUNTS);
    folder.foresee(&["spec", "fmt", "q.rv"]).success();
    let formatted = String::from_utf8(folder.read("q.rv")).unwrap();
    assert!(formatted.contains("    var last(a): Account.last[2];\n"), "{formatted}");
    assert_eq!(folder.foresee(&["spec", "fmt", "--check", "q.rv"]).code, Some(0));
}

#[test]
fn fields_of_rust_objects() {
    let folder = Folder::new();
    let _ = folder.runtime();
    folder.package("accounts", "");
    folder.write("src/main.rs", fs::read(format!("{SOURCES}/accounts.rs")).unwrap());
    folder.write(
        "p.rv",
        r#"property Overdrawn(a) {
            var balance(a): Account.balance;
            var uses(a): Account.uses;
            event take(a, n) = enter("Account::take", amount as n, self as a) when n > balance && uses == 1;
            ere: take
            @match { report "more than there is"; }
        }"#,
    );
    for profile in ["dev", "release"] {
        for how in ["--spec", "--monitor"] {
            for (argument, expected) in [("over", 66), ("", 0)] {
                let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-foresee"));
                command.args(["foresee", "run", "--profile", profile, how, "p.rv", "--", argument]);
                let ran =
                    outcome(command.current_dir(folder.path("")).env_remove("RUSTFLAGS").output().unwrap());
                let all = format!("{profile} {how} {argument}: {}{}", ran.stdout, ran.stderr);
                assert_eq!(ran.code, Some(expected), "{all}");
                assert_eq!(ran.stderr.contains("more than there is"), expected == 66, "{all}");
            }
        }
    }
}
