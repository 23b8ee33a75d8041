//! Builds a [`Window`]: finds its events, gives them places, and notes the rules between them.

use std::ops::Range;

use foresee_trace::{EventId, LockId, Mode, Op};
use rustc_hash::{FxHashMap, FxHashSet};

use super::facts::{self, NONE, Observed};
use super::needs::{Needs, Stop};
use super::question::Question;
use super::window::{At, Cell, Handover, Lock, Reads, Section, Source, Touch, Value, Wakeup, Window};
use crate::values::{writes_a_value, written};

/// How many clock entries a window may have: many threads make even few events expensive.
const MAX_CLOCK_ENTRIES: usize = 1 << 21;

/// The window of a question.
pub(super) fn window(observed: Observed<'_>, question: &Question<'_>) -> Result<Window, Stop> {
    let mut needs = Needs::new(observed, question.cut.0, question.size, question.reads);
    for target in question.targets {
        needs.stop_at(target.0)?;
    }
    for &target in question.targets {
        needs.enable(target.0, question.as_observed == Some(target))?;
    }
    let mut builder =
        Builder { observed, cut: question.cut.0, needed: needs.clone(), needs, truncated: false };
    let sections = builder.finish_sections();
    let events: usize = builder.needs.parts.values().map(|part| (part.end - part.start) as usize).sum();
    if events.saturating_mul(builder.needs.parts.len()) > MAX_CLOCK_ENTRIES {
        return Err(Stop::TooLarge);
    }
    Ok(builder.window(question, &sections))
}

/// A read: the write it reads, the value, and who reads.
type Read = (Option<At>, Value, At);

struct Builder<'f> {
    observed: Observed<'f>,
    cut: u32,
    needed: Needs<'f>,
    /// The needed set and all it may grow to.
    needs: Needs<'f>,
    truncated: bool,
}

impl<'f> Builder<'f> {
    /// Grows the set by the releases of all sections that others may have to come after. The sections that matter, by lock.
    fn finish_sections(&mut self) -> Vec<(LockId, Vec<u32>)> {
        let mut tried = FxHashSet::default();
        loop {
            let sections = self.contended_sections();
            let mut grown = false;
            for &section in sections.iter().flat_map(|(_, sections)| sections) {
                let facts::Section { thread, release, .. } = self.observed.facts.sections[section as usize];
                self.needs.know(thread);
                if release == NONE || !tried.insert(section) {
                    continue;
                }
                let mut larger = self.needs.clone();
                match larger.add(release) {
                    Ok(()) => {
                        grown = true;
                        self.needs = larger;
                    }
                    Err(Stop::Impossible) => {}
                    Err(Stop::TooLarge) => self.truncated = true,
                }
            }
            if !grown {
                return sections;
            }
        }
    }

    /// The sections that begin in the set or are open at the cut, of the locks where some exclude each other.
    fn contended_sections(&self) -> Vec<(LockId, Vec<u32>)> {
        let mut by_lock: FxHashMap<LockId, Vec<u32>> = FxHashMap::default();
        for (&thread, part) in &self.needs.parts {
            for &event in self.events(thread, part.start..part.end) {
                if let Op::Acquire { lock, .. } = self.observed.execution.op(EventId(event))
                    && let Some(section) = self.observed.section(event)
                {
                    by_lock.entry(lock).or_default().push(section);
                }
            }
        }
        let mut contended: Vec<(LockId, Vec<u32>)> = Vec::new();
        for (lock, mut sections) in by_lock {
            sections.extend(self.observed.facts.open_at(lock, self.cut));
            let of = |&s: &u32| &self.observed.facts.sections[s as usize];
            let one_thread = sections.iter().all(|s| of(s).thread == of(&sections[0]).thread);
            let all_shared = sections.iter().all(|s| of(s).mode == Mode::Shared);
            if !one_thread && !all_shared {
                sections.sort_unstable_by_key(|s| (of(s).thread, of(s).acquire));
                contended.push((lock, sections));
            }
        }
        contended.sort_unstable_by_key(|&(lock, _)| lock);
        contended
    }

