//! The properties of the program about what threads know, and its threads.

use core::sync::atomic::{AtomicU32, Ordering};
use std::format;
use std::prelude::rust_2024::*;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use foresee_monitor::property::{MttlBody, Property};
use foresee_mttl::{Program, Slot, Threads};

use super::declared::{self, KnowledgeMonitor};
use crate::monitor::message::say;
use crate::monitor::tables::compiled;

/// All that monitors of threads have in common.
pub(super) struct World {
    pub(super) program: Program,
    /// Per formula: its monitor, property and body.
    formulas: Vec<(&'static KnowledgeMonitor, &'static Property, usize)>,
    threads: RwLock<Arc<Threads>>,
    /// What each thread is called.
    names: RwLock<Vec<String>>,
    /// How often a thread was added: the only thing that all threads look at.
    version: AtomicU32,
}

static WORLD: LazyLock<Option<World>> = LazyLock::new(World::of_program);

/// The world, if the program has any property of this kind.
#[inline]
pub(super) fn world() -> Option<&'static World> {
    WORLD.as_ref()
}

impl World {
    fn of_program() -> Option<World> {
        let mut properties = Vec::new();
        for monitor in declared::all() {
            let (source, position) = monitor.written();
            // Properties are for as long as the program is.
            let property: &'static Property = Box::leak(Box::new(compiled(source, position)));
            properties.push((monitor, property));
        }
        let formulas: Vec<_> = (properties.iter())
            .flat_map(|&(monitor, property)| {
                (0..property.mttl.len()).map(move |body| (monitor, property, body))
            })
            .collect();
        if formulas.is_empty() {
            return None;
        }
        // What cannot be followed together was refused when the program was built, one by one: then nothing is.
        let program =
            Program::new(formulas.iter().map(|&(_, property, body)| (property, &property.mttl[body])))
                .ok()?;
        let threads = RwLock::new(Arc::new(Threads::new(&program)));
        Some(World { program, formulas, threads, names: RwLock::default(), version: AtomicU32::new(0) })
    }

    /// The monitor and body of a formula.
    pub(super) fn formula(
        &self,
        number: u32,
    ) -> (&'static KnowledgeMonitor, &'static Property, &'static MttlBody) {
        let (monitor, property, body) = self.formulas[number as usize];
        (monitor, property, &property.mttl[body])
    }

    /// Notes one more thread.
    pub(super) fn add(&self, name: &str, forked: bool) -> Slot {
        let mut threads = self.threads.write().unwrap_or_else(PoisonError::into_inner);
        let mut more = Threads::clone(&threads);
        let slot = more.add(&self.program, name, forked);
        *threads = Arc::new(more);
        self.names.write().unwrap_or_else(PoisonError::into_inner).push(name.to_owned());
        self.version.fetch_add(1, Ordering::Release);
        slot
    }

    /// What a thread is called.
    pub(super) fn name(&self, slot: Slot) -> String {
        let names = self.names.read().unwrap_or_else(PoisonError::into_inner);
        let name = names.get(slot as usize).filter(|name| !name.is_empty());
        name.cloned().unwrap_or_else(|| format!("thread #{slot}"))
    }

    /// Changes whenever there is one more thread.
    #[inline]
    pub(super) fn version(&self) -> u32 {
        self.version.load(Ordering::Acquire)
    }

    /// Who there is now.
    pub(super) fn threads(&self) -> Arc<Threads> {
        Arc::clone(&self.threads.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The number of a shared variable of this name, if a formula speaks of it. It begins with this value, if it is seen: if formulas believe something else, that is told.
    pub(super) fn variable(&self, name: &str, begins: Option<i64>) -> Option<u32> {
        let at = self.program.variables().iter().position(|known| known.name == name)?;
        let believed = self.program.variables()[at].initial.unwrap_or(0);
        if let Some(begins) = begins.filter(|begins| *begins != believed && self.program.asks_for_values()) {
            say(&format!(
                "the cell `{name}` is {begins} at first, and properties take it for {believed}: declare it as `var {name}: int = {begins};`"
            ));
        }
        Some(at as u32)
    }

    /// The numbers of the locals of this name.
    pub(super) fn locals(&self, name: &str) -> Vec<u32> {
        let all = self.program.locals().iter().zip(0..);
        all.filter(|(local, _)| local.name == name).map(|(_, number)| number).collect()
    }
}
