//! Formulas of MTTL, multithreaded temporal logic: what a thread may say of itself and of what it knows of others.
//!
//! From Sen, Vardhan, Agha and Roşu, *Decentralized Runtime Analysis of Multithreaded Applications* (the DAME paper). A formula belongs to a
//! thread and is evaluated at each of its events, in the state that the thread can be sure of. `@j F` is F in the latest state of
//! thread j that it knows of. This is the syntax after all names were looked up and all types checked; who monitors it gives it its meaning.
//!
//! Threads are [`Term`]s: named ones, and those that a quantifier binds. Each quantifier has a number of its own, from 1 on; 0 is the thread
//! that the whole formula belongs to.

use crate::operator::Binary;

/// A name that a property has for threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadName {
    /// What the property calls it.
    pub name: String,
    /// Whom it may mean.
    pub who: Who,
}

/// Whom a name for threads may mean.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Who {
    /// Any thread: `thread i;`
    Any,
    /// Any thread whose name in the program is like this, where `*` stands for anything: `thread db: "worker-*";`
    Like(String),
    /// The thread of this name: `thread main: "main";`
    Named(String),
}

impl Who {
    /// Whether a thread of this name may be meant.
    pub fn includes(&self, name: &str) -> bool {
        match self {
            Who::Any => true,
            Who::Like(pattern) => is_like(name, pattern),
            Who::Named(wanted) => name == wanted,
        }
    }
}

/// Whether the text is like the pattern, in which `*` stands for anything.
fn is_like(text: &str, pattern: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return text == pattern };
    let Some(mut text) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some(at) = text.find(part) else { return false };
        text = &text[at + part.len()..];
    }
    text.ends_with(last)
}

/// A variable that every thread has for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    /// What it is called.
    pub name: String,
    /// Its value before the first assignment.
    pub initial: i64,
}

/// A whole formula, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mttl {
    /// The name for threads it begins with: it is evaluated at the events of all threads that this may mean.
    pub owner: u32,
    /// What is said of them.
    pub formula: Formula,
}

/// Stands for a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    /// Bound: by the quantifier of this number, or, for 0, the thread that the formula belongs to.
    Bound(u32),
    /// The thread that this name of the property means.
    Named(u32),
}

/// Something that is true or false in a state of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Formula {
    /// `true`, `false`
    Const(bool),
    /// A `bool` is true.
    Holds(Expr),
    /// `== != < <= > >=`
    Compare(Binary, Expr, Expr),
    /// This very event reads the variable.
    Read(u32),
    /// This very event writes the variable.
    Write(u32),
    /// `!F`
    Not(Box<Formula>),
    /// `&& || -> <->`
    Join(Binary, Box<Formula>, Box<Formula>),
    /// At the state directly before; at the first state, at that one.
    Previously(Box<Formula>),
    /// At some state so far.
    Once(Box<Formula>),
    /// At all states so far.
    Historically(Box<Formula>),
    /// The second at some state so far, the first at all later ones.
    Since(Box<Formula>, Box<Formula>),
    /// The first at some state so far, the second at none from that one on.
    Interval(Box<Formula>, Box<Formula>),
    /// At the latest known state of that thread.
    At(Term, Box<Formula>),
    /// For some or all threads that are known.
    Quantified(Quantifier, Box<Formula>),
}

/// `exists j != i:`, `forall j:`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantifier {
    /// `forall`; otherwise `exists`.
    pub all: bool,
    /// The number of the quantifier.
    pub binds: u32,
    /// The name of the property that it uses: only threads that this may mean.
    pub among: u32,
    /// Who is left out.
    pub except: Option<Term>,
}

/// A number in a state of a thread; truth values are 0 and 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// A number.
    Number(i64),
    /// A variable of the thread.
    Local(u32),
    /// A shared variable.
    Var(u32),
    /// `-E`
    Minus(Box<Expr>),
    /// `+ - * / %`
    Arithmetic(Binary, Box<Expr>, Box<Expr>),
    /// `abs`, `min`, `max`
    Function(Function, Vec<Expr>),
    /// At the latest known state of that thread.
    At(Term, Box<Expr>),
}

/// A function of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// Without its sign.
    Abs,
    /// The smaller of two.
    Min,
    /// The larger of two.
    Max,
}

impl Function {
    /// All of them, by name, with how many numbers each takes.
    pub const ALL: [(&'static str, Function, usize); 3] =
        [("abs", Function::Abs, 1), ("min", Function::Min, 2), ("max", Function::Max, 2)];
}

#[cfg(test)]
mod tests {
    use super::is_like;

    #[test]
    fn a_star_stands_for_anything() {
        assert!(is_like("worker-12", "worker-*") && is_like("worker-", "worker-*") && is_like("abc", "*"));
        assert!(is_like("a-b-c", "a*-*c") && is_like("aXbYc", "a*b*c"));
        assert!(!is_like("worker", "worker-*") && !is_like("ab", "a*b*c") && !is_like("abcd", "a*c"));
    }
}
