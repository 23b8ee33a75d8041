//! Every procedure against the definition, on very many random tiny histories.

#![allow(clippy::unwrap_used)]

mod support;

use foresee_oracle::{Random, for_each_seed};
use foresee_refine::linear::{Limits, Verdict, check, check_by_search, check_sequential, explain};
use foresee_refine::models::{
    Channel, Counter, Dictionary, Kv, Multiset, PriorityQueue, Queue, Register, Set, Stack,
};
use foresee_refine::spec::Specification;
use foresee_refine::{History, Value};
use support::{Call, Order, Shape, explains, has_order, random_history};

/// Makes the next call.
type Calls = Box<dyn FnMut(&mut Random) -> Call>;

/// Checks random histories of a specification by all means there are. Both verdicts must be frequent, or the test says little.
fn agrees<S: Specification>(spec: &S, seeds: u64, calls: &dyn Fn(bool) -> Calls) {
    let mut verdicts = [0, 0];
    for_each_seed(seeds, |seed| {
        let mut random = Random::new(seed);
        let shape = Shape {
            clients: 1 + random.below(4),
            ops: 2 + random.below(5),
            wrong: [0, 15, 40][random.below(3)],
            pending: [0, 0, 15, 40][random.below(4)],
        };
        let distinct = random.percent(70);
        let history = random_history(spec, &mut random, shape, calls(distinct));
        let truth = has_order(spec, &history, Order::RealTime);
        verdicts[usize::from(truth)] += 1;
        let show = || {
            history
                .ops()
                .iter()
                .map(|op| format!("{} {op} {}-{:?}", op.client, op.call, op.returned))
                .collect::<Vec<_>>()
        };
        let fastest = check(spec, &history, Limits::default()).unwrap();
        assert_eq!(fastest.is_linearizable(), Some(truth), "{:#?}", show());
        let searched = check_by_search(spec, &history, Limits::default()).unwrap();
        assert_eq!(searched.is_linearizable(), Some(truth), "by search: {:#?}", show());
        if let Verdict::Linearizable { order: Some(order) } = searched {
            assert!(explains(spec, &history, &order), "{order:?} of {:#?}", show());
        }
        if let Verdict::Violation(violation) = fastest {
            let told = explain(spec, &history, &violation, Limits::default()).unwrap();
            let first = told.first.unwrap();
            assert!(has_order(spec, &history.prefix(first), Order::RealTime), "{:#?}", show());
            assert!(!has_order(spec, &history.prefix(first + 1), Order::RealTime), "{:#?}", show());
            let minimal = history.only(|op| told.minimal.contains(&op));
            assert!(!has_order(spec, &minimal, Order::RealTime), "{:#?}", show());
        }
        if seed % 4 == 0 {
            let sequential = check_sequential(spec, &history, Limits::default()).unwrap();
            assert_eq!(
                sequential.is_linearizable(),
                Some(has_order(spec, &history, Order::Program)),
                "{:#?}",
                show()
            );
        }
    });
    if seeds >= 20_000 && std::env::var_os("FORESEE_TEST_SEED").is_none() {
        assert!(verdicts.iter().all(|count| *count > 250), "{verdicts:?}");
    }
}

const SEEDS: u64 = 24_000;

/// Values from a few, or each another.
fn values(distinct: bool) -> impl FnMut(&mut Random) -> Value {
    let mut fresh: Vec<i64> = (1..40).collect();
    move |random| {
        if distinct { Value::Int(fresh.swap_remove(random.below(8))) } else { Value::from(random.below(3)) }
    }
}

fn line(put: &'static str, take: &'static str) -> impl Fn(bool) -> Calls {
    move |distinct| {
        let mut values = values(distinct);
        Box::new(move |random| if random.percent(50) { (put, vec![values(random)]) } else { (take, vec![]) })
    }
}

#[test]
fn queues() {
    agrees(&Queue, SEEDS, &line("enq", "deq"));
}

#[test]
fn stacks() {
    agrees(&Stack, SEEDS, &line("push", "pop"));
}

#[test]
fn priority_queues() {
    agrees(&PriorityQueue, SEEDS, &|distinct| {
        let mut values = values(distinct);
        Box::new(move |random| match random.below(5) {
            0 | 1 => ("insert", vec![values(random)]),
            2 | 3 => ("delete_min", vec![]),
            _ => ("peek_min", vec![]),
        })
    });
}

