//! Random computations and formulas.

use foresee_oracle::Random;

use super::{Computation, Op};

pub(crate) const DECLARED: &str = "thread i, j, k; thread odd: \"t*1\"; thread t1: \"t1\"; thread t2: \"t2\"; thread t3: \"t3\"; \
                            local a: int = 1; local c: bool = false; var x: int = 0; var y: int = 2;";

/// A computation that threads can do: nobody acts before being forked, or after being joined or ended.
pub(crate) fn computation(random: &mut Random, most: usize) -> Computation {
    let threads = 3 + random.below(2);
    computation_of(random, threads, most)
}

/// The same for so many threads.
pub(crate) fn computation_of(random: &mut Random, threads: usize, most: usize) -> Computation {
    let mut events = Vec::new();
    let mut alive = vec![false; threads];
    let mut over = vec![false; threads];
    // The first is there, others may be; the rest is forked, or never comes.
    (0..threads).for_each(|thread| alive[thread] = thread == 0 || random.percent(50));
    let mut forkable: Vec<usize> = (0..threads).filter(|thread| !alive[*thread]).collect();
    for _ in 0..1 + random.below(most) {
        let acting: Vec<usize> = (0..threads).filter(|&thread| alive[thread] && !over[thread]).collect();
        let Some(thread) = random.pick(&acting) else { break };
        let op = match random.below(20) {
            0..=4 => Op::Read(random.below(2)),
            5..=9 => Op::Write(random.below(2), random.below(4) as i64),
            10..=12 => Op::Local(0, random.below(3) as i64),
            13..=14 => Op::Local(1, random.below(2) as i64),
            15 => Op::Lock(random.below(2)),
            16 if random.percent(50) => Op::Update(random.below(2), random.below(4) as i64),
            16 => Op::Internal,
            17 | 18 if !forkable.is_empty() => Op::Fork(forkable.swap_remove(random.below(forkable.len()))),
            19 if acting.len() > 1 => {
                let others: Vec<usize> = acting.iter().copied().filter(|other| *other != thread).collect();
                random.pick(&others).map_or(Op::Internal, Op::Join)
            }
            _ => Op::Write(random.below(2), random.below(4) as i64),
        };
        match op {
            Op::Fork(child) => alive[child] = true,
            Op::Join(child) => over[child] = true,
            _ => {}
        }
        events.push((thread, op));
    }
    // A thread that nobody forked in the end is one that was always there.
    Computation { threads, events }
}

/// A formula about what threads know, as people write it.
pub(crate) fn formula(random: &mut Random) -> String {
    let owner = random.pick(&["i", "i", "i", "t1", "odd"]).unwrap();
    let mut scope = vec![owner.to_owned()];
    let inner = Generator { random, quantifiers: 0 }.formula(&mut scope, 4);
    format!("@{owner}({inner})")
}

struct Generator<'r> {
    random: &'r mut Random,
    quantifiers: usize,
}

impl Generator<'_> {
    fn thread(&mut self, scope: &[String]) -> String {
        let named = ["t1", "t2", "t3"];
        match self.random.percent(60) {
            true => scope[self.random.below(scope.len())].clone(),
            false => self.random.pick(&named).unwrap().to_owned(),
        }
    }

    fn formula(&mut self, scope: &mut Vec<String>, depth: usize) -> String {
        if depth == 0 {
            return self.atom(scope);
        }
        let depth = depth - 1;
        match self.random.below(16) {
            0 => format!("!({})", self.formula(scope, depth)),
            1 => format!("({} && {})", self.formula(scope, depth), self.formula(scope, depth)),
            2 => format!("({} || {})", self.formula(scope, depth), self.formula(scope, depth)),
            3 => format!("({} -> {})", self.formula(scope, depth), self.formula(scope, depth)),
            4 => format!("({} <-> {})", self.formula(scope, depth), self.formula(scope, depth)),
            5 => format!("((*) {})", self.formula(scope, depth)),
            6 => format!("(<*> {})", self.formula(scope, depth)),
            7 => format!("([*] {})", self.formula(scope, depth)),
            8 => format!("({} S {})", self.formula(scope, depth), self.formula(scope, depth)),
            9 => format!("[{}, {})", self.formula(scope, depth), self.formula(scope, depth)),
            10..=12 => format!("@{}({})", self.thread(scope), self.formula(scope, depth)),
            13 | 14 if self.quantifiers < 2 => self.quantified(scope, depth),
            _ => self.atom(scope),
        }
    }

    fn quantified(&mut self, scope: &mut Vec<String>, depth: usize) -> String {
        self.quantifiers += 1;
        let free: Vec<&str> =
            ["j", "k", "odd"].into_iter().filter(|name| !scope.iter().any(|s| s == name)).collect();
        let name = self.random.pick(&free).unwrap_or("j").to_owned();
        let except =
            if self.random.percent(60) { format!(" != {}", self.thread(scope)) } else { String::new() };
        let word = if self.random.percent(50) { "exists" } else { "forall" };
        scope.push(name.clone());
        let inner = self.formula(scope, depth);
        scope.pop();
        format!("({word} {name}{except}: {inner})")
    }

    fn atom(&mut self, scope: &[String]) -> String {
        match self.random.below(8) {
            0 => "c".to_owned(),
            1 => format!("@{}(c)", self.thread(scope)),
            2 => format!("read({})", self.variable()),
            3 => format!("write({})", self.variable()),
            _ => {
                let operator = self.random.pick(&["==", "!=", "<", "<=", ">", ">="]).unwrap();
                format!("({} {operator} {})", self.number(scope, 2), self.number(scope, 2))
            }
        }
    }

    fn variable(&mut self) -> &'static str {
        self.random.pick(&["x", "y"]).unwrap()
    }

    fn number(&mut self, scope: &[String], depth: usize) -> String {
        match self.random.below(if depth == 0 { 4 } else { 9 }) {
            0 => self.random.below(3).to_string(),
            1 => "a".to_owned(),
            2 | 3 => self.variable().to_owned(),
            4 => format!("({} + {})", self.number(scope, depth - 1), self.number(scope, depth - 1)),
            5 => {
                let function = self.random.pick(&["-", "*", "/", "%"]).unwrap();
                format!("({} {function} {})", self.number(scope, depth - 1), self.number(scope, depth - 1))
            }
            6 => format!("max({}, -{})", self.number(scope, depth - 1), self.number(scope, depth - 1)),
            _ => format!("@{}({})", self.thread(scope), self.number(scope, depth - 1)),
        }
    }
}
