//! Random tiny histories, and the truth about them: all orders are tried.

#![allow(dead_code, clippy::unwrap_used)]

use foresee_oracle::Random;
use foresee_refine::spec::{Outcome, Specification};
use foresee_refine::{History, Operation, Value};

/// Which orders count.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    RealTime,
    Program,
}

/// Whether some order of all operations with a return, and of some without, is allowed. By definition: no memory, no shortcuts.
pub(crate) fn has_order<S: Specification>(spec: &S, history: &History, order: Order) -> bool {
    let ops: Vec<S::Op> = history.ops().iter().map(|op| spec.decode(&op.method, &op.args).unwrap()).collect();
    let mut left: Vec<usize> = (0..ops.len()).collect();
    extend(spec, history, &ops, &spec.initial(), &mut left, order)
}

fn extend<S: Specification>(
    spec: &S,
    history: &History,
    ops: &[S::Op],
    state: &S::State,
    left: &mut Vec<usize>,
    order: Order,
) -> bool {
    if left.iter().all(|op| history.ops()[*op].returned.is_none()) {
        return true;
    }
    for at in 0..left.len() {
        let op = left[at];
        let must_wait = |before: &&usize| match order {
            Order::RealTime => history.precedes(**before, op),
            Order::Program => {
                history.ops()[**before].client == history.ops()[op].client
                    && history.call(**before) < history.call(op)
            }
        };
        if left.iter().any(|before| must_wait(&before)) {
            continue;
        }
        let results = match &history.ops()[op].returned {
            Some((_, ret)) => vec![ret.clone()],
            None => spec.returns(state, &ops[op]),
        };
        left.remove(at);
        for ret in results {
            let mut next = state.clone();
            if spec.apply(&mut next, &ops[op], &ret) != Outcome::Refused
                && extend(spec, history, ops, &next, left, order)
            {
                left.insert(at, op);
                return true;
            }
        }
        left.insert(at, op);
    }
    false
}

/// Whether an order explains a history: that it is one is checked step by step.
pub(crate) fn explains<S: Specification>(spec: &S, history: &History, order: &[usize]) -> bool {
    let mut state = spec.initial();
    for (nth, &op) in order.iter().enumerate() {
        if order[..nth].iter().any(|before| history.precedes(op, *before) || *before == op) {
            return false;
        }
        let operation = &history.ops()[op];
        let meaning = spec.decode(&operation.method, &operation.args).unwrap();
        let results = match &operation.returned {
            Some((_, ret)) => vec![ret.clone()],
            None => spec.returns(&state, &meaning),
        };
        let next = results.iter().find_map(|ret| {
            let mut next = state.clone();
            let outcome = spec.apply(&mut next, &meaning, ret);
            (outcome == Outcome::Changed || (outcome == Outcome::Unchanged && operation.returned.is_some()))
                .then_some(next)
        });
        match next {
            Some(next) => state = next,
            None => return false,
        }
    }
    (0..history.ops().len()).all(|op| history.ops()[op].returned.is_none() || order.contains(&op))
}

/// A call: a method and its arguments.
pub(crate) type Call = (&'static str, Vec<Value>);

/// How random histories are made.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) clients: usize,
    pub(crate) ops: usize,
    /// How often a result is another than that of the run, in percent.
    pub(crate) wrong: u32,
    /// How often a client's last operation does not return, in percent.
    pub(crate) pending: u32,
}

/// A random run of an atomic object with calls as `call` makes them, some of the results of which are changed to those of other moments, or of
/// other operations.
pub(crate) fn random_history<S: Specification>(
    spec: &S,
    random: &mut Random,
    shape: Shape,
    mut call: impl FnMut(&mut Random) -> Call,
) -> History {
    struct Open {
        place: usize,
        ret: Option<Value>,
    }
    let mut ops: Vec<Operation> = Vec::new();
    let mut open: Vec<Option<Open>> = (0..shape.clients).map(|_| None).collect();
    let mut states = vec![spec.initial()];
    // What an operation may give back that has no such result in any state.
    let mut results_so_far = vec![Value::from("ok"), Value::from("empty"), Value::Bool(true), Value::Int(1)];
    let mut now = 0;
    while ops.len() < shape.ops || open.iter().any(Option::is_some) {
        now += 1;
        let client = random.below(shape.clients);
        match &mut open[client] {
            None if ops.len() < shape.ops => {
                let (method, args) = call(random);
                open[client] = Some(Open { place: ops.len(), ret: None });
                ops.push(Operation {
                    client: client.to_string().into(),
                    method: method.into(),
                    args,
                    call: now,
                    returned: None,
                });
            }
            None => {}
            Some(under_way) => {
                let op = &mut ops[under_way.place];
                let meaning = spec.decode(&op.method, &op.args).unwrap();
                let state = states.last().unwrap().clone();
                match under_way.ret.take() {
                    None => {
                        let from = if random.percent(shape.wrong) {
                            &states[random.below(states.len())]
                        } else {
                            &state
                        };
                        let results = spec.returns(from, &meaning);
                        let other = random.below(results_so_far.len());
                        let ret = match &results[..] {
                            // Any result at all, as some operation had it.
                            _ if random.percent(shape.wrong / 4) => results_so_far[other].clone(),
                            // It has to wait, for ever.
                            [] => {
                                open[client] = None;
                                continue;
                            }
                            results => results[random.below(results.len())].clone(),
                        };
                        results_so_far.push(ret.clone());
                        let mut next = state.clone();
                        spec.apply(&mut next, &meaning, &ret);
                        states.push(next);
                        under_way.ret = Some(ret);
                    }
                    Some(ret) => {
                        // Of some nobody hears again; another client takes the place.
                        if !random.percent(shape.pending) {
                            op.returned = Some((now, ret));
                        }
                        open[client] = None;
                    }
                }
            }
        }
    }
    History::new(renamed(ops)).unwrap()
}

/// Clients by the operations that follow each other: after an operation that does not return there is none.
fn renamed(mut ops: Vec<Operation>) -> Vec<Operation> {
    let mut ends: Vec<Option<i64>> = Vec::new();
    for op in &mut ops {
        let end = op.returned.as_ref().map(|(at, _)| *at);
        let client = ends.iter().position(|last| last.is_some_and(|last| last < op.call));
        let client = client.unwrap_or_else(|| {
            ends.push(None);
            ends.len() - 1
        });
        ends[client] = end;
        op.client = client.to_string().into();
    }
    ops
}
