//! What RV-Monitor itself says on twelve properties and their runs, recorded in `data/rv-monitor.json`.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use foresee_monitor::compile;
use foresee_monitor::watch::Watch;
use serde_json::Value;

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|item| item.as_str().unwrap()).collect()
}

/// The property in our notation.
fn spec(recorded: &Value) -> String {
    let creation = strings(&recorded["creation"]);
    let events: String = recorded["events"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, params)| {
            let mark = if creation.contains(&name.as_str()) { "creation " } else { "" };
            format!("    {mark}event {name}({});\n", strings(params).join(", "))
        })
        .collect();
    let handlers: String = recorded["handlers"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(category, handler)| {
            let reset = if handler["reset"].as_bool().unwrap() { " reset;" } else { "" };
            format!("    @{category} {{ count;{reset} }}\n")
        })
        .collect();
    format!(
        "{} property {}({}) {{\n{events}    {}: {}\n{handlers}}}\n",
        strings(&recorded["modifiers"]).join(" "),
        recorded["property"].as_str().unwrap(),
        strings(&recorded["parameters"]).join(", "),
        recorded["formalism"].as_str().unwrap(),
        recorded["formula"].as_str().unwrap(),
    )
}

fn verdicts(spec: &str, run: &Value) -> Vec<(u64, String)> {
    let compiled = compile(spec).unwrap_or_else(|problems| panic!("{spec}\n{problems:#?}"));
    let property = &compiled.properties[0];
    let mut watch = Watch::new(property, |_| None);
    let mut objects: Vec<String> = Vec::new();
    let mut number = |name: &Value| {
        let name = name.as_str().unwrap();
        let known = objects.iter().position(|object| object == name);
        known.unwrap_or_else(|| {
            objects.push(name.to_owned());
            objects.len() - 1
        }) as u64
    };
    let mut reported = Vec::new();
    for (at, event) in run["events"].as_array().unwrap().iter().enumerate() {
        let thread = number(&event[0]);
        let name = event[1].as_str().unwrap();
        let index = property.events.iter().position(|event| event.name == name).unwrap();
        let args: Vec<u64> = event[2].as_array().unwrap().iter().map(&mut number).collect();
        let mut report = |verdict: foresee_monitor::watch::Verdict<'_>| {
            for category in verdict.categories.indices() {
                reported.push((at as u64, property.bodies[verdict.body].handlers[category].category.clone()));
            }
        };
        watch.event(index as u32, thread, &args, &mut report).unwrap();
    }
    reported
}

#[test]
fn rv_monitors_verdicts_are_ours() {
    let recorded: Value = serde_json::from_str(include_str!("data/rv-monitor.json")).unwrap();
    let recorded = recorded.as_array().unwrap();
    assert_eq!(recorded.len(), 12);
    let mut wrong = Vec::new();
    for property in recorded {
        let spec = spec(property);
        for run in property["runs"].as_array().unwrap() {
            let expected: Vec<(u64, String)> = run["verdicts"]
                .as_array()
                .unwrap()
                .iter()
                .map(|verdict| (verdict[0].as_u64().unwrap(), verdict[1].as_str().unwrap().to_owned()))
                .collect();
            let found = verdicts(&spec, run);
            if found != expected {
                wrong.push(format!("{spec}{}\nfound {found:?}\nexpected {expected:?}\n", run["events"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
