//! What the rules by branches and dependences rest on: programs, run again under schedules that the checker accepts.
//!
//! A tiny program reads variables into registers, writes sums of registers, and skips statements if a sum is odd. A random run of it is
//! traced, with branches and with where values come from. Whatever schedule the checker accepts, the program, run under it, does
//! these events; what a property looks at has the observed values; and where all events are done, the program has ended.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use foresee_oracle::{Random, for_each_seed};
use foresee_trace::{Event, EventId, Execution, ExecutionBuilder, LocId, Mem, Names, Op, StrId, ThreadId};
use foresee_witness::checker::{Checker, Claim, Reads, Refusal, Schedule};

const VARIABLES: usize = 3;
const REGISTERS: usize = 2;

/// A sum of a constant and registers.
#[derive(Clone, Copy)]
struct Sum {
    constant: u64,
    registers: [bool; REGISTERS],
    /// Whether the trace says where the value comes from, if it can.
    says: bool,
}

#[derive(Clone, Copy)]
enum Statement {
    Read {
        register: usize,
        variable: usize,
    },
    Write {
        variable: usize,
        value: Sum,
    },
    /// An exchange: reads into a register, writes.
    Swap {
        register: usize,
        variable: usize,
        value: Sum,
    },
    /// Assigns a variable of a property.
    Tell {
        value: Sum,
    },
    /// Skips some statements if the sum is odd.
    Unless {
        value: Sum,
        skip: usize,
    },
}

type Program = Vec<Vec<Statement>>;

fn random_program(random: &mut Random) -> Program {
    let statement = |random: &mut Random| {
        let (register, variable) = (random.below(REGISTERS), random.below(VARIABLES));
        let value = Sum {
            constant: random.below(2) as u64,
            registers: [random.percent(35), random.percent(35)],
            says: random.percent(80),
        };
        match random.below(10) {
            0..4 => Statement::Read { register, variable },
            4..7 => Statement::Write { variable, value },
            7 => Statement::Swap { register, variable, value },
            8 => Statement::Tell { value },
            _ => Statement::Unless { value, skip: 1 + random.below(2) },
        }
    };
    let threads = 2 + random.below(2);
    (0..threads).map(|_| (0..2 + random.below(4)).map(|_| statement(random)).collect()).collect()
}

#[derive(Clone, Default)]
struct Thread {
    /// The next statement, and how many of its events were done.
    at: usize,
    events_done: usize,
    registers: [Register; REGISTERS],
    /// How often each variable was read.
    reads: [usize; VARIABLES],
}

#[derive(Clone, Copy, Default)]
struct Register {
    value: u64,
    /// The variable it comes from, and how often that had been read then.
    origin: Option<(usize, usize)>,
}

/// A program that runs.
struct Machine<'p> {
    program: &'p Program,
    threads: Vec<Thread>,
    memory: [u64; VARIABLES],
}

impl<'p> Machine<'p> {
    fn new(program: &'p Program) -> Self {
        Machine { program, threads: vec![Thread::default(); program.len()], memory: [0; VARIABLES] }
    }

    fn has_ended(&self) -> bool {
        self.threads.iter().zip(self.program).all(|(thread, statements)| thread.at >= statements.len())
    }

    /// The thread's next event, if it goes on.
    fn step(&mut self, t: usize) -> Option<Op<'static>> {
        let thread = &mut self.threads[t];
        let statement = *self.program[t].get(thread.at)?;
        let value = match statement {
            Statement::Read { .. } => None,
            Statement::Write { value, .. }
            | Statement::Swap { value, .. }
            | Statement::Tell { value }
            | Statement::Unless { value, .. } => Some(value),
        };
        let said = value.map(|value| thread.where_from(&value)).unwrap_or_default();
        if let Some(&op) = said.get(thread.events_done) {
            thread.events_done += 1;
            return Some(op);
        }
        thread.events_done = 0;
        thread.at += 1;
        let sum = value.map_or(0, |value| thread.sum(&value));
        let memory = &mut self.memory;
        Some(match statement {
            Statement::Read { register, variable } => {
                thread.take(register, variable, memory[variable]);
                Op::Read { mem: mem(variable), value: Some(memory[variable]) }
            }
            Statement::Write { variable, .. } => {
                memory[variable] = sum;
                Op::Write { mem: mem(variable), value: Some(sum) }
            }
            Statement::Swap { register, variable, .. } => {
                let old = std::mem::replace(&mut memory[variable], sum);
                thread.take(register, variable, old);
                Op::Rmw { mem: mem(variable), order: Default::default(), values: Some((old, sum)) }
            }
            Statement::Tell { .. } => Op::Local { name: StrId::EMPTY, value: sum },
            Statement::Unless { skip, .. } => {
                thread.at += if sum % 2 == 1 { skip } else { 0 };
                Op::Branch
            }
        })
    }
}

impl Thread {
    fn take(&mut self, register: usize, variable: usize, value: u64) {
        self.reads[variable] += 1;
        self.registers[register] = Register { value, origin: Some((variable, self.reads[variable])) };
    }

