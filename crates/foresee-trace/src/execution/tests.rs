//! The fast tables against the definition: variables are equal byte ranges in the same life, and cells intersect exactly
//! where bytes do.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;
use crate::text::TextReader;

/// Addresses around a few bases: the beginning and the end of memory, and pages that large blocks cover.
fn memory() -> impl Strategy<Value = Mem> {
    let base = prop_oneof![Just(0), Just(0x1000), Just(0x10_0000), Just(u64::MAX - 600)];
    let size = prop_oneof![4 => 1..=16u32, 2 => 17..=80u32, 1 => 200..=2000u32];
    (base, 0..600u64, size).prop_map(|(base, offset, size)| {
        let addr = base + offset;
        let room = u32::try_from(u128::from(u64::MAX) + 1 - u128::from(addr)).unwrap_or(u32::MAX);
        Mem { addr, size: size.min(room) }
    })
}

/// Whether it allocates, which memory, and who does it.
fn operations() -> impl Strategy<Value = Vec<(bool, Mem, u32)>> {
    let thread = prop_oneof![20 => Just(0_u32), 1 => 1..3_u32];
    proptest::collection::vec((proptest::bool::weighted(0.2), memory(), thread), 1..120)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn variables_and_cells_are_what_they_are_defined_to_be(operations in operations()) {
        let mut builder = ExecutionBuilder::default();
        let mut lives: HashMap<u64, u32> = HashMap::new();
        let (mut life, mut expected) = (0, Vec::new());
        for &(alloc, mem, thread) in &operations {
            let op = if alloc { Op::Alloc { mem } } else { Op::Read { mem, value: None } };
            builder.push(&Event { thread: ThreadId(thread), loc: LocId::UNKNOWN, op }).unwrap();
            if alloc {
                life += 1;
                lives.extend((0..u64::from(mem.size)).map(|byte| (mem.addr + byte, life)));
            }
            expected.push((mem, lives.get(&mem.addr).copied().unwrap_or(0)));
        }
        let execution = builder.finish(Names::new());
        let variable = |nth: usize| VarId(execution.events[nth].target);
        for (a, &(mem, life)) in expected.iter().enumerate() {
            prop_assert_eq!(execution.mem(variable(a)), mem);
            let cells = execution.cells(variable(a));
            prop_assert!(!cells.is_empty() && cells.end as usize <= execution.cell_count());
            for (b, other) in expected.iter().enumerate() {
                prop_assert_eq!(variable(a) == variable(b), (mem, life) == *other, "{} {}", a, b);
                let overlap = life == other.1 && mem.overlaps(other.0);
                prop_assert_eq!(execution.overlap(variable(a), variable(b)), overlap, "{} {}", a, b);
            }
            let (allocates, _, thread) = operations[a];
            let others = operations.iter().zip(&expected).filter(|((allocates, _, other), _)| !allocates && *other != thread);
            let is_private = !others.into_iter().any(|(_, other)| life == other.1 && mem.overlaps(other.0));
            prop_assert_eq!(execution.is_private(EventId(a as u32)), !allocates && is_private, "{}", a);
        }
    }
}

#[test]
fn memory_used_again_and_again_stays_cheap() {
    let mut builder = ExecutionBuilder::default();
    let mut push = |op| builder.push(&Event { thread: ThreadId(0), loc: LocId::UNKNOWN, op }).unwrap();
    for _ in 0..100_000 {
        push(Op::Alloc { mem: Mem { addr: 0x1004, size: 4 } });
        push(Op::Write { mem: Mem { addr: 0x1004, size: 1 }, value: None });
        push(Op::Write { mem: Mem { addr: 0x1000, size: 1 }, value: None });
    }
    let execution = builder.finish(Names::new());
    assert_eq!(execution.var_count(), 200_001);
}

#[test]
fn what_one_thread_alone_accesses_is_private() {
    let text = "A|w(x)\nA|w(y)\nA|fork(B)\nB|r(x)\nB|enter(f)\nB|w(z)\nA|r(y)\nA|acq(l)\n";
    let execution = Execution::read(&mut TextReader::new(text.as_bytes())).unwrap();
    let private: Vec<bool> = execution.ids().map(|id| execution.is_private(id)).collect();
    assert_eq!(private, [false, true, false, false, true, true, true, false]);
}
