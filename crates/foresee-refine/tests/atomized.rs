//! An implementation as its own specification says what the model of the same structure says, on all logs and histories of the suite.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;

use foresee_refine::Value;
use foresee_refine::atomized::{Atomized, Sequential};
use foresee_refine::linear::{self, Limits};
use foresee_refine::models::Multiset;
use foresee_refine::named::{Model, Structure};
use foresee_refine::read::{Case, Subject, read};
use foresee_refine::refine::{Mode, check};
use foresee_refine::spec::WrongCall;
use foresee_refine::structures::SlotsReplica;

/// A multiset as somebody would write it for one thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Bag(BTreeMap<Value, u64>);

impl Bag {
    fn insert(&mut self, element: &Value) {
        *self.0.entry(element.clone()).or_default() += 1;
    }

    fn delete(&mut self, element: &Value) -> bool {
        let Some(count) = self.0.get_mut(element) else { return false };
        *count -= 1;
        self.0.retain(|_, count| *count > 0);
        true
    }
}

impl Sequential for Bag {
    fn call(&mut self, method: &str, args: &[Value]) -> Result<Value, WrongCall> {
        match (method, args) {
            ("insert", [x]) => self.insert(x),
            ("insertPair", [x, y]) => {
                self.insert(x);
                self.insert(y);
            }
            ("delete", [x]) => return Ok(self.delete(x).into()),
            ("lookup", [x]) => return Ok(self.0.contains_key(x).into()),
            _ => return Err(WrongCall::new("bag", "insert, insertPair, delete or lookup", method, args)),
        }
        Ok("success".into())
    }

    fn is_observer(&self, method: &str) -> bool {
        method == "lookup"
    }

    fn failures(&self, method: &str) -> Vec<Value> {
        if method.starts_with("insert") { vec!["failure".into()] } else { Vec::new() }
    }

    fn view(&self) -> Vec<(Value, Value)> {
        self.0.iter().map(|(element, count)| (element.clone(), Value::from(*count))).collect()
    }
}

fn cases(file: &str) -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file);
    read(&std::fs::read(path).unwrap(), None).unwrap()
}

#[test]
fn logs() {
    let own = Atomized::new(Bag::default());
    let mut checked = 0;
    for case in cases("refinement.json") {
        let Subject::Log { structure: Structure::Multiset, log } = &case.subject else { continue };
        for mode in [Mode::Io, Mode::View, Mode::Quiescent] {
            let model = check(&Multiset, SlotsReplica::default(), log, mode).unwrap();
            let found = check(&own, SlotsReplica::default(), log, mode).unwrap();
            let of = |found: Option<foresee_refine::refine::Violation>| {
                found.map(|it| (it.first, it.call, it.kind))
            };
            assert_eq!(of(found), of(model), "{:?} {mode:?}", case.id);
        }
        checked += 1;
    }
    assert!(checked > 50, "{checked}");
}

#[test]
fn histories() {
    let own = Atomized::new(Bag::default());
    let mut verdicts = [0, 0];
    for case in cases("linearizability.json") {
        let Subject::History { model: Model::Multiset, history, .. } = &case.subject else { continue };
        if history.ops().len() > 40 {
            continue;
        }
        let model = linear::check(&Multiset, history, Limits::default()).unwrap().is_linearizable();
        let found = linear::check(&own, history, Limits::default()).unwrap().is_linearizable();
        assert_eq!(found, model, "{:?}", case.id);
        verdicts[usize::from(found.unwrap())] += 1;
    }
    assert!(verdicts.iter().all(|count| *count > 3), "{verdicts:?}");
}
