//! The values of the paper's Fig. 2. Its picture is not in the text that we have: the run is one on which every number comes out that the text states.
#![allow(clippy::unwrap_used)]

use std::collections::HashMap;

use foresee_mttl::{Accessed, Knowledge, NoTrail, Program, ThreadMonitor, Threads, Variable};

const NAMES: [&str; 4] = ["x", "y", "u", "v"];

/// Speaks of all variables, and asks others for u and v.
const SPEC: &str =
    "property All { thread i, j; var x: int = 0; var y: int = 0; var u: int = 0; var v: int = 0;
    mttl: @i(x + y + u + v >= 0 && forall j != i: @j u + @j v >= 0) @violation { count; } }";

struct Run {
    program: Program,
    threads: Threads,
    monitors: Vec<ThreadMonitor<Knowledge<NoTrail>>>,
    variables: HashMap<u32, Variable<Knowledge<NoTrail>>>,
}

impl Run {
    fn new() -> Run {
        let compiled = foresee_monitor::compile(SPEC).unwrap();
        let property = &compiled.properties[0];
        let program = Program::new([(property, &property.mttl[0])]).unwrap();
        let mut threads = Threads::new(&program);
        let slots: Vec<_> =
            ["t1", "t2", "t3"].iter().map(|name| threads.add(&program, name, false)).collect();
        let monitors = slots.iter().map(|slot| ThreadMonitor::root(&program, &threads, *slot)).collect();
        Run { program, threads, monitors, variables: HashMap::new() }
    }

    fn number(&self, name: &str) -> u32 {
        self.program.variables().iter().position(|variable| variable.name == name).unwrap() as u32
    }

    fn read(&mut self, thread: usize, name: &str) {
        let number = self.number(name);
        let variable = self.variables.entry(number).or_default();
        let accessed = Accessed::default().reading(number);
        self.monitors[thread - 1].read(&self.program, &self.threads, variable, accessed, 0);
    }

    fn write(&mut self, thread: usize, name: &str, value: i64) {
        let number = self.number(name);
        let (variable, monitor) = (self.variables.entry(number).or_default(), &mut self.monitors[thread - 1]);
        monitor.learn_all(variable, 0);
        monitor.set(number, value);
        monitor.write(&self.program, &self.threads, variable, Accessed::default().writing(number), 0);
    }

    /// The predicted state of a thread.
    fn predicted(&self, thread: usize) -> [i64; 4] {
        let known = self.monitors[thread - 1].knowledge();
        NAMES.map(|name| known.variable(self.number(name)).value)
    }

    /// What a thread knows of the values of u and v in the latest state of another.
    fn latest(&self, thread: usize, of: usize) -> [i64; 2] {
        let monitor = &self.monitors[thread - 1];
        let slot = self.monitors[of - 1].slot();
        [0, 1].map(|asked| monitor.answer(&self.program, &self.threads, slot, asked, &[]).unwrap())
    }
}

#[test]
fn predicted_states_and_latest_known_states() {
    let mut run = Run::new();
    run.write(1, "x", 1);
    run.read(1, "x");
    run.write(1, "y", 1);
    run.write(2, "v", 1);
    run.read(3, "v");
    run.write(3, "u", 2);
    // u = y + u
    run.read(3, "y");
    run.read(3, "u");
    run.write(3, "u", 3);
    assert_eq!(run.predicted(3), [1, 1, 3, 1], "after e_3^5");
    assert_eq!(run.latest(2, 3), [0, 0], "t2 knows no event of t3");
    run.read(2, "u");
    assert_eq!(run.latest(2, 3), [3, 1], "t2 knows t3 as it was after e_3^5");
    run.read(2, "v");
    run.write(2, "v", 4);
    assert_eq!(run.predicted(2), [1, 1, 3, 4], "after e_2^4");
    run.read(1, "u");
    run.write(1, "u", 9);
    run.read(2, "x");
    run.read(2, "v");
    run.write(2, "v", 5);
    assert_eq!(run.predicted(2), [1, 1, 3, 5], "after e_2^7: not the actual state, in which u is 9");
    assert_eq!(run.latest(2, 3), [3, 1]);
    assert_eq!(run.predicted(1), [1, 1, 9, 1]);
}
