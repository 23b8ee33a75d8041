//! The operators of formulas and conditions, with the signs they are written with.
//!
//! Formulas and conditions are written in one grammar, so there is one list for both; a condition has no temporal operators.

macro_rules! operators {
    ($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$about])* $variant,)* }

        impl $name {
            /// How it is written.
            pub fn text(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }
        }
    };
}

operators! {
    /// Operators with one operand.
    Unary {
        /// not
        Not = "!",
        /// arithmetic minus
        Minus = "-",
        /// at the next event
        Next = "o ",
        /// from now on
        Always = "[]",
        /// now or later
        Eventually = "<>",
        /// at the previous event
        Previously = "(*)",
        /// now or before
        Once = "<*>",
        /// at all events so far
        Historically = "[*]",
        /// true now and false at the previous event
        Start = "start",
        /// false now and true at the previous event
        Stop = "end",
    }
}

impl Unary {
    /// Whether it speaks of other moments than this one.
    pub fn is_temporal(self) -> bool {
        !matches!(self, Unary::Not | Unary::Minus)
    }
}

operators! {
    /// Operators with two operands.
    Binary {
        /// or
        Or = "||",
        /// and
        And = "&&",
        /// implies
        Implies = "->",
        /// if and only if
        Iff = "<->",
        /// until
        Until = "U",
        /// release
        Release = "R",
        /// weak until
        WeakUntil = "W",
        /// since
        Since = "S",
        /// equal
        Eq = "==",
        /// not equal
        Ne = "!=",
        /// less
        Lt = "<",
        /// at most
        Le = "<=",
        /// more
        Gt = ">",
        /// at least
        Ge = ">=",
        /// plus
        Add = "+",
        /// minus
        Sub = "-",
        /// times
        Mul = "*",
        /// divided by
        Div = "/",
        /// remainder
        Rem = "%",
    }
}
