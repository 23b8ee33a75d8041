//! What the fuzzer of histories and refinement logs runs; the same function runs over the corpus, and over changes of it, in the test suite on
//! stable (`crates/foresee-refine/tests/fuzz_histories.rs`).

use foresee_refine::linear::Limits;
use foresee_refine::named::{self, Consistency, Model, Structure};
use foresee_refine::read::{Subject, read};
use foresee_refine::{History, write};

/// Little memory: what takes more is undecided, and a fuzzer has other things to do.
const LIMITS: Limits = Limits { memory: 1 << 18, deadline: None };

/// Longer ones take long, and show nothing new.
const LONGEST: usize = 400;

/// Any bytes as a history or a log: ends, without a panic; what is understood is checked, and means the same when it is written and read again.
pub(crate) fn histories(bytes: &[u8]) {
    let said = [Model::Register, Model::Kv, Model::Channel].map(|model| Some(Structure::ResultsOf(model)));
    for said in said.into_iter().chain([None]) {
        for case in read(bytes, said).unwrap_or_default() {
            match &case.subject {
                Subject::History { model, initial, history } if history.ops().len() <= LONGEST => {
                    same_again(*model, initial, history);
                }
                Subject::Log { structure, log } if log.events.len() <= LONGEST => {
                    let lines = log.threads.iter().filter_map(write::thread);
                    let events = log
                        .events
                        .iter()
                        .map(|event| write::event(&log.threads[event.thread as usize].name, &event.action));
                    let head = std::iter::once(write::head(structure.name()));
                    let written: Vec<String> = head.chain(lines).chain(events).collect();
                    let again = read((written.join("\n") + "\n").as_bytes(), None);
                    let again = again.unwrap_or_else(|why| panic!("{why}: {written:#?}"));
                    let [Subject::Log { log: again, .. }] = [&again[0].subject] else { panic!("a log") };
                    assert_eq!(again.events.len(), log.events.len());
                    let (own, other) =
                        (named::refine(*structure, log, LIMITS), named::refine(*structure, again, LIMITS));
                    assert_eq!(own.is_ok(), other.is_ok());
                    if let (Ok(own), Ok(other)) = (own, other) {
                        let first =
                            |found: &named::Refinement| found.io.as_ref().map(|(found, _)| found.first);
                        assert_eq!(first(&own), first(&other));
                    }
                }
                _ => {}
            }
        }
    }
}

fn same_again(model: Model, initial: &foresee_refine::Value, history: &History) {
    let check = |history: &History| named::check(model, initial, history, Consistency::Linearizable, LIMITS);
    let Ok(verdict) = check(history) else { return };
    let written = write::history(model.name(), history.ops());
    let again = read(written.as_bytes(), None).unwrap_or_else(|why| panic!("{why}: {written}"));
    let Subject::History { history: again, .. } = &again[0].subject else { panic!("a history") };
    assert_eq!(check(again).map(|verdict| verdict.is_linearizable()), Ok(verdict.is_linearizable()));
    let _ = named::check(model, initial, history, Consistency::Sequential, LIMITS);
    if let linear_violation @ Some(_) = violation(&verdict) {
        let told = linear_violation.map(|found| named::explain(model, initial, history, found, LIMITS));
        assert!(told.is_some_and(|told| told.is_ok()));
    }
}

fn violation(verdict: &foresee_refine::linear::Verdict) -> Option<&foresee_refine::linear::Violation> {
    match verdict {
        foresee_refine::linear::Verdict::Violation(found) => Some(found),
        _ => None,
    }
}
