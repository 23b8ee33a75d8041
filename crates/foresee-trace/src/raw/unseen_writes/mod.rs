//! The net by values: where memory changed, and no recorded write did it.
//!
//! In a run that was recorded with `--values`, reads have a digest of what they saw. The rule: **two reads of the same bytes saw
//! different values, and no recorded write can lie between them, so code wrote that records nothing.** It needs no knowledge of that code,
//! of locks or of the order of threads; it catches what writes unseen and is read by code that is seen, not what only reads, or
//! orders, unseen. It is the judge of the table of effects: in a correct program that table is complete if nothing fires.
//!
//! **Which writes can lie between** is a question of when things happened, not of happens-before: a digest is what memory had at one
//! moment. Keys bound these moments (see the runtime's documentation):
//!
//! * a read is after everything with a smaller key, as the digest is loaded after its key is taken, and before its thread's next record;
//! * a write is after its key is taken, as the compiler's call comes first, and other processors see it at the latest when its thread
//!   stamps its next record, by an instruction that empties its store buffer. What a function of the C library writes is recorded when
//!   the function returns: it is after the record before that;
//! * so a write is *surely before* a read if its thread has stamped since, by a smaller key; and a read is *surely before* a write if its
//!   thread's next record has a smaller key than the write.
//!
//! A read counts only if all recorded writes that came before it in the trace are surely before it. Then a read that differs from the
//! last one *fires*. It is taken back if a write comes later that is not surely after both. So a read that races with a recorded
//! write never fires, in whatever order the two are in the trace. In which order the two reads were does not matter.
//!
//! **What is known of memory** is what reads have seen, and what the program's data was at the beginning ([`image`]). What is
//! written is not known until it is read again. Everything that renews memory (allocation, mapping, pages that are given back) is a write here.
//!
//! **What is not compared**: memory of atomics and locks, and stacks and thread-local variables, all of which are changed by what is
//! never recorded; reads of other sizes or other first bytes than the last (their digests are of other bytes; writes count by the bytes
//! they share); reads across pages; runs where accesses are left out (`--only`, `--skip`). Memory that other processes have, too, is compared:
//! what they write is unseen, and explained by that.
//!
//! **What a firing says.** Where the net by machine code knows of blind code that ran between the two reads, the two nets agree: sections
//! with that code keep their place anyhow. Where it does not, the firing is *unexplained*: the table of effects is wrong, or a function
//! of the C library is recorded with fewer writes than it does. That is what tests demand to be zero.
//!
//! **A signal handler** may run between the compiler's call and the write: such a handler's records come after the write's. So a write
//! that is its thread's last record before a function is entered counts again when that function is left.
//!
//! **Cost.** A look into a table per access, and an entry per piece of memory that was read or written, in this mode only.

mod blind_times;
mod cells;
mod firings;
mod image;
mod ranges;
mod threads;

use foresee_format::{SHARED_MEMORY, SYNC_SPACE, Tag};

use self::blind_times::BlindTimes;
use self::cells::{Cells, Saw};
use self::firings::Firings;
use self::image::Image;
use self::ranges::Ranges;
use self::threads::{Moment, Threads};
use super::merging::{Record, SAW};
use crate::event::Mem;
use crate::ids::{LocId, StrId};

pub(super) use self::firings::{Between, Firing};

/// What is known of memory, and where it changed unseen.
#[derive(Default)]
pub(super) struct UnseenWrites {
    threads: Threads,
    cells: Cells,
    images: Vec<Image>,
    /// Stacks of threads.
    stacks: Ranges,
    /// What other processes have, too.
    shared: Ranges,
    firings: Firings,
    blind: BlindTimes,
    /// How many reads were compared with one before.
    compared: u64,
}

impl UnseenWrites {
    /// How many reads were compared with one before.
    pub(super) fn compared(&self) -> u64 {
        self.compared
    }

    /// Where memory changed unseen, each piece of it once.
    pub(super) fn fired(&self) -> impl Iterator<Item = (Mem, Firing)> {
        self.firings.all()
    }

    /// What a piece of the program's data was before anything was recorded, as the trace has it.
    pub(super) fn add_image(&mut self, text: &[u8]) {
        self.images.extend(Image::of_text(text));
    }

    /// A thread has run blind code.
    pub(super) fn ran_blind(&mut self, thread: u64, code: StrId) {
        self.blind.ran(thread, code);
    }

