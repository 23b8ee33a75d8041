//! The program that is monitored: an optimiser of bytecode, as `bloat` of the DaCapo suite is one.
//!
//! It makes functions by seed, finds predecessors and dominators, computes which registers are live (to a fixed point, over sets), folds
//! constants, numbers values and throws away what nobody uses, all with collections and iterators over them.

use super::collections::{List, Probe, Table};

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Op {
    Load(i64),
    Add(u32, u32),
    Mul(u32, u32),
    Call(u32),
}

#[derive(Clone, Copy)]
struct Instruction {
    op: Op,
    to: u32,
}

struct Block<P: Probe> {
    code: List<Instruction, P>,
    next: List<usize, P>,
    before: List<usize, P>,
}

struct Function<P: Probe> {
    blocks: List<Block<P>, P>,
}

type Set<P> = Table<u32, (), P>;

/// Optimises so many functions; a number that depends on all that was done.
pub(crate) fn run<P: Probe>(functions: u64) -> u64 {
    (0..functions).map(|seed| optimised::<P>(seed + 1)).fold(0, u64::wrapping_add)
}

fn optimised<P: Probe>(seed: u64) -> u64 {
    let mut function = generated::<P>(seed);
    find_predecessors(&mut function);
    let folded = fold_constants(&mut function);
    let numbered = number_values(&mut function);
    let live = live_registers(&function);
    let removed = remove_dead(&mut function, &live);
    let dominated = dominators(&function);
    let left: usize = function.blocks.iter().map(|block| block.code.len()).sum();
    (folded * 7 + numbered * 11 + removed * 13 + dominated * 17 + left as u64).wrapping_mul(seed)
}

const REGISTERS: u64 = 48;

fn generated<P: Probe>(seed: u64) -> Function<P> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut below = |limit: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % limit
    };
    let count = 12 + below(20);
    let mut blocks = List::default();
    for at in 0..count {
        let mut code = List::default();
        for _ in 0..6 + below(20) {
            let (a, b, to) = (below(REGISTERS) as u32, below(REGISTERS) as u32, below(REGISTERS) as u32);
            let op = match below(8) {
                0..3 => Op::Load(below(5) as i64),
                3..5 => Op::Add(a, b),
                5..7 => Op::Mul(a, b),
                _ => Op::Call(a),
            };
            code.push(Instruction { op, to });
        }
        let mut next = List::default();
        if at + 1 < count {
            next.push(at as usize + 1);
        }
        if below(2) == 0 {
            next.push(below(count) as usize);
        }
        blocks.push(Block { code, next, before: List::default() });
    }
    Function { blocks }
}

fn find_predecessors<P: Probe>(function: &mut Function<P>) {
    let mut edges: List<(usize, usize), P> = List::default();
    for (from, block) in function.blocks.iter().enumerate() {
        for &to in block.next.iter() {
            edges.push((from, to));
        }
    }
    for &(from, to) in edges.iter() {
        if let Some(block) = function.blocks.get_mut(to) {
            block.before.push(from);
        }
    }
}

fn uses(op: Op) -> impl Iterator<Item = u32> {
    let (first, second) = match op {
        Op::Load(_) => (None, None),
        Op::Add(a, b) | Op::Mul(a, b) => (Some(a), Some(b)),
        Op::Call(a) => (Some(a), None),
    };
    first.into_iter().chain(second)
}

fn fold_constants<P: Probe>(function: &mut Function<P>) -> u64 {
    let mut folded = 0;
    for at in 0..function.blocks.len() {
        let mut known: Table<u32, i64, P> = Table::default();
        let mut code = List::default();
        let Some(block) = function.blocks.get_mut(at) else { continue };
        for instruction in block.code.iter() {
            let value = |register: &u32| known.get(register).copied();
            let result = match instruction.op {
                Op::Load(value) => Some(value),
                Op::Add(a, b) => value(&a).zip(value(&b)).map(|(a, b)| a.wrapping_add(b)),
                Op::Mul(a, b) => value(&a).zip(value(&b)).map(|(a, b)| a.wrapping_mul(b)),
                Op::Call(_) => None,
            };
            match result {
                Some(value) => {
                    known.insert(instruction.to, value);
                    folded += u64::from(!matches!(instruction.op, Op::Load(_)));
                    code.push(Instruction { op: Op::Load(value), to: instruction.to });
                }
                None => {
                    known.remove(&instruction.to);
                    code.push(*instruction);
                }
            }
        }
        block.code = code;
    }
    folded
}

