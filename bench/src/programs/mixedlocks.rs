//! `mixedlocks…`: four threads that add to one variable under lock `a`, under lock `b`, and under both, in turn.
//!
//! The line under `a` alone and the line under `b` alone have no lock in common: one racy pair. All other pairs share a
//! lock. `a` is always taken before `b`, so there is no deadlock.

use super::simulation::Simulation;

/// Four threads with this many additions, together; 4 to 8 events each.
pub(super) fn program(additions: u32) -> Simulation {
    let mut program = Simulation::new("mixedlocks.rs", 20);
    let counter = program.variable("counter");
    let (a, b) = (program.mutex("a"), program.mutex("b"));
    let under_a = program.at(9, "work");
    let under_b = program.at(13, "work");
    let (outer, inner) = (program.at(16, "work"), program.at(17, "work"));
    let under_both = program.at(18, "work");
    let workers: Vec<_> = (0..4)
        .map(|i| {
            let (mut done, all) = (0, additions / 4);
            program.thread(&format!("worker-{i}"), move |script| {
                if done == all {
                    return;
                }
                match (done + i) % 3 {
                    0 => script.locked(under_a, a, |s| s.update(under_a, counter)),
                    1 => script.locked(under_b, b, |s| s.update(under_b, counter)),
                    _ => script.locked(outer, a, |s| s.locked(inner, b, |s| s.update(under_both, counter))),
                }
                done += 1;
            })
        })
        .collect();
    let (start, fork) = (program.at(25, "main"), program.at(26, "main"));
    let (join, print) = (program.at(27, "main"), program.at(28, "main"));
    let main = program.main();
    main.write(start, counter);
    main.run(fork, join, &workers);
    main.read(print, counter);
    program
}
