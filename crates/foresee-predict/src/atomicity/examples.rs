//! Classic examples with known answers.

use foresee_trace::Execution;
use foresee_trace::text::TextReader;

use super::tests::{observed, predicted};
use foresee_witness::atomic::AtomicFunctions;
use foresee_witness::engine::Proven;

/// What an example shows.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    /// The run itself is not serialisable.
    Observed,
    /// The run is serialisable, another schedule is not.
    Predicted,
    Serialisable,
}

fn answer(trace: &str, functions: &AtomicFunctions) -> Answer {
    let text: String = trace.split(';').map(|line| line.trim().to_owned() + "\n").collect();
    let execution = Execution::read(&mut TextReader::new(text.as_bytes())).unwrap();
    let (seen, possible) =
        (observed(&execution, functions), predicted(&execution, functions, &Proven::default()));
    assert_eq!((possible.undecided, seen.undecided), (0, 0), "{trace}");
    match (seen.findings.is_empty(), possible.findings.is_empty()) {
        (false, _) => Answer::Observed,
        (true, false) => Answer::Predicted,
        (true, true) => Answer::Serialisable,
    }
}

fn expect(expected: Answer, trace: &str) {
    assert_eq!(answer(trace, &AtomicFunctions::default()), expected, "{trace}");
}

#[test]
fn five_patterns_on_one_variable() {
    for pattern in ["rwr", "wwr", "wrw", "rww", "www"] {
        let [e1, e2, e3] = [0, 1, 2].map(|nth| &pattern[nth..=nth]);
        let block = |between: &str| format!("A|begin|1; A|{e1}(x)|2; {between} A|{e3}(x)|4; A|end|5");
        let other = format!("B|{e2}(x)|3");
        expect(Answer::Observed, &block(&format!("{other};")));
        expect(Answer::Predicted, &format!("{}; {other}", block("")));
        // A read that read the other's write cannot come before it.
        let expected = if e1 == "r" && e2 == "w" { Answer::Serialisable } else { Answer::Predicted };
        expect(expected, &format!("{other}; {}", block("")));
    }
    for pattern in ["rrr", "rrw", "wrr"] {
        let [e1, e2, e3] = [0, 1, 2].map(|nth| &pattern[nth..=nth]);
        expect(Answer::Serialisable, &format!("A|begin|1; A|{e1}(x)|2; B|{e2}(x)|3; A|{e3}(x)|4; A|end|5"));
        expect(Answer::Serialisable, &format!("A|begin|1; A|{e1}(x)|2; A|{e3}(x)|4; A|end|5; B|{e2}(x)|3"));
    }
}

/// Reads a balance under the lock, writes it back under the lock: no race, and yet what others pay in is lost.
#[test]
fn two_critical_sections_of_one_transfer() {
    let transfer = "A|begin(transfer)|1; A|acq(l)|2; A|r(balance)|3; A|rel(l)|4; A|acq(l)|5; A|w(balance)|6; \
                    A|rel(l)|7; A|end(transfer)|8";
    let deposit = "B|acq(l)|11; B|w(balance)|12; B|rel(l)|13";
    expect(Answer::Predicted, &format!("{transfer}; {deposit}"));
    let in_one_section = transfer.replace("A|rel(l)|4; A|acq(l)|5;", "");
    assert_ne!(in_one_section, transfer);
    expect(Answer::Serialisable, &format!("{in_one_section}; {deposit}"));
    expect(Answer::Serialisable, &format!("{deposit}; {in_one_section}"));
}

/// The second transfer reads what the first wrote: what it would do with another balance, this run does not show.
#[test]
fn what_depends_on_the_value_read_is_not_predicted() {
    let transfer = |t: &str| {
        format!(
            "{t}|begin|1; {t}|acq(l)|2; {t}|r(x)|3; {t}|rel(l)|4; {t}|acq(l)|5; {t}|w(x)|6; {t}|rel(l)|7; {t}|end|8"
        )
    };
    expect(Answer::Serialisable, &format!("{}; {}", transfer("A"), transfer("B")));
}

/// The library's buffer: asks the other buffer for its length, then copies that many bytes. Each call locks, both
/// together do not.
#[test]
fn string_buffer_append() {
    let trace = "A|begin(append)|1; A|acq(sb)|2; A|r(len)|3; A|rel(sb)|4; A|acq(sb)|5; A|r(len)|6; A|r(chars)|7; \
                 A|rel(sb)|8; A|end(append)|9; B|acq(sb)|20; B|w(len)|21; B|w(chars)|22; B|rel(sb)|23";
    expect(Answer::Predicted, trace);
}

