//! Formulas as tables that a thread fills in at each of its events.
//!
//! A *table* is a part of a formula whose value must be kept: a temporal operator (one value of the last state is all that it needs of the past), what
//! stands below an `@` (other threads look it up), and a whole formula. Everything else is worked out when it is needed. Tables come in an
//! order in which each uses earlier ones only. The threads that a table's formula mentions and that are not fixed are its *free* ones: it has
//! a value for each choice of them (see `layout`).
//!
//! All formulas of a spec make one program, so that they share one vector per thread and variable.

use foresee_monitor::mttl::{Expr, Formula, Local, Quantifier, Term, Who};
use foresee_monitor::property::{MttlBody, Property};
use thiserror::Error;

use crate::code::Code;
use crate::table::{Host, MOST_BOUND, Node, Quantified, Rule, Table, Whole, Whose, inputs};

/// A table has a value for each choice of at most so many threads.
const MOST_FREE: usize = 3;

/// Accesses are noted as bits, one for each variable.
const MOST_VARIABLES: usize = 64;

/// So many formulas are monitored in a recorded program while it runs: what has ceased to hold there are bits of a word.
pub const MOST_FORMULAS_INSIDE: usize = 64;

/// Why formulas cannot be monitored together.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ProgramError {
    /// Too many shared variables.
    #[error("`mttl` bodies speak of {0} variables; at most {MOST_VARIABLES} can be followed")]
    TooManyVariables(usize),
    /// Too many threads at once.
    #[error("a formula binds {0} threads at once; at most {MOST_BOUND} can be followed")]
    TooManyThreads(u32),
    /// Values for too many choices of threads.
    #[error("a formula asks what {0} other threads know of each other; at most {MOST_FREE} can be followed")]
    TooManyChoices(usize),
}

/// A shared variable that formulas speak of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedName {
    /// Its name in the program.
    pub name: String,
    /// Its value before the first write, if a spec says.
    pub initial: Option<i64>,
    /// It is known to be never negative.
    pub is_unsigned: bool,
}

/// Formulas, ready to be monitored; see the [module](self).
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub(crate) nodes: Vec<Node>,
    /// How each node is worked out.
    pub(crate) code: Vec<Code>,
    pub(crate) tables: Vec<Table>,
    /// The tables that others look up.
    pub(crate) public: Vec<u32>,
    pub(crate) wholes: Vec<Whole>,
    named: Vec<String>,
    groups: Vec<Who>,
    locals: Vec<Local>,
    variables: Vec<SharedName>,
    are_names_late: bool,
    /// What everything is at first.
    pub(crate) initial_locals: Vec<i64>,
    pub(crate) initial_values: Vec<i64>,
}

impl Program {
    /// The program of these bodies; formulas are numbered as the bodies come.
    pub fn new<'b>(
        bodies: impl IntoIterator<Item = (&'b Property, &'b MttlBody)>,
    ) -> Result<Program, ProgramError> {
        Program::default().with(bodies)
    }

    /// The same where threads get their names when they run already ([`Threads::name`](crate::Threads::name)): all threads keep what only those of some name are asked for.
    pub fn with_late_names<'b>(
        bodies: impl IntoIterator<Item = (&'b Property, &'b MttlBody)>,
    ) -> Result<Program, ProgramError> {
        Program { are_names_late: true, ..Program::default() }.with(bodies)
    }

    fn with<'b>(
        self,
        bodies: impl IntoIterator<Item = (&'b Property, &'b MttlBody)>,
    ) -> Result<Program, ProgramError> {
        let mut program = self;
        for (property, body) in bodies {
            let owner = program.whose(&property.threads[body.mttl.owner as usize].who);
            let mut builder = Builder { program: &mut program, property, bound: vec![owner] };
            let host = At { term: Term::Bound(0), whose: owner };
            let (node, _) = builder.formula(&body.mttl.formula, host)?;
            let table = builder.table(Rule::Value(node), 0, host);
            program.tables[table as usize].is_whole = true;
            program.wholes.push(Whole { whose: owner, table });
        }
        program.initial_locals = program.locals.iter().map(|local| local.initial).collect();
        program.begin_with(|_| None);
        let widest = program.tables.iter().map(|table| table.free.len()).max().unwrap_or(0);
        if widest > MOST_FREE {
            return Err(ProgramError::TooManyChoices(widest));
        }
        match program.variables.len() {
            most if most > MOST_VARIABLES => Err(ProgramError::TooManyVariables(most)),
            _ => Ok(program),
        }
    }

    /// How many formulas there are.
    pub fn formulas(&self) -> usize {
        self.wholes.len()
    }

    /// The names of threads that formulas mention.
    pub fn named(&self) -> &[String] {
        &self.named
    }

    /// The groups of threads that formulas mention.
    pub fn groups(&self) -> &[Who] {
        &self.groups
    }

    /// The variables that each thread has for itself.
    pub fn locals(&self) -> &[Local] {
        &self.locals
    }

    /// The shared variables that formulas mention.
    pub fn variables(&self) -> &[SharedName] {
        &self.variables
    }

    /// Variables for which no spec says what they are at first are this, as far as it is known.
    pub fn begin_with(&mut self, value: impl Fn(&SharedName) -> Option<i64>) {
        let first = |variable: &SharedName| variable.initial.or_else(|| value(variable)).unwrap_or(0);
        self.initial_values = self.variables.iter().map(first).collect();
    }

    /// Whether formulas speak of the values of shared variables, and not only of accesses to them.
    pub fn asks_for_values(&self) -> bool {
        self.nodes.iter().any(|node| matches!(node, Node::Variable(_)))
    }

    /// Whether formulas speak of the value of this shared variable, by its number among [`variables`](Program::variables).
    pub fn asks_for_value_of(&self, variable: u32) -> bool {
        self.nodes.iter().any(|node| matches!(node, Node::Variable(asked) if *asked == variable))
    }

    fn whose(&mut self, who: &Who) -> Whose {
        match who {
            Who::Any => Whose::Everyone,
            Who::Named(name) => Whose::Named(position_or_add(&mut self.named, name.clone())),
            Who::Like(_) => Whose::Group(position_or_add(&mut self.groups, who.clone())),
        }
    }
}

