//! Histories of Jepsen: operations that are invoked and then end as `:ok`, `:fail` or `:info`.
//!
//! As Jepsen means them and Knossos takes them:
//!
//! - `:fail` says that the operation did not happen, for whatever reason (an `:error` may tell): it is left out. That is so of a compare-and-set as well: one
//!   that did not reach the server has failed, too, and says nothing of the value that was there.
//! - `:info` says that nobody knows: such an operation never returns, and may have taken effect at any time since. Of a process that has no
//!   operation under way it is a remark.
//!
//! An event of a history has the number of its entry in the file, where all entries count, from 0: as the `:index` of Jepsen's own histories. The order of
//! the file counts, as for Knossos: an `:index` that goes back is refused, and `:time` is not looked at (workers of older versions took it before
//! their operation was written down).
//!
//! Jepsen tests many registers at once by operations whose values are pairs of a key and a value (`jepsen.independent`): a read is invoked with
//! `[key nil]`. Each key is a history of its own then.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::case::{Case, Place, ReadError, Subject};
use super::edn;
use super::entry::{Entry, Kind};
use crate::history::{History, Operation};
use crate::named::{Model, Structure};
use crate::shortened::shortened;
use crate::value::Value;

/// The operations in what Jepsen printed. Lines about something else are passed over, as long as they have no operation in them.
pub(super) fn lines(text: &str) -> Result<Vec<Entry>, ReadError> {
    let mut entries = Vec::new();
    let mut number = 0;
    for (nth, whole) in text.lines().enumerate() {
        let line = nth + 1;
        let wrong = |what: String| ReadError::Line { line, what };
        let Some(said) = operation_in(whole) else {
            if whole.trim().is_empty() || (whole.contains(" jepsen.") && !has_operation(whole)) {
                continue;
            }
            let expected =
                "expected `INFO  jepsen.util - PROCESS :TYPE :F VALUE`, or `jepsen.util: PROCESS …`";
            return Err(wrong(expected.to_owned()));
        };
        let own = number;
        number += 1;
        let mut words = said.split_whitespace();
        let (Some(process), Some(kind), Some(f)) = (words.next(), words.next(), words.next()) else {
            return Err(wrong("expected PROCESS :TYPE :F VALUE".to_owned()));
        };
        if process == ":nemesis" {
            continue;
        }
        let no_process = || wrong(format!("`{process}` is no process; expected a number"));
        let process = process_of(process).ok_or_else(no_process)?;
        let kind = kind.strip_prefix(':').and_then(Kind::of);
        let kind = kind.ok_or_else(|| wrong("expected :invoke, :ok, :fail or :info".to_owned()))?;
        let f =
            f.strip_prefix(':').ok_or_else(|| wrong(format!("`{f}` is no operation; expected a keyword")))?;
        // What is left is the value, which may have blanks in it.
        let rest = f.as_ptr() as usize + f.len() - said.as_ptr() as usize;
        let value = match &said[rest..] {
            none if none.trim().is_empty() => Value::Null,
            value => {
                let (value, more) = edn::value(value, line)?;
                // An error may follow.
                if matches!(kind, Kind::Invoke | Kind::Ok) && !more.trim().is_empty() {
                    return Err(wrong(format!(
                        "`{}` after the value; expected nothing",
                        shortened(&more.trim())
                    )));
                }
                value.value().map_err(wrong)?
            }
        };
        entries.push(Entry { number: own, line, process, kind, f: f.to_owned(), key: None, value });
    }
    Ok(entries)
}

/// What a line says that Jepsen printed of an operation, in the forms of its versions: `jepsen.util - 0 …`, `jepsen.util: 0 …` and `jepsen.util 0 …`.
fn operation_in(line: &str) -> Option<&str> {
    let (_, after) = line.split_once("jepsen.util")?;
    [" - ", ": ", " "].iter().find_map(|separator| after.strip_prefix(separator))
}

/// Whether there is a process, a type and an operation in a line, wherever that is.
fn has_operation(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.windows(3).any(|three| {
        let is_type = three[1].strip_prefix(':').and_then(Kind::of).is_some();
        is_type && three[2].starts_with(':') && three[0].ends_with(|last: char| last.is_ascii_digit())
    })
}

fn process_of(word: &str) -> Option<i64> {
    word.parse().ok().filter(|_| word.starts_with(|first: char| first.is_ascii_digit()))
}

/// Makes histories of these entries: one, or one for each key.
pub(super) fn histories(entries: Vec<Entry>, said: Option<Structure>) -> Result<Vec<Case>, ReadError> {
    let model = said.map(Structure::model);
    if !is_independent(&entries) {
        return Ok(vec![history(entries, model, None)?]);
    }
    let by_key = by_key(entries)?;
    by_key.into_iter().map(|(key, entries)| history(entries, model, Some(key.to_string()))).collect()
}

/// Whether values are pairs of a key and a value: if there are reads, and all of them ask for the value of a key.
fn is_independent(entries: &[Entry]) -> bool {
    let invoked = || entries.iter().filter(|entry| entry.kind == Kind::Invoke);
    let has_key = |entry: &Entry| {
        pair(&entry.value).is_some_and(|(_, value)| entry.f != "read" || *value == Value::Null)
    };
    invoked().any(|entry| entry.f == "read") && invoked().all(has_key)
}

fn pair(value: &Value) -> Option<(&Value, &Value)> {
    let Value::List(both) = value else { return None };
    match &both[..] {
        [key, value] => Some((key, value)),
        _ => None,
    }
}

