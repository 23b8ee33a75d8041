//! Random events of every kind, for round trips.
#![allow(dead_code)] // each test file uses a part of it

use foresee_oracle::Random;
use foresee_trace::{Arg, Event, Location, LockId, Mem, Mode, Names, Op, Order, StrId, ThreadId};

static ARGS: [Arg; 6] = [
    Arg::Int(-7),
    Arg::Str(StrId(1)),
    Arg::Object(12),
    Arg::Int(i64::MAX),
    Arg::Object(u64::MAX),
    Arg::Int(i64::MIN),
];

/// Names for [`random_event`], with `threads` threads.
pub(crate) fn names(threads: u32) -> Names {
    let mut names = Names::new();
    let s = names.intern("a string with \"quotes\", | and \n");
    assert_eq!(s, StrId(1));
    for i in 0..threads {
        names.thread(&format!("thread {i}"));
    }
    for i in 0..10 {
        names.lock(&format!("lock {i}"));
        names.symbol(&format!("x{i}"));
        names.location_from_text(&format!("src/file{i}.rs:{}:{} in f{i}", i + 1, i * 3 + 1));
    }
    let (file, function) = (names.intern("only.rs"), names.intern("g"));
    names.location(Location { file, line: 0, column: 0, function });
    names
}

/// A random event of a random kind; any kind may follow any other.
pub(crate) fn random_event(random: &mut Random, names: &Names) -> Event<'static> {
    let pick = |random: &mut Random, len: usize| random.below(len) as u32;
    let thread = ThreadId(pick(random, names.threads().len()));
    let loc = foresee_trace::LocId(pick(random, names.locations().len()));
    let lock = LockId(pick(random, names.locks().len()));
    let name = StrId(pick(random, names.string_count()));
    let child = ThreadId(pick(random, names.threads().len()));
    let mode = if random.below(2) == 0 { Mode::Exclusive } else { Mode::Shared };
    let tried = random.below(3) == 0;
    let order = Order::ALL[pick(random, 6) as usize];
    let symbols = names.symbols();
    let mem = match random.below(4) {
        0 => Mem { addr: random.bits(), size: 1 + random.below(1 << 20) as u32 },
        1 => Mem { addr: 0x7f00_0000_1000 + 8 * random.below(64) as u64, size: 1 << random.below(4) },
        _ => symbols[pick(random, symbols.len()) as usize].mem,
    };
    let value = match random.below(4) {
        0 => None,
        1 => Some(random.below(3) as u64),
        2 => Some(u64::MAX),
        _ => Some(random.bits()),
    }
    .map(|v| foresee_trace::bits(v as i64, mem.size));
    let args = &ARGS[..random.below(7)];
    let op = match random.below(32) {
        0 => Op::Read { mem, value },
        1 => Op::Write { mem, value },
        2 => Op::Load { mem, order, value },
        3 => Op::Store { mem, order, value },
        4 => Op::Rmw { mem, order, values: value.map(|v| (v, v >> 1)) },
        5 => Op::Fence { order },
        6 => Op::Request { lock, mode },
        7 => Op::Acquire { lock, mode, tried },
        8 => Op::Release { lock, mode },
        9 => Op::Fork { child },
        10 => Op::Join { child },
        11 => Op::ThreadBegin,
        12 => Op::ThreadEnd,
        13 => Op::Wait { cond: lock, timed: false },
        14 => Op::Notify { cond: lock, all: mode == Mode::Shared },
        15 => Op::Branch,
        16 => Op::Enter { function: name },
        17 => Op::Exit { function: name },
        18 => Op::BlockBegin { name },
        19 => Op::BlockEnd { name },
        20 => Op::Call { name, args },
        21 => Op::Return { name, args },
        22 => Op::Commit { name },
        23 => Op::CommitBegin { name },
        24 => Op::CommitEnd { name },
        25 => Op::Named { name, args },
        26 => Op::Local { name, value: random.bits() },
        27 => Op::Alloc { mem },
        28 => Op::Free { mem },
        29 => Op::From { mem },
        30 => Op::Constant,
        _ => Op::Blind { code: name, orders: mode == Mode::Shared },
    };
    Event { thread, loc, op }
}
