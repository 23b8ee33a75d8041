//! What stands for `{loc}`, `{thread}`, `{trace}` and the parameters in the text of a handler's reports, over a trace.

use foresee_monitor::handler_text::{number_text, numbered, says_with};
use foresee_monitor::objects::Object;
use foresee_monitor::property::Handler;
use foresee_monitor::slice::params::ParamSet;
use foresee_trace::{LocId, LockId, Names, StrId, ThreadId};

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
            Sort::Number => (value as i64).to_string(),
            Sort::NumberOrLife => number_text(value),
            sort @ (Sort::Lock | Sort::Object) => match self.objects.what(value) {
                Object::Lock(lock) => names.lock_name(LockId(lock)).to_owned(),
                Object::String(text) => names.str(StrId(text)).to_owned(),
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
