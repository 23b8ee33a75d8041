//! Runs a program through every schedule: all states that it can be in, each once.

use std::collections::{BTreeSet, HashSet};

use super::program::{LOCKS, PLACES, Program, Statement, VARIABLES};

/// What a thread does in one step. Memory is the variables, then the array.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Into the thread's register.
    Read(usize),
    /// The register and so much.
    WriteSum(usize, i32),
    Write(usize, i32),
    WritePlace(i32),
    WriteEither([usize; 2], i32),
    JumpIfZero(usize),
    Jump(usize),
    Lock(usize),
    Unlock(usize),
}

type Code = Vec<Step>;

fn compile(statements: &[Statement], code: &mut Code) {
    for statement in statements {
        let mut emit = |step| code.push(step);
        match statement {
            Statement::Set(v, c) => emit(Step::Write(*v, *c)),
            Statement::Copy(v, u, c) => {
                emit(Step::Read(*u));
                emit(Step::WriteSum(*v, *c));
            }
            Statement::Look(v) => emit(Step::Read(*v)),
            Statement::SetPlace(v, c) => {
                emit(Step::Read(*v));
                emit(Step::WritePlace(*c));
            }
            Statement::SetEither(v, either, c) => {
                emit(Step::Read(*v));
                emit(Step::WriteEither(*either, *c));
            }
            Statement::If(v, [yes, no]) => {
                emit(Step::Read(*v));
                let test = code.len();
                code.push(Step::JumpIfZero(0));
                compile(yes, code);
                let end = code.len();
                code.push(Step::Jump(0));
                code[test] = Step::JumpIfZero(code.len());
                compile(no, code);
                code[end] = Step::Jump(code.len());
            }
            Statement::Locked(lock, inside) => {
                emit(Step::Lock(*lock));
                compile(inside, code);
                code.push(Step::Unlock(*lock));
            }
        }
    }
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    /// Where each thread is, and its register.
    threads: Vec<(usize, i32)>,
    memory: [i32; VARIABLES + PLACES],
    held: [bool; LOCKS],
}

/// What a step does to memory in this state: where, and whether it writes.
fn access(step: Step, register: i32) -> Option<(usize, bool)> {
    match step {
        Step::Read(v) => Some((v, false)),
        Step::WriteSum(v, _) | Step::Write(v, _) => Some((v, true)),
        Step::WritePlace(_) => Some((VARIABLES + (register & 1) as usize, true)),
        Step::WriteEither([yes, no], _) => Some((if register != 0 { yes } else { no }, true)),
        _ => None,
    }
}

/// The state after the next step of a thread; `None` if it waits.
fn after(state: &State, thread: usize, step: Step) -> Option<State> {
    let mut next = state.clone();
    let (at, register) = &mut next.threads[thread];
    *at += 1;
    match step {
        Step::Read(v) => *register = state.memory[v],
        Step::WriteSum(v, c) => next.memory[v] = register.wrapping_add(c),
        Step::Write(v, c) => next.memory[v] = c,
        Step::WritePlace(c) => next.memory[VARIABLES + (*register & 1) as usize] = c,
        Step::WriteEither([yes, no], c) => next.memory[if *register != 0 { yes } else { no }] = c,
        Step::JumpIfZero(target) if *register == 0 => *at = target,
        Step::JumpIfZero(_) => {}
        Step::Jump(target) => *at = target,
        Step::Lock(lock) if state.held[lock] => return None,
        Step::Lock(lock) => next.held[lock] = true,
        Step::Unlock(lock) => next.held[lock] = false,
    }
    Some(next)
}

/// What a thread does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Access {
    pub(super) thread: usize,
    pub(super) writes: bool,
}

/// Two accesses to one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Race {
    place: usize,
    accesses: [Access; 2],
}

impl Race {
    pub(super) fn new(place: usize, one: Access, other: Access) -> Race {
        Race { place, accesses: [one.min(other), one.max(other)] }
    }
}

/// What two threads can be about to do at the same time, to the same memory, one of them writing.
pub(super) fn races(program: &Program) -> BTreeSet<Race> {
    let code = |lines: &Vec<Statement>| {
        let mut code = Code::new();
        compile(lines, &mut code);
        code
    };
    let codes: Vec<Code> = program.threads.iter().map(code).collect();
    let first =
        State { threads: vec![(0, 0); codes.len()], memory: [0; VARIABLES + PLACES], held: [false; LOCKS] };
    let (mut seen, mut open, mut found) = (HashSet::from([first.clone()]), vec![first], BTreeSet::new());
    while let Some(state) = open.pop() {
        let mut accesses: Vec<(usize, Access)> = Vec::new();
        for (thread, code) in codes.iter().enumerate() {
            let (at, register) = state.threads[thread];
            let Some(&step) = code.get(at) else { continue };
            if let Some((place, writes)) = access(step, register) {
                let one = Access { thread, writes };
                let others = accesses.iter().filter(|(at, other)| *at == place && (writes || other.writes));
                found.extend(others.map(|&(_, other)| Race::new(place, one, other)));
                accesses.push((place, one));
            }
            if let Some(next) = after(&state, thread, step)
                && seen.insert(next.clone())
            {
                open.push(next);
            }
        }
    }
    found
}
