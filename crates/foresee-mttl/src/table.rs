//! What a program consists of: nodes, which are worked out when they are needed, and tables, whose values are kept. See [`program`](crate::program).

use foresee_monitor::mttl::Function;
use foresee_monitor::operator::Binary;

/// At most so many threads are bound in a formula: that it belongs to, and those of quantifiers.
pub(crate) const MOST_BOUND: usize = 5;

/// Which thread each bound name stands for.
pub(crate) type Choice = [u32; MOST_BOUND];

/// Whose states a part of a formula is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    Everyone,
    Named(u32),
    Group(u32),
}

/// A thread, seen from one whose state this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    Own,
    Bound(u8),
    Named(u32),
}

/// What is worked out when it is needed. Truth values are numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Node {
    Number(i64),
    Local(u32),
    Variable(u32),
    Read(u32),
    Written(u32),
    Not(u32),
    Minus(u32),
    Holds(u32),
    /// `&& || -> <->`
    Join(Binary, u32, u32),
    /// `== != < <= > >=`
    Compare(Binary, u32, u32),
    /// `+ - * / %`
    Arithmetic(Binary, u32, u32),
    Function(Function, u32, u32),
    /// What this table says of this state.
    Table(u32),
    /// What this table says of the latest known state of a thread.
    At(Host, u32),
    Quantified(Quantified),
}

impl Node {
    /// Whether it is nothing but true or false.
    pub(crate) fn is_truth(&self) -> bool {
        matches!(
            self,
            Node::Read(_)
                | Node::Written(_)
                | Node::Not(_)
                | Node::Holds(_)
                | Node::Join(..)
                | Node::Compare(..)
                | Node::Quantified(_)
        )
    }
}

/// Something about some or all threads that are known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quantified {
    pub(crate) all: bool,
    pub(crate) binds: u8,
    /// Only those of this group.
    pub(crate) among: Option<u32>,
    /// Not this one.
    pub(crate) except: Option<Host>,
    pub(crate) inner: u32,
}

/// How the value of a table follows from the state and from its last value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rule {
    Value(u32),
    Previously(u32),
    Once(u32),
    Historically(u32),
    Since(u32, u32),
    Interval(u32, u32),
}

#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) rule: Rule,
    pub(crate) free: Box<[u8]>,
    /// The bound name that is the thread itself, whose states these are.
    pub(crate) own: Option<u8>,
    /// Who needs it.
    pub(crate) whose: Whose,
    /// Its number among those that others look up.
    pub(crate) public: Option<u32>,
    /// Whether it is a whole formula.
    pub(crate) is_whole: bool,
    /// What its values follow from.
    pub(crate) inputs: Inputs,
}

/// A whole formula.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whole {
    pub(crate) whose: Whose,
    pub(crate) table: u32,
}

/// What the values of a table follow from, those of the tables that it uses included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Inputs {
    pub(crate) locals: u64,
    pub(crate) variables: u64,
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    /// The states of other threads, and who exists.
    pub(crate) others: bool,
    /// The state before.
    pub(crate) looks_back: bool,
}

impl Inputs {
    /// Both.
    pub(crate) fn with(self, other: Inputs) -> Inputs {
        Inputs {
            locals: self.locals | other.locals,
            variables: self.variables | other.variables,
            reads: self.reads | other.reads,
            writes: self.writes | other.writes,
            others: self.others || other.others,
            looks_back: self.looks_back || other.looks_back,
        }
    }
}

/// The inputs of a rule, of which all tables that it uses are done.
pub(crate) fn inputs(nodes: &[Node], tables: &[Table], rule: Rule) -> Inputs {
    let of = |node| of_node(nodes, tables, node);
    match rule {
        Rule::Value(inner) | Rule::Once(inner) | Rule::Historically(inner) => of(inner),
        Rule::Previously(inner) => Inputs { looks_back: true, ..of(inner) },
        Rule::Since(left, right) | Rule::Interval(left, right) => of(left).with(of(right)),
    }
}

fn of_node(nodes: &[Node], tables: &[Table], node: u32) -> Inputs {
    let (none, of) = (Inputs::default(), |node| of_node(nodes, tables, node));
    match nodes[node as usize] {
        Node::Number(_) => none,
        Node::Local(local) => Inputs { locals: bit(local), ..none },
        Node::Variable(variable) => Inputs { variables: bit(variable), ..none },
        Node::Read(variable) => Inputs { reads: bit(variable), ..none },
        Node::Written(variable) => Inputs { writes: bit(variable), ..none },
        Node::Not(inner) | Node::Minus(inner) | Node::Holds(inner) => of(inner),
        Node::Join(_, left, right)
        | Node::Compare(_, left, right)
        | Node::Arithmetic(_, left, right)
        | Node::Function(_, left, right) => of(left).with(of(right)),
        Node::Table(table) | Node::At(Host::Own, table) => tables[table as usize].inputs,
        // It may be the thread itself.
        Node::At(_, table) => Inputs { others: true, ..tables[table as usize].inputs },
        Node::Quantified(quantified) => Inputs { others: true, ..of(quantified.inner) },
    }
}

/// The bit of a local or a variable.
pub(crate) fn bit(number: u32) -> u64 {
    1 << (number % 64)
}
