//! Conditions over numbers: the guards of events, and what formulas say about variables.
//!
//! Arithmetic wraps around at 64 bits; division by zero makes a condition false, whatever it is part of: monitors look
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
}

impl Expr {
    /// Whether the condition holds.
    pub fn holds(&self, values: Values<'_>) -> bool {
        self.value(values).is_some_and(|value| value != 0)
    }

    /// Its value, or nothing where something was divided by zero.
    fn value(&self, values: Values<'_>) -> Option<i64> {
        match self {
            Expr::Number(number) => Some(*number),
            Expr::Source(Source::Var(var)) => values.vars.get(*var as usize).copied(),
            Expr::Source(Source::Arg(arg)) => values.args.get(*arg as usize).map(|arg| *arg as i64),
            Expr::Source(Source::Thread) => Some(values.thread as i64),
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
