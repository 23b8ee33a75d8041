//! Cases in JSON: histories with `ops`, refinement logs with `events`.
//!
//! What is not understood is refused, not passed over: a name that is none of those expected (a typing error would change what is checked), or one
//! that is there twice. Names for people and for other tools (`note`, a verdict that is expected) are known, and not looked at.

use serde_json::{Map, Value as Json};
use smol_str::SmolStr;

use super::case::{Case, ReadError, Subject};
use super::strict::{parse, parse_object};
use crate::history::{History, Operation};
use crate::log::{Action, Event, LogBuilder};
use crate::named::Structure;
use crate::shortened::shortened;
use crate::value::Value;

/// What a case may say beside its operations or events, for whoever reads it.
const REMARKS: &[&str] =
    &["id", "note", "paper", "decision", "linearizable", "history_linearizable", "io", "view"];

pub(super) fn read(text: &str, said: Option<Structure>) -> Result<Vec<Case>, ReadError> {
    let document: Json = match parse(text) {
        // The log of a program that did nothing.
        Ok(Json::Object(fields))
            if fields.contains_key("structure")
                && !["events", "ops", "cases"].iter().any(|it| fields.contains_key(*it)) =>
        {
            return lines(text, said).map(|case| vec![case]);
        }
        Ok(document) => document,
        Err(wrong) => match first_line(text) {
            // A line with more lines after it: the log of a program.
            Some(first) if first.contains_key("structure") => return Ok(vec![lines(text, said)?]),
            Some(first) if first.contains_key("thread") => {
                let what =
                    "expected a line that says what the log is of, such as {\"structure\": \"multiset\"}";
                return Err(ReadError::Line { line: 1, what: what.to_owned() });
            }
            _ => return Err(ReadError::Line { line: wrong.line(), what: wrong.to_string() }),
        },
    };
    let cases = match &document {
        Json::Array(cases) => cases.as_slice(),
        Json::Object(fields) => match fields.get("cases") {
            Some(Json::Array(cases)) => {
                let whole = Part { case: "the file", fields };
                whole.only(&["cases"], &["version", "format", "note"])?;
                cases.as_slice()
            }
            _ => std::slice::from_ref(&document),
        },
        _ => return Err(ReadError::Unknown),
    };
    cases.iter().enumerate().map(|(nth, json)| case(json, nth, said)).collect()
}

/// A piece of a case, with what is needed to say what is wrong with it.
#[derive(Clone, Copy)]
struct Part<'a> {
    case: &'a str,
    fields: &'a Map<String, Json>,
}

impl<'a> Part<'a> {
    fn wrong(&self, what: impl Into<String>) -> ReadError {
        ReadError::Case { case: self.case.to_owned(), what: what.into() }
    }

    /// Refuses names that are none of these.
    fn only(&self, names: &[&str], remarks: &[&str]) -> Result<(), ReadError> {
        let is_known = |name: &&String| names.contains(&name.as_str()) || remarks.contains(&name.as_str());
        let Some(unknown) = self.fields.keys().find(|name| !is_known(name)) else { return Ok(()) };
        let (expected, unknown) = (names.join("`, `"), shortened(unknown));
        Err(self.wrong(format!("nothing is called `{unknown}` here; expected `{expected}`")))
    }

