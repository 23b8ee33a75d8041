//! What of a run is not covered, as far as the run had it: for the summary, so that "nothing found" does not say more than it means.
//!
//! | met | how it is known |
//! |---|---|
//! | semaphores that keep the order of the run | the reader of raw traces notes them as facts |
//! | threads that were still there when the program was ended | a fact of the recording, and what each thread did last |
//! | atomics of different sizes on the same bytes of a static | all atomic accesses; other memory is used again for other things |
//! | locks of asynchronous tasks | the functions that ran |

use foresee_trace::raw::SEMAPHORE_IN_ORDER;
use foresee_trace::{Event, Facts, LocId, Mem, Names, Op, ThreadId, function_path};
use rustc_hash::FxHashMap;

use crate::report::model::{Certainty, Finding, Kind};
use crate::report::viewpoint::Viewpoint;

/// The fact that says which signal has ended the program.
pub(crate) const ENDED_BY: &str = "ended-by-signal";

/// The signals that end programs which would go on.
const ENDS: [(i32, &str); 4] = [(1, "SIGHUP"), (2, "SIGINT"), (9, "SIGKILL"), (15, "SIGTERM")];

/// So many of a kind are named.
const NAMED: usize = 4;

/// No atomic access is larger, in bytes.
const LARGEST_ATOMIC: u64 = 16;

/// What names of stand-ins for what is no memory begin with.
const STAND_INS: [&str; 2] = ["sync ", "descriptor "];

/// What is noted of a run; see the [module](self).
#[derive(Default)]
pub(crate) struct Uncovered {
    /// Where each thread acted last, unless it has ended.
    last: Vec<Option<LocId>>,
    /// The size of the first atomic access at an address.
    atomics: FxHashMap<u64, u32>,
    /// Atomic accesses of another size than one before, at one place each.
    mixed: FxHashMap<Mem, LocId>,
}

impl Uncovered {
    /// The next event of the run.
    pub(crate) fn event(&mut self, event: &Event<'_>) {
        let thread = event.thread.index();
        if self.last.len() <= thread {
            self.last.resize(thread + 1, None);
        }
        let known = self.last[thread].unwrap_or(LocId::UNKNOWN);
        let loc = if event.loc == LocId::UNKNOWN { known } else { event.loc };
        self.last[thread] = (!matches!(event.op, Op::ThreadEnd)).then_some(loc);
        if let Op::Load { mem, .. } | Op::Store { mem, .. } | Op::Rmw { mem, .. } = event.op
            && self.atomics.get(&mem.addr) != Some(&mem.size)
        {
            self.atomic(mem, event.loc);
        }
    }

    #[cold]
    fn atomic(&mut self, mem: Mem, loc: LocId) {
        let near = mem.addr.saturating_sub(LARGEST_ATOMIC)..mem.addr.saturating_add(mem.size.into());
        let others = near.filter_map(|addr| Some(Mem { addr, size: *self.atomics.get(&addr)? }));
        if others.into_iter().any(|other| other != mem && other.overlaps(mem)) {
            self.mixed.entry(mem).or_insert(loc);
        } else {
            self.atomics.insert(mem.addr, mem.size);
        }
    }

    /// What there is to say at the end of the run, in which this was found.
    pub(crate) fn told(
        &self,
        names: &Names,
        facts: &Facts,
        findings: &[Finding],
        from: &Viewpoint,
    ) -> Vec<String> {
        let all = [semaphores(facts, from), self.mixed(names, from)];
        let mut lines: Vec<String> = all.into_iter().flatten().collect();
        lines.extend(self.ended(names, facts, findings, from));
        lines.extend(locks_of_tasks(names));
        lines
    }

    fn mixed(&self, names: &Names, from: &Viewpoint) -> Vec<String> {
        let mut variables: Vec<(&str, LocId)> = Vec::new();
        for (mem, &loc) in &self.mixed {
            let Some(symbol) = names.symbol_at(mem.addr).filter(|symbol| symbol.mem.overlaps(*mem)) else {
                continue;
            };
            let name = names.str(symbol.name);
            if !STAND_INS.iter().any(|start| name.starts_with(start)) {
                variables.push((name, loc));
            }
        }
        variables.sort_unstable();
        variables.dedup_by_key(|(name, _)| *name);
        let line = |(name, loc): (&str, LocId)| {
            format!(
                "`{name}` is accessed by atomics of different sizes, {}: which of these race is not reported",
                place(&names.location_text(loc), from)
            )
        };
        some(variables.into_iter().map(line).collect(), "variables with atomics of different sizes")
    }

