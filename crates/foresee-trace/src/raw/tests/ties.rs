//! Blind code that may have ordered threads is found to have ordered what it may have ordered, whatever the recorded moments say.
//!
//! The definition is about the run, which the trace only has a shadow of: threads access memory, synchronise, and run blind code,
//! in a real order. Blind code of one thread may have ordered what its thread did before it with what another thread did after blind
//! code of its own that came later.

use super::follow::Program;
use super::*;
use crate::raw::{BlindCode, Code, DataSymbol, Module, Orders, Position, Recording};

/// In the address of a call: blind code runs before it.
pub(super) const BLIND: u64 = 1 << 20;
pub(super) const FUNCTION: u64 = 0x1000;

/// One function, with blind code that may order threads before every call whose address says so.
pub(super) struct OneFunction;

impl Symbolizer for OneFunction {
    fn code(&mut self, modules: &[Module], pc: u64) -> Code {
        NoSymbols.code(modules, pc)
    }

    fn data(&mut self, _modules: &[Module], _addr: u64) -> Option<DataSymbol> {
        None
    }

    fn recording(&mut self, _modules: &[Module], pc: u64) -> Recording {
        if pc < FUNCTION { Recording::System } else { Recording::Instrumented(FUNCTION) }
    }

    fn blind(&mut self, _modules: &[Module], _from: u64, to: Position) -> Option<BlindCode> {
        let is_blind = match to {
            Position::At(pc) | Position::FreedAt(pc) | Position::EnteredAt(pc) => pc & BLIND != 0,
            Position::Anywhere => true,
            Position::Within | Position::CalledBack | Position::Exit => false,
        };
        is_blind.then(|| BlindCode { code: "unknown".to_owned(), orders: Orders::Own })
    }
}

/// What threads do, each by number, in the real order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Does {
    Access,
    Synchronises,
    RunsBlind,
}

pub(super) type Run = Vec<(usize, Does)>;

/// Where threads write: in each step somewhere else.
pub(super) const MEMORY: u64 = 0x10_0000;

/// Writes the records of a run, and says after each step how the program is then. Threads end that do not end with blind code.
fn write(run: &Run, threads: usize, mut after: impl FnMut(&mut Program)) -> Program {
    let mut program = Program::new(threads);
    let (mut counter, mut blind) = (0, vec![false; threads]);
    for thread in 0..threads {
        program.record(thread, &[first_word(Tag::Begin, 0, 0)]);
        program.record(thread, &[first_word(Tag::Enter, 0, 0), 8, FUNCTION]);
    }
    for (step, &(thread, does)) in run.iter().enumerate() {
        if does == Does::RunsBlind {
            blind[thread] = true;
            continue;
        }
        let flag = if std::mem::take(&mut blind[thread]) { BLIND } else { 0 };
        let (pc, addr) = ((FUNCTION + step as u64) | flag, MEMORY + 64 * step as u64);
        if does == Does::Access {
            program.record(thread, &[first_word(Tag::Write, 4, 2 * counter), pc, addr]);
        } else {
            program.record(thread, &[first_word(Tag::Store, 2 << 4 | 3, 2 * counter + 1), pc, addr, 1]);
            counter += 1;
        }
        after(&mut program);
    }
    for thread in (0..threads).filter(|&thread| !blind[thread]) {
        program.record(thread, &[first_word(Tag::Exit, 0, 2 * counter)]);
        program.record(thread, &[first_word(Tag::End, 0, 2 * counter)]);
    }
    program
}

/// The delivered events: blind code of a thread, or what it did in which step.
pub(super) fn take(reader: &mut RawReader, events: &mut Vec<(usize, Option<usize>)>) {
    while reader.advance().unwrap() {
        let event = reader.event();
        let thread = event.thread.0 as usize;
        match event.op {
            Op::Blind { .. } => events.push((thread, None)),
            op => {
                let mem = op.mem().filter(|mem| (MEMORY..2 * MEMORY).contains(&mem.addr));
                events.extend(mem.map(|mem| (thread, Some((mem.addr - MEMORY) as usize / 64))));
            }
        }
    }
}

/// Whether what was delivered at one place may be ordered before what was at another: blind code of the first thread follows, and then of
/// the second.
fn is_ordered(events: &[(usize, Option<usize>)], first: usize, second: usize) -> bool {
    let blind_of = |at: usize, thread: usize| events[at] == (thread, None);
    let mut between = first..second;
    let (one, other) = (events[first].0, events[second].0);
    between.any(|at| blind_of(at, one)) && between.any(|at| blind_of(at, other))
}