    fn text(&self, field: &str) -> Result<&'a str, ReadError> {
        let text = self.fields.get(field).and_then(Json::as_str);
        text.ok_or_else(|| self.wrong(format!("no `{field}`; expected a text")))
    }

    fn list(&self, field: &str) -> Result<&'a [Json], ReadError> {
        let list = self.fields.get(field).and_then(Json::as_array);
        list.map(Vec::as_slice).ok_or_else(|| self.wrong(format!("no `{field}`; expected a list")))
    }

    fn value(&self, field: &str) -> Result<Value, ReadError> {
        let json = self.fields.get(field).unwrap_or(&Json::Null);
        Value::from_json(json).ok_or_else(|| {
            self.wrong(format!(
                "`{field}` is no plain value; expected null, true, a whole number of at most 64 bits, a text or a list"
            ))
        })
    }

    fn values(&self, field: &str) -> Result<Vec<Value>, ReadError> {
        match self.value(field)? {
            Value::List(values) => Ok(values.to_vec()),
            Value::Null => Ok(Vec::new()),
            _ => Err(self.wrong(format!("`{field}` is no list; expected the arguments"))),
        }
    }

    /// Something that has a name: a text or a number.
    fn name(&self, field: &str) -> Result<SmolStr, ReadError> {
        match self.value(field)? {
            Value::Text(name) => Ok(name),
            number @ (Value::Int(_) | Value::Large(_)) => Ok(number.to_string().into()),
            _ => Err(self.wrong(format!("no `{field}`; expected a number or a text"))),
        }
    }

    /// The parts in a list of it.
    fn part(&self, json: &'a Json, what: &str) -> Result<Part<'a>, ReadError> {
        let fields = json.as_object().ok_or_else(|| self.wrong(format!("{what} is no object")))?;
        Ok(Part { fields, ..*self })
    }
}

fn case(json: &Json, nth: usize, said: Option<Structure>) -> Result<Case, ReadError> {
    let number = format!("case {nth}");
    let Json::Object(fields) = json else {
        return Err(ReadError::Case {
            case: number,
            what: "expected an object with `ops` or `events`".to_owned(),
        });
    };
    let id = fields.get("id").and_then(Json::as_str);
    let part = Part { case: id.unwrap_or(&number), fields };
    let subject = match (fields.contains_key("ops"), fields.contains_key("events")) {
        (true, true) => {
            return Err(part.wrong("both `ops` and `events`; expected a history or a refinement log"));
        }
        (true, false) => history(part, said)?,
        (false, true) => log(part, said)?,
        (false, false) => return Err(part.wrong("expected `ops` (a history) or `events` (a refinement log)")),
    };
    Ok(Case::new(id.map(str::to_owned), subject))
}

fn history(case: Part<'_>, said: Option<Structure>) -> Result<Subject, ReadError> {
    case.only(&["model", "ops"], REMARKS)?;
    let structure: Structure = match (said, case.fields.get("model")) {
        (Some(said), _) => said,
        (None, Some(_)) => case.text("model")?.parse()?,
        (None, None) => return Err(ReadError::NoModel),
    };
    let mut ops = Vec::new();
    for (nth, json) in case.list("ops")?.iter().enumerate() {
        let part = case.part(json, &format!("operation {nth}"))?;
        part.only(&["client", "op", "args", "ret", "call", "return"], &[])?;
        let call = part.value("call")?.as_int();
        let returned = match (part.value("return")?, part.value("ret")?) {
            (Value::Null, Value::Null) => None,
            (Value::Null, _) => {
                let what = "a result and no `return`; expected when it returned";
                return Err(part.wrong(format!("operation {nth}: {what}")));
            }
            (Value::Int(at), ret) => Some((at, ret)),
            _ => {
                return Err(
                    part.wrong(format!("operation {nth}: `return` is no moment; expected a number or null"))
                );
            }
        };
        ops.push(Operation {
            client: part.name("client")?,
            method: part.text("op")?.into(),
            args: part.values("args")?,
            call: call.ok_or_else(|| part.wrong(format!("operation {nth}: no `call`; expected a number")))?,
            returned,
        });
    }
    let history = History::new(ops).map_err(|wrong| case.wrong(wrong.to_string()))?;
    Ok(Subject::History { model: structure.model(), initial: Value::Int(0), history })
}

fn log(case: Part<'_>, said: Option<Structure>) -> Result<Subject, ReadError> {
    case.only(&["structure", "ds_threads", "events"], REMARKS)?;
    let structure = structure(case, said)?;
    let mut built = LogBuilder::default();
    for thread in internal_threads(case)? {
        built.thread(&thread, true);
    }
    for (nth, json) in case.list("events")?.iter().enumerate() {
        let what = format!("event {nth}");
        let event = event(case.part(json, &what)?, &what, &mut built)?;
        built.log.events.push(event);
    }
    Ok(Subject::Log { structure, log: built.log })
}