    /// The threads that were still there, if the program was ended.
    fn ended(&self, names: &Names, facts: &Facts, findings: &[Finding], from: &Viewpoint) -> Option<String> {
        let (_, signal) = facts.iter().find(|(name, _)| name == ENDED_BY)?;
        let signal: i32 = signal.parse().ok()?;
        let (_, signal) = ENDS.iter().find(|(number, _)| *number == signal)?;
        let hung =
            |finding: &&Finding| finding.kind == Kind::Deadlock && finding.certainty == Certainty::Observed;
        let is_explained = |thread: &str| {
            findings
                .iter()
                .filter(hung)
                .any(|finding| finding.events.iter().any(|event| event.thread == thread))
        };
        let threads = self.last.iter().zip(0..).filter_map(|(last, id)| Some((ThreadId(id), (*last)?)));
        let threads: Vec<String> = threads
            .filter(|(thread, _)| !is_explained(names.thread_name(*thread)))
            .map(|(thread, loc)| {
                format!("`{}` {}", names.thread_name(thread), place(&names.location_text(loc), from))
            })
            .collect();
        if threads.is_empty() {
            return None;
        }
        let more = threads.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more threads") } else { String::new() };
        let threads = threads[..threads.len().min(NAMED)].join(", ");
        Some(format!(
            "{signal} ended the program; last seen were {threads}{more}. If they hung there, it is not explained: hangs in barriers, in reads of descriptors and \
             of threads that spin are not"
        ))
    }
}

/// The semaphores across which nothing is predicted.
fn semaphores(facts: &Facts, from: &Viewpoint) -> Vec<String> {
    let line = |(name, value): &(String, String)| {
        let name = name.strip_prefix(SEMAPHORE_IN_ORDER)?;
        let (began, at) = value.split_once(' ')?;
        let at = place(at, from);
        Some(format!("nothing was predicted across semaphore `{name}` {at}, which began with {began}"))
    };
    some(facts.iter().filter_map(line).collect(), "semaphores across which nothing was predicted")
}

fn place(text: &str, from: &Viewpoint) -> String {
    match text {
        "" => "at an unknown place".to_owned(),
        text => format!("at {}", from.file(text)),
    }
}

/// The first lines, and how many more there are.
fn some(mut lines: Vec<String>, what: &str) -> Vec<String> {
    let more = lines.len().saturating_sub(NAMED);
    if more > 0 {
        lines.truncate(NAMED);
        lines.push(format!("{more} more {what}"));
    }
    lines
}

/// Libraries with locks that belong to tasks, by how the paths of their functions begin.
const TASKS: [(&str, &str); 4] = [
    ("tokio::sync::", "tokio"),
    ("async_lock::", "async-lock"),
    ("async_std::sync::", "async-std"),
    ("futures_util::lock::", "futures"),
];

/// What the summary says of locks that belong to tasks, if the run has any.
fn locks_of_tasks(names: &Names) -> Option<String> {
    let mut met: Vec<&str> = Vec::new();
    for location in names.locations() {
        let path = function_path(names.str(location.function));
        met.extend(TASKS.iter().filter(|(start, _)| path.starts_with(start)).map(|(_, library)| library));
    }
    met.sort_unstable();
    met.dedup();
    (!met.is_empty()).then(|| {
        let libraries = met.join(", ");
        format!("locks of asynchronous tasks ({libraries}) are not known as locks: deadlocks over them are not found")
    })
}

#[cfg(test)]
mod tests {
    use foresee_trace::EventSource as _;
    use foresee_trace::text::TextReader;

    use super::*;

    #[test]
    fn locks_of_tasks_are_said_not_to_be_covered() {
        let mut names = Names::new();
        names.location_from_text("a.rs:1 in app::tokio::sync::lock");
        assert_eq!(locks_of_tasks(&names), None);
        names.location_from_text("m.rs:1 in <tokio::sync::mutex::Mutex<u8>>::lock");
        assert!(locks_of_tasks(&names).is_some_and(|said| said.contains("(tokio)")));
    }

    fn told(trace: &str) -> Vec<String> {
        let mut reader = TextReader::new(trace.as_bytes());
        let mut uncovered = Uncovered::default();
        while reader.advance().unwrap() {
            uncovered.event(&reader.event());
        }
        uncovered.told(reader.names(), reader.facts(), &[], &Viewpoint::default())
    }

    #[test]
    fn atomics_of_different_sizes_are_said_where_they_are_in_one_static() {
        let trace = |second: &str| {
            format!("#var x 0x1000 8\nT1|store.relaxed([0x1000..0x1004])|1\nT1|load.relaxed({second})|2\n")
        };
        assert_eq!(told(&trace("[0x1004..0x1008]")), [""; 0]);
        let said = told(&trace("[0x1000..0x1008]"));
        assert!(
            said.len() == 1 && said[0].contains("`x` is accessed by atomics of different sizes"),
            "{said:?}"
        );
        let elsewhere = "T1|store.relaxed([0x2000..0x2004])|1\nT1|load.relaxed([0x2000..0x2008])|2\n";
        assert_eq!(told(elsewhere), [""; 0], "a stack is used again for other things");
    }

    #[test]
    fn threads_of_a_program_that_was_ended_are_said() {
        let events = "T1|thread_begin\nT2|w(x)|b.c:7\nT1|w(x)|a.c:3\nT3|w(y)|c.c:1\nT3|thread_end\n";
        let ended = told(&format!("#meta {ENDED_BY} 15\n{events}"));
        let expected = "SIGTERM ended the program; last seen were `T1` at a.c:3, `T2` at b.c:7.";
        assert!(ended.len() == 1 && ended[0].starts_with(expected), "{ended:?}");
        assert_eq!(told(events), [""; 0]);
        assert_eq!(told(&format!("#meta {ENDED_BY} 11\n{events}")), [""; 0], "it has ended itself");
    }
}
