//! Formulas as S-expressions, `(at i (implies (local c) (read x)))`: into the specification language.

use serde_json::{Map, Value};
use thiserror::Error;

/// What names mean.
#[derive(Clone, Copy)]
pub(super) struct Declared<'a> {
    pub(super) threads: &'a [String],
    pub(super) variables: &'a Map<String, Value>,
    pub(super) locals: &'a Map<String, Value>,
}

/// Why an S-expression is not a formula.
#[derive(Debug, Error, PartialEq, Eq)]
pub(super) enum ExpressionError {
    #[error("a `)` is missing or too many")]
    Parentheses,
    #[error("nested too deeply")]
    TooDeep,
    #[error("`{0}` makes no sense here")]
    Unknown(String),
}

/// How deep formulas may nest.
const DEPTH_LIMIT: usize = 150;

enum Tree {
    Word(String),
    List(Vec<Tree>),
}

/// A property with this formula, and declarations for all that it mentions.
pub(super) fn property(formula: &str, declared: &Declared<'_>) -> Result<String, ExpressionError> {
    let tree = parse(formula)?;
    let mut bound = Vec::new();
    let text = text(&tree, declared, &mut bound)?;
    let mut declarations = String::new();
    for name in &bound {
        declarations += &format!("thread {name}; ");
    }
    for name in declared.threads.iter().filter(|name| !bound.contains(*name)) {
        declarations += &format!("thread {name}: \"{name}\"; ");
    }
    for (word, all) in [("local", declared.locals), ("var", declared.variables)] {
        for (name, value) in all {
            let kind = if value.is_boolean() { "bool" } else { "int" };
            declarations += &format!("{word} {name}: {kind} = {value}; ");
        }
    }
    Ok(format!("property Case {{ {declarations}mttl: {text} @violation {{ count; }} }}"))
}

fn parse(text: &str) -> Result<Tree, ExpressionError> {
    let spaced = text.replace('(', " ( ").replace(')', " ) ");
    let mut open: Vec<Vec<Tree>> = vec![Vec::new()];
    for word in spaced.split_whitespace() {
        match word {
            "(" if open.len() > DEPTH_LIMIT => return Err(ExpressionError::TooDeep),
            "(" => open.push(Vec::new()),
            ")" => {
                let list = open.pop().unwrap_or_default();
                open.last_mut().ok_or(ExpressionError::Parentheses)?.push(Tree::List(list));
            }
            word => open.last_mut().ok_or(ExpressionError::Parentheses)?.push(Tree::Word(word.to_owned())),
        }
    }
    match (open.len(), open.pop().and_then(|mut all| all.pop().filter(|_| all.is_empty()))) {
        (1, Some(tree)) => Ok(tree),
        _ => Err(ExpressionError::Parentheses),
    }
}

fn unknown(what: &str) -> ExpressionError {
    ExpressionError::Unknown(what.to_owned())
}

/// A thread; a name that no thread has is bound by a quantifier, or is the thread that the formula belongs to.
fn thread(name: &str, declared: &Declared<'_>, bound: &mut Vec<String>) -> String {
    if !declared.threads.iter().any(|thread| thread == name) && !bound.iter().any(|known| known == name) {
        bound.push(name.to_owned());
    }
    name.to_owned()
}

fn text(tree: &Tree, declared: &Declared<'_>, bound: &mut Vec<String>) -> Result<String, ExpressionError> {
    let list = match tree {
        Tree::Word(word) => return Ok(word.clone()),
        Tree::List(list) => list,
    };
    let Some((Tree::Word(head), rest)) = list.split_first() else { return Err(unknown("()")) };
    let unary = |sign: &str, inner: &Tree, bound: &mut Vec<String>| {
        Ok(format!("({sign} {})", text(inner, declared, bound)?))
    };
    match (head.as_str(), rest) {
        ("not", [inner]) => unary("!", inner, bound),
        ("prev", [inner]) => unary("(*)", inner, bound),
        ("once", [inner]) => unary("<*>", inner, bound),
        ("hist", [inner]) => unary("[*]", inner, bound),
        ("-", [inner]) => unary("-", inner, bound),
        ("local" | "var", [Tree::Word(name)]) => Ok(name.clone()),
        ("read" | "write", [Tree::Word(name)]) => Ok(format!("{head}({name})")),
        ("at", [Tree::Word(name), inner]) => {
            let name = thread(name, declared, bound);
            Ok(format!("@{name}({})", text(inner, declared, bound)?))
        }
        ("exists" | "forall", [Tree::List(who), inner]) => {
            let who = match &who[..] {
                [Tree::Word(name)] => thread(name, declared, bound),
                [Tree::Word(name), Tree::Word(sign), Tree::Word(other)] if sign == "!=" => {
                    let name = thread(name, declared, bound);
                    format!("{name} != {}", thread(other, declared, bound))
                }
                _ => return Err(unknown(head)),
            };
            Ok(format!("({head} {who}: {})", text(inner, declared, bound)?))
        }
        ("interval", [from, to]) => {
            Ok(format!("[{}, {})", text(from, declared, bound)?, text(to, declared, bound)?))
        }
        (operator, [left, right]) => {
            let sign = match operator {
                "and" => "&&",
                "or" => "||",
                "implies" => "->",
                "iff" => "<->",
                "since" => "S",
                "==" | "!=" | "<" | "<=" | ">" | ">=" | "+" | "-" | "*" | "/" | "%" => operator,
                _ => return Err(unknown(operator)),
            };
            Ok(format!("({} {sign} {})", text(left, declared, bound)?, text(right, declared, bound)?))
        }
        _ => Err(unknown(head)),
    }
}
