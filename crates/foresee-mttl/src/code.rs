//! Formulas as closures: each part of a formula is a function of a state that calls the functions of its own parts.
//!
//! That is what makes a formula cheap to work out at every event: what is to be done was decided when the program was built, and numbers, locals and truth values that need no work
//! are taken in place. Operators have one definition, here, for all kinds of states.

use std::fmt;
use std::sync::Arc;

use foresee_monitor::mttl::Function;
use foresee_monitor::operator::Binary;

use crate::Value;
use crate::table::{Choice, Host, Node, Quantified};

/// A thread, by number.
type Slot = u32;

pub(crate) fn is_true(value: Value) -> bool {
    value.is_some_and(|value| value != 0)
}

pub(crate) fn truth(value: bool) -> Value {
    Some(i64::from(value))
}

/// A state, as formulas see it.
pub(crate) struct View<'a> {
    /// Whose state it is.
    pub(crate) me: Slot,
    pub(crate) locals: &'a [i64],
    /// Which variables this event reads and writes, as bits.
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    pub(crate) tables: &'a dyn Tables,
}

/// What else there is in a state.
pub(crate) trait Tables {
    /// What a table says of this state.
    fn here(&self, table: u32, choice: &Choice) -> Value;
    /// What a table says of the latest known state of a thread.
    fn at(&self, slot: Slot, table: u32, choice: &Choice) -> Value;
    /// The value of a shared variable.
    fn variable(&self, variable: u32) -> i64;
    /// The thread of a name; nobody has its number if it is not known.
    fn named(&self, name: u32) -> Slot;
    /// Who exists in this state, as bits of a word; only those of a group, if one is given.
    fn existing(&self, at: usize, among: Option<u32>) -> u64;
    /// How many words those are.
    fn words(&self) -> usize;
    /// The thread itself, if it is none of those.
    fn stranger(&self, among: Option<u32>) -> Option<Slot>;

    /// Whether the answer of any thread that a quantifier ranges over decides it.
    fn is_decided(&self, asked: &Asked, state: &View<'_>, choice: &Choice) -> bool {
        let wanted = asked.wanted(state.locals);
        let is_meant = |slot| wanted.is_met(self.at(slot, asked.table, choice));
        first(self, &state.range(&asked.quantified, choice), is_meant).is_some()
    }
}

/// Whom a quantifier ranges over in a state.
pub(crate) struct Range {
    among: Option<u32>,
    except: Option<Slot>,
}

impl View<'_> {
    /// The thread that is meant.
    #[inline]
    pub(crate) fn slot(&self, host: Host, choice: &Choice) -> Slot {
        match host {
            Host::Own => self.me,
            Host::Bound(bound) => choice[bound as usize],
            Host::Named(name) => self.tables.named(name),
        }
    }

    /// Whom a quantifier ranges over.
    #[inline]
    pub(crate) fn range(&self, quantified: &Quantified, choice: &Choice) -> Range {
        Range { among: quantified.among, except: quantified.except.map(|host| self.slot(host, choice)) }
    }
}

/// The bit of a thread, if it is in this word.
#[inline]
pub(crate) fn thread_bit(slot: Slot, at: usize) -> u64 {
    u64::from(slot as usize / 64 == at) << (slot % 64)
}

type Truth = Arc<dyn Fn(&View<'_>, &Choice) -> bool + Send + Sync>;
type Work = Arc<dyn Fn(&View<'_>, &Choice) -> Value + Send + Sync>;

/// How something is worked out in a state, for a choice of threads.
#[derive(Clone)]
pub(crate) enum Code {
    Number(i64),
    Local(u32),
    /// A local compares so with a number.
    Test(Test),
    /// A quantifier that asks each thread one thing.
    Asked(Asked),
    /// Something holds unless a local compares otherwise with a number.
    Guarded(Test, Arc<Code>),
    Work(Work),
    Truth(Truth),
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Code::Number(number) => write!(f, "{number}"),
            Code::Local(local) => write!(f, "local {local}"),
            Code::Test(test) => write!(f, "{test:?}"),
            Code::Guarded(..) | Code::Asked(_) | Code::Work(_) | Code::Truth(_) => f.write_str("a function"),
        }
    }
}

