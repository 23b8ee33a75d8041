//! One program: a thread of its own takes the messages of all its connections, explores, and reports what it finds at once.
//!
//! It works in [turns](super::turns) and with its [share](super::memory_shares) of the memory. Between two turns it looks whether there still is somebody
//! who wants it: when a program has gone, there is a little time for what is known of it, more if it went by saying that it
//! has ended. Only of a program that has ended, and of which everything could be explored, is it said that all runs were looked at.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use foresee_lattice::online::{Lie, Limits, Message, OnlineFinding, Session, Stage, stages};

use super::address::Connection;
use super::finding::{finding, weight};
use super::memory_shares::Share;
use super::shared::Shared;
use crate::error::{self, Severity};
use crate::report::model::SessionStats;
use crate::unmatched::missing_variable;

/// What reaches a session.
pub(super) enum Incoming {
    /// One more connection, and what it is known by.
    Joined(u64, Connection),
    /// In this order.
    Said(Vec<Message>),
    /// A connection has ended, and why if it should not have.
    Left(u64, Option<String>),
}

/// When nothing has come for so long, the session looks ahead.
const QUIET: Duration = Duration::from_millis(300);

/// So long a session without connections goes on.
const LONELY: Duration = Duration::from_secs(1);

/// How often time is looked at.
const TICK: Duration = Duration::from_millis(50);

/// How long a turn takes, and a look ahead.
const TURN: Duration = Duration::from_millis(100);
const LOOK_AHEAD: Duration = Duration::from_secs(1);

/// So long a program is worked on that has ended and gone.
const AFTERWARDS: Duration = Duration::from_secs(10);

/// So much is taken in each turn; more as long as there is room for it and time for a little exploring: no program is to wait for what it has done to be explored.
const AT_ONCE: usize = 16;
const HEARING: Duration = Duration::from_millis(90);

/// Observes one program until it ends, leaves, or lies.
pub(super) fn observe(shared: &Shared, program: String, incoming: &Receiver<Incoming>) {
    let stages = match stages(&shared.properties) {
        Ok(stages) => stages,
        Err(why) => return error::print(Severity::Error, &why),
    };
    let mut watched = Watched::new(shared, program, &stages);
    let end = watched.listen(incoming);
    watched.finish(end);
}

/// How a session ended.
enum End {
    /// The program did.
    Over,
    /// It did, and there was no time to explore all of it.
    CutShort,
    /// The observer does.
    Stopped,
    /// It went away, for this reason.
    Left(String),
    Lied(Lie),
}

struct Watched<'a> {
    shared: &'a Shared,
    program: String,
    session: Session<'a>,
    memory: Share<'a>,
    connections: HashMap<u64, Connection>,
    why: Option<String>,
    /// Since when there is no connection.
    lonely: Option<Instant>,
    in_doubt: bool,
    found: usize,
}

