//! Refinement logging that is not there: checked by the compiler, and nothing when the program runs.

use core::ops::Deref;

/// A variable whose writes are logged, if the feature `refine` is on; otherwise just the variable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Logged<T>(T);

impl<T> Logged<T> {
    /// A variable with this value, which is not logged. The name is that of the variable in the log, such as `A[3].elt`.
    #[inline(always)]
    pub fn new<N>(_name: impl FnOnce() -> N, value: T) -> Logged<T> {
        Logged(value)
    }

    /// Writes it.
    #[inline(always)]
    pub fn set(&mut self, value: T) {
        self.0 = value;
    }
}

impl<T> Deref for Logged<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

#[doc(hidden)]
#[macro_export]
macro_rules! __refined {
    ($kind:ident $name:literal [$($arg:ident),*] [$($gives:tt)*] { $($body:tt)* }) => {{ $($body)* }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __commit {
    () => {};
    ($condition:expr) => {
        if false {
            let _: bool = $condition;
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __commit_block {
    () => {};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __log_entry {
    ($how:ident, [$($format:tt)*], $value:expr) => {
        if false {
            let _ = (::core::format_args!($($format)*), &$value);
        }
    };
    ($how:ident, $target:expr, $value:expr) => {
        if false {
            let _ = (&$target, &$value);
        }
    };
}

#[cfg(test)]
mod tests {
    use super::Logged;

    #[test]
    fn a_logged_variable_is_just_the_variable() {
        assert_eq!(size_of::<Logged<u32>>(), size_of::<u32>());
        let mut variable = Logged::new(|| -> &str { panic!("nobody asks for the name") }, 1);
        variable.set(2);
        assert_eq!(*variable, 2);
    }
}
