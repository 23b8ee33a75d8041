//! The short way of usual records delivers what the long way does, on random programs: calls, statics, atomics, locks, blind code.

use super::super::{BlindCode, Code, DataSymbol, Module, Orders, Position, Recording, SourceLocation};
use super::ties::random;
use super::*;
use crate::EventBatch;

/// Where a file with statics is mapped, and where other memory is.
const STATICS: u64 = 0x7000;
const HEAP: u64 = 0x2_0000;
const END: u64 = 0x9000;

/// The function that has an address, by its first one; nothing is instrumented below all of them.
fn function_of(pc: u64) -> u64 {
    pc / 0x100 * 0x100
}

/// Functions of which some are operations on locks or begin one inlined, some are of the system, and some run blind code between some of their places.
struct Random(u64);

impl Random {
    fn dice(&self, about: [u64; 2]) -> u64 {
        let mut below = random(
            self.0 ^ about[0].wrapping_mul(31).wrapping_add(about[1]).wrapping_mul(0x9e37_79b9_7f4a_7c15),
        );
        below(1);
        below(100)
    }
}

impl Symbolizer for Random {
    fn code(&mut self, _: &[Module], pc: u64) -> Code {
        let function = function_of(pc);
        let frame =
            |function: String, line| SourceLocation { function, file: "a.rs".to_owned(), line, column: 1 };
        let own = match self.dice([function, 1]) {
            0..8 => "<std::sys::sync::mutex::futex::Mutex>::lock".to_owned(),
            _ => format!("f{function:x}"),
        };
        let mut frames = vec![frame(own, pc as u32)];
        match self.dice([pc, 2]) {
            0..4 => frames.insert(0, frame("<std::sys::sync::mutex::futex::Mutex>::lock".to_owned(), 1)),
            4..8 => frames.insert(0, frame("<std::sys::sync::mutex::futex::Mutex>::unlock".to_owned(), 1)),
            8..12 => frames.insert(0, frame("std::sync::mpmc::array::Channel::send".to_owned(), 1)),
            _ => {}
        }
        Code { frames, ..Code::default() }
    }

    fn data(&mut self, _: &[Module], addr: u64) -> Option<DataSymbol> {
        let symbol = addr / 16 * 16;
        let name =
            if self.dice([symbol, 3]) < 10 { "__gcov_of_f".to_owned() } else { format!("s{symbol:x}") };
        (self.dice([symbol, 4]) < 70).then_some(DataSymbol { name, addr: symbol, size: 16 })
    }

    fn recording(&mut self, _: &[Module], pc: u64) -> Recording {
        let function = function_of(pc);
        match self.dice([function, 5]) {
            0..10 => Recording::System,
            10..14 => Recording::Blind(BlindCode { code: "elsewhere".to_owned(), orders: Orders::Nothing }),
            _ => Recording::Instrumented(function),
        }
    }

    fn blind(&mut self, _: &[Module], from: u64, to: Position) -> Option<BlindCode> {
        let to = match to {
            Position::At(pc) => pc << 3,
            Position::FreedAt(pc) => pc << 3 | 1,
            Position::EnteredAt(pc) => pc << 3 | 2,
            Position::Within => 3,
            Position::CalledBack => 4,
            Position::Exit => 5,
            // Few functions may order threads at all.
            Position::Anywhere => {
                let orders = self.dice([function_of(from), 6]) < 10;
                return orders.then(|| BlindCode { code: "order".to_owned(), orders: Orders::Own });
            }
        };
        let dice = self.dice([from, to]);
        let orders =
            if self.dice([function_of(from), 6]) < 10 && dice < 5 { Orders::Own } else { Orders::Nothing };
        (dice < 12).then(|| BlindCode { code: format!("blind{}", dice % 3), orders })
    }
}

