//! Cases in JSON: histories with `ops`, refinement logs with `events`.

use serde_json::{Map, Value as Json};
use smol_str::SmolStr;

use super::case::{Case, ReadError, Subject};
use crate::history::{History, Operation};
use crate::log::{Action, Event, LogBuilder};
use crate::named::Structure;
use crate::value::Value;

pub(super) fn read(text: &str, said: Option<Structure>) -> Result<Vec<Case>, ReadError> {
    let document: Json = match serde_json::from_str(text) {
        // The log of a program that did nothing.
        Ok(Json::Object(fields))
            if fields.contains_key("structure")
                && !["events", "ops", "cases"].iter().any(|it| fields.contains_key(*it)) =>
        {
            return lines(text, said).map(|case| vec![case]);
        }
        Ok(document) => document,
        // A line with more lines after it: the log of a program.
        Err(_) if first_line(text).is_some_and(|first| first.contains_key("structure")) => {
            return lines(text, said).map(|case| vec![case]);
        }
        Err(wrong) => return Err(ReadError::Line { line: wrong.line(), what: wrong.to_string() }),
    };
    let cases = match &document {
        Json::Array(cases) => cases.as_slice(),
        Json::Object(fields) => match fields.get("cases") {
            Some(Json::Array(cases)) => cases.as_slice(),
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
        (true, _) => history(part, said)?,
        (false, true) => log(part, said)?,
        (false, false) => return Err(part.wrong("expected `ops` (a history) or `events` (a refinement log)")),
    };
    Ok(Case::new(id.map(str::to_owned), subject))
}

fn history(case: Part<'_>, said: Option<Structure>) -> Result<Subject, ReadError> {
    let structure: Structure = match (said, case.fields.get("model")) {
        (Some(said), _) => said,
        (None, Some(_)) => case.text("model")?.parse()?,
        (None, None) => return Err(ReadError::NoModel),
    };
    let mut ops = Vec::new();
    for (nth, json) in case.list("ops")?.iter().enumerate() {
        let part = case.part(json, &format!("operation {nth}"))?;
        let call = part.value("call")?.as_int();
        let returned = match part.value("return")? {
            Value::Null => None,
            Value::Int(at) => Some((at, part.value("ret")?)),
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
    let action = match part.text("op")? {
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
            return Err(part.wrong(format!("{what}: no `op` is called `{other}`; expected {expected}")));
        }
    };
    Ok(Event { thread, action })
}

fn first_line(text: &str) -> Option<Map<String, Json>> {
    serde_json::from_str(text.lines().next()?).ok()
}

/// A log of a program: a line about it, and a line for each event. The last line may be incomplete if the program was killed.
fn lines(text: &str, said: Option<Structure>) -> Result<Case, ReadError> {
    let head = first_line(text).unwrap_or_default();
    let about = Part { case: "line 1", fields: &head };
    let structure = structure(about, said)?;
    let mut built = LogBuilder::default();
    for thread in internal_threads(about)? {
        built.thread(&thread, true);
    }
    let mut lines = text.lines().enumerate().skip(1).peekable();
    while let Some((nth, line)) = lines.next() {
        let what = format!("line {}", nth + 1);
        if line.trim().is_empty() {
            continue;
        }
        let fields: Map<String, Json> = match serde_json::from_str(line) {
            Ok(fields) => fields,
            Err(_) if lines.peek().is_none() && !text.ends_with('\n') => break,
            Err(wrong) => return Err(ReadError::Line { line: nth + 1, what: wrong.to_string() }),
        };
        let part = Part { case: &what, fields: &fields };
        if fields.contains_key("ds_thread") {
            built.thread(&part.name("ds_thread")?, true);
            continue;
        }
        let event = event(part, "the event", &mut built)?;
        built.log.events.push(event);
    }
    let id = head.get("id").and_then(Json::as_str).map(str::to_owned);
    Ok(Case::new(id, Subject::Log { structure, log: built.log }))
}