/// Holds the definition against what was delivered.
pub(super) fn check(run: &Run, events: &[(usize, Option<usize>)]) {
    let recorded = run.iter().filter(|(_, does)| *does != Does::RunsBlind).count();
    assert_eq!(events.iter().filter(|(_, step)| step.is_some()).count(), recorded, "{run:?}\n{events:?}");
    for thread in 0..4 {
        let own = events.iter().filter(|(by, _)| *by == thread).filter_map(|(_, step)| *step);
        assert!(own.is_sorted(), "{run:?}\n{events:?}");
    }
    let place = |step: usize| events.iter().position(|&(_, of)| of == Some(step)).unwrap();
    let steps = |thread: usize, does: Does| move |&(_, &of): &(usize, &(usize, Does))| of == (thread, does);
    for (first, &(one, _)) in run.iter().enumerate().filter(|(_, (_, does))| *does == Does::Access) {
        let after = || run.iter().enumerate().skip(first);
        let Some((gives, _)) = after().find(steps(one, Does::RunsBlind)) else { continue };
        for (second, &(other, _)) in after().filter(|(_, (by, does))| *by != one && *does == Does::Access) {
            if !(gives..second).any(|at| run[at] == (other, Does::RunsBlind)) {
                continue;
            }
            let (first, second) = (place(first), place(second));
            let is_found = is_ordered(events, first.min(second), first.max(second));
            assert!(is_found, "{run:?}\n{events:?}\n{first} and {second}");
        }
    }
}

pub(super) fn random_run(below: &mut impl FnMut(u64) -> u64, threads: usize) -> Run {
    let (steps, stamps, blinds) = (below(24), below(4), 1 + below(5));
    (0..steps)
        .map(|_| {
            let does = match below(10) {
                dice if dice < stamps => Does::Synchronises,
                dice if dice < stamps + blinds => Does::RunsBlind,
                _ => Does::Access,
            };
            (below(threads as u64) as usize, does)
        })
        .collect()
}

pub(super) fn random(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |n| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    }
}

#[test]
fn whatever_blind_code_may_have_ordered_is_ordered() {
    for seed in 0..4000 {
        let mut below = random(seed);
        let threads = 2 + below(3) as usize;
        let run = random_run(&mut below, threads);
        let mut program = write(&run, threads, |_| {});
        program.write(program.in_flight.len());
        let file = program.file.try_clone().unwrap();
        let mut reader = RawReader::new(file, Box::new(OneFunction), LockTable::default()).unwrap();
        let mut events = Vec::new();
        take(&mut reader, &mut events);
        check(&run, &events);
    }
}

#[test]
fn it_is_ordered_while_the_trace_is_written() {
    for seed in 0..2000 {
        let mut below = random(seed);
        let threads = 2 + below(3) as usize;
        let run = random_run(&mut below, threads);
        let (mut reader, mut events) = (None, Vec::new());
        let mut program = write(&run, threads, |program| {
            if below(4) == 0 {
                program.write(program.in_flight.len());
                match &mut reader {
                    Some(reader) => RawReader::look_again(reader).unwrap(),
                    None => reader = program.reader(Box::new(OneFunction)),
                }
                reader.iter_mut().for_each(|reader| take(reader, &mut events));
            }
        });
        program.write(program.in_flight.len());
        let mut reader = reader.or_else(|| program.reader(Box::new(OneFunction))).unwrap();
        reader.end_following().unwrap();
        take(&mut reader, &mut events);
        assert!(!reader.came_late());
        check(&run, &events);
    }
}

#[test]
fn what_no_blind_code_can_have_ordered_is_not_ordered() {
    use Does::{Access, RunsBlind};
    // Both write, and then run blind code; both run blind code, and then write.
    let run = [(0, Access), (1, Access), (0, RunsBlind), (1, RunsBlind), (0, Access), (1, Access)].to_vec();
    let mut program = write(&run, 2, |_| {});
    program.write(program.in_flight.len());
    let file = program.file.try_clone().unwrap();
    let mut reader = RawReader::new(file, Box::new(OneFunction), LockTable::default()).unwrap();
    let mut events = Vec::new();
    take(&mut reader, &mut events);
    let place = |step: usize| events.iter().position(|&(_, of)| of == Some(step)).unwrap();
    assert!(!is_ordered(&events, place(0), place(1)), "{events:?}");
    assert!(is_ordered(&events, place(0), place(5)), "{events:?}");
    assert!(is_ordered(&events, place(1), place(4)), "{events:?}");
}
