//! foresee's monitors: a specification language, its formalisms, and parametric slicing.
//!
//! A spec file holds properties. A property has parameters (objects, threads), events that bind them, and bodies in one
//! of several formalisms that state which sequences of events are right or wrong:
//!
//! ```
//! use foresee_monitor::{compile, watch::Watch};
//!
//! let spec = r#"
//!     property UnsafeIterator(c, i) {
//!         event create(c, i);
//!         event update(c);
//!         event next(i);
//!         ere: create next* update+ next
//!         @match { report "{c} changed under iterator {i}"; }
//!     }
//! "#;
//! let compiled = compile(spec).unwrap();
//! let mut watch = Watch::new(&compiled.properties[0], |_| None);
//! let mut matches = 0;
//! for (event, objects) in [(0, &[1, 7][..]), (2, &[7]), (1, &[1]), (2, &[7])] {
//!     watch.event(event, 0, objects, &mut |_| matches += 1).unwrap();
//! }
//! assert_eq!(matches, 1);
//! ```
//!
//! The way through the crate: [`spec`] reads text and compiles it into a [`property::Property`], whose bodies are
//! [`formalism`] machines; [`watch::Watch`] runs a property over events; below it, [`mod@slice`] keeps one copy of the machine
//! for each binding of the parameters; [`remembering`] gives the copies variables. Formulas about what threads know are [`mttl`], and are monitored elsewhere. [`graph`] draws the automata of bodies. Nothing here reads files, prints, or knows about
//! traces.

pub mod formalism;
pub mod graph;
pub mod handler_text;
pub mod instance;
pub mod mttl;
pub mod objects;
pub mod operator;
pub mod predicate;
pub mod property;
pub mod questions;
pub mod recorded_values;
pub mod remembering;
pub mod slice;
pub mod spec;
pub mod watch;

use spec::diagnostic::{Diagnostic, Severity};

/// What a spec file compiles to.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The properties, in order.
    pub properties: Vec<property::Property>,
    /// What is probably not intended.
    pub warnings: Vec<Diagnostic>,
}

/// Compiles a spec file; on failure, returns all errors and warnings.
pub fn compile(source: &str) -> Result<Compiled, Vec<Diagnostic>> {
    compile_with(source, &spec::raw_monitors::RawMonitors::default())
}

/// The same, with the monitors that the program has registered for `raw` bodies.
pub fn compile_with(
    source: &str,
    monitors: &spec::raw_monitors::RawMonitors,
) -> Result<Compiled, Vec<Diagnostic>> {
    let parsed = spec::parser::parse(source);
    let (properties, mut problems) = spec::check::check(&parsed.properties, monitors);
    problems.extend(parsed.problems);
    problems.sort_by_key(|problem| problem.span.start);
    if problems.iter().any(|problem| problem.severity == Severity::Error) {
        return Err(problems);
    }
    Ok(Compiled { properties, warnings: problems })
}
