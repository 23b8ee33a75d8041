//! Keys of pages, by time or by a counter: accesses have the key of an earlier record of their thread, and what blind code may have ordered is still ordered, or it is said that nobody
//! knows. The definition is that of `ties`.

use std::os::unix::fs::FileExt as _;

use super::follow::Program;
use super::ties::{BLIND, Does, FUNCTION, MEMORY, OneFunction, Run, check, random, random_run, take};
use super::*;
use crate::Gap;

/// What keys are from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum From {
    /// Moments are steps.
    Time,
    /// Whoever looks at it counts, and nobody else.
    Counter,
}

/// Writes the records of a run by threads that look at the clock now and then, and whenever a reader requests it.
fn write(
    run: &Run,
    threads: usize,
    clock: From,
    mut looks: impl FnMut() -> bool,
    mut after: impl FnMut(&mut Program),
) -> Program {
    let mut program = Program::new(threads);
    let flags = RunFlags::KEYS_OF_PAGES.with_if(RunFlags::CHUNKS_STAY, true).word().to_le_bytes();
    program.file.write_all_at(&flags, 8 * FLAGS_WORD as u64).unwrap();
    for thread in 0..threads {
        program.record(thread, &[first_word(Tag::Begin, 0, 0)]);
        program.record(thread, &[first_word(Tag::Enter, 0, 0), 8, FUNCTION]);
    }
    let (mut keys, mut requests, mut blind) = (vec![0_u64; threads], vec![0; threads], vec![false; threads]);
    let mut counter = 0;
    for (step, &(thread, does)) in run.iter().enumerate() {
        if does == Does::RunsBlind {
            blind[thread] = true;
            continue;
        }
        let flag = if std::mem::take(&mut blind[thread]) { BLIND } else { 0 };
        let (pc, addr) = ((FUNCTION + step as u64) | flag, MEMORY + 64 * step as u64);
        let mut request = [0; 8];
        program.file.read_exact_at(&mut request, 8 * REQUEST_WORD as u64).unwrap();
        let is_requested = std::mem::replace(&mut requests[thread], u64::from_le_bytes(request))
            != u64::from_le_bytes(request);
        if does == Does::Access {
            if looks() || is_requested {
                keys[thread] = if clock == From::Time { 2 * (step as u64 + 1) } else { counter + 2 };
                counter += 4;
            }
            program.record(thread, &[first_word(Tag::Write, 4, keys[thread]), pc, addr]);
        } else {
            let now = if clock == From::Time { 2 * (step as u64 + 1) } else { counter };
            keys[thread] = now + 2;
            counter += 2;
            program.record(thread, &[first_word(Tag::Store, 2 << 4 | 3, now + 1), pc, addr, 1]);
        }
        after(&mut program);
    }
    let end = 4 * run.len() as u64 + 3;
    for thread in (0..threads).filter(|&thread| !blind[thread]) {
        program.record(thread, &[first_word(Tag::Exit, 0, end)]);
        program.record(thread, &[first_word(Tag::End, 0, end)]);
    }
    program
}

fn is_unknown(reader: &RawReader) -> bool {
    reader.trust().gaps().contains(&Gap::UnknownMoments)
}

#[test]
fn whatever_blind_code_may_have_ordered_is_ordered() {
    let mut unknown = [0; 2];
    for seed in 0..16000 {
        let clock = [From::Time, From::Counter][seed as usize % 2];
        let mut below = random(seed);
        let threads = 2 + below(3) as usize;
        let run = random_run(&mut below, threads);
        // Every time, half of the times, now and then, or never.
        let rarely = [1, 2, 6, 1000][below(4) as usize];
        let mut dice = random(seed + 1);
        let mut program = write(&run, threads, clock, || dice(rarely) == 0, |_| {});
        program.write(program.in_flight.len());
        let file = program.file.try_clone().unwrap();
        let mut reader = RawReader::new(file, Box::new(OneFunction), LockTable::default()).unwrap();
        let mut events = Vec::new();
        take(&mut reader, &mut events);
        if is_unknown(&reader) {
            assert!(rarely > 1, "every record has its own moment\n{run:?}");
            unknown[clock as usize] += 1;
        } else {
            check(&run, &events);
        }
    }
    assert!(unknown.iter().all(|unknown| (500..5000).contains(unknown)), "{unknown:?}");
}

#[test]
fn it_is_ordered_while_the_trace_is_written() {
    let mut early = 0;
    for seed in 0..8000 {
        let clock = [From::Time, From::Counter][seed as usize % 2];
        let mut below = random(seed);
        let threads = 2 + below(3) as usize;
        let run = random_run(&mut below, threads);
        let rarely = [1, 2, 6, 1000][below(4) as usize];
        let (mut reader, mut events) = (None, Vec::new());
        let mut dice = random(seed + 1);
        let after = |program: &mut Program| {
            if below(4) == 0 {
                program.write(program.in_flight.len());
                match &mut reader {
                    Some(reader) => RawReader::look_again(reader).unwrap(),
                    None => reader = program.reader(Box::new(OneFunction)),
                }
                reader.iter_mut().for_each(|reader| take(reader, &mut events));
            }
        };
        let mut program = write(&run, threads, clock, || dice(rarely) == 0, after);
        program.write(program.in_flight.len());
        early += events.len();
        let mut reader = reader.or_else(|| program.reader(Box::new(OneFunction))).unwrap();
        reader.end_following().unwrap();
        take(&mut reader, &mut events);
        assert!(!reader.came_late(), "{run:?}");
        if !is_unknown(&reader) {
            check(&run, &events);
        }
    }
    assert!(early > 10_000, "{early}");
}
