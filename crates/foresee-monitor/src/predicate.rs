//! Conditions over numbers: the guards of events, and what formulas say about variables.
//!
//! Arithmetic wraps around at 64 bits; division by zero, or a parameter that has no value yet, makes a condition false, whatever it is part of: monitors look
//! at programs and never fail on what they see. Texts are numbers too: equal or not, and nothing else is asked of them.

use crate::operator::{Binary, Unary};

/// Where a number comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// A variable of the property.
    Var(u32),
    /// A value that the event carries, by position.
    Arg(u32),
    /// The thread that did the event.
    Thread,
    /// A variable that each instance has for itself.
    State(u32),
    /// A parameter of the property, as far as the instance has a value for it.
    Param(u8),
}

/// What stands for a text, by its position among the [texts](crate::property::Property::texts) of its property: a number that is no
/// address, no identity of an object, and no number that programs are likely to count to.
pub fn text_number(position: usize) -> u64 {
    1 << 62 | 1 << 32 | position as u64 & u64::from(u32::MAX)
}

/// A condition or a number; conditions are 0 and 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Expr {
    /// A number.
    Number(i64),
    /// Looked up.
    Source(Source),
    /// `!` or `-`.
    Unary(Unary, Box<Expr>),
    /// Arithmetic, a comparison or a boolean operator.
    Binary(Binary, Box<Expr>, Box<Expr>),
}

/// What conditions can look at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Values<'a> {
    /// The variables of the property.
    pub vars: &'a [i64],
    /// What the event carries.
    pub args: &'a [u64],
    /// Who did it.
    pub thread: u64,
    /// When, in nanoseconds since any moment; for properties that ask for it.
    pub time: u64,
    /// The instance's own variables.
    pub state: &'a [i64],
    /// What the instance is about.
    pub binding: Binding<'a>,
}

/// The values of a property's parameters, as far as an instance has them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Binding<'a> {
    /// Which parameters have values, as bits.
    pub bound: u16,
    /// The values, by parameter.
    pub values: &'a [u64],
}

impl Binding<'_> {
    fn value(self, param: u8) -> Option<u64> {
        let is_bound = self.bound.checked_shr(param.into()).unwrap_or(0) & 1 == 1;
        self.values.get(usize::from(param)).filter(|_| is_bound).copied()
    }
}

impl Expr {
    /// Whether the condition holds.
    pub fn holds(&self, values: Values<'_>) -> bool {
        self.value(values).is_some_and(|value| value != 0)
    }

    /// Whether it can be decided only for an instance.
    pub fn asks_instance(&self) -> bool {
        match self {
            Expr::Number(_) => false,
            Expr::Source(source) => matches!(source, Source::State(_) | Source::Param(_)),
            Expr::Unary(_, inner) => inner.asks_instance(),
            Expr::Binary(_, left, right) => left.asks_instance() || right.asks_instance(),
        }
    }

    /// Its value, or nothing where something was divided by zero, or a parameter has no value yet.
    pub fn value(&self, values: Values<'_>) -> Option<i64> {
        match self {
            Expr::Number(number) => Some(*number),
            Expr::Source(Source::Var(var)) => values.vars.get(*var as usize).copied(),
            Expr::Source(Source::Arg(arg)) => values.args.get(*arg as usize).map(|arg| *arg as i64),
            Expr::Source(Source::Thread) => Some(values.thread as i64),
            Expr::Source(Source::State(state)) => values.state.get(*state as usize).copied(),
            Expr::Source(Source::Param(param)) => values.binding.value(*param).map(|value| value as i64),
            Expr::Unary(Unary::Minus, inner) => inner.value(values).map(i64::wrapping_neg),
            Expr::Unary(_, inner) => inner.value(values).map(|value| i64::from(value == 0)),
            Expr::Binary(operator, left, right) => {
                apply(*operator, left.value(values)?, right.value(values)?)
            }
        }
    }
}

fn apply(operator: Binary, left: i64, right: i64) -> Option<i64> {
    let truth = |value: bool| Some(i64::from(value));
    match operator {
        Binary::Add => Some(left.wrapping_add(right)),
        Binary::Sub => Some(left.wrapping_sub(right)),
        Binary::Mul => Some(left.wrapping_mul(right)),
        Binary::Div => (right != 0).then(|| left.wrapping_div(right)),
        Binary::Rem => (right != 0).then(|| left.wrapping_rem(right)),
        Binary::Eq => truth(left == right),
        Binary::Ne => truth(left != right),
        Binary::Lt => truth(left < right),
        Binary::Le => truth(left <= right),
        Binary::Gt => truth(left > right),
        Binary::Ge => truth(left >= right),
        Binary::And => truth(left != 0 && right != 0),
        Binary::Or => truth(left != 0 || right != 0),
        Binary::Implies => truth(left == 0 || right != 0),
        Binary::Iff => truth((left != 0) == (right != 0)),
        Binary::Until | Binary::Release | Binary::WeakUntil | Binary::Since => None,
    }
}