/// Looks under the shared lock, puts under the exclusive one; another thread clears the map in between.
#[test]
fn put_if_absent_on_a_map() {
    let put = "A|begin(put_if_absent)|1; A|acq.shared(map)|2; A|r(slot)|3; A|rel.shared(map)|4; A|acq(map)|5; \
               A|w(slot)|6; A|rel(map)|7; A|end(put_if_absent)|8";
    expect(Answer::Predicted, &format!("{put}; B|acq(map)|11; B|w(slot)|12; B|rel(map)|13"));
    expect(Answer::Serialisable, &format!("{put}; B|acq.shared(other)|11; B|rel.shared(other)|13"));
}

/// Each block reads what the other writes.
#[test]
fn write_skew() {
    let blocks = "A|begin|1; A|r(x)|2; B|begin|11; B|r(y)|12; B|w(x)|13; A|w(y)|3; A|end|4; B|end|14";
    expect(Answer::Observed, blocks);
    expect(Answer::Serialisable, &blocks.replace("w(x)", "w(z)"));
}

#[test]
fn two_blocks_write_in_opposite_order() {
    let block = |t: &str, first: &str, second: &str| {
        format!("{t}|begin|1; {t}|w({first})|2; {t}|w({second})|3; {t}|end|4")
    };
    expect(Answer::Predicted, &format!("{}; {}", block("A", "x", "y"), block("B", "y", "x")));
    expect(Answer::Predicted, &format!("{}; {}", block("A", "x", "y"), block("B", "x", "y")));
    expect(Answer::Serialisable, &format!("{}; {}", block("A", "x", "y"), block("B", "x", "z")));
}

/// Two variables that belong together, written together, read one by one.
#[test]
fn inconsistent_view_of_two_variables() {
    let read = "A|begin|1; A|r(x)|2; A|r(y)|3; A|end|4";
    expect(Answer::Predicted, &format!("{read}; B|w(x)|11; B|w(y)|12"));
    expect(
        Answer::Predicted,
        &format!("A|w(z)|9; {read}; B|w(y)|11; B|w(x)|12").replace("B|w(y)|11", "B|begin|10; B|w(y)|11"),
    );
    expect(Answer::Serialisable, &format!("{read}; B|w(y)|11; B|r(x)|12"));
}

/// A flag hands the data over: nobody can come between.
#[test]
fn ordered_by_what_is_read() {
    expect(
        Answer::Serialisable,
        "A|begin|1; A|w(x)|2; A|w(x)|3; A|store(ready)|4; A|end|5; B|load(ready)|11; B|r(x)|12; B|w(x)|13",
    );
    expect(Answer::Serialisable, "A|begin|1; A|r(x)|2; A|w(x)|3; A|end|5; A|fork(B)|6; B|w(x)|12");
}

#[test]
fn nested_blocks_are_one_and_bytes_count() {
    let nested = "A|begin(a)|1; A|begin(b)|2; A|r(x)|3; A|end(b)|4; B|w(x)|9; A|w(x)|5; A|end(a)|6";
    expect(Answer::Observed, nested);
    expect(Answer::Serialisable, &nested.replace("A|begin(a)|1;", "").replace("A|end(a)|6", "A|r(x)|6"));
    expect(Answer::Serialisable, "A|begin|1; A|r(x[0..4])|2; B|w(x[4..8])|9; A|w(x[0..4])|3; A|end|4");
    expect(Answer::Observed, "A|begin|1; A|r(x[0..4])|2; B|w(x[3..8])|9; A|w(x[0..4])|3; A|end|4");
}

#[test]
fn configured_functions_are_blocks() {
    let trace = "A|enter(app::Bank::transfer)|1; A|r(x)|2; A|w(x)|3; A|exit(app::Bank::transfer)|4; B|w(x)|9";
    let functions = AtomicFunctions::new(["Bank::transfer"]);
    assert_eq!(answer(trace, &functions), Answer::Predicted);
    assert_eq!(answer(trace, &AtomicFunctions::new(["Bank::deposit"])), Answer::Serialisable);
    let interleaved = "A|enter(Bank::transfer)|1; A|r(x)|2; B|w(x)|9; A|w(x)|3; A|exit(Bank::transfer)|4";
    assert_eq!(answer(interleaved, &functions), Answer::Observed);
}

#[test]
fn what_was_observed_is_not_predicted_again() {
    let text = "A|begin|1\nA|r(x)|2\nB|w(x)|3\nA|w(x)|4\nA|end|5\n";
    let execution = Execution::read(&mut TextReader::new(text.as_bytes())).unwrap();
    let none = AtomicFunctions::default();
    let seen = observed(&execution, &none);
    assert_eq!(seen.findings.len(), 1);
    assert_eq!(seen.findings[0].events, [1, 2, 2, 3]);
    let mut proven = Proven::default();
    proven.add(&seen.findings[0]);
    assert!(predicted(&execution, &none, &proven).findings.is_empty());
    assert_eq!(predicted(&execution, &none, &Proven::default()).findings[0].places, seen.findings[0].places);
}