#[test]
fn sets() {
    agrees(&Set, SEEDS, &|_| {
        Box::new(|random| {
            let method = random.pick(&["add", "remove", "contains"]).unwrap();
            (method, vec![Value::from(random.below(2))])
        })
    });
}

#[test]
fn registers() {
    agrees(&Register { initial: Value::Int(0) }, SEEDS, &|distinct| {
        let mut values = values(distinct);
        Box::new(move |random| match random.below(5) {
            0 | 1 => ("write", vec![values(random)]),
            4 if !distinct => ("cas", vec![values(random), values(random)]),
            _ => ("read", vec![]),
        })
    });
}

#[test]
fn counters() {
    agrees(&Counter, SEEDS, &|_| {
        Box::new(|random| match random.below(4) {
            0 => ("inc", vec![]),
            1 => ("dec", vec![]),
            2 => ("fetch_add", vec![Value::from(random.below(3))]),
            _ => ("get", vec![]),
        })
    });
}

#[test]
fn multisets() {
    agrees(&Multiset, SEEDS, &|_| {
        Box::new(|random| {
            let mut value = || Value::from(random.below(2));
            let (x, y) = (value(), value());
            match random.below(8) {
                0 => ("insert", vec![x]),
                1 => ("insertPair", vec![x, y]),
                2..5 => ("delete", vec![x]),
                _ => ("lookup", vec![x]),
            }
        })
    });
}

#[test]
fn maps() {
    agrees(&Kv, SEEDS, &|_| {
        Box::new(|random| {
            let key = Value::from(random.below(2));
            let text = Value::from(random.pick(&["a", "b"]).unwrap());
            match random.below(4) {
                0 => ("put", vec![key, text]),
                1 => ("append", vec![key, text]),
                _ => ("get", vec![key]),
            }
        })
    });
}

#[test]
fn dictionaries() {
    agrees(&Dictionary, SEEDS, &|_| {
        Box::new(|random| {
            let (key, value) = (Value::from(random.below(2)), Value::from(random.below(3)));
            match random.below(10) {
                9 => ("discard", vec![key]),
                0 => ("insert", vec![key, value]),
                1 => ("put", vec![key, value]),
                2 => ("add", vec![key, value]),
                3 => ("get_or_insert", vec![key, value]),
                4 | 5 => ("remove", vec![key]),
                6 | 7 => ("get", vec![key]),
                _ => ("contains", vec![key]),
            }
        })
    });
}

#[test]
fn channels() {
    for capacity in [None, Some(1), Some(2)] {
        agrees(&Channel { capacity }, SEEDS / 2, &|distinct| {
            let mut values = values(distinct);
            Box::new(move |random| match random.below(14) {
                0 => ("close", vec![]),
                1..7 => ("send", vec![values(random)]),
                7 => ("send_waiting", vec![values(random)]),
                8 | 9 => ("recv_waiting", vec![]),
                _ => ("recv", vec![]),
            })
        });
    }
}

#[test]
fn who_waits_for_a_value_never_finds_a_channel_empty() {
    let operation = |client: &str, method: &str, args: Vec<Value>, call, end, ret: Value| {
        let (client, method) = (client.into(), method.into());
        foresee_refine::Operation { client, method, args, call, returned: Some((end, ret)) }
    };
    let check = |ops| {
        let history = History::new(ops).unwrap();
        check(&Channel::default(), &history, Limits::default()).unwrap().is_linearizable()
    };
    let empty = |method| operation("a", method, vec![], 1, 3, "empty".into());
    let send = operation("b", "send", vec![Value::Int(1)], 2, 4, "ok".into());
    assert_eq!(check(vec![empty("recv_waiting")]), Some(false));
    assert_eq!(check(vec![empty("recv_waiting"), send.clone()]), Some(false));
    assert_eq!(check(vec![empty("recv"), send]), Some(true));
}

