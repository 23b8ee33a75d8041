//! Linearizability of histories that others have measured, of long ones with distinct values, and the paper's table of how early refinement
//! checking finds bugs.

#[path = "../../examples/refine/subjects/mod.rs"]
mod subjects;

use std::path::Path;
use std::time::Instant;

use foresee::refine::{Harness, Judgement, Mode};
use foresee_refine::linear::{self, Limits};
use foresee_refine::models::{PriorityQueue, Queue, Set, Stack};
use foresee_refine::named::{self, Consistency};
use foresee_refine::read::{Subject, read};
use foresee_refine::spec::Viewed;
use foresee_refine::{History, Operation, Value};
use subjects::SUBJECTS;

pub(crate) fn run(operations: usize, runs: u64) {
    histories();
    long_histories(operations);
    detection(runs);
}

/// Histories of etcd and of a key-value store: reading is not counted, as in the figures of the other tool.
fn histories() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/foresee-refine/tests/data/histories");
    println!("linearizability         files   in all    worst");
    for (name, folder) in [("etcd (register)", folder.join("etcd")), ("kv, partitioned", folder.join("kv"))] {
        let (mut count, mut all, mut worst) = (0, 0.0, 0.0_f64);
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        for file in files {
            let cases = read(&std::fs::read(file.path()).unwrap_or_default(), None).unwrap_or_default();
            for case in cases {
                let Subject::History { model, initial, history } = &case.subject else { continue };
                let start = Instant::now();
                let verdict =
                    named::check(*model, initial, history, Consistency::Linearizable, Limits::default());
                let seconds = start.elapsed().as_secs_f64();
                assert!(verdict.is_ok_and(|verdict| verdict.is_linearizable().is_some()));
                (count, all, worst) = (count + 1, all + seconds, worst.max(seconds));
            }
        }
        println!("{name:<20} {count:>8} {:>6.1} ms {:>5.2} ms", 1e3 * all, 1e3 * worst);
    }
    println!(
        "Porcupine: 600 ms for 102 etcd histories, the worst 180 ms; 240 ms for a kv history of 50 clients, partitioned"
    );
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

/// How many operations it takes to find each bug, by results and by views: the mean of runs that found it.
fn detection(runs: u64) {
    println!("\noperations until detection         threads   results     views   paper: results   views");
    for subject in &SUBJECTS {
        for threads in [4, 8, 16, 32] {
            let mean = |mode| {
                let (mut found, mut sum) = (0_u64, 0);
                for seed in 0..runs {
                    let harness = Harness {
                        threads,
                        operations: 4_000 / threads,
                        seed,
                        mode,
                        yields: 20,
                        ..Harness::default()
                    };
                    let Ok(report) = (subject.test)(&harness, true) else { continue };
                    if let Some(finding) = report.finding
                        && !matches!(finding.judgement, Judgement::CommitPoints { .. } | Judgement::Undecided)
                    {
                        found += 1;
                        sum += finding.after;
                    }
                }
                match found {
                    0 => "none".to_owned(),
                    _ => format!("{}/{found}", sum as u64 / found),
                }
            };
            let (io, view) = (mean(Mode::Io), mean(Mode::View));
            let (paper_io, paper_view) = paper(subject.name, threads);
            println!("{:<32} {threads:>8} {io:>10} {view:>9} {paper_io:>16} {paper_view:>7}", subject.name);
        }
    }
    println!("(mean/runs in which it was found, of {runs}; the paper ran on one processor of 2005)");
}

/// Table 1 of the paper.
fn paper(subject: &str, threads: usize) -> (u32, u32) {
    let column = match threads {
        4 => 0,
        8 => 1,
        16 => 2,
        _ => 3,
    };
    let figures = match subject {
        "multiset-vector" => [(1308, 25), (773, 21), (758, 10), (820, 6)],
        "multiset-tree" => [(3648, 736), (930, 217), (330, 76), (262, 78)],
        "vector" => [(219, 219), (58, 58), (52, 52), (25, 25)],
        "string-buffer" => [(195, 90), (152, 63), (124, 19), (29, 17)],
        "blink-tree" => [(4450, 483), (3332, 611), (1069, 301), (2111, 715)],
        _ => [(521, 14), (805, 8), (302, 29), (311, 34)],
    };
    figures[column]
}
