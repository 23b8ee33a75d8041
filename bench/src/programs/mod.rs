//! The benchmark programs of the RV-Predict paper (Meredith and Roşu, *Runtime Verification with the RV System*, 2010, figure 8),
//! simulated: what counts is the trace a run leaves.
//!
//! The paper names the programs and gives time and trace size, not their sources or numbers of events. `account`,
//! `elevator` and `tsp` follow the well-known programs of these names; of the others the paper says that they are
//! made to be difficult, "such as millions of accesses to the same shared variable in huge". Lengths are chosen so
//! that they relate to each other about as the trace sizes of the paper do (so the cities of `map10` are more than ten).

mod account;
mod elevator;
mod huge;
mod mixedlocks;
mod simulation;
mod tsp;

pub(crate) use simulation::Simulation;

/// Starts a run.
type Start = fn() -> Simulation;

/// A benchmark program and what the paper says of it.
pub(crate) struct Program {
    /// With its input, as in the paper.
    pub(crate) name: &'static str,
    pub(crate) start: Start,
    /// Racy pairs of source lines, by construction; the module of the program tells which.
    pub(crate) races: usize,
    /// How long RV-Predict took.
    pub(crate) paper_seconds: f64,
    /// The disk space RV-Predict needed, in KiB.
    pub(crate) paper_kib: u64,
}

const fn program(
    name: &'static str,
    start: Start,
    races: usize,
    paper_seconds: f64,
    paper_kib: u64,
) -> Program {
    Program { name, start, races, paper_seconds, paper_kib }
}

/// All of them, in the order of the paper.
pub(crate) const PROGRAMS: &[Program] = &[
    program("account", || account::program(10, 50, 20), 3, 4.31, 360),
    program("elevator", || elevator::program(10, 4, 40_000), 0, 80.31, 864),
    program("tsp map4", || tsp::program(4, 2), 3, 93.44, 744),
    program("tsp map5", || tsp::program(5, 2), 3, 140.95, 868),
    program("tsp map10", || tsp::program(12, 2), 3, 1767.13, 2867),
    program("huge", || huge::program(5_000_000), 1, 42.22, 13_312),
    program("medium", || huge::program(250_000), 1, 6.12, 840),
    program("small", || huge::program(5_000), 1, 5.99, 292),
    program("mixedlockshuge", || mixedlocks::program(400_000), 1, 13.95, 2970),
    program("mixedlocksbig", || mixedlocks::program(40_000), 1, 7.03, 496),
    program("mixedlocksmedium", || mixedlocks::program(4_000), 1, 7.25, 308),
    program("mixedlockssmall", || mixedlocks::program(2_000), 1, 5.67, 296),
];

/// Small runs of these programs, as text traces for people to read: `examples/traces/`.
pub(crate) const EXAMPLES: &[(&str, Start)] = &[
    // One customer after the other: none of the three races is there to be observed.
    ("bank", || account::program(2, 1, 1_000_000)),
    ("mixedlocks", || mixedlocks::program(24)),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use foresee_oracle::Oracle;
    use foresee_trace::validate::Validator;
    use foresee_trace::{EventSource, Execution, LocId};

    use super::*;

    fn racy_lines(mut run: Simulation) -> BTreeSet<(LocId, LocId)> {
        let execution = Execution::read(&mut run).expect("a run");
        let pair = |(a, b)| {
            let (a, b) = (execution.loc(a), execution.loc(b));
            (a.min(b), a.max(b))
        };
        Oracle::new(&execution).races().into_iter().map(pair).collect()
    }

    #[test]
    fn every_run_is_a_valid_trace_and_the_same_each_time() {
        for program in PROGRAMS.iter().filter(|program| !["huge", "tsp map10"].contains(&program.name)) {
            let (mut run, mut again) = ((program.start)(), (program.start)());
            let (mut validator, mut index) = (Validator::new(), 0);
            while run.advance().expect("a run") {
                assert!(again.advance().expect("a run") && run.event() == again.event(), "{}", program.name);
                validator.event(run.names(), index, &run.event());
                index += 1;
            }
            assert!(validator.finish().is_valid(), "{}", program.name);
        }
    }

    #[test]
    fn tiny_runs_have_the_races_they_are_meant_to_have() {
        assert_eq!(racy_lines(account::program(2, 1, 1_000_000)).len(), 3);
        assert_eq!(racy_lines(huge::program(6)).len(), 1);
        assert_eq!(racy_lines(mixedlocks::program(8)).len(), 1);
        assert_eq!(racy_lines(elevator::program(2, 2, 8)).len(), 0);
    }
}
