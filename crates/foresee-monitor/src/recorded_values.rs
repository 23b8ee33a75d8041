//! Which values of a recorded call are those that a property asks for.
//!
//! What is recorded of a call says which of the function's parameters it has the values of, as a text: `log _ n` for the first and the third of three. Properties name
//! parameters by position or by name. The number of the call, if it has one, comes behind all parameters, and then fields of objects: `log _ n #call log.level`.

use crate::property::{Parameter, RECEIVER};

/// What stands for a parameter whose value is not recorded.
const NOT_RECORDED: &str = "_";
/// What stands for the number of the call, which its beginning and its return have.
const CALL_NUMBER: &str = "#call";
/// What stands before a parameter of which the value is that where it points.
const STORED: char = '*';
/// What stands for the result where its fields are named: no parameter is called so.
const RETURNED: &str = "return";
/// What Rust calls a receiver.
const RUST_RECEIVER: &str = "self";

/// Positions of parameters among the values of a call; `None` if one is not there.
pub type Picked = Option<Box<[u32]>>;

/// Whether a call whose parameters are this text has the values of all of these.
pub fn has_values(recorded: &str, parameters: &[Parameter]) -> bool {
    pick(recorded, parameters).is_some()
}

/// Where the values of these are among those of a call whose parameters are this text.
pub fn pick(recorded: &str, parameters: &[Parameter]) -> Picked {
    let mut declared = 0;
    let mut values = 0;
    let parameters: Vec<&Parameter> =
        parameters.iter().filter(|parameter| **parameter != Parameter::Result).collect();
    let mut picked: Vec<Option<u32>> = vec![None; parameters.len()];
    for name in recorded.split(' ') {
        let has_value = name != NOT_RECORDED;
        let is_parameter = has_value && name != CALL_NUMBER;
        let is_receiver = name == RECEIVER;
        for (parameter, place) in parameters.iter().zip(&mut picked).filter(|_| is_parameter) {
            let is_it = match parameter {
                Parameter::Position(position) => {
                    !is_receiver && *position == declared && !name.starts_with(STORED)
                }
                Parameter::Named(asked) => asked == name || asked == RECEIVER && name == RUST_RECEIVER,
                Parameter::Stored(asked) => name.strip_prefix(STORED) == Some(asked),
                Parameter::Field { of, path, .. } => {
                    let object = name.strip_suffix(path.as_str()).and_then(|rest| rest.strip_suffix('.'));
                    object.is_some_and(|object| is_object(of, object, recorded))
                }
                Parameter::Result => false,
            };
            if is_it {
                *place = Some(values);
            }
        }
        declared += u32::from(!is_receiver);
        values += u32::from(has_value);
    }
    picked.into_iter().collect()
}

/// Where the number of the call is among the values of one whose parameters are this text.
pub fn call_number(recorded: &str) -> Option<u32> {
    let mut values = (0..).zip(recorded.split(' ').filter(|name| *name != NOT_RECORDED));
    values.find(|(_, name)| *name == CALL_NUMBER).map(|(at, _)| at)
}

/// Whether a value at a return is what the call was given: an object among these is the one that it was when the call began.
pub fn is_given(parameter: &Parameter) -> bool {
    matches!(parameter, Parameter::Position(_) | Parameter::Named(_))
}

/// Whether an object that fields are of, as a call names it, is this one.
fn is_object(of: &Parameter, name: &str, recorded: &str) -> bool {
    match of {
        Parameter::Named(asked) => asked == name || asked == RECEIVER && name == RUST_RECEIVER,
        Parameter::Position(position) => {
            let mut declared = recorded.split(' ').filter(|name| *name != RECEIVER);
            declared.nth(*position as usize) == Some(name)
        }
        Parameter::Result => name == RETURNED,
        Parameter::Stored(_) | Parameter::Field { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_picked_by_position_and_by_name() {
        let position = Parameter::Position;
        let named = |name: &str| Parameter::Named(name.to_owned());
        let picks = |recorded, parameters: &[Parameter]| pick(recorded, parameters).map(Vec::from);
        assert_eq!(picks("log _ n", &[position(0), position(2)]), Some(vec![0, 1]));
        assert_eq!(picks("log _ n", &[named("n"), named("log")]), Some(vec![1, 0]));
        assert_eq!(picks("log _ n", &[position(1)]), None);
        assert_eq!(picks("log _ n", &[position(3)]), None);
        assert_eq!(picks("log _ n", &[named("_")]), None);
        assert_eq!(picks("this n", &[named("this"), position(0)]), Some(vec![0, 1]));
        assert_eq!(picks("self n", &[named("this"), position(0), position(1)]), Some(vec![0, 0, 1]));
        assert_eq!(picks("some other text", &[named("log")]), None);
        let stored = Parameter::Stored("db".to_owned());
        assert_eq!(picks("name *db", &[stored.clone(), Parameter::Result, position(0)]), Some(vec![1, 0]));
        assert_eq!(picks("name db", &[stored]), None);
        assert_eq!(picks("name *db", &[position(1)]), None);
        let field = |of, path: &str| Parameter::Field {
            of: Box::new(of),
            of_type: "T".to_owned(),
            path: path.to_owned(),
        };
        let recorded = "this a _ this.n a.n a.m.n";
        assert_eq!(picks(recorded, &[named("this"), field(named("this"), "n")]), Some(vec![0, 2]));
        assert_eq!(picks(recorded, &[field(position(0), "m.n"), field(position(0), "n")]), Some(vec![4, 3]));
        assert_eq!(picks(recorded, &[field(position(1), "n")]), None);
        assert_eq!(picks("a #call a.n", &[field(position(0), "n"), position(0)]), Some(vec![2, 0]));
        assert_eq!(picks("a #call", &[position(1)]), None);
        assert_eq!((call_number("this _ a #call a.n"), call_number("a b")), (Some(2), None));
        assert_eq!(picks("return.n", &[Parameter::Result, field(Parameter::Result, "n")]), Some(vec![0]));
    }
}