fn position_or_add<T: PartialEq>(all: &mut Vec<T>, one: T) -> u32 {
    let known = all.iter().position(|known| *known == one);
    known.unwrap_or_else(|| {
        all.push(one);
        all.len() - 1
    }) as u32
}

/// In whose states a part of a formula is evaluated.
#[derive(Clone, Copy)]
struct At {
    term: Term,
    whose: Whose,
}

/// Which bound names are free, as bits.
type Free = u8;

/// Builds the tables of one formula.
struct Builder<'p> {
    program: &'p mut Program,
    property: &'p Property,
    /// Whom each bound name may mean.
    bound: Vec<Whose>,
}

type Built = Result<(u32, Free), ProgramError>;

impl Builder<'_> {
    fn node(&mut self, node: Node) -> u32 {
        self.program.code.push(Code::new(&self.program.nodes, &self.program.code, node));
        self.program.nodes.push(node);
        self.program.nodes.len() as u32 - 1
    }

    fn table(&mut self, rule: Rule, free: Free, at: At) -> u32 {
        let own = match at.term {
            Term::Bound(bound) => Some(bound as u8),
            Term::Named(_) => None,
        };
        let free: Box<[u8]> =
            (0..MOST_BOUND as u8).filter(|bound| free >> bound & 1 == 1 && own != Some(*bound)).collect();
        let Program { nodes, tables, .. } = &*self.program;
        let inputs = inputs(nodes, tables, rule);
        self.program.tables.push(Table {
            rule,
            free,
            own,
            whose: if self.program.are_names_late { Whose::Everyone } else { at.whose },
            public: None,
            is_whole: false,
            inputs,
        });
        self.program.tables.len() as u32 - 1
    }

    /// A thread, seen from another; and whether it is free there.
    fn host(&mut self, term: Term, at: At) -> (Host, Free) {
        match term {
            _ if term == at.term => (Host::Own, 0),
            Term::Bound(bound) => (Host::Bound(bound as u8), 1 << bound),
            Term::Named(name) => match self.named(name) {
                Whose::Named(name) => (Host::Named(name), 0),
                // Only names of one thread are used without being bound.
                Whose::Everyone | Whose::Group(_) => (Host::Own, 0),
            },
        }
    }

    fn named(&mut self, name: u32) -> Whose {
        self.program.whose(&self.property.threads[name as usize].who)
    }

    /// The thread of an `@`, as one in whose states something is evaluated.
    fn at(&mut self, term: Term) -> At {
        let whose = match term {
            Term::Bound(bound) => self.bound[bound as usize],
            Term::Named(name) => self.named(name),
        };
        At { term, whose }
    }

    /// Something below an `@`: a table that others look up. (If it is a temporal operator, it has one already.)
    fn remote(&mut self, node: u32, free: Free, at: At) -> u32 {
        let table = match self.program.nodes[node as usize] {
            Node::Table(table) => table,
            _ => self.table(Rule::Value(node), free, at),
        };
        let public = &mut self.program.tables[table as usize].public;
        if public.is_none() {
            *public = Some(self.program.public.len() as u32);
            self.program.public.push(table);
        }
        table
    }

    fn temporal(&mut self, rule: Rule, free: Free, at: At) -> (u32, Free) {
        let table = self.table(rule, free, at);
        (self.node(Node::Table(table)), free)
    }

    fn formula(&mut self, formula: &Formula, at: At) -> Built {
        Ok(match formula {
            Formula::Const(value) => (self.node(Node::Number(i64::from(*value))), 0),
            Formula::Holds(value) => {
                let (value, free) = self.expr(value, at)?;
                (self.node(Node::Holds(value)), free)
            }
            Formula::Compare(operator, left, right) => {
                let ((left, a), (right, b)) = (self.expr(left, at)?, self.expr(right, at)?);
                (self.node(Node::Compare(*operator, left, right)), a | b)
            }
            Formula::Read(variable) => {
                let variable = self.variable(*variable);
                (self.node(Node::Read(variable)), 0)
            }
            Formula::Write(variable) => {
                let variable = self.variable(*variable);
                (self.node(Node::Written(variable)), 0)
            }
            Formula::Not(inner) => {
                let (inner, free) = self.formula(inner, at)?;
                (self.node(Node::Not(inner)), free)
            }
            Formula::Join(operator, left, right) => {
                let ((left, a), (right, b)) = (self.formula(left, at)?, self.formula(right, at)?);
                (self.node(Node::Join(*operator, left, right)), a | b)
            }
            Formula::Previously(inner) => {
                let (inner, free) = self.formula(inner, at)?;
                self.temporal(Rule::Previously(inner), free, at)
            }
            Formula::Once(inner) => {
                let (inner, free) = self.formula(inner, at)?;
                self.temporal(Rule::Once(inner), free, at)
            }
            Formula::Historically(inner) => {
                let (inner, free) = self.formula(inner, at)?;
                self.temporal(Rule::Historically(inner), free, at)
            }
            Formula::Since(left, right) => {
                let ((left, a), (right, b)) = (self.formula(left, at)?, self.formula(right, at)?);
                self.temporal(Rule::Since(left, right), a | b, at)
            }
            Formula::Interval(from, to) => {
                let ((from, a), (to, b)) = (self.formula(from, at)?, self.formula(to, at)?);
                self.temporal(Rule::Interval(from, to), a | b, at)
            }
            Formula::At(term, inner) => {
                let there = self.at(*term);
                let (inner, free) = self.formula(inner, there)?;
                self.at_node(*term, inner, free, there, at)
            }
            Formula::Quantified(quantifier, inner) => self.quantified(quantifier, inner, at)?,
        })
    }

    fn quantified(&mut self, quantifier: &Quantifier, inner: &Formula, at: At) -> Built {
        let Quantifier { all, binds, among, except } = *quantifier;
        if binds as usize >= MOST_BOUND {
            return Err(ProgramError::TooManyThreads(binds + 1));
        }
        let whose = self.named(among);
        self.bound.resize((binds as usize + 1).max(self.bound.len()), Whose::Everyone);
        self.bound[binds as usize] = whose;
        let (inner, free) = self.formula(inner, at)?;
        let (except, excepted) = match except.map(|term| self.host(term, at)) {
            Some((host, free)) => (Some(host), free),
            None => (None, 0),
        };
        let among = match whose {
            Whose::Group(group) => Some(group),
            Whose::Everyone | Whose::Named(_) => None,
        };
        let quantified = Quantified { all, binds: binds as u8, among, except, inner };
        Ok((self.node(Node::Quantified(quantified)), free & !(1 << binds) | excepted))
    }

    fn at_node(&mut self, term: Term, inner: u32, free: Free, there: At, at: At) -> (u32, Free) {
        let table = self.remote(inner, free, there);
        let (host, own) = self.host(term, at);
        // There, the thread is fixed; here it may be free.
        let fixed = match term {
            Term::Bound(bound) => 1 << bound,
            Term::Named(_) => 0,
        };
        (self.node(Node::At(host, table)), free & !fixed | own)
    }

    fn variable(&mut self, variable: u32) -> u32 {
        let var = &self.property.vars[variable as usize];
        let shared =
            SharedName { name: var.name.clone(), initial: var.initial, is_unsigned: var.is_unsigned };
        position_or_add(&mut self.program.variables, shared)
    }

    fn expr(&mut self, expr: &Expr, at: At) -> Built {
        Ok(match expr {
            Expr::Number(number) => (self.node(Node::Number(*number)), 0),
            Expr::Local(local) => {
                let local = self.property.locals[*local as usize].clone();
                let local = position_or_add(&mut self.program.locals, local);
                (self.node(Node::Local(local)), 0)
            }
            Expr::Var(variable) => {
                let variable = self.variable(*variable);
                (self.node(Node::Variable(variable)), 0)
            }
            Expr::Minus(inner) => {
                let (inner, free) = self.expr(inner, at)?;
                (self.node(Node::Minus(inner)), free)
            }
            Expr::Arithmetic(operator, left, right) => {
                let ((left, a), (right, b)) = (self.expr(left, at)?, self.expr(right, at)?);
                (self.node(Node::Arithmetic(*operator, left, right)), a | b)
            }
            Expr::Function(function, inside) => {
                let mut nodes = Vec::new();
                let mut free = 0;
                for inner in inside {
                    let (node, more) = self.expr(inner, at)?;
                    nodes.push(node);
                    free |= more;
                }
                let first = nodes.first().copied().unwrap_or_default();
                let last = nodes.last().copied().unwrap_or_default();
                (self.node(Node::Function(*function, first, last)), free)
            }
            Expr::At(term, inner) => {
                let there = self.at(*term);
                let (inner, free) = self.expr(inner, there)?;
                self.at_node(*term, inner, free, there, at)
            }
        })
    }
}
