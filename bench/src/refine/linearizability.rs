//! Linearizability: histories of others, long ones, and hard ones.

use std::path::Path;
use std::time::Instant;

use foresee_refine::linear::{self, Limits, Verdict};
use foresee_refine::models::{Kv, PriorityQueue, Queue, Register, Set, Stack};
use foresee_refine::named::{self, Consistency};
use foresee_refine::read::{Subject, read};
use foresee_refine::spec::{Outcome, Specification, Viewed, WrongCall};
use foresee_refine::{History, Operation, Value};

pub(super) fn run(operations: usize) {
    hard_histories();
    histories();
    long_histories(operations);
}

/// Histories of etcd and of a key-value store: reading is not counted, as in the figures of the other tool.
fn histories() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/foresee-refine/tests/data/histories");
    println!("\nlinearizability         files   in all    worst");
    let (etcd, kv) = (folder.join("etcd"), folder.join("kv"));
    for (name, folder) in [("etcd (register)", &etcd), ("kv, partitioned", &kv), ("kv, as a whole", &kv)] {
        let (mut count, mut all, mut worst) = (0, 0.0, 0.0_f64);
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        for file in files {
            let cases = read(&std::fs::read(file.path()).unwrap_or_default(), None).unwrap_or_default();
            for case in cases {
                let Subject::History { model, initial, history } = &case.subject else { continue };
                let start = Instant::now();
                let verdict = match name {
                    "kv, as a whole" => linear::check(&Whole(Kv), history, Limits::default()),
                    _ => named::check(*model, initial, history, Consistency::Linearizable, Limits::default()),
                };
                let seconds = start.elapsed().as_secs_f64();
                assert!(verdict.is_ok_and(|verdict| verdict.is_linearizable().is_some()));
                (count, all, worst) = (count + 1, all + seconds, worst.max(seconds));
            }
        }
        println!("{name:<20} {count:>8} {:>6.1} ms {:>5.2} ms", 1e3 * all, 1e3 * worst);
    }
    println!(
        "Porcupine: 600 ms for 102 etcd histories, the worst 180 ms; 240 ms for a kv history of 50 clients, partitioned; 2 to 4 s for one of 10 clients as a whole"
    );
}

/// A specification that says nothing of independent keys.
struct Whole<S>(S);

impl<S: Specification> Specification for Whole<S> {
    type Op = S::Op;
    type State = S::State;

    fn decode(&self, method: &str, args: &[Value]) -> Result<S::Op, WrongCall> {
        self.0.decode(method, args)
    }

    fn initial(&self) -> S::State {
        self.0.initial()
    }

    fn is_observer(&self, op: &S::Op) -> bool {
        self.0.is_observer(op)
    }

    fn apply(&self, state: &mut S::State, op: &S::Op, ret: &Value) -> Outcome {
        self.0.apply(state, op, ret)
    }

    fn returns(&self, state: &S::State, op: &S::Op) -> Vec<Value> {
        self.0.returns(state, op)
    }

    fn weight(&self, state: &S::State) -> usize {
        self.0.weight(state)
    }
}

/// Histories of atomic objects that eight clients use, with distinct values.
fn long_histories(operations: usize) {
    println!("\n{operations} operations, distinct values        seconds");
    long(&Queue, "queue", "enq", "deq", operations);
    long(&Stack, "stack", "push", "pop", operations);
    long(&PriorityQueue, "pqueue", "insert", "delete_min", operations);
    long(&Set, "set", "add", "remove", operations);
}

fn long<S: Viewed>(spec: &S, name: &str, put: &str, take: &str, operations: usize) {
    let history = overlapping(spec, name, put, take, operations);
    let start = Instant::now();
    let verdict = linear::check(spec, &history, Limits::default());
    let seconds = start.elapsed().as_secs_f64();
    assert!(verdict.is_ok_and(|verdict| verdict.is_linearizable() == Some(true)));
    println!("{name:<20} {seconds:>28.2}");
}

/// Each operation takes effect at one moment, and is called a little before and returns a little after it.
fn overlapping<S: Viewed>(spec: &S, name: &str, put: &str, take: &str, operations: usize) -> History {
    let clients = 8;
    let mut state = spec.initial();
    let mut random = 1_u64;
    let mut ops = Vec::with_capacity(operations);
    let mut inside = Vec::new();
    for nth in 0..operations {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bits = (random >> 33) as i64;
        let puts = bits % 100 < 55 || (name == "set" && inside.is_empty());
        let (method, args) = match (puts, name) {
            (true, _) => {
                let value = Value::Int(bits.wrapping_mul(operations as i64 * 2) + nth as i64);
                inside.push(value.clone());
                (put, vec![value])
            }
            (false, "set") => (take, vec![inside.swap_remove(bits as usize % inside.len())]),
            (false, _) => (take, Vec::new()),
        };
        let ret = spec.decode(method, &args).ok().and_then(|op| {
            let ret = spec.returns(&state, &op).into_iter().next()?;
            spec.apply(&mut state, &op, &ret);
            Some(ret)
        });
        // Clients take turns; an operation spans less than a round of all of them. The low digits keep moments apart.
        let (now, spread) = (nth as i64 * 1_000, (clients - 1) * 1_000);
        let (before, after) = (bits % (spread / 2), (bits >> 8) % (spread / 2));
        let moment = |time: i64, last: i64| time * 2 * operations as i64 + 2 * nth as i64 + last;
        ops.push(Operation {
            client: (nth % clients as usize).to_string().into(),
            method: method.into(),
            args,
            call: moment(now - before, 0),
            returned: Some((moment(now + after, 1), ret.unwrap_or_default())),
        });
    }
    History::new(ops).unwrap_or_default()
}

/// Many clients write to a register at the same time, and all results are right but the last one, which is the initial value again: every order
/// has to be ruled out. With a limit of memory the answer may be that it is not known.
fn hard_histories() {
    println!("hard histories, 256 MiB            operations   seconds   verdict");
    for clients in [4, 8, 12, 16] {
        let history = contended(clients, 60);
        let start = Instant::now();
        let limits = Limits { memory: 1 << 28, deadline: None };
        let verdict = linear::check_by_search(&Register { initial: Value::Int(0) }, &history, limits);
        let said = match verdict {
            Ok(Verdict::Linearizable { .. }) => "linearizable",
            Ok(Verdict::Violation(_)) => "not linearizable",
            Ok(Verdict::Undecided(_)) => "undecided",
            Err(_) => "not a history of a register",
        };
        let seconds = start.elapsed().as_secs_f64();
        println!("{clients:>3} clients, one register {:>18} {seconds:>9.2}   {said}", history.ops().len());
    }
    println!("(most memory of this process so far: {} MiB)", crate::peak_memory() >> 10);
}

/// Rounds in which all clients write values of their own at the same time; then somebody reads what was there before them.
fn contended(clients: usize, rounds: usize) -> History {
    let mut ops = Vec::new();
    let mut now = 0;
    for _ in 0..rounds {
        for client in 0..clients {
            let value = Value::from(1 + client);
            ops.push(Operation {
                client: client.to_string().into(),
                method: "write".into(),
                args: vec![value],
                call: now + client as i64,
                returned: Some((now + (2 * clients - client) as i64, Value::from("ok"))),
            });
        }
        now += 4 * clients as i64;
    }
    let read = |value: i64| Operation {
        client: "reader".into(),
        method: "read".into(),
        args: Vec::new(),
        call: now,
        returned: Some((now + 1, Value::Int(value))),
    };
    ops.push(read(0));
    History::new(ops).unwrap_or_default()
}