/// What has been computed is not computed again.
fn number_values<P: Probe>(function: &mut Function<P>) -> u64 {
    let mut found = 0;
    for block in function.blocks.iter() {
        let mut known: Table<Op, u32, P> = Table::default();
        let mut stale: List<Op, P> = List::default();
        for instruction in block.code.iter() {
            found += u64::from(known.get(&instruction.op).is_some());
            for op in known.keys().iter() {
                if known.get(op) == Some(&instruction.to)
                    || uses(*op).any(|register| register == instruction.to)
                {
                    stale.push(*op);
                }
            }
            while let Some(op) = stale.pop() {
                known.remove(&op);
            }
            known.insert(instruction.op, instruction.to);
        }
    }
    found
}

/// The registers that are live at the end of each block.
fn live_registers<P: Probe>(function: &Function<P>) -> List<Set<P>, P> {
    let count = function.blocks.len();
    let (mut at_start, mut at_end): (List<Set<P>, P>, List<Set<P>, P>) = (List::default(), List::default());
    let mut work: List<usize, P> = List::default();
    for at in 0..count {
        at_start.push(Set::default());
        at_end.push(Set::default());
        work.push(at);
    }
    while let Some(at) = work.pop() {
        let (Some(block), Some(end)) = (function.blocks.get(at), at_end.get_mut(at)) else { continue };
        for next in block.next.iter() {
            let Some(start) = at_start.get(*next) else { continue };
            for register in start.keys().iter() {
                end.insert(*register, ());
            }
        }
        let mut live: Set<P> = Set::default();
        for register in end.keys().iter() {
            live.insert(*register, ());
        }
        for instruction in (0..block.code.len()).rev().filter_map(|at| block.code.get(at)) {
            live.remove(&instruction.to);
            for register in uses(instruction.op) {
                live.insert(register, ());
            }
        }
        let Some(start) = at_start.get_mut(at) else { continue };
        if live.len() != start.len() {
            *start = live;
            for before in block.before.iter() {
                work.push(*before);
            }
        }
    }
    at_end
}

fn remove_dead<P: Probe>(function: &mut Function<P>, live: &List<Set<P>, P>) -> u64 {
    let mut removed = 0;
    for (at, end) in live.iter().enumerate() {
        let Some(block) = function.blocks.get_mut(at) else { continue };
        let mut needed: Set<P> = Set::default();
        for register in end.keys().iter() {
            needed.insert(*register, ());
        }
        let mut kept: List<Instruction, P> = List::default();
        for instruction in (0..block.code.len()).rev().filter_map(|at| block.code.get(at)) {
            let is_needed = needed.get(&instruction.to).is_some() || matches!(instruction.op, Op::Call(_));
            if is_needed {
                needed.remove(&instruction.to);
                for register in uses(instruction.op) {
                    needed.insert(register, ());
                }
                kept.push(*instruction);
            }
            removed += u64::from(!is_needed);
        }
        let mut code = List::default();
        while let Some(instruction) = kept.pop() {
            code.push(instruction);
        }
        block.code = code;
    }
    removed
}

/// How many blocks dominate another, over sets as bits.
fn dominators<P: Probe>(function: &Function<P>) -> u64 {
    let mut sets: Vec<u64> = vec![u64::MAX; function.blocks.len()];
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for (at, block) in function.blocks.iter().enumerate() {
            let before = block.before.iter().map(|before| sets[*before]);
            let all = if at == 0 { 0 } else { before.fold(u64::MAX, |all, set| all & set) };
            let now = all | 1 << at;
            changed |= now != sets[at];
            sets[at] = now;
        }
    }
    sets.iter().map(|set| u64::from(set.count_ones())).sum()
}
