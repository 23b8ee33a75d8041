//! One entry of a history of Jepsen.

use crate::value::Value;

/// One entry of a history.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// Its number among all entries of the file, those included that are no operations of clients.
    pub(super) number: u32,
    pub(super) line: usize,
    pub(super) process: i64,
    pub(super) kind: Kind,
    pub(super) f: String,
    pub(super) key: Option<Value>,
    pub(super) value: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Invoke,
    Ok,
    Fail,
    Info,
}

impl Kind {
    pub(super) fn of(name: &str) -> Option<Kind> {
        Some(match name {
            "invoke" => Kind::Invoke,
            "ok" => Kind::Ok,
            "fail" => Kind::Fail,
            "info" => Kind::Info,
            _ => return None,
        })
    }
}
