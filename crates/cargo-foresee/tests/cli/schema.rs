//! The schema of reports, and a validator for as much of JSON Schema as it uses. [`validate_reports`] is called with everything
//! that tests make the program print, so every JSON report is held against the schema.

use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::support::{Folder, example};

static SCHEMA: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../schema/report.schema.json")).unwrap());

/// How every report begins, whatever a program has printed before.
const BEGIN: &str = "{\n  \"version\": 1,\n  \"findings\": [";

/// Holds the reports in a text against the schema; how many there are.
#[track_caller]
pub(crate) fn validate_reports(text: &str) -> usize {
    let mut count = 0;
    let mut rest = text;
    while let Some(start) = rest.find(BEGIN) {
        rest = &rest[start..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let report = values.next().unwrap().unwrap_or_else(|why| panic!("{why}: {rest}"));
        let length = values.byte_offset();
        if let Err(why) = valid(&report, &SCHEMA) {
            panic!("not as the schema has it: {why}\n{report:#}");
        }
        rest = &rest[length..];
        count += 1;
    }
    count
}

/// Whether a value is as a schema has it; otherwise where it is not.
fn valid(value: &Value, schema: &Value) -> Result<(), String> {
    for (keyword, rule) in schema.as_object().unwrap() {
        holds(value, keyword, rule, schema).map_err(|why| format!("{keyword}: {why}"))?;
    }
    Ok(())
}

fn holds(value: &Value, keyword: &str, rule: &Value, schema: &Value) -> Result<(), String> {
    let here =
        |is_valid: bool| if is_valid { Ok(()) } else { Err(format!("{rule} expected, not {value:.200}")) };
    match keyword {
        "$schema" | "$defs" | "title" | "description" => Ok(()),
        "$ref" => {
            let pointer = rule.as_str().unwrap().strip_prefix('#').unwrap();
            valid(value, SCHEMA.pointer(pointer).unwrap()).map_err(|why| format!("{pointer}: {why}"))
        }
        "type" => match rule {
            Value::Array(types) => here(types.iter().any(|name| is_of_type(value, name))),
            name => here(is_of_type(value, name)),
        },
        "const" => here(value == rule),
        "enum" => here(rule.as_array().unwrap().contains(value)),
        "minimum" => here(value.as_f64().is_none_or(|number| number >= rule.as_f64().unwrap())),
        "minItems" => here(value.as_array().is_none_or(|all| all.len() as u64 >= rule.as_u64().unwrap())),
        "maxItems" => here(value.as_array().is_none_or(|all| all.len() as u64 <= rule.as_u64().unwrap())),
        "items" => {
            let mut all = value.as_array().into_iter().flatten().enumerate();
            all.try_for_each(|(at, one)| valid(one, rule).map_err(|why| format!("{at}: {why}")))
        }
        "required" => {
            let Some(fields) = value.as_object() else { return Ok(()) };
            let mut names = rule.as_array().unwrap().iter().map(|name| name.as_str().unwrap());
            names.find(|name| !fields.contains_key(*name)).map_or(Ok(()), |name| Err(format!("no {name}")))
        }
        "properties" => rule.as_object().unwrap().iter().try_for_each(|(name, rule)| match value.get(name) {
            Some(field) => valid(field, rule).map_err(|why| format!("{name}: {why}")),
            None => Ok(()),
        }),
        "additionalProperties" => {
            let known = |name: &str| schema.get("properties").is_some_and(|all| all.get(name).is_some());
            let mut others = value.as_object().into_iter().flatten().filter(|(name, _)| !known(name));
            match rule {
                Value::Bool(false) => others.next().map_or(Ok(()), |(name, _)| Err(name.clone())),
                rule => others
                    .try_for_each(|(name, field)| valid(field, rule).map_err(|why| format!("{name}: {why}"))),
            }
        }
        "anyOf" | "oneOf" => {
            let tried: Vec<_> = rule.as_array().unwrap().iter().map(|schema| valid(value, schema)).collect();
            let matches = tried.iter().filter(|one| one.is_ok()).count();
            if matches == 1 || (keyword == "anyOf" && matches > 1) {
                return Ok(());
            }
            Err(format!(
                "{matches} match: {}",
                tried.into_iter().filter_map(Result::err).collect::<Vec<_>>().join("; ")
            ))
        }
        "allOf" => rule.as_array().unwrap().iter().try_for_each(|schema| valid(value, schema)),
        "if" if valid(value, rule).is_ok() => valid(value, &schema["then"]),
        "if" | "then" => Ok(()),
        unknown => panic!("the validator knows no `{unknown}`"),
    }
}

fn is_of_type(value: &Value, name: &Value) -> bool {
    match name.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        unknown => panic!("the validator knows no type `{unknown}`"),
    }
}

