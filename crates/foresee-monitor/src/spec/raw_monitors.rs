//! The monitors that a program has written itself, for `raw` bodies.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::ast::Content;
use super::parser::parse;
use crate::formalism::raw::RawMonitor;

/// The monitors that a program registered for `raw` bodies, by name.
#[derive(Clone, Default)]
pub struct RawMonitors(BTreeMap<String, Arc<dyn RawMonitor>>);

impl RawMonitors {
    /// Registers a monitor.
    pub fn register(&mut self, name: impl Into<String>, monitor: Arc<dyn RawMonitor>) {
        self.0.insert(name.into(), monitor);
    }

    /// Registers a monitor without verdicts for each `raw` body of this spec that has none; returns their names.
    pub fn stand_in(&mut self, source: &str) -> Vec<String> {
        let properties = parse(source).properties;
        let bodies = properties.into_iter().flat_map(|property| property.bodies);
        let names = bodies.filter_map(|body| match body.content {
            Content::Raw(name, _) => Some(name),
            _ => None,
        });
        let missing: Vec<String> = names.filter(|name| !self.0.contains_key(name)).collect();
        missing.iter().for_each(|name| self.register(name, Arc::new(Silent)));
        missing
    }

    pub(super) fn get(&self, name: &str) -> Option<Arc<dyn RawMonitor>> {
        self.0.get(name).cloned()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

/// Stands in for a monitor that is not there.
struct Silent;

impl RawMonitor for Silent {
    fn step(&self, state: u64, _: u32) -> u64 {
        state
    }

    fn verdicts(&self, _: u64) -> &[&'static str] {
        &[]
    }
}

impl fmt::Debug for RawMonitors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
