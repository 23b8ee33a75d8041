//! What a raw trace does not have: what the runtime says, what the reader noticed, and what the symbolizer could not find.

use foresee_format::RunFlags;

use super::reader::RawReader;
use crate::trust::{Gap, NoEnd};

impl RawReader {
    /// What is missing, as far as it is known by now.
    pub(super) fn gaps(&self) -> impl Iterator<Item = Gap> {
        let symbols = self.naming.symbolizer();
        let is_damaged = self.chunks.damage.is_some();
        let unrecognised = self.sections.unclear();
        [
            (!symbols.knows_names()).then_some(Gap::NotSymbolised),
            (symbols.knows_names()
                && self.chunks.flags.contains(RunFlags::IS_RUST)
                && self.lacks_debug_info())
            .then_some(Gap::NoDebugInfo),
            is_damaged.then_some(Gap::Damaged),
            is_damaged.then_some(Gap::NoEnd(NoEnd::Damaged)),
            self.is_unsure().then_some(Gap::LateRecord),
            self.is_overtaken().then_some(Gap::Overtaken),
            symbols.unseen().map(|which| Gap::UninstrumentedAtomics(which.to_owned())),
            (unrecognised > 0).then_some(Gap::UnrecognisedLockOperations(unrecognised)),
            self.stopped.map(|why| Gap::NoEnd(NoEnd::Stopped(why))),
            (self.lost > 0).then_some(Gap::NoBeginning),
            self.chunks.flags.contains(RunFlags::ACCESSES_LEFT_OUT).then_some(Gap::AccessesLeftOut),
        ]
        .into_iter()
        .flatten()
    }
}
