//! Which functions are meant to be atomic, by their names.

use foresee_trace::FunctionPattern;

/// The functions whose calls are atomic blocks: what people write for them, as everywhere ([`FunctionPattern`]).
#[derive(Clone, Debug, Default)]
pub struct AtomicFunctions {
    patterns: Vec<FunctionPattern>,
}

impl AtomicFunctions {
    /// The functions that match one of the patterns.
    pub fn new<P: AsRef<str>>(patterns: impl IntoIterator<Item = P>) -> Self {
        let patterns = patterns.into_iter().map(|pattern| FunctionPattern::new(pattern.as_ref()));
        AtomicFunctions { patterns: patterns.collect() }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Whether the function of this name is atomic.
    pub fn matches(&self, function: &str) -> bool {
        self.patterns.iter().any(|pattern| pattern.matches(function))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_meant_without_brackets() {
        let atomic = AtomicFunctions::new(["Bank::withdraw", "*_atomically"]);
        assert!(atomic.matches("<app::Bank>::withdraw") && atomic.matches("run_atomically"));
        assert!(!atomic.matches("<app::MyBank>::withdraw") && AtomicFunctions::default().is_empty());
    }
}