    fn used<'a>(&'a self, value: &'a Sum) -> impl Iterator<Item = &'a Register> {
        self.registers.iter().zip(value.registers).filter(|(_, used)| *used).map(|(register, _)| register)
    }

    fn sum(&self, value: &Sum) -> u64 {
        self.used(value).map(|register| register.value).sum::<u64>() + value.constant
    }

    /// What the trace says of a value: only last reads can be named.
    fn where_from(&self, value: &Sum) -> Vec<Op<'static>> {
        let origins: Vec<(usize, usize)> = self.used(value).filter_map(|register| register.origin).collect();
        if !value.says || origins.iter().any(|&(variable, nth)| self.reads[variable] != nth) {
            return Vec::new();
        }
        match &origins[..] {
            [] => vec![Op::Constant],
            origins => origins.iter().map(|&(variable, _)| Op::From { mem: mem(variable) }).collect(),
        }
    }
}

fn mem(variable: usize) -> Mem {
    Mem { addr: 0x100 * (1 + variable as u64), size: 8 }
}

/// A run to its end.
fn random_run(program: &Program, random: &mut Random) -> Execution {
    let mut machine = Machine::new(program);
    let mut builder = ExecutionBuilder::default();
    while !machine.has_ended() {
        let t = random.below(program.len());
        if let Some(op) = machine.step(t) {
            builder.push(&Event { thread: ThreadId(t as u32), loc: LocId::UNKNOWN, op }).unwrap();
        }
    }
    builder.finish(Names::new())
}

/// The operation without its values.
fn shape(op: Op<'_>) -> Op<'_> {
    match op {
        Op::Read { mem, .. } => Op::Read { mem, value: None },
        Op::Write { mem, .. } => Op::Write { mem, value: None },
        Op::Rmw { mem, order, .. } => Op::Rmw { mem, order, values: None },
        Op::Local { name, .. } => Op::Local { name, value: 0 },
        other => other,
    }
}

/// A random schedule of which each prefix is accepted.
fn accepted(
    execution: &Execution,
    random: &mut Random,
    accepts: &dyn Fn(&[EventId]) -> bool,
) -> Vec<EventId> {
    let mut threads: Vec<Vec<EventId>> = vec![Vec::new(); execution.thread_count()];
    execution.ids().rev().for_each(|id| threads[execution.thread(id).index()].push(id));
    let mut schedule = Vec::new();
    for _ in 0..3 * execution.len() {
        let t = random.below(threads.len());
        let Some(&next) = threads[t].last() else { continue };
        schedule.push(next);
        if accepts(&schedule) {
            threads[t].pop();
        } else {
            schedule.pop();
        }
    }
    schedule
}

#[test]
fn programs_do_what_the_checker_accepts() {
    let (mut schedules, mut changed, mut decided, mut whole) = (0, 0, 0, 0);
    for_each_seed(4_000, |seed| {
        let random = &mut Random::new(seed);
        let program = random_program(random);
        let execution = random_run(&program, random);
        if execution.is_empty() {
            return;
        }
        let checker = Checker::new(&execution);
        let share = random.below(60) as u32;
        let looked_at: Vec<bool> = execution.ids().map(|_| random.percent(share)).collect();
        let looks_at = |id: EventId| looked_at[id.index()];
        let for_property = |schedule: &[EventId]| {
            let claim = Claim::sliced_property(&|_, _| true, &looks_at);
            checker.check(schedule, &claim).is_ok()
        };
        let for_race = |schedule: &[EventId]| {
            let Some(&last) = schedule.last() else { return true };
            let claim = Claim::Race { first: last, second: last };
            let witness = Schedule::after(0, schedule.to_vec());
            let verdict = checker.check_all_with(&[(&witness, claim)], Reads::Relaxed).remove(0);
            !matches!(verdict, Err(Refusal::Broken { .. }))
        };
        for round in 0..8 {
            let is_property = round % 2 == 0;
            let accepts: &dyn Fn(&[EventId]) -> bool = if is_property { &for_property } else { &for_race };
            let schedule = accepted(&execution, random, accepts);
            let mut machine = Machine::new(&program);
            let (mut differs, mut goes_on) = (false, false);
            for &id in &schedule {
                let expected = execution.op(id);
                let op = machine.step(execution.thread(id).index());
                let told = || format!("{id:?} of {schedule:?}: {op:?}\n{execution:?}");
                assert_eq!(op.map(shape), Some(shape(expected)), "{}", told());
                assert!(!is_property || !looks_at(id) || op == Some(expected), "{}", told());
                goes_on |= differs && op == Some(Op::Branch);
                differs |= op != Some(expected);
            }
            if is_property && schedule.len() == execution.len() {
                assert!(machine.has_ended(), "{schedule:?}\n{execution:?}");
                whole += 1;
            }
            schedules += 1;
            changed += u32::from(differs);
            decided += u32::from(goes_on);
        }
    });
    println!("{schedules} schedules; in {changed} values differ, in {decided} before a branch");
    let ran_many = std::env::var_os("FORESEE_TEST_SEED").is_none();
    assert!(!ran_many || changed.min(decided).min(whole) > 500, "{schedules} {changed} {decided} {whole}");
}
