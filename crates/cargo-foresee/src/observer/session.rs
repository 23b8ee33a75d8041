//! One program: a thread of its own takes the messages of all its connections, explores, and reports what it finds at once.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use foresee_lattice::online::{Lie, Message, OnlineFinding, Session, Stage, stages};

use super::address::Connection;
use super::finding::finding;
use super::shared::Shared;
use crate::error::{self, Severity};
use crate::report::model::SessionStats;

/// What reaches a session.
pub(super) enum Incoming {
    /// One more connection.
    Joined(Connection),
    Said(Message),
    /// A connection has ended, and why if it should not have.
    Left(Option<String>),
}

/// When nothing has come for so long, the session looks ahead.
const QUIET: Duration = Duration::from_millis(300);

/// So long a session without connections goes on.
const LONELY: Duration = Duration::from_secs(1);

/// How often time is looked at.
const TICK: Duration = Duration::from_millis(50);

/// So many messages are taken before the next look at the lattice.
const AT_ONCE: usize = 1024;

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
    connections: Vec<Connection>,
    joined: usize,
    left: usize,
    why: Option<String>,
    in_doubt: bool,
    found: usize,
}

impl<'a> Watched<'a> {
    fn new(shared: &'a Shared, program: String, stages: &'a [Stage<'a>]) -> Watched<'a> {
        Watched {
            shared,
            program,
            session: Session::new(stages, shared.limits),
            connections: Vec::new(),
            joined: 0,
            left: 0,
            why: None,
            in_doubt: false,
            found: 0,
        }
    }

    fn listen(&mut self, incoming: &Receiver<Incoming>) -> End {
        let (mut last, mut is_settled) = (Instant::now(), true);
        loop {
            match incoming.recv_timeout(TICK) {
                Ok(first) => {
                    let more = std::iter::from_fn(|| incoming.try_recv().ok()).take(AT_ONCE);
                    for one in std::iter::once(first).chain(more) {
                        if let Err(lie) = self.take(one) {
                            return End::Lied(lie);
                        }
                    }
                    (last, is_settled) = (Instant::now(), false);
                    let found = self.session.advance();
                    self.report(found);
                    if self.session.is_over() {
                        return End::Over;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return End::Stopped,
                Err(RecvTimeoutError::Timeout) => {
                    if !is_settled && last.elapsed() >= QUIET {
                        is_settled = true;
                        let found = self.session.look_ahead();
                        self.report(found);
                    }
                    if self.left == self.joined && last.elapsed() >= LONELY {
                        let why = self.why.take();
                        return End::Left(
                            why.unwrap_or_else(|| "it disconnected before the end of the program".to_owned()),
                        );
                    }
                }
            }
            if self.shared.is_stopped() {
                return End::Stopped;
            }
        }
    }

    fn take(&mut self, one: Incoming) -> Result<(), Lie> {
        match one {
            Incoming::Joined(connection) => {
                self.joined += 1;
                self.connections.push(connection);
                Ok(())
            }
            Incoming::Said(message) => self.session.hear(message),
            Incoming::Left(why) => {
                self.left += 1;
                self.why = why.or(self.why.take());
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
            self.shared.found(finding(&self.program, &one, self.in_doubt));
        }
    }

    fn finish(mut self, end: End) {
        let found = self.session.look_ahead();
        self.report(found);
        self.connections.iter().for_each(Connection::close);
        let Watched { session, program, .. } = &self;
        let waiting = session.waiting();
        let end = match end {
            End::Over => "has ended".to_owned(),
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
            exhaustive: session.is_exhaustive() && waiting == 0,
            left_out: session.left_out(),
            refused: session.refused(),
        });
    }
}