impl Code {
    /// Whether it holds.
    #[inline]
    pub(crate) fn holds(&self, state: &View<'_>, choice: &Choice) -> bool {
        match self {
            Code::Truth(holds) => holds(state, choice),
            Code::Work(value) => is_true(value(state, choice)),
            Code::Test(test) => test.holds(state.locals),
            Code::Asked(asked) => state.tables.is_decided(asked, state, choice) != asked.if_undecided,
            Code::Guarded(guard, then) => !guard.holds(state.locals) || then.holds(state, choice),
            Code::Local(local) => state.locals[*local as usize] != 0,
            Code::Number(number) => *number != 0,
        }
    }

    /// Its value.
    #[inline]
    pub(crate) fn value(&self, state: &View<'_>, choice: &Choice) -> Value {
        match self {
            Code::Local(local) => Some(state.locals[*local as usize]),
            Code::Number(number) => Some(*number),
            Code::Work(value) => value(state, choice),
            Code::Truth(_) | Code::Test(_) | Code::Asked(_) | Code::Guarded(..) => {
                truth(self.holds(state, choice))
            }
        }
    }

    fn of_truth(holds: impl Fn(&View<'_>, &Choice) -> bool + Send + Sync + 'static) -> Code {
        Code::Truth(Arc::new(holds))
    }

    fn of_value(value: impl Fn(&View<'_>, &Choice) -> Value + Send + Sync + 'static) -> Code {
        Code::Work(Arc::new(value))
    }

    /// The code of a node, of which all parts, which are among these nodes, have theirs.
    pub(crate) fn new(nodes: &[Node], parts: &[Code], node: Node) -> Code {
        let part = |node: u32| parts[node as usize].clone();
        match node {
            Node::Number(number) => Code::Number(number),
            Node::Local(local) => Code::Local(local),
            Node::Variable(variable) => Code::of_value(move |state, _| Some(state.tables.variable(variable))),
            Node::Read(variable) => Code::of_truth(move |state, _| state.reads >> variable & 1 == 1),
            Node::Written(variable) => Code::of_truth(move |state, _| state.writes >> variable & 1 == 1),
            Node::Table(table) => Code::of_value(move |state, choice| state.tables.here(table, choice)),
            Node::At(host, table) => {
                Code::of_value(move |state, choice| state.tables.at(state.slot(host, choice), table, choice))
            }
            Node::Holds(inner) => {
                let inner = part(inner);
                Code::of_truth(move |state, choice| inner.holds(state, choice))
            }
            Node::Not(inner) => match nodes[inner as usize] {
                Node::Quantified(quantified) => Code::quantified(nodes, parts, quantified, true),
                _ => {
                    let inner = part(inner);
                    Code::of_truth(move |state, choice| !inner.holds(state, choice))
                }
            },
            Node::Minus(inner) => {
                let inner = part(inner);
                Code::of_value(move |state, choice| inner.value(state, choice).map(i64::wrapping_neg))
            }
            Node::Join(operator, left, right) => Code::joined(operator, part(left), part(right)),
            Node::Compare(operator, left, right) => Code::compared(operator, part(left), part(right)),
            Node::Arithmetic(operator, left, right) => {
                let (left, right) = (part(left), part(right));
                Code::of_value(move |state, choice| {
                    calculated(operator, left.value(state, choice)?, right.value(state, choice)?)
                })
            }
            Node::Function(function, left, right) => {
                let (left, right) = (part(left), part(right));
                Code::of_value(move |state, choice| {
                    let left = left.value(state, choice)?;
                    Some(match function {
                        Function::Abs => left.wrapping_abs(),
                        Function::Min => left.min(right.value(state, choice)?),
                        Function::Max => left.max(right.value(state, choice)?),
                    })
                })
            }
            Node::Quantified(quantified) => Code::quantified(nodes, parts, quantified, false),
        }
    }

    /// A comparison. Most are of a local, and many with a number.
    fn compared(operator: Binary, left: Code, right: Code) -> Code {
        let is_so = Comparison::new(operator);
        match (left, right) {
            (Code::Local(local), Code::Number(number)) => Code::Test(Test { local, is_so, number }),
            (Code::Local(left), Code::Work(right)) => Code::of_truth(move |state, choice| {
                right(state, choice).is_some_and(|right| is_so.holds(state.locals[left as usize], right))
            }),
            (left, right) => Code::of_truth(move |state, choice| {
                match (left.value(state, choice), right.value(state, choice)) {
                    (Some(left), Some(right)) => is_so.holds(left, right),
                    _ => false,
                }
            }),
        }
    }

    fn joined(operator: Binary, left: Code, right: Code) -> Code {
        match operator {
            Binary::And => {
                Code::of_truth(move |state, choice| left.holds(state, choice) && right.holds(state, choice))
            }
            Binary::Or => {
                Code::of_truth(move |state, choice| left.holds(state, choice) || right.holds(state, choice))
            }
            Binary::Implies => match (left, right) {
                (Code::Test(guard), then) => Code::Guarded(guard, Arc::new(then)),
                (left, right) => Code::of_truth(move |state, choice| {
                    !left.holds(state, choice) || right.holds(state, choice)
                }),
            },
            // What is no connective is none that the language has.
            _ => Code::of_truth(move |state, choice| left.holds(state, choice) == right.holds(state, choice)),
        }
    }

    /// A quantifier, or that it does not hold.
    fn quantified(nodes: &[Node], parts: &[Code], quantified: Quantified, is_not: bool) -> Code {
        if let Some(asked) = asked(nodes, quantified, is_not) {
            return Code::Asked(asked);
        }
        let Quantified { all, binds, inner, .. } = quantified;
        let inner = parts[inner as usize].clone();
        Code::of_truth(move |state, choice| {
            let mut with = *choice;
            let decides = |slot| {
                with[binds as usize] = slot;
                inner.holds(state, &with) != all
            };
            let is_decided = first(state.tables, &state.range(&quantified, choice), decides).is_some();
            is_decided != (all != is_not)
        })
    }
}

/// How a local compares with a number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Test {
    local: u32,
    is_so: Comparison,
    number: i64,
}

impl Test {
    #[inline]
    pub(crate) fn holds(&self, locals: &[i64]) -> bool {
        self.is_so.holds(locals[self.local as usize], self.number)
    }
}

/// What a quantifier asks each thread: whether this is true of it, or how something of our own compares with it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub(crate) quantified: Quantified,
    pub(crate) table: u32,
    compared: Option<(Comparison, Simple)>,
    /// What is said if no answer decides it.
    pub(crate) if_undecided: bool,
}

