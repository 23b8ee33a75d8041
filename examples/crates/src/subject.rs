//! What a structure is to the harness.

use foresee::refine::{Harness, Linearized, RefineError};

use crate::{maps, queues};

/// Which operations of a structure are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Those that claim to be atomic.
    Claimed,
    /// Those as well that do not.
    All,
}

/// A structure of a crate.
pub struct Subject {
    /// The crate, and what of it.
    pub name: &'static str,
    /// What `foresee refine` knows its specification by.
    pub model: &'static str,
    /// Drives it, and says whether some order explains what it gave back.
    pub test: fn(&Harness, Which) -> Result<Linearized, RefineError>,
}

/// All of them.
pub static SUBJECTS: &[Subject] = &[
    Subject { name: "crossbeam-skiplist", model: "map", test: maps::test::<maps::SkipList> },
    Subject { name: "dashmap", model: "map", test: maps::test::<maps::Dash> },
    Subject { name: "dashmap-set", model: "set", test: maps::test::<maps::DashedSet> },
    Subject { name: "scc-map", model: "map", test: maps::test::<maps::SccMap> },
    Subject { name: "scc-index", model: "map", test: maps::test::<maps::SccIndex> },
    Subject { name: "scc-tree", model: "map", test: maps::test::<maps::SccTree> },
    Subject { name: "scc-set", model: "set", test: maps::test::<maps::SccSet> },
    Subject { name: "moka", model: "map", test: maps::test::<maps::Moka> },
    Subject { name: "papaya", model: "map", test: maps::test::<maps::Papaya> },
    Subject { name: "papaya-set", model: "set", test: maps::test::<maps::PapayaSet> },
    Subject { name: "concurrent-queue", model: "channel", test: queues::test::<queues::Unbounded> },
    Subject { name: "concurrent-queue-3", model: "channel", test: queues::test::<queues::Bounded<3>> },
    Subject { name: "concurrent-queue-1", model: "channel", test: queues::test::<queues::Bounded<1>> },
    Subject { name: "flume", model: "channel", test: queues::test::<queues::Flume<0>> },
    Subject { name: "flume-2", model: "channel", test: queues::test::<queues::Flume<2>> },
    Subject { name: "flume-waiting", model: "channel", test: queues::test_waiting::<queues::Flume<0>> },
    Subject { name: "flume-1-waiting", model: "channel", test: queues::test_waiting::<queues::Flume<1>> },
];
