//! What functions of libraries are called with, as their headers declare them.
//!
//! Libraries have no debug information, and headers are not there when a program is run. So the declarations of functions that properties may name are in
//! `prototypes.h`: each in one line, as the manual has it, with names for the parameters. A type that is not known here is one that nobody can ask for.

use crate::texts::Text;
use crate::types::Scalar;

/// What is passed so is a text that a zero byte ends, and which the function only reads: in this file, there is nothing else of this type.
const TEXT: &str = "const char *";

/// The declarations.
const PROTOTYPES: &str = include_str!("prototypes.h");

/// A function of a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Prototype {
    pub(super) name: &'static str,
    pub(super) parameters: Vec<Parameter>,
    pub(super) result: Passed,
    /// It takes more arguments than these, of any number.
    pub(super) is_variadic: bool,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    /// How it is read, if it can be.
    pub(super) scalar: Option<Scalar>,
    /// How that is read to which it points, if it can be.
    pub(super) stored: Option<Scalar>,
}

/// What is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passed {
    Nothing,
    Value(Scalar),
    /// A number with a fraction, or a structure.
    Other,
}

/// The function of this name, if it is known.
pub(super) fn find(name: &str) -> Option<Prototype> {
    all().find(|prototype| prototype.name == name)
}

/// All names.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    all().map(|prototype| prototype.name)
}

fn all() -> impl Iterator<Item = Prototype> {
    PROTOTYPES.lines().filter_map(parse)
}

/// The declaration in a line, if there is one.
fn parse(line: &'static str) -> Option<Prototype> {
    let (head, rest) = line.split_once('(')?;
    let list = rest.strip_suffix(");")?;
    let (result, name) = declared(head);
    let mut parameters = Vec::new();
    let mut is_variadic = false;
    for one in list.split(',').map(str::trim).filter(|one| *one != "void") {
        if one == "..." {
            is_variadic = true;
            continue;
        }
        let (of, name) = declared(one);
        let stored = of.strip_suffix('*').and_then(|of| scalar(of.trim_end()));
        let is_text = of == TEXT;
        let text_or_object = |scalar: Scalar| Scalar {
            text: is_text.then_some(Text::Ended),
            object: scalar.object && !is_text,
            ..scalar
        };
        parameters.push(Parameter { name, scalar: scalar(of).map(text_or_object), stored });
    }
    let result = match (result, scalar(result)) {
        ("void", _) => Passed::Nothing,
        (_, Some(scalar)) => Passed::Value(scalar),
        (_, None) => Passed::Other,
    };
    Some(Prototype { name, parameters, result, is_variadic })
}

/// A type and the name behind it.
fn declared(text: &'static str) -> (&'static str, &'static str) {
    let text = text.trim();
    let name =
        text.rfind(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').map_or(0, |at| at + 1);
    (text[..name].trim(), &text[name..])
}

/// How values of a type are read.
fn scalar(of: &str) -> Option<Scalar> {
    if of.ends_with('*') {
        return Some(Scalar { size: 8, signed: false, object: true, text: None });
    }
    let (size, signed) = match of {
        "int" | "pid_t" | "clockid_t" => (4, true),
        "unsigned" | "uint32_t" | "mode_t" | "uid_t" | "gid_t" | "socklen_t" | "pthread_key_t" => (4, false),
        "long" | "ssize_t" | "off_t" | "int64_t" | "time_t" => (8, true),
        "unsigned long" | "size_t" | "uint64_t" | "pthread_t" | "nfds_t" => (8, false),
        _ => return None,
    };
    Some(Scalar { size, signed, object: false, text: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_with_a_function_is_understood() {
        let lines: Vec<&str> = PROTOTYPES.lines().filter(|line| line.contains('(')).collect();
        assert_eq!(lines.len(), all().count());
        for prototype in all() {
            assert!(!prototype.name.is_empty() && prototype.parameters.len() <= 8, "{prototype:?}");
            assert!(prototype.parameters.iter().all(|parameter| !parameter.name.is_empty()), "{prototype:?}");
            assert_ne!(prototype.result, Passed::Other, "{prototype:?}");
        }
        let mut names: Vec<&str> = names().collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "no function twice");
    }

    #[test]
    fn types_are_those_of_the_machine() {
        let of = |size, signed, object| Some(Scalar { size, signed, object, text: None });
        let read = find("read").unwrap();
        let scalars: Vec<_> = read.parameters.iter().map(|parameter| parameter.scalar).collect();
        assert_eq!(scalars, [of(4, true, false), of(8, false, true), of(8, false, false)]);
        let create = find("pthread_create").unwrap();
        assert_eq!(create.parameters[0].stored, of(8, false, false));
        assert_eq!(find("sqlite3_open").unwrap().parameters[1].stored, of(8, false, true));
        assert_eq!(read.parameters[1].stored, None);
        let texts = find("fopen").unwrap().parameters;
        assert!(
            texts.iter().all(|parameter| parameter
                .scalar
                .is_some_and(|of| of.text == Some(Text::Ended) && !of.object))
        );
        assert_eq!(Some(read.result), of(8, true, false).map(Passed::Value));
        assert_eq!(find("rewind").unwrap().result, Passed::Nothing);
        assert!(find("open").unwrap().is_variadic);
        assert_eq!(find("nowhere"), None);
    }
}
