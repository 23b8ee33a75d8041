//! Sequential consistency: some order that the specification allows and that keeps the order of each client; time does not count.
//!
//! It is not local: the parts of an object may each have such an order, and the whole has none. So the history is searched as a whole,
//! depth first over how far each client is, with every state that was met remembered. What changes no state is done at once, as in the search for
//! a linearization, and for the same reason.

use rustc_hash::FxHashSet;

use super::budget::{Budget, Exhausted, Limits};
use super::input::Input;
use super::states::{StateId, States};
use super::{Verdict, Violation};
use crate::history::History;
use crate::spec::{Specification, WrongCall};

/// How far each client is, and the state.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Node {
    at: Box<[u32]>,
    state: StateId,
}

struct Frame {
    node: Node,
    order: usize,
    moves: Vec<(usize, StateId)>,
}

/// Decides whether a history is sequentially consistent.
pub fn check_sequential<S: Specification>(
    spec: &S,
    history: &History,
    limits: Limits,
) -> Result<Verdict, WrongCall> {
    let input = Input::new(spec, history)?;
    Ok(match search(&input, &mut Budget::new(limits)) {
        Ok(Some(order)) => Verdict::Linearizable { order: Some(order) },
        Ok(None) => Verdict::Violation(Violation { stuck: None, cause: None }),
        Err(exhausted) => Verdict::Undecided(exhausted),
    })
}

fn search<S: Specification>(
    input: &Input<'_, S>,
    budget: &mut Budget,
) -> Result<Option<Vec<usize>>, Exhausted> {
    let all: Vec<usize> = (0..input.ops.len()).collect();
    let clients = input.history.by_client();
    let mut states = States::new(input, &all);
    let mut met: FxHashSet<Node> = FxHashSet::default();
    let (mut order, mut stack): (Vec<usize>, Vec<Frame>) = (Vec::new(), Vec::new());
    let mut node = Node { at: vec![0; clients.len()].into(), state: 0 };
    loop {
        let mut moves = Vec::new();
        let mut is_done = true;
        let mut client = 0;
        while client < clients.len() {
            let Some(&op) = clients[client].get(node.at[client] as usize) else {
                client += 1;
                continue;
            };
            is_done &= input.is_pending(op);
            let kind = states.kind(op);
            let steps = states.steps(node.state, kind, budget)?;
            let is_pure = input.ret(op).is_some_and(|ret| input.spec.is_pure(&input.ops[op], ret));
            if is_pure && !steps.is_empty() {
                node.at[client] += 1;
                order.push(op);
                // The client's next operation may be of that kind too.
                (is_done, client) = (true, 0);
                moves.clear();
                continue;
            }
            moves.extend(steps.iter().map(|to| (client, *to)));
            client += 1;
        }
        if is_done {
            return Ok(Some(order));
        }
        let bytes = 96 + 4 * clients.len();
        if !moves.is_empty() && met.insert(node.clone()) {
            budget.spend(2 * bytes)?;
            stack.push(Frame { node, order: order.len(), moves });
        }
        loop {
            let Some(top) = stack.last_mut() else { return Ok(None) };
            let Some((client, to)) = top.moves.pop() else {
                stack.pop();
                continue;
            };
            node = top.node.clone();
            order.truncate(top.order);
            order.push(clients[client][node.at[client] as usize]);
            node.at[client] += 1;
            node.state = to;
            break;
        }
    }
}