fn report(args: &[&str]) -> Value {
    let outcome = Folder::new().foresee(args);
    assert_eq!(validate_reports(&outcome.stdout), 1, "{}", outcome.stderr);
    serde_json::from_str(&outcome.stdout).unwrap()
}

fn counter() -> Value {
    report(&["check", example("counter.std").to_str().unwrap(), "--format", "json"])
}

#[test]
fn reports_of_every_command_have_the_same_fields() {
    let flight = [example("flight.rv"), example("flight.std")];
    let [spec, trace] = flight.each_ref().map(|path| path.to_str().unwrap());
    let predicted = report(&["check", trace, "--spec", spec, "--engine", "property", "--format", "json"]);
    let fields = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let checked = counter();
    let last = checked["findings"][0]["story"]["rows"].as_array().unwrap().last().unwrap();
    assert_eq!(last["step"]["key"], true, "{checked:#}");
    assert_eq!(predicted["findings"][0]["run"]["steps"][2]["thread"], "pilot", "{predicted:#}");
    let folder = Folder::new();
    folder.write("p.rv", "property P { event bad; ere: bad @match { report \"bad\"; } }\n");
    folder.write("t.std", "T1|event(bad)|a.rs:4:2 in f\n");
    let monitored = folder.foresee(&["monitor", "p.rv", "t.std", "--format", "json"]).stdout;
    assert_eq!(validate_reports(&monitored), 1);
    let monitored: Value = serde_json::from_str(&monitored).unwrap();
    let event = &monitored["findings"][0]["events"][0];
    let location = json!({ "file": "a.rs", "line": 4, "column": 2, "function": "f" });
    assert_eq!((&event["location"], &event["place"]), (&location, &json!("a.rs:4:2 in f")));
    for other in [predicted, monitored] {
        assert_eq!(fields(&other["stats"]), fields(&checked["stats"]));
        assert_eq!(fields(&other["findings"][0]), fields(&checked["findings"][0]));
        assert_eq!(fields(&other["findings"][0]["events"][0]), fields(&checked["findings"][0]["events"][0]));
    }
}

/// A validator that accepts everything would be no test.
#[test]
fn what_differs_from_the_schema_is_refused() {
    let whole = counter();
    valid(&whole, &SCHEMA).unwrap();
    let changes: [(&str, Value); 9] = [
        ("/version", json!(2)),
        ("/findings/0/kind", json!("rase")),
        ("/findings/0/witness", Value::Null),
        ("/findings/0/witness/checked", json!(false)),
        ("/findings/0/events/0/location/line", json!(0)),
        ("/findings/0/events/0/memory/kind", json!("heap")),
        ("/findings/0/story/rows/0", json!({ "step": {}, "passed": {} })),
        ("/stats/events", json!(-1)),
        ("/stats/engines/hb", json!(3)),
    ];
    for (pointer, change) in changes {
        let mut broken = whole.clone();
        *broken.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")) = change;
        assert!(valid(&broken, &SCHEMA).is_err(), "{pointer}");
    }
    let mut more = whole.clone();
    more["findings"][0]["more"] = Value::Null;
    assert!(valid(&more, &SCHEMA).is_err());
    let mut less = whole;
    less["findings"][0].as_object_mut().unwrap().remove("message");
    assert!(valid(&less, &SCHEMA).unwrap_err().contains("no message"));
}
