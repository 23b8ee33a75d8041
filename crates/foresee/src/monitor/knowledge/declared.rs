//! What the macros know of a property about what threads know.

use core::sync::atomic::{AtomicU64, Ordering};
use std::prelude::rust_2024::*;

/// A property with an `mttl` body. The macros make one for each: `MONITOR` in the property's module.
#[derive(Debug)]
pub struct KnowledgeMonitor {
    property: &'static str,
    source: &'static str,
    position: usize,
    violations: AtomicU64,
}

/// A monitor that is linked into this program.
#[doc(hidden)]
#[derive(Debug)]
pub struct RegisteredKnowledge(pub &'static KnowledgeMonitor);

inventory::collect!(RegisteredKnowledge);

impl KnowledgeMonitor {
    #[doc(hidden)]
    pub const fn new(property: &'static str, source: &'static str, position: usize) -> KnowledgeMonitor {
        KnowledgeMonitor { property, source, position, violations: AtomicU64::new(0) }
    }

    /// What the property is called.
    pub fn property(&self) -> &'static str {
        self.property
    }

    /// How often a thread came into a state in which one of its formulas does not hold.
    pub fn violations(&self) -> u64 {
        self.violations.load(Ordering::Relaxed)
    }

    /// The spec that it is in, and where.
    pub(super) fn written(&self) -> (&'static str, usize) {
        (self.source, self.position)
    }

    pub(super) fn count(&self) {
        self.violations.fetch_add(1, Ordering::Relaxed);
    }
}

/// All that are linked into this program.
pub(super) fn all() -> impl Iterator<Item = &'static KnowledgeMonitor> {
    inventory::iter::<RegisteredKnowledge>.into_iter().map(|registered| registered.0)
}
