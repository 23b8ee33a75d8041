//! How big a spec may be.
//!
//! A spec may be anybody's: an observer hands its own to programs it has never seen. All passes over a spec take time and memory in
//! proportion to what stands here, at worst to the product of two of these, and recurse no deeper than a body has operators: with these
//! limits none takes seconds or overflows a stack. Specs that people write are far below; what is beyond is refused with a
//! message that says which limit it is.

/// Bytes of a file.
pub const SIZE: usize = 1 << 20;

/// Bytes of a name.
pub(super) const NAME: usize = 250;

/// How deep formulas and patterns may nest: the parser recurses.
pub(super) const DEPTH: usize = 200;

/// Operators and operands of one body, or of the guard of one event.
pub(super) const OPERATORS: usize = 2000;

/// Events of a property.
pub(super) const EVENTS: usize = 1000;

/// Variables that each instance of a property has for itself, and changes of them at one event.
pub(super) const STATE_VARIABLES: usize = 100;

/// Functions that one event may be a call of.
pub(super) const FUNCTIONS: usize = 100;

/// States of an `fsm`, and rules of a grammar.
pub(super) const STATES: usize = 2000;

/// Mistakes that are told of one file.
pub(super) const PROBLEMS: usize = 50;
