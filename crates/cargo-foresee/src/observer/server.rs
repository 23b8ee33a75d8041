//! Connections and sessions.
//!
//! A thread per connection reads lines, a thread per session (one program) explores. What reaches a session is bounded: a connection
//! waits until its session has taken what it sent, and so does its program's `foresee forward`, but never the program.
//! Whoever does not keep to the protocol is dropped, with one message; nobody else notices. Who has not said yet who it is takes
//! nobody's place, and does not stay for long ([`Pending`]).

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use foresee_lattice::online::{Hello, Message, Reply, VERSION, parse};

use super::address::{Connection, Listener};
use super::lines::{Lines, STALLED};
use super::pending::{PENDING, Pending};
use super::session::{self, Incoming};
use super::shared::{SESSIONS, Shared};
use crate::interrupt;
use crate::report::human::short;
use crate::report::model::Report;

/// So many connections at once that have said who they are.
const CONNECTIONS: usize = 256;

/// That must be said after so long.
const HELLO: Duration = Duration::from_secs(5);

/// How often a connection that says nothing looks whether it is still wanted.
const LOOK: Duration = Duration::from_millis(500);

/// So many times what a connection had to say at once waits for its session.
const QUEUE: usize = 4;

/// What all connections share.
pub(crate) struct Observer {
    spec: String,
    secret: Option<String>,
    shared: Shared,
    sessions: Mutex<HashMap<String, SyncSender<Incoming>>>,
    pending: Pending,
    /// The threads of those that were let in, and of those that are pending or just were.
    connections: AtomicUsize,
    greeted: AtomicUsize,
    running: AtomicUsize,
    keys: (RandomState, RandomState),
}

impl Observer {
    pub(crate) fn new(spec: String, secret: Option<String>, shared: Shared) -> Observer {
        Observer {
            spec,
            secret,
            shared,
            sessions: Mutex::default(),
            pending: Pending::default(),
            connections: AtomicUsize::new(0),
            greeted: AtomicUsize::new(0),
            running: AtomicUsize::new(0),
            keys: Default::default(),
        }
    }