/// What happened before the object was empty again is not shown.
#[test]
fn what_is_settled_is_left_out() {
    let mut ops = Vec::new();
    let mut add = |client: &str, method: &str, args: &[i64], call: i64, end: i64, ret: Value| {
        ops.push(foresee_refine::Operation {
            client: client.into(),
            method: method.into(),
            args: args.iter().copied().map(Value::from).collect(),
            call,
            returned: Some((end, ret)),
        });
    };
    for round in 0..50 {
        add("a", "insert", &[1, round], 10 * round, 10 * round + 2, Value::Null);
        add("b", "remove", &[1], 10 * round + 3, 10 * round + 5, Value::Int(round));
    }
    add("a", "insert", &[1, 7], 1000, 1001, Value::Null);
    add("a", "remove", &[1], 1002, 1005, Value::Int(7));
    add("b", "remove", &[1], 1003, 1004, Value::Int(7));
    let history = History::new(ops).unwrap();
    let Verdict::Violation(wrong) = check(&Dictionary, &history, Limits::default()).unwrap() else {
        panic!("removed twice");
    };
    let told = explain(&Dictionary, &history, &wrong, Limits::default()).unwrap();
    assert_eq!(told.minimal, [100, 101, 102]);
}

/// A method, its argument, when it was called and returned, and what it gave back.
type Told<'a> = (&'a str, Option<i64>, i64, i64, Option<Value>);

/// The smallest part of a history of operations with a method, an argument, a call, a return, and a result if there is one.
fn minimal<S: Specification>(spec: &S, ops: &[Told<'_>]) -> Vec<usize> {
    let operation = |(nth, (method, arg, call, end, ret)): (usize, &Told<'_>)| foresee_refine::Operation {
        client: nth.to_string().into(),
        method: (*method).into(),
        args: arg.iter().copied().map(Value::from).collect(),
        call: *call,
        returned: ret.clone().map(|ret| (*end, ret)),
    };
    let history = History::new(ops.iter().enumerate().map(operation).collect()).unwrap();
    let Verdict::Violation(wrong) = check(spec, &history, Limits::default()).unwrap() else {
        panic!("a violation is expected of {ops:?}");
    };
    explain(spec, &history, &wrong, Limits::default()).unwrap().minimal
}

/// What does not matter is not shown; what could explain an operation but for the others is.
#[test]
fn the_smallest_part_has_nothing_in_it_that_does_not_matter() {
    let ok = || Some(Value::from("ok"));
    let empty = || Some(Value::from("empty"));
    let int = |value: i64| Some(Value::Int(value));
    let register = Register { initial: Value::Int(0) };
    // Nobody wrote 3, whatever else was written.
    let read = ("read", None, 7, 8, int(3));
    assert_eq!(minimal(&register, &[("write", Some(2), 3, 5, ok()), read.clone()]), [1]);
    assert_eq!(minimal(&register, &[("write", Some(2), 3, 0, None), read]), [1]);
    // The other value came too late to matter.
    let enq = ("enq", Some(0), 2, 5, ok());
    let late = ("enq", Some(0), 9, 15, ok());
    assert_eq!(minimal(&Queue, &[enq.clone(), ("deq", None, 8, 11, empty()), late]), [0, 1]);
    // An operation that returns later, or never, and does not help.
    let pop = ("pop", None, 3, 4, int(4));
    assert_eq!(minimal(&Stack, &[("pop", None, 0, 0, None), pop.clone()]), [1]);
    assert_eq!(minimal(&Stack, &[("pop", None, 0, 9, empty()), pop]), [1]);
    let peek = ("peek_min", None, 4, 13, int(1));
    assert_eq!(minimal(&PriorityQueue, &[("delete_min", None, 2, 14, empty()), peek]), [1]);
    // No number of these adds up to it.
    let add = ("fetch_add", Some(2), 4, 5, int(-2));
    assert_eq!(minimal(&Counter, &[("inc", None, 0, 1, ok()), ("inc", None, 2, 3, ok()), add]), [2]);
    // But the only one who put the value that was taken twice is shown, or either would look wrong alone.
    let deq = |call| ("deq", None, call, call + 3, int(0));
    assert_eq!(minimal(&Queue, &[("enq", Some(0), 1, 2, ok()), deq(7), deq(9)]), [0, 1, 2]);
    let (smaller, larger) = (("insert", Some(2), 0, 4, ok()), ("insert", Some(3), 8, 9, ok()));
    assert_eq!(minimal(&PriorityQueue, &[smaller, larger, ("peek_min", None, 7, 11, int(3))]), [0, 1, 2]);
}

/// Values that cannot have been there, in histories whose orders nobody could try: all operations that put something overlap, and put few values again and
/// again.
#[test]
fn values_from_nowhere_need_no_search() {
    fn why<S: Specification>(
        spec: &S,
        method: &str,
        others: &[(&str, Value, Value)],
    ) -> Option<&'static str> {
        let operation = |client: usize, method: &str, args: Vec<Value>, call: i64, end: i64, ret: Value| {
            let (client, method) = (client.to_string().into(), method.into());
            foresee_refine::Operation { client, method, args, call, returned: Some((end, ret)) }
        };
        let ok = spec.returns(&spec.initial(), &spec.decode(method, &[Value::Int(1)]).unwrap());
        let mut ops: Vec<_> = (0..60_i64)
            .map(|nth| {
                let args = vec![Value::Int(1 + nth % 6)];
                operation(nth as usize, method, args, nth, 1_000 + nth, ok[0].clone())
            })
            .collect();
        for (nth, (method, arg, ret)) in others.iter().enumerate() {
            let (args, now) = (vec![arg.clone()], 2_000 + 2 * nth as i64);
            let args = args.into_iter().filter(|arg| *arg != Value::Null).collect();
            ops.push(operation(100 + nth, method, args, now, now + 1, ret.clone()));
        }
        let limits = Limits { memory: 1 << 16, ..Limits::default() };
        match check(spec, &History::new(ops).unwrap(), limits).unwrap() {
            Verdict::Violation(violation) => Some(violation.cause.unwrap().1),
            _ => None,
        }
    }
    let nobody = Some("nobody put this value");
    let none = Value::Null;
    assert_eq!(why(&Queue, "enq", &[("deq", none.clone(), Value::Int(7))]), nobody);
    assert_eq!(why(&Stack, "push", &[("pop", none.clone(), Value::Int(7))]), nobody);
    assert_eq!(why(&PriorityQueue, "insert", &[("delete_min", none.clone(), Value::Int(0))]), nobody);
    assert_eq!(why(&PriorityQueue, "insert", &[("peek_min", none.clone(), Value::Int(0))]), nobody);
    let register = Register { initial: Value::Int(0) };
    assert_eq!(why(&register, "write", &[("read", none.clone(), Value::Int(7))]), nobody);
    // Each was put ten times.
    let takes = vec![("deq", none.clone(), Value::Int(3)); 11];
    assert_eq!(why(&Queue, "enq", &takes), Some("the value was taken more often than it was put"));
    let takes = [("remove", Value::Int(3), true.into()), ("remove", Value::Int(9), true.into())];
    assert_eq!(why(&Set, "add", &takes), nobody);
    // What a register had at the beginning was put by nobody, and can be read: not here, so long after.
    assert_eq!(why(&register, "write", &[("read", none, Value::Int(0))]), None);
}

