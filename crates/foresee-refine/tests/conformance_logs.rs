//! Refinement logs whose verdicts are known.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use foresee_refine::linear::Limits;
use foresee_refine::named;
use foresee_refine::read::{Subject, read};
use foresee_refine::refine::{Judgement, Violation};
use serde_json::Value as Json;

fn same(found: Option<&(Violation, Judgement)>, expected: &Json) -> bool {
    let index = |json: &Json| json.as_u64().map(|index| index as usize);
    match found {
        None => expected["ok"] == Json::Bool(true),
        Some((found, _)) => {
            expected["ok"] == Json::Bool(false)
                && index(&expected["first"]) == Some(found.first)
                && index(&expected["call"]) == found.call
                && expected["kind"].as_str() == Some(found.kind.name())
        }
    }
}

#[test]
fn all_logs_of_the_suite() {
    let bytes =
        std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/refinement.json")).unwrap();
    let expected: Json = serde_json::from_slice(&bytes).unwrap();
    let expected = expected["cases"].as_array().unwrap();
    let cases = read(&bytes, None).unwrap();
    assert_eq!((cases.len(), expected.len()), (227, 227));
    let mut wrong = Vec::new();
    for (case, expected) in cases.iter().zip(expected) {
        let Subject::Log { structure, log } = &case.subject else { panic!("a log is expected") };
        let found = named::refine(*structure, log, Limits::default()).unwrap();
        let mut fine = same(found.io.as_ref(), &expected["io"]);
        fine &= match (&found.view, &expected["view"]) {
            (None, Json::Null) => true,
            (Some(view), expected) => same(view.as_ref(), expected),
            (None, _) => false,
        };
        if let Some((violation, judgement)) = &found.io
            && let Some(linearizable) = expected["history_linearizable"].as_bool()
            && violation.kind.is_about_order()
        {
            fine &= linearizable == matches!(judgement, Judgement::CommitPoints { .. });
        }
        if !fine {
            wrong.push(format!(
                "{} {}: {}\n    expected io {} view {}, decision {}",
                expected["id"],
                expected["note"],
                format_args!("{:?}", found),
                expected["io"],
                expected["view"],
                expected["decision"]
            ));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