/// Something that needs no work.
#[derive(Clone, Copy, Debug)]
enum Simple {
    Number(i64),
    Local(u32),
}

/// The answer that decides.
pub(crate) struct Wanted {
    compared: Option<(Comparison, i64)>,
    all: bool,
}

impl Asked {
    /// The answer that is wanted in a state with these locals.
    #[inline]
    pub(crate) fn wanted(&self, locals: &[i64]) -> Wanted {
        let compared = self.compared.map(|(is_so, with)| match with {
            Simple::Number(number) => (is_so, number),
            Simple::Local(local) => (is_so, locals[local as usize]),
        });
        Wanted { compared, all: self.quantified.all }
    }
}

impl Wanted {
    #[inline]
    pub(crate) fn is_met(&self, value: Value) -> bool {
        let holds = match self.compared {
            None => is_true(value),
            Some((is_so, with)) => value.is_some_and(|value| is_so.holds(with, value)),
        };
        holds != self.all
    }
}

/// What a quantifier, or that it does not hold, asks each thread, if it is one thing, which most ask.
fn asked(nodes: &[Node], quantified: Quantified, is_not: bool) -> Option<Asked> {
    // A table has no entries for the thread that it is about, so what is asked is the same for all.
    let table = |node: u32| match nodes[node as usize] {
        Node::At(Host::Bound(bound), table) if bound == quantified.binds => Some(table),
        _ => None,
    };
    let simple = |node: u32| match nodes[node as usize] {
        Node::Number(number) => Some(Simple::Number(number)),
        Node::Local(local) => Some(Simple::Local(local)),
        _ => None,
    };
    let (node, compared) = match nodes[quantified.inner as usize] {
        Node::Holds(inner) => (inner, None),
        Node::At(..) => (quantified.inner, None),
        Node::Compare(operator, left, right) => match (simple(left), simple(right)) {
            (Some(with), _) => (right, Some((Comparison::new(operator), with))),
            (None, Some(with)) => (left, Some((Comparison::new(mirrored(operator)), with))),
            (None, None) => return None,
        },
        _ => return None,
    };
    Some(Asked { quantified, table: table(node)?, compared, if_undecided: quantified.all != is_not })
}

