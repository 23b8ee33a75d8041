//! Connections and sessions.
//!
//! A thread per connection reads lines, a thread per session (one program) explores. What reaches a session is bounded: a connection
//! waits until its session has taken what it sent, and so does its program's `foresee forward`, but never the program.
//! Whoever does not keep to the protocol is dropped, with one message; nobody else notices.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Read as _, Write as _};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use foresee_lattice::online::{Hello, LONGEST_LINE, Message, Reply, VERSION, parse};

use super::address::{Connection, Listener};
use super::session::{self, Incoming};
use super::shared::Shared;
use crate::interrupt;
use crate::report::human::short;
use crate::report::model::Report;

/// So many connections at once.
const CONNECTIONS: usize = 256;

/// So many programs at once.
const SESSIONS: usize = 64;

/// A message, once begun, and the hello must be there after so long.
const STALLED: Duration = Duration::from_secs(10);

/// How often a connection that says nothing looks whether it is still wanted.
const LOOK: Duration = Duration::from_millis(500);

/// So many messages of a session wait to be taken.
const QUEUE: usize = 256;

/// What all connections share.
pub(crate) struct Observer {
    spec: String,
    secret: Option<String>,
    shared: Shared,
    sessions: Mutex<HashMap<String, SyncSender<Incoming>>>,
    connections: AtomicUsize,
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
            connections: AtomicUsize::new(0),
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
        if self.connections.fetch_add(1, Ordering::SeqCst) >= CONNECTIONS {
            self.connections.fetch_sub(1, Ordering::SeqCst);
            return self.shared.dropped(&format!("there are {CONNECTIONS} connections already"));
        }
        let observer = Arc::clone(self);
        let served = std::thread::Builder::new().spawn(move || {
            observer.talk(connection);
            observer.connections.fetch_sub(1, Ordering::SeqCst);
        });
        if let Err(why) = served {
            self.connections.fetch_sub(1, Ordering::SeqCst);
            self.shared.dropped(&why.to_string());
        }
    }

    fn talk(self: &Arc<Observer>, connection: Connection) {
        let mut lines = Lines { connection, buffer: Vec::new(), begun: None };
        let session = match self.admit(&mut lines) {
            Ok(session) => session,
            Err(why) => {
                let _ = lines.connection.write_all(&Reply::Refused(why.clone()).line());
                lines.connection.close();
                return self.shared.dropped(&why);
            }
        };
        let left = loop {
            let message = match lines.next(self) {
                Ok(Some(line)) => parse(&line).map_err(|why| why.to_string()),
                Ok(None) => break None,
                Err(why) => Err(why),
            };
            match message {
                Ok(message) => {
                    // The session has ended if nobody takes it.
                    if session.send(Incoming::Said(message)).is_err() {
                        break None;
                    }
                }
                Err(why) => break Some(why),
            }
        };
        lines.connection.close();
        // Nobody to tell if the session has ended.
        let _ = session.send(Incoming::Left(left));
    }

    /// The session that the connection belongs to, once it has said who it is.
    fn admit(self: &Arc<Observer>, lines: &mut Lines) -> Result<SyncSender<Incoming>, String> {
        lines.connection.limit(LOOK, STALLED).map_err(|why| why.to_string())?;
        lines.begun = Some(Instant::now());
        let line = lines.next(self)?.ok_or("it disconnected before its first message")?;
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
        let session = self.session(&hello)?;
        let copy = lines.connection.try_clone().map_err(|why| why.to_string())?;
        let gone = |_| "its session has ended".to_owned();
        session.send(Incoming::Joined(copy)).map_err(gone)?;
        let welcome = Reply::Welcome { spec: self.spec.clone() };
        if lines.connection.write_all(&welcome.line()).is_err() {
            let _ = session.send(Incoming::Left(None));
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

/// The lines of a connection.
struct Lines {
    connection: Connection,
    buffer: Vec<u8>,
    /// When the present line began.
    begun: Option<Instant>,
}

impl Lines {
    /// The next line, `None` at the end.
    fn next(&mut self, observer: &Observer) -> Result<Option<Vec<u8>>, String> {
        let mut searched = 0;
        loop {
            if let Some(end) = self.buffer[searched..].iter().position(|&byte| byte == b'\n') {
                let mut line: Vec<u8> = self.buffer.drain(..=searched + end).collect();
                line.pop();
                self.begun = (!self.buffer.is_empty()).then(Instant::now);
                return Ok(Some(line));
            }
            searched = self.buffer.len();
            if searched > LONGEST_LINE {
                return Err(format!("a line of more than {LONGEST_LINE} bytes"));
            }
            if observer.shared.is_stopped() {
                return Ok(None);
            }
            if self.begun.is_some_and(|begun| begun.elapsed() >= STALLED) {
                return Err("it stalled in the middle of a message".to_owned());
            }
            let mut piece = [0; 1 << 14];
            match self.connection.read(&mut piece) {
                Ok(0) if self.buffer.is_empty() => return Ok(None),
                Ok(0) => return Err("it disconnected in the middle of a message".to_owned()),
                Ok(count) => {
                    self.begun.get_or_insert_with(Instant::now);
                    self.buffer.extend_from_slice(&piece[..count]);
                }
                Err(why) => match why.kind() {
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted => {}
                    _ => return Err(why.to_string()),
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use foresee_lattice::online::Limits;

    use super::*;

    #[test]
    fn secrets_are_compared() {
        let shared = Shared::new(Vec::new(), Limits::default(), false);
        let observer = Observer::new(String::new(), None, shared);
        assert!(observer.is_same("open sesame", "open sesame"));
        assert!(!observer.is_same("open sesame", "open sesam") && !observer.is_same("x", ""));
    }
}