    /// The next record in the observed order, of this thread; `event` is the index of the event that it becomes, if it becomes one.
    /// If that is a read, it is at `loc`; what Rust's library reads of its own is none.
    pub(super) fn record(&mut self, number: u64, record: &Record, event: u64, loc: Option<LocId>) {
        let step = self.threads.step(number, record);
        if step.is_awaited {
            self.firings.went_on(number, record.key);
        }
        if step.is_stamped && !matches!(record.tag, Tag::Alloc | Tag::Free) {
            self.blind.synchronised(number, event);
        }
        let [pc, addr, size, _] = record.words;
        let wide = Mem { addr, size: size.min(u64::from(u32::MAX)) as u32 };
        let small = Mem { addr, size: record.detail.into() };
        match record.tag {
            Tag::Read => {
                if let Some(loc) = loc.filter(|_| size & SAW != 0) {
                    self.read(small, Saw { digest: size as u8, by: step.moment, event, loc });
                }
            }
            Tag::Write => self.write(number, small, record.key),
            Tag::WriteValue => {
                let size = u32::from(record.detail & !foresee_format::UNSETTLED);
                self.write(number, Mem { addr, size }, record.key);
            }
            Tag::WriteRange => self.change(number, wide, step.before, false),
            Tag::Alloc if pc == 0 => self.stacks.add(addr, size),
            Tag::Alloc | Tag::Free => {
                self.stacks.forget(wide);
                self.shared.forget(wide);
                if record.tag == Tag::Alloc && record.detail == SHARED_MEMORY {
                    self.shared.add(addr, size);
                }
                self.change(number, wide, step.before, true);
            }
            Tag::Changed => self.change(number, wide, step.before, true),
            Tag::Load | Tag::Store | Tag::Rmw => {
                let size = 1 << (record.detail >> 4 & 7).min(4);
                self.apart(number, Mem { addr, size }, step.before);
            }
            Tag::Request | Tag::Acquire | Tag::Release | Tag::Wait | Tag::Notify => {
                self.apart(number, Mem { addr, size: 8 }, step.before);
            }
            _ => {}
        }
        if let Some(again) = step.again {
            self.change(number, again.mem, again.key, false);
        }
    }

    fn read(&mut self, mem: Mem, saw: Saw) {
        let is_memory = (1..=16).contains(&mem.size) && mem.end() <= u128::from(SYNC_SPACE);
        if !is_memory || self.stacks.contain(mem) || !self.cells.is_clear(mem, saw.by.thread, &self.threads) {
            return;
        }
        let at_first = || {
            let digest = self.images.iter().find_map(|image| image.digest(mem))?;
            Some(Saw { digest, by: Moment::BEGINNING, event: 0, loc: LocId::UNKNOWN })
        };
        let Some(before) = self.cells.saw(mem, saw).or_else(at_first) else { return };
        self.compared += 1;
        if before.digest != saw.digest {
            let between = if self.shared.contain(mem) {
                Between::OtherProcesses
            } else {
                self.blind.since(before.event).map_or(Between::Nothing, Between::Blind)
            };
            self.firings.add(mem, &before, &saw, between, &mut self.threads);
        }
    }

    fn write(&mut self, thread: u64, mem: Mem, after: u64) {
        self.threads.wrote(thread, mem, after);
        self.change(thread, mem, after, false);
    }

    /// Memory is changed by a thread, after everything with a smaller key than `after`.
    fn change(&mut self, thread: u64, mem: Mem, after: u64, is_renewed: bool) {
        if mem.size == 0 || mem.end() > u128::from(SYNC_SPACE) {
            return;
        }
        self.firings.changed(mem, thread, after);
        self.images.iter_mut().for_each(|image| image.changed(mem));
        self.cells.changed(mem, self.threads.write_of(thread), is_renewed, &self.threads);
        if Cells::is_large(mem) {
            self.threads.wrote_large(thread, mem);
        }
    }

    /// Memory that is not compared: it is changed by what is never recorded.
    fn apart(&mut self, thread: u64, mem: Mem, after: u64) {
        if mem.end() <= u128::from(SYNC_SPACE) && !self.cells.is_apart(mem) {
            self.change(thread, mem, after, false);
            self.cells.set_apart(mem);
        }
    }
}
