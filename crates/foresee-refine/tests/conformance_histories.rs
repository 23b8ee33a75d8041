//! Histories whose verdicts are known: those of the conformance suite, and of other tools.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use foresee_refine::linear::{Limits, Verdict};
use foresee_refine::named::{self, Consistency};
use foresee_refine::read::{Case, Subject, read};

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

fn linearizable(case: &Case) -> Option<bool> {
    let Subject::History { model, initial, history } = &case.subject else { panic!("a history is expected") };
    let limits = Limits::default();
    let verdict = named::check(*model, initial, history, Consistency::Linearizable, limits).unwrap();
    if let Verdict::Violation(violation) = &verdict
        && history.ops().len() < 200
    {
        let told = named::explain(*model, initial, history, violation, limits).unwrap();
        assert!(told.first.is_some() && told.longest.is_some() && !told.minimal.is_empty());
    }
    verdict.is_linearizable()
}

#[test]
fn all_histories_of_the_suite() {
    let bytes = std::fs::read(data().join("linearizability.json")).unwrap();
    let expected: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    let expected = expected["cases"].as_array().unwrap();
    let cases = read(&bytes, None).unwrap();
    assert_eq!((cases.len(), expected.len()), (289, 289));
    for (case, expected) in cases.iter().zip(expected) {
        assert_eq!(
            linearizable(case),
            expected["linearizable"].as_bool(),
            "{:?}: {}",
            case.id,
            expected["note"]
        );
    }
}

#[test]
fn all_histories_of_other_tools() {
    let folder = data().join("histories");
    let expected = std::fs::read_to_string(folder.join("EXPECTED.tsv")).unwrap();
    assert_eq!(expected.lines().count(), 56);
    for line in expected.lines() {
        let (file, verdict) = line.split_once('\t').unwrap();
        let cases = read(&std::fs::read(folder.join(file)).unwrap(), None).unwrap();
        assert_eq!(linearizable(&cases[0]), Some(verdict == "linearizable"), "{file}");
    }
}
