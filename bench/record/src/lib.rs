//! What the programs have in common.

/// How many threads each program has.
pub const THREADS: u64 = 4;

/// A step of a small random generator; the same numbers in every run.
pub fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// Where the generator of a thread begins.
pub fn seed(thread: u64) -> u64 {
    0x0139_408d_cbbf_7a44 + thread
}

/// So much of a program's work as its argument says, in percent: all of it without one.
pub fn share(work: u64) -> u64 {
    let percent = std::env::args().nth(1).map_or(100, |percent| percent.parse().expect("a number"));
    work * percent / 100
}