/// A program of this many threads with so many records, as a file.
fn program(seed: u64, threads: u64, records: usize) -> Vec<u8> {
    let mut below = random(seed);
    // Few, so that the same is done again and again.
    let (functions, places) = (1 + below(6), 1 + below(5));
    let mut file = header();
    let maps = format!("{STATICS:x}-{END:x} rw-p 00000000 00:00 1 /program\n");
    let mut text = vec![TEXT_MAPS, maps.len() as u64];
    text.extend(maps.as_bytes().chunks(8).map(|part| {
        let mut word = [0; 8];
        word[..part.len()].copy_from_slice(part);
        u64::from_le_bytes(word)
    }));
    file.extend(chunk(TEXT_OWNER, &[&text]));
    let (mut key, mut of_thread) = (2, vec![Vec::<Vec<u64>>::new(); threads as usize]);
    let mut memory = vec![0; 64];
    for thread in &mut of_thread {
        thread.push(vec![first_word(Tag::Begin, 0, key)]);
    }
    let mut depths = vec![0; threads as usize];
    let mut at = 0;
    for _ in 0..records {
        // A thread does many things before another does.
        if below(8) == 0 {
            at = below(threads) as usize;
            key += 2;
        }
        let pc = 0x1000 + 0x100 * below(functions) + 1 + below(places);
        let base = if below(2) == 0 { STATICS } else { HEAP };
        let addr = base + 4 * below(40) + u64::from(below(10) == 0);
        let size = [1, 4, 8, 16][below(4) as usize];
        let atomic = below(64) as usize;
        // Of some programs, plain accesses meet atomics.
        let apart = if seed.is_multiple_of(2) { 0x200 } else { 0 };
        let place = (if atomic < 32 { STATICS } else { HEAP }) + apart + 4 * (atomic as u64 % 32);
        let record = match below(20) {
            0..6 => vec![first_word(Tag::Read, size, key), pc, addr],
            6 => {
                // The value of an atomic is written by no atomic.
                memory[atomic] = below(3);
                vec![first_word(Tag::Write, 4, key), pc, place]
            }
            7..10 => vec![first_word(Tag::Write, size, key), pc, addr],
            10..13 => {
                depths[at] += 1;
                vec![first_word(Tag::Enter, 0, key), pc, 0x1000 + 0x100 * below(functions)]
            }
            13..16 if depths[at] > 0 => {
                depths[at] -= 1;
                vec![first_word(Tag::Exit, 0, key)]
            }
            16 => {
                key += 1;
                let value = below(3);
                memory[atomic] = value;
                let record = vec![first_word(Tag::Store, 2 << 4 | 3, key | 1), pc, place, value];
                key = (key | 1) + 1;
                record
            }
            17 => {
                let before = std::mem::replace(&mut memory[atomic], below(3));
                let record =
                    vec![first_word(Tag::Rmw, 2 << 4 | 5, key | 1), pc, place, before, memory[atomic]];
                key = (key | 1) + 1;
                record
            }
            18 if below(12) == 0 => vec![first_word(Tag::Free, 0, key), pc, addr, 32],
            18 if below(12) == 0 => vec![first_word(Tag::Alloc, 0, key), pc, addr, 32],
            _ => {
                let value = if below(if seed % 4 < 2 { 12 } else { 3 }) == 0 { 7 } else { memory[atomic] };
                vec![first_word(Tag::Load, 2 << 4 | below(6) as u8, key), pc, place, value]
            }
        };
        of_thread[at].push(record);
    }
    for (thread, records) in of_thread.iter().enumerate() {
        for records in records.chunks(400) {
            let records: Vec<&[u64]> = records.iter().map(Vec::as_slice).collect();
            file.extend(chunk(thread as u64, &records));
        }
    }
    file
}

/// All events of a file, taken one by one or many at a time, each as text.
fn events(file: &[u8], seed: u64, is_long: bool, most: usize) -> (Vec<String>, Trust) {
    let mut temporary = tempfile::tempfile().unwrap();
    temporary.write_all(file).unwrap();
    let mut reader = RawReader::new(temporary, Box::new(Random(seed)), LockTable::default()).unwrap();
    if is_long {
        reader.take_the_long_way();
    }
    let (mut events, mut batch) = (Vec::new(), EventBatch::default());
    let mut more = true;
    while more {
        batch.clear();
        if most == 1 {
            more = reader.advance().unwrap();
            if more {
                batch.push(&reader.event());
            }
        } else {
            more = reader.take_many(&mut batch, most).unwrap();
        }
        events.extend(batch.iter().map(|event| format!("{event:?}")));
    }
    (events, reader.trust())
}

#[test]
fn the_short_way_says_what_the_long_way_does() {
    let mut events_of_all = 0;
    for seed in 0..250 {
        let file = program(seed, 1 + seed % 3, 60 + 10 * (seed as usize % 50));
        let long = events(&file, seed, true, 1);
        for most in [1, 7, 64] {
            let short = events(&file, seed, false, most);
            let differs = long.0.iter().zip(&short.0).position(|(long, short)| long != short);
            let around = |events: &[String]| {
                let at = differs.unwrap_or(0);
                events[at.saturating_sub(12)..events.len().min(at + 3)].join("\n")
            };
            let (one, other) = (around(&long.0), around(&short.0));
            assert!(long == short, "seed {seed}, {most} at a time, {differs:?}:\n{one}\n\n{other}");
        }
        events_of_all += long.0.len();
    }
    assert!(events_of_all > 30_000, "{events_of_all}");
}
