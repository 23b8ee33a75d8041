//! Fields of objects: `var x(p): Account.balance` is, at each call that carries the object `p`, what this field of it holds then.
//!
//! So a field is one more value that such a call carries: this is where it is added to the events. A formula that asks for it asks for what it was at the last call; so it becomes
//! a variable of the instance, which each call sets. An instance without `p` would have no value for it, nor would an event that is no call. So a formula may ask for it only
//! if all events of the property are calls that carry `p`; guards and changes may ask for it at those that do.

use super::ast::{ANYTHING, Arg, Change, Content, Event, FieldOf, FieldVar, Formula, Name, Property, Var};
use super::condition::THREAD;
use super::diagnostic::Diagnostic;
use crate::property::Parameter;

/// The property with its fields as values of its events.
pub(super) fn spread(property: &Property, problems: &mut Vec<Diagnostic>) -> Property {
    let mut spread = property.clone();
    for field in &property.fields {
        if let Err(problem) = spread_one(field, &mut spread) {
            problems.push(problem);
        }
    }
    spread
}

fn spread_one(field: &FieldVar, property: &mut Property) -> Result<(), Diagnostic> {
    let FieldVar { name, object, field: path } = field;
    if !property.params.iter().any(|param| param.text == object.text) {
        let message = format!("`{}` is no parameter of this property", object.text);
        let problem =
            Diagnostic::error(object.span.clone(), message, "expected the object that has the field");
        let known = property.params.iter().map(|param| param.text.as_str());
        return Err(problem.with_suggestion(&object.text, known));
    }
    let Some((of_type, path)) = path.text.split_once('.').filter(|(of_type, _)| !of_type.contains(':'))
    else {
        let message = format!("`{}` is no field of a type", path.text);
        return Err(Diagnostic::error(path.span.clone(), message, "expected `Type.field`, without modules"));
    };
    let is_asked = |body: &super::ast::Body| match &body.content {
        Content::Formula(formula) | Content::Mttl(formula) => mentions(formula, &name.text),
        _ => false,
    };
    let in_body = property.bodies.iter().any(is_asked);
    for event in &mut property.events {
        let asks = event.guard.iter().any(|guard| mentions(guard, &name.text))
            || event.changes.iter().any(|change| mentions(&change.value, &name.text));
        match carrier(event, &object.text) {
            Some(parameter) => {
                add(event, FieldOf { parameter, of_type: of_type.into(), path: path.into() }, name, in_body)
            }
            None if asks || in_body => return Err(no_value(event, field, asks)),
            None => {}
        }
    }
    if in_body {
        let kind = Name { text: "int".to_owned(), span: name.span.clone() };
        property.states.push(Var { name: name.clone(), kind, initial: None });
    }
    Ok(())
}

/// By which parameter, or as what, a call carries the object.
fn carrier(event: &Event, object: &str) -> Option<Parameter> {
    let (source, args) =
        event.source.as_ref().filter(|(source, _)| matches!(&*source.text, "enter" | "exit"))?;
    let values = args.iter().filter(|arg| !matches!(arg, Arg::Functions(_)));
    let values = values.filter(|arg| !matches!(arg, Arg::Name(name) if name.text == THREAD));
    let is_object =
        |arg: &&Arg| arg.bound().is_some_and(|bound| bound.text == object && bound.text != ANYTHING);
    (0..).zip(values).find(|(_, arg)| is_object(arg)).and_then(|(position, arg)| match arg {
        Arg::Name(_) if source.text == "enter" => Some(Parameter::Position(position)),
        Arg::Of(parameter, _) if source.text == "enter" => Some(Parameter::Named(parameter.text.clone())),
        Arg::Returned(_) => Some(Parameter::Result),
        _ => None,
    })
}

/// The event also carries this field, by this name.
fn add(event: &mut Event, field: FieldOf, name: &Name, is_kept: bool) {
    if let Some((_, args)) = &mut event.source {
        let at = args.len() - usize::from(matches!(args.last(), Some(Arg::Returned(_))));
        args.insert(at, Arg::Field(field, name.clone()));
    }
    if is_kept {
        event
            .changes
            .insert(0, Change { name: name.clone(), operator: None, value: Formula::Name(name.clone()) });
    }
}

fn no_value(event: &Event, field: &FieldVar, asks: bool) -> Diagnostic {
    let (name, object) = (&field.name.text, &field.object.text);
    let message = format!(
        "`{name}` has no value at `{}`, which is no call that carries `{object}` as an argument when it begins, or as its result",
        event.name.text
    );
    let problem = Diagnostic::error(event.name.span.clone(), message, "not known here");
    problem.with_help(match asks {
        true => format!("fields are read when a call carries their object: `enter(\"f\", {object})`, `exit(\"f\") returning {object}`"),
        false => format!("a formula asks for `{name}` at all events; ask for it in guards: `event … when {name} > 0;`"),
    })
}

fn mentions(formula: &Formula, name: &str) -> bool {
    let inside = |formula: &Formula| mentions(formula, name);
    match formula {
        Formula::Name(this) => this.text == name,
        Formula::Text(..) | Formula::Bool(..) | Formula::Number(..) => false,
        Formula::Unary(_, inner)
        | Formula::Bounded(_, inner)
        | Formula::At(_, inner)
        | Formula::Quantified(_, inner) => inside(inner),
        Formula::Binary(_, left, right) | Formula::Interval(left, right) => inside(left) || inside(right),
        Formula::Call(_, all) => all.iter().any(inside),
    }
}
