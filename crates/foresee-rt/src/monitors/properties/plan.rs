//! What the driver has worked out for this run: a file that `FORESEE_MONITOR` names, as lines of fields with tabs between them.
//!
//! ```text
//! spec PATH                             a spec, in the order of which properties are numbered
//! call HOOK PROPERTY EVENT POSITIONS    where the program comes to this hook, that is this event, with these of the values that are recorded there (`0,2`; `2b`: an object, the one when the call began)
//! begin HOOK PROPERTY POSITION          a call begins there of which the property needs objects at the return; its number is this value
//! end HOOK PROPERTY POSITION            such a call returns there
//! function ADDRESS NAME                 what the program's file has under a name that handlers call
//! ```

use std::ffi::CStr;

use foresee_monitor::property::Property;

use crate::message::say;
use crate::program;

/// Where the program comes to a hook, that is an event.
pub(super) struct CallEvent {
    pub(super) property: usize,
    pub(super) event: u32,
    /// Which of the values that are recorded there it carries.
    pub(super) values: Box<[Carries]>,
}

/// A value that is carried.
#[derive(Clone, Copy)]
pub(super) struct Carries {
    pub(super) position: u8,
    /// It is an object, and the one that was there when the call began.
    pub(super) is_given: bool,
}

/// A property needs to know which objects a call was given.
#[derive(Clone, Copy)]
pub(super) struct Numbered {
    pub(super) property: usize,
    /// Where the number of the call is among the values.
    pub(super) position: u8,
}

/// What there is to do where the program comes to a hook.
#[derive(Default)]
pub(super) struct AtHook {
    pub(super) begins: Vec<Numbered>,
    pub(super) events: Vec<CallEvent>,
    pub(super) ends: Vec<Numbered>,
}

/// The plan of a run.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) properties: Vec<Property>,
    /// By the number of the hook.
    pub(super) calls: Vec<AtHook>,
    functions: Vec<(String, usize)>,
}

impl Plan {
    /// Reads it; what cannot be read is told, as nothing is monitored then.
    pub(super) fn read(path: &CStr) -> Option<Plan> {
        let text = path.to_str().ok().and_then(|path| std::fs::read_to_string(path).ok());
        let mut plan = Plan::default();
        let bias = program::load_bias();
        let done = text.is_some_and(|text| text.lines().all(|line| plan.line(line, bias).is_some()));
        if !done {
            say(&[b"foresee: cannot read what is to be monitored; the program runs unmonitored\n"]);
        }
        done.then_some(plan)
    }

    fn line(&mut self, line: &str, bias: u64) -> Option<()> {
        let mut fields = line.split('\t');
        let (word, mut field) = (fields.next()?, || fields.next());
        match word {
            "spec" => {
                let compiled = foresee_monitor::compile(&std::fs::read_to_string(field()?).ok()?).ok()?;
                self.properties.extend(compiled.properties);
            }
            "call" => {
                let (hook, property) = (field()?.parse::<usize>().ok()?, field()?.parse().ok()?);
                let (event, positions) = (field()?.parse().ok()?, field()?);
                let positions = positions.split(',').filter(|position| !position.is_empty());
                let values = positions.map(carries).collect::<Option<_>>()?;
                self.at(hook).events.push(CallEvent { property, event, values });
            }
            "begin" | "end" => {
                let (hook, property) = (field()?.parse::<usize>().ok()?, field()?.parse().ok()?);
                let numbered = Numbered { property, position: field()?.parse().ok()? };
                let hook = self.at(hook);
                let list = if word == "begin" { &mut hook.begins } else { &mut hook.ends };
                list.push(numbered);
            }
            "function" => {
                let address = u64::from_str_radix(field()?, 16).ok()?.wrapping_add(bias);
                self.functions.push((field()?.to_owned(), address as usize));
            }
            _ => return None,
        }
        Some(())
    }

    fn at(&mut self, hook: usize) -> &mut AtHook {
        if self.calls.len() <= hook {
            self.calls.resize_with(hook + 1, AtHook::default);
        }
        &mut self.calls[hook]
    }

    /// Where the program's file has a function of this name; 0 if nowhere.
    pub(super) fn function(&self, name: &str) -> usize {
        self.functions.iter().find(|(of, _)| of == name).map_or(0, |(_, address)| *address)
    }
}

fn carries(text: &str) -> Option<Carries> {
    let position = text.strip_suffix('b');
    Some(Carries { position: position.unwrap_or(text).parse().ok()?, is_given: position.is_some() })
}
