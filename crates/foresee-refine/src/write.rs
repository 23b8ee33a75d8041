//! Logs as JSON lines and histories as JSON, as [`read`](crate::read) reads them.

use serde_json::{Map, Value as Json, json};

use crate::history::Operation;
use crate::log::{Action, Thread};

/// The first line: what the log is of.
pub fn head(structure: &str) -> String {
    json!({"structure": structure}).to_string()
}

/// The line that a thread of the structure needs before its first event; none for others.
pub fn thread(thread: &Thread) -> Option<String> {
    thread.is_internal.then(|| json!({"ds_thread": *thread.name}).to_string())
}

/// The line of an event.
pub fn event(thread: &str, action: &Action) -> String {
    let mut fields = Map::new();
    let mut set = |name: &str, value: Json| drop(fields.insert(name.to_owned(), value));
    set("thread", Json::from(thread));
    match action {
        Action::Call { method, args } => {
            set("op", Json::from("call"));
            set("method", Json::from(&**method));
            set("args", args.iter().map(crate::Value::to_json).collect());
        }
        Action::Return { method, ret } => {
            set("op", Json::from("return"));
            set("method", Json::from(&**method));
            set("ret", ret.to_json());
        }
        Action::Write { target, value } | Action::Replay { entry: target, value } => {
            let is_write = matches!(action, Action::Write { .. });
            set("op", Json::from(if is_write { "write" } else { "replay" }));
            set("target", Json::from(&**target));
            set("value", value.to_json());
        }
        Action::Panic => set("op", Json::from("panic")),
        Action::Commit => set("op", Json::from("commit")),
        Action::BlockBegin => set("op", Json::from("commit_begin")),
        Action::BlockEnd => set("op", Json::from("commit_end")),
    }
    Json::Object(fields).to_string()
}

/// A history of a model: an operation in each line.
pub fn history(model: &str, ops: &[Operation]) -> String {
    let line = |op: &Operation| {
        let mut fields = json!({"client": *op.client, "op": *op.method});
        fields["args"] = op.args.iter().map(crate::Value::to_json).collect();
        fields["call"] = Json::from(op.call);
        if let Some((at, ret)) = &op.returned {
            fields["return"] = Json::from(*at);
            fields["ret"] = ret.to_json();
        }
        fields.to_string()
    };
    let lines: Vec<String> = ops.iter().map(line).collect();
    format!("{{\"model\": {}, \"ops\": [\n{}\n]}}\n", Json::from(model), lines.join(",\n"))
}
