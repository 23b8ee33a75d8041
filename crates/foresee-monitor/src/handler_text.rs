//! The text of a handler's reports, with values in place of `{name}`.

use crate::mttl::{ThreadName, Who};
use crate::property::{Action, Handler};

/// What a handler says, with what stands for each `{name}`; a name that stands for nothing stays.
pub fn says_with(handler: &Handler, stands_for: impl Fn(&str) -> Option<String>) -> String {
    let reports = handler.actions.iter().filter_map(|action| match action {
        Action::Report(text) => Some(text),
        _ => None,
    });
    let said: Vec<String> = reports.map(|text| filled(text, &stands_for)).collect();
    if said.is_empty() { handler.category.clone() } else { said.join("; ") }
}

/// The threads that a formula about what threads know is violated by.
#[derive(Clone, Copy, Debug)]
pub struct MeantThreads<'t> {
    /// Those that its property mentions.
    pub threads: &'t [ThreadName],
    /// The one that the formula is of, by position.
    pub owner: u32,
    /// What the thread is called that violates it.
    pub own: &'t str,
    /// What those are called that it knew something of which counts.
    pub others: &'t [String],
}

impl MeantThreads<'_> {
    /// What stands for the name of a thread in a handler's text.
    pub fn text(&self, wanted: &str) -> Option<String> {
        let position = self.threads.iter().position(|thread| thread.name == wanted)?;
        Some(match &self.threads[position].who {
            _ if position == self.owner as usize => self.own.to_owned(),
            Who::Named(name) => name.clone(),
            Who::Any | Who::Like(_) if self.others.is_empty() => "?".to_owned(),
            Who::Any | Who::Like(_) => {
                let mut others = self.others.to_vec();
                others.dedup();
                others.join(", ")
            }
        })
    }
}

/// The text with what stands for each `{name}`; a name that stands for nothing stays.
fn filled(text: &str, stands_for: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        rest = &rest[open..];
        let name = rest[1..].find(['{', '}']).map(|end| &rest[1..=end]);
        match name
            .filter(|name| rest[1 + name.len()..].starts_with('}'))
            .and_then(|name| Some((name.len() + 2, stands_for(name)?)))
        {
            Some((length, with)) => {
                out.push_str(&with);
                rest = &rest[length..];
            }
            None => {
                out.push('{');
                rest = &rest[1..];
            }
        }
    }
    out + rest
}

/// A number that an event carried: itself, or the object whose `Life` it is the identity of.
pub fn number_text(value: u64) -> String {
    life(value).unwrap_or_else(|| (value as i64).to_string())
}

/// The identities that programs hand out to objects (`foresee::Life`) have the highest bit, and count from 0.
fn life(value: u64) -> Option<String> {
    let number = value ^ 1 << 63;
    (number < 1 << 40).then(|| format!("object {number}"))
}

/// What has no name: an address, or the number that a text stream gave it.
pub fn numbered(object: u64) -> String {
    if let Some(life) = life(object) {
        return life;
    }
    // No program has anything at so low an address.
    if object < 1 << 16 { format!("@{object}") } else { format!("@{object:#x}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_of_objects_are_readable() {
        assert_eq!((number_text(u64::MAX), number_text(7)), ("-1".to_owned(), "7".to_owned()));
        assert_eq!(
            (number_text(3 | 1 << 63), numbered(3 | 1 << 63)),
            ("object 3".to_owned(), "object 3".to_owned())
        );
        assert_eq!((numbered(3), numbered(0x7000_0000)), ("@3".to_owned(), "@0x70000000".to_owned()));
    }

    #[test]
    fn names_in_braces_are_replaced_once() {
        let fill = |text: &str| filled(text, |name| (name == "x").then(|| "{x}".to_owned()));
        assert_eq!(fill("a {x} b {y} {x"), "a {x} b {y} {x");
        assert_eq!(fill("{x}{x}"), "{x}{x}");
        assert_eq!(fill("{{x}}"), "{{x}}");
        assert_eq!(fill("{é} {"), "{é} {");
    }
}
