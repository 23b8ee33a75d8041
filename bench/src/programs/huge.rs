//! `huge`, `medium`, `small`: very many accesses of one shared variable, by two threads without any lock.
//!
//! One source line, `counter += 1`, that races with itself: one racy pair, with as many dynamic instances as anyone cares to
//! count. What must not happen is that the cost per access grows with the accesses before it.

use super::simulation::Simulation;

/// Two threads that add to the counter this often, together; two accesses each time.
pub(super) fn program(additions: u32) -> Simulation {
    let mut program = Simulation::new("huge.rs", 50);
    let counter = program.variable("counter");
    let add = program.at(8, "work");
    let workers: Vec<_> = (0..2)
        .map(|i| {
            let mut left = additions / 2;
            program.thread(&format!("worker-{i}"), move |script| {
                if left > 0 {
                    left -= 1;
                    script.update(add, counter);
                }
            })
        })
        .collect();
    let (start, fork) = (program.at(13, "main"), program.at(14, "main"));
    let (join, print) = (program.at(15, "main"), program.at(16, "main"));
    let main = program.main();
    main.write(start, counter);
    main.run(fork, join, &workers);
    main.read(print, counter);
    program
}
