//! Correct reorderings, by definition: the rules of the soundness contract as statements about a whole schedule.

use foresee_trace::Op;

use crate::facts::{Facts, Rule, exclude};

impl Facts<'_> {
    /// Whether the schedule is a correct reordering.
    pub(crate) fn is_correct(&self, schedule: &[usize]) -> bool {
        self.keeps_thread_order(schedule)
            && (0..schedule.len()).all(|i| {
                self.keeps_locks(schedule, i)
                    && (self.reads_as_observed(schedule, i) || self.is_exempt(schedule, i))
                    && self.keeps_fork_join_and_wait(schedule, i)
                    && self.keeps_blind_code(schedule, i)
            })
    }

    /// (a) The events of each thread in the schedule are a prefix of the thread.
    fn keeps_thread_order(&self, schedule: &[usize]) -> bool {
        schedule.iter().all(|&e| e < self.execution.len())
            && self.by_thread.iter().enumerate().all(|(t, all)| {
                let scheduled: Vec<usize> =
                    schedule.iter().copied().filter(|&e| self.thread(e) == t).collect();
                all.starts_with(&scheduled)
            })
    }

    /// (b) After each event, no lock that its thread holds excludes another holder.
    fn keeps_locks(&self, schedule: &[usize], i: usize) -> bool {
        let holds = |t: usize| {
            let done = schedule[..=i].iter().filter(|&&e| self.thread(e) == t).count();
            &self.held[t][done]
        };
        let me = self.thread(schedule[i]);
        let others = (0..self.by_thread.len()).filter(|&t| t != me);
        others.flat_map(holds).all(|&(theirs, their_mode)| {
            holds(me).iter().all(|&(mine, my_mode)| mine != theirs || !exclude(my_mode, their_mode))
        })
    }

    /// (c) What the event reads, if it reads, it reads from the write it read in the execution; and that wrote what it wrote in
    /// the execution, because the reads it depends on read as observed.
    fn reads_as_observed(&self, schedule: &[usize], i: usize) -> bool {
        let Some(touch) = self.touches[schedule[i]].as_ref().filter(|touch| touch.access.reads) else {
            return true;
        };
        let writes_to = |j: usize, cell: usize| {
            self.touches[schedule[j]].as_ref().is_some_and(|t| t.access.writes && t.cells.contains(&cell))
        };
        touch.cells.iter().zip(&touch.observed).all(|(&cell, &observed)| {
            match (0..i).rev().find(|&j| writes_to(j, cell)) {
                Some(j) => Some(schedule[j]) == observed && self.writes_as_observed(schedule, j),
                None => observed.is_none(),
            }
        })
    }

    fn writes_as_observed(&self, schedule: &[usize], i: usize) -> bool {
        !self.writes_a_value(schedule[i]) || self.is_as_observed(schedule, i)
    }

    /// Whether all reads that the event depends on read as observed.
    pub(crate) fn is_as_observed(&self, schedule: &[usize], i: usize) -> bool {
        let matters = |&j: &usize| self.depends[schedule[i]].contains(&schedule[j]);
        (0..=i).filter(matters).all(|j| self.reads_as_observed(schedule, j))
    }

    /// (e) The event is its thread's last in the schedule, and no join depends on the thread ending there. Where branches
    /// tell: no later one depends on it.
    fn is_exempt(&self, schedule: &[usize], i: usize) -> bool {
        let thread = self.thread(schedule[i]);
        if self.rule == Rule::ReadsBeforeBranches {
            let depends = |&e: &usize| self.is_branch(e) && self.depends[e].contains(&schedule[i]);
            return !schedule[i + 1..].iter().any(depends);
        }
        let joins = |e: usize| matches!(self.op(e), Op::Join { child } if child.index() == thread);
        schedule[i + 1..].iter().all(|&e| self.thread(e) != thread) && !schedule.iter().any(|&e| joins(e))
    }

    /// (f) What the event comes after because of blind code is before it.
    fn keeps_blind_code(&self, schedule: &[usize], i: usize) -> bool {
        self.blind[schedule[i]].iter().all(|before| schedule[..i].contains(before))
    }

    /// (d) The thread was forked before; a joined thread has done all its events; a wait that the event ends was woken
    /// by the notifies that woke it in the execution.
    fn keeps_fork_join_and_wait(&self, schedule: &[usize], i: usize) -> bool {
        let event = schedule[i];
        let thread = self.thread(event);
        let before = &schedule[..i];
        let forked = self.forks[thread].is_none_or(|fork| before.contains(&fork));
        let joined = match self.op(event) {
            Op::Join { child } => self.by_thread[child.index()].iter().all(|e| before.contains(e)),
            _ => true,
        };
        let woken = match before.iter().rposition(|&e| self.thread(e) == thread) {
            Some(wait) => self.wakeups[before[wait]].iter().all(|notify| before[wait + 1..].contains(notify)),
            None => true,
        };
        forked && joined && woken
    }
}