#[test]
fn equal_operations_are_one_choice() {
    let operation = |client: i64, method: &str, value: Option<i64>, call: i64, end: i64, ret: Value| {
        let args = value.into_iter().map(Value::Int).collect();
        let (client, method) = (client.to_string().into(), method.into());
        foresee_refine::Operation { client, method, args, call, returned: Some((end, ret)) }
    };
    // Forty clients write three values at the same time, again and again; the last who reads finds the initial one.
    let mut ops = Vec::new();
    for round in 0..20 {
        for client in 0..40 {
            let (call, value) = (100 * round + client, 1 + (client + round) % 3);
            ops.push(operation(client, "write", Some(value), call, call + 45, "ok".into()));
        }
    }
    ops.push(operation(99, "read", None, 5_000, 5_001, Value::Int(0)));
    let history = History::new(ops).unwrap();
    let limits = Limits { memory: 1 << 26, ..Limits::default() };
    let verdict = check(&Register { initial: Value::Int(0) }, &history, limits).unwrap();
    assert_eq!(verdict.is_linearizable(), Some(false));
}

#[test]
fn a_hard_history_is_undecided_within_its_memory() {
    // Forty appends at the same time, and a text that none of their orders gives.
    let operation =
        |client: i64, method: &str, args: Vec<Value>, ret: &str, call| foresee_refine::Operation {
            client: client.to_string().into(),
            method: method.into(),
            args,
            call,
            returned: Some((call + 1000, Value::from(ret))),
        };
    let mut ops: Vec<_> = (0..40)
        .map(|nth| {
            operation(nth, "append", vec![Value::from("k"), Value::from(format!("{nth},"))], "ok", nth)
        })
        .collect();
    ops.push(operation(99, "get", vec![Value::from("k")], "none of them", 5000));
    let history = History::new(ops).unwrap();
    let limits = Limits { memory: 1 << 22, ..Limits::default() };
    assert_eq!(check(&Kv, &history, limits).unwrap().is_linearizable(), None);
}