impl<'a> Watched<'a> {
    fn new(shared: &'a Shared, program: String, stages: &'a [Stage<'a>]) -> Watched<'a> {
        let memory = shared.memory.share();
        let limits = Limits { memory: memory.bytes() / stages.len().max(1), ..shared.limits };
        Watched {
            shared,
            program,
            session: Session::new(stages, limits),
            memory,
            connections: HashMap::new(),
            why: None,
            lonely: Some(Instant::now()),
            in_doubt: false,
            found: 0,
        }
    }

    fn listen(&mut self, incoming: &Receiver<Incoming>) -> End {
        let (mut last, mut is_settled) = (Instant::now(), true);
        loop {
            let wait = if self.session.is_paused() { Duration::ZERO } else { TICK };
            let first = match incoming.recv_timeout(wait) {
                Ok(first) => Some(first),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return End::Stopped,
            };
            if first.is_some() {
                (last, is_settled) = (Instant::now(), false);
            }
            if first.is_some() || self.session.is_paused() {
                if let Err(lie) = self.work(first, incoming) {
                    return End::Lied(lie);
                }
                if self.session.is_over() && !self.session.is_paused() {
                    return End::Over;
                }
            } else if !is_settled && last.elapsed() >= QUIET {
                is_settled = true;
                if let Err(lie) = self.look_ahead() {
                    return End::Lied(lie);
                }
            }
            if let Some(end) = self.gone() {
                return end;
            }
            if self.shared.is_stopped() {
                return End::Stopped;
            }
        }
    }

    /// A turn: takes what there is, and explores.
    fn work(&mut self, first: Option<Incoming>, incoming: &Receiver<Incoming>) -> Result<(), Lie> {
        let _turn = self.shared.turns.take();
        let begun = Instant::now();
        let mut next = first.or_else(|| incoming.try_recv().ok());
        let mut taken = 0;
        while let Some(one) = next {
            self.take(one)?;
            taken += 1;
            let has_room = taken <= AT_ONCE || (begun.elapsed() < HEARING && !self.session.is_crowded());
            next = if has_room { incoming.try_recv().ok() } else { None };
        }
        let found = self.session.advance(begun.checked_add(TURN));
        self.report(found);
        Ok(())
    }

    /// Nothing has come for a while.
    fn look_ahead(&mut self) -> Result<(), Lie> {
        let _turn = self.shared.turns.take();
        if self.memory.grow() {
            self.session.limit(self.memory.bytes())?;
        }
        let found = self.session.look_ahead(Instant::now().checked_add(LOOK_AHEAD));
        self.report(found);
        Ok(())
    }

    /// How it ends, if nobody is there any more and time is up.
    fn gone(&mut self) -> Option<End> {
        let since = self.lonely?.elapsed();
        if self.session.is_over() {
            return (since >= AFTERWARDS).then_some(End::CutShort);
        }
        let why = || "it disconnected before the end of the program".to_owned();
        (since >= LONELY).then(|| End::Left(self.why.take().unwrap_or_else(why)))
    }

    fn take(&mut self, one: Incoming) -> Result<(), Lie> {
        match one {
            Incoming::Joined(id, connection) => {
                self.lonely = None;
                self.connections.insert(id, connection);
                Ok(())
            }
            Incoming::Said(messages) => {
                messages.into_iter().try_for_each(|message| self.session.hear(message))
            }
            Incoming::Left(id, why) => {
                self.connections.remove(&id);
                self.why = why.or(self.why.take());
                if self.connections.is_empty() {
                    self.lonely = Some(Instant::now());
                }
                Ok(())
            }
        }
    }

    fn report(&mut self, found: Vec<OnlineFinding>) {
        if let Some(why) = self.session.doubt()
            && !self.in_doubt
        {
            self.in_doubt = true;
            let before = if self.found > 0 { ", including what was reported before" } else { "" };
            let program = &self.program;
            let message = format!("{program}: {why}; what is found in it is not proven{before}");
            error::print(Severity::Warning, &message);
        }
        self.found += found.len();
        for one in found {
            self.shared.found(finding(&self.program, &one, self.in_doubt), weight(&one));
        }
    }

    fn finish(mut self, end: End) {
        let is_over = matches!(end, End::Over);
        if !is_over {
            let _turn = self.shared.turns.take();
            let found = self.session.look_ahead(Instant::now().checked_add(LOOK_AHEAD));
            self.report(found);
        }
        self.connections.values().for_each(Connection::close);
        let Watched { session, program, .. } = &self;
        let mut is_complete = true;
        for (property, missing) in session.missing() {
            is_complete = false;
            let property = &self.shared.properties[property].name;
            let nearest = missing.nearest.clone();
            self.shared.lacks(program, missing_variable(property, &missing.name, nearest, true));
        }
        let end = match end {
            End::Over | End::CutShort => "has ended".to_owned(),
            End::Stopped => "still runs".to_owned(),
            End::Left(why) => format!("was dropped: {why}"),
            End::Lied(lie) => format!("was dropped: {lie}"),
        };
        self.shared.ended(SessionStats {
            program: program.clone(),
            end,
            events: session.events(),
            cuts: session.cuts(),
            findings: self.found as u64,
            exhaustive: is_over && is_complete && session.is_exhaustive() && session.doubt().is_none(),
            left_out: session.left_out(),
            refused: session.refused(),
        });
    }
}
