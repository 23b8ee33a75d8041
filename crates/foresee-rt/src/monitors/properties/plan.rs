//! What the driver has worked out for this run: a file that `FORESEE_MONITOR` names, as lines of fields with tabs between them.
//!
//! ```text
//! spec PATH                             a spec, in the order of which properties are numbered
//! call HOOK PROPERTY EVENT POSITIONS    where the program comes to this hook, that is this event, with these of the values that are recorded there (`0,2`)
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
    pub(super) values: Box<[u8]>,
}

/// The plan of a run.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) properties: Vec<Property>,
    /// By the number of the hook.
    pub(super) calls: Vec<Vec<CallEvent>>,
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
                let values = positions.map(|position| position.parse().ok()).collect::<Option<_>>()?;
                if self.calls.len() <= hook {
                    self.calls.resize_with(hook + 1, Vec::new);
                }
                self.calls[hook].push(CallEvent { property, event, values });
            }
            "function" => {
                let address = u64::from_str_radix(field()?, 16).ok()?.wrapping_add(bias);
                self.functions.push((field()?.to_owned(), address as usize));
            }
            _ => return None,
        }
        Some(())
    }

    /// Where the program's file has a function of this name; 0 if nowhere.
    pub(super) fn function(&self, name: &str) -> usize {
        self.functions.iter().find(|(of, _)| of == name).map_or(0, |(_, address)| *address)
    }
}