/// For which orders of its sides a comparison holds, as bits: less, equal, greater. So it is worked out without a branch.
#[derive(Clone, Copy, Debug)]
struct Comparison(u8);

impl Comparison {
    const LESS: u8 = 1;
    const EQUAL: u8 = 2;
    const GREATER: u8 = 4;

    fn new(operator: Binary) -> Comparison {
        Comparison(match operator {
            Binary::Eq => Comparison::EQUAL,
            Binary::Ne => Comparison::LESS | Comparison::GREATER,
            Binary::Lt => Comparison::LESS,
            Binary::Le => Comparison::LESS | Comparison::EQUAL,
            Binary::Gt => Comparison::GREATER,
            Binary::Ge => Comparison::GREATER | Comparison::EQUAL,
            // What is no comparison holds nowhere.
            _ => 0,
        })
    }

    #[inline]
    fn holds(self, left: i64, right: i64) -> bool {
        self.0 >> (1 + left.cmp(&right) as i8) & 1 == 1
    }
}

/// The comparison that has its sides the other way round.
fn mirrored(operator: Binary) -> Binary {
    match operator {
        Binary::Lt => Binary::Gt,
        Binary::Le => Binary::Ge,
        Binary::Gt => Binary::Lt,
        Binary::Ge => Binary::Le,
        other => other,
    }
}

/// The first of those whom a quantifier ranges over that is looked for.
#[inline]
pub(crate) fn first<S: Tables + ?Sized>(
    tables: &S,
    range: &Range,
    mut is_meant: impl FnMut(Slot) -> bool,
) -> Option<Slot> {
    let Range { among, except } = *range;
    if tables.words() == 1 {
        // Nearly always.
        let others = !except.map_or(0, |except| thread_bit(except, 0));
        let mut rest = tables.existing(0, among) & others;
        while rest != 0 {
            let slot = rest.trailing_zeros();
            if is_meant(slot) {
                return Some(slot);
            }
            rest &= rest - 1;
        }
        return tables.stranger(among).filter(|stranger| except != Some(*stranger) && is_meant(*stranger));
    }
    for at in 0..tables.words() {
        let mut rest = tables.existing(at, among) & !except.map_or(0, |except| thread_bit(except, at));
        while rest != 0 {
            let slot = at as Slot * 64 + rest.trailing_zeros();
            if is_meant(slot) {
                return Some(slot);
            }
            rest &= rest - 1;
        }
    }
    tables.stranger(among).filter(|stranger| except != Some(*stranger) && is_meant(*stranger))
}

#[inline]
fn calculated(operator: Binary, left: i64, right: i64) -> Value {
    match operator {
        Binary::Add => Some(left.wrapping_add(right)),
        Binary::Sub => Some(left.wrapping_sub(right)),
        Binary::Mul => Some(left.wrapping_mul(right)),
        Binary::Div if right != 0 => Some(left.wrapping_div(right)),
        Binary::Rem if right != 0 => Some(left.wrapping_rem(right)),
        _ => None,
    }
}