/// What a log is of.
fn structure(about: Part<'_>, said: Option<Structure>) -> Result<Structure, ReadError> {
    said.map_or_else(|| Ok(about.text("structure")?.parse()?), Ok)
}

fn internal_threads(case: Part<'_>) -> Result<Vec<SmolStr>, ReadError> {
    if !case.fields.contains_key("ds_threads") {
        return Ok(Vec::new());
    }
    let name = |json: &Json| json.as_str().map(SmolStr::new);
    let names: Option<Vec<SmolStr>> = case.list("ds_threads")?.iter().map(name).collect();
    names.ok_or_else(|| case.wrong("`ds_threads`: expected the names of threads"))
}

fn event(part: Part<'_>, what: &str, built: &mut LogBuilder) -> Result<Event, ReadError> {
    let thread = built.thread(&part.name("thread")?, false);
    let op = part.text("op")?;
    let fields: &[&str] = match op {
        "call" => &["thread", "op", "method", "args"],
        "return" => &["thread", "op", "method", "ret"],
        "write" | "replay" => &["thread", "op", "target", "value"],
        _ => &["thread", "op"],
    };
    let action = match op {
        "call" => Action::Call { method: part.text("method")?.into(), args: part.values("args")?.into() },
        "return" => Action::Return { method: part.text("method")?.into(), ret: part.value("ret")? },
        "panic" => Action::Panic,
        "commit" => Action::Commit,
        "write" => Action::Write { target: part.text("target")?.into(), value: part.value("value")? },
        "replay" => Action::Replay { entry: part.text("target")?.into(), value: part.value("value")? },
        "commit_begin" => Action::BlockBegin,
        "commit_end" => Action::BlockEnd,
        other => {
            let expected = "call, return, panic, commit, write, replay, commit_begin or commit_end";
            let other = shortened(&other);
            return Err(part.wrong(format!("{what}: no `op` is called `{other}`; expected {expected}")));
        }
    };
    part.only(fields, &[])?;
    Ok(Event { thread, action })
}

fn first_line(text: &str) -> Option<Map<String, Json>> {
    parse_object(text.lines().next()?).ok()
}

/// A log of a program: a line about it, and a line for each event. The last line may be incomplete if the program was killed.
fn lines(text: &str, said: Option<Structure>) -> Result<Case, ReadError> {
    let head = first_line(text).unwrap_or_default();
    let about = Part { case: "line 1", fields: &head };
    about.only(&["structure", "ds_threads"], REMARKS)?;
    let structure = structure(about, said)?;
    let mut built = LogBuilder::default();
    for thread in internal_threads(about)? {
        built.thread(&thread, true);
    }
    let mut remarks = Vec::new();
    let mut lines = text.lines().enumerate().skip(1).peekable();
    while let Some((nth, line)) = lines.next() {
        let what = format!("line {}", nth + 1);
        if line.trim().is_empty() {
            continue;
        }
        let fields: Map<String, Json> = match parse_object(line) {
            Ok(fields) => fields,
            Err(wrong) if wrong.is_eof() && lines.peek().is_none() && !text.ends_with('\n') => {
                remarks
                    .push(format!("{what} is incomplete: what the program did from there on is not known"));
                break;
            }
            Err(wrong) => return Err(ReadError::Line { line: nth + 1, what: wrong.to_string() }),
        };
        let part = Part { case: &what, fields: &fields };
        if fields.contains_key("ds_thread") {
            part.only(&["ds_thread"], &[])?;
            built.thread(&part.name("ds_thread")?, true);
            continue;
        }
        let event = event(part, "the event", &mut built)?;
        built.log.events.push(event);
    }
    let id = head.get("id").and_then(Json::as_str).map(str::to_owned);
    Ok(Case { remarks, ..Case::new(id, Subject::Log { structure, log: built.log }) })
}