    fn events(&self, thread: u32, range: Range<u32>) -> &'f [u32] {
        &self.observed.facts.threads[thread as usize][range.start as usize..range.end as usize]
    }

    fn window(self, question: &Question<'_>, sections: &[(LockId, Vec<u32>)]) -> Window {
        let mut threads: Vec<u32> = self.needs.parts.keys().copied().collect();
        threads.sort_unstable();
        let mut window = Window {
            first: vec![0],
            events: Vec::new(),
            needed: Vec::new(),
            stop: Vec::new(),
            clocks: Vec::new(),
            counted: Vec::new(),
            branches: vec![Vec::new(); threads.len()],
            sources: Vec::new(),
            wakeups: Vec::new(),
            cells: Vec::new(),
            locks: Vec::new(),
            first_touch: Vec::new(),
            touches: Vec::new(),
            handovers: FxHashMap::default(),
            truncated: self.truncated,
        };
        for thread in &threads {
            let part = self.needs.parts[thread];
            window.events.extend_from_slice(self.events(*thread, part.start..part.end));
            window.first.push(window.events.len() as u32);
            let needed = self.needed.parts.get(thread);
            window.needed.push(needed.map_or(0, |part| part.end - part.start));
            let counted = needed.map_or(0, |part| part.counted - part.start);
            window.counted.push(if self.needs.by_branches { counted } else { u32::MAX });
            window.sources.push(Vec::new());
            window.stop.push(part.stop.saturating_sub(part.start));
        }
        let places = Places { builder: &self, threads: &threads };
        places.clocks(&mut window);
        if self.needs.by_branches {
            places.control_flow(&mut window);
        }
        places.wakeups(&mut window, question);
        places.cells(&mut window, question);
        places.locks(&mut window, sections);
        window
    }
}

/// Turns events into places of the window.
struct Places<'b, 'f> {
    builder: &'b Builder<'f>,
    threads: &'b [u32],
}

impl Places<'_, '_> {
    /// The place of an event that is in the window.
    fn at(&self, event: u32) -> Option<At> {
        if event < self.builder.cut || event == NONE {
            return None;
        }
        let Observed { execution, facts } = self.builder.observed;
        let thread = execution.thread(EventId(event)).0;
        let part = self.builder.needs.parts.get(&thread)?;
        let position = facts.position[event as usize];
        let local = self.threads.binary_search(&thread).ok()?;
        let at = At { thread: local as u32, position: position.checked_sub(part.start)? };
        (position < part.end).then_some(at)
    }

    /// What comes before what in the observed run for a reason that no reordering changes: one pass in the observed order.
    fn clocks(&self, window: &mut Window) {
        let (observed, threads) = (self.builder.observed, window.threads());
        window.clocks = vec![0; window.events.len() * threads];
        let mut order: Vec<u32> = (0..window.events.len() as u32).collect();
        order.sort_unstable_by_key(|&node| window.events[node as usize]);
        for node in order {
            let node = node as usize;
            let event = window.events[node];
            let Some(at) = self.at(event) else { continue };
            if at.position > 0 {
                window.clocks.copy_within((node - 1) * threads..node * threads, node * threads);
            }
            window.clocks[node * threads + at.thread as usize] = at.position;
            let counts = at.position < window.counted[at.thread as usize];
            let mut after = |before: u32| {
                if let Some(before) = self.at(before) {
                    let from = window.node(before) * threads;
                    for t in 0..threads {
                        window.clocks[node * threads + t] =
                            window.clocks[node * threads + t].max(window.clocks[from + t]);
                    }
                    let entry = &mut window.clocks[node * threads + before.thread as usize];
                    *entry = (*entry).max(before.position + 1);
                }
            };
            observed.enablers(event, &mut after);
            if counts {
                self.builder.needs.sources(event, after);
            }
        }
    }

    fn control_flow(&self, window: &mut Window) {
        let (needs, execution) = (&self.builder.needs, self.builder.observed.execution);
        for at in window.events.iter().filter_map(|&event| self.at(event)) {
            let event = window.event(at);
            if needs.is_branch(event) {
                window.branches[at.thread as usize].push(at.position);
            }
            if !execution.access(EventId(event)).is_some_and(|(_, access)| access.reads) {
                continue;
            }
            let (reads, read) = (&mut window.sources[at.thread as usize], at.position);
            let known = reads.len();
            needs.sources(event, |write| {
                let has_value = writes_a_value(execution, EventId(write));
                reads.push(Source { read, write: self.at(write), has_value });
            });
            if reads.len() == known {
                reads.push(Source { read, write: None, has_value: false });
            }
        }
    }

    fn wakeups(&self, window: &mut Window, question: &Question<'_>) {
        let targets = question.targets.iter().map(|target| target.0);
        let events: Vec<u32> = window.events.iter().copied().chain(targets).collect();
        for event in events {
            let notifies = self.builder.observed.facts.wakeups(event);
            let position = self.builder.observed.facts.position[event as usize];
            if notifies.is_empty() || position == 0 {
                continue;
            }
            let thread = self.builder.observed.execution.thread(EventId(event)).0;
            let wait = self.builder.observed.facts.threads[thread as usize][position as usize - 1];
            if let Some(wait) = self.at(wait) {
                let next = At { position: wait.position + 1, ..wait };
                let notifies = notifies.iter().filter_map(|&notify| self.at(notify)).collect();
                window.wakeups.push(Wakeup { next, notifies });
            }
        }
    }

