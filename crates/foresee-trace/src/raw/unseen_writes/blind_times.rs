//! When threads ran blind code, as far as the net by machine code knows.
//!
//! Blind code is reported once until its thread synchronises: until then, it may run again unreported.

use crate::ids::StrId;
use crate::thread_table::ThreadTable;

#[derive(Clone, Copy)]
struct Blind {
    code: StrId,
    /// At which event its thread synchronised after it.
    until: Option<u64>,
}

/// The last blind code of each thread, by number.
#[derive(Default)]
pub(super) struct BlindTimes {
    last: ThreadTable<u64, Option<Blind>>,
}

impl BlindTimes {
    /// A thread has run blind code.
    pub(super) fn ran(&mut self, thread: u64, code: StrId) {
        *self.last.entry(thread) = Some(Blind { code, until: None });
    }

    /// A thread synchronises at this event.
    pub(super) fn synchronised(&mut self, thread: u64, event: u64) {
        if let Some(Some(blind)) = self.last.get_mut(thread) {
            blind.until.get_or_insert(event);
        }
    }

    /// Blind code that some thread ran since this event; the last one.
    pub(super) fn since(&self, event: u64) -> Option<StrId> {
        let all = self.last.iter().filter_map(|(thread, blind)| Some((thread, blind.as_ref()?)));
        let ran = all.filter(|(_, blind)| blind.until.is_none_or(|until| until >= event));
        ran.max_by_key(|&(thread, blind)| (blind.until.unwrap_or(u64::MAX), thread))
            .map(|(_, blind)| blind.code)
    }
}
