//! What a raw trace does not have: what the runtime says, what the reader noticed, and what the symbolizer could not find.

use foresee_format::RunFlags;

use super::interpreting::Interpreter;
use super::merging::Merger;
use super::unseen_writes::{Between, Firing, UnseenWrites};
use crate::names::Names;
use crate::trust::{Gap, NoEnd, UnseenWrite};

/// What orders threads by atomics of a library.
const AT_EXIT: &str = "futures that are made ready when their thread ends (set_value_at_thread_exit)";
/// How many locks are doubted one by one; if there are more, all are.
const MANY: usize = 1000;

/// What is missing, as far as it is known by now.
pub(super) fn gaps(
    merger: &Merger,
    interpreter: &Interpreter,
    unseen_writes: Option<&UnseenWrites>,
) -> impl Iterator<Item = Gap> {
    let symbols = interpreter.symbolizer();
    let is_rust = merger.flags().contains(RunFlags::IS_RUST);
    let is_damaged = merger.damage().is_some();
    let demoted = interpreter.demoted_locks();
    let too_many = if demoted.len() > MANY { demoted.len() as u64 } else { 0 };
    let unrecognised = interpreter.unrecognised() + too_many;
    let unexplained = interpreter.unexplained_attempts();
    let demoted = demoted.take(if too_many > 0 { 0 } else { MANY });
    [
        (!symbols.knows_names()).then_some(Gap::NotSymbolised),
        (symbols.knows_names() && is_rust && interpreter.lacks_debug_info()).then_some(Gap::NoDebugInfo),
        is_damaged.then_some(Gap::Damaged),
        is_damaged.then_some(Gap::NoEnd(NoEnd::Damaged)),
        merger.came_late().then_some(Gap::LateRecord),
        merger.is_overtaken().then_some(Gap::Overtaken),
        symbols.unseen().map(|which| Gap::UninstrumentedAtomics(which.to_owned())),
        (unrecognised > 0).then_some(Gap::UnrecognisedLockOperations(unrecognised)),
        (unexplained > 0).then_some(Gap::UnexplainedAttempts(unexplained)),
        merger.why_stopped().map(|why| Gap::NoEnd(NoEnd::Stopped(why))),
        merger.was_ended().then_some(Gap::NoEnd(NoEnd::Ended)),
        (merger.lost_before() > 0).then_some(Gap::NoBeginning),
        merger.flags().contains(RunFlags::AFTER_FORK).then_some(Gap::AfterFork),
        merger.flags().contains(RunFlags::ACCESSES_LEFT_OUT).then_some(Gap::AccessesLeftOut),
        interpreter.has_aliases().then_some(Gap::AliasedMemory),
        interpreter.begins_after_forgotten().then_some(Gap::ForgottenThreads),
        interpreter.leaves_orders().then(|| Gap::UninstrumentedAtomics(AT_EXIT.to_owned())),
    ]
    .into_iter()
    .flatten()
    .chain(demoted.map(|lock| Gap::DemotedLock(lock.to_owned())))
    .chain(unseen_writes.into_iter().flat_map(|unseen| unseen_gaps(unseen, interpreter.names())))
}

/// Memory that changed, and no recorded write did it.
fn unseen_gaps(unseen: &UnseenWrites, names: &Names) -> impl Iterator<Item = Gap> {
    unseen.fired().map(|(mem, firing)| {
        let between = match firing.between {
            Between::Nothing => String::new(),
            Between::Blind(code) => format!("; `{}` ran in between, which is not recorded", names.str(code)),
            Between::OtherProcesses => "; other processes have this memory, too".to_owned(),
        };
        let text =
            format!("`{}`, read at {}{}", names.mem_text(mem), names.location_text(firing.loc), between);
        let text = text.replace(['\n', '\r'], " ");
        let Firing { events, times, unexplained, .. } = firing;
        Gap::UnseenWrite(UnseenWrite { mem, events, times, unexplained, text })
    })
}