    fn cells(&self, window: &mut Window, question: &Question<'_>) {
        let observed = self.builder.observed;
        let Observed { execution, facts } = observed;
        let mut numbers: FxHashMap<u32, (usize, Option<u32>)> = FxHashMap::default();
        let mut cells: Vec<(Cell, Vec<Read>)> = Vec::new();
        let with_values = question.reads == foresee_witness::checker::Reads::Relaxed;
        let mut touched: Vec<(usize, usize, Touch)> = Vec::new();
        let mut number = |cell: u32, cells: &mut Vec<_>| {
            let next = cells.len();
            let &mut (number, _) = numbers.entry(cell).or_insert((next, None));
            if number == next {
                cells.push((Cell::default(), Vec::new()));
            }
            number
        };
        for (node, &event) in window.events.iter().enumerate() {
            let (Some((var, access)), Some(at)) = (execution.access(EventId(event)), self.at(event)) else {
                continue;
            };
            for (nth, cell) in execution.cells(var).enumerate() {
                let cell = number(cell, &mut cells);
                if access.reads {
                    let write = self.builder.needs.read_from(event, nth).and_then(|write| self.at(write));
                    let value = if with_values { observed.seen(event) } else { None };
                    cells[cell].1.push((write, value, at));
                    touched.push((node, cell, Touch::Read { cell: 0, value, write }));
                }
                if access.writes {
                    let value = if with_values { written(execution, EventId(event)) } else { None };
                    let write = (at.position, value);
                    let writes = &mut cells[cell].0.writes;
                    match writes.last_mut() {
                        Some((thread, writes)) if *thread == at.thread => writes.push(write),
                        _ => writes.push((at.thread, vec![write])),
                    }
                    touched.push((node, cell, Touch::Write { cell: 0, value }));
                }
            }
        }
        if let Some(target) = question.as_observed
            && let Some((var, _)) = execution.access(target)
        {
            for (nth, cell) in execution.cells(var).enumerate() {
                let write = facts.read_from(target.0, nth).and_then(|write| self.at(write));
                let cell = number(cell, &mut cells);
                cells[cell].0.last_read = Some(write);
            }
        }
        self.keep_shared_cells(window, cells, &touched);
    }

    /// Keeps the cells where the order of threads matters. What a thread reads of its own writes is as observed by itself,
    /// unless it was given another write to read.
    fn keep_shared_cells(
        &self,
        window: &mut Window,
        cells: Vec<(Cell, Vec<Read>)>,
        touched: &[(usize, usize, Touch)],
    ) {
        let mut kept = vec![NONE; cells.len()];
        for (number, (mut cell, mut reads)) in cells.into_iter().enumerate() {
            let shared = match &cell.writes[..] {
                [] => false,
                [(thread, _)] => {
                    self.builder.needs.chose_writes()
                        || reads.iter().any(|(_, _, read)| read.thread != *thread)
                }
                _ => !reads.is_empty(),
            };
            if !shared && cell.last_read.is_none() {
                continue;
            }
            kept[number] = window.cells.len() as u32;
            reads.sort_unstable();
            for (write, value, read) in reads {
                match cell.reads.last_mut() {
                    Some(group)
                        if (group.write, group.value, group.thread) == (write, value, read.thread) =>
                    {
                        group.positions.push(read.position);
                    }
                    _ => cell.reads.push(Reads {
                        write,
                        value,
                        thread: read.thread,
                        positions: vec![read.position],
                    }),
                }
            }
            window.cells.push(cell);
        }
        let mut touched = touched.iter().peekable();
        for node in 0..window.events.len() {
            window.first_touch.push(window.touches.len() as u32);
            while let Some(&(_, cell, touch)) = touched.next_if(|&&(of, ..)| of == node) {
                let cell = kept[cell];
                if cell != NONE {
                    window.touches.push(match touch {
                        Touch::Read { value, write, .. } => Touch::Read { cell, value, write },
                        Touch::Write { value, .. } => Touch::Write { cell, value },
                    });
                }
            }
        }
        window.first_touch.push(window.touches.len() as u32);
    }

    fn locks(&self, window: &mut Window, contended: &[(LockId, Vec<u32>)]) {
        for (_, sections) in contended {
            let mut lock = Lock::default();
            for &number in sections {
                let section = self.builder.observed.facts.sections[number as usize];
                let (acquire, release) = (self.at(section.acquire), self.at(section.release));
                let Ok(thread) = self.threads.binary_search(&section.thread) else { continue };
                let at = lock.sections.len();
                let [lock_number, section_number] = [window.locks.len() as u32, at as u32];
                for (place, takes) in [(acquire, true), (release, false)] {
                    if let Some(place) = place {
                        let handover = Handover { lock: lock_number, section: section_number, takes };
                        window.handovers.insert(window.node(place) as u32, handover);
                    }
                }
                match lock.by_thread.last_mut() {
                    Some(range) if lock.sections[range.start].thread == thread as u32 => range.end += 1,
                    _ => lock.by_thread.push(at..at + 1),
                }
                lock.sections.push(Section {
                    thread: thread as u32,
                    mode: section.mode,
                    acquire: acquire.map(|at| at.position),
                    release: release.map(|at| at.position),
                });
            }
            window.locks.push(lock);
        }
    }
}
