//! The text of a handler's reports, with names in place of `{loc}`, `{thread}`, `{trace}` and the parameters.

use foresee_monitor::property::{Action, Handler};
use foresee_monitor::slice::params::ParamSet;
use foresee_trace::{LocId, Names, ThreadId};

use super::objects::Object;
use super::translate::{Sort, Translator};

/// When and where a verdict came.
#[derive(Clone, Copy)]
pub struct Occasion<'a> {
    /// The names of the trace.
    pub names: &'a Names,
    /// Who did the event that led to it; `None` at the end of the run.
    pub thread: Option<ThreadId>,
    /// Where.
    pub loc: LocId,
    /// What the user calls the trace.
    pub trace: &'a str,
}

/// What a handler says about a binding: its reports, or the verdict where it has none.
pub fn says(
    translator: &Translator<'_>,
    handler: &Handler,
    domain: ParamSet,
    values: &[u64],
    occasion: Occasion<'_>,
) -> String {
    says_with(handler, |name| named(translator, domain, values, occasion, name))
}

/// What a handler says, with what stands for each `{name}`; a name that stands for nothing stays.
pub fn says_with(handler: &Handler, stands_for: impl Fn(&str) -> Option<String>) -> String {
    let reports = handler.actions.iter().filter_map(|action| match action {
        Action::Report(text) => Some(text),
        _ => None,
    });
    let said: Vec<String> = reports.map(|text| filled(text, &stands_for)).collect();
    if said.is_empty() { handler.category.clone() } else { said.join("; ") }
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

fn named(
    translator: &Translator<'_>,
    domain: ParamSet,
    values: &[u64],
    occasion: Occasion<'_>,
    name: &str,
) -> Option<String> {
    let Occasion { names, thread, loc, trace } = occasion;
    let params = &translator.property().params;
    if let Some(param) = params.iter().position(|param| param == name) {
        let known = values.get(param).filter(|_| domain.contains(ParamSet::only(param as u8)));
        return Some(known.map_or("?".to_owned(), |value| translator.called(names, param, *value)));
    }
    match (name, thread) {
        ("loc", None) => Some("the end of the run".to_owned()),
        ("thread", None) => Some("no thread".to_owned()),
        ("thread", Some(thread)) => Some(names.thread_name(thread).to_owned()),
        ("loc", Some(_)) if loc == LocId::UNKNOWN => Some("an unknown place".to_owned()),
        ("loc", Some(_)) => Some(names.location_text(loc)),
        ("trace", _) => Some(trace.to_owned()),
        _ => None,
    }
}

impl Translator<'_> {
    /// What people call the value of a parameter.
    pub fn called(&self, names: &Names, param: usize, value: u64) -> String {
        match self.sorts.get(param).copied().unwrap_or_default() {
            Sort::Thread => match names.thread_name(ThreadId(value as u32)) {
                "" => "?".to_owned(),
                name => name.to_owned(),
            },
            Sort::Number => number_text(value),
            sort @ (Sort::Lock | Sort::Object) => match self.objects.what(value) {
                Object::Lock(lock) => names.lock_name(lock).to_owned(),
                Object::String(text) => names.str(text).to_owned(),
                Object::Text(text) => self.property().texts.get(text).cloned().unwrap_or_default(),
                Object::At(addr) => {
                    // An object that begins with a lock is not called like that lock, unless the property is about locks.
                    let lock = self.locks.get(&addr).filter(|_| sort == Sort::Lock);
                    let lock = lock.map(|lock| names.lock_name(*lock).to_owned());
                    let symbol = || names.symbol_at(addr).filter(|symbol| symbol.mem.addr == addr);
                    lock.or_else(|| Some(names.str(symbol()?.name).to_owned()))
                        .unwrap_or_else(|| numbered(addr))
                }
            },
        }
    }
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
fn numbered(object: u64) -> String {
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