    /// Serves until Ctrl-C, or until so many programs have ended. What there is to report.
    pub(crate) fn serve(self: &Arc<Observer>, listener: &Listener, exit_after: Option<usize>) -> Report {
        let started = Instant::now();
        let has_enough = || exit_after.is_some_and(|most| self.shared.sessions() >= most);
        while !interrupt::interrupted().load(Ordering::Relaxed) && !has_enough() {
            match listener.accept() {
                Ok(connection) => self.welcome(connection),
                // There is nobody, or nobody can be let in (too many open files): later.
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
        self.shared.stop();
        let asked = Instant::now();
        while self.running.load(Ordering::SeqCst) > 0 && asked.elapsed() < STALLED {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.shared.report(started.elapsed().as_secs_f64())
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<String, SyncSender<Incoming>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn welcome(self: &Arc<Observer>, connection: Connection) {
        // Those that had to make room for others end soon.
        if self.greeted.load(Ordering::SeqCst) >= 2 * PENDING {
            return self.shared.dropped("too many come at once");
        }
        let Ok(copy) = connection.try_clone() else {
            return self.shared.dropped("there are too many open files");
        };
        let (observer, id) = (Arc::clone(self), self.pending.add(copy));
        self.greeted.fetch_add(1, Ordering::SeqCst);
        let served = std::thread::Builder::new().spawn(move || observer.talk(connection, id));
        if let Err(why) = served {
            self.greeted.fetch_sub(1, Ordering::SeqCst);
            self.pending.remove(id);
            self.shared.dropped(&why.to_string());
        }
    }

    fn talk(self: &Arc<Observer>, connection: Connection, id: u64) {
        let mut lines = Lines::new(connection, HELLO);
        let admitted = self.greet(&mut lines).and_then(|hello| {
            if self.connections.fetch_add(1, Ordering::SeqCst) >= CONNECTIONS {
                self.connections.fetch_sub(1, Ordering::SeqCst);
                return Err(format!("there are {CONNECTIONS} connections already"));
            }
            Ok(hello)
        });
        self.pending.remove(id);
        self.greeted.fetch_sub(1, Ordering::SeqCst);
        let refused = match admitted {
            Ok(hello) => {
                let joined = self.join(&mut lines, &hello, id);
                let refused = joined.map(|session| self.relay(&mut lines, &session, id)).err();
                self.connections.fetch_sub(1, Ordering::SeqCst);
                refused
            }
            Err(why) => Some(why),
        };
        if let Some(why) = refused {
            let _ = lines.connection.write_all(&Reply::Refused(why.clone()).line());
            self.shared.dropped(&why);
        }
        lines.connection.close();
    }

    /// Hands what a connection says to its session, until one of them ends.
    fn relay(&self, lines: &mut Lines, session: &SyncSender<Incoming>, id: u64) {
        let mut left = None;
        while left.is_none() {
            let first = match lines.next(&self.shared) {
                Ok(Some(line)) => line,
                Ok(None) => break,
                Err(why) => {
                    left = Some(why);
                    break;
                }
            };
            let mut messages = Vec::new();
            for line in std::iter::once(first).chain(std::iter::from_fn(|| lines.next_at_hand())) {
                match parse(&line) {
                    Ok(message) => messages.push(message),
                    Err(why) => {
                        left = Some(why.to_string());
                        break;
                    }
                }
            }
            // The session has ended if nobody takes it.
            if session.send(Incoming::Said(messages)).is_err() {
                break;
            }
        }
        lines.connection.close();
        // Nobody to tell if the session has ended.
        let _ = session.send(Incoming::Left(id, left));
    }

    /// Who it is, if it may be here.
    fn greet(&self, lines: &mut Lines) -> Result<Hello, String> {
        lines.connection.limit(LOOK, STALLED).map_err(|why| why.to_string())?;
        let line = lines.next(&self.shared)?.ok_or("it disconnected before its first message")?;
        let Message::Hello(hello) = parse(&line).map_err(|why| why.to_string())? else {
            return Err("its first message is not a hello".to_owned());
        };
        if hello.version != VERSION {
            let its = hello.version;
            return Err(format!("it speaks version {its} of the protocol, this foresee version {VERSION}"));
        }
        if let Some(secret) = &self.secret
            && !self.is_same(secret, hello.secret.as_deref().unwrap_or_default())
        {
            return Err("it does not know the secret".to_owned());
        }
        Ok(hello)
    }

    /// The session that the connection belongs to, which knows of it now.
    fn join(
        self: &Arc<Observer>,
        lines: &mut Lines,
        hello: &Hello,
        id: u64,
    ) -> Result<SyncSender<Incoming>, String> {
        let session = self.session(hello)?;
        let copy = lines.connection.try_clone().map_err(|why| why.to_string())?;
        let gone = |_| "its session has ended".to_owned();
        session.send(Incoming::Joined(id, copy)).map_err(gone)?;
        let welcome = Reply::Welcome { spec: self.spec.clone() };
        if lines.connection.write_all(&welcome.line()).is_err() {
            let _ = session.send(Incoming::Left(id, None));
            return Err("it does not read the answer".to_owned());
        }
        Ok(session)
    }

    /// Compares hashes under random keys: how long that takes says nothing about the secret.
    fn is_same(&self, secret: &str, said: &str) -> bool {
        let differs = |key: &RandomState| key.hash_one(secret) ^ key.hash_one(said);
        (differs(&self.keys.0) | differs(&self.keys.1)) == 0
    }

    fn session(self: &Arc<Observer>, hello: &Hello) -> Result<SyncSender<Incoming>, String> {
        let mut sessions = self.sessions();
        if let Some(session) = sessions.get(&hello.session) {
            return Ok(session.clone());
        }
        if sessions.len() >= SESSIONS {
            return Err(format!("there are {SESSIONS} programs already"));
        }
        let (sender, incoming) = sync_channel(QUEUE);
        let (observer, id, program) = (Arc::clone(self), hello.session.clone(), short(&hello.program));
        self.running.fetch_add(1, Ordering::SeqCst);
        let begun = std::thread::Builder::new().spawn(move || {
            session::observe(&observer.shared, program, &incoming);
            observer.sessions().remove(&id);
            observer.running.fetch_sub(1, Ordering::SeqCst);
        });
        if let Err(why) = begun {
            self.running.fetch_sub(1, Ordering::SeqCst);
            return Err(why.to_string());
        }
        sessions.insert(hello.session.clone(), sender.clone());
        Ok(sender)
    }
}

#[cfg(test)]
mod tests {
    use foresee_lattice::online::Limits;

    use crate::error::Severity;

    use super::*;

    #[test]
    fn secrets_are_compared() {
        let shared = Shared::new(Vec::new(), Limits::default(), 1 << 20, false, Severity::Warning);
        let observer = Observer::new(String::new(), None, shared);
        assert!(observer.is_same("open sesame", "open sesame"));
        assert!(!observer.is_same("open sesame", "open sesam") && !observer.is_same("x", ""));
    }
}