/// The entries of each key, without it. What ends an operation is about the key of that operation.
fn by_key(entries: Vec<Entry>) -> Result<BTreeMap<Value, Vec<Entry>>, ReadError> {
    let mut open: FxHashMap<i64, Value> = FxHashMap::default();
    let mut keys: BTreeMap<Value, Vec<Entry>> = BTreeMap::new();
    for mut entry in entries {
        let own = pair(&entry.value).map(|(key, value)| (key.clone(), value.clone()));
        let key = match (entry.kind, &own) {
            (Kind::Invoke, Some((key, _))) => {
                open.insert(entry.process, key.clone());
                Some(key.clone())
            }
            _ => open.remove(&entry.process),
        };
        let Some(key) = key else {
            if entry.kind == Kind::Info {
                continue;
            }
            let what = format!("process {} has no operation that could end", entry.process);
            return Err(ReadError::Line { line: entry.line, what });
        };
        if let Some((_, value)) = own.filter(|(own, _)| *own == key) {
            entry.value = value;
        }
        keys.entry(key).or_default().push(entry);
    }
    Ok(keys)
}

/// Makes a history of these entries.
fn history(entries: Vec<Entry>, model: Option<Model>, id: Option<String>) -> Result<Case, ReadError> {
    let model = model.or_else(|| guess(&entries)).ok_or(ReadError::NoModel)?;
    let mut ops: Vec<Option<Operation>> = Vec::new();
    let mut open: FxHashMap<i64, (usize, &str)> = FxHashMap::default();
    // A process of which an operation never ended begins anew under another name.
    let mut lives: FxHashMap<i64, u32> = FxHashMap::default();
    for entry in &entries {
        let wrong = |what: String| ReadError::Line { line: entry.line, what };
        let now = i64::from(entry.number);
        if entry.kind == Kind::Invoke {
            let (method, args) = call(entry);
            let life = lives.entry(entry.process).or_default();
            let client =
                if *life == 0 { entry.process.to_string() } else { format!("{}+{life}", entry.process) };
            if open.insert(entry.process, (ops.len(), &entry.f)).is_some() {
                return Err(wrong(format!(
                    "process {} has not returned from its last operation",
                    entry.process
                )));
            }
            let (client, method) = (SmolStr::from(client), SmolStr::from(method));
            ops.push(Some(Operation { client, method, args, call: now, returned: None }));
            continue;
        }
        let (place, invoked) = match (open.remove(&entry.process), entry.kind) {
            (Some(own), _) => own,
            (None, Kind::Info) => continue,
            (None, _) => {
                return Err(wrong(format!("process {} has no operation that could end", entry.process)));
            }
        };
        if entry.f != invoked {
            let (process, ended) = (entry.process, &entry.f);
            return Err(wrong(format!("process {process} has begun `{invoked}`, and `{ended}` ends")));
        }
        let Some(op) = &mut ops[place] else { continue };
        match entry.kind {
            Kind::Fail => ops[place] = None,
            Kind::Ok => op.returned = Some((now, result(&op.method, entry))),
            Kind::Info | Kind::Invoke => *lives.entry(entry.process).or_default() += 1,
        }
    }
    let history = History::new(ops.into_iter().flatten().collect())?;
    let places = places(&history, &entries);
    Ok(Case { places, ..Case::new(id, Subject::History { model, initial: Value::Null, history }) })
}

/// Where each event of the history is in the file. The time of an event is the number of its entry.
fn places(history: &History, entries: &[Entry]) -> Vec<Place> {
    let mut lines = entries.iter().map(|entry| (i64::from(entry.number), entry.line));
    let timeline = history.timeline().into_iter();
    let times = timeline.filter_map(|(op, returns)| {
        let op = &history.ops()[op];
        if returns { op.returned.as_ref().map(|(time, _)| *time) } else { Some(op.call) }
    });
    times
        .filter_map(|time| lines.find(|(number, _)| *number == time))
        .map(|(number, line)| Place { event: number as u64, line: u32::try_from(line).ok() })
        .collect()
}

/// What an invocation calls.
fn call(entry: &Entry) -> (&str, Vec<Value>) {
    let method = match entry.f.as_str() {
        "enqueue" => "enq",
        "dequeue" => "deq",
        other => other,
    };
    let mut args: Vec<Value> = entry.key.iter().cloned().collect();
    match (&entry.value, method) {
        (Value::Null, "read" | "get" | "deq" | "pop" | "inc" | "dec" | "delete_min" | "peek_min") => {}
        (Value::List(both), "cas") => args.extend(both.iter().cloned()),
        (value, _) => args.push(value.clone()),
    }
    (method, args)
}

/// What an operation that ended as `:ok` gave back.
fn result(method: &str, entry: &Entry) -> Value {
    match method {
        "write" | "put" | "append" | "enq" | "push" | "inc" | "dec" => Value::from("ok"),
        "cas" | "add" | "remove" => Value::Bool(true),
        _ => entry.value.clone(),
    }
}

fn guess(entries: &[Entry]) -> Option<Model> {
    let has = |names: &[&str]| entries.iter().all(|entry| names.contains(&entry.f.as_str()));
    if has(&["read", "write", "cas"]) {
        Some(Model::Register)
    } else if has(&["get", "put", "append"]) {
        Some(Model::Kv)
    } else if has(&["enqueue", "dequeue", "enq", "deq"]) {
        Some(Model::Queue)
    } else {
        None
    }
}
